//! Inserts our section between two marks, which are comments, into a text, and removes the section.
//!
//! The text alone suffices to undo an insertion. The section is inserted at the end, after an empty line. It is removed with the
//! line end after it, or at the end of the file with the second line end before it. The first mark has a hash of our lines, which
//! distinguishes them from lines that others have added between the marks: programs that rewrite their settings insert new
//! tables before the last comment of a file, which is our second mark.

use super::Refusal;
use super::text_lines::{detect_eol, strip_eol, strip_eol_start};

/// The comment syntax of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkSyntax {
    /// `<!-- … -->`, for Markdown.
    Html,
    /// `# …`, for TOML.
    Hash,
}

/// Beginning of the first mark in every version.
const START_MARK: &str = "memod: begin";
/// Remark in the first mark, after the hash.
const START_MARK_NOTE: &str = "(written by `memo setup`, removed by `memo setup --undo`)";
/// Text of the second mark.
const END_MARK: &str = "memod: end";
/// Number of hex digits of the hash in the first mark.
const N_HASH_DIGITS: usize = 8;

impl MarkSyntax {
    fn render_mark(self, words: &str) -> String {
        match self {
            Self::Html => format!("<!-- {words} -->"),
            Self::Hash => format!("# {words}"),
        }
    }

    /// Returns the beginning of a mark, without the rest that may differ between versions.
    fn render_prefix(self, words: &str) -> String {
        match self {
            Self::Html => format!("<!-- {words}"),
            Self::Hash => format!("# {words}"),
        }
    }
}

/// A text with our section removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TextWithoutSection<'a> {
    before: &'a str,
    /// The lines that others have added between the marks.
    pub(super) added: &'a str,
    after: &'a str,
}

impl TextWithoutSection<'_> {
    /// Returns the text with the lines `added` where the section was, in place of [`Self::added`].
    pub(super) fn join_with(&self, added: &str) -> String {
        match strip_eol_start(self.after) {
            Some(after) => [strip_eol(self.before), added, after].concat(),
            None if self.after.is_empty() && added.is_empty() => strip_two_eols(self.before).to_owned(),
            None => [self.before, added, self.after].concat(),
        }
    }
}

/// Returns a text without two equal line ends at its end. A carriage return that is not part of these line ends stays.
fn strip_two_eols(text: &str) -> &str {
    let eol = if text.ends_with("\r\n") { "\r\n" } else { "\n" };
    let text = text.strip_suffix(eol).unwrap_or(text);
    text.strip_suffix(eol).unwrap_or(text)
}

/// Returns the text with a section of these lines, which replaces an earlier section or is added at the end. Lines that others
/// have added between the marks stay.
///
/// # Errors
/// When the text has marks but not exactly one pair, or somebody has changed our lines.
pub(super) fn insert_section(text: &str, marks: MarkSyntax, lines: &str) -> Result<String, Refusal> {
    let eol = detect_eol(text);
    let lines = lines.trim_end();
    let start = marks.render_mark(&format!(
        "{START_MARK} {} {START_MARK_NOTE}",
        hash_line_prefixes(lines.lines()).last().unwrap_or_default()
    ));
    let own = format!("{start}\n{lines}\n").replace('\n', eol);
    if let Some(section) = find_section(text, marks)? {
        let n_own = section.own_len(lines).ok_or(Refusal::WrittenByOthers)?;
        let (body, added) = section.body.split_at(n_own);
        if body.lines().eq(lines.lines()) {
            return Ok(text.to_owned());
        }
        return Ok([section.before, &own, added, &marks.render_mark(END_MARK), section.after].concat());
    }
    let section = own + &marks.render_mark(END_MARK);
    let bare = text.trim_start_matches('\u{feff}');
    Ok(if bare.is_empty() {
        [text, &section, eol].concat()
    } else if bare.ends_with('\n') {
        [text, eol, &section, eol].concat()
    } else {
        [text, eol, eol, &section].concat()
    })
}

