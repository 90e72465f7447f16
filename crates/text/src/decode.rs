//! Decodes the bytes of a file to text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Number of first bytes of a file among which a NUL byte makes it binary, as in git's `buffer_is_binary`.
const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// Of a text in Windows-1252, at most this share of bytes (1 / 4) is not ASCII. Text in another alphabet has more, and would be
/// decoded to wrong letters.
const MOST_FOREIGN_BYTES: usize = 4;

/// Number of first bytes of a text in which it may declare its encoding, as in HTML.
const MOST_HEAD_BYTES: usize = 1024;

/// Number of first lines of code that may declare its encoding, as in Python and Ruby.
const MOST_CODE_LINES: usize = 2;

/// Returns the text of a file, without a byte order mark; `None` if the bytes are no text.
///
/// Decodes UTF-16 after its byte order mark, and otherwise UTF-8. A text outside UTF-8 is decoded as its first lines declare. Without that,
/// a few bytes outside UTF-8 are decoded as Windows-1252, which includes Latin-1. If there are many, each becomes U+FFFD.
pub fn decode_text(bytes: Vec<u8>) -> Option<String> {
    let (encoding, mark) = Encoding::for_bom(&bytes).unwrap_or((UTF_8, 0));
    if encoding != UTF_8 {
        let text = encoding.decode_with_bom_removal(&bytes).0;
        return (!text.contains('\0')).then(|| text.into_owned());
    }
    let is_binary = bytes.iter().take(BINARY_PROBE_BYTES).any(|byte| *byte == 0);
    (!is_binary).then(|| decode_utf8(if mark == 0 { bytes } else { bytes[mark..].to_vec() }))
}

/// Decodes bytes that may contain bytes outside UTF-8.
fn decode_utf8(bytes: Vec<u8>) -> String {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.into_bytes(),
    };
    if let Some(text) = find_declared_encoding(&bytes)
        .and_then(|declared| declared.decode_without_bom_handling_and_without_replacement(&bytes))
    {
        return text.into_owned();
    }
    let n_invalid: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    if n_invalid * MOST_FOREIGN_BYTES > bytes.len() {
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let mut text = String::with_capacity(bytes.len() + n_invalid);
    for chunk in bytes.utf8_chunks() {
        text += chunk.valid();
        text += &WINDOWS_1252.decode_without_bom_handling(chunk.invalid()).0;
    }
    text
}

/// Returns the encoding that the first lines of a text declare; `None` if they declare none that is known.
fn find_declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_HEAD_BYTES)]).to_ascii_lowercase();
    let is_markup = head.trim_start().starts_with('<');
    let n_lines = if is_markup { usize::MAX } else { MOST_CODE_LINES };
    let words: &[&str] = if is_markup { &["encoding=", "charset="] } else { &["coding:", "coding="] };
    let mut values = head.lines().take(n_lines).flat_map(|line| {
        let behind = |word: &&str| line.split_once(*word).map(|(_, behind)| behind);
        words.iter().filter_map(behind)
    });
    values.find_map(|value| {
        let value = value.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let label = value.split(|c| !is_part(c)).next().unwrap_or_default();
        // Python has names such as `latin-1` and `utf_8`.
        let joined = label.replace(['-', '_'], "");
        let labels = [label.to_owned(), label.replace('_', "-"), joined];
        labels.iter().find_map(|label| Encoding::for_label(label.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: Option<&str>) {
        assert_eq!(decode_text(bytes.to_vec()).as_deref(), expected, "{bytes:x?}");
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn the_byte_order_mark_decides_and_is_no_text() {
        check("zwölf".as_bytes(), Some("zwölf"));
        check("\u{feff}zwölf".as_bytes(), Some("zwölf"));
        check("\u{feff}".as_bytes(), Some(""));
        check(&utf16("\u{feff}zwölf 🐘\r\n", u16::to_le_bytes), Some("zwölf 🐘\r\n"));
        check(&utf16("\u{feff}zwölf 🐘\r\n", u16::to_be_bytes), Some("zwölf 🐘\r\n"));
        check(b"", Some(""));
    }

    #[test]
    fn single_bytes_are_of_windows_1252() {
        check(b"int z\xe4hler = 1;", Some("int zähler = 1;"));
        check(b"the \x93zebra\x94 costs 3 \x80", Some("the “zebra” costs 3 €"));
        check(b"utf-8 \xc3\xa4 and latin \xe4", Some("utf-8 ä and latin ä"));
        check(b"cut off at the end \xc3", Some("cut off at the end Ã"));
    }

    #[test]
    fn what_is_in_another_alphabet_is_not_guessed() {
        check(b"\xcf\xd2\xc9\xd7\xc5\xd4 x", Some("\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd} x"));
    }

    #[test]
    fn a_declared_encoding_is_that_of_the_text() {
        check(b"# -*- coding: latin-1 -*-\nx = '\xe4'\n", Some("# -*- coding: latin-1 -*-\nx = 'ä'\n"));
        check(b"#!/bin/ruby\n# encoding: KOI8-R\n\xcf\xd2\xc9", Some("#!/bin/ruby\n# encoding: KOI8-R\nори"));
        check(b"# vim: set fileencoding=iso8859_2 :\n\xb1", Some("# vim: set fileencoding=iso8859_2 :\ną"));
        check(
            b"<?xml version='1.0' encoding='Shift_JIS'?>\n<a>\x93\xfa\x96\x7b</a>",
            Some("<?xml version='1.0' encoding='Shift_JIS'?>\n<a>日本</a>"),
        );
        check(b"<html>\n<meta charset=\"gbk\">\n\xc4\xe3", Some("<html>\n<meta charset=\"gbk\">\n你"));
        // A third line of code declares nothing, and neither does an unknown or a wrong name.
        check(b"\n\n# coding: koi8-r\n\xe4 and more words", Some("\n\n# coding: koi8-r\nä and more words"));
        check(b"# coding: klingon\nz\xe4hlt", Some("# coding: klingon\nzählt"));
        check(b"# coding: utf-8\nz\xe4hlt", Some("# coding: utf-8\nzählt"));
        check("# coding: latin-1\nä".as_bytes(), Some("# coding: latin-1\nä"));
    }

    #[test]
    fn bytes_with_a_nul_are_no_text() {
        check(b"a\0b", None);
        check("\u{feff}a\0b".as_bytes(), None);
        check(&utf16("a", u16::to_le_bytes), None); // UTF-16 without a mark
        check(&utf16("\u{feff}a\0", u16::to_le_bytes), None);
        check(b"\xff\xfe\0\0a\0\0\0", None); // UTF-32
    }
}
