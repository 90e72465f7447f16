//! Restricts a search to kinds of chunks, and to formats, paths and classes of files.

pub mod restriction;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use memod_base::types::{ChunkKind, ClassSet, IdSet};

/// The conditions that every hit must satisfy.
#[derive(Clone, Debug, Default)]
pub struct SearchFilter {
    /// Admitted kinds of chunks; empty for all.
    pub kinds: Vec<ChunkKind>,
    /// Names of admitted formats; empty for all.
    pub langs: Vec<String>,
    /// Names of excluded formats.
    pub not_langs: Vec<String>,
    /// Lists of globs over worktree-relative paths. A path must match a glob of each list; empty for all paths.
    pub paths: Vec<PathGlobs>,
    /// Globs over excluded paths.
    pub not_paths: PathGlobs,
    /// Sets of classes. A file must have a class of each set; empty for all files.
    pub required_classes: Vec<ClassSet>,
    /// Classes of excluded files.
    pub excluded_classes: ClassSet,
    /// Ids of the admitted chunks; `None` for all.
    pub chunks: Option<IdSet>,
}

/// Globs over worktree-relative paths.
#[derive(Clone, Debug, Default)]
pub struct PathGlobs {
    set: GlobSet,
    /// The globs as typed.
    written: Vec<String>,
}

impl PathGlobs {
    /// Returns whether there are no globs.
    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Returns whether one of the globs matches a path.
    pub(crate) fn is_match(&self, path: &str) -> bool {
        self.set.is_match(path)
    }
}

/// The conditions of a filter on files. Two filters with equal conditions admit the same files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileConditions {
    langs: [Vec<String>; 2],
    paths: Vec<Vec<String>>,
    not_paths: Vec<String>,
    required_classes: Vec<ClassSet>,
    excluded_classes: ClassSet,
}

/// An invalid glob.
#[derive(Debug, thiserror::Error)]
#[error("{glob}: {reason}")]
pub struct GlobError {
    /// The glob as typed.
    glob: String,
    /// Why the glob is invalid.
    reason: globset::ErrorKind,
}

impl SearchFilter {
    /// Restricts the filter further, to the chunks in `set`.
    pub fn restrict_to_chunks(&mut self, set: IdSet) {
        match &mut self.chunks {
            Some(chunks) => chunks.intersect_with(&set),
            None => self.chunks = Some(set),
        }
    }

    /// Returns whether the filter restricts neither formats nor paths nor classes.
    pub(crate) fn admits_all_contents(&self) -> bool {
        self.langs.is_empty()
            && self.not_langs.is_empty()
            && self.paths.is_empty()
            && self.not_paths.is_empty()
            && self.required_classes.is_empty()
            && self.excluded_classes.is_empty()
    }

    /// Returns the conditions of the filter on files.
    pub(crate) fn file_conditions(&self) -> FileConditions {
        FileConditions {
            langs: [self.langs.clone(), self.not_langs.clone()],
            paths: self.paths.iter().map(|globs| globs.written.clone()).collect(),
            not_paths: self.not_paths.written.clone(),
            required_classes: self.required_classes.clone(),
            excluded_classes: self.excluded_classes,
        }
    }

    /// Returns whether the filter admits a kind of chunk.
    pub(crate) fn admits_kind(&self, kind: ChunkKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Returns whether the filter admits a format.
    pub(crate) fn admits_lang(&self, lang: &str) -> bool {
        (self.langs.is_empty() || self.langs.iter().any(|admitted| admitted == lang))
            && !self.not_langs.iter().any(|refused| refused == lang)
    }

    /// Returns whether the filter admits both a path of a file and the classes of the file.
    pub(crate) fn admits_file(&self, path: &str, classes: ClassSet) -> bool {
        self.required_classes.iter().all(|wanted| wanted.intersects(classes))
            && !self.excluded_classes.intersects(classes)
            && self.admits_path(path)
    }

    /// Returns whether the filter admits a path, regardless of the classes of the file.
    pub fn admits_path(&self, path: &str) -> bool {
        self.paths.iter().all(|globs| globs.is_match(path)) && !self.not_paths.is_match(path)
    }

    /// Returns whether the filter admits commits. Commits have no path and no class, so a filter that requires a path or a class
    /// excludes commits. A filter that only excludes paths or classes admits them.
    pub(crate) fn admits_commits(&self) -> bool {
        self.paths.is_empty() && self.required_classes.is_empty()
    }

    /// Returns all classes in the sets of required classes.
    pub(crate) fn wanted_classes(&self) -> ClassSet {
        self.required_classes.iter().fold(ClassSet::default(), |all, wanted| all.union(*wanted))
    }
}

/// Compiles globs over worktree-relative paths. A glob with a `/` starts at the root of the worktree, and a glob without matches at
/// any depth.
///
/// # Errors
/// When a glob is invalid.
pub fn compile_globs(globs: &[String]) -> Result<PathGlobs, GlobError> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let from_top = match glob.strip_prefix('/') {
            Some(from_top) => from_top.to_owned(),
            None if glob.contains('/') => glob.clone(),
            None => format!("**/{glob}"),
        };
        set.add(
            GlobBuilder::new(&from_top)
                .literal_separator(true)
                .build()
                .map_err(|error| glob_error(glob, &error))?,
        );
        // A directory matches everything below it, as in `git log -- dir`.
        set.add(
            GlobBuilder::new(&format!("{}/**", from_top.trim_end_matches('/')))
                .build()
                .map_err(|error| glob_error(glob, &error))?,
        );
    }
    let set = set.build().map_err(|error| glob_error(&globs.join(" "), &error))?;
    Ok(PathGlobs { set, written: globs.to_vec() })
}

fn glob_error(glob: &str, error: &globset::Error) -> GlobError {
    GlobError { glob: glob.to_owned(), reason: error.kind().clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(globs: &[&str]) -> Result<PathGlobs, GlobError> {
        compile_globs(&globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_bad_glob_is_shown_as_it_was_given() {
        for glob in ["[", "a/[b", "{a"] {
            let error = globs(&["*.rs", glob]).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{glob}: unclosed")), "{error}");
        }
    }

    #[test]
    fn a_name_with_brackets_matches_at_any_depth() {
        let admits = |glob: &str, path: &str| globs(&[glob]).unwrap().is_match(path);
        assert!(admits("{[[]slug[]],[slug]}", "app/[slug]/page.tsx"));
        assert!(admits("{[[][[]...rest[]][]],[[...rest]]}", "app/(shop)/[[...rest]]/page.tsx"));
        assert!(!admits("{[[]slug[]],[slug]}", "app/slug/page.tsx"));
    }

    #[test]
    fn every_list_of_globs_must_match_and_none_of_those_left_out() {
        let (paths, not_paths) = (vec![globs(&["src", "*.md"]).unwrap()], globs(&["**/old/**"]).unwrap());
        let mut filter = SearchFilter { paths, not_paths, ..SearchFilter::default() };
        let admitted = |filter: &SearchFilter| {
            ["src/a.rs", "src/old/a.rs", "b/c.md", "b/c.rs"]
                .map(|path| filter.admits_file(path, ClassSet::default()))
        };
        assert_eq!(admitted(&filter), [true, false, true, false]);
        assert!(!filter.admits_commits());
        filter.paths.push(globs(&["*.md"]).unwrap());
        assert_eq!(admitted(&filter), [false, false, true, false]);
        let left_out = SearchFilter { not_paths: globs(&["**"]).unwrap(), ..SearchFilter::default() };
        assert!(left_out.admits_commits() && !left_out.admits_file("a", ClassSet::default()));
    }
}
