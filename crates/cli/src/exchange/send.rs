//! Sends drafts to the daemon in batches and collects the outcomes.
//!
//! Each batch is one transaction, so that the daemon can serve other requests in between.

use std::collections::HashMap;

use memod_client::Client;
use memod_proto::exchange::{
    Draft, ImportParams, ImportResult, ImportStatus, Imported, LinkDraft, MOST_DRAFTS, Snapshot,
};
use memod_proto::memory::Caller;
use memod_proto::{Caveats, MAX_DEPTH, depth};
use serde::Serialize;

use crate::args::ImportArgs;
use crate::context::CommandContext;
use crate::error::CliError;
use crate::memories::caller;
use crate::output::Output;
use crate::text::{behind, count};

/// Size of a batch, bytes of JSON. Even with the largest draft it is far below the daemon's limit on a line.
const BATCH_BYTES: usize = 1 << 20;
/// Largest draft, bytes of JSON; no valid memory is larger.
const MOST_DRAFT: usize = 4 << 20;
/// Deepest nesting of a draft, which itself is nested in the params of a call.
const MOST_DEPTH: usize = MAX_DEPTH - 3;
/// Longest id or kind of a link, bytes.
const MOST_NAME: usize = 1 << 10;
/// Most drafts of a batch; this many take some tens of milliseconds.
const BATCH: usize = 500;

/// An entry that was refused.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Refusal {
    /// The file.
    pub(super) place: String,
    /// The line, entry, row or conversation in the file, 1-based; 0 stands for the whole file.
    pub(super) line: u64,
    /// What `line` counts.
    #[serde(skip)]
    unit: &'static str,
    /// The existing memory that conflicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    pub(super) why: String,
}

/// The outcome of an import.
#[derive(Debug, Default, Serialize)]
pub(super) struct Done {
    pub(super) dry_run: bool,
    pub(super) added: u64,
    pub(super) updated: u64,
    pub(super) same: u64,
    pub(super) older: u64,
    pub(super) archived: u64,
    pub(super) links: u64,
    pub(super) redacted: u64,
    pub(super) refused: Vec<Refusal>,
    pub(super) notes: Vec<String>,
}

impl Done {
    pub(super) fn show(&self, output: &mut Output) -> Result<(), CliError> {
        output.value(self, |output| self.print(output))
    }

    fn print(&self, output: &mut Output) -> Result<(), CliError> {
        for Refusal { place, line, unit, why, .. } in &self.refused {
            let line = if *line > 0 { format!("{unit} {line}: ") } else { String::new() };
            output.warn(&format!("{place}: {line}{why}"));
        }
        self.notes.iter().for_each(|note| output.say(note));
        let parts = [
            (self.added, "added"),
            (self.updated, "updated"),
            (self.same, "there already"),
            (self.older, "newer here"),
            (self.archived, "archived, gone from the source"),
            (self.links, "links"),
            (self.redacted, "private parts cut out"),
            (self.refused.len() as u64, "refused"),
        ];
        let parts: Vec<_> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let parts = if parts.is_empty() { "nothing to import".to_owned() } else { parts.join(", ") };
        let would = if self.dry_run { "nothing was changed; it would be: " } else { "" };
        output.line(&format!("{would}{parts}"))
    }
}

/// Collects drafts and sends them.
pub(super) struct Sender<'a> {
    context: &'a CommandContext,
    client: Client,
    typed: &'a ImportArgs,
    place: String,
    unit: &'static str,
    drafts: Vec<Draft>,
    n_bytes: usize,
    /// The ids that the drafts of the batch have in their source.
    names: Vec<Option<String>>,
    /// The ids that they have here.
    ids: HashMap<String, String>,
    links: Vec<LinkDraft>,
    snapshot: Option<Snapshot>,
    n_batches: usize,
    done: Done,
}

