//! Stores imported memories.
//!
//! Each request is one transaction. An invalid draft is refused with a reason, and the others are stored.

use std::collections::HashMap;

use memod_embed::is_quantized_unit;
use memod_engine::errors::RpcResult;
use memod_memory::{Refused, fields, id, text, time};
use memod_memory_db::{Derived, Link, Linked, MemoryEvent, Record, Rows, Stopped};
use memod_proto::Caveats;
use memod_proto::anchor::Anchor;
use memod_proto::exchange::{
    Draft, ImportParams, ImportResult, ImportStatus, Imported, KeysParams, KeysResult, LinkDraft,
    MOST_DRAFTS, Snapshot,
};
use memod_proto::memory::{LinkKind, StoredVector};
use serde_json::{Map, Value, json};

use super::documents::drafts;
use super::file_write::{begin, check_as_file};
use super::keeper::derive;
use super::rules::{Done, bad, refused};
use super::stamp::Stamp;
use super::transaction::{Call, model_id};
use super::{links, show};
use crate::daemon::request::blocking;
use crate::daemon::request::error::bad_params;
use crate::daemon::shared::Shared;

pub(super) async fn import(call: &Call<'_>) -> RpcResult<Value> {
    let params: ImportParams = call.params()?;
    let given: Map<String, Value> = call.params()?;
    if !["drafts", "memories", "links", "snapshot"].iter().any(|name| given.contains_key(*name)) {
        return Err(bad_params(
            "drafts: missing; send memories as `drafts`, or a page of `memory.export` as it is",
        ));
    }
    let is_any = params.drafts.iter().any(|draft| draft.vector.is_some());
    let kind = if is_any { VectorKind::in_use(call).await? } else { None };
    let run = move |rows: &Rows<'_>, params: &ImportParams, stamp: &Stamp| {
        checked(rows, params, stamp, kind.as_ref())
    };
    call.write_or_rehearse_of(params, run).await
}

/// Which vectors can be stored.
struct VectorKind {
    /// Identity of the model.
    model: String,
    dims: usize,
}

impl VectorKind {
    /// Returns that of the model whose vectors memories have; `None` if it cannot be used.
    async fn in_use(call: &Call<'_>) -> RpcResult<Option<Self>> {
        let model = model_id(call.shared).await?;
        // It may have to be loaded.
        let dims = |shared: &Shared| Ok(shared.memories.finder.model().ok().map(|model| model.dims()));
        Ok(blocking(call.shared, dims).await?.map(|dims| Self { model, dims }))
    }

    /// Returns whether the model can have made a vector of the text of a memory.
    fn fits(&self, vector: &StoredVector, record: &Record) -> bool {
        vector.model == self.model
            && vector.int8.len() == self.dims
            && is_quantized_unit(&vector.int8)
            && vector.text_hash == text::vector_hash(record.title.as_deref(), &record.content)
    }
}

fn checked(
    rows: &Rows<'_>,
    params: &ImportParams,
    stamp: &Stamp,
    kind: Option<&VectorKind>,
) -> Done<ImportResult> {
    if params.drafts.len().max(params.links.len()) > MOST_DRAFTS {
        let message = format!("drafts, links: more than {MOST_DRAFTS} at once");
        return Err(refused(message, "send them in several requests"));
    }
    take(rows, params, stamp, kind)
}

/// Imports a document. It is split before the thread that owns the memories is involved.
pub(super) async fn markdown(call: &Call<'_>) -> RpcResult<Value> {
    let params = call.params()?;
    let (params, notes) = blocking(call.shared, move |_| drafts(params).map_err(bad_params)).await?;
    let run = |rows: &Rows<'_>, params: &ImportParams, stamp: &Stamp| take(rows, params, stamp, None);
    let mut answer = call.write_or_rehearse_of(params, run).await?;
    answer["notes"] = json!(notes);
    Ok(answer)
}

