//! Finds the paragraph of a README that describes the project.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

/// Minimum number of words in a paragraph; a shorter one is a title or a badge.
const LEAST_WORDS: usize = 4;
/// Number of bytes that are read, from the beginning: later text rarely says what the project is.
const MOST_READ: usize = 16 << 10;
/// Maximum number of characters of the paragraph, in whole sentences if the first one fits.
const MAX_PARAGRAPH_CHARS: usize = 300;
/// Maximum number of words in a name.
const MOST_NAME_WORDS: usize = 4;
/// Words that follow the verb in sentences about the state of a project, such as `X is maintained by`, which are no definitions.
const STATUS_WORDS: &str = "available built compatible considered currently developed distributed free inspired installed \
                            licensed maintained not now open-sourced published released sponsored still supported tested under";

/// The title and the main paragraph of a README.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReadmeSummary {
    /// The first heading, unless the paragraph begins with the name of the project.
    pub(super) title: Option<String>,
    /// The paragraph that says what the project is, shortened.
    pub(super) paragraph: Option<String>,
}

impl ReadmeSummary {
    /// Reads a README. The paragraph is the one that begins with `NAME is`, where the name is that of a manifest or of a
    /// heading; without one, the first paragraph that is not in a list and not markup. News often comes before the paragraph.
    /// reStructuredText is read as Markdown: its headings and paragraphs look the same.
    pub(super) fn from_text(text: &str, names: &[&str]) -> Self {
        let (mut names, mut title, mut first) =
            (names.iter().map(|name| normalize_letters(name)).collect::<Vec<_>>(), None, None);
        for block in split_blocks(&text[..text.floor_char_boundary(MOST_READ)]) {
            match block {
                ReadmeBlock::Heading(heading) => {
                    names.extend(list_names_in_heading(&heading));
                    title.get_or_insert(heading);
                }
                ReadmeBlock::Paragraph(paragraph) if is_definition(&paragraph, &names) => {
                    return Self { title: None, paragraph: Some(shorten_to_sentences(&paragraph)) };
                }
                ReadmeBlock::Paragraph(paragraph) => drop(first.get_or_insert(paragraph)),
            }
        }
        Self { title, paragraph: first.as_deref().map(shorten_to_sentences) }
    }
}

/// A heading or paragraph of a README, without its markup.
enum ReadmeBlock {
    Heading(String),
    Paragraph(String),
}

/// Returns the headings of a README, and its paragraphs that are text.
fn split_blocks(text: &str) -> Vec<ReadmeBlock> {
    // A link counts as a link even if its target is not defined.
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let (mut n_lists, mut n_images) = (0_usize, 0_usize);
    let (mut blocks, mut open): (Vec<ReadmeBlock>, Option<String>) = (Vec::new(), None);
    for event in Parser::new_with_broken_link_callback(
        text,
        options,
        Some(|_| Some((CowStr::Borrowed(""), CowStr::Borrowed("")))),
    ) {
        match event {
            Event::Start(Tag::List(_)) => n_lists += 1,
            Event::End(TagEnd::List(_)) => n_lists -= 1,
            Event::Start(Tag::Image { .. }) => n_images += 1,
            Event::End(TagEnd::Image) => n_images -= 1,
            Event::Start(Tag::Paragraph) if n_lists == 0 => open = Some(String::new()),
            Event::Start(Tag::Heading { .. }) => open = Some(String::new()),
            // A paragraph that begins with HTML is a banner.
            Event::InlineHtml(_) if open.as_ref().is_some_and(String::is_empty) => open = None,
            Event::End(TagEnd::Paragraph) => {
                blocks.extend(
                    open.take()
                        .map(|text| join_lines(&text))
                        .filter(|text| is_prose(text))
                        .map(ReadmeBlock::Paragraph),
                );
            }
            Event::End(TagEnd::Heading(_)) => {
                blocks.extend(
                    open.take()
                        .map(|text| join_lines(&text))
                        .filter(|text| !text.is_empty())
                        .map(ReadmeBlock::Heading),
                );
            }
            Event::Text(piece) | Event::Code(piece) if n_images == 0 => {
                open.iter_mut().for_each(|text| text.push_str(&piece));
            }
            Event::SoftBreak | Event::HardBreak => open.iter_mut().for_each(|text| text.push(' ')),
            _ => {}
        }
    }
    blocks
}

fn join_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a paragraph is long enough, and is no directive of reStructuredText.
fn is_prose(paragraph: &str) -> bool {
    !paragraph.starts_with("..")
        && !paragraph.starts_with([':', '|'])
        && paragraph.split(' ').count() >= LEAST_WORDS
}

/// Returns the names that a heading may give the project: the whole heading, its first word, and the `X` of `What is X?`.
fn list_names_in_heading(heading: &str) -> Vec<String> {
    let asked = heading.strip_prefix("What is ").map(normalize_letters);
    let first = heading.split(' ').next().map(normalize_letters).filter(|word| word.len() > 2);
    let whole = (heading.split(' ').count() <= MOST_NAME_WORDS).then(|| normalize_letters(heading));
    [asked, first, whole].into_iter().flatten().filter(|name| !name.is_empty()).collect()
}

