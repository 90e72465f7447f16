//! Reads the calls with which tests of JavaScript begin: `it('title', …`, also in loops, in tables of inputs, and several on a line.

use std::collections::HashMap;

use super::titles::{read_string, skip_string};

/// Functions that group tests, and that are tests.
const GROUPS: [&str; 4] = ["describe", "suite", "context", "fdescribe"];
const TESTS: [&str; 6] = ["it", "test", "specify", "fit", "xit", "bench"];
/// Methods of these functions that are no tests although their first argument is a text.
const OTHER_METHODS: [&str; 5] = ["step", "use", "extend", "info", "setTimeout"];
/// Methods that take a table of inputs.
const TABLES: [&str; 2] = ["each", "for"];
/// Most lines of a table of inputs.
const MAX_TABLE_LINES: usize = 2_000;
/// Texts after which a test may begin on a line: they end a statement, the head of a loop or condition, or an arrow.
const BEFORE: [&str; 12] = [";", "{", "}", ")", "=>", "?", ":", "&&", "||", "await", "return", "else"];

/// A call that begins a test or a group.
pub(super) struct TestCall {
    /// Byte of the call in its line.
    pub(super) column: usize,
    /// Byte after the call, if it ends on the line.
    pub(super) end: Option<usize>,
    pub(super) title: String,
    pub(super) is_test: bool,
    pub(super) is_parametrised: bool,
}

/// The names by which a file calls its test runner, each with whether it groups tests.
pub(super) struct Runners<'l>(HashMap<&'l str, bool>);

impl<'l> Runners<'l> {
    /// Finds the names: the usual ones, and those that the file declares with `test.extend(…)` or as a choice, `x ? it : it.skip`.
    pub(super) fn find_in(lines: &[&'l str]) -> Self {
        let usual = GROUPS.iter().map(|name| (*name, true)).chain(TESTS.iter().map(|name| (*name, false)));
        let mut runners = Self(usual.collect());
        for line in lines.iter().filter(|line| line.contains(".extend") || line.contains(" ? ")) {
            if let Some((name, is_group)) = runners.read_declaration(line) {
                runners.0.entry(name).or_insert(is_group);
            }
        }
        runners
    }

    /// Reads `const myTest = test.extend(…`, `const run = x ? it : it.skip`.
    fn read_declaration(&self, line: &'l str) -> Option<(&'l str, bool)> {
        let text = line.trim_start();
        let text = text.strip_prefix("export ").unwrap_or(text);
        let text = ["const ", "let ", "var "].iter().find_map(|word| text.strip_prefix(word))?;
        let (name, value) = text.split_once('=')?;
        let value = value.trim();
        let runner = match value.rsplit_once(" ? ") {
            Some((_, choice)) => choice.split(" : ").next()?.split('.').next()?.trim(),
            None => value.split_once(".extend").filter(|(_, rest)| rest.starts_with(['(', '<']))?.0,
        };
        Some((read_name(name.trim()), *self.0.get(runner)?))
    }

    /// Returns whether a name groups tests; `None` for a name that is none of the runner's.
    fn is_group(&self, name: &str) -> Option<bool> {
        self.0.get(name).copied()
    }
}

/// Returns the calls on a line that begin tests or groups.
pub(super) fn read_calls(lines: &[&str], at: usize, runners: &Runners<'_>) -> Vec<TestCall> {
    let line = lines[at];
    let next = &lines[at + 1..];
    let mut calls = Vec::new();
    let start = line.len() - line.trim_start().len();
    if line[start..].starts_with(['/', '*']) {
        return calls;
    }
    calls.extend(read_table_end(lines, at, runners));
    let mut from = start;
    while let Some(column) = next_word(line, from) {
        let word = read_name(&line[column..]);
        from = column + word.len().max(1);
        let before = line[..column].trim_end();
        let may_begin = before.is_empty() || BEFORE.iter().any(|end| before.ends_with(end));
        if !may_begin {
            continue;
        }
        let choice = line[column..].starts_with('(').then(|| read_choice(&line[column..], runners)).flatten();
        let choice = choice.map(|(is_group, length)| (is_group, column + length));
        // `t.test('title', …` of node:test and tap.
        let is_subtest = word == "t" && line[column + 1..].starts_with(".test(");
        let found = choice.or_else(|| {
            let is_group = runners.is_group(word).or(is_subtest.then_some(false))?;
            Some((is_group, column + word.len()))
        });
        let call = found.and_then(|(is_group, after)| read_call(line, (column, after), is_group, next));
        calls.extend(call);
    }
    calls
}

/// Returns the byte of the next name or bracket outside of strings that may begin a call.
fn next_word(line: &str, from: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' | b'`' => at = skip_string(line, at)?,
            b'/' if bytes.get(at + 1) == Some(&b'/') => return None,
            byte if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') => {
                let is_inside = at > 0 && is_name_byte(bytes[at - 1]);
                if !is_inside && (at == 0 || bytes[at - 1] != b'.') {
                    return Some(at);
                }
                at += read_name(&line[at..]).len().max(1);
            }
            b'(' if bytes[at..].starts_with(b"(") && line[..at].trim().is_empty() => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Reads `(x ? it : it.skip)`; returns whether it groups tests, and its length.
fn read_choice(text: &str, runners: &Runners<'_>) -> Option<(bool, usize)> {
    let end = find_close(text, 0)?;
    let (_, choice) = text[1..end].rsplit_once('?')?;
    let first = choice.split(':').next()?.split('.').next()?;
    Some((runners.is_group(first.trim())?, end + 1))
}

/// Reads the call of a runner, whose name ends at `after`: its methods, the table of inputs, and the title.
fn read_call(line: &str, (column, after): (usize, usize), is_group: bool, next: &[&str]) -> Option<TestCall> {
    let mut at = after;
    let (mut is_group, mut is_parametrised, mut takes_table) = (is_group, false, false);
    loop {
        let rest = &line[at..];
        match rest.bytes().next()? {
            b'.' => {
                let method = read_name(&rest[1..]);
                if method.is_empty() || OTHER_METHODS.contains(&method) {
                    return None;
                }
                is_group |= GROUPS.contains(&method);
                takes_table = TABLES.contains(&method);
                is_parametrised |= takes_table;
                at += 1 + method.len();
            }
            b'<' => at = find_angle_close(line, at)? + 1,
            b'`' => {
                takes_table = false;
                at = skip_string(line, at)?;
            }
            b'(' => {
                let close = find_close(line, at);
                match close.filter(|close| line[close + 1..].trim_start().starts_with(['(', '`'])) {
                    Some(close) => {
                        takes_table = false;
                        at = line.len() - line[close + 1..].trim_start().len();
                    }
                    None if takes_table => return None, // the table ends on another line
                    None => break,
                }
            }
            b' ' => at += 1,
            _ => return None,
        }
    }
    let title = read_title(&line[at + 1..], next)?;
    let end = find_close(line, at).map(|close| close + 1);
    let is_parametrised = !is_group && (is_parametrised || title.contains("${"));
    Some(TestCall { column, end, title, is_test: !is_group, is_parametrised })
}