/// Stores any number of drafts.
fn take(
    rows: &Rows<'_>,
    params: &ImportParams,
    stamp: &Stamp,
    kind: Option<&VectorKind>,
) -> Done<ImportResult> {
    if let Some(snapshot) = &params.snapshot {
        fields::validate_key(&snapshot.key).map_err(bad)?;
    }
    let import = Import { rows, params, stamp, ids: ids_by_ending(rows, params)? };
    let (mut result, mut n_remade) = (ImportResult::default(), 0);
    for draft in &params.drafts {
        let imported = match import.record(draft) {
            Ok((record, n_redacted)) => {
                result.redacted += n_redacted as u64;
                let imported = match &params.snapshot {
                    Some(snapshot) => import.put_of_source(record, snapshot)?,
                    None => import.put(record, draft)?,
                };
                if let (Some(vector), Some(id), true) = (&draft.vector, &imported.id, imported.is_stored())
                    && !import.put_vector(id, vector, kind)?
                {
                    n_remade += 1;
                }
                imported
            }
            Err(why) => refusal(with_hint(&why)),
        };
        result.drafts.push(Imported { line: draft.line, ..imported });
    }
    for link in &params.links {
        result.links.push(Imported { line: link.line, ..import.link(link)? });
    }
    if let Some(snapshot) = params.snapshot.as_ref().filter(|snapshot| snapshot.is_last) {
        result.archived = rows.archive_left(&snapshot.key, snapshot.run, &import.event())?;
    }
    if n_remade > 0 {
        result
            .notes
            .push("some vectors do not fit the model or the stored text; they are computed again".to_owned());
    }
    Ok(result)
}

pub(super) fn keys(rows: &Rows<'_>, params: &KeysParams) -> Done<KeysResult> {
    Ok(KeysResult { keys: rows.keys(&params.beginning)?, caveats: Caveats::default() })
}

/// Returns why something was refused, and what to do.
fn with_hint(refused: &Refused) -> String {
    let hint = refused.hint.map_or(String::new(), |hint| format!("; {hint}"));
    format!("{refused}{hint}")
}

/// Returns the ids of all memories by their endings; empty if no draft has a name in another system.
fn ids_by_ending(rows: &Rows<'_>, params: &ImportParams) -> Done<HashMap<String, String>> {
    if params.drafts.iter().all(|draft| draft.id.is_some() || draft.original.is_none()) {
        return Ok(HashMap::new());
    }
    Ok(rows.ids()?.into_iter().map(|id| (id::random_digits(&id).to_owned(), id)).collect())
}

fn refusal(why: String) -> Imported {
    Imported { fate: ImportStatus::Refused, why: Some(why), ..Imported::default() }
}

fn fate(fate: ImportStatus, id: String) -> Imported {
    Imported { fate, id: Some(id), ..Imported::default() }
}

struct Import<'a> {
    rows: &'a Rows<'a>,
    params: &'a ImportParams,
    stamp: &'a Stamp,
    /// The ids of all memories by their endings.
    ids: HashMap<String, String>,
}

