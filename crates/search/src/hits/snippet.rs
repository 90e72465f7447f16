//! Chooses the lines of a chunk that a hit shows.

use std::ops::Range;

use aho_corasick::AhoCorasick;
use memod_text::words as tokens;

use crate::query::QueryWord;

/// Most lines of a snippet.
const MAX_LINES: usize = 5;

/// Returns the most lines of the snippet of a hit after `n_before` other hits. Later hits are read less often, so they show only
/// enough to judge whether to open them.
fn max_lines(n_before: usize) -> usize {
    match n_before {
        0..3 => MAX_LINES,
        3..5 => 3,
        _ => 2,
    }
}

/// Most characters of a snippet, including line ends and ellipses.
const MAX_CHARS: usize = 400;

/// Most characters of one line, so that a long line leaves room for its neighbours.
const LINE_CHARS: usize = 200;

/// Characters that are shown before the first match in a line that is cut.
const BEFORE_CHARS: usize = 40;

/// A singular must have more bytes than this: `gas` is no plural of `ga`.
const MAX_UNINFLECTED_BYTES: usize = 3;

/// Marks a place where a line was cut.
const ELLIPSIS: &str = "…";

/// The lines of a chunk that a hit shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The lines, joined with `\n`. Long lines are cut, with `…` at the cuts.
    pub lines: String,
    /// Number of the first line in the file, 1-based.
    pub line: u32,
    /// The whole text of the hit, if it was requested.
    pub text: Option<String>,
}

/// How much of a hit's text is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnippetExtent {
    /// The lines that match best, filled up with neighbouring lines.
    #[default]
    Best,
    /// The lines that match best, with a number of lines before and after them.
    Around {
        /// Lines before the first that matches.
        before: usize,
        /// Lines after the last that matches.
        after: usize,
    },
    /// The lines of `Best`, and the whole text in [`Snippet::text`].
    BestAndText,
    /// The whole text.
    Text,
}

/// Cuts snippets for the words of a query.
#[derive(Debug)]
pub struct SnippetCutter<'a> {
    words: &'a [QueryWord],
    /// Finds singular forms of the ASCII words. A line (in lower case, without underscores) that contains none has no match.
    word_finder: Option<AhoCorasick>,
    extent: SnippetExtent,
}

impl<'a> SnippetCutter<'a> {
    /// Creates a cutter for the words of a query and an extent.
    pub fn new(words: &'a [QueryWord], extent: SnippetExtent) -> Self {
        let parts = words.iter().filter(|word| word.text.is_ascii()).map(|word| singular_form(&word.text));
        Self { words, word_finder: AhoCorasick::new(parts).ok(), extent }
    }

    /// Returns the number of lines to show before and after the matching lines; `None` unless the extent is `Around`.
    pub fn context_line_counts(&self) -> Option<(usize, usize)> {
        match self.extent {
            SnippetExtent::Around { before, after } => Some((before, after)),
            SnippetExtent::Best | SnippetExtent::BestAndText | SnippetExtent::Text => None,
        }
    }

    /// Returns the lines of `text` with the most different words of the query, for a hit after `n_before` other hits. Without a
    /// match, returns the first lines.
    ///
    /// `first_line` is the number of the first line of `text` in the file, 1-based. `around` contains the lines of the file before
    /// and after `text`; it is used only for [`SnippetExtent::Around`].
    pub fn cut_snippet(
        &self,
        text: &str,
        first_line: u32,
        around: &(String, String),
        n_before: usize,
    ) -> Snippet {
        if self.extent == SnippetExtent::Text {
            return Snippet { lines: text.trim_end().to_owned(), line: first_line, text: None };
        }
        let mut squeezed = Vec::new();
        let mut lines: Vec<SnippetLine<'_>> =
            text.lines().map(|line| self.match_line(line, &mut squeezed)).collect();
        if lines.is_empty() {
            return Snippet { line: first_line, ..Snippet::default() };
        }
        let most = if self.extent == SnippetExtent::Best { max_lines(n_before) } else { MAX_LINES };
        let (mut first_line, matching) = (first_line, matching_lines(&lines, self.words, most));
        let window = match self.extent {
            SnippetExtent::Around { before, after } => {
                let head: Vec<_> = around.0.lines().map(|line| SnippetLine::new(line, &[])).collect();
                let (n_head, matching) = (head.len(), matching.unwrap_or_else(|| first_lines(&lines, most)));
                first_line = first_line.saturating_sub(n_head as u32);
                lines.splice(0..0, head);
                lines.extend(around.1.lines().map(|line| SnippetLine::new(line, &[])));
                let end = matching.end.saturating_add(n_head).saturating_add(after);
                (matching.start + n_head).saturating_sub(before)..end.min(lines.len())
            }
            _ => {
                let window = matching.map(|matching| pad_window(&lines, matching, most));
                shrink_window(&lines, window.unwrap_or_else(|| first_lines(&lines, most)))
            }
        };
        let line = first_line.saturating_add(window.start as u32);
        let shown: Vec<String> = lines[window].iter().map(SnippetLine::shown_text).collect();
        let text = (self.extent == SnippetExtent::BestAndText).then(|| text.trim_end().to_owned());
        Snippet { lines: shown.join("\n"), line, text }
    }

