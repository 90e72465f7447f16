//! Splits Markdown into sections.

use super::front_matter::FrontMatter;
use super::markdown_outline::{opts_out_of_index, read_outline};
use super::sections::{ChunkSize, extract_by_outline};
use crate::chunks::chunk::Extraction;

/// Most containers (quotes, list items) that one line may open; the time of the parser grows with the square of their number.
const MAX_CONTAINERS: usize = 100;

/// Returns the sections of a Markdown document, each with its heading path.
///
/// A section is a heading and the text up to the next heading of any level. A heading that a deeper heading follows at once
/// has no chunk of its own; its title is in the heading paths of the sections below it. Sections over
/// [`crate::chunks::chunk::CHUNK_CHARS`] are cut, with overlap, between blocks where they fit. Headings within quotes and
/// lists start no section.
pub fn extract(text: &str) -> Extraction {
    extract_with_chunk_size(text, ChunkSize::INDEXED)
}

/// Returns the same as [`extract`], but with chunks of another size.
pub fn extract_with_chunk_size(text: &str, size: ChunkSize) -> Extraction {
    let (front_matter, body_start) = FrontMatter::split_front_matter(text);
    if opens_too_many_containers(&text[body_start..]) {
        return extract_as_plain_text(text);
    }
    let outline = read_outline(text, body_start..text.len(), size.max_chars);
    extract_by_outline(text, body_start, front_matter.as_ref(), &outline, size)
}

/// Splits a document by lines only, because parsing it would take too long.
fn extract_as_plain_text(text: &str) -> Extraction {
    if opts_out_of_index(text) {
        return Extraction { opted_out: true, ..Extraction::default() };
    }
    let problem = format!("read as plain text: a line opens more than {MAX_CONTAINERS} quotes or lists");
    Extraction { problems: vec![problem], ..crate::chunks::plain_text::extract(text) }
}

/// Returns whether some line opens more quotes and list items than the parser can handle in time.
pub(super) fn opens_too_many_containers(body: &str) -> bool {
    body.lines().any(|line| {
        let n_bytes =
            line.bytes().take_while(|byte| b" \t>-*+.)".contains(byte) || byte.is_ascii_digit()).count();
        let marks = line.as_bytes()[..n_bytes].windows(2);
        let opened = marks.filter(|pair| pair[0] == b'>' || b"-*+.)".contains(&pair[0]) && pair[1] == b' ');
        opened.take(MAX_CONTAINERS + 1).count() > MAX_CONTAINERS && !is_rule(line)
    })
}

