//! Finds the sections of a Markdown page by their anchors.

use std::collections::HashMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The headings of a page.
pub(crate) struct PageHeadings {
    headings: Vec<PageHeading>,
    n_lines: u32,
}

impl PageHeadings {
    pub(crate) fn parse_page(page: &str) -> Self {
        Self { headings: parse_headings(page), n_lines: page.lines().count() as u32 }
    }

    /// Returns the first and last line of the section with this anchor, which ends before the next heading of the same or a
    /// higher level.
    ///
    /// Anchors are those of GitHub: words in lower case joined by `-`, with a number for each repetition; or the name in
    /// `{#name}`.
    pub(crate) fn find_section(&self, anchor: &str) -> Option<(u32, u32)> {
        let nth = self.headings.iter().position(|heading| heading.anchor == anchor)?;
        let (heading, later) = (&self.headings[nth], &self.headings[nth + 1..]);
        let next = later.iter().find(|next| next.level <= heading.level);
        Some((heading.line, next.map_or(self.n_lines, |next| next.line - 1)))
    }
}

struct PageHeading {
    anchor: String,
    level: usize,
    /// Line of the heading, 1-based.
    line: u32,
}

fn parse_headings(page: &str) -> Vec<PageHeading> {
    let mut headings: Vec<PageHeading> = Vec::new();
    let mut named: HashMap<String, usize> = HashMap::new();
    let mut title: Option<String> = None;
    let (mut line, mut counted) = (1, 0);
    for (event, bytes) in Parser::new_ext(page, Options::ENABLE_HEADING_ATTRIBUTES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, id, .. }) => {
                line += page[counted..bytes.start].matches('\n').count() as u32;
                counted = bytes.start;
                let anchor = id.map(|id| id.to_string()).unwrap_or_default();
                headings.push(PageHeading { anchor, level: level as usize, line });
                title = Some(String::new());
            }
            Event::Text(text) | Event::Code(text) => {
                title.as_mut().into_iter().for_each(|title| title.push_str(&text));
            }
            Event::End(TagEnd::Heading(_)) => {
                let title = title.take().unwrap_or_default();
                if let Some(heading) = headings.last_mut().filter(|heading| heading.anchor.is_empty()) {
                    let slug = title_slug(&title);
                    let n_before = named.entry(slug.clone()).or_default();
                    heading.anchor = if *n_before == 0 { slug } else { format!("{slug}-{n_before}") };
                    *n_before += 1;
                }
            }
            _ => {}
        }
    }
    headings
}

/// Returns the anchor that GitHub makes of the text of a heading.
fn title_slug(title: &str) -> String {
    let allowed = title.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    allowed.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_have_the_anchors_of_github() {
        let page = "# The `memo` tool, 2nd\n\ntext\n\n## Set up\n\n```\n# no heading\n```\n\n### Linux\n\nUse\n---\n\n\
                    ## Set up\n\nlast\n\n## Other {#own}\nend\n";
        let cases = [
            ("the-memo-tool-2nd", Some((1, 21))),
            ("set-up", Some((5, 12))),
            ("linux", Some((11, 12))),
            ("use", Some((13, 15))),
            ("set-up-1", Some((16, 19))),
            ("own", Some((20, 21))),
            ("other", None),
            ("no-heading", None),
        ];
        for (anchor, expected) in cases {
            assert_eq!(PageHeadings::parse_page(page).find_section(anchor), expected, "{anchor}");
        }
    }
}
