//! Caches the languages, manifests and programs of each worktree.

use std::collections::HashMap;
use std::sync::Arc;

use memod_base::types::{ClassSet, FileClass, WorktreeId};
use memod_database::DatabaseError;
use memod_extract::lang::FormatGroup;
use memod_index_db::{IndexReader, SourceFile};
use memod_search::paths::class_rules;

use crate::daemon::shared::worktree_cache::{CacheValue, WorktreeCache};

/// Maximum memory of all surveys together, bytes.
const MOST_BYTES: usize = 4 << 20;
/// Maximum number of paths in a list; only a hostile project has more.
const MOST_PATHS: usize = 1_000;
/// Names of files that are listed even below the top: manifests, and READMEs in case the top has none.
const FILES_BELOW_TOP: [&str; 5] =
    ["Cargo.toml", "package.json", "pyproject.toml", "README.md", "README.rst"];
/// Maximum number of folders above such a file.
const MOST_DEPTH: usize = 3;
/// Folders and files that configure CI services.
const CI: [&str; 7] = [
    ".github/workflows/",
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    ".woodpecker.yml",
    ".forgejo/workflows/",
];
/// Languages whose programs begin with a function `main`.
const WITH_MAIN: [&str; 9] = ["c", "c-sharp", "cpp", "go", "haskell", "java", "kotlin", "rust", "zig"];
/// Classes of files that are not the project's own code.
const FOREIGN_CLASSES: [FileClass; 5] =
    [FileClass::Fixture, FileClass::Generated, FileClass::Lock, FileClass::Snapshot, FileClass::Vendored];
/// Classes of files whose programs and manifests are only for the developers of the project.
const DEVELOPER_CLASSES: [FileClass; 3] = [FileClass::Benchmark, FileClass::Example, FileClass::Test];

/// The languages, manifests and programs of a project, from the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::daemon) struct ProjectSurvey {
    /// Bytes of the project's own code in each language, the largest number first.
    pub(in crate::daemon) languages: Vec<(String, u64)>,
    /// Files at the top, manifests below it, and files that configure CI services, ordered by path.
    pub(in crate::daemon) manifests: Vec<String>,
    /// Files with the entry point of a program, and their languages.
    pub(in crate::daemon) programs: Vec<(String, String)>,
}

/// Caches the surveys of worktrees.
pub(in crate::daemon) struct SurveyCache(WorktreeCache<CachedSurvey>);

/// The survey of a worktree as it is in a snapshot.
#[derive(Clone)]
struct CachedSurvey {
    /// Epoch and sequence number of the worktree.
    clock: Option<(i64, u64)>,
    /// Number of contents that had been extracted again by then.
    n_replaced: u64,
    survey: Arc<ProjectSurvey>,
}

impl CacheValue for CachedSurvey {
    fn size_bytes(&self) -> usize {
        const PATH: usize = 64; // estimated memory of one path
        PATH * (self.survey.manifests.len() + 2 * self.survey.programs.len() + self.survey.languages.len())
    }
}

impl Default for SurveyCache {
    fn default() -> Self {
        Self(WorktreeCache::new(MOST_BYTES))
    }
}

impl SurveyCache {
    /// Forgets all surveys.
    pub(in crate::daemon) fn clear(&self) {
        self.0.retain_worktrees(&[]);
    }

    /// Returns the survey of a worktree in the snapshot of `reader`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(in crate::daemon) fn current_survey(
        &self,
        reader: &IndexReader,
        view: WorktreeId,
    ) -> Result<Arc<ProjectSurvey>, DatabaseError> {
        let clock = reader.find_worktree(view)?.map(|row| (row.epoch, row.seq));
        let n_replaced = reader.n_extracted_again()?;
        let kept = self.0.update_value(view, |former| -> Result<_, DatabaseError> {
            let survey = match former {
                Some(kept) if kept.clock == clock && kept.n_replaced == n_replaced => kept.survey,
                _ => {
                    self.0.retain_worktrees(&reader.list_worktrees()?);
                    Arc::new(survey_worktree(reader, view)?)
                }
            };
            Ok(CachedSurvey { clock, n_replaced, survey })
        })?;
        Ok(kept.survey)
    }
}

fn survey_worktree(reader: &IndexReader, view: WorktreeId) -> Result<ProjectSurvey, DatabaseError> {
    let (mut survey, mut sizes) = (ProjectSurvey::default(), HashMap::new());
    let (others, for_developers) =
        (ClassSet::from_classes(&FOREIGN_CLASSES), ClassSet::from_classes(&DEVELOPER_CLASSES));
    let not_own = others.union(for_developers);
    reader.each_file(view, |file| {
        let is_code = FormatGroup::from_format_name(file.lang) == FormatGroup::Code;
        let is_manifest = is_manifest(file.path);
        if !is_code && !is_manifest {
            return;
        }
        let classes = class_rules::classes_by_path(file.path).iter().chain(file.class).collect::<ClassSet>();
        if is_code && !classes.intersects(others) {
            add_size(&mut sizes, file);
        }
        let is_at_top = !file.path.contains('/');
        if is_manifest && survey.manifests.len() < MOST_PATHS && (is_at_top || !classes.intersects(not_own)) {
            survey.manifests.push(file.path.to_owned());
        }
        if file.path.ends_with("/__main__.py") && !classes.intersects(not_own) {
            survey.programs.push((file.path.to_owned(), file.lang.to_owned()));
        }
    })?;
    let mains = reader.find_files_defining(view, "main")?.into_iter().filter(|(path, lang)| {
        let is_own = !class_rules::classes_by_path(path).intersects(not_own) && !is_fuzz(path);
        WITH_MAIN.contains(&lang.as_str()) && is_own
    });
    survey.programs.extend(mains);
    survey.programs.truncate(MOST_PATHS);
    survey.languages = sizes.into_iter().collect();
    survey.languages.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    Ok(survey)
}

/// Adds the size of a file to that of its language.
fn add_size(sizes: &mut HashMap<String, u64>, file: SourceFile<'_>) {
    match sizes.get_mut(file.lang) {
        Some(size) => *size += file.size,
        None => drop(sizes.insert(file.lang.to_owned(), file.size)),
    }
}

/// Returns whether a file may describe the project or say how it is built.
fn is_manifest(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else { return true };
    let is_below = FILES_BELOW_TOP.contains(&name) && folder.split('/').count() <= MOST_DEPTH;
    is_below && !is_fuzz(path) || CI.iter().any(|ci| path.starts_with(ci))
}

/// Returns whether a path is that of a fuzz target.
fn is_fuzz(path: &str) -> bool {
    path.split('/').any(|part| part == "fuzz")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_at_the_top_and_in_packages() {
        for (path, expected) in [
            ("README.md", true),
            ("packages/web/package.json", true),
            ("a/b/c/Cargo.toml", true),
            ("a/b/c/d/Cargo.toml", false),
            ("src/main.rs", false),
            (".github/workflows/test.yml", true),
            ("a/.gitlab-ci.yml", false),
            ("fuzz/Cargo.toml", false),
        ] {
            assert_eq!(is_manifest(path), expected, "{path}");
        }
    }
}