impl Import<'_> {
    fn event(&self) -> MemoryEvent {
        MemoryEvent { source: "import".to_owned(), ..self.stamp.event("import") }
    }

    /// Returns the record of a draft, without the id of a new one, and the number of private parts that were removed.
    fn record(&self, draft: &Draft) -> Result<(Record, usize), Refused> {
        let allow_secret = self.params.allow_secret;
        let content = fields::validate_content(&draft.content, allow_secret)?;
        let title = draft.title.as_deref().map(|title| fields::validate_title(title, allow_secret));
        let title = title.transpose()?.flatten();
        let redacted = content.redacted + title.as_ref().map_or(0, |title| title.redacted);
        let time = |field, written: &Option<String>| {
            written.as_deref().map(|written| time::parse_rfc3339(field, written)).transpose()
        };
        let name = |field, given: &Option<String>| {
            given.as_deref().map(|given| fields::validate_name(field, given)).transpose()
        };
        let import = || "import".to_owned();
        let created = time("created", &draft.created)?.unwrap_or(self.stamp.now_ms);
        let tier = draft.tier.unwrap_or_default();
        // A memory written by hand expires as if it were added now; others keep their expiry.
        let is_new = draft.id.is_none() && draft.original.is_none();
        let lasts = || self.stamp.tiers.expiry_in(tier, self.stamp.now_ms).filter(|_| is_new);
        let archived_at = time("archived_at", &draft.archived_at)?;
        let why = name("archived_why", &draft.archived_why)?.unwrap_or_else(|| "forgotten".to_owned());
        draft.key.as_deref().map_or(Ok(()), |key| fields::check_name("key", key))?;
        let key = self.params.snapshot.as_ref().map(|snapshot| &snapshot.key).or(draft.key.as_ref());
        let record = Record {
            id: self.id(draft, created)?,
            content: content.text,
            title: title.map(|title| title.text),
            container: self.stamp.container(draft.container.as_deref())?,
            tags: fields::validate_tags(&draft.tags)?,
            tier,
            expires_at: time("expires_at", &draft.expires_at)?.or_else(lasts),
            priority: draft.priority.map_or(Ok(fields::DEFAULT_PRIORITY), fields::validate_priority)?,
            confidence: draft.confidence.map_or(Ok(1.0), fields::validate_confidence)?,
            source: draft.source.as_deref().map_or(Ok(import()), |given| self.source(given))?,
            author: name("author", &draft.author)?.unwrap_or_else(|| self.stamp.author.clone()),
            agent: name("agent", &draft.agent)?,
            created,
            updated: time("updated", &draft.updated)?.unwrap_or(created),
            last_access: time("last_access", &draft.last_access)?,
            access_count: fields::validate_access_count(draft.access_count)?,
            metadata: fields::validate_metadata(draft.metadata.clone(), allow_secret)?,
            archived_at,
            archived_why: archived_at.map(|_| why),
            key: key.map(|key| fields::validate_key(key)).transpose()?,
            anchors: anchors(&draft.anchors)?,
            ..Record::default()
        };
        Ok((record, redacted))
    }

    /// Returns the source that a draft gets: one of memories that were written here only if a person has said so.
    fn source(&self, given: &str) -> Result<String, Refused> {
        fields::check_name("source", given)?;
        let source = fields::imported_source(given);
        let is_taken = !fields::is_own_source(source) || self.params.own;
        Ok(if is_taken { source } else { "import" }.to_owned())
    }

    /// Returns the id of a draft; empty if it has none.
    fn id(&self, draft: &Draft, created: i64) -> Result<String, Refused> {
        match (&draft.id, &draft.original) {
            (Some(given), _) => id::parse_id(given),
            (None, Some(original)) => {
                let hash = blake3::hash(original.as_bytes());
                let bits = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
                let id = id::new_id(created, *bits);
                // Known by its name alone: where a part of a conversation begins depends on how the parts are cut.
                Ok(self.ids.get(id::random_digits(&id)).cloned().unwrap_or(id))
            }
            (None, None) => Ok(String::new()),
        }
    }

    /// Stores a memory, unless its id or text exists.
    fn put(&self, mut record: Record, draft: &Draft) -> Done<Imported> {
        let derived = derive(&record);
        let is_named = !record.id.is_empty();
        let known = if is_named { self.rows.get(&record.id)? } else { None };
        let twin =
            if record.lives(self.stamp.now_ms) { self.rows.same_text(&record, &derived.hash)? } else { None };
        let read_updated = record.updated;
        if let Some(known) = &known {
            self.follow(known, &mut record, draft);
        }
        // Without `own`, an import does not say who said what is here already.
        let source = known.as_ref().filter(|_| !self.params.own).map(|known| known.source.clone());
        let said = Record { source: source.unwrap_or_else(|| record.source.clone()), ..record.clone() };
        let said = match &known {
            Some(known) => shared_as(known, &said),
            None => said,
        };
        match (known, twin) {
            (Some(known), _) if is_same(&known, &said) => Ok(fate(ImportStatus::Same, known.id)),
            (Some(known), _) if self.params.merge && known.updated >= record.updated => {
                Ok(fate(ImportStatus::Older, known.id))
            }
            (Some(known), _) if !self.params.merge => {
                let age = Age { read: read_updated, taken: record.updated };
                Ok(differs(&known, &said, draft, &age))
            }
            (Some(known), Some(twin)) if twin.id != known.id => {
                let why = format!("content: {} in {} has this text", twin.id, twin.container);
                Ok(Imported { id: Some(known.id), ..refusal(why) })
            }
            (Some(known), _) if known.shared => self.put_over_file(&known, &record),
            (Some(known), _) => {
                let fields = show::differences(&known, &shared_as(&known, &record));
                self.rows.put(&record, &derived, &MemoryEvent { fields, ..self.event() })?;
                Ok(fate(ImportStatus::Updated, known.id))
            }
            (None, _) if is_named && self.rows.has(&record.id)? => {
                let why = format!("id: {} is a file of another worktree", record.id);
                Ok(refusal(format!("{why}; `memo restore {}` brings it into this one", record.id)))
            }
            (None, Some(twin)) => Ok(fate(ImportStatus::Same, twin.id)),
            (None, None) => {
                if !is_named {
                    record.id = id::new_id(self.stamp.now_ms, self.rows.random()?);
                }
                self.rows.put(&record, &derived, &self.event())?;
                Ok(fate(ImportStatus::Added, record.id))
            }
        }
    }

    /// Stores what is newer than a memory that is a file, which is written, begun or taken away with it.
    fn put_over_file(&self, known: &Record, record: &Record) -> Done<Imported> {
        if let Err(stopped) = check_as_file(self.rows, &shared_as(known, record)) {
            return match stopped {
                Stopped::Refused(error) => {
                    let hint = error.data.and_then(|data| data.hint).map(|hint| format!("; {hint}"));
                    let why = format!("{}{}", error.message, hint.unwrap_or_default());
                    Ok(Imported { id: Some(known.id.clone()), ..refusal(why) })
                }
                stopped => Err(stopped),
            };
        }
        if known.archived_at.is_some() && record.archived_at.is_none() {
            self.rows.restore(std::slice::from_ref(known), &self.event())?;
            begin(self.rows, &known.id, self.stamp)?;
        }
        // What ends here has its last text first: then it is archived, with its file.
        let ends = record.archived_why.as_ref().filter(|_| known.archived_at.is_none());
        let mut stored = record.clone();
        if ends.is_some() {
            (stored.archived_at, stored.archived_why) = (None, None);
        }
        let fields = show::differences(known, &shared_as(known, &stored));
        if !fields.is_empty() {
            self.rows.put(&stored, &derive(&stored), &MemoryEvent { fields, ..self.event() })?;
        }
        if let Some(why) = ends {
            let living = self.rows.get(&known.id)?;
            self.rows.archive(living.as_slice(), why, &self.event())?;
        }
        Ok(fate(ImportStatus::Updated, known.id.clone()))
    }

    /// Gives a record the times of a memory that is read again. Of the same version, what is read now is the newer: it may have
    /// the names of people, or be the user's own.
    fn follow(&self, known: &Record, record: &mut Record, draft: &Draft) {
        if draft.original.is_some() && draft.created.is_none() {
            // Without times it is as old as the import that brought it: what was changed here since then is newer.
            (record.created, record.updated) = (known.created, known.created);
        }
        if (draft.original.is_some() || self.params.own) && record.updated == known.updated {
            record.updated += 1;
        }
    }

    /// Stores the vector of a memory as it came; returns whether it fits. One that does not is left to be computed.
    fn put_vector(&self, id: &str, vector: &StoredVector, kind: Option<&VectorKind>) -> Done<bool> {
        let stored = self.rows.get(id)?;
        let fits = |kind: &&VectorKind| stored.is_some_and(|record| kind.fits(vector, &record));
        let Some(kind) = kind.filter(fits) else { return Ok(false) };
        self.rows.put_vector(id, &kind.model, &vector.int8)?;
        Ok(true)
    }

    /// Stores an entry of a source; a text that the source had before keeps its id.
    fn put_of_source(&self, mut record: Record, snapshot: &Snapshot) -> Done<Imported> {
        let derived: Derived = derive(&record);
        let imported = match self.rows.same_text(&record, &derived.hash)? {
            Some(known) => {
                let said = |of: &Record| (of.title.clone(), of.tags.clone(), of.metadata.clone());
                let is_same = said(&known) == said(&record);
                if !is_same {
                    let (title, tags, metadata) = said(&record);
                    let updated = self.stamp.now_ms.max(known.updated + 1);
                    let after = Record { title, tags, metadata, updated, ..known.clone() };
                    let fields = show::differences(&known, &after);
                    self.rows.put(&after, &derive(&after), &MemoryEvent { fields, ..self.event() })?;
                }
                fate(if is_same { ImportStatus::Same } else { ImportStatus::Updated }, known.id)
            }
            None => {
                record.id = id::new_id(self.stamp.now_ms, self.rows.random()?);
                self.rows.put(&record, &derived, &self.event())?;
                fate(ImportStatus::Added, record.id)
            }
        };
        self.rows.set_run(imported.id.as_deref().unwrap_or_default(), snapshot.run)?;
        Ok(imported)
    }

    fn link(&self, draft: &LinkDraft) -> Done<Imported> {
        let Some(kind) = LinkKind::parse(&draft.kind) else {
            let known = LinkKind::ALL.map(LinkKind::as_str).join(", ");
            return Ok(refusal(format!("kind: {} is none of {known}", json!(draft.kind))));
        };
        let created =
            draft.created.as_deref().map(|written| time::parse_rfc3339("created", written)).transpose();
        let created = match created {
            Ok(created) => created.unwrap_or(self.stamp.now_ms),
            Err(why) => return Ok(refusal(with_hint(&why))),
        };
        for id in [&draft.source, &draft.target] {
            if !self.rows.has(id)? {
                return Ok(refusal(format!("no memory {}", json!(id))));
            }
        }
        let link = Link { created, from: draft.source.clone(), to: draft.target.clone(), kind };
        let event = MemoryEvent { action: "link".to_owned(), ..self.event() };
        Ok(match self.rows.link(&link, &event)? {
            Linked::New => Imported { fate: ImportStatus::Added, ..Imported::default() },
            Linked::Known => Imported { fate: ImportStatus::Same, ..Imported::default() },
            Linked::Ring => refusal(links::ring(&link)),
        })
    }
}

