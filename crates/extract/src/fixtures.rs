//! Checks every language against its fixture.
//!
//! A fixture is `grammars/<lang>/fixture.<ext>`; its expected definitions and uses are in `grammars/<lang>/expected.txt`.
//! `MEMO_BLESS=1 cargo test -p memod-extract fixtures` writes the result; read the difference before you commit it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::lang::{self, Language};
use crate::c_family::ReadableCode;
use crate::components::{ComponentFormat, read_component};
use crate::definitions::outline::{DefinitionOutline, nest_tags};

#[test]
fn each_language_finds_what_its_fixture_expects() {
    let is_blessed = std::env::var_os("MEMO_BLESS").is_some();
    let mut differences = String::new();
    for language in &lang::LANGUAGES {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../grammars").join(language.name);
        let fixture = fixture(&directory);
        let found = found(language, &fs::read_to_string(&fixture).unwrap());
        let expected_path = directory.join("expected.txt");
        if is_blessed {
            fs::write(&expected_path, &found).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if found != expected {
            writeln!(differences, "{}:\n{}", language.name, difference(&expected, &found)).unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn each_fixture_is_recognised_by_its_name() {
    for language in &lang::LANGUAGES {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../grammars").join(language.name);
        let path = fixture(&directory);
        assert_eq!(lang::detect_format(path.to_str().unwrap(), ""), lang::FileFormat::Code(language));
    }
}

fn fixture(directory: &Path) -> PathBuf {
    let files = fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    let mut paths = files.map(|file| file.unwrap().path());
    paths
        .find(|path| path.file_stem().is_some_and(|stem| stem == "fixture"))
        .expect("each language has a fixture")
}

/// Returns one line per definition, in order, and one line per used name.
fn found(language: &'static Language, text: &str) -> String {
    let code = ReadableCode::prepare_text(language.name, text);
    let component = ComponentFormat::from_language(language.name).map(|format| read_component(format, text));
    let readable = component.as_ref().map_or(&*code.text, |component| &component.text);
    let mut tags = language.tag_query().unwrap().collect_tags(text, readable, |_| {}).unwrap();
    code.complete_tags(text, &mut tags);
    let mut lines = String::new();
    component.iter().for_each(|component| component.complete_tags(text, &mut tags));
    let mut outline = nest_tags(text, &tags, language.separator);
    if component.is_some() {
        outline.enclose_in_component("Fixture", text.len(), language.separator);
    }
    for id in &outline.roots {
        list(&mut lines, text, &outline, *id, 0);
    }
    for problem in &tags.problems {
        writeln!(lines, "problem: {problem}").unwrap();
    }
    let uses: Vec<_> = tags.uses.iter().map(|(name, n)| format!("{name} {n}")).collect();
    writeln!(lines, "\nuses\n{}", uses.join("\n")).unwrap();
    lines
}

fn list(lines: &mut String, text: &str, outline: &DefinitionOutline<'_>, id: usize, depth: usize) {
    let item = &outline.items[id];
    let [first, at, last] =
        [item.span.start, item.node.start, item.span.end].map(|byte| text[..byte].matches('\n').count() + 1);
    let indent = "  ".repeat(depth);
    let (kind, title) = (item.kind.as_str(), &item.title);
    writeln!(lines, "{indent}{kind} {title} {at} of {first}-{last}").unwrap();
    for child in &item.children {
        list(lines, text, outline, *child, depth + 1);
    }
}

/// Returns the lines that only one of the two texts has.
fn difference(expected: &str, found: &str) -> String {
    [missing_lines("-", expected, found), missing_lines("+", found, expected)].concat().join("\n")
}

/// Returns the lines of `these` that are not in `those`, with a mark.
fn missing_lines(mark: &str, these: &str, those: &str) -> Vec<String> {
    let missing = these.lines().filter(|line| !those.lines().any(|other| other == *line));
    missing.map(|line| format!("{mark} {line}")).collect()
}