/// Returns the text without our section; `None` if the text has no marks.
///
/// # Errors
/// When the text has marks but not exactly one pair, or somebody has changed our lines.
pub(super) fn remove_section<'a>(
    text: &'a str,
    marks: MarkSyntax,
    lines: &str,
) -> Result<Option<TextWithoutSection<'a>>, Refusal> {
    let Some(section) = find_section(text, marks)? else { return Ok(None) };
    let n_own = section.own_len(lines.trim_end()).ok_or(Refusal::WrittenByOthers)?;
    Ok(Some(TextWithoutSection {
        before: section.before,
        added: &section.body[n_own..],
        after: section.after,
    }))
}

/// Our section and the text around it.
struct MarkedSection<'a> {
    before: &'a str,
    /// The first mark.
    start: &'a str,
    /// The lines between the marks.
    body: &'a str,
    after: &'a str,
}

impl MarkedSection<'_> {
    /// Returns how many bytes of the body are ours: the lines whose hash is in the first mark, or else `lines` if the body begins
    /// with them. `None` if somebody has changed our lines.
    fn own_len(&self, lines: &str) -> Option<usize> {
        let current = lines.lines().count();
        let is_current = self.body.lines().take(current).eq(lines.lines());
        // The hash decides first, because the lines of another version may begin with the current ones.
        let mut hashes = hash_line_prefixes(self.body.lines());
        let marked = hashes.position(|hash| self.start.split_whitespace().any(|word| word == hash));
        let n_lines = marked.map(|at| at + 1).or(is_current.then_some(current))?;
        Some(self.body.split_inclusive('\n').take(n_lines).map(str::len).sum())
    }
}

/// Returns the hash of the first line, of the first two lines, of the first three, and so on.
fn hash_line_prefixes<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    let mut hasher = blake3::Hasher::new();
    lines.map(move |line| {
        hasher.update(line.as_bytes()).update(b"\n");
        hasher.finalize().to_hex()[..N_HASH_DIGITS].to_owned()
    })
}

/// Finds the section and the text around it; `None` if the text has no marks.
///
/// # Errors
/// When the text has marks but not exactly one pair.
fn find_section(text: &str, marks: MarkSyntax) -> Result<Option<MarkedSection<'_>>, Refusal> {
    let end_mark = marks.render_mark(END_MARK);
    let (starts, ends) =
        (find_line_starts(text, &marks.render_prefix(START_MARK)), find_line_starts(text, &end_mark));
    let (start, end) = match (starts.as_slice(), ends.as_slice()) {
        ([], []) => return Ok(None),
        ([start], [end]) if start < end => (*start, *end),
        _ => return Err(Refusal::Marks),
    };
    // The second mark is at the start of a line, so the line of the first mark has ended before.
    let body = text[start..end].find('\n').map_or(end, |at| start + at + 1);
    Ok(Some(MarkedSection {
        before: &text[..start],
        start: &text[start..body],
        body: &text[body..end],
        after: &text[end + end_mark.len()..],
    }))
}

