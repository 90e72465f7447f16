//! Imports the database of another memory system.
//!
//! The daemon reads a copy of the database page by page, because this program does not link SQLite.

use std::path::Path;

use memod_proto::exchange::{DatabaseParams, DatabaseResult};
use memod_terminal::CliError;

use super::draft_sender::DraftSender;
use super::limited_files::canonical_string;

/// Sends the rows of a database, page by page.
pub(super) fn import_database(
    system: &str,
    path: &Path,
    sender: &mut DraftSender<'_>,
) -> Result<(), CliError> {
    let path = canonical_string(path)?;
    sender.set_source(&path, "row");
    let mut params = DatabaseParams { caller: sender.caller(), path, system: system.to_owned(), after: None };
    loop {
        let page: DatabaseResult = sender.client().call("memory.read_database", &params)?;
        page.notes.into_iter().chain(page.notice).for_each(|note| sender.add_note(note));
        for draft in page.drafts {
            let name = draft.id.clone().or_else(|| draft.original.clone());
            sender.add_draft(draft, name)?;
        }
        for row in page.unreadable {
            sender.refuse_entry(row.line, row.why.unwrap_or_default());
        }
        page.links.into_iter().for_each(|link| sender.add_link(link));
        match page.next {
            Some(next) => params.after = Some(next),
            None => return Ok(()),
        }
    }
}
