//! The client: parses a command line, asks the daemon and prints its answer.

use std::process::ExitCode;

fn main() -> ExitCode {
    memod_cli::run()
}