    /// Finds the matches in a line. Skips the search for words if the line cannot contain any.
    fn match_line<'t>(&self, text: &'t str, squeezed: &mut Vec<u8>) -> SnippetLine<'t> {
        let may_match = match &self.word_finder {
            Some(likely) if text.is_ascii() => {
                squeezed.clear();
                squeezed
                    .extend(text.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase()));
                likely.is_match(&*squeezed)
            }
            _ => true,
        };
        SnippetLine::new(text, if may_match { self.words } else { &[] })
    }
}

/// A line with the words that match.
struct SnippetLine<'a> {
    text: &'a str,
    /// Byte range of each match, and index of its query word; ascending and disjoint.
    matches: Vec<(Range<usize>, usize)>,
    /// Byte range of the text that is shown.
    shown: Range<usize>,
}

impl<'a> SnippetLine<'a> {
    fn new(text: &'a str, words: &[QueryWord]) -> Self {
        let mut matches: Vec<(Range<usize>, usize)> = Vec::new();
        if words.is_empty() {
            return Self { text, matches, shown: shown_range(text, 0) };
        }
        tokens::each_token_span(text, &mut |range, token| {
            let found = words.iter().position(|word| matches_word(word, token));
            match (found, matches.last_mut()) {
                (None, _) => {}
                // A part inside its whole adds nothing; overlapping trigrams are merged.
                (Some(_), Some((last, _))) if range.start < last.end => last.end = last.end.max(range.end),
                (Some(word), _) => matches.push((range, word)),
            }
        });
        let shown = shown_range(text, matches.first().map_or(0, |(range, _)| range.start));
        Self { text, matches, shown }
    }

