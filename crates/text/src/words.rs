//! Splits text and identifiers into the words of the index.
//!
//! A text becomes a stream of tokens, separated by single spaces. FTS5 reads the stream with its tokenizer `ascii`, which splits
//! only at the spaces, because a token consists of ASCII letters and digits and of characters from U+0080 on.
//!
//! | text | tokens |
//! |---|---|
//! | `getUserById`, `get_user_by_id` | `getuserbyid get user by id` |
//! | `HTTPServer`, `sha256`, `URLs` | `httpserver http server`, `sha256 sha 256`, `urls` |
//! | `kebab-case`, `a.b`, `A::b` | parts only: `kebab case`, `a b`, `a b` |
//! | `Größe`, `ｆｕｌｌ` | `große`, `full` (compatibility forms and diacritics are folded) |
//! | `日本語処` | `日本語 本語処 語処 処` |
//!
//! The token of a whole name has no underscores, so that all spellings of a name share one token, which a query in lower case
//! finds. Names are not joined across hyphens and dots, because these are as common in prose and arithmetic as in names, and the
//! adjacent parts match a phrase anyway.
//!
//! Text in a script without spaces between words becomes trigrams, one from each character on, which are shorter at the end of a
//! run. So a query of three or more characters is a sequence of whole trigrams, and a shorter query is the prefix of a token.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::scripts::{is_dropped_mark, is_unspaced};
use super::word_parts::WordParts;

/// Longest token, in bytes. Longer words are cut.
pub const MAX_TOKEN_BYTES: usize = 64;

/// Number of characters of a token in a script without spaces.
pub const GRAM_CHARS: usize = 3;

/// Which tokens of a name are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenForm {
    /// The whole and, if there are several, the parts, as the index contains them.
    Both,
    /// Only the whole; of a run in a script without spaces, the full trigrams, or the only token of a shorter run.
    Whole,
    /// Only the parts, or the whole if there is only one part, as the index contains them for another spelling of the name.
    Parts,
}

/// Appends to `out` the tokens that the index contains for `text`.
pub fn write_index_words(text: &str, out: &mut String) {
    write_words(text, TokenForm::Both, out);
}

/// Appends to `out` the tokens that the index contains for a path with `/`: the words of its directories, file name and extension.
/// In a path, a hyphen joins the parts of a name as an underscore does.
pub fn write_path_words(path: &str, out: &mut String) {
    if path.contains('-') {
        write_words(&path.replace('-', "_"), TokenForm::Both, out);
    } else {
        write_words(path, TokenForm::Both, out);
    }
}

/// Returns a name in lower case, without diacritics, separators and punctuation. The result is equal for all spellings of a name
/// (`maxRetry`, `MAX_RETRY`, `max-retry`).
pub fn joined_name(name: &str) -> String {
    let mut words = String::new();
    write_words(name, TokenForm::Parts, &mut words);
    words.retain(|c| c != ' ');
    words
}

/// Appends to `out` the tokens of `text` in one form, separated by spaces.
pub fn write_words(text: &str, form: TokenForm, out: &mut String) {
    let bytes = text.as_bytes();
    let mut folded = String::new();
    let mut start = 0;
    while let Some(skipped) = bytes[start..].iter().position(|&byte| is_run_byte(byte)) {
        start += skipped;
        let rest = &bytes[start..];
        let len = rest.iter().position(|&byte| !is_run_byte(byte)).unwrap_or(rest.len());
        // A run begins and ends next to ASCII bytes, and so at character boundaries.
        let run = &text[start..start + len];
        if run.is_ascii() {
            write_word(run, form, out);
        } else {
            folded.clear();
            fold_run(run, &mut folded);
            folded.split_ascii_whitespace().for_each(|word| write_mixed(word, form, out));
        }
        start += len;
    }
}

/// Calls `see` with the byte range in `text` and the token in the index of each word, each part of a word, and each trigram.
///
/// Ranges ascend by their start, and a whole word precedes its parts.
pub fn each_token_span(text: &str, see: &mut dyn FnMut(Range<usize>, &str)) {
    let mut start = 0;
    let mut folded = String::new();
    let mut token = String::new();
    let mut see_folded = |range: Range<usize>| {
        folded.clear();
        token.clear();
        let word = &text[range.clone()];
        if word.is_ascii() {
            push_token(word, &mut token);
        } else {
            fold_run(word, &mut folded);
            push_token(folded.trim(), &mut token);
        }
        if !token.is_empty() {
            see(range, &token);
        }
    };
    while let Some(skipped) = text[start..].find(is_word_char) {
        start += skipped;
        let rest = &text[start..];
        let unspaced = rest.starts_with(is_unspaced);
        let len = rest.find(|c| !is_word_char(c) || is_unspaced(c) != unspaced).unwrap_or(rest.len());
        if unspaced {
            gram_ranges(&rest[..len]).for_each(|gram| see_folded(start + gram.start..start + gram.end));
        } else {
            see_folded(start..start + len);
            part_ranges(&rest[..len]).for_each(|part| see_folded(start + part.start..start + part.end));
        }
        start += len;
    }
}