/// Returns whether the line is a thematic break or an underline of any length, which nests nothing.
fn is_rule(line: &str) -> bool {
    let mut marks = line.bytes().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    let Some(mark) = marks.next() else { return false };
    matches!(mark, b'-' | b'*' | b'.') && marks.all(|byte| byte == mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::document_checks::sections;

    /// Checks lines and title of each chunk.
    fn check(text: &str, expected: &[(u32, u32, &str)]) {
        assert_eq!(sections(&extract(text)), expected, "{text}");
    }

    #[test]
    fn sections_follow_headings() {
        check("", &[]);
        check("\n \n", &[]);
        check("Just text.\n\n", &[(1, 1, "")]);
        check("# A\n\na\n\n\n## B\nb\n# C\nc", &[(1, 3, "A"), (6, 7, "A > B"), (8, 9, "C")]);
        check(
            "pre\n\n## B\nb\n#### D\nd\n### C\nc\n",
            &[(1, 1, ""), (3, 4, "B"), (5, 6, "B > D"), (7, 8, "B > C")],
        );
        check("A\n===\na\n\nB `x`\n*y*\n---\nb\n", &[(1, 3, "A"), (5, 8, "A > B x y")]);
        check("\u{feff}# A\r\n\r\na\r\n\r\n## B {#id}\r\nb\r\n", &[(1, 3, "A"), (5, 6, "A > B")]);
    }

    #[test]
    fn a_heading_without_content_is_named_by_its_children() {
        check("# A\n\n## B\n\nb\n## C\nc\n", &[(3, 5, "A > B"), (6, 7, "A > C")]);
        check("# A\n## B\n### C\nc\n", &[(3, 4, "A > B > C")]);
        check("# A\na\n## Todo\n## B\nb\n", &[(1, 2, "A"), (3, 3, "A > Todo"), (4, 5, "A > B")]);
        check("# A\n", &[(1, 1, "A")]);
        check("#\n#\n#\nx\n", &[(3, 4, "")]);
    }

    #[test]
    fn only_headings_of_the_document_itself_count() {
        check("# A\n> # quoted\n\n- # item\n\n```\n# code\n```\n", &[(1, 8, "A")]);
        check("# A\n\n```\n# unclosed\n", &[(1, 4, "A")]);
        check("# A\n\n<div>\n# html\n</div>\n", &[(1, 5, "A")]);
    }

    #[test]
    fn front_matter_is_a_chunk_and_the_root() {
        check("---\ntitle: T\n---\n\npre\n## B\nb\n", &[(2, 2, "T"), (5, 5, "T"), (6, 7, "T > B")]);
        check("---\ntitle: T\n---\n# A\na\n", &[(2, 2, "T"), (4, 5, "A")]);
        check("---\nkeywords: k\n---\n## B\nb\n", &[(2, 2, ""), (4, 5, "B")]);
    }

    #[test]
    fn a_document_may_opt_out() {
        let check = |text: &str, expected| {
            let extracted = extract(text);
            assert_eq!((extracted.opted_out, extracted.chunks.is_empty()), (expected, expected), "{text}");
        };
        check("# A\n\n<!-- vector-index: false -->\n", true);
        check("a <!--vector-index:false--> b\n", true);
        check("<!--\nvector-index: false\n-->\n", true);
        check("---\nvector-index: false\n---\n# A\n", true);
        check("> <!-- vector-index: false -->\n", true);
        check("```html\n<!-- vector-index: false -->\n```\n", false);
        check("Write `<!-- vector-index: false -->` in it.\n", false);
        check("<!-- vector-index: true -->\n", false);
        check("<!-- vector-index: false\n", false);
    }

    #[test]
    fn long_sections_are_cut_between_blocks() {
        let prose = |n: usize| "This sentence has forty-two characters ok. ".repeat(n) + "\n\n";
        let code = "```\n".to_owned() + &"let line = 1;\n\n".repeat(80) + "```\n";
        let text = format!("# A\n\n{}{}{code}\nend\n", prose(12), prose(12));
        let extracted = extract(&text);
        let spans: Vec<_> = extracted.chunks.iter().map(|chunk| &text[chunk.bytes.clone()]).collect();
        assert_eq!(extracted.chunks[0].lines, (1, 5));
        assert_eq!(extracted.chunks[1].lines.1, 170);
        assert!(spans.len() == 2 && spans[1].contains(&code));
        assert!(extracted.chunks.iter().all(|chunk| chunk.title.as_deref() == Some("A")));
    }

    #[test]
    fn overlap_never_starts_within_a_block() {
        let code = "```\n".to_owned() + &"first(x.y)  . second\n".repeat(40) + "```\n";
        let text = format!("# A\n{code}\n{}", "Text without any end of line. ".repeat(40));
        let lines: Vec<_> = extract(&text).chunks.iter().map(|chunk| chunk.lines).collect();
        assert_eq!(lines, [(1, 43), (45, 45)]);
    }

    #[test]
    fn neighbouring_pieces_of_one_section_overlap() {
        let text = "# A\n".to_owned() + &"Another line of plain text in a long section.\n".repeat(100);
        let chunks = extract(&text).chunks;
        for pair in chunks.windows(2) {
            let n_shared = pair[0].lines.1 + 1 - pair[1].lines.0;
            assert!((1..=7).contains(&n_shared), "{n_shared}");
        }
        assert!(
            chunks.len() > 2 && chunks.iter().all(|chunk| chunk.bytes.len() <= ChunkSize::INDEXED.max_chars)
        );
    }

    #[test]
    fn hostile_documents_end() {
        let n_bytes = 1 << 16;
        let parts = [
            "[", ">", "- ", "> ", "1. ", "*", "`", "<", "![", "[a](", "| ", "#\n", "# é\n", "\u{feff}",
            "<!--", "\r",
        ];
        let is_empty = |rest: &str| rest.lines().all(|line| line.trim().is_empty() || line == "#");
        for part in parts {
            let text = part.repeat(n_bytes / part.len());
            let text = format!("{text}\n\n# é\n{text}");
            let chunks = extract(&text).chunks;
            let mut last_end = chunks[0].bytes.start;
            for chunk in &chunks {
                assert!(!text[chunk.bytes.clone()].trim().is_empty() && chunk.bytes.end > last_end);
                assert!(chunk.bytes.start <= last_end || is_empty(&text[last_end..chunk.bytes.start]));
                last_end = chunk.bytes.end;
            }
            assert!(is_empty(&text[last_end..]), "nothing is lost: {part}");
        }
    }

    #[test]
    fn nesting_too_deep_is_read_as_plain_text() {
        let extracted = extract(&("- ".repeat(200) + "x\n"));
        assert!(extracted.problems.len() == 1 && extracted.chunks.len() == 1);
        let rules = ["- ".repeat(200), "*".repeat(200), format!("+{}+", "-".repeat(200))];
        for rule in rules {
            assert!(extract(&format!("a\n\n{rule}\n")).problems.is_empty(), "{rule}");
        }
    }
}
