//! Writes the hits of sets to run files, which other programs can score.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf, absolute};

use memod_base::paths::{IoContext, canonicalize_path};
use memod_base::types::escape_for_display;
use memod_terminal::CliError;

use crate::bench_arm::BenchArm;
use crate::labelled_question::{HitSpan, QuestionCorpus};
use crate::question_sets::QuestionSet;

/// The folder for run files; without one, nothing is written.
pub(crate) struct RunFiles {
    dir: Option<PathBuf>,
    /// Files that this process has begun, to which the hits of further sets are appended.
    started: HashSet<PathBuf>,
}

impl RunFiles {
    pub(crate) fn new(dir: Option<PathBuf>) -> Self {
        Self { dir, started: HashSet::new() }
    }

    /// Deletes the files of a set that an earlier run has left, so that their hits are not mistaken for hits of this run.
    pub(crate) fn discard_old(&self, arms: &[BenchArm], set: &QuestionSet) -> Result<(), CliError> {
        for arm in arms {
            if let Some(file) = self.run_file_path(*arm, set).filter(|file| !self.started.contains(file)) {
                let removed = fs::remove_file(&file);
                if removed.as_ref().is_err_and(|error| error.kind() != ErrorKind::NotFound) {
                    removed.at("remove", &file)?;
                }
            }
        }
        Ok(())
    }

    /// Returns an error if the run files would be in this worktree.
    pub(crate) fn check_outside_worktree(&self, root: &Path) -> Result<(), CliError> {
        self.dir.as_ref().map_or(Ok(()), |dir| check_path_outside_worktree("--runs", dir, root))
    }

    /// Returns `DIR/<arm>/<set>.run`; for a set of [`QuestionCorpus::Hits`] `DIR/<arm>/<suite>.run`, which the sets of the suite
    /// share. `None` if no run files are written.
    fn run_file_path(&self, arm: BenchArm, set: &QuestionSet) -> Option<PathBuf> {
        let name = if matches!(set.corpus, QuestionCorpus::Hits) { &set.suite } else { &set.name };
        Some(self.dir.as_ref()?.join(arm.full_name()).join(format!("{name}.run")))
    }

    /// Writes the hits of a set to its run file.
    pub(crate) fn write(
        &mut self,
        arm: BenchArm,
        set: &QuestionSet,
        hits_by_question: &[Vec<HitSpan>],
    ) -> Result<(), CliError> {
        let Some(file) = self.run_file_path(arm, set) else { return Ok(()) };
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).at("create directory", folder)?;
        }
        let is_new = self.started.insert(file.clone());
        let mut open = OpenOptions::new();
        open.create(true).write(true).truncate(is_new).append(!is_new);
        let mut written = open.open(&file).at("create", &file)?;
        written.write_all(format_rows(set, hits_by_question).as_bytes()).at("write", &file)?;
        Ok(())
    }
}

/// Returns an error if the path of an option is in this worktree, because the file would be indexed and then found by questions.
pub(crate) fn check_path_outside_worktree(option: &str, path: &Path, root: &Path) -> Result<(), CliError> {
    let path = absolute(path).at("find", path)?;
    let existing = path.ancestors().find(|ancestor| ancestor.exists()).map(canonicalize_path).transpose()?;
    if !existing.is_some_and(|ancestor| ancestor.starts_with(root)) {
        return Ok(());
    }
    let message = format!("{option} {}: is inside the worktree that is searched", path.display());
    Err(CliError::Usage { message, hint: "name a path outside of the worktree" })
}

/// Returns the rows of a run file: `qid rank path#Lfirst-Llast score`, or `set qid rank path first last` for a set of
/// [`QuestionCorpus::Hits`], separated by tabs.
pub(crate) fn format_rows(set: &QuestionSet, hits_by_question: &[Vec<HitSpan>]) -> String {
    let mut rows = String::new();
    for (question, hits) in set.questions.iter().zip(hits_by_question) {
        for (rank, HitSpan { path, lines: (first, last), score, .. }) in (1..).zip(hits) {
            let (qid, path, name) = (&question.qid, escape_cell(path), escape_cell(&set.name));
            let _ = match set.corpus {
                QuestionCorpus::Hits => writeln!(rows, "{name}\t{qid}\t{rank}\t{path}\t{first}\t{last}"),
                _ => writeln!(rows, "{qid}\t{rank}\t{path}#L{first}-L{last}\t{score}"),
            };
        }
    }
    rows
}

/// Escapes a text for a cell, so that it has no tabs and newlines, which separate cells and rows.
fn escape_cell(text: &str) -> String {
    escape_for_display(text).replace('\t', "\\t")
}
