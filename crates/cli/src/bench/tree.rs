//! Finds the worktree that a set is asked in, and what of its answers is there.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;

use memod_base::paths::canonical;

use super::headings::Headings;
use super::labels::{Corpus, Label, Question, Span, file_name};
use super::question_sets::QuestionSet;
use crate::context::CommandContext;
use crate::error::CliError;

/// Finds the worktree of a set in the folder of trees: `<suite>/<set>` or `<set>`.
pub(super) fn find(set: &QuestionSet, trees: &Path) -> Result<CommandContext, CliError> {
    let places = [trees.join(&set.suite).join(&set.name), trees.join(&set.name)];
    let Some(dir) = places.iter().find(|dir| dir.is_dir()) else {
        let [longer, shorter] = places.map(|place| place.display().to_string());
        let origin = set.origin.as_ref().map(|origin| format!(" ({origin})")).unwrap_or_default();
        return Err(no_tree(format!(
            "no tree of {}{origin}: neither {longer} nor {shorter} is there",
            set.name
        )));
    };
    let context = CommandContext::find(Some(dir))?;
    if context.layout.root != canonical(dir)? || !dir.join(".git").exists() {
        return Err(no_tree(format!("{}: not a worktree", dir.display())));
    }
    Ok(context)
}

fn no_tree(message: String) -> CliError {
    let hint = "make a worktree of it there with `git worktree add`, or write its files and `git init && git add -A && git commit -m snapshot`";
    CliError::Usage { message, hint }
}

/// Returns the glob of the paths that a question asks.
pub(super) fn haystack_glob(question: &Question, corpus: &Corpus) -> Option<String> {
    let haystack = question.haystack.as_deref()?;
    Some(match corpus {
        Corpus::Texts { .. } => format!("{}/**", file_name(haystack)),
        _ => format!("{}/**", globset::escape(haystack.trim_end_matches('/'))),
    })
}

/// Gives the sections that are answers their lines in the tree, and returns the answers that are not in it. `indexed` has the
/// paths of the index, and nothing else is read: where each hit counts, an answer may be the end of one.
pub(super) fn resolve(set: &mut QuestionSet, root: &Path, indexed: &[String]) -> Vec<String> {
    let files = files_of_records(&set.corpus);
    let findable = findable(&set.corpus, indexed);
    let of_hits = matches!(set.corpus, Corpus::Hits);
    let mut pages: HashMap<String, Option<Headings>> = HashMap::new();
    let mut missing = BTreeSet::new();
    for question in &mut set.questions {
        let n_relevant = question.relevant.len();
        for (nth, label) in question.relevant.iter_mut().chain(&mut question.exclude).enumerate() {
            if let Span::Anchor(anchor) = &label.span {
                let headings = || findable.contains(label.path.as_str()).then(|| headings(root, &label.path));
                let page = pages.entry(label.path.clone()).or_insert_with(|| headings().flatten());
                let found = page.as_ref().and_then(|page| page.section(anchor));
                label.span = found.map_or(label.span.clone(), |(first, last)| Span::Section(first, last));
            }
            let is_found = match of_hits {
                true => indexed.iter().any(|path| label.names(path)),
                false => is_there(label, &findable, &files),
            };
            if nth < n_relevant && !is_found {
                missing.insert(label.id.clone());
            }
        }
    }
    missing.into_iter().collect()
}

fn is_there(label: &Label, findable: &HashSet<&str>, files: &HashMap<&str, String>) -> bool {
    let path = files.get(label.id.as_str()).unwrap_or(&label.path);
    !matches!(label.span, Span::Anchor(_)) && findable.contains(path.as_str())
}

/// Returns the paths that hits may be of: of the index, and where a set names candidates, those of them.
fn findable<'i>(corpus: &Corpus, indexed: &'i [String]) -> HashSet<&'i str> {
    let is_candidate = |path: &&String| match corpus {
        Corpus::Files(Some(candidates)) => candidates.contains(*path),
        _ => true,
    };
    indexed.iter().filter(is_candidate).map(String::as_str).collect()
}

fn headings(root: &Path, path: &str) -> Option<Headings> {
    fs::read_to_string(root.join(path)).ok().map(|page| Headings::of(&page))
}

/// Returns the file of each record that is not one itself.
fn files_of_records(corpus: &Corpus) -> HashMap<&str, String> {
    match corpus {
        Corpus::Hits | Corpus::Files(_) => HashMap::new(),
        Corpus::Sections(pages) => {
            let ids =
                pages.iter().flat_map(|(path, sections)| sections.iter().map(move |(_, id)| (id, path)));
            ids.map(|(id, path)| (id.as_str(), path.clone())).collect()
        }
        Corpus::Texts { files, .. } => {
            files.values().filter_map(|id| Some((id.as_str(), corpus.text_path(id)?))).collect()
        }
    }
}
