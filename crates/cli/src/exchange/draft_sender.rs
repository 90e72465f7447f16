//! Sends drafts, the memories to import, to the daemon in batches and collects the outcomes.
//!
//! Each batch is one transaction. The daemon can serve other requests between two batches.

use std::collections::HashMap;

use memod_client::Client;
use memod_proto::exchange::{
    Draft, ImportOutcome, ImportParams, ImportResult, ImportStatus, LinkDraft, MOST_DRAFTS, Snapshot,
};
use memod_proto::memory::Caller;
use memod_proto::{Caveats, MAX_JSON_DEPTH, max_nesting_depth};
use memod_terminal::text::{format_count, not_up_to_date_message};
use memod_terminal::{CliError, CommandContext, Output};
use serde::Serialize;

use crate::args::ImportArgs;
use crate::memories::new_caller;

/// Size from which a batch is sent, bytes of JSON. Even with the largest draft, a batch is far below the daemon's limit on a line.
const MAX_BATCH_BYTES: usize = 1 << 20;
/// Largest draft, bytes of JSON; no valid memory is larger.
const MAX_DRAFT_BYTES: usize = 4 << 20;
/// Deepest nesting of a draft. Less than the limit on a request, because a draft is nested in the params of a call.
const MAX_DRAFT_DEPTH: usize = MAX_JSON_DEPTH - 3;
/// Longest id or kind of a link, bytes.
const MAX_NAME_BYTES: usize = 1 << 10;
/// Most drafts of a batch. The daemon takes some tens of milliseconds to import this many.
const MAX_BATCH_DRAFTS: usize = 500;

/// An entry that was refused.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct RefusedEntry {
    /// Path of the file, or `stdin`.
    pub(super) place: String,
    /// The line, entry, row or conversation in the file, 1-based; 0 for the whole file.
    pub(super) line: u64,
    /// The unit of `line`, such as `row`.
    #[serde(skip)]
    unit: &'static str,
    /// The existing memory that conflicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    pub(super) why: String,
}

/// The outcome of an import.
#[derive(Debug, Default, Serialize)]
pub(super) struct ImportSummary {
    pub(super) dry_run: bool,
    pub(super) added: u64,
    pub(super) updated: u64,
    pub(super) same: u64,
    pub(super) older: u64,
    pub(super) archived: u64,
    pub(super) links: u64,
    pub(super) redacted: u64,
    pub(super) refused: Vec<RefusedEntry>,
    pub(super) notes: Vec<String>,
}

impl ImportSummary {
    /// Prints the summary, or writes it as JSON.
    pub(super) fn print_summary(&self, output: &mut Output) -> Result<(), CliError> {
        output.write_result(self, |output| self.print_summary_text(output))
    }

    fn print_summary_text(&self, output: &mut Output) -> Result<(), CliError> {
        for RefusedEntry { place, line, unit, why, .. } in &self.refused {
            let line = if *line > 0 { format!("{unit} {line}: ") } else { String::new() };
            output.write_warning(&format!("{place}: {line}{why}"));
        }
        self.notes.iter().for_each(|note| output.write_note(note));
        let parts = [
            (self.added, "added"),
            (self.updated, "updated"),
            (self.same, "there already"),
            (self.older, "older than the memory here"),
            (self.archived, "archived, because the source no longer has them"),
            (self.links, "links"),
            (self.redacted, "private parts cut out"),
            (self.refused.len() as u64, "refused"),
        ];
        let parts: Vec<_> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, outcome)| format!("{n} {outcome}")).collect();
        let parts = if parts.is_empty() { "nothing to import".to_owned() } else { parts.join(", ") };
        let would =
            if self.dry_run { "dry run, nothing was changed; the import would result in: " } else { "" };
        output.write_line(&format!("{would}{parts}"))
    }
}

