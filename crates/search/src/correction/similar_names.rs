//! Finds the names that are nearest to a misspelt name.

use memod_text::words::{TokenForm, write_words};

use crate::query::symbol_names::parse_name;

/// Characters of the shortest name that may have an error. A shorter name with an error would be another name.
const MIN_CHARS: usize = 4;
/// Names of up to this number of characters may differ by one edit. Longer names may differ by two: four of five errors are a
/// single edit (Damerau, "A technique for computer detection and correction of spelling errors", 1964).
const ONE_EDIT_CHARS: usize = 5;
/// Names of up to this number of characters may differ by two edits. Longer names have several words, and may differ by three.
const TWO_EDIT_CHARS: usize = 12;
/// Distance of a name with the same words in another order.
const OTHER_ORDER: usize = 1;
/// Number of counted characters: letters, digits, and one for all others.
const N_COUNTED: usize = 37;

/// A typed name, taken apart at the type that qualifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedName<'a> {
    /// The name without qualifiers: `login` of `Session::login`.
    pub own: &'a str,
    /// The innermost qualifier: `Session` of `auth::Session::login`.
    pub owner: Option<&'a str>,
}

impl<'a> TypedName<'a> {
    /// Takes a typed name apart; returns `None` for the name of a file, and for any other text that cannot be a name.
    pub fn parse(typed: &'a str) -> Option<Self> {
        let name = parse_name(typed).filter(|name| typed.starts_with(name.full))?;
        let before = &name.full[..name.full.len() - name.last.len()];
        let is_separator = |c: char| !c.is_alphanumeric() && c != '_' && c != '$';
        let owner = before.trim_end_matches(is_separator).rsplit(is_separator).next();
        Some(Self { own: name.last, owner: owner.filter(|owner| !owner.is_empty()) })
    }
}

/// Compares names with a typed name.
///
/// A name is folded to lower case, without separators, so that all spellings of one name have the distance 0. Most names differ so
/// much in length or characters that they need no comparison letter by letter.
pub struct NameComparer {
    folded: FoldedName,
    /// The letters and digits of the typed name; see [`summarize_ascii`].
    letters: u64,
    /// The words of the typed name, sorted.
    words: Vec<String>,
    /// Largest distance of a similar name.
    most_edits: usize,
    /// The name that is compared, kept to reuse its memory.
    other: FoldedName,
}

impl NameComparer {
    /// Creates a comparer for a typed name without qualifiers.
    pub fn new(typed: &str) -> Self {
        let mut folded = FoldedName::default();
        folded.set_name(typed);
        let most_edits = match folded.n_chars {
            ..MIN_CHARS => 0,
            MIN_CHARS..=ONE_EDIT_CHARS => 1,
            _ if folded.n_chars <= TWO_EDIT_CHARS => 2,
            _ => 3,
        };
        let (letters, words) = (summarize_ascii(&folded.text).0, sorted_words(typed));
        Self { folded, letters, words, most_edits, other: FoldedName::default() }
    }

    /// Returns the distance of a similar name: the number of inserted, deleted, replaced and swapped characters, 1 for the same words
    /// in another order, 0 for another spelling. Returns `None` for any other name, and for a name with another number, because
    /// `sha512` is no misspelling of `sha256`.
    pub fn measure_distance(&mut self, name: &str) -> Option<usize> {
        if self.folded.text.is_ascii() && name.is_ascii() {
            let (letters, n_chars) = summarize_ascii(name);
            let n_differing = (letters ^ self.letters).count_ones() as usize;
            if n_chars.abs_diff(self.folded.n_chars) > self.most_edits || n_differing > 2 * self.most_edits {
                return None;
            }
        }
        self.other.set_name(name);
        let (typed, other) = (&self.folded, &self.other);
        if typed.n_chars.abs_diff(other.n_chars) > self.most_edits
            || typed.count_differences(other) > 2 * self.most_edits
            || has_other_number(&typed.text, &other.text)
        {
            return None;
        }
        let distance = strsim::osa_distance(&typed.text, &other.text);
        if distance <= self.most_edits {
            return Some(distance);
        }
        let has_same_words = typed.n_chars >= MIN_CHARS
            && typed.count_differences(other) == 0
            && self.words.len() > 1
            && self.words == sorted_words(name);
        has_same_words.then_some(OTHER_ORDER)
    }
}

/// The bit of each letter and digit, in any case; 0 for any other byte.
const LETTERS: [u64; 256] = {
    let mut bits = [0; 256];
    let mut nth = 0;
    while nth < 26 {
        bits[b'a' as usize + nth] = 1 << nth;
        bits[b'A' as usize + nth] = 1 << nth;
        nth += 1;
    }
    while nth < 36 {
        bits[b'0' as usize + nth - 26] = 1 << nth;
        nth += 1;
    }
    bits
};

/// Returns which letters and digits occur in a name, one bit each, and how many there are. An edit changes at most two of the bits.
fn summarize_ascii(name: &str) -> (u64, usize) {
    name.bytes().fold((0, 0), |(letters, n_chars), byte| {
        let letter = LETTERS[usize::from(byte)];
        (letters | letter, n_chars + usize::from(letter > 0))
    })
}

