//! Does the whole behave, seen from outside?

#![allow(missing_docs, reason = "tests are read, not called")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic where it is")]

mod agent_hooks;
mod bad_repositories;
mod becoming;
mod brief;
mod byte_forms;
mod cli;
mod client;
mod commits;
mod copies;
mod disk_full;
mod docs;
mod equals_fresh;
mod failing_databases;
mod fake;
mod faults;
mod file_classes;
mod freshness;
mod git_freshness;
mod git_matrix;
mod hooks;
mod hostile;
mod hung;
mod levels;
mod lifecycle;
mod live;
mod mcp;
mod memories;
mod memory_anchors;
mod memory_databases;
mod memory_io;
mod memory_search;
mod memory_similar;
mod output;
mod panics;
mod past;
mod protocol;
mod purged;
mod query_language;
mod random;
mod restart;
mod restless;
mod rpc;
mod safety;
mod sandbox;
mod scan;
mod setup;
mod shell;
mod tidy;
mod transient;
mod vectors;
mod views;
mod whole;
mod worktrees;
