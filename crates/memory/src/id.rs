//! Makes and parses the ids of memories.
//!
//! An id is `mem_` and a ULID (<https://github.com/ulid/spec>): 48 bits of milliseconds, then 80 random bits, in Crockford's
//! base 32, so ids sort by time. A user may type a unique prefix of an id, in upper or lower case and without `mem_`.

use super::{RefusedValue, quote_value};

/// Prefix of every id.
pub const PREFIX: &str = "mem_";

/// The digits of Crockford's base 32.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Number of digits after the prefix.
const DIGITS: usize = 26;

/// Returns a new id, made from a time, unix ms, and random bytes.
pub fn new_id(now_ms: i64, random: [u8; 10]) -> String {
    let low = random.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    let bits = u128::from(now_ms.max(0).unsigned_abs() & 0xffff_ffff_ffff) << 80 | low;
    let digits = (0..DIGITS).rev().map(|digit| char::from(ALPHABET[(bits >> (digit * 5)) as usize & 31]));
    PREFIX.chars().chain(digits).collect()
}

/// Returns the last 16 digits of an id, which are its random bits.
pub fn random_digits(id: &str) -> &str {
    &id[id.len().saturating_sub(16)..]
}

/// Checks that a text is a complete id, and returns the id.
///
/// # Errors
/// When it is not an id.
pub fn parse_id(given: &str) -> Result<String, RefusedValue> {
    let digits = given.strip_prefix(PREFIX).filter(|digits| digits.len() == DIGITS);
    // 26 digits hold 130 bits, an id has 128.
    let is_id = digits.is_some_and(|digits| {
        digits.as_bytes()[0] <= b'7' && digits.bytes().all(|byte| ALPHABET.contains(&byte))
    });
    if !is_id {
        return Err(RefusedValue::new("id", format!("{} is not the id of a memory", quote_value(given)))
            .with_hint("an id is mem_ and 26 digits and letters; leave it out, or use --new-ids"));
    }
    Ok(given.to_owned())
}

/// Returns the normal form of a typed id or prefix of an id: `mem_`, and digits in upper case.
///
/// # Errors
/// When no id can begin with this prefix.
pub fn parse_prefix(typed: &str) -> Result<String, RefusedValue> {
    let trimmed = typed.trim();
    let head = trimmed.get(..PREFIX.len()).filter(|head| head.eq_ignore_ascii_case(PREFIX));
    let digits = trimmed[head.map_or(0, str::len)..].to_ascii_uppercase();
    let is_good = (1..=DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| ALPHABET.contains(&byte));
    if !is_good {
        return Err(RefusedValue::new("id", format!("{} is not the id of a memory", quote_value(typed)))
            .with_hint("`memo list` shows ids: mem_ and 26 digits and letters; the first ones are enough"));
    }
    Ok(format!("{PREFIX}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ulids() {
        // The example of the specification: 01ARZ3NDEK is 1469922850259 ms.
        assert!(new_id(1_469_922_850_259, [0; 10]).starts_with("mem_01ARZ3NDEK"));
        assert_eq!(new_id(0, [0xff; 10]), "mem_0000000000ZZZZZZZZZZZZZZZZ");
        assert_eq!(new_id(1, [0; 10]), "mem_00000000010000000000000000");
        assert!(new_id(1, [0xff; 10]) < new_id(2, [0; 10]));
    }

    #[test]
    fn a_whole_id_is_all_there() {
        let id = new_id(i64::MAX, [0xff; 10]);
        assert_eq!(parse_id(&id).as_deref(), Ok(&*id));
        for given in [
            "",
            "mem_0",
            &id[..29],
            &format!("{id}0"),
            &id[4..],
            &id.to_lowercase(),
            &id.replace("mem_7", "mem_8"),
        ] {
            assert!(parse_id(given).is_err(), "{given}");
        }
    }

    #[test]
    fn a_beginning_is_read_in_any_case() {
        let cases = [("mem_01ar", "mem_01AR"), ("01AR", "mem_01AR"), (" MEM_0 ", "mem_0"), ("m", "mem_M")];
        for (typed, expected) in cases {
            assert_eq!(parse_prefix(typed).as_deref(), Ok(expected), "{typed}");
        }
        for typed in ["", "mem_", "mem_0%", "mem_U", "é", "mem_0é", "0000000000000000000000000001 "] {
            let error = parse_prefix(typed).unwrap_err().to_string();
            assert!(error.ends_with("is not the id of a memory"), "{typed}: {error}");
        }
    }
}