    /// Returns the most characters that the line takes in a snippet, including the line end and both ellipses.
    fn n_chars(&self) -> usize {
        self.text[self.shown.clone()].chars().count() + 3
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn shown_text(&self) -> String {
        let before = if self.shown.start > 0 { ELLIPSIS } else { "" };
        let after = if self.shown.end < self.text.len() { ELLIPSIS } else { "" };
        format!("{before}{}{after}", &self.text[self.shown.clone()])
    }
}

/// Returns whether a token matches a word of the query: it is equal, has the prefix, or is the plural or singular of the word.
fn matches_word(word: &QueryWord, token: &str) -> bool {
    if word.is_prefix {
        return token.starts_with(&word.text);
    }
    let is_plural = |long: &str, short: &str| {
        short.len() > MAX_UNINFLECTED_BYTES && long.strip_suffix('s') == Some(short)
    };
    token == word.text || is_plural(token, &word.text) || is_plural(&word.text, token)
}

/// Returns a word without the `s` of a plural: the part that singular and plural share.
fn singular_form(word: &str) -> &str {
    word.strip_suffix('s').filter(|short| short.len() > MAX_UNINFLECTED_BYTES).unwrap_or(word)
}

/// Returns the byte range of a line that is shown: all of a short line, and the part around `at` of a long line.
fn shown_range(text: &str, at: usize) -> Range<usize> {
    if text.len() <= LINE_CHARS || text.chars().nth(LINE_CHARS).is_none() {
        return 0..text.len();
    }
    let before = text[..at].chars().rev().take(BEFORE_CHARS).map(char::len_utf8).sum::<usize>();
    let start = if text[..at].chars().nth(LINE_CHARS / 2).is_none() { 0 } else { at - before };
    let len = text[start..].chars().take(LINE_CHARS).map(char::len_utf8).sum::<usize>();
    start..start + len
}

/// Returns the best window of at most `most` lines, from its first to its last line with a match; `None` without a match.
fn matching_lines(lines: &[SnippetLine<'_>], words: &[QueryWord], most: usize) -> Option<Range<usize>> {
    let with_match = (0..lines.len()).filter(|&nth| !lines[nth].matches.is_empty());
    let mut best: Option<(f32, usize)> = None;
    for start in with_match {
        let value = window_value(&lines[start..lines.len().min(start + most)], words);
        if best.is_none_or(|(most, _)| value > most) {
            best = Some((value, start));
        }
    }
    let (_, start) = best?;
    let end = lines.len().min(start + most);
    let last = (start..end).rev().find(|&nth| !lines[nth].matches.is_empty()).unwrap_or(start);
    Some(start..last + 1)
}

/// Returns the first `most` lines, beginning at the first line that is not blank.
fn first_lines(lines: &[SnippetLine<'_>], most: usize) -> Range<usize> {
    let start = lines.iter().position(|line| !line.text.trim().is_empty()).unwrap_or(0);
    start..lines.len().min(start + most)
}

/// Extends a range of lines in both directions to `most` lines.
fn pad_window(lines: &[SnippetLine<'_>], Range { start, end }: Range<usize>, most: usize) -> Range<usize> {
    let start = start.saturating_sub((most - (end - start)) / 2);
    start..lines.len().min(start + most)
}

/// Returns the value of some lines: the sum of the weights of their different words. Each repetition counts a tenth of the weight.
fn window_value(window: &[SnippetLine<'_>], words: &[QueryWord]) -> f32 {
    let mut seen = vec![false; words.len()];
    let mut value = 0.0;
    for (_, word) in window.iter().flat_map(|line| &line.matches) {
        let share = if std::mem::replace(&mut seen[*word], true) { 0.1 } else { 1.0 };
        value += share * words[*word].weight;
    }
    value
}

/// Shrinks a window to [`MAX_CHARS`] around the line with most matches, and drops blank lines at both ends.
fn shrink_window(lines: &[SnippetLine<'_>], window: Range<usize>) -> Range<usize> {
    let heaviest = window
        .clone()
        .max_by_key(|nth| (lines[*nth].matches.len(), std::cmp::Reverse(*nth)))
        .unwrap_or(window.start);
    let mut shrunk = heaviest..heaviest + 1;
    let mut n_chars = lines[heaviest].n_chars();
    while shrunk.end < window.end && n_chars + lines[shrunk.end].n_chars() <= MAX_CHARS {
        n_chars += lines[shrunk.end].n_chars();
        shrunk.end += 1;
    }
    while shrunk.start > window.start && n_chars + lines[shrunk.start - 1].n_chars() <= MAX_CHARS {
        n_chars += lines[shrunk.start - 1].n_chars();
        shrunk.start -= 1;
    }
    while shrunk.start < heaviest && lines[shrunk.start].is_blank() {
        shrunk.start += 1;
    }
    while shrunk.end > heaviest + 1 && lines[shrunk.end - 1].is_blank() {
        shrunk.end -= 1;
    }
    shrunk
}

#[cfg(test)]
mod tests {
    use memod_testing::{RandomNumbers, random_hostile_text};

    use super::*;
    use crate::query::parse_query;

    /// Returns the first line's number, and the text with its matches in brackets.
    fn marked(query: &str, text: &str) -> (u32, String) {
        let query = parse_query(query);
        let found = SnippetCutter::new(query.words(), SnippetExtent::Best).cut_snippet(
            text,
            10,
            &Default::default(),
            0,
        );
        let mark = |text: &str| {
            let mut marked = text.to_owned();
            for (range, _) in SnippetLine::new(text, query.words()).matches.into_iter().rev() {
                marked.insert(range.end, ']');
                marked.insert(range.start, '[');
            }
            marked
        };
        let lines: Vec<String> = found.lines.lines().map(mark).collect();
        (found.line, lines.join("\n"))
    }

    #[test]
    fn windows() {
        let check = |query: &str, text: &str, line: u32, expected: &str| {
            assert_eq!(marked(query, text), (line, expected.to_owned()), "{query}");
        };
        check("login", "", 10, "");
        check("login", "\n\nfirst\r\nsecond", 12, "first\nsecond");
        check("login user", "a\nb\nc\nd\nlogin(user)\ne\nf\ng\nh", 12, "c\nd\n[login]([user])\ne\nf");
        check("getUser", "x getUserById get_user", 10, "x [get][User]ById [get_user]");
        check("get", "getUser", 10, "[get]User");
        check("routers", "a router, the Routers; router2", 10, "a [router], the [Routers]; [router]2");
        check("log*", "logs Logger blog", 10, "[logs] [Logger] blog");
        check("größe", "die GRÖSSE Größe gro\u{308}ße", 10, "die GRÖSSE [Größe] [gro\u{308}ße]");
        check("本語", "日本語処理", 10, "日[本語処]理");
        check("日本語処", "x日本語処理", 10, "x[日本語処]理");
        check("two one", "one\n\n\n\n\n\none two", 16, "[one] [two]");
    }

    #[test]
    fn further_hits_have_fewer_lines() {
        let query = parse_query("x");
        let text = "a\nb\nx\nc\nd\ne\n";
        let check = |n_before, extent, line: u32, expected: &str| {
            let found =
                SnippetCutter::new(query.words(), extent).cut_snippet(text, 1, &Default::default(), n_before);
            assert_eq!((found.line, found.lines.as_str()), (line, expected), "{n_before} {extent:?}");
        };
        check(2, SnippetExtent::Best, 1, "a\nb\nx\nc\nd");
        check(3, SnippetExtent::Best, 2, "b\nx\nc");
        check(5, SnippetExtent::Best, 3, "x\nc");
        check(5, SnippetExtent::BestAndText, 1, "a\nb\nx\nc\nd");
    }

    #[test]
    fn lines_around_those_that_match() {
        let check = |(before, after): (usize, usize), query: &str, line: u32, expected: &str| {
            let query = parse_query(query);
            let around = ("1\n2\n".to_owned(), "8\n9\n".to_owned());
            let snippets = SnippetCutter::new(query.words(), SnippetExtent::Around { before, after });
            let found = snippets.cut_snippet("3\nx\n5\ny\n7\n", 3, &around, 0);
            assert_eq!((found.line, found.lines.as_str()), (line, expected));
        };
        check((0, 0), "x", 4, "x");
        check((1, 0), "x", 3, "3\nx");
        check((0, 2), "x y", 4, "x\n5\ny\n7\n8");
        check((9, 9), "y", 1, "1\n2\n3\nx\n5\ny\n7\n8\n9");
        check((1, 1), "meaning", 2, "2\n3\nx\n5\ny\n7\n8");
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let text = format!("{}needle{}", "ä ".repeat(5_000), " ß".repeat(5_000));
        let (line, marked) = marked("needle", &text);
        assert_eq!(line, 10);
        assert!(marked.contains("[needle]"));
        assert!(marked.starts_with(ELLIPSIS) && marked.ends_with(ELLIPSIS));
        assert!(marked.chars().count() <= LINE_CHARS + 4);
    }

    #[test]
    fn a_line_that_is_not_split_has_no_word() {
        let mut random = RandomNumbers::new(9);
        let texts = ["logs", "a_login", "LOG_IN", "Logger", "größe", "the-log.s", "gas", "x"];
        for _ in 0..3_000 {
            let mut text = || {
                (0..random.number_below(4)).map(|_| random.pick_item(&texts)).collect::<Vec<_>>().join(" ")
            };
            let (query, line) = (parse_query(&text()), text());
            let found =
                SnippetCutter::new(query.words(), SnippetExtent::Best).match_line(&line, &mut Vec::new());
            assert_eq!(found.matches, SnippetLine::new(&line, query.words()).matches, "{query:?} {line}");
        }
        for _ in 0..2_000 {
            let (query, line) =
                (parse_query(&random_hostile_text(&mut random, 8)), random_hostile_text(&mut random, 30));
            let found =
                SnippetCutter::new(query.words(), SnippetExtent::Best).match_line(&line, &mut Vec::new());
            assert_eq!(found.matches, SnippetLine::new(&line, query.words()).matches, "{query:?} {line}");
        }
    }

    #[test]
    fn any_text_has_a_snippet_within_its_limits() {
        let mut random = RandomNumbers::new(4);
        for _ in 0..2_000 {
            let query = parse_query(&random_hostile_text(&mut random, 8));
            let text = random_hostile_text(&mut random, 400);
            let found = SnippetCutter::new(query.words(), SnippetExtent::Best).cut_snippet(
                &text,
                u32::MAX - 3,
                &Default::default(),
                0,
            );
            assert!(found.lines.lines().count() <= MAX_LINES);
            assert!(found.lines.chars().count() <= MAX_CHARS);
        }
    }
}