/// Returns the starts of the lines that begin with `prefix`.
fn find_line_starts(text: &str, prefix: &str) -> Vec<usize> {
    let found = text.match_indices(prefix).map(|(at, _)| at);
    found.filter(|at| *at == 0 || text[..*at].ends_with(['\n', '\u{feff}'])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, marks: MarkSyntax, lines: &str) -> Option<String> {
        remove_section(text, marks, lines).unwrap().map(|removed| removed.join_with(removed.added))
    }

    #[test]
    fn a_section_comes_out_without_a_trace() {
        let cases = [
            "",
            "\n",
            "\n\n",
            "\u{feff}",
            "\u{feff}# Title\r\n\r\nText\r\n",
            "# Title\n",
            "# Title",
            "# Title\r\n\r\n",
            "  trailing  \n\n\n",
            "no line feed\r\n\tlast",
            "no line feed\r",
            "no line feed\r\n\tlast\r",
            "\r",
        ];
        for text in cases {
            for marks in [MarkSyntax::Html, MarkSyntax::Hash] {
                let with = insert_section(text, marks, "one\ntwo\n").unwrap();
                assert!(with.replace("\r\n", "\n").contains("\none\ntwo\n"), "{with:?}");
                assert_eq!(
                    insert_section(&with, marks, "one\ntwo\n").unwrap(),
                    with,
                    "a second time: {text:?}"
                );
                assert_eq!(without(&with, marks, "one\ntwo").as_deref(), Some(text), "{with:?}");
            }
        }
    }

    #[test]
    fn what_others_wrote_around_it_stays() {
        let with = insert_section("# Title\n", MarkSyntax::Html, "ours").unwrap();
        let edited = format!("new\n{with}more\n").replace("# Title", "# Other");
        assert_eq!(without(&edited, MarkSyntax::Html, "ours").as_deref(), Some("new\n# Other\nmore\n"));
        let updated = insert_section(&edited, MarkSyntax::Html, "newer").unwrap();
        assert!(updated.contains("newer") && !updated.contains("ours") && updated.ends_with("more\n"));
        assert_eq!(without(&updated, MarkSyntax::Html, "newer").as_deref(), Some("new\n# Other\nmore\n"));
    }

    #[test]
    fn what_others_wrote_into_it_stays() {
        for eol in ["\n", "\r\n"] {
            let with = insert_section(&format!("a = 1{eol}"), MarkSyntax::Hash, "[ours]\nb = 2").unwrap();
            let edited = with.replace("# memod: end", &format!("{eol}[theirs]{eol}# memod: end"));
            assert_eq!(insert_section(&edited, MarkSyntax::Hash, "[ours]\nb = 2").unwrap(), edited);
            let updated = insert_section(&edited, MarkSyntax::Hash, "[ours]\nb = 3\nc = 4").unwrap();
            assert!(
                updated.contains(&format!("b = 3{eol}c = 4{eol}{eol}[theirs]{eol}# memod: end")),
                "{updated}"
            );
            let left = without(&updated, MarkSyntax::Hash, "[ours]").unwrap();
            assert_eq!(left, format!("a = 1{eol}{eol}[theirs]{eol}"));
        }
        let changed = insert_section("", MarkSyntax::Html, "ours").unwrap().replace("ours", "mine");
        assert!(matches!(insert_section(&changed, MarkSyntax::Html, "ours"), Err(Refusal::WrittenByOthers)));
        assert!(matches!(remove_section(&changed, MarkSyntax::Html, "ours"), Err(Refusal::WrittenByOthers)));
    }

    #[test]
    fn a_section_of_another_version_is_found() {
        let old = insert_section("a\n", MarkSyntax::Html, "old\nlines").unwrap();
        assert!(insert_section(&old, MarkSyntax::Html, "new").unwrap().contains("new"));
        assert_eq!(without(&old, MarkSyntax::Html, "new").as_deref(), Some("a\n"));
    }

    #[test]
    fn other_marks_than_one_pair_are_left_alone() {
        let (begin, end) = ("<!-- memod: begin x -->\n", "<!-- memod: end -->\n");
        let pair = format!("{begin}x\n{end}");
        let twice = [&pair, "mine\n", &pair].concat();
        let nested = [begin, "mine\n", &pair].concat();
        let turned = [end, "mine\n", begin].concat();
        for text in [begin, end, &twice, &nested, &turned, &[&pair, end].concat()] {
            assert!(matches!(insert_section(text, MarkSyntax::Html, "x"), Err(Refusal::Marks)), "{text}");
            assert!(matches!(remove_section(text, MarkSyntax::Html, "x"), Err(Refusal::Marks)), "{text}");
        }
        let quoted = "say `<!-- memod: begin -->` and `<!-- memod: end -->`\n";
        assert_eq!(remove_section(quoted, MarkSyntax::Html, "x").unwrap(), None, "a mark begins a line");
    }
}
