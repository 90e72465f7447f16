//! Reports the changes of an exchange of memory files.

use memod_terminal::text::{escape_for_display, format_count};
use memod_terminal::{CliError, CliResult, EXIT_FAILED, Output};
use serde::Serialize;

use super::notes_files::UnsendableItem;

/// Most entries that [`format_refused_list`] lists.
const MOST_LISTED: usize = 10;

/// The paths that an exchange changed.
#[derive(Default, Serialize)]
pub(super) struct ExchangeReport {
    /// New or changed in the worktree.
    pub(super) came: Vec<String>,
    /// Removed from the worktree.
    pub(super) removed: Vec<String>,
    /// New or changed at the remote.
    pub(super) sent: Vec<String>,
    /// Removed from the remote.
    pub(super) removed_there: Vec<String>,
    /// Ids of the memories whose files one side changed and another removed. These files stay.
    pub(super) kept: Vec<String>,
    /// Ids of the memories whose files had vanished from the worktree and were restored.
    pub(super) restored: Vec<String>,
    /// Files that may not be sent to others. If there is one, nothing was sent.
    pub(super) refused: Vec<UnsendableItem>,
    /// Objects of the history that may not be sent to others. They were not sent, and the new history does not have them.
    pub(super) left_out: Vec<UnsendableItem>,
    pub(super) remote: Option<String>,
}

impl ExchangeReport {
    /// Prints the paths that came on stdout, and the rest of the report on stderr. Exits with 3 if something may not be sent.
    pub(super) fn print_report(&self, output: &mut Output) -> CliResult {
        output.write_result(self, |output| self.print_text(output))?;
        Ok(if self.refused.is_empty() { 0 } else { EXIT_FAILED })
    }

    fn print_text(&self, output: &mut Output) -> Result<(), CliError> {
        for path in &self.came {
            output.write_line(&escape_for_display(path))?;
        }
        output.flush()?;
        if !self.restored.is_empty() {
            output.write_note(&format!(
                "restored, because they were not removed with memo: {}; `memo share sync --removed` removes them for everybody",
                self.restored.join(", ")
            ));
        }
        if !self.kept.is_empty() {
            output.write_note(&format!(
                "kept, because one side changed and the other removed them: {}",
                self.kept.join(", ")
            ));
        }
        if !self.left_out.is_empty() {
            output.write_note(&format!(
                "not sent, because others may not see these parts of the history: {}; memo starts a new history with the current files",
                format_refused_list(&self.left_out)
            ));
        }
        for path in &self.removed {
            output.write_note(&format!(
                "removed, because it was removed elsewhere: {}",
                escape_for_display(path)
            ));
        }
        if !self.refused.is_empty() {
            output.write_note(&format!(
                "not sent, because others may not see these: {}",
                format_refused_list(&self.refused)
            ));
            output.write_note("correct the file, or remove it (`rm`, then `memo share sync --removed`), and run `memo share sync` again");
        }
        output.write_note(&self.summary_line());
        Ok(())
    }

    fn summary_line(&self) -> String {
        let came = match &self.remote {
            _ if !self.refused.is_empty() => {
                format!("{} came, nothing was sent", format_files(self.came.len()))
            }
            Some(remote) => {
                let (came, sent) = (format_files(self.came.len()), format_files(self.sent.len()));
                format!("{came} came, {sent} sent to {}", escape_for_display(remote))
            }
            None => {
                format!("{} came from other worktrees; there is no remote", format_files(self.came.len()))
            }
        };
        let counts = [("here", self.removed.len()), ("there", self.removed_there.len())];
        let removed = counts.into_iter().filter(|(_, n)| *n > 0);
        let removed: Vec<String> = removed.map(|(side, n)| format!("{n} {side}")).collect();
        match removed.is_empty() {
            true => came,
            false => format!("{came}; removed: {}", removed.join(", ")),
        }
    }
}

fn format_files(n: usize) -> String {
    format_count(n as u64, "file", "files")
}

/// Returns a list of objects that may not be sent to others, each with the reason, in one line.
pub(super) fn format_refused_list(refused: &[UnsendableItem]) -> String {
    let first = refused.iter().take(MOST_LISTED);
    let mut listed: Vec<String> = first
        .map(|object| format!("{} ({})", escape_for_display(&object.path), escape_for_display(&object.why)))
        .collect();
    listed.dedup();
    if refused.len() > MOST_LISTED {
        listed.push(format!("{} more", refused.len() - MOST_LISTED));
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
        let unfit = UnsendableItem { path: "x.md".to_owned(), why: "content".to_owned() };
        let cases = [
            (ExchangeReport::default(), "0 files came from other worktrees; there is no remote"),
            (
                ExchangeReport {
                    came: names(1),
                    sent: names(2),
                    remote: remote.clone(),
                    ..ExchangeReport::default()
                },
                "1 file came, 2 files sent to origin",
            ),
            (
                ExchangeReport {
                    removed_there: names(1),
                    remote: remote.clone(),
                    ..ExchangeReport::default()
                },
                "0 files came, 0 files sent to origin; removed: 1 there",
            ),
            (
                ExchangeReport {
                    removed: names(2),
                    removed_there: names(1),
                    remote,
                    ..ExchangeReport::default()
                },
                "0 files came, 0 files sent to origin; removed: 2 here, 1 there",
            ),
            (
                ExchangeReport { came: names(1), refused: vec![unfit], ..ExchangeReport::default() },
                "1 file came, nothing was sent",
            ),
        ];
        for (exchanged, expected) in cases {
            assert_eq!(exchanged.summary_line(), expected);
        }
    }
}
