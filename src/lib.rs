//! The library behind `memod` and `memo`: the map of its modules, and its invariants.
//!
//! ```text
//!  files ─ watch ─┐                                   ┌─ memo (cli)
//!  git hooks ─────┼─► plan ─► read ─► extract ─► write ┤   editors, nc   ─► search ─► answer
//!  start-up scan ─┘   (what must be redone)            └─ (embed lags behind)
//! ```
//!
//! Commits come into the index as `HEAD` moves, and are sources like files. What is extracted is extracted in a process
//! of its own. Memories go past the index, through a thread of their own, into a database of their own.
//!
//! | module | what it does | may import |
//! |---|---|---|
//! | [`cli`] | parses verbs, runs them and prints their results | `client`, `proto` |
//! | [`client`] | connects to the daemon and calls its methods | `proto` |
//! | [`proto`] | declares what crosses the socket | |
//! | [`daemon`] | keeps the index current and answers | all below |
//! | [`hooks`] | installs git hooks and removes them | `git`, `proto` |
//! | [`watch`] | reports which names changed on disk | |
//! | [`index`] | keeps index.db equal to the worktrees | `embed`, `extract`, `git`, `scan`, `store` |
//! | [`search`] | finds and ranks what answers a query | `embed`, `extract`, `proto`, `store` |
//! | [`map`] | selects the symbols that fit a budget | |
//! | [`memory`] | holds the rules of memories | `extract`, `proto` |
//! | [`scan`] | lists and reads the files that count | `git` |
//! | [`git`] | reads git repositories | |
//! | [`extract`] | splits texts into chunks, symbols and words | |
//! | [`embed`] | computes vectors for texts | |
//! | [`store`] | holds both databases | `proto` |
//! | [`config`], [`paths`], [`types`] | data that everybody may use | each other |
//!
//! `tests/it/tidy.rs` holds the same edges and fails when a new one appears.
//!
//! What must never happen:
//!
//! - an answer that claims to be fresh and misses what was written before it was asked for ([`daemon`]);
//! - a hit that shows a line the file no longer has: each is read again before it is shown;
//! - a change that is lost in silence: a full queue, a failed watch or a failed reconcile becomes a walk;
//! - a memory that was acknowledged and is not there afterwards, or a damage of memory.db in silence ([`store`]);
//! - SQL outside [`store`], or a file of its databases opened by anything but SQLite;
//! - a process of the repository's choice started, a lock of git's taken, or a setting of the repository obeyed that could
//!   do either ([`git`]); and of git's own none but `git --version`, for a person who runs `memo hooks` or `memo init`;
//! - a hook that makes git wait, fail or print, or a file of git's that uninstalling leaves otherwise than it was ([`hooks`]);
//! - a wait without a deadline, in the client or for a request;
//! - a request or a file that takes the daemon down;
//! - a client that links the daemon: [`client`] imports neither [`store`] nor [`embed`].

pub mod cli;
pub mod client;
pub mod config;
pub mod daemon;
pub mod embed;
pub mod extract;
pub mod git;
pub mod hooks;
pub mod index;
pub mod map;
pub mod memory;
pub mod paths;
pub mod proto;
pub mod scan;
pub mod search;
pub mod store;
pub mod types;
pub mod watch;

#[cfg(test)]
mod testing;
