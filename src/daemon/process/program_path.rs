//! Finds the program file of this process.

use std::path::PathBuf;

use anyhow::Context;

/// Returns the path of this program. On Linux it stays valid if another version is installed over it.
///
/// # Errors
/// When the system does not tell it.
pub fn program_path() -> anyhow::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        let program = PathBuf::from("/proc/self/exe");
        anyhow::ensure!(program.exists(), "/proc is not mounted, which says what program runs");
        return Ok(program);
    }
    std::env::current_exe().context("find the program that runs")
}
