//! Is what the README and the book say true?

pub(crate) mod cut;
mod examples;
mod links;
mod openapi;
mod proto_types;
mod protocol;
mod shop;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

/// One page of Markdown.
struct Page {
    /// From the repository's top, with `/`.
    name: String,
    text: String,
}

impl Page {
    fn read(name: &str) -> Self {
        let text = fs::read_to_string(top().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { name: name.to_owned(), text }
    }

    /// Returns the text without what stands in fenced blocks.
    fn prose(&self) -> String {
        let mut is_fenced = false;
        let lines = self.text.lines().filter(|line| {
            let is_fence = line.starts_with("```");
            is_fenced ^= is_fence;
            !is_fenced && !is_fence
        });
        lines.map(|line| format!("{line}\n")).collect()
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            if let Some(info) = line.strip_prefix("```") {
                let lines = lines.by_ref().take_while(|line| *line != "```").collect();
                blocks.push(Block { info, lines });
            }
        }
        blocks
    }
}

/// One fenced block: the words behind the fence, and the lines inside.
struct Block<'a> {
    info: &'a str,
    lines: Vec<&'a str>,
}

impl<'a> Block<'a> {
    /// Returns each command of a console block with the lines that it prints.
    fn steps(&self) -> Vec<(&'a str, Vec<&'a str>)> {
        let mut steps: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in &self.lines {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push((command, Vec::new())),
                (None, Some((_, printed))) => printed.push(line),
                (None, None) => panic!("no command before: {line}"),
            }
        }
        for (_, printed) in &mut steps {
            // The empty line between two commands.
            printed.pop_if(|line| line.is_empty());
        }
        steps
    }
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the README, the other pages at the top, and every page of the book, by name.
fn pages() -> Vec<Page> {
    let at_top = ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"].map(PathBuf::from);
    let in_folder = |folder: &str| {
        let entries = fs::read_dir(top().join(folder)).unwrap();
        let paths = entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name()));
        paths.collect::<Vec<_>>()
    };
    let book = [in_folder("docs/src"), in_folder("docs/src/reference")].concat();
    let mut names: Vec<_> = at_top.into_iter().chain(book).collect();
    names.retain(|name| name.extension().is_some_and(|extension| extension == "md"));
    names.sort();
    names.iter().map(|name| Page::read(name.to_str().unwrap())).collect()
}

/// Fails unless the part of a page between `<!-- begin NAME -->` and `<!-- end NAME -->` is `expected`.
///
/// With `MEMO_BLESS=1` in the environment, writes it there instead.
fn check_generated(page: &str, part: &str, expected: &str) {
    let Page { text, .. } = Page::read(page);
    let (begin, end) = (format!("<!-- begin {part} -->\n"), format!("<!-- end {part} -->"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{page} has no {begin}"));
    let (actual, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{page} has no {end}"));
    if std::env::var_os("MEMO_BLESS").is_some() {
        fs::write(top().join(page), format!("{before}{begin}{expected}{end}{after}")).unwrap();
        return;
    }
    let differs = actual.lines().zip(expected.lines()).find(|(actual, expected)| actual != expected);
    assert!(
        actual == expected,
        "{page} is out of date: `MEMO_BLESS=1 cargo test --test it docs::` writes it anew\nfirst difference: {differs:?}"
    );
}
