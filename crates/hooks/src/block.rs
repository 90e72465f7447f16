//! Inserts our block into the text of a hook, and removes it.
//!
//! The text alone suffices to undo an insertion: a block is removed with the line feed after it or, at the end of the file, with
//! the line feed before it.

pub(super) use memod_doorbell::DOORBELL_HOOK_TEXT as HOOK;

use memod_base::types::file_name;

const BLOCK_START: &str = "# >>> memo hooks >>>\n";
const BLOCK_END: &str = "\n# <<< memo hooks <<<";

/// The kind of a hook, as far as it matters for our block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HookKind {
    /// Our own hook, unchanged.
    Ours,
    /// Another hook with our block.
    Chained,
    /// A hook with the block of another version.
    Outdated,
    /// Another hook, for a shell that can run our block.
    Shell,
    /// Another hook, into which our block cannot be inserted, and why.
    Foreign(&'static str),
}

/// Returns the kind of a hook.
pub(super) fn classify_hook(text: &[u8]) -> HookKind {
    if text == HOOK.as_bytes() {
        return HookKind::Ours;
    }
    if let Some((start, end)) = find_block(text) {
        let is_current = &text[start..end] == block_text().as_bytes();
        return if is_current { HookKind::Chained } else { HookKind::Outdated };
    }
    if text.contains(&0) {
        return HookKind::Foreign("it is a binary file");
    }
    // Git runs a text without a `#!` line with sh.
    let Some(rest) = text.strip_prefix(b"#!") else { return HookKind::Shell };
    let first = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first.ends_with(b"\r") {
        return HookKind::Foreign("its first line ends with CR LF, so no system finds its interpreter");
    }
    if is_shell(&String::from_utf8_lossy(first)) {
        HookKind::Shell
    } else {
        HookKind::Foreign("it is not a shell script")
    }
}

/// Returns whether the text after `#!` starts a POSIX shell.
fn is_shell(interpreter: &str) -> bool {
    let mut words = interpreter.split_whitespace().map(file_name);
    let first = words.next().unwrap_or_default();
    let program = match first {
        "env" => words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or_default(),
        first => first,
    };
    ["sh", "bash", "dash", "ksh", "mksh", "zsh", "ash", "sh.exe", "bash.exe"].contains(&program)
}

/// Returns the text with our block before all commands, because a block after an `exit` or `exec` would never run.
pub(super) fn insert_block(text: &[u8]) -> Vec<u8> {
    let has_interpreter = text.starts_with(b"#!");
    let first_line = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1);
    let (before, after) = text.split_at(if has_interpreter { first_line } else { 0 });
    match before.last() {
        Some(b'\n') | None => [before, block_text().as_bytes(), b"\n", after].concat(),
        Some(_) => [before, b"\n", block_text().as_bytes()].concat(), // the hook is only a `#!` line without a line feed
    }
}

/// Returns the text without our block; `None` if there is no block.
pub(super) fn remove_block(text: &[u8]) -> Option<Vec<u8>> {
    let (start, end) = find_block(text)?;
    Some(match (&text[..start], &text[end..]) {
        (before, [b'\n', after @ ..]) => [before, after].concat(),
        (before, []) => before.strip_suffix(b"\n").unwrap_or(before).to_owned(),
        (before, after) => [before, after].concat(),
    })
}

/// Returns whether a text is what [`remove_block`] leaves of our own hook, [`HOOK`], so that the file can be deleted.
pub(super) fn is_own_hook_without_block(left: &[u8]) -> bool {
    left == own_hook_header().as_bytes()
}

/// Returns the commands of the block as one line, separated by semicolons.
pub(super) fn block_as_one_line() -> String {
    let commands = block_text().strip_prefix(BLOCK_START).and_then(|rest| rest.strip_suffix(BLOCK_END));
    commands.expect("the hook has both marks").replace('\n', "; ")
}

/// Returns our block with its marks, without the last line feed.
fn block_text() -> &'static str {
    let (start, end) = find_block(HOOK.as_bytes()).expect("the hook has both marks");
    &HOOK[start..end]
}

/// Returns the text above the block in our own hook.
fn own_hook_header() -> &'static str {
    let (start, _) = find_block(HOOK.as_bytes()).expect("the hook has both marks");
    &HOOK[..start]
}

