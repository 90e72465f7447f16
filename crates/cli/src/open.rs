//! Opens a hit of the last search, or what `memo show` takes, in an editor.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use memod_base::paths::IoContext;
use serde_json::json;

use super::args::OpenArgs;
use super::context::CommandContext;
use super::error::{CliError, CliResult, EXIT_FAILED};
use super::output::Output;
use super::text::shell_word;
use super::{last_search, show_code};

/// Editors that take the line as an argument before the path.
const PLUS_LINE: &[&str] = &[
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
/// Those that go where `-g` says.
const GOTO: &[&str] = &["code", "code-insiders", "codium", "cursor", "windsurf"];
/// Those that take `PATH:LINE`.
const PATH_LINE: &[&str] = &["helix", "hx", "subl", "zed"];

/// Waits for the editor, and exits with 3 when it fails.
pub(super) fn open(typed: OpenArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let (path, line) = match typed.target.parse::<usize>() {
        Ok(nth) => last_search::file(nth, context, output)?,
        Err(_) => named(typed, context, output)?,
    };
    let words = command(&editor()?, &path, line)?;
    output.flush()?;
    let status = Command::new(&words[0]).args(&words[1..]).status().at("run", Path::new(&words[0]))?;
    if output.json {
        output.json(&json!({ "path": path, "line": line, "editor": words[0].to_string_lossy() }))?;
    }
    if !status.success() {
        output.warn(&format!("{}: {status}", words[0].display()));
        return Ok(EXIT_FAILED);
    }
    Ok(0)
}

/// Returns the file and line of what `memo show` would print.
fn named(typed: OpenArgs, context: &CommandContext, output: &Output) -> Result<(PathBuf, u32), CliError> {
    let typed_line =
        typed.target.rsplit_once(':').and_then(|(_, lines)| lines.split('-').next()?.parse().ok());
    let mut result = show_code::ask(typed.target, &typed.fresh, context)?;
    result.left_out += result.parts.len().saturating_sub(1); // one is opened
    show_code::notes(&result, output);
    let Some(part) = result.parts.first() else {
        let (message, hint) = ("its file changes too fast to be read".to_owned(), "try again".to_owned());
        return Err(CliError::NoHit { message, hint });
    };
    let (first, last) = part.lines;
    let line = typed_line.filter(|line| (first..=last).contains(line)).unwrap_or(first);
    Ok((last_search::regular(&context.layout.root, &part.path)?, line))
}

/// Returns the command line of the user's editor.
fn editor() -> Result<String, CliError> {
    let typed = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    typed.into_iter().find(|words| !words.trim().is_empty()).ok_or_else(|| CliError::Usage {
        message: "no editor: neither VISUAL nor EDITOR is set".to_owned(),
        hint: "set one, as in `export VISUAL=vim`",
    })
}

/// Returns the words that open a path at a line. The path is absolute, so none is taken for a flag.
fn command(editor: &str, path: &Path, line: u32) -> Result<Vec<OsString>, CliError> {
    let words = shlex::split(editor).filter(|words| !words.is_empty()).ok_or_else(|| CliError::Usage {
        message: format!("{}: not a command line", shell_word(editor)),
        hint: "set VISUAL or EDITOR to one, as in `export VISUAL=vim`",
    })?;
    let name = Path::new(&words[0]).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let is_of = |names: &[&str]| names.contains(&name.as_str());
    let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let at_line = || {
        let mut place = path.as_os_str().to_owned();
        place.push(format!(":{line}"));
        place
    };
    if is_of(PLUS_LINE) {
        words.extend([format!("+{line}").into(), path.into()]);
    } else if is_of(GOTO) {
        words.extend(["-g".into(), at_line()]);
    } else if is_of(PATH_LINE) {
        words.push(at_line());
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
            let words = command(editor, Path::new("/r/a b.rs"), 7).expect("a command line");
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!(words.join("|"), expected, "{editor}");
        };
        check("vim -u NONE", "vim|-u|NONE|+7|/r/a b.rs");
        check("/usr/bin/nvim", "/usr/bin/nvim|+7|/r/a b.rs");
        check("code --wait", "code|--wait|-g|/r/a b.rs:7");
        check("hx", "hx|/r/a b.rs:7");
        check("'my editor' -x", "my editor|-x|/r/a b.rs");
        for wrong in ["", "'vim"] {
            assert!(command(wrong, Path::new("/r/a"), 1).is_err(), "{wrong}");
        }
    }
}