/// Collects drafts and sends them.
pub(super) struct DraftSender<'a> {
    context: &'a CommandContext,
    client: Client,
    typed: &'a ImportArgs,
    place: String,
    unit: &'static str,
    drafts: Vec<Draft>,
    n_bytes: usize,
    /// The ids of the drafts of the batch in their source.
    names: Vec<Option<String>>,
    /// The ids of the imported memories in this repository, by their ids in the source.
    ids: HashMap<String, String>,
    links: Vec<LinkDraft>,
    snapshot: Option<Snapshot>,
    n_batches: usize,
    summary: ImportSummary,
}

impl<'a> DraftSender<'a> {
    pub(super) fn new(typed: &'a ImportArgs, context: &'a CommandContext) -> Result<Self, CliError> {
        Ok(Self {
            context,
            client: context.connect()?,
            typed,
            place: String::new(),
            unit: "line",
            drafts: Vec::new(),
            n_bytes: 0,
            names: Vec::new(),
            ids: HashMap::new(),
            links: Vec::new(),
            snapshot: None,
            n_batches: 0,
            summary: ImportSummary { dry_run: typed.dry_run, ..ImportSummary::default() },
        })
    }

    /// Sets the file of the next drafts, and the unit that `line` counts in it.
    pub(super) fn set_source(&mut self, place: &str, unit: &'static str) {
        (self.place, self.unit) = (place.to_owned(), unit);
    }

    /// Begins a source whose drafts replace those of an earlier import; [`Self::end_snapshot`] ends it.
    pub(super) fn begin_snapshot(&mut self, key: String) {
        self.snapshot = Some(Snapshot { key, run: random_run_id(), is_last: false });
    }

    pub(super) fn caller(&self) -> Caller {
        new_caller(self.context)
    }

    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Adds a draft, and sends a batch if enough drafts are waiting. Links refer to the draft by `name`.
    pub(super) fn add_draft(&mut self, mut draft: Draft, name: Option<String>) -> Result<(), CliError> {
        if let Some(container) = &self.typed.container {
            draft.container = Some(container.clone());
        }
        draft.tags.extend(self.typed.tag.iter().cloned());
        let json = serde_json::to_string(&draft).expect("our own types have string keys");
        // The daemon would reject the whole batch with a draft that it cannot parse.
        if json.len() > MAX_DRAFT_BYTES {
            self.refuse_entry(draft.line, format!("over {} MiB", MAX_DRAFT_BYTES >> 20));
            return Ok(());
        }
        if max_nesting_depth(&json) > MAX_DRAFT_DEPTH {
            self.refuse_entry(draft.line, format!("nested deeper than {MAX_DRAFT_DEPTH}"));
            return Ok(());
        }
        self.n_bytes += json.len();
        self.drafts.push(draft);
        self.names.push(name);
        if self.drafts.len() >= MAX_BATCH_DRAFTS || self.n_bytes >= MAX_BATCH_BYTES {
            self.send_batch()
        } else {
            Ok(())
        }
    }

    /// Adds a link. Links are sent after all drafts.
    pub(super) fn add_link(&mut self, link: LinkDraft) {
        let created = link.created.as_deref().unwrap_or_default();
        if [&*link.source, &*link.target, &*link.kind, created].iter().any(|name| name.len() > MAX_NAME_BYTES)
        {
            return self.refuse_entry(link.line, format!("an id, kind or time over {MAX_NAME_BYTES} bytes"));
        }
        self.links.push(link);
    }

    /// Records that an entry of the file was refused, and why.
    pub(super) fn refuse_entry(&mut self, line: u64, why: impl Into<String>) {
        self.record_refusal(ImportOutcome {
            line,
            fate: ImportStatus::Refused,
            id: None,
            why: Some(why.into()),
        });
    }

    pub(super) fn add_note(&mut self, note: String) {
        if !self.summary.notes.contains(&note) {
            self.summary.notes.push(note);
        }
    }

    fn record_refusal(&mut self, imported: ImportOutcome) {
        let ImportOutcome { line, id, why, .. } = imported;
        let (place, unit) = (self.place.clone(), self.unit);
        self.summary.refused.push(RefusedEntry { place, line, unit, id, why: why.unwrap_or_default() });
    }