/// Returns the letters and digits of a text, in lower case, because one name is written with and without dashes and other signs.
pub(super) fn normalize_letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns whether a paragraph begins with one of these names and a definition of the name.
fn is_definition(paragraph: &str, names: &[String]) -> bool {
    let words: Vec<&str> = paragraph.split(' ').take(MOST_NAME_WORDS + 2).collect();
    (1..=MOST_NAME_WORDS).any(|n_words| {
        let (Some(verb), Some(next)) = (words.get(n_words), words.get(n_words + 1)) else { return false };
        let name = normalize_letters(&words[..n_words].concat());
        matches!(*verb, "is" | "are")
            && !STATUS_WORDS.split(' ').any(|word| word == *next)
            && names.contains(&name)
    })
}

/// Returns as many sentences as fit into the limit; if not even the first one fits, its beginning.
pub(super) fn shorten_to_sentences(text: &str) -> String {
    if let Some(end) =
        sentence_ends(text).filter(|end| text[..*end].chars().count() <= MAX_PARAGRAPH_CHARS).last()
    {
        return text[..end].to_owned();
    }
    let cut: String = text.chars().take(MAX_PARAGRAPH_CHARS).collect();
    let at_word = cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole);
    format!("{at_word}…")
}

/// Returns the byte offsets at which sentences end.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    // A dot before a small letter ends no sentence: "e.g. this".
    let marks = text.match_indices(['.', '!', '?', '。']).map(move |(at, mark)| {
        // Closing brackets and quotes belong to the sentence.
        text.len() - text[at + mark.len()..].trim_start_matches([')', '"', '”']).len()
    });
    let marks = marks.filter(|at| {
        let mut rest = text[*at..].chars();
        rest.next().is_none_or(|c| c == ' ') && !rest.next().is_some_and(char::is_lowercase)
    });
    marks.chain((!text.ends_with(['.', '!', '?', '。'])).then_some(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, names: &[&str], expected: Option<&str>) {
        assert_eq!(ReadmeSummary::from_text(text, names).paragraph.as_deref(), expected, "{text}");
    }

    #[test]
    fn the_first_paragraph_says_what_the_project_is() {
        let paragraph = |text: &str, expected: Option<&str>| check(text, &[], expected);
        paragraph(
            "# Flask\n\nFlask is a lightweight [WSGI] web\napplication framework. It is small.\n\nMore of it here.",
            Some("Flask is a lightweight WSGI web application framework. It is small."),
        );
        paragraph(
            "Flask\n=====\n\n.. image:: x\n\nA **tool** for [all](http://x) of us, e.g. you and me\n",
            Some("A tool for all of us, e.g. you and me"),
        );
        paragraph(
            "<h1>x</h1>\n\n[![ci](a)](b)\n![logo](x.png)\n\n> One line that says what it does!\n",
            Some("One line that says what it does!"),
        );
        paragraph("# Title\n\nShort text.\n\n```sh\ncargo install this very tool\n```\n", None);
        paragraph(
            "---\ntitle: not of the text here\n---\n- one of many items\n\n- another of many items\n",
            None,
        );
        paragraph(
            "A _tool_ with `code` and [a link][x] in it\n\n[x]: http://x\n",
            Some("A tool with code and a link in it"),
        );
        paragraph(
            "<a href=x>to be clicked by you</a>\n\nIt signs what you say.\n",
            Some("It signs what you say."),
        );
        paragraph("", None);
    }

    #[test]
    fn what_begins_with_the_name_is_preferred_to_news() {
        let text = "# Gin Web Framework\n\nWe're excited to announce a release!\n\n---\n\nGin is a fast framework.\n";
        check(text, &[], Some("Gin is a fast framework."));
        let text = "This is just a quick start.\n\nWhat is Redis?\n---\n\nRedis is often called a server.\n";
        check(text, &[], Some("Redis is often called a server."));
        let text = "# Title\n\nNews of the day come here.\n\nscikit-learn is a module for Python.\n";
        check(text, &["scikit_learn"], Some("scikit-learn is a module for Python."));
        check(
            "# X\n\nOne of many small tools.\n\nX is licensed under MIT.\n",
            &["x"],
            Some("One of many small tools."),
        );
        assert_eq!(ReadmeSummary::from_text("# **A** B\n", &[]).title.as_deref(), Some("A B"));
    }

    #[test]
    fn a_long_paragraph_is_cut_after_a_sentence_or_a_word() {
        let sentence = format!("A {}end.", "word ".repeat(20));
        let long = format!("{sentence} {sentence} {sentence} {sentence}");
        assert_eq!(shorten_to_sentences(&long), format!("{sentence} {sentence}"));
        let endless = "word ".repeat(5_000);
        let cut = shorten_to_sentences(endless.trim_end());
        assert!(cut.ends_with("word…") && cut.chars().count() <= MAX_PARAGRAPH_CHARS, "{cut}");
        assert_eq!(shorten_to_sentences(&"é".repeat(999)).chars().count(), MAX_PARAGRAPH_CHARS + 1);
    }
}
