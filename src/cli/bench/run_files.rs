//! Writes what was found as files that other programs can score.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use super::labels::{Corpus, Place};
use super::question_sets::QuestionSet;
use crate::cli::error::CliError;
use crate::paths::IoContext;

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

    /// Writes the hits of a set to `DIR/<arm>/<set>.run`. Those of a set whose hits count one by one go to `<suite>.run`, which
    /// its other sets share.
    pub(super) fn write(
        &mut self,
        arm: &str,
        set: &QuestionSet,
        found: &[Vec<Place>],
    ) -> Result<(), CliError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let folder = dir.join(arm);
        fs::create_dir_all(&folder).at("create directory", &folder)?;
        let of_hits = matches!(set.corpus, Corpus::Hits);
        let file = folder.join(format!("{}.run", if of_hits { &set.suite } else { &set.name }));
        let is_new = self.begun.insert(file.clone());
        let mut open = OpenOptions::new();
        open.create(true).write(true).truncate(is_new).append(!is_new);
        let mut written = open.open(&file).at("create", &file)?;
        written.write_all(rows(set, found).as_bytes()).at("write", &file)?;
        Ok(())
    }
}

/// Returns `qid rank path#Lfirst-Llast score`, or `set qid rank path first last`, with tabs between.
pub(super) fn rows(set: &QuestionSet, found: &[Vec<Place>]) -> String {
    let mut rows = String::new();
    for (question, places) in set.questions.iter().zip(found) {
        for (rank, Place { path, lines: (first, last), score, .. }) in (1..).zip(places) {
            let qid = &question.qid;
            let _ = match set.corpus {
                Corpus::Hits => writeln!(rows, "{}\t{qid}\t{rank}\t{path}\t{first}\t{last}", set.name),
                _ => writeln!(rows, "{qid}\t{rank}\t{path}#L{first}-L{last}\t{score}"),
            };
        }
    }
    rows
}
