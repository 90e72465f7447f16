//! Finds the line that names a definition.

/// Documentation longer than this would hide the signature of its definition.
const MOST_DOC_LINES: usize = 60;
/// Prefixes of documentation and attribute lines in various languages.
const COMMENT_STARTS: [&str; 8] = ["//", "/*", "*", "# ", "#[", "--", "@", "\"\"\""];

/// A text whose lines are found by their numbers.
pub struct Lines {
    text: String,
    /// Where each line begins, bytes.
    starts: Vec<usize>,
}

impl Lines {
    /// Splits a text.
    pub fn of(text: String) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after_breaks).collect();
        Self { text, starts }
    }

    /// Returns the line that names a definition, with its 1-based number, given the first line of the definition, which may
    /// begin with documentation.
    pub fn signature(&self, name: &str, first: u32) -> Option<(u32, &str)> {
        let rest = &self.text[*self.starts.get(first as usize - 1)?..];
        let is_comment = |line: &str| COMMENT_STARTS.iter().any(|start| line.starts_with(start));
        let mut window = (first..).zip(rest.lines().map(str::trim)).take(MOST_DOC_LINES);
        window.find(|(_, line)| has_word(line, name) && !is_comment(line))
    }
}

/// Returns whether a line contains an identifier as a whole word.
pub fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
}
