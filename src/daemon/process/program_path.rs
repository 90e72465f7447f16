//! Finds the program file of this process.

use std::path::PathBuf;

use anyhow::Context;

/// Returns the path of this program. On Linux, the path stays valid if another version is installed over the program.
///
/// # Errors
/// When the system does not report the path.
pub fn program_path() -> anyhow::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        let program = PathBuf::from("/proc/self/exe");
        anyhow::ensure!(program.exists(), "/proc is not mounted, so memod cannot find its own program file");
        return Ok(program);
    }
    std::env::current_exe().context("find the program file of memod")
}
