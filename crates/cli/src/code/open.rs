//! Opens a hit of the last search, or a path or name that `memo show` takes, in an editor.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use memod_base::paths::IoContext;
use memod_base::types::parse_target;
use memod_terminal::text::shell_word;
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_FAILED, Output};
use serde_json::json;

use crate::args::OpenArgs;
use crate::code::show_code;
use crate::searching::last_search::{self, LastHit};

/// Editors that take `+LINE` before the path.
const PLUS_LINE_EDITORS: &[&str] = &[
    "emacs",
    "emacsclient",
    "gvim",
    "joe",
    "kak",
    "mg",
    "micro",
    "mvim",
    "nano",
    "ne",
    "nvim",
    "pico",
    "vi",
    "view",
    "vim",
];
/// Editors that take `-g PATH:LINE`.
const GOTO_EDITORS: &[&str] = &["code", "code-insiders", "codium", "cursor", "windsurf"];
/// Editors that take `PATH:LINE`.
const PATH_LINE_EDITORS: &[&str] = &["helix", "hx", "subl", "zed"];

/// Opens a target and waits for the editor. Exits with 3 when the editor fails.
pub(crate) fn open_in_editor(typed: OpenArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let (path, line) = match typed.target.parse::<usize>() {
        Ok(nth) => match last_search::find_last_hit(nth, context, output)? {
            LastHit::File { path, line, .. } => (path, line),
            LastHit::Memory(id) => return Err(last_search::memory_hit_error(nth, &id, context)),
        },
        Err(_) => locate_target(typed, context, output)?,
    };
    let words = build_editor_command(&find_editor()?, &path, line)?;
    output.flush()?;
    let status = Command::new(&words[0]).args(&words[1..]).status().at("run", Path::new(&words[0]))?;
    if output.write_json {
        output
            .is_json_object(&json!({ "path": path, "line": line, "editor": words[0].to_string_lossy() }))?;
    }
    if !status.success() {
        output.write_warning(&format!("{}: {status}", words[0].display()));
        return Ok(EXIT_FAILED);
    }
    Ok(0)
}

/// Returns the file and line of the first part that `memo show` would print.
fn locate_target(
    typed: OpenArgs,
    context: &CommandContext,
    output: &Output,
) -> Result<(PathBuf, u32), CliError> {
    let mut meanings = parse_target(&typed.target).into_iter().rev();
    let typed_line = meanings.find_map(|(_, part)| part.linked_lines().unwrap_or(part).line_range());
    let typed_line = typed_line.map(|(first, _)| first);
    let mut result = show_code::fetch_parts(typed.target, &typed.fresh, context)?;
    result.left_out += result.parts.len().saturating_sub(1); // only the first part is opened
    show_code::report_incomplete_text(&result, output);
    let Some(part) = result.parts.first() else {
        let (message, hint) = ("the file changes too fast to be read".to_owned(), "try again".to_owned());
        return Err(CliError::NoHit { message, hint });
    };
    let (first, last) = part.lines;
    let line = typed_line.filter(|line| (first..=last).contains(line)).unwrap_or(first);
    Ok((last_search::require_regular_file(&context.layout.root, &part.path)?, line))
}

/// Returns the command line of the user's editor.
fn find_editor() -> Result<String, CliError> {
    let typed = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    typed.into_iter().find(|words| !words.trim().is_empty()).ok_or_else(|| CliError::Usage {
        message: "no editor: neither VISUAL nor EDITOR is set".to_owned(),
        hint: "set one, as in `export VISUAL=vim`",
    })
}

/// Returns the words of the command line that opens a path at a line. The path is absolute, so no editor takes it for a flag.
fn build_editor_command(editor: &str, path: &Path, line: u32) -> Result<Vec<OsString>, CliError> {
    let words = shlex::split(editor).filter(|words| !words.is_empty()).ok_or_else(|| CliError::Usage {
        message: format!("{}: not a command line", shell_word(editor)),
        hint: "set VISUAL or EDITOR to one, as in `export VISUAL=vim`",
    })?;
    let name = Path::new(&words[0]).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.as_str();
    let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let mut path_and_line = path.as_os_str().to_owned();
    path_and_line.push(format!(":{line}"));
    if PLUS_LINE_EDITORS.contains(&name) {
        words.extend([format!("+{line}").into(), path.into()]);
    } else if GOTO_EDITORS.contains(&name) {
        words.extend(["-g".into(), path_and_line]);
    } else if PATH_LINE_EDITORS.contains(&name) {
        words.push(path_and_line);
    } else {
        words.push(path.into());
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_editor_gets_the_line_as_it_takes_it() {
        let check = |editor: &str, expected: &str| {
            let words = build_editor_command(editor, Path::new("/r/a b.rs"), 7).expect("a command line");
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!(words.join("|"), expected, "{editor}");
        };
        check("vim -u NONE", "vim|-u|NONE|+7|/r/a b.rs");
        check("/usr/bin/nvim", "/usr/bin/nvim|+7|/r/a b.rs");
        check("code --wait", "code|--wait|-g|/r/a b.rs:7");
        check("hx", "hx|/r/a b.rs:7");
        check("'my editor' -x", "my editor|-x|/r/a b.rs");
        for wrong in ["", "'vim"] {
            assert!(build_editor_command(wrong, Path::new("/r/a"), 1).is_err(), "{wrong}");
        }
    }
}
