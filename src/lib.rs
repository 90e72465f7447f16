//! The programs `memod` and `memo`: their parts, and their invariants.
//!
//! ```text
//!  files ─ watch ─┐                                   ┌─ memo (cli)
//!  git hooks ─────┼─► plan ─► read ─► extract ─► write ┤   agents, nc    ─► search ─► answer
//!  start-up scan ─┘   (what must be redone)            └─ (embed lags behind)
//! ```
//!
//! Commits are indexed as `HEAD` moves, and are sources like files. Extraction runs in a separate process. Memories
//! bypass the index: they have their own thread and database.
//!
//! This package has the daemon, and the programs `memod` and `memo`; `memo` is `memod_cli` alone. What can be understood alone is a
//! crate below `crates/`, and its manifest says what it uses; the page `docs/src/architecture.md` shows them, written from there.
//!
//! These must never happen:
//!
//! - an answer that claims to be fresh and misses what was written before the request ([`daemon`]);
//! - a hit that shows a line the file no longer has: each is read again before it is shown;
//! - a change that is silently lost: a full queue, a failed watch or a failed reconcile causes a walk;
//! - an acknowledged memory that is lost, or silent damage of memory.db (`memod_memory_db`);
//! - SQL outside `memod_database`, `memod_index_db`, `memod_memory_db` and `memod_team`, or a database file opened by anything but SQLite;
//! - a process that the repository chooses, one of git's locks, or a setting of the repository that leads to either
//!   (`memod_git`); git itself runs only as `git --version`, for a user who runs `memo hooks` or `memo init`;
//! - a settings file of an agent that undoing does not restore (`memod_setup`);
//! - a hook that makes git wait, fail or print, or a file of git that uninstalling does not restore (`memod_hooks`);
//! - a wait without a deadline, in the client or for a request;
//! - a request or a file that takes the daemon down;
//! - a client that carries the weight of the daemon: `memod_cli` depends on no SQLite, git, grammar, PostgreSQL or model, which
//!   `tests/it/tidy.rs` holds.

pub mod daemon;
