//! The library behind `memod` and `memo`: the map of its modules, and its invariants.
//!
//! ```text
//!  files ─ watch ─┐                                   ┌─ memo (cli)
//!  git hooks ─────┼─► plan ─► read ─► extract ─► write ┤   agents, nc    ─► search ─► answer
//!  start-up scan ─┘   (what must be redone)            └─ (embed lags behind)
//! ```
//!
//! Commits are indexed as `HEAD` moves, and are sources like files. Extraction runs in a process of its own. Memories
//! bypass the index: they have their own thread and database.
//!
//! | module | what it does | may import |
//! |---|---|---|
//! | [`cli`] | parses verbs, runs them and prints their results | `client`, `mcp`, `proto`, `setup` |
//! | [`mcp`] | serves agents by the Model Context Protocol, with verbs that `cli` lends it | `proto` |
//! | [`client`] | connects to the daemon and calls its methods | `proto` |
//! | [`proto`] | declares what crosses the socket | |
//! | [`daemon`] | keeps the index current and answers | all below |
//! | [`fetch`] | downloads models and the library that runs them | `embed`, `proto` |
//! | [`llm`] | asks a language model for help | `extract`, `memory`, `proto` |
//! | [`setup`] | sets agents up to use memod, and undoes it | |
//! | [`hooks`] | installs git hooks and removes them | `git`, `proto` |
//! | [`watch`] | reports which names changed on disk | |
//! | [`index`] | keeps index.db equal to the worktrees | `embed`, `extract`, `git`, `scan`, `store` |
//! | [`search`] | finds and ranks what answers a query | `embed`, `extract`, `proto`, `store` |
//! | [`map`] | selects the symbols that fit a budget | |
//! | [`resolve`] | says which definition a use of a name means | |
//! | [`memory`] | holds the rules of memories | `extract`, `proto` |
//! | [`scan`] | lists and reads the files that count | `git` |
//! | [`git`] | reads git repositories | |
//! | [`extract`] | splits texts into chunks, symbols and words | |
//! | [`embed`] | computes vectors for texts | |
//! | [`store`] | holds both databases | `proto` |
//! | [`config`], [`paths`], [`types`], [`threads`] | what everybody may use | each other; `config` also `memory` |
//!
//! `tests/it/tidy.rs` holds the same edges and fails when a new one appears.
//!
//! What must never happen:
//!
//! - an answer that claims to be fresh and misses what was written before it was asked for ([`daemon`]);
//! - a hit that shows a line the file no longer has: each is read again before it is shown;
//! - a change that is silently lost: a full queue, a failed watch or a failed reconcile causes a walk;
//! - an acknowledged memory that is lost, or silent damage of memory.db ([`store`]);
//! - SQL outside [`store`], or a database file opened by anything but SQLite;
//! - a process that the repository chooses, one of git's locks, or a setting of the repository that leads to either
//!   ([`git`]); git itself runs only as `git --version`, for a user who runs `memo hooks` or `memo init`;
//! - a settings file of an agent that undoing does not restore ([`setup`]);
//! - a hook that makes git wait, fail or print, or a file of git that uninstalling does not restore ([`hooks`]);
//! - a wait without a deadline, in the client or for a request;
//! - a request or a file that takes the daemon down;
//! - a client that links the daemon: [`client`] imports neither [`store`] nor [`embed`].

pub mod cli;
pub mod client;
pub mod config;
pub mod daemon;
pub mod embed;
pub mod extract;
pub mod fetch;
pub mod git;
pub mod hooks;
pub mod index;
pub mod llm;
pub mod map;
pub mod mcp;
pub mod memory;
pub mod paths;
pub mod proto;
pub mod resolve;
pub mod scan;
pub mod search;
pub mod setup;
pub mod store;
pub mod team;
pub mod threads;
pub mod types;
pub mod watch;

#[cfg(test)]
mod testing;
