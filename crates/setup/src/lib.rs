//! Changes the settings of agents so that they use memod, and undoes these changes.
//!
//! Each agent is a row of `agent_table`, from which `entries` builds our content for each settings file. `document` computes
//! the new text of a file without touching the disk, with one editor for JSON and one for marked sections. `target_file` reads
//! and replaces files, and `records` stores what was inserted.
//!
//! Invariants:
//! - only our own bytes are inserted and removed: comments, layout and entries of others stay as they are, and after an undo
//!   every file is as it would be without us;
//! - a file that does not parse, is not text, or has an entry of our name that somebody else wrote is left alone and reported
//!   with the reason; the other files are still changed;
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
pub use self::place::SetupDirs;
pub use self::report::{AgentReport, FileAction, FileReport};
pub use self::run::{SetupError, SetupRequest, agent_ids, run_setup};
pub use self::scope::FileScope;

/// Why a file is left alone.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The file is not valid JSON.
    #[error("it is not valid JSON: {0}; correct it and try again")]
    Json(String),
    /// The file is not valid TOML.
    #[error("it is not valid TOML: {0}; correct it and try again")]
    Toml(String),
    /// A value into which our entry must be inserted has another type.
    #[error("{path} is not {expected}; correct it and try again")]
    WrongType {
        /// The keys that lead to the value, joined by dots.
        path: String,
        /// The expected kind of value.
        expected: &'static str,
    },
    /// Somebody else wrote an entry of our name.
    #[error("it has an entry `{0}` that `memo setup` did not write; rename or remove that entry")]
    NameTaken(String),
    /// Somebody else wrote the file, or has changed it.
    #[error(
        "its text is not what `memo setup` writes, so somebody else wrote or changed it; if it may be replaced or removed, move it away \
         and try again"
    )]
    WrittenByOthers,
    /// One of the two marks around our section is missing, or is there several times.
    #[error("it must have one `memod: begin` and one `memod: end` mark; remove the marks by hand")]
    Marks,
    /// The file is not text.
    #[error("it is not UTF-8; save it as UTF-8 and try again")]
    NotUtf8,
    /// The file is too large to be a settings file.
    #[error("it is larger than 8 MiB, so it cannot be a settings file; check what it is, and move it away")]
    TooBig,
    /// A directory or device is in the place of the file.
    #[error("it is not a file; move it away and try again")]
    NotAFile,
    /// A symbolic link leads nowhere.
    #[error("it is a symbolic link to a path that does not exist; create that file, or remove the link")]
    Dangling,
    /// The file, or a directory around it, is a link that leads out of the project.
    #[error("it leads out of the project, to {0}; put a file in the place of the link, and try again")]
    OutsideProject(String),
    /// The owner has made the file read-only.
    #[error("it is read-only; make it writable and try again")]
    ReadOnly,
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(PathError),
}
