//! Decodes files in UTF-16 and UTF-32 as git does.
//!
//! Git decodes with iconv, whose tables of other encodings differ from those of other libraries and between platforms.

/// Returns the text of a content in the encoding `label`; `None` for other encodings, and for a content that git refuses.
pub(super) fn decode_text(bytes: &[u8], label: &str) -> Option<String> {
    let label = label.to_ascii_uppercase();
    let name = label.strip_prefix("UTF")?;
    let name = name.strip_prefix('-').unwrap_or(name);
    let has_mark = match name {
        "16" | "16LE-BOM" | "32" => true,
        "16LE" | "16BE" | "32LE" | "32BE" => false,
        _ => return None,
    };
    if bytes.is_empty() {
        return Some(String::new());
    }
    let marks: [(&[u8], bool); 2] = match name.starts_with("16") {
        true => [(b"\xff\xfe", false), (b"\xfe\xff", true)],
        false => [(b"\xff\xfe\0\0", false), (b"\0\0\xfe\xff", true)],
    };
    let width = marks[0].0.len();
    let mark = marks.iter().find(|(mark, _)| bytes.starts_with(mark));
    let (rest, is_big) = match mark {
        Some((_, is_big)) if has_mark => (&bytes[width..], *is_big),
        None if !has_mark => (bytes, name.ends_with("BE")),
        _ => return None, // git refuses a byte order mark if the name has the order, and requires one if not
    };
    let (units, []) = (rest.chunks_exact(width), rest.chunks_exact(width).remainder()) else { return None };
    if width == 4 {
        return units.map(|unit| char::from_u32(decode_code_unit(unit, is_big))).collect();
    }
    char::decode_utf16(units.map(|unit| decode_code_unit(unit, is_big) as u16)).collect::<Result<_, _>>().ok()
}

/// Returns the number that the bytes of a code unit encode.
fn decode_code_unit(unit: &[u8], is_big: bool) -> u32 {
    if is_big {
        unit.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
    } else {
        unit.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::decode_text;

    #[test]
    fn the_order_of_bytes_is_in_the_name_or_in_the_mark() {
        let is = |bytes: &[u8], label: &str, expected: Option<&str>| {
            assert_eq!(decode_text(bytes, label).as_deref(), expected, "{label} {bytes:?}");
        };
        is(b"h\0i\0", "UTF-16LE", Some("hi"));
        is(b"h\0i\0", "utf16le", Some("hi"));
        is(b"\0h\0i", "UTF-16BE", Some("hi"));
        is(b"\xff\xfeh\0", "UTF-16", Some("h"));
        is(b"\xfe\xff\0h", "UTF-16", Some("h"));
        is(b"\xff\xfe\x3d\xd8\0\xde", "UTF-16LE-BOM", Some("\u{1f600}"));
        is(b"\xff\xfe\0\0h\0\0\0", "UTF-32", Some("h"));
        is(b"\0\0\0h", "UTF-32BE", Some("h"));
        is(b"", "UTF-16", Some(""));
    }

    #[test]
    fn what_git_refuses_and_other_encodings_are_not_decoded() {
        for (bytes, label) in [
            (&b"\xff\xfeh\0"[..], "UTF-16LE"),
            (b"\xfe\xff\0h", "UTF-16LE"),
            (b"h\0", "UTF-16"),
            (b"h\0i", "UTF-16LE"),
            (b"\x3d\xd8", "UTF-16LE"),
            (b"\0\0\x11\0", "UTF-32LE"),
            (b"hi", "ISO-8859-1"),
            (b"hi", "SHIFT-JIS"),
            (b"hi", "UTF-7"),
        ] {
            assert_eq!(decode_text(bytes, label), None, "{label} {bytes:?}");
        }
    }
}
