//! Declares the arguments of `memo demo`.

use std::path::PathBuf;

use clap::Args;

/// Make a small repository and try the main verbs in it, or remove it
///
/// Prints each command with its output: a search, a note that reports when its code changes, the callers of a function, the
/// commit behind a line. The directory must be new or empty. --remove stops the daemon of the
/// demo and deletes the directory; if somebody has added anything to it, lists that, deletes nothing and exits with 1.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Directory of the demo, which is new or empty [default: memod-demo]
    #[arg(value_name = "DIR")]
    pub(crate) demo_dir: Option<PathBuf>,
    /// Remove the demo with its index, unless somebody has added something to it [default: memod-demo, or else the current
    /// directory]
    #[arg(long)]
    pub(crate) remove: bool,
}
