//! Builds the caller and the text in requests about memories, and prints notices of the daemon.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;

use memod_base::paths::IoContext;
use memod_proto::memory::Caller;
use memod_terminal::text::format_count;
use memod_terminal::{CliError, CommandContext, Output};

use crate::args::TextArgs;

/// Largest file that is read, bytes. Larger than the largest memory, because private parts are cut out before the size is checked.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Returns the caller of a request, with a random request id. Because of the id, the daemon does not carry out a request twice that
/// is sent again after the daemon died.
pub(crate) fn new_caller(context: &CommandContext) -> Caller {
    let random = RandomState::new().hash_one(std::process::id());
    let request = Some(format!("{random:016x}{:08x}", std::process::id()));
    let (cwd, client) = (context.cwd.clone(), context.client.to_owned());
    Caller { cwd, client, agent_name: context.agent.clone(), request }
}

/// Prints a notice of the daemon as a warning, if there is one.
pub(super) fn write_notice(text: Option<&String>, output: &Output) {
    if let Some(text) = text {
        output.write_warning(text);
    }
}

pub(super) fn report_redacted_parts(n_parts: usize, output: &Output) {
    if n_parts > 0 {
        output.write_note(&format!(
            "{} cut out",
            format_count(n_parts as u64, "private part was", "private parts were")
        ));
    }
}

/// Returns the text from the command line, the file or stdin.
pub(super) fn read_memory_text(typed: &TextArgs) -> Result<String, CliError> {
    match (&typed.file, typed.text.as_slice()) {
        (Some(file), _) => {
            let mut bytes = Vec::new();
            let opened = File::open(file).at("open", file)?;
            opened.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).at("read", file)?;
            if bytes.len() as u64 > MAX_FILE_BYTES {
                let message = format!("{}: too large for a memory", file.display());
                return Err(CliError::Usage { message, hint: "a memory has 64 KiB at most" });
            }
            String::from_utf8(bytes).map_err(|_| not_utf8_error(&file.display().to_string()))
        }
        (None, words) => read_text_or_stdin(words.join(" ")),
    }
}

/// Returns the content of stdin if the argument is `-`, and otherwise the argument itself.
pub(super) fn read_text_or_stdin(typed: String) -> Result<String, CliError> {
    if typed != "-" {
        return Ok(typed);
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    read.at("read", std::path::Path::new("stdin"))?;
    String::from_utf8(bytes).map_err(|_| not_utf8_error("stdin"))
}

fn not_utf8_error(source: &str) -> CliError {
    CliError::Usage { message: format!("{source}: not UTF-8"), hint: "a memory must be a text in UTF-8" }
}