impl<'a> Sender<'a> {
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
            done: Done { dry_run: typed.dry_run, ..Done::default() },
        })
    }

    /// Sets the file of the next drafts, and the unit that `line` counts in it.
    pub(super) fn at(&mut self, place: &str, unit: &'static str) {
        (self.place, self.unit) = (place.to_owned(), unit);
    }

    /// Begins a source; it lasts until [`Self::end_snapshot`].
    pub(super) fn snapshot(&mut self, key: String) {
        self.snapshot = Some(Snapshot { key, run: run(), is_last: false });
    }

    pub(super) fn caller(&self) -> Caller {
        caller(self.context)
    }

    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Adds a draft; links refer to it by `name`.
    pub(super) fn draft(&mut self, mut draft: Draft, name: Option<String>) -> Result<(), CliError> {
        if let Some(container) = &self.typed.container {
            draft.container = Some(container.clone());
        }
        draft.tags.extend(self.typed.tag.iter().cloned());
        let json = serde_json::to_string(&draft).expect("our own types have string keys");
        // The daemon would reject the whole batch with a draft that it cannot parse.
        if json.len() > MOST_DRAFT {
            self.refuse(draft.line, format!("over {} MiB", MOST_DRAFT >> 20));
            return Ok(());
        }
        if depth(&json) > MOST_DEPTH {
            self.refuse(draft.line, format!("nested deeper than {MOST_DEPTH}"));
            return Ok(());
        }
        self.n_bytes += json.len();
        self.drafts.push(draft);
        self.names.push(name);
        if self.drafts.len() >= BATCH || self.n_bytes >= BATCH_BYTES { self.send() } else { Ok(()) }
    }

    /// Adds a link; links are sent after all memories.
    pub(super) fn link(&mut self, link: LinkDraft) {
        let created = link.created.as_deref().unwrap_or_default();
        if [&*link.source, &*link.target, &*link.kind, created].iter().any(|name| name.len() > MOST_NAME) {
            return self.refuse(link.line, format!("a name over {MOST_NAME} bytes"));
        }
        self.links.push(link);
    }

    /// Records an entry that cannot be sent.
    pub(super) fn refuse(&mut self, line: u64, why: impl Into<String>) {
        self.refused(Imported { line, fate: ImportStatus::Refused, id: None, why: Some(why.into()) });
    }

    pub(super) fn note(&mut self, note: String) {
        if !self.done.notes.contains(&note) {
            self.done.notes.push(note);
        }
    }

    fn refused(&mut self, imported: Imported) {
        let Imported { line, id, why, .. } = imported;
        let (place, unit) = (self.place.clone(), self.unit);
        self.done.refused.push(Refusal { place, line, unit, id, why: why.unwrap_or_default() });
    }

    fn params(&self) -> ImportParams {
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

    fn send(&mut self) -> Result<(), CliError> {
        let params = ImportParams { drafts: std::mem::take(&mut self.drafts), ..self.params() };
        self.n_bytes = 0;
        self.n_batches += 1;
        let result: ImportResult = self.client.call("memory.import", &params)?;
        let names = std::mem::take(&mut self.names);
        for (name, imported) in names.into_iter().zip(&result.drafts) {
            if let (Some(name), Some(id)) = (name, &imported.id) {
                self.ids.insert(name, id.clone());
            }
        }
        self.count(result);
        Ok(())
    }

    /// Adds the outcome of a batch.
    pub(super) fn count(&mut self, result: ImportResult) {
        self.done.archived += result.archived;
        self.done.redacted += result.redacted;
        result.notes.into_iter().for_each(|note| self.note(note));
        for imported in result.drafts {
            match imported.fate {
                ImportStatus::Added => self.done.added += 1,
                ImportStatus::Updated => self.done.updated += 1,
                ImportStatus::Same => self.done.same += 1,
                ImportStatus::Older => self.done.older += 1,
                ImportStatus::Refused => self.refused(imported),
            }
        }
        for imported in result.links {
            match imported.fate {
                ImportStatus::Refused => self.refused(imported),
                ImportStatus::Added => self.done.links += 1,
                _ => {}
            }
        }
        let Caveats { fresh, reason, notice } = result.caveats;
        let behind = (!fresh).then(|| behind(reason.as_deref()));
        behind.into_iter().chain(notice).for_each(|text| self.note(text));
    }

    /// Ends a source: the daemon archives what it no longer has.
    pub(super) fn end_snapshot(&mut self) -> Result<(), CliError> {
        if self.typed.dry_run && self.n_batches > 0 {
            self.note("a dry run of so many does not count what would be archived".to_owned());
            return self.send();
        }
        if let Some(snapshot) = &mut self.snapshot {
            snapshot.is_last = true;
        }
        self.send()?;
        self.snapshot = None;
        self.n_batches = 0;
        Ok(())
    }

    /// Sends the remaining drafts, then the links; returns the outcome.
    pub(super) fn end(mut self) -> Result<Done, CliError> {
        if !self.drafts.is_empty() {
            self.send()?;
        }
        if self.typed.dry_run && !self.links.is_empty() {
            self.note(format!(
                "{} not looked at in a dry run",
                count(self.links.len() as u64, "link", "links")
            ));
        } else {
            self.send_links()?;
        }
        self.done.refused.sort_by(|a, b| (&a.place, a.line).cmp(&(&b.place, b.line)));
        Ok(self.done)
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
            let params = ImportParams { links: batch.to_vec(), ..self.params() };
            let result: ImportResult = self.client.call("memory.import", &params)?;
            self.count(result);
        }
        Ok(())
    }
}

/// Returns a number that is unique to this import.
pub(super) fn run() -> i64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id()).cast_signed()
}
