//! Reports what an exchange of files of memories has changed.

use serde::Serialize;

use super::notes_files::Unfit;
use crate::error::{CliError, CliResult, EXIT_FAILED};
use crate::output::Output;
use crate::text::{count, escape};

/// Most things that [`list_unfit`] lists.
const TOLD: usize = 10;

/// What an exchange has changed: paths of files.
#[derive(Default, Serialize)]
pub(super) struct Exchanged {
    /// New or changed in the worktree.
    pub(super) came: Vec<String>,
    /// Removed from the worktree.
    pub(super) removed: Vec<String>,
    /// New or changed at the remote.
    pub(super) sent: Vec<String>,
    /// Removed from the remote.
    pub(super) removed_there: Vec<String>,
    /// Ids of files that one has changed and another one has removed: they stay.
    pub(super) kept: Vec<String>,
    /// Ids of files that had vanished here, and are back.
    pub(super) restored: Vec<String>,
    /// Files that others may not have. Nothing was sent if there is one.
    pub(super) refused: Vec<Unfit>,
    /// What others may not have in former states of the files. It was not sent, and nothing here refers to it any more.
    pub(super) left_out: Vec<Unfit>,
    pub(super) remote: Option<String>,
}

impl Exchanged {
    /// Prints what came, and says the rest; exits with 3 if something was not sent.
    pub(super) fn print(&self, output: &mut Output) -> CliResult {
        output.value(self, |output| self.print_text(output))?;
        Ok(if self.refused.is_empty() { 0 } else { EXIT_FAILED })
    }

    fn print_text(&self, output: &mut Output) -> Result<(), CliError> {
        for path in &self.came {
            output.line(&escape(path))?;
        }
        output.flush()?;
        if !self.restored.is_empty() {
            output.say(&format!(
                "back, because nobody has forgotten them: {}; `memo sync-notes --removed` removes them for everybody",
                self.restored.join(", ")
            ));
        }
        if !self.kept.is_empty() {
            output.say(&format!("changed by one and removed by another, kept: {}", self.kept.join(", ")));
        }
        if !self.left_out.is_empty() {
            output.say(&format!(
                "not sent, former states that others may not have: {}; the exchange begins anew with the files as they are",
                list_unfit(&self.left_out)
            ));
        }
        for path in &self.removed {
            output.say(&format!("removed, because another one has forgotten it: {}", escape(path)));
        }
        if !self.refused.is_empty() {
            output.say(&format!("others may not have {}", list_unfit(&self.refused)));
            output.say("correct or remove that (`rm`, then `memo sync-notes --removed`), and exchange again");
        }
        output.say(&self.summary());
        Ok(())
    }

    fn summary(&self) -> String {
        let files = |n: usize| count(n as u64, "file", "files");
        let came = match &self.remote {
            _ if !self.refused.is_empty() => format!("{} came, nothing was sent", files(self.came.len())),
            Some(remote) => {
                let (came, sent) = (files(self.came.len()), files(self.sent.len()));
                format!("{came} came, {sent} sent to {}", escape(remote))
            }
            None => format!("{} came from other worktrees; there is no remote", files(self.came.len())),
        };
        let places = [("here", self.removed.len()), ("there", self.removed_there.len())];
        let removed = places.into_iter().filter(|(_, n)| *n > 0);
        let removed: Vec<String> = removed.map(|(place, n)| format!("{n} {place}")).collect();
        match removed.is_empty() {
            true => came,
            false => format!("{came}; removed: {}", removed.join(", ")),
        }
    }
}

/// Lists what others may not have, each with the reason.
pub(super) fn list_unfit(unfit: &[Unfit]) -> String {
    let one = |unfit: &Unfit| format!("{} ({})", escape(&unfit.path), escape(&unfit.why));
    let mut listed: Vec<String> = unfit.iter().take(TOLD).map(one).collect();
    listed.dedup();
    if unfit.len() > TOLD {
        listed.push(format!("{} more", unfit.len() - TOLD));
    }
    listed.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_is_no_file_that_came_or_was_sent() {
        let names = |n: usize| vec!["x.md".to_owned(); n];
        let remote = Some("origin".to_owned());
        let unfit = Unfit { path: "x.md".to_owned(), why: "content".to_owned() };
        let cases = [
            (Exchanged::default(), "0 files came from other worktrees; there is no remote"),
            (
                Exchanged { came: names(1), sent: names(2), remote: remote.clone(), ..Exchanged::default() },
                "1 file came, 2 files sent to origin",
            ),
            (
                Exchanged { removed_there: names(1), remote: remote.clone(), ..Exchanged::default() },
                "0 files came, 0 files sent to origin; removed: 1 there",
            ),
            (
                Exchanged { removed: names(2), removed_there: names(1), remote, ..Exchanged::default() },
                "0 files came, 0 files sent to origin; removed: 2 here, 1 there",
            ),
            (
                Exchanged { came: names(1), refused: vec![unfit], ..Exchanged::default() },
                "1 file came, nothing was sent",
            ),
        ];
        for (exchanged, expected) in cases {
            assert_eq!(exchanged.summary(), expected);
        }
    }
}
