//! Writes what was found as files that other programs can score.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf, absolute};

use memod_base::paths::{IoContext, canonical};
use memod_base::types::escape;

use super::asking::Arm;
use super::labels::{Corpus, FoundSpan};
use super::question_sets::QuestionSet;
use crate::error::CliError;

/// The folder for them; without one, nothing is written.
pub(super) struct RunFiles {
    dir: Option<PathBuf>,
    /// Files of this run, which further sets are added to.
    begun: HashSet<PathBuf>,
}

impl RunFiles {
    pub(super) fn new(dir: Option<PathBuf>) -> Self {
        Self { dir, begun: HashSet::new() }
    }

    /// Deletes what another run left of a set, so that hits of then are not taken for hits of now.
    pub(super) fn discard(&self, arms: &[Arm], set: &QuestionSet) -> Result<(), CliError> {
        for arm in arms {
            if let Some(file) = self.file(*arm, set).filter(|file| !self.begun.contains(file)) {
                let removed = fs::remove_file(&file);
                if removed.as_ref().is_err_and(|error| error.kind() != ErrorKind::NotFound) {
                    removed.at("remove", &file)?;
                }
            }
        }
        Ok(())
    }

    /// Fails if the files would be in this worktree.
    pub(super) fn check_outside(&self, root: &Path) -> Result<(), CliError> {
        self.dir.as_ref().map_or(Ok(()), |dir| check_outside("--runs", dir, root))
    }

    /// Returns `DIR/<arm>/<set>.run`; of a set whose hits count one by one `<suite>.run`, which its other sets share.
    fn file(&self, arm: Arm, set: &QuestionSet) -> Option<PathBuf> {
        let name = if matches!(set.corpus, Corpus::Hits) { &set.suite } else { &set.name };
        Some(self.dir.as_ref()?.join(arm.name()).join(format!("{name}.run")))
    }

    /// Writes the hits of a set.
    pub(super) fn write(
        &mut self,
        arm: Arm,
        set: &QuestionSet,
        found: &[Vec<FoundSpan>],
    ) -> Result<(), CliError> {
        let Some(file) = self.file(arm, set) else { return Ok(()) };
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).at("create directory", folder)?;
        }
        let is_new = self.begun.insert(file.clone());
        let mut open = OpenOptions::new();
        open.create(true).write(true).truncate(is_new).append(!is_new);
        let mut written = open.open(&file).at("create", &file)?;
        written.write_all(rows(set, found).as_bytes()).at("write", &file)?;
        Ok(())
    }
}

/// Fails if what an option names would be in this worktree: the index would have it, and the next question would find it.
pub(super) fn check_outside(option: &str, named: &Path, root: &Path) -> Result<(), CliError> {
    let named = absolute(named).at("find", named)?;
    let existing = named.ancestors().find(|above| above.exists()).map(canonical).transpose()?;
    if !existing.is_some_and(|above| above.starts_with(root)) {
        return Ok(());
    }
    let message = format!("{option} {}: is in the worktree whose index is asked", named.display());
    Err(CliError::Usage { message, hint: "name a place outside of it" })
}

/// Returns `qid rank path#Lfirst-Llast score`, or `set qid rank path first last`, with tabs between.
pub(super) fn rows(set: &QuestionSet, found: &[Vec<FoundSpan>]) -> String {
    let mut rows = String::new();
    for (question, hits) in set.questions.iter().zip(found) {
        for (rank, FoundSpan { path, lines: (first, last), score, .. }) in (1..).zip(hits) {
            let (qid, path, name) = (&question.qid, cell(path), cell(&set.name));
            let _ = match set.corpus {
                Corpus::Hits => writeln!(rows, "{name}\t{qid}\t{rank}\t{path}\t{first}\t{last}"),
                _ => writeln!(rows, "{qid}\t{rank}\t{path}#L{first}-L{last}\t{score}"),
            };
        }
    }
    rows
}

/// Returns a text for a cell: without tabs and newlines, which part cells and rows.
fn cell(text: &str) -> String {
    escape(text).replace('\t', "\\t")
}
