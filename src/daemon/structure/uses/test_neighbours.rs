//! Finds the documents that name a definition, and the manifest that says how tests run.

use std::collections::{BTreeMap, HashSet};

use memod_base::types::{ClassSet, FileClass, is_compound, last_part, parent_dir};
use memod_engine::errors::RpcResult;
use memod_proto::NeighbourLine;
use memod_structure::resolve::FileNumber;

use super::answer_texts::MOST_CHARS;
use super::match_tests_by_name::NameMatcher;
use super::question_targets::QuestionTargets;
use super::test_texts::TestTexts;
use super::worktree_structures::WorktreeStructures;

/// Maximum numbers of requested names that are looked for, and of documents that are listed.
const MOST_NAMES: usize = 20;
const MOST_DOCUMENTS: usize = 3;
/// Shortest name that documents mention on purpose, if it has only one word.
const LEAST_CHARS: usize = 5;
/// Classes of documents that mention everything.
const UNTELLING_CLASSES: [FileClass; 6] = [
    FileClass::Changelog,
    FileClass::Licence,
    FileClass::Translation,
    FileClass::Vendored,
    FileClass::Fixture,
    FileClass::Generated,
];
/// Manifests, each with the text of the line that says how tests run.
const MANIFESTS: [(&str, &str); 4] = [
    ("package.json", "\"test\":"),
    ("pyproject.toml", "[tool.pytest"),
    ("tox.ini", "commands"),
    ("Cargo.toml", "[[test]]"),
];

/// Returns the documents that name most of the targets, and the manifest around the first target that says how tests run.
pub(super) fn find_neighbours(
    structures: &WorktreeStructures<'_>,
    texts: &mut TestTexts<'_>,
    targets: &QuestionTargets,
    matcher: &NameMatcher,
) -> RpcResult<Vec<NeighbourLine>> {
    let names: HashSet<&str> = targets.definitions.iter().map(|(_, found)| last_part(&found.title)).collect();
    let is_telling = |name: &&&str| is_compound(name) || name.chars().count() >= LEAST_CHARS;
    let mut names: Vec<&str> = names.iter().filter(is_telling).copied().collect();
    names.sort_unstable();
    names.truncate(MOST_NAMES);
    let mut n_named: BTreeMap<FileNumber, usize> = BTreeMap::new();
    for name in &names {
        for file in structures.find_files_with_name(name)? {
            let classes = structures.chunks.path_classes(structures.paths.path_of(file));
            let is_told = classes.contains(FileClass::Docs)
                && !classes.intersects(ClassSet::from_classes(&UNTELLING_CLASSES));
            if is_told {
                *n_named.entry(file).or_default() += 1;
            }
        }
    }
    let mut documents: Vec<(FileNumber, usize)> = n_named.into_iter().collect();
    documents.sort_by_key(|(file, n)| {
        let path = structures.paths.path_of(*file);
        (std::cmp::Reverse(*n), matcher.count_dirs_between(path))
    });
    let mut found = Vec::new();
    for (file, _) in documents {
        if found.len() == MOST_DOCUMENTS {
            break;
        }
        let has_name = |line: &str| names.iter().any(|name| has_word(line, name));
        found.extend(find_line(structures, texts, file, has_name)?);
    }
    if let Some((key, _)) = targets.definitions.first() {
        found.extend(find_manifest(structures, texts, key.as_str())?);
    }
    Ok(found)
}

/// Returns the line of the nearest manifest above a path that says how tests run.
fn find_manifest(
    structures: &WorktreeStructures<'_>,
    texts: &mut TestTexts<'_>,
    path: &str,
) -> RpcResult<Option<NeighbourLine>> {
    for dir in std::iter::successors(Some(parent_dir(path)), |dir| (!dir.is_empty()).then(|| parent_dir(dir)))
    {
        for (name, start) in MANIFESTS {
            let path = if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
            let Some(file) = structures.paths.number_of(&path) else { continue };
            let is_told = |line: &str| line.trim_start().starts_with(start);
            if let Some(found) = find_line(structures, texts, file, is_told)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// Returns the first line of a file that `is_wanted` selects.
fn find_line(
    structures: &WorktreeStructures<'_>,
    texts: &mut TestTexts<'_>,
    file: FileNumber,
    is_wanted: impl Fn(&str) -> bool,
) -> RpcResult<Option<NeighbourLine>> {
    let path = structures.paths.path_of(file);
    let Some(lines) = texts.read_lines(structures, file)? else { return Ok(None) };
    let found = (1..).zip(lines.raw_lines()).find(|(_, line)| is_wanted(line));
    Ok(found.map(|(line, text)| NeighbourLine {
        path: path.to_owned(),
        cwd_path: None,
        line,
        text: text.trim().chars().take(MOST_CHARS).collect(),
    }))
}

/// Returns whether a line has a name as a whole word; a name that is an ordinary word, only as code is written: `parse`, parse(, x.parse.
fn has_word(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_plain = !is_compound(name) && !name.contains(|c: char| c.is_uppercase() || c == '_');
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let is_code = before.ends_with(['`', '.', '#', ':']) || after.starts_with(['`', '(']);
        !before.ends_with(is_part) && !after.starts_with(is_part) && (is_code || !is_plain)
    })
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn an_ordinary_word_is_a_name_only_as_code() {
        let check =
            |line: &str, name: &str, expected: bool| assert_eq!(has_word(line, name), expected, "{line}");
        check("when the error handler runs", "error", false);
        check("call `error` or error(1)", "error", true);
        check("see app.error", "error", true);
        check("Flask starts it", "Flask", true);
        check("use make_response here", "make_response", true);
        check("use make_responses here", "make_response", false);
    }
}
