//! Cuts text into the tokens of the builtin model.
//!
//! A program that only tokenizes links the vocabulary of the model, but not the table of vectors.

pub use memod_models::BUILTIN_ID;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Number of tokens of a text that determine its vector. Later tokens are ignored.
const MAX_TOKENS: usize = 256;

/// Most characters of a word. Longer words are unknown, as in BERT.
const MAX_WORD_CHARS: usize = 100;

/// Prefix of pieces that continue a word.
const CONTINUATION: &str = "##";

/// Cuts text into the pieces of a WordPiece vocabulary, as BERT uncased does. Identifiers are split into their parts before.
///
/// One difference from BERT is intended: a symbol (`→`, `©`, an emoji) splits words as punctuation does. For BERT, `a→b` would be
/// one unknown word.
#[derive(Debug)]
pub struct Tokenizer {
    /// The pieces of the vocabulary. The index of a piece is its token id.
    pieces: Vec<&'static str>,
    /// Hash table over [`Self::pieces`] with open addressing. A slot holds the hash and the id + 1; an empty slot holds 0. The
    /// vocabulary is fixed, so nobody can choose colliding keys.
    slots: Vec<(u32, u32)>,
}

impl Tokenizer {
    /// Creates the tokenizer of the builtin model, from the vocabulary in the binary.
    pub fn builtin() -> Self {
        Self::new(memod_models::VOCABULARY)
    }

    /// Creates a tokenizer from a vocabulary with one piece on each line. Line n, counted from 0, has the token id n.
    pub fn new(vocabulary: &'static str) -> Self {
        let pieces: Vec<_> = vocabulary.lines().collect();
        let n_slots = (pieces.len() * 2).next_power_of_two();
        let mut tokenizer = Self { pieces, slots: vec![(0, 0); n_slots] };
        for id in 0..tokenizer.pieces.len() {
            tokenizer.insert_piece(id);
        }
        tokenizer
    }

    /// Returns the number of pieces in the vocabulary.
    pub fn n_pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the token ids that determine the vector of a text, in their order: the ids of the known tokens among the first 256,
    /// without punctuation.
    pub fn token_ids(&self, text: &str) -> Vec<u32> {
        self.first_token_ids(text, MAX_TOKENS)
    }

