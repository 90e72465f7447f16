//! What does the daemon know about this repository?

use std::process::ExitCode;

fn main() -> ExitCode {
    memod::cli::run()
}
