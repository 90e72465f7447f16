//! Finds the worktree of a command, and prints its output.
//!
//! `common_args` declares the flags of every command, `context` finds the worktree and connects to its daemon, `error` maps each
//! failure to a code, a hint and an exit status, and `output` is the only printer.

mod common_args;
mod context;
mod error;
mod escaping_writer;
mod file_link;
mod output;
mod pager;
mod part_file;
pub mod progress;
pub mod rows;
mod rows_args;
pub mod text;

pub use common_args::{ColorMode, GlobalArgs, JsonForm, SearchModeArg};
pub use context::CommandContext;
pub use error::{CliError, CliResult, EXIT_FAILED, EXIT_NOTHING_FOUND, EXIT_USAGE, ErrorReport};
pub use output::{CapturedOutput, Output, write_message};
pub use part_file::{PartFile, remove_stale_part_files};
pub use rows_args::{RowFormat, RowsArgs};
