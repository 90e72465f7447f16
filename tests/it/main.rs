//! Does the whole behave, seen from outside?

#![allow(missing_docs, reason = "tests are read, not called")]
#![cfg_attr(not(unix), allow(unused_imports, dead_code, reason = "what tests of Unix alone use"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic where it is")]

mod agent_hooks;
mod bad_input;
#[cfg(unix)]
mod bad_repositories;
#[cfg(unix)]
mod becoming;
mod beside_definition;
mod brief;
mod budget;
#[cfg(unix)]
mod byte_forms;
mod caller_paths;
#[cfg(unix)]
mod check_yourself;
mod cli;
#[cfg(unix)]
mod client;
mod closures;
mod commits;
mod common_names;
mod compared;
mod components;
#[cfg(unix)]
mod converted;
mod copies;
mod declared_formats;
mod definition_bench;
#[cfg(unix)]
mod demo;
#[cfg(unix)]
mod disk_full;
#[cfg(unix)]
mod docs;
mod document_formats;
mod documentation_questions;
mod encodings;
mod equals_fresh;
mod events;
mod exchange;
#[cfg(unix)]
mod failing_databases;
#[cfg(unix)]
mod fake;
#[cfg(unix)]
mod faults;
mod fetch;
mod file_classes;
mod file_server;
mod freshness;
mod git_freshness;
mod git_matrix;
mod hooks;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod hung;
mod indexing_progress;
mod javascript_imports;
mod language_model;
mod levels;
mod lifecycle;
#[cfg(unix)]
mod linked_paths;
mod listed_tests;
mod live;
#[cfg(unix)]
mod manual;
mod mcp;
mod memories;
mod memory_anchors;
mod memory_databases;
mod memory_io;
#[cfg(target_os = "linux")]
mod memory_limit;
mod memory_search;
mod memory_similar;
mod misspelt;
mod models;
mod moved_code;
mod named;
mod named_files;
mod named_members;
mod next_steps;
mod one_hit;
#[cfg(unix)]
mod opened;
mod other_repositories;
mod outlines;
mod output;
#[cfg(target_os = "linux")]
mod owed;
#[cfg(unix)]
mod paged;
mod panics;
mod partial_clones;
mod past;
mod project;
mod protocol;
mod purged;
mod python_code;
mod quality_bench;
mod query_language;
mod random;
mod reached;
mod reached_changes;
mod refs;
mod renamed;
#[cfg(unix)]
mod restart;
mod restless;
mod route_prefixes;
mod rpc;
#[cfg(unix)]
mod safe_directory;
#[cfg(unix)]
mod safety;
mod sandbox;
mod scan;
#[cfg(unix)]
mod setup;
#[cfg(unix)]
mod sharing;
#[cfg(unix)]
mod shell;
mod shown;
mod sparse;
#[cfg(unix)]
mod special_files;
mod system;
#[cfg(unix)]
mod team;
#[cfg(unix)]
mod terminal;
mod tidy;
#[cfg(unix)]
mod transcripts;
#[cfg(unix)]
mod transient;
#[cfg(unix)]
mod uninstall;
mod unmatched;
mod unsearched;
mod vectors;
mod views;
mod web;
mod whole;
mod word_similarity;
mod worktrees;