/// Returns, for each character of a run, the byte range of the up to three characters that begin there.
fn gram_ranges(run: &str) -> impl Iterator<Item = Range<usize>> {
    run.char_indices().map(|(start, _)| {
        let end = run[start..].char_indices().nth(GRAM_CHARS);
        start..end.map_or(run.len(), |(end, _)| start + end)
    })
}

/// Returns the byte ranges of the parts of a word; nothing if there is only one part.
fn part_ranges(word: &str) -> impl Iterator<Item = Range<usize>> {
    WordParts::new(word)
        .filter(|part| part.len() < word.trim_matches('_').len())
        .map(move |part| offset_in(word, part)..offset_in(word, part) + part.len())
}

/// Returns the offset of `part` in `word`, bytes. `part` must be a slice of `word`.
fn offset_in(word: &str, part: &str) -> usize {
    part.as_ptr() as usize - word.as_ptr() as usize
}

/// Returns whether `c` belongs to a word: a letter, a digit, a mark or an underscore.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

/// Returns whether a byte can belong to a word: an ASCII letter or digit, an underscore, or a byte of a non-ASCII character.
fn is_run_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Appends `run` without diacritics and compatibility forms. The case stays. Characters that belong to no word become spaces.
fn fold_run(run: &str, folded: &mut String) {
    let mut in_word = false;
    for c in run.nfkd().filter(|&c| !is_dropped_mark(c)).nfc() {
        // Signs of Indic and other scripts are marks without being letters; they end no word.
        in_word = c.is_alphanumeric() || c == '_' || (in_word && is_combining_mark(c));
        folded.push(if in_word { c } else { ' ' });
    }
}

/// Writes the tokens of a folded word, with parts that may be in a script without spaces.
fn write_mixed(mut word: &str, form: TokenForm, out: &mut String) {
    while let Some(first) = word.chars().next() {
        let unspaced = is_unspaced(first);
        let len = word.find(|c| is_unspaced(c) != unspaced).unwrap_or(word.len());
        let (run, rest) = word.split_at(len);
        if unspaced {
            write_grams(run, form, out);
        } else {
            write_word(run, form, out);
        }
        word = rest;
    }
}

/// Writes the trigrams of a run in a script without spaces.
fn write_grams(run: &str, form: TokenForm, out: &mut String) {
    for gram in gram_ranges(run) {
        let is_short = run[gram.clone()].chars().nth(GRAM_CHARS - 1).is_none();
        if is_short && form == TokenForm::Whole && gram.start > 0 {
            return;
        }
        push_token(&run[gram], out);
    }
}

/// Writes the tokens of a word, which consists of letters, digits and underscores.
fn write_word(word: &str, form: TokenForm, out: &mut String) {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return push_token(word, out); // most words are of this kind, and take half the time here
    }
    let mut parts = WordParts::new(word);
    let (first, second) = (parts.next(), parts.next());
    let is_compound = second.is_some();
    if form != TokenForm::Parts || !is_compound {
        push_token(word, out);
    }
    if form != TokenForm::Whole && is_compound {
        first.into_iter().chain(second).chain(parts).for_each(|part| push_token(part, out));
    }
}

/// Appends the token of a word: in lower case, without underscores. Appends nothing if the word has only underscores.
fn push_token(word: &str, out: &mut String) {
    let space = out.len();
    if space > 0 {
        out.push(' ');
    }
    let start = out.len();
    if word.len() <= MAX_TOKEN_BYTES && word.is_ascii() {
        out.extend(word.bytes().filter(|&b| b != b'_').map(|b| char::from(b.to_ascii_lowercase())));
    } else {
        push_folded_word(word, start + MAX_TOKEN_BYTES, out);
    }
    if out.len() == start {
        out.truncate(space);
    }
}

