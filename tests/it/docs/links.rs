//! Does every link lead somewhere, and is every page in the table of contents?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::{Page, pages, top};

const SUMMARY: &str = "docs/src/SUMMARY.md";

/// Returns the targets of a page's links, without those that leave the repository.
fn targets(page: &Page) -> Vec<String> {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let prose = page.prose();
    let targets = link.captures_iter(&prose).map(|found| found[1].to_owned());
    targets.filter(|target| !target.contains("://")).collect()
}

/// Returns the anchors of a page's headings, as mdBook and GitHub make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let page = Page { name: String::new(), text: text.to_owned() };
    let prose = page.prose();
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        kept.chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                '-' | '_' => Some(c),
                _ => c.is_alphanumeric().then_some(c),
            })
            .collect()
    };
    headings.map(anchor).collect()
}

fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                assert!(clean.pop(), "{} leaves the repository", path.display());
            }
            part => clean.push(part),
        }
    }
    clean
}

#[test]
fn every_link_leads_somewhere() {
    let mut n_links = 0;
    for page in pages() {
        for target in targets(&page) {
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let dir = Path::new(&page.name).parent().unwrap();
            let path =
                if file.is_empty() { PathBuf::from(&page.name) } else { without_dots(&dir.join(file)) };
            assert!(top().join(&path).exists(), "{}: {target} is not there", page.name);
            if !anchor.is_empty() {
                let there = anchors(&Page::read(path.to_str().unwrap()).text);
                assert!(there.contains(anchor), "{}: {target}: no such heading among {there:?}", page.name);
            }
            n_links += 1;
        }
    }
    assert!(n_links >= 30, "only {n_links} links were found");
}

#[test]
fn the_summary_lists_every_page_once() {
    let mut listed = targets(&Page::read(SUMMARY));
    listed.sort();
    let book = pages().into_iter().filter_map(|page| Some(page.name.strip_prefix("docs/src/")?.to_owned()));
    let book: Vec<_> = book.filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(listed, book);
}

#[test]
fn a_link_inside_the_book_stays_inside() {
    for page in pages().iter().filter(|page| page.name.starts_with("docs/src/")) {
        for target in targets(page) {
            let file = target.split('#').next().unwrap();
            let path = without_dots(&Path::new(&page.name).parent().unwrap().join(file));
            // What lies above docs/src is not in the book that a reader has before him.
            assert!(path.starts_with("docs/src"), "{}: {target} leaves the book", page.name);
        }
    }
}

#[test]
fn the_files_that_pages_name_are_there() {
    let name = Regex::new(
        r"`((?:src|crates|plugin|tests|grammars|benches|models|hooks|docs|\.ci)/[\w./-]*|LICENSE-\w+)`",
    )
    .unwrap();
    let pages = pages();
    let names: Vec<_> = pages
        .iter()
        .flat_map(|page| {
            let prose = page.prose();
            let found: Vec<_> = name.captures_iter(&prose).map(|found| found[1].to_owned()).collect();
            found.into_iter().map(|name| (&page.name, name))
        })
        .collect();
    assert!(names.len() >= 15, "{names:?}");
    for (page, name) in names {
        assert!(top().join(&name).exists(), "{page}: {name} does not exist");
    }
}

#[test]
fn a_page_for_users_is_short() {
    let short = |page: &Page| page.name.starts_with("docs/src/") && !page.name.contains("/reference/");
    for page in pages().iter().filter(|page| short(page) && page.name != SUMMARY) {
        let n_words = page.text.split_whitespace().count();
        assert!(n_words <= 1000, "{}: {n_words} words", page.name);
    }
}

#[test]
fn the_readme_is_short() {
    let n_lines = Page::read("README.md").text.lines().count();
    assert!(n_lines <= 150, "{n_lines} lines");
}

#[test]
fn anchors_are_made_as_mdbook_makes_them() {
    let text = "# What is indexed?\n```\n# no heading\n```\n## `memory.add`\n### A-b_c, d";
    let expected = ["a-b_c-d", "memoryadd", "what-is-indexed"].map(str::to_owned);
    assert_eq!(anchors(text), BTreeSet::from(expected));
}
