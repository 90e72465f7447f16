//! Finds the line that names a definition.

/// Most lines besides comments that are looked at.
const MOST_LINES: usize = 60;
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
        let lines = || (first..).zip(rest.lines().map(str::trim));
        let named = |(_, line): &(u32, &str)| has_word(line, name);
        let code = lines().filter(|(_, line)| !is_comment(line)).take(MOST_LINES).find(named);
        // Some definitions begin as annotations do: `@interface Stone`, `@max_size 100`.
        code.or_else(|| lines().take(MOST_LINES).filter(|(_, line)| line.starts_with('@')).find(named))
    }
}

/// Returns whether a line contains an identifier as a whole word.
pub fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
}
