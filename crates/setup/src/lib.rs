//! Sets agents up to use memod, and takes everything out again.
//!
//! An agent is a row of `agent_table`; `entries` makes of it what belongs into each of its files. What the text of a file
//! becomes is computed without touching the disk (`document`, with an editor for JSON and one for marked sections).
//! `target_file` reads and replaces files, and `records` keeps what was inserted.
//!
//! Invariants:
//! - only our own bytes are inserted and removed: comments, layout and entries of others stay as they are, and undoing leaves
//!   every file as it would be without us;
//! - a file that does not parse, that is not a text, or that holds somebody else's entry of our name is left alone, and named
//!   with the reason; the other files are still done;
//! - a file is replaced as a whole or not at all.

mod agent_table;
mod detect;
mod document;
mod entries;
mod json;
mod marked_section;
mod place;
mod records;
mod report;
mod run;
mod scope;
mod target_file;
mod text_lines;
mod unified_diff;

use memod_base::paths::PathError;

pub use self::detect::{DetectedAgent, detect_agents};
pub use self::place::AgentDirs;
pub use self::report::{Action, AgentReport, FileReport};
pub use self::run::{SetupError, SetupRequest, agent_ids, run_setup};
pub use self::scope::FileScope;

/// Why a file is left alone.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It does not parse.
    #[error("it is not valid JSON: {0}")]
    Json(String),
    /// It does not parse.
    #[error("it is not valid TOML: {0}")]
    Toml(String),
    /// Our entry would have to go into something that holds no entries.
    #[error("{path} is not {expected}")]
    Shape {
        /// The names that lead to it.
        path: String,
        /// The expected kind of value.
        expected: &'static str,
    },
    /// Somebody else wrote an entry of our name.
    #[error("it has an entry `{0}` that `memo setup` did not write; rename or remove that")]
    Taken(String),
    /// Somebody else wrote the file, or has changed it.
    #[error("it is not as `memo setup` writes it: a person has written or changed it")]
    Foreign,
    /// One of our marks is missing, or there are several.
    #[error("it has other marks of a section of memod than one pair; remove them by hand")]
    Marks,
    /// It is not text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It cannot be a settings file.
    #[error("it is larger than 8 MiB")]
    TooBig,
    /// A directory or device is in its place.
    #[error("it is not a file")]
    NotAFile,
    /// A symbolic link leads nowhere.
    #[error("it is a symbolic link to nothing")]
    Dangling,
    /// A project has a link in its place or around it.
    #[error("it leads out of the project, to {0}")]
    Outside(String),
    /// Its owner has protected it.
    #[error("it is read-only")]
    ReadOnly,
    /// It cannot be read or written.
    #[error(transparent)]
    Io(PathError),
}
