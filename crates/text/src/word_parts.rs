//! Splits a word, such as an identifier, into its parts.

/// Yields the parts of a word, split at underscores, at changes of case, and between letters and digits.
pub(super) struct WordParts<'a> {
    /// The part of the word after the current segment.
    rest: &'a str,
    /// The rest of the current segment. Segments are separated by underscores.
    segment: &'a str,
    /// Whether the segment looks like a hash or an abbreviation, which is not split.
    is_indivisible: bool,
}

impl<'a> WordParts<'a> {
    /// Splits a word, which consists of letters, digits and underscores.
    pub(super) fn new(word: &'a str) -> Self {
        Self { rest: word, segment: "", is_indivisible: false }
    }
}

impl<'a> Iterator for WordParts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.segment.is_empty() {
            self.rest = self.rest.trim_start_matches('_');
            let end = self.rest.find('_').unwrap_or(self.rest.len());
            (self.segment, self.rest) = self.rest.split_at(end);
            self.is_indivisible = has_useless_parts(self.segment);
        }
        let len = if self.is_indivisible { self.segment.len() } else { part_len(self.segment) };
        let (part, segment) = self.segment.split_at(len);
        self.segment = segment;
        (len > 0).then_some(part)
    }
}

/// Returns whether the parts of `segment` would be too short to be useful, as in hashes, base64, `i18n` and `x1`.
///
/// Random hexadecimal digits change between letters and digits about every second character.
fn has_useless_parts(segment: &str) -> bool {
    let mut n_parts = 0;
    let mut rest = segment;
    while !rest.is_empty() {
        rest = &rest[part_len(rest)..];
        n_parts += 1;
    }
    let n_chars = segment.chars().count();
    n_parts > 1 && (n_chars < 2 * n_parts || (n_parts > 4 && 2 * n_chars < 5 * n_parts))
}

/// Returns the length of the first part of a segment without underscores, in bytes.
fn part_len(segment: &str) -> usize {
    let Some(first) = segment.chars().next().map(CharClass::from_char) else { return 0 };
    let len = run_len(segment, first);
    if first != CharClass::Upper {
        return len;
    }
    let n_lower = run_len(&segment[len..], CharClass::Lower);
    let is_plural = n_lower == 1 && segment[len..].starts_with('s');
    let last = segment[..len].chars().next_back().map_or(0, char::len_utf8);
    match (n_lower, len == last) {
        (0, _) => len,
        (_, true) => len + n_lower,
        _ if is_plural => len + 1,
        // The last of several capitals begins the next part: the `S` of `HTTPServer`.
        _ => len - last,
    }
}

/// Returns the length of the characters of one class at the start of `text`, bytes.
fn run_len(text: &str, class: CharClass) -> usize {
    text.chars().take_while(|&c| CharClass::from_char(c) == class).map(char::len_utf8).sum()
}

/// The class of a character. Other letters count as lower case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Upper,
    Lower,
    Digit,
}

impl CharClass {
    fn from_char(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            _ if c.is_uppercase() => Self::Upper,
            _ if c.is_numeric() => Self::Digit,
            _ => Self::Lower,
        }
    }
}