/// Reads the end of a table of inputs that began on a line before: `])('title', …`, `] as const)('title', …`, `` `('title', … ``.
fn read_table_end(lines: &[&str], at: usize, runners: &Runners<'_>) -> Option<TestCall> {
    let (line, next) = (lines[at], &lines[at + 1..]);
    let start = line.len() - line.trim_start().len();
    let text = &line[start..];
    let inside = match text.strip_prefix('`') {
        Some(rest) => rest.strip_prefix('(')?,
        None => text.strip_prefix(']').or(text.strip_prefix(')'))?.split_once('(')?.1,
    };
    let before = &text[..text.len() - inside.len()];
    if !(before.ends_with(")(") || before == "`(") || before.contains(['"', '\'', '{']) {
        return None;
    }
    let open = start + before.len() - 1;
    let title = read_string(inside.trim_start()).map(|(title, _)| title);
    let title = title.or_else(|| read_title(inside, next).filter(|_| inside.trim().is_empty()))?;
    let end = find_close(line, open).map(|close| close + 1);
    // The line with the same indent before begins the table.
    let has_indent = |line: &&&str| line.len() - line.trim_start().len() == start && !line.trim().is_empty();
    let first = lines[..at].iter().rev().take(MAX_TABLE_LINES).find(has_indent)?.trim_start();
    let is_table = TABLES.iter().any(|method| first.contains(&format!(".{method}")));
    let is_test = !runners.is_group(read_name(first))? && !first.contains(".describe");
    is_table.then_some(TestCall { column: start, end, title, is_test, is_parametrised: is_test })
}

/// Reads a title: a text, texts joined by `+`, or a path of names such as `Store.name`; also on the next lines.
fn read_title(arguments: &str, next: &[&str]) -> Option<String> {
    let mut next = next.iter().map(|line| line.trim_start());
    let mut arguments = arguments.trim_start();
    if arguments.is_empty() {
        arguments = next.next()?;
    }
    let Some((mut title, mut rest)) = read_string(arguments) else {
        let (title, _) = arguments.split_once(',')?;
        let is_path = title.chars().all(|c| c.is_alphanumeric() || "._$".contains(c));
        return (is_path && !title.is_empty()).then(|| title.to_owned());
    };
    while let Some(more) = rest.trim_start().strip_prefix('+') {
        let more = if more.trim().is_empty() { next.next().unwrap_or_default() } else { more };
        let Some((part, after)) = read_string(more.trim_start()) else { break };
        title.push_str(&part);
        rest = after;
    }
    Some(title)
}

/// Returns the byte of the bracket that closes the one at `open`, if it is on the line.
fn find_close(line: &str, open: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    let (mut depth, mut at) = (0_usize, open);
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' | b'`' => {
                at = skip_string(line, at)?;
                continue;
            }
            b'(' => depth += 1,
            b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the byte of the `>` that closes the list of types at `open`.
fn find_angle_close(line: &str, open: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            b'<' => depth += 1,
            b'>' if bytes[at - 1] != b'=' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn read_name(text: &str) -> &str {
    let end = text.bytes().position(|byte| !is_name_byte(byte)).unwrap_or(text.len());
    &text[..end]
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}
