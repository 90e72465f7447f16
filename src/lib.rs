//! The package of the daemon `memod` and of its client `memo`: how data flows through them, and the invariants that they keep.
//!
//! ```text
//!  files ─ watch ─┐                                   ┌─ memo (cli)
//!  git hooks ─────┼─► plan ─► read ─► extract ─► write ┤   agents, nc    ─► search ─► answer
//!  start-up scan ─┘   (what must be redone)            └─ (embed lags behind)
//! ```
//!
//! Commits are indexed when `HEAD` moves, and are sources like files. Extraction runs in a separate process. Memories
//! bypass the index: they have their own thread and database.
//!
//! This package contains the daemon, and the `main` functions of both programs; that of `memo` only calls `memod_cli`. Each subject
//! that can be understood alone is a crate below `crates/`, whose manifest lists the crates it uses. The table of crates in
//! `docs/src/reference/architecture.md` is generated from the manifests.
//!
//! These must never happen:
//!
//! - an answer that claims to be fresh, but misses a change that was written before the request ([`daemon`]);
//! - a hit that shows a line the file no longer has: the file of each hit is read again before the hit is shown;
//! - a change that is silently lost: a full queue, a failed watch or a failed reconcile causes a rescan;
//! - the loss of an acknowledged memory, or silent damage of memory.db (`memod_memory_db`);
//! - SQL outside `memod_database`, `memod_index_db`, `memod_memory_db` and `memod_team`, or a database file opened by anything but
//!   SQLite;
//! - starting a program that the repository chooses, taking one of git's locks, or following a repository's setting that leads to
//!   either (`memod_git`); git itself runs only as `git --version`, for a user who runs `memo hooks` or `memo init`;
//! - a change to an agent's settings file that undoing the setup does not revert (`memod_setup`);
//! - a hook that makes git wait, fail or print, or a file of git that uninstalling the hooks does not restore (`memod_hooks`);
//! - a wait without a deadline, in the client or for a request;
//! - a request or a file that takes the daemon down;
//! - a client that carries the weight of the daemon: `memod_cli` depends on no SQLite, git, grammar, PostgreSQL or model, which
//!   `tests/it/tidy.rs` checks.

pub mod daemon;