/// Returns the start and end byte of the block with its marks, without the line feed after it.
fn find_block(text: &[u8]) -> Option<(usize, usize)> {
    let start = find_bytes(text, BLOCK_START.as_bytes())?;
    let end = start + find_bytes(&text[start..], BLOCK_END.as_bytes())? + BLOCK_END.len();
    Some((start, end))
}

/// Returns the offset of the first occurrence of some bytes.
pub(super) fn find_bytes(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_goes_first_and_comes_out_without_a_trace() {
        let cases: [&[u8]; 12] = [
            b"#!/bin/sh\necho hi\n",
            b"#!/bin/sh\necho hi",
            b"#!/bin/sh\nexit 0\n",
            b"#!/bin/sh\nexec other \"$@\"",
            b"#!/bin/sh",
            b"#!/bin/sh\n",
            b"#!/usr/bin/env bash\r\necho hi\r\n",
            b"#!/bin/sh\necho hi\r\nexit 0\r\n",
            b"echo no interpreter\n",
            b"\n\n",
            b"",
            b"#!/bin/sh\n\xff\xfe not UTF-8\n",
        ];
        for text in cases {
            let shown = String::from_utf8_lossy(text).into_owned();
            let chained = insert_block(text);
            assert_eq!(classify_hook(&chained), HookKind::Chained, "{shown:?}");
            assert_eq!(remove_block(&chained).as_deref(), Some(text), "{shown:?}");
            let code = String::from_utf8_lossy(&chained).into_owned();
            let first = code.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
            assert!(first.contains("doorbell"), "ours runs first: {code}");
        }
    }

    #[test]
    fn what_a_neighbour_wrote_since_stays() {
        let chained = String::from_utf8(insert_block(b"#!/bin/sh\nexit 0\n")).expect("it is UTF-8");
        let edited = chained.replace("exit 0", "echo new\nexit 1") + "# end";
        assert_eq!(
            remove_block(edited.as_bytes()).expect("ours is in it"),
            b"#!/bin/sh\necho new\nexit 1\n# end"
        );
        let appended = format!("{HOOK}echo neighbour\n");
        let left = remove_block(appended.as_bytes()).expect("ours is in it");
        assert_eq!(left, format!("{}echo neighbour\n", own_hook_header()).as_bytes());
        let last = format!("#!/bin/sh\n{}", block_text());
        assert_eq!(
            remove_block(format!("{last}\necho more\n").as_bytes()).expect("ours"),
            b"#!/bin/sh\necho more\n"
        );
    }

    #[test]
    fn of_our_own_hook_nothing_is_left() {
        assert!(is_own_hook_without_block(&remove_block(HOOK.as_bytes()).expect("ours is in it")));
        assert!(
            !is_own_hook_without_block(b"") && !is_own_hook_without_block(b"#!/bin/sh\n"),
            "a person's hook may be as short"
        );
        assert_eq!(remove_block(b"#!/bin/sh\necho hi\n"), None);
        assert_eq!(remove_block(BLOCK_START.as_bytes()), None, "half a block is nobody's");
    }

    #[test]
    fn hooks_are_told_apart() {
        let check = |text: &str, expected: &str| {
            let found = match classify_hook(text.as_bytes()) {
                HookKind::Foreign(_) => "foreign".to_owned(),
                known => format!("{known:?}").to_lowercase(),
            };
            assert_eq!(found, expected, "{text:?}");
        };
        check(HOOK, "ours");
        check(&HOOK.replace("echo >>", "echo x >>"), "outdated");
        check(&format!("{HOOK}echo more\n"), "chained");
        check("#!/bin/sh\n", "shell");
        check("#!/bin/bash -e\n", "shell");
        check("#! /usr/bin/env -S A=1 bash\n", "shell");
        check("#!/usr/bin/env zsh\n", "shell");
        check("echo hi\n", "shell");
        check("", "shell");
        check("#!/usr/bin/env python3\n", "foreign");
        check("#!/usr/bin/fish\n", "foreign");
        check("#!/bin/sh\r\necho hi\r\n", "foreign");
        check("#!/usr/bin/env\n", "foreign");
        check("\u{7f}ELF\0\0", "foreign");
    }

    #[test]
    fn every_line_is_a_command_of_its_own() {
        let line = block_as_one_line();
        assert!(!line.contains('\n') && line.ends_with("; :"), "{line}");
        for shell in ["sh", "bash"] {
            let checked = std::process::Command::new(shell).args(["-n", "-c", &line]).status();
            assert!(checked.expect("the shell runs").success(), "{shell}: {line}");
        }
    }
}
