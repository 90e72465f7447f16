//! Imports the database of another memory system.
//!
//! The daemon reads a copy of the database page by page, because this program does not link SQLite.

use std::path::Path;

use memod_proto::exchange::{DatabaseParams, DatabaseResult};

use super::files::absolute;
use super::send::Sender;
use crate::error::CliError;

pub(super) fn read(system: &str, path: &Path, sender: &mut Sender<'_>) -> Result<(), CliError> {
    let path = absolute(path)?;
    sender.at(&path, "row");
    let mut params = DatabaseParams { caller: sender.caller(), path, system: system.to_owned(), after: None };
    loop {
        let page: DatabaseResult = sender.client().call("memory.read_database", &params)?;
        page.notes.into_iter().chain(page.notice).for_each(|note| sender.note(note));
        for draft in page.drafts {
            let name = draft.id.clone().or_else(|| draft.original.clone());
            sender.draft(draft, name)?;
        }
        for row in page.unreadable {
            sender.refuse(row.line, row.why.unwrap_or_default());
        }
        page.links.into_iter().for_each(|link| sender.link(link));
        match page.next {
            Some(next) => params.after = Some(next),
            None => return Ok(()),
        }
    }
}
