//! Removes credentials from texts.

use std::borrow::Cow;
use std::ops::Range;

use super::secrets::{Syntax, find_secret_spans, find_secrets_in};

/// The text that replaces a credential.
pub const REDACTED: &str = "[REDACTED]";

/// Most bytes that are added to a span to make its lines whole. A longer line is minified text.
const MOST_ADDED: usize = 10_000;

/// Returns the text with every credential replaced by [`REDACTED`].
pub fn redact(text: &str, syntax: Syntax) -> Cow<'_, str> {
    replace_secrets(text, 0..text.len(), &find_secret_spans(text, syntax), |_| "")
}

/// Returns the text with every byte in `secrets` except line ends replaced by a filler (`REDACTED____…`), so that all offsets and
/// line numbers stay. `secrets` must ascend and not overlap.
pub fn mask<'a>(text: &'a str, secrets: &[Range<usize>]) -> Cow<'a, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    for secret in secrets {
        masked.push_str(&text[masked.len()..secret.start]);
        let filler = b"REDACTED".iter().chain(std::iter::repeat(&b'_'));
        let bytes = text.as_bytes()[secret.clone()].iter().zip(filler);
        masked.extend(bytes.map(|(was, filler)| char::from(if is_line_end(*was) { *was } else { *filler })));
    }
    masked.push_str(&text[masked.len()..]);
    Cow::Owned(masked)
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns the span `bytes` of `text` with each credential replaced by [`REDACTED`] and the line ends of the credential, so that
/// line numbers stay.
///
/// `secrets` must be the credentials of the whole text, because the second half of a private key cannot be recognised alone.
pub fn redact_span<'a>(text: &'a str, bytes: Range<usize>, secrets: &[Range<usize>]) -> Cow<'a, str> {
    replace_secrets(text, bytes, secrets, |part| part)
}

/// Replaces the credentials in a span of a text. `lines_of` returns the part of a credential whose line ends are added to the
/// result.
fn replace_secrets<'a>(
    text: &'a str,
    bytes: Range<usize>,
    secrets: &[Range<usize>],
    lines_of: fn(&str) -> &str,
) -> Cow<'a, str> {
    let first = secrets.partition_point(|secret| secret.end <= bytes.start);
    let inside = secrets[first..].iter().take_while(|secret| secret.start < bytes.end);
    let mut redacted = String::new();
    let mut kept_to = bytes.start;
    for secret in inside {
        let start = secret.start.max(kept_to);
        redacted.push_str(&text[kept_to..start]);
        redacted.push_str(REDACTED);
        kept_to = secret.end.min(bytes.end);
        redacted.extend(lines_of(&text[start..kept_to]).matches(['\n', '\r']));
    }
    if redacted.is_empty() {
        return Cow::Borrowed(&text[bytes]);
    }
    redacted.push_str(&text[kept_to..bytes.end]);
    Cow::Owned(redacted)
}

/// The credentials that a search of the beginning of a text has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretsFoundSoFar {
    /// The credentials that begin before `to`.
    secrets: Vec<Range<usize>>,
    /// The offset up to which the text was searched.
    to: usize,
}

/// A text that is read without its credentials. The text is always searched from its beginning up to the end of a requested span,
/// because half of a key cannot be recognised.
#[derive(Clone, Debug)]
pub struct RedactedText {
    text: String,
    syntax: Syntax,
    searched: SecretsFoundSoFar,
}

impl RedactedText {
    /// Wraps a text that has not been searched yet.
    pub fn new(text: String, syntax: Syntax) -> Self {
        Self { text, syntax, searched: SecretsFoundSoFar::default() }
    }

    /// Sets the result of an earlier search of the same text, which then continues.
    pub fn with_searched(self, searched: SecretsFoundSoFar) -> Self {
        Self { searched, ..self }
    }

    /// Returns the result of the search so far.
    pub fn into_searched(self) -> SecretsFoundSoFar {
        self.searched
    }

