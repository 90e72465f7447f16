//! Finds lines, their ends and their indentation in a text.

/// Returns the line end of a text: CR LF if the text has any, otherwise LF.
pub(super) fn detect_eol(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Returns a text without one line end at its end.
pub(super) fn strip_eol(text: &str) -> &str {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}

/// Returns the text after a line end at its start; `None` if the text does not begin with a line end.
pub(super) fn strip_eol_start(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'))
}

/// Returns the byte offset at which the line with the byte `at` starts.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the white space at the start of the line with the byte `at`.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the indentation of one level: the shortest indentation in the text, or two spaces.
pub(super) fn indent_unit(text: &str) -> &str {
    let indents = text.lines().map(|line| line_indent(line, 0));
    let least = indents.filter(|indent| !indent.is_empty()).min_by_key(|indent| indent.len());
    least.filter(|indent| indent.len() <= 8).unwrap_or("  ")
}