    /// Returns the ids of the known tokens among the first `n_tokens` tokens of a text, without punctuation.
    pub fn first_token_ids(&self, text: &str, n_tokens: usize) -> Vec<u32> {
        let mut words = TokenCollector {
            tokenizer: self,
            ids: Vec::new(),
            n_tokens: 0,
            limit: n_tokens,
            word: String::new(),
            n_chars: 0,
        };
        let mut previous = ' ';
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if words.n_tokens >= n_tokens {
                break;
            }
            if starts_part(previous, c, chars.peek().copied()) {
                words.end_word();
            }
            words.push_char(c);
            previous = c;
        }
        words.end_word();
        words.ids
    }

    /// Inserts the piece with a token id into the hash table.
    fn insert_piece(&mut self, id: usize) {
        let hash = self.pieces[id].bytes().fold(FNV_BASIS, fnv_step);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot].1 != 0 {
            slot = (slot + 1) & mask;
        }
        let id_plus_one = u32::try_from(id + 1).expect("a vocabulary has far fewer pieces than 2^32");
        self.slots[slot] = (hash, id_plus_one);
    }

    /// Returns the token id of the piece `prefix` + `piece`, whose hash is `hash`.
    fn find_piece(&self, hash: u32, prefix: &str, piece: &[u8]) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (slot_hash, id_plus_one) = self.slots[slot];
            let id = id_plus_one.checked_sub(1)?;
            if slot_hash == hash {
                let known = self.pieces[id as usize].as_bytes();
                if known.strip_prefix(prefix.as_bytes()) == Some(piece) {
                    return Some(id);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Appends the token ids of a lower-case word, taking the longest piece at each step. Returns false, and appends nothing, if
    /// the word cannot be cut into known pieces.
    fn push_pieces(&self, word: &str, ids: &mut Vec<u32>) -> bool {
        let n_before = ids.len();
        let mut rest = word.as_bytes();
        while !rest.is_empty() {
            let prefix = if rest.len() == word.len() { "" } else { CONTINUATION };
            let Some((id, n_bytes)) = self.find_longest_piece(prefix, rest) else {
                ids.truncate(n_before);
                return false;
            };
            ids.push(id);
            rest = &rest[n_bytes..];
        }
        true
    }

    /// Returns the token id of the longest piece at the start of `rest`, and its length without `prefix`, bytes.
    fn find_longest_piece(&self, prefix: &str, rest: &[u8]) -> Option<(u32, usize)> {
        let mut hashes = [0; MAX_WORD_CHARS];
        let mut hash = prefix.bytes().fold(FNV_BASIS, fnv_step);
        for (slot, byte) in hashes.iter_mut().zip(rest) {
            hash = fnv_step(hash, *byte);
            *slot = hash;
        }
        let lengths = (1..=rest.len().min(MAX_WORD_CHARS)).rev();
        lengths
            .filter_map(|n_bytes| {
                Some((self.find_piece(hashes[n_bytes - 1], prefix, &rest[..n_bytes])?, n_bytes))
            })
            .next()
    }
}

/// Start value of the hash FNV-1a, 32 bits. It hashes byte by byte, so that hashing a word also gives the hashes of its prefixes.
/// Source: Fowler, Noll, Vo; draft-eastlake-fnv.
const FNV_BASIS: u32 = 0x811c_9dc5;

/// Returns the hash after a further byte.
fn fnv_step(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

/// Returns whether `c` begins a new part of an identifier, as the `U` of `getUser`, the `S` of `HTTPServer` and the `B` of
/// `v2Beta`.
fn starts_part(previous: char, c: char, next: Option<char>) -> bool {
    c.is_ascii_uppercase()
        && (previous.is_ascii_lowercase()
            || previous.is_ascii_digit()
            || previous.is_ascii_uppercase() && next.is_some_and(|next| next.is_ascii_lowercase()))
}

/// Collects the tokens of a text, which is read character by character. A word is cut into pieces when it ends.
struct TokenCollector<'a> {
    tokenizer: &'a Tokenizer,
    /// Ids of the known tokens so far.
    ids: Vec<u32>,
    /// Number of tokens so far, unknown words and punctuation included.
    n_tokens: usize,
    /// Most tokens that are read.
    limit: usize,
    /// The current word in lower case, cut at [`MAX_WORD_CHARS`].
    word: String,
    /// Number of characters of the current word, which may exceed the limit.
    n_chars: usize,
}

impl TokenCollector<'_> {
    /// Reads the next character.
    fn push_char(&mut self, c: char) {
        match c {
            'a'..='z' | '0'..='9' => self.push_letter(c),
            'A'..='Z' => self.push_letter(c.to_ascii_lowercase()),
            '_' => self.end_word(),
            _ if c.is_whitespace() => self.end_word(),
            _ if c.is_control() || c == '\u{fffd}' || is_format(c) => {}
            _ if c.is_ascii() => self.count_mark(),
            _ if is_cjk(c) => self.count_mark(),
            _ => decompose_canonical(c, |part| self.push_decomposed(part)),
        }
    }

    /// Reads a character of a decomposed character. Combining marks are dropped.
    fn push_decomposed(&mut self, part: char) {
        if is_combining_mark(part) {
            return;
        }
        if !part.is_alphanumeric() {
            return self.count_mark();
        }
        part.to_lowercase().for_each(|c| self.push_letter(c));
    }

    /// Appends a character to the current word.
    fn push_letter(&mut self, c: char) {
        self.n_chars += 1;
        if self.n_chars <= MAX_WORD_CHARS {
            self.word.push(c);
        }
    }

    /// Ends the current word, and counts a token of one character: punctuation or an ideograph. No id is collected, because these
    /// have no weight.
    fn count_mark(&mut self) {
        self.end_word();
        self.n_tokens += 1;
    }

    /// Ends the current word, and collects its token ids up to the limit. An unknown word counts as one token.
    fn end_word(&mut self) {
        if self.n_chars == 0 {
            return;
        }
        let n_before = self.ids.len();
        let is_known =
            self.n_chars <= MAX_WORD_CHARS && self.tokenizer.push_pieces(&self.word, &mut self.ids);
        let room = self.limit.saturating_sub(self.n_tokens);
        self.n_tokens += if is_known { self.ids.len() - n_before } else { 1 };
        self.ids.truncate(n_before + room);
        self.word.clear();
        self.n_chars = 0;
    }
}

/// Returns whether `c` is an invisible format character (Unicode Cf), which is dropped without splitting a word.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Returns whether `c` is in a block whose characters BERT treats as ideographs, which are words of one character.
fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2ceaf}' | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOCABULARY: &str =
        "[PAD]\n[UNK]\n!\nget\nuser\nby\nid\nhttp\nserver\n##s\ncafe\nv\n##2\nbeta\ndon\nt\na\nb\n##b";

    fn check(text: &str, expected: &[&str]) {
        let tokenizer = Tokenizer::new(VOCABULARY);
        let got: Vec<_> =
            tokenizer.token_ids(text).into_iter().map(|id| tokenizer.pieces[id as usize]).collect();
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn words_become_pieces() {
        check("", &[]);
        check("get users", &["get", "user", "##s"]);
        check("getUserById", &["get", "user", "by", "id"]);
        check("GET_USER_BY_ID", &["get", "user", "by", "id"]);
        check("HTTPServer", &["http", "server"]);
        check("v2Beta!", &["v", "##2", "beta"]);
        check("Café CAFE\u{301}", &["cafe", "cafe"]);
        check("don’t", &["don", "t"]);
        check("a→b", &["a", "b"]);
        check("a\u{200b}b a\0b", &["a", "##b", "a", "##b"]);
        check("東京a東", &["a"]);
        check("nothing [UNK] ##s", &[]);
    }

    #[test]
    fn only_the_first_256_tokens_count() {
        let n_known = |text: String| Tokenizer::new(VOCABULARY).token_ids(&text).len();
        assert_eq!(n_known("a ".repeat(300)), 256);
        assert_eq!(n_known("a!".repeat(300)), 128);
        assert_eq!(n_known("a?? ?zz ".repeat(300)), 52);
        assert_eq!(n_known("a".to_owned() + &" ab".repeat(300)), 256);
    }

    #[test]
    fn a_word_over_100_characters_is_unknown() {
        check(&"b".repeat(101), &[]);
        assert_eq!(Tokenizer::new(VOCABULARY).token_ids(&"b".repeat(100)).len(), 100);
        check(&"é".repeat(1_000_000), &[]);
    }
}