/// A name in lower case without separators.
#[derive(Default)]
struct FoldedName {
    text: String,
    n_chars: usize,
    counts: CharCounts,
}

/// How often each letter and digit occurs, and last how often any other character does.
struct CharCounts([u8; N_COUNTED]);

impl Default for CharCounts {
    fn default() -> Self {
        Self([0; N_COUNTED])
    }
}

impl FoldedName {
    fn set_name(&mut self, name: &str) {
        self.text.clear();
        if name.is_ascii() {
            let kept = name.bytes().filter(u8::is_ascii_alphanumeric);
            self.text.extend(kept.map(|byte| char::from(byte.to_ascii_lowercase())));
            self.n_chars = self.text.len();
        } else {
            self.text.extend(name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase));
            self.n_chars = self.text.chars().count();
        }
        self.counts = CharCounts::default();
        for byte in self.text.bytes() {
            let place = match byte {
                b'a'..=b'z' => byte - b'a',
                b'0'..=b'9' => byte - b'0' + 26,
                _ => N_COUNTED as u8 - 1,
            };
            let count = &mut self.counts.0[usize::from(place)];
            *count = count.saturating_add(1);
        }
    }

    /// Returns how much the numbers of letters and digits differ. A replaced character makes a difference of two, a swap of none.
    fn count_differences(&self, other: &Self) -> usize {
        let (own, other) = (&self.counts.0[..N_COUNTED - 1], &other.counts.0[..N_COUNTED - 1]);
        own.iter().zip(other).map(|(own, other)| usize::from(own.abs_diff(*other))).sum()
    }
}

/// Returns whether both names have digits, and not the same ones.
fn has_other_number(left: &str, right: &str) -> bool {
    let digits = |name: &str| name.bytes().filter(u8::is_ascii_digit).collect::<Vec<_>>();
    let (left, right) = (digits(left), digits(right));
    !left.is_empty() && !right.is_empty() && left != right
}

fn sorted_words(name: &str) -> Vec<String> {
    let mut stream = String::new();
    write_words(name, TokenForm::Parts, &mut stream);
    let mut words: Vec<String> = stream.split_ascii_whitespace().map(str::to_owned).collect();
    words.sort_unstable();
    words
}

#[cfg(test)]
mod tests {
    use memod_testing::RandomNumbers;

    use super::*;

    #[test]
    fn distances_of_names() {
        let check = |typed: &str, name: &str, expected: Option<usize>| {
            assert_eq!(NameComparer::new(typed).measure_distance(name), expected, "{typed} {name}");
        };
        check("getUsrById", "getUserById", Some(1));
        check("getUserByIdd", "get_user_by_id", Some(1));
        check("getUserByDi", "getUserById", Some(1));
        check("parse_confg", "ParseConfig", Some(1));
        check("PARSE_CONFIG", "parseConfig", Some(0));
        check("by_id_get", "getById", Some(1));
        check("id_by_get_user", "getUserById", Some(1));
        check("maybeUpdateLedaerRecieve", "maybe_update_leader_receive", Some(2));
        check("pol", "poll", None);
        check("pol", "POL", Some(0));
        check("poll", "pol", Some(1));
        check("poll", "pool", Some(1));
        check("poll", "call", None);
        check("sha512", "sha256", None);
        check("utf_decode", "utf8_decode", Some(1));
        check("step12", "step21", None);
        check("grose", "größe", None);
        check("größen", "größe", Some(1));
        check("日本語処理", "日本語処", Some(1));
        check("", "a", None);
    }

    #[test]
    fn names_are_skipped_only_if_they_are_far() {
        let mut random = RandomNumbers::new(7);
        let mut word = |max: usize| -> String {
            let n_chars = random.number_below(max);
            (0..n_chars).map(|_| random.pick_item(&["a", "b", "c", "_", "D"])).collect()
        };
        for _ in 0..5_000 {
            let (typed, name) = (word(16), word(16));
            let [left, right] = [&typed, &name].map(|name| name.replace('_', "").to_lowercase());
            let limit = match left.len() {
                0..4 => 0,
                4..6 => 1,
                6..13 => 2,
                _ => 3,
            };
            let found = NameComparer::new(&typed).measure_distance(&name);
            let distance = strsim::osa_distance(&left, &right);
            let is_right =
                if distance <= limit { found == Some(distance) } else { found.is_none_or(|d| d == 1) };
            assert!(is_right, "{typed} {name} {found:?}");
        }
    }

    #[test]
    fn typed_names_and_their_owners() {
        let check = |typed: &str, expected: Option<(&str, Option<&str>)>| {
            let found = TypedName::parse(typed).map(|name| (name.own, name.owner));
            assert_eq!(found, expected, "{typed}");
        };
        check("login", Some(("login", None)));
        check("auth::Session::login", Some(("login", Some("Session"))));
        check("Session.login()", Some(("login", Some("Session"))));
        check("Session#login", Some(("login", Some("Session"))));
        check("session->login", Some(("login", Some("session"))));
        check("config.toml", None);
        check("src/config", None);
        check("two words", None);
        check("", None);
    }
}