/// Returns imported anchors without states, which are determined here.
fn anchors(given: &[Anchor]) -> Result<Vec<Anchor>, Refused> {
    let kept: Vec<_> =
        given.iter().map(|anchor| Anchor { state: None, now: None, note: None, ..anchor.clone() }).collect();
    kept.iter().try_for_each(|anchor| fields::check_name("anchors", &anchor.to_string()))?;
    let n_bytes = json!(kept).to_string().len();
    if n_bytes > fields::MAX_METADATA {
        let why = format!("{n_bytes} bytes, over {}", fields::MAX_METADATA);
        return Err(Refused { field: "anchors", why, hint: None });
    }
    Ok(kept)
}

/// Returns whether two records are equal, apart from how often they were read.
fn is_same(known: &Record, record: &Record) -> bool {
    let said = |record: &Record| {
        let mut said: Map<String, Value> = show::fields(record);
        let own = [
            "updated",
            "last_access",
            "access_count",
            "expires_at",
            "archived_at",
            "trust",
            "shared",
            "scope",
        ];
        for name in own {
            said.remove(name);
        }
        said
    };
    said(known) == said(record) && known.archived_at.is_some() == record.archived_at.is_some()
}

/// Returns a record with what an import does not change: with whom the memory is shared, and which side of a conflict it is.
fn shared_as(known: &Record, record: &Record) -> Record {
    Record {
        shared: known.shared,
        team: known.team,
        repository: known.repository.clone(),
        is_unconfirmed: known.is_unconfirmed,
        side: known.side,
        ..record.clone()
    }
}

/// Times of the last change of what is imported, unix ms.
struct Age {
    /// As it was read.
    read: i64,
    /// As it is taken: of two that are as old, what is imported may be the newer.
    taken: i64,
}

fn differs(known: &Record, record: &Record, draft: &Draft, age: &Age) -> Imported {
    let names: Vec<String> = show::differences(known, record).into_iter().map(|(name, _)| name).collect();
    let newer = match known.updated.cmp(&age.read) {
        std::cmp::Ordering::Less => "the one to import is newer (--merge keeps the newer)",
        std::cmp::Ordering::Greater => "the one here is newer (--merge keeps the newer)",
        std::cmp::Ordering::Equal if age.taken > age.read => {
            "both are as old (with --merge beside the other options, the one to import holds)"
        }
        std::cmp::Ordering::Equal => "both are as old (with --merge, the one here holds)",
    };
    let what = draft.original.as_ref().map_or(String::new(), |original| format!(" ({})", json!(original)));
    let why = format!("{}{what} is here and differs in {}; {newer}", known.id, names.join(", "));
    Imported { id: Some(known.id.clone()), ..refusal(why) }
}