    fn import_params(&self) -> ImportParams {
        let typed = self.typed;
        ImportParams {
            caller: self.caller(),
            snapshot: self.snapshot.clone(),
            merge: typed.merge,
            own: typed.own,
            allow_secret: typed.allow_secret,
            dry_run: typed.dry_run,
            ..ImportParams::default()
        }
    }

    fn send_batch(&mut self) -> Result<(), CliError> {
        let params = ImportParams { drafts: std::mem::take(&mut self.drafts), ..self.import_params() };
        self.n_bytes = 0;
        self.n_batches += 1;
        let result: ImportResult = self.client.call("memory.import", &params)?;
        let names = std::mem::take(&mut self.names);
        for (name, imported) in names.into_iter().zip(&result.drafts) {
            if let (Some(name), Some(id)) = (name, &imported.id) {
                self.ids.insert(name, id.clone());
            }
        }
        self.add_import_result(result);
        Ok(())
    }

    /// Adds the outcome of a request to the summary.
    pub(super) fn add_import_result(&mut self, result: ImportResult) {
        self.summary.archived += result.archived;
        self.summary.redacted += result.redacted;
        result.notes.into_iter().for_each(|note| self.add_note(note));
        for imported in result.drafts {
            match imported.fate {
                ImportStatus::Added => self.summary.added += 1,
                ImportStatus::Updated => self.summary.updated += 1,
                ImportStatus::Same => self.summary.same += 1,
                ImportStatus::Older => self.summary.older += 1,
                ImportStatus::Refused => self.record_refusal(imported),
            }
        }
        for imported in result.links {
            match imported.fate {
                ImportStatus::Refused => self.record_refusal(imported),
                ImportStatus::Added => self.summary.links += 1,
                _ => {}
            }
        }
        let Caveats { fresh, reason, notice } = result.caveats;
        let behind = (!fresh).then(|| not_up_to_date_message(reason.as_deref()));
        behind.into_iter().chain(notice).for_each(|text| self.add_note(text));
    }

    /// Sends the remaining drafts of a source and ends it. The daemon archives the memories that the source no longer has.
    pub(super) fn end_snapshot(&mut self) -> Result<(), CliError> {
        if self.typed.dry_run && self.n_batches > 0 {
            let note = "a dry run of more than one batch does not count the memories that would be archived";
            self.add_note(note.to_owned());
            return self.send_batch();
        }
        if let Some(snapshot) = &mut self.snapshot {
            snapshot.is_last = true;
        }
        self.send_batch()?;
        self.snapshot = None;
        self.n_batches = 0;
        Ok(())
    }

    /// Sends the remaining drafts, then the links. Returns the summary of the import.
    pub(super) fn finish_import(mut self) -> Result<ImportSummary, CliError> {
        if !self.drafts.is_empty() {
            self.send_batch()?;
        }
        if self.typed.dry_run && !self.links.is_empty() {
            self.add_note(format!(
                "{} not checked in a dry run",
                format_count(self.links.len() as u64, "link", "links")
            ));
        } else {
            self.send_links()?;
        }
        self.summary.refused.sort_by(|a, b| (&a.place, a.line).cmp(&(&b.place, b.line)));
        Ok(self.summary)
    }

    fn send_links(&mut self) -> Result<(), CliError> {
        let mut links = std::mem::take(&mut self.links);
        for link in &mut links {
            for end in [&mut link.source, &mut link.target] {
                if let Some(id) = self.ids.get(end) {
                    end.clone_from(id);
                }
            }
        }
        for batch in links.chunks(MOST_DRAFTS) {
            let params = ImportParams { links: batch.to_vec(), ..self.import_params() };
            let result: ImportResult = self.client.call("memory.import", &params)?;
            self.add_import_result(result);
        }
        Ok(())
    }
}

/// Returns a random number that identifies one import of a source.
pub(super) fn random_run_id() -> i64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id()).cast_signed()
}
