//! Finds the worktree in which a set is asked, and the answers that this worktree lacks.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;

use memod_base::paths::canonicalize_path;
use memod_terminal::{CliError, CommandContext};

use crate::labelled_question::{LabelSpan, LabelledQuestion, QuestionCorpus, RecordLabel, to_file_name};
use crate::page_headings::PageHeadings;
use crate::question_sets::QuestionSet;

/// Finds the worktree of a set in the folder `trees`: `<suite>/<set>` or `<set>`.
///
/// # Errors
/// When neither exists, or it is not the top of a worktree.
pub(crate) fn find_worktree_of_set(set: &QuestionSet, trees: &Path) -> Result<CommandContext, CliError> {
    let places = [trees.join(&set.suite).join(&set.name), trees.join(&set.name)];
    let Some(dir) = places.iter().find(|dir| dir.is_dir()) else {
        let [longer, shorter] = places.map(|place| place.display().to_string());
        let origin = set.origin.as_ref().map(|origin| format!(" ({origin})")).unwrap_or_default();
        return Err(missing_tree_error(format!(
            "no worktree for the set {}{origin}: neither {longer} nor {shorter} exists",
            set.name
        )));
    };
    let context = CommandContext::find(Some(dir))?;
    if context.layout.root != canonicalize_path(dir)? || !dir.join(".git").exists() {
        return Err(missing_tree_error(format!("{}: not a worktree", dir.display())));
    }
    Ok(context)
}

fn missing_tree_error(message: String) -> CliError {
    let hint = "create it there with `git worktree add`, or copy its files there and run `git init && git add -A && git commit -m snapshot`";
    CliError::Usage { message, hint }
}

/// Returns the glob of the paths to which a question is restricted; `None` if it is asked in the whole worktree.
pub(crate) fn build_haystack_glob(question: &LabelledQuestion, corpus: &QuestionCorpus) -> Option<String> {
    let haystack = question.haystack.as_deref()?;
    Some(match corpus {
        QuestionCorpus::Texts { .. } => format!("{}/**", to_file_name(haystack)),
        _ => format!("{}/**", globset::escape(haystack.trim_end_matches('/'))),
    })
}

/// Replaces the anchors in answers by the lines of their sections, and returns the answers that are not in the worktree.
///
/// `indexed` has the paths of the index; no other file is read. In a corpus [`QuestionCorpus::Hits`], an answer may be only the
/// end of a path.
pub(crate) fn resolve_labels(set: &mut QuestionSet, root: &Path, indexed: &[String]) -> Vec<String> {
    let files = map_records_to_files(&set.corpus);
    let findable = findable_paths(&set.corpus, indexed);
    let each_hit_counts = matches!(set.corpus, QuestionCorpus::Hits);
    let mut pages: HashMap<String, Option<PageHeadings>> = HashMap::new();
    let mut missing = BTreeSet::new();
    for question in &mut set.questions {
        let n_relevant = question.relevant.len();
        for (nth, label) in question.relevant.iter_mut().chain(&mut question.exclude).enumerate() {
            if let LabelSpan::Anchor(anchor) = &label.span {
                let page = pages.entry(label.path.clone()).or_insert_with(|| {
                    let is_findable = findable.contains(label.path.as_str());
                    is_findable.then(|| read_headings(root, &label.path)).flatten()
                });
                let section = page.as_ref().and_then(|page| page.find_section(anchor));
                label.span =
                    section.map_or(label.span.clone(), |(first, last)| LabelSpan::Section(first, last));
            }
            let is_found = match each_hit_counts {
                true => indexed.iter().any(|path| label.names_path(path)),
                false => is_in_tree(label, &findable, &files),
            };
            if nth < n_relevant && !is_found {
                missing.insert(label.id.clone());
            }
        }
    }
    missing.into_iter().collect()
}

/// Returns whether the file of a label is among the paths that hits may have, and its section exists.
fn is_in_tree(label: &RecordLabel, findable: &HashSet<&str>, files: &HashMap<&str, String>) -> bool {
    let path = files.get(label.id.as_str()).unwrap_or(&label.path);
    !matches!(label.span, LabelSpan::Anchor(_)) && findable.contains(path.as_str())
}

/// Returns the paths that hits may have: the indexed paths, restricted to the candidates if the set names some.
fn findable_paths<'i>(corpus: &QuestionCorpus, indexed: &'i [String]) -> HashSet<&'i str> {
    let candidates = match corpus {
        QuestionCorpus::Files(candidates) => candidates.as_ref(),
        _ => None,
    };
    let paths = indexed.iter().filter(|path| candidates.is_none_or(|candidates| candidates.contains(*path)));
    paths.map(String::as_str).collect()
}

fn read_headings(root: &Path, path: &str) -> Option<PageHeadings> {
    fs::read_to_string(root.join(path)).ok().map(|page| PageHeadings::parse_page(&page))
}

/// Returns the file of each record by the id of the record; none if the records are files or hits.
fn map_records_to_files(corpus: &QuestionCorpus) -> HashMap<&str, String> {
    match corpus {
        QuestionCorpus::Hits | QuestionCorpus::Files(_) => HashMap::new(),
        QuestionCorpus::Sections(pages) => {
            let ids =
                pages.iter().flat_map(|(path, sections)| sections.iter().map(move |(_, id)| (id, path)));
            ids.map(|(id, path)| (id.as_str(), path.clone())).collect()
        }
        QuestionCorpus::Texts { files, .. } => {
            files.values().filter_map(|id| Some((id.as_str(), corpus.text_path(id)?))).collect()
        }
    }
}
