//! Reads the names that a pattern of a template binds: `(item, index)`, `{ id, name: label = 'x' }`.

use std::ops::Range;

/// Longest pattern that is read, in bytes.
const MAX_PATTERN_BYTES: usize = 10_000;

/// The part of a pattern that comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Name,
    /// A type or a default value, which ends at the next comma of its list.
    Value,
}

/// Returns the spans of the names that a pattern at byte `offset` of the file binds. Types and default values bind nothing.
pub(super) fn bound_names(pattern: &str, offset: usize) -> Vec<Range<usize>> {
    let bytes = pattern.as_bytes();
    let mut found = Vec::new();
    if bytes.len() > MAX_PATTERN_BYTES {
        return found;
    }
    // The open brackets, each with what is read after it closes.
    let mut open: Vec<(u8, Part)> = Vec::new();
    let (mut part, mut at) = (Part::Name, 0);
    while at < bytes.len() {
        match bytes[at] {
            byte @ (b'{' | b'[' | b'(') => open.push((byte, part)),
            b'}' | b']' | b')' => part = open.pop().map_or(Part::Name, |(_, outer)| outer),
            b',' if open.iter().all(|(_, outer)| *outer == Part::Name) => part = Part::Name,
            b':' if open.last().is_some_and(|(bracket, _)| *bracket == b'{') && part == Part::Name => {}
            b':' | b'=' if part == Part::Name => part = Part::Value,
            quote @ (b'"' | b'\'' | b'`') => at = skip_string(bytes, at, quote),
            byte if is_name_byte(byte) => {
                let end = at + bytes[at..].iter().take_while(|byte| is_name_byte(**byte)).count();
                let is_key = open.last().is_some_and(|(bracket, _)| *bracket == b'{')
                    && pattern[end..].trim_start().starts_with(':');
                if part == Part::Name && !is_key && !byte.is_ascii_digit() {
                    found.push(offset + at..offset + end);
                }
                at = end - 1;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns the byte of the quote that ends a string, or the last byte.
fn skip_string(bytes: &[u8], start: usize, quote: u8) -> usize {
    let end = bytes[start + 1..].iter().position(|byte| *byte == quote);
    end.map_or(bytes.len() - 1, |end| start + 1 + end)
}

/// Returns whether a byte is in a name; those of other alphabets are.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::bound_names;

    #[test]
    fn a_pattern_binds_its_names() {
        let cases = [
            ("item", "item"),
            ("(item, i)", "item i"),
            ("item, i", "item i"),
            ("{ id, name: label = other, ...rest }", "id label rest"),
            ("({ a: { b } }, [c, d])", "b c d"),
            ("(row: Row, i: number)", "row i"),
            ("{ a = { b: c }, d }", "a d"),
            ("{ props }: { props: Record<string, X> }", "props"),
            ("[a, b = f(c, d)]", "a b"),
            ("{ 'x-y': z, q = 'a, b' }", "z q"),
            ("größe", "größe"),
            ("", ""),
            ("{{{((", ""),
            ("'", ""),
        ];
        for (pattern, expected) in cases {
            let names: Vec<&str> = bound_names(pattern, 0).into_iter().map(|name| &pattern[name]).collect();
            assert_eq!(names.join(" "), expected, "{pattern}");
        }
    }
}
