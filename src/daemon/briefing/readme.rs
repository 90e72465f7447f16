//! Finds the sentence of a README that says what a project is.

use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag, TagEnd};

/// Fewest words of a sentence; less is a title or a badge.
const LEAST_WORDS: usize = 4;
/// Bytes that are read: what comes later says no more what the project is.
const MOST_READ: usize = 16 << 10;

/// Returns the first sentence of a paragraph, outside lists, that is not markup. reStructuredText is read as Markdown: its
/// headings and paragraphs are alike.
pub(super) fn first_sentence(text: &str) -> Option<String> {
    let text = &text[..text.floor_char_boundary(MOST_READ)];
    // A link whose target is not known is one none the less.
    let unknown = |_: BrokenLink<'_>| Some((CowStr::Borrowed(""), CowStr::Borrowed("")));
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let (mut n_lists, mut n_images) = (0_usize, 0_usize);
    let mut paragraph: Option<String> = None;
    for event in Parser::new_with_broken_link_callback(text, options, Some(unknown)) {
        match event {
            Event::Start(Tag::List(_)) => n_lists += 1,
            Event::End(TagEnd::List(_)) => n_lists -= 1,
            Event::Start(Tag::Image { .. }) => n_images += 1,
            Event::End(TagEnd::Image) => n_images -= 1,
            Event::Start(Tag::Paragraph) if n_lists == 0 => paragraph = Some(String::new()),
            // HTML where a paragraph begins is a banner.
            Event::InlineHtml(_) if paragraph.as_ref().is_some_and(String::is_empty) => paragraph = None,
            Event::End(TagEnd::Paragraph) => {
                let said = paragraph.take().as_deref().and_then(sentence);
                if said.is_some() {
                    return said;
                }
            }
            Event::Text(piece) | Event::Code(piece) if n_images == 0 => {
                paragraph.iter_mut().for_each(|text| text.push_str(&piece));
            }
            Event::SoftBreak | Event::HardBreak => paragraph.iter_mut().for_each(|text| text.push(' ')),
            _ => {}
        }
    }
    None
}

/// Returns a text up to the end of its first sentence; `None` for a directive of reStructuredText, and where it is too short.
fn sentence(text: &str) -> Option<String> {
    let text = text.trim();
    let mut ends = text.match_indices(['.', '!', '?']).map(|(at, end)| at + end.len());
    // A dot before a small letter ends no sentence: "e.g. this".
    let is_end = |at: &usize| {
        let mut rest = text[*at..].chars();
        rest.next().is_none_or(|c| c == ' ') && !rest.next().is_some_and(char::is_lowercase)
    };
    let end = ends.find(is_end).unwrap_or(text.len());
    let words: Vec<&str> = text[..end].split_whitespace().collect();
    let is_directive = text.starts_with("..") || text.starts_with(':') || text.starts_with('|');
    (!is_directive && words.len() >= LEAST_WORDS).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readme_says_what_the_project_is() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(first_sentence(text).as_deref(), expected, "{text}");
        };
        check(
            "# Flask\n\nFlask is a lightweight [WSGI] web\napplication framework. It is small.\n",
            Some("Flask is a lightweight WSGI web application framework."),
        );
        check(
            "Flask\n=====\n\n.. image:: x\n\nA **tool** for [all](http://x) of us, e.g. you and me\n",
            Some("A tool for all of us, e.g. you and me"),
        );
        check(
            "<h1>x</h1>\n\n[![ci](a)](b)\n![logo](x.png)\n\n> One line that says what it does!\n",
            Some("One line that says what it does!"),
        );
        check("# Title\n\nShort text.\n\n```sh\ncargo install this very tool\n```\n", None);
        check(
            "---\ntitle: not of the text here\n---\n- one of many items\n\n- another of many items\n",
            None,
        );
        check(
            "A _tool_ with `code` and [a link][x] in it\n\n[x]: http://x\n",
            Some("A tool with code and a link in it"),
        );
        check(
            "<a href=x>to be clicked by you</a>\n\nIt signs what you say.\n",
            Some("It signs what you say."),
        );
        check("", None);
    }
}
