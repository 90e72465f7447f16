//! Prints the daemon's log, and follows it.
//!
//! Reads the files of the log without the daemon, because the log matters most when the daemon does not answer.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use memod_base::paths::IoContext;
use memod_base::threads::pause;
use memod_terminal::text::escape_for_display;
use memod_terminal::{CliError, CliResult, CommandContext, Output};
use serde_json::json;

use crate::args::LogsArgs;

/// Interval at which a followed log is polled. Polls, because file events do not work on every system and people read slowly.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) fn print_logs(typed: &LogsArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let log = context.layout.log_file();
    let new = match fs::read(&log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(CliError::NoLog(log)),
        read => read.at("read", &log)?,
    };
    let mut text = String::from_utf8_lossy(&new).into_owned();
    if text.lines().count() < typed.lines {
        // The older log, which was rotated away, may not exist yet.
        let old = fs::read(log.with_extension("log.1")).unwrap_or_default();
        text.insert_str(0, &String::from_utf8_lossy(&old));
    }
    for line in last_lines(&text, typed.lines) {
        print_log_line(line, output)?;
    }
    if typed.follow {
        follow_log(&log, new.len() as u64, output)?;
    }
    Ok(0)
}

/// Returns the last `n` lines of a text.
fn last_lines(text: &str, n: usize) -> impl Iterator<Item = &str> {
    text.lines().skip(text.lines().count().saturating_sub(n))
}

fn print_log_line(line: &str, output: &mut Output) -> Result<(), CliError> {
    if output.write_json {
        output.is_json_object(&json!({ "line": line }))
    } else {
        output.write_line(&escape_for_display(line))
    }
}

/// Prints lines that are added after `position`, until the process is interrupted or the reader closes the pipe.
fn follow_log(log: &Path, mut position: u64, output: &mut Output) -> Result<(), CliError> {
    let mut rest = Vec::new();
    loop {
        output.flush()?;
        pause(POLL_INTERVAL);
        let Ok(mut file) = File::open(log) else { continue }; // the log is being rotated
        let size = file.metadata().at("look at", log)?.len();
        if size < position {
            position = 0; // the log was rotated
        }
        file.seek(SeekFrom::Start(position)).at("read", log)?;
        position += file.take(size - position).read_to_end(&mut rest).at("read", log)? as u64;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            print_log_line(String::from_utf8_lossy(&line).trim_end(), output)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown() {
        let cases = [("", 5, ""), ("a\nb\nc\n", 2, "b c"), ("a\nb", 9, "a b"), ("a\n", 0, "")];
        for (text, n, expected) in cases {
            assert_eq!(last_lines(text, n).collect::<Vec<_>>().join(" "), expected);
        }
    }
}
