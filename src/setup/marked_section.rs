//! Inserts our section between two marks into a text with comments, and removes it.
//!
//! An insertion can be undone from the text alone: the section goes to the end after an empty line, and comes out with the
//! line end after it, or at the end of the file with the second line end before it.

use super::Refusal;
use super::json_edit::eol;

/// How a mark is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    /// Markdown.
    Html,
    /// TOML.
    Hash,
}

const START: &str = "memod: begin (written by `memo setup`, removed by `memo setup --undo`)";
/// What [`START`] begins with in every version.
const START_WORDS: &str = "memod: begin";
const END: &str = "memod: end";

impl Marks {
    fn line(self, words: &str) -> String {
        match self {
            Self::Html => format!("<!-- {words} -->"),
            Self::Hash => format!("# {words}"),
        }
    }

    /// Returns what a mark begins with, up to what a version may say otherwise.
    fn prefix(self, words: &str) -> String {
        match self {
            Self::Html => format!("<!-- {words}"),
            Self::Hash => format!("# {words}"),
        }
    }
}

/// Returns the text with a section of these lines, in the place of an earlier one or at the end.
///
/// # Errors
/// When the text has only one of the marks.
pub(super) fn insert(text: &str, marks: Marks, lines: &str) -> Result<String, Refusal> {
    let eol = eol(text);
    let section = format!("{}\n{}\n{}", marks.line(START), lines.trim_end(), marks.line(END));
    let section = section.replace('\n', eol);
    if let Some((start, end)) = span(text, marks)? {
        return Ok([&text[..start], &section, &text[end..]].concat());
    }
    let bare = text.trim_start_matches('\u{feff}');
    Ok(if bare.is_empty() {
        [text, &section, eol].concat()
    } else if bare.ends_with('\n') {
        [text, eol, &section, eol].concat()
    } else {
        [text, eol, eol, &section].concat()
    })
}

/// Returns the text without our section; `None` when it has none.
///
/// # Errors
/// When the text has only one of the marks.
pub(super) fn remove(text: &str, marks: Marks) -> Result<Option<String>, Refusal> {
    let Some((start, end)) = span(text, marks)? else { return Ok(None) };
    let (before, after) = (&text[..start], &text[end..]);
    Ok(Some(match strip_eol_start(after) {
        Some(after) => [strip_eol(before), after].concat(),
        None if after.is_empty() => strip_eol(strip_eol(before)).to_owned(),
        None => [before, after].concat(),
    }))
}

/// Returns where the section is, without the line end after it.
fn span(text: &str, marks: Marks) -> Result<Option<(usize, usize)>, Refusal> {
    let at_line_start = |prefix: &str, from: usize| {
        let mut found = text[from..].match_indices(prefix).map(|(at, _)| from + at);
        found.find(|at| *at == 0 || text[..*at].ends_with(['\n', '\u{feff}']))
    };
    let Some(start) = at_line_start(&marks.prefix(START_WORDS), 0) else {
        let has_end = at_line_start(&marks.line(END), 0).is_some();
        return if has_end { Err(Refusal::HalfSection) } else { Ok(None) };
    };
    let end = at_line_start(&marks.line(END), start).ok_or(Refusal::HalfSection)?;
    Ok(Some((start, end + marks.line(END).len())))
}

fn strip_eol(text: &str) -> &str {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}

fn strip_eol_start(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ];
        for text in cases {
            for marks in [Marks::Html, Marks::Hash] {
                let with = insert(text, marks, "one\ntwo\n").unwrap();
                assert!(with.replace("\r\n", "\n").contains("\none\ntwo\n"), "{with:?}");
                assert_eq!(insert(&with, marks, "one\ntwo\n").unwrap(), with, "a second time: {text:?}");
                assert_eq!(remove(&with, marks).unwrap().as_deref(), Some(text), "{with:?}");
            }
        }
    }

    #[test]
    fn what_others_wrote_around_it_stays() {
        let with = insert("# Title\n", Marks::Html, "ours").unwrap();
        let edited = format!("new\n{with}more\n").replace("# Title", "# Other");
        assert_eq!(remove(&edited, Marks::Html).unwrap().as_deref(), Some("new\n# Other\nmore\n"));
        let updated = insert(&edited, Marks::Html, "newer").unwrap();
        assert!(updated.contains("newer") && !updated.contains("ours") && updated.ends_with("more\n"));
        assert_eq!(remove(&updated, Marks::Html).unwrap().as_deref(), Some("new\n# Other\nmore\n"));
    }

    #[test]
    fn a_section_of_another_version_is_found() {
        let old = "a\n\n<!-- memod: begin v0 -->\nold\n<!-- memod: end -->\n";
        assert!(insert(old, Marks::Html, "new").unwrap().contains("new"));
        assert_eq!(remove(old, Marks::Html).unwrap().as_deref(), Some("a\n"));
    }

    #[test]
    fn half_a_section_is_left_alone() {
        for text in ["<!-- memod: begin x -->\n", "<!-- memod: end -->\n"] {
            assert!(matches!(insert(text, Marks::Html, "x"), Err(Refusal::HalfSection)));
            assert!(matches!(remove(text, Marks::Html), Err(Refusal::HalfSection)));
        }
        let quoted = "say `<!-- memod: begin -->` and `<!-- memod: end -->`\n";
        assert_eq!(remove(quoted, Marks::Html).unwrap(), None, "a mark begins a line");
    }
}