/// Appends a word in lower case without underscores, cut when `out` reaches `end` bytes.
fn push_folded_word(word: &str, end: usize, out: &mut String) {
    for c in word.chars().filter(|&c| c != '_').flat_map(char::to_lowercase) {
        // The final form of sigma is the same letter.
        let c = if c == 'ς' { 'σ' } else { c };
        if out.len() + c.len_utf8() > end {
            return;
        }
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(text: &str) -> String {
        let mut out = String::new();
        write_index_words(text, &mut out);
        out
    }

    #[test]
    fn words_of_text() {
        let check = |text: &str, expected: &str| assert_eq!(index(text), expected, "{text}");
        check("", "");
        check(" \t\n___ -- 💥 ", "");
        check("getUserById", "getuserbyid get user by id");
        check("get_user_by_id", "getuserbyid get user by id");
        check("MAX_RETRY_COUNT", "maxretrycount max retry count");
        check("__init__ _private", "init private");
        check("HTTPServer parseHTTP", "httpserver http server parsehttp parse http");
        check("URLs IDsOf", "urls idsof ids of");
        check("sha256 utf8Len", "sha256 sha 256 utf8len utf 8 len");
        check("i18n x1 v2 3D", "i18n x1 v2 3d");
        check("da39a3ee5e6b4b0d3255", "da39a3ee5e6b4b0d3255");
        check("kebab-case a.b::c", "kebab case a b c");
        check("don't", "don t");
        check("Größe naïve Ångström", "große naive angstrom");
        check("ÜberGröße", "ubergroße uber große");
        check("ΟΔΟΣ οδος", "οδοσ οδοσ");
        check("İstanbul", "istanbul");
        check("ｆｕｌｌ ﬁle", "full file");
        check("e\u{301}té", "ete");
        check("日本語処", "日本語 本語処 語処 処");
        check("日本", "日本 本");
        check("use日本x", "use 日本 本 x");
        check("ガ ｶﾞ カ\u{3099}", "ガ ガ ガ");
        check("한국어 \u{1112}\u{1161}\u{11ab}", "한국어 국어 어 한");
        check("हिन्दी", "हिन्दी");
        check("“quoted”—dash…", "quoted dash");
        check("❤\u{fe0f}x", "x");
        check("a\u{0}b\u{7f}c\u{85}d", "a b c d");
    }

    #[test]
    fn forms() {
        let check = |form, text: &str, expected: &str| {
            let mut out = String::new();
            write_words(text, form, &mut out);
            assert_eq!(out, expected, "{text}");
        };
        check(TokenForm::Whole, "getUser a-b", "getuser a b");
        check(TokenForm::Parts, "getUser word", "get user word");
        check(TokenForm::Whole, "日本語処 日本", "日本語 本語処 日本");
        check(TokenForm::Parts, "日本語 x", "日本語 本語 語 x");
        check(TokenForm::Whole, "日", "日");
    }

    #[test]
    fn spans_are_those_of_the_tokens() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let mut found = Vec::new();
            each_token_span(text, &mut |range, token| found.push((text[range].to_owned(), token.to_owned())));
            let found: Vec<_> = found.iter().map(|(span, token)| (span.as_str(), token.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("_getÜser, x", &[("_getÜser", "getuser"), ("get", "get"), ("Üser", "user"), ("x", "x")]);
        check("日本語 a", &[("日本語", "日本語"), ("本語", "本語"), ("語", "語"), ("a", "a")]);
        check("__ 💥", &[]);
    }

    #[test]
    fn words_of_paths() {
        let check = |path: &str, expected: &str| {
            let mut out = String::new();
            write_path_words(path, &mut out);
            assert_eq!(out, expected, "{path}");
        };
        check("src/auth/sessionStore.rs", "src auth sessionstore session store rs");
        check("web/user-profile.test.tsx", "web userprofile user profile test tsx");
        check(".github/Makefile", "github makefile");
    }

    #[test]
    fn spellings_of_one_name_are_joined_alike() {
        for name in ["maxRetry", "MAX_RETRY", "max-retry", "MaxRetry", "max retry"] {
            assert_eq!(joined_name(name), "maxretry", "{name}");
        }
    }

    #[test]
    fn tokens_are_cut_and_stay_whole_characters() {
        assert_eq!(index(&"a".repeat(100)), "a".repeat(MAX_TOKEN_BYTES));
        assert_eq!(index(&"é".repeat(100)), "e".repeat(MAX_TOKEN_BYTES));
        assert_eq!(index(&"ж".repeat(100)), "ж".repeat(MAX_TOKEN_BYTES / 2));
    }
}