    /// Returns a byte span with its credentials replaced; `None` if the span is not in the text, or not on character boundaries.
    pub fn span(&mut self, bytes: Range<usize>) -> Option<Cow<'_, str>> {
        self.text.get(bytes.clone())?;
        let SecretsFoundSoFar { secrets, to } = &mut self.searched;
        if *to < bytes.end {
            let known_to = secrets.last().map_or(0, |last| last.end);
            let (found, searched_to) = find_secrets_in(&self.text, self.syntax, *to..bytes.end, known_to);
            secrets.extend(found.into_iter().map(|secret| secret.bytes));
            *to = searched_to;
        }
        Some(redact_span(&self.text, bytes, &self.searched.secrets))
    }

    /// Returns the whole lines of a byte span, with credentials replaced, because code that cannot be parsed may be cut within a
    /// line. Returns only the span if its lines are very long (minified text); `None` if the text has no such span.
    pub fn whole_lines(&mut self, bytes: Range<usize>) -> Option<Cow<'_, str>> {
        let (head, tail) = (self.text.get(..bytes.start)?, self.text.get(bytes.end..)?);
        let start = head.rfind('\n').map_or(0, |at| at + 1);
        let ends_line = bytes.is_empty() || self.text[..bytes.end].ends_with('\n');
        let n_after = if ends_line { 0 } else { tail.find('\n').unwrap_or(tail.len()) };
        let whole = start..bytes.end + n_after;
        let n_added = whole.len() - bytes.len().min(whole.len());
        self.span(if n_added > MOST_ADDED { bytes } else { whole })
    }

    /// Returns the `before` lines before the lines of a byte span, and the `after` lines after them, with credentials replaced.
    /// Both are empty if the text has no such span.
    pub fn lines_around(&mut self, bytes: Range<usize>, before: usize, after: usize) -> (String, String) {
        let (head, tail) = (self.text.get(..bytes.start), self.text.get(bytes.end..));
        let (Some(head), Some(tail)) = (head, tail) else { return Default::default() };
        let end = head.rfind('\n').map_or(0, |at| at + 1);
        let breaks = head[..end].rmatch_indices('\n').map(|(at, _)| at + 1);
        let start = breaks.chain([0]).nth(before).unwrap_or(0).min(end);
        // If the span ends within a line, the lines after it begin with the next line.
        let is_whole = bytes.is_empty() || self.text[..bytes.end].ends_with('\n');
        let from = bytes.end + if is_whole { 0 } else { tail.find('\n').map_or(tail.len(), |at| at + 1) };
        let n_after = self.text[from..].split_inclusive('\n').take(after).map(str::len).sum::<usize>();
        let mut text = |bytes| self.span(bytes).map(Cow::into_owned).unwrap_or_default();
        (text(start..end), text(from..from + n_after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_keeps_lines_and_offsets() {
        let text = "a: sécret\nb: x\n";
        assert_eq!(mask(text, &[3..10, 14..15]), "a: REDACTE\nb: R\n");
        let secret = 3..15;
        assert_eq!(mask(text, std::slice::from_ref(&secret)), "a: REDACTE\n____\n");
        assert_eq!(mask(text, &[]), text);
    }

    #[test]
    fn a_part_of_a_cut_credential_is_redacted_too() {
        let text = "ab SECRET cd SECRET ef";
        let check = |bytes: Range<usize>, expected: &str| {
            assert_eq!(redact_span(text, bytes, &[3..9, 13..19]), expected);
        };
        check(0..22, "ab [REDACTED] cd [REDACTED] ef");
        check(0..5, "ab [REDACTED]");
        check(5..12, "[REDACTED] cd");
        check(4..8, "[REDACTED]");
        check(9..13, " cd ");
        check(5..15, "[REDACTED] cd [REDACTED]");
    }

    #[test]
    fn lines_around_a_credential_of_several_lines_keep_their_numbers() {
        let (text, key) = ("1\nKEY\n3\r\n4\n5\n", 2..10);
        let check = |bytes: Range<usize>, expected: &str| {
            assert_eq!(redact_span(text, bytes, std::slice::from_ref(&key)), expected);
        };
        check(0..text.len(), "1\n[REDACTED]\n\r\n\n5\n");
        check(0..6, "1\n[REDACTED]\n");
        check(6..text.len(), "[REDACTED]\r\n\n5\n");
    }
}
