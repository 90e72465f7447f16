//! Where is everything, and what must never happen?
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
//! | module | its question | may import |
//! |---|---|---|
//! | [`cli`] | what may the user ask, and how is it shown? | `client`, `proto` |
//! | [`client`] | how do I reach a daemon that speaks my protocol? | `proto` |
//! | [`proto`] | what crosses the socket? | |
//! | [`daemon`] | who keeps the index current, and who answers? | all below |
//! | [`hooks`] | what is installed in git, and how is it undone? | `git`, `proto` |
//! | [`watch`] | what changed on disk? | |
//! | [`index`] | what must be redone? | `embed`, `extract`, `git`, `scan`, `store` |
//! | [`search`] | what answers this query? | `embed`, `extract`, `proto`, `store` |
//! | [`map`] | which symbols fit the budget? | |
//! | [`memory`] | what may be remembered? | `extract`, `proto` |
//! | [`scan`] | which files count, and what is in them? | `git` |
//! | [`git`] | what does git say? | |
//! | [`extract`] | what is in this text? | |
//! | [`embed`] | what vector is this text? | |
//! | [`store`] | where is it kept? | `proto` |
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
