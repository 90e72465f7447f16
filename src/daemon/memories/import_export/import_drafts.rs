//! Stores imported memories.
//!
//! Each request is one transaction. An invalid draft is refused with a reason, and the others are stored.

use std::collections::HashMap;

use memod_embed::is_quantized_unit;
use memod_engine::errors::RpcResult;
use memod_memory::{RefusedValue, fields, id, text, time};
use memod_memory_db::{
    HashAndWords, JobError, LinkOutcome, MemoryEvent, MemoryLink, MemoryRecord, MemoryRows,
};
use memod_proto::Caveats;
use memod_proto::anchor::Anchor;
use memod_proto::exchange::{
    Draft, ImportOutcome, ImportParams, ImportResult, ImportStatus, KeysParams, KeysResult, LinkDraft,
    MOST_DRAFTS, Snapshot,
};
use memod_proto::memory::{LinkKind, StoredVector};
use serde_json::{Map, Value, json};

use super::import_differences::{ImportTimes, copy_scope, explain_difference, is_equal_for_import};
use super::markdown_drafts::split_document;
use crate::daemon::memories::calls::method_call::{MethodCall, read_model_id};
use crate::daemon::memories::memory_files::plan_files::{check_writable_as_file, register_file};
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_links;
use crate::daemon::memories::rules::memory_rules::{JobResult, field_error, refused_error};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::record_functions::derive_data;
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_errors::bad_params_error;

/// Answers `memory.import`: stores drafts and links, and returns what became of each.
pub(in crate::daemon::memories) async fn import_drafts(call: &MethodCall<'_>) -> RpcResult<Value> {
    let params: ImportParams = call.parse_params()?;
    let given: Map<String, Value> = call.parse_params()?;
    if !["drafts", "memories", "links", "snapshot"].iter().any(|name| given.contains_key(*name)) {
        return Err(bad_params_error(
            "drafts: missing; send memories as `drafts`, or a whole page of `memory.export`",
        ));
    }
    let is_any = params.drafts.iter().any(|draft| draft.vector.is_some());
    let kind = if is_any { VectorFormat::read_model_in_use(call).await? } else { None };
    call.write_or_dry_run_with_params(
        params,
        move |rows: &MemoryRows<'_>, params: &ImportParams, stamp: &ChangeStamp| {
            check_and_store_drafts(rows, params, stamp, kind.as_ref())
        },
    )
    .await
}

/// The model and the size that imported vectors must have to be stored.
struct VectorFormat {
    /// Identity of the model.
    model: String,
    dims: usize,
}

impl VectorFormat {
    /// Returns the model in use and the size of its vectors; `None` if the model cannot be used.
    async fn read_model_in_use(call: &MethodCall<'_>) -> RpcResult<Option<Self>> {
        let model = read_model_id(call.request).await?;
        // The model may have to be loaded, which blocks.
        let loaded =
            run_blocking(call.request, |request| Ok(request.shared.memories.finder.load_model().ok()))
                .await?;
        Ok(loaded.map(|loaded| Self { model, dims: loaded.dims() }))
    }

    /// Returns whether the model may have made a vector from the text of a memory.
    fn fits_vector(&self, vector: &StoredVector, record: &MemoryRecord) -> bool {
        vector.model == self.model
            && vector.int8.len() == self.dims
            && is_quantized_unit(&vector.int8)
            && vector.text_hash == text::hash_vector_text(record.title.as_deref(), &record.content)
    }
}

fn check_and_store_drafts(
    rows: &MemoryRows<'_>,
    params: &ImportParams,
    stamp: &ChangeStamp,
    kind: Option<&VectorFormat>,
) -> JobResult<ImportResult> {
    if params.drafts.len().max(params.links.len()) > MOST_DRAFTS {
        let message = format!("drafts, links: more than {MOST_DRAFTS} at once");
        return Err(refused_error(message, "send them in several requests"));
    }
    store_drafts(rows, params, stamp, kind)
}

/// Answers `memory.import_markdown`: splits a document into drafts, outside the thread that owns the memories, and stores them.
pub(in crate::daemon::memories) async fn import_markdown(call: &MethodCall<'_>) -> RpcResult<Value> {
    let params = call.parse_params()?;
    let (params, notes) =
        run_blocking(call.request, move |_| split_document(params).map_err(bad_params_error)).await?;
    let mut answer = call
        .write_or_dry_run_with_params(
            params,
            |rows: &MemoryRows<'_>, params: &ImportParams, stamp: &ChangeStamp| {
                store_drafts(rows, params, stamp, None)
            },
        )
        .await?;
    answer["notes"] = json!(notes);
    Ok(answer)
}

/// Stores the drafts and links of an import, and returns what became of each. An invalid draft does not stop the others.
fn store_drafts(
    rows: &MemoryRows<'_>,
    params: &ImportParams,
    stamp: &ChangeStamp,
    kind: Option<&VectorFormat>,
) -> JobResult<ImportResult> {
    if let Some(snapshot) = &params.snapshot {
        fields::validate_key(&snapshot.key).map_err(field_error)?;
    }
    let import = DraftImport { rows, params, stamp, ids: list_ids_by_random_digits(rows, params)? };
    let (mut result, mut n_remade) = (ImportResult::default(), 0);
    for draft in &params.drafts {
        let imported = match import.build_record(draft) {
            Ok((record, n_redacted)) => {
                result.redacted += n_redacted as u64;
                let imported = match &params.snapshot {
                    Some(snapshot) => import.store_snapshot_draft(record, snapshot)?,
                    None => import.put_draft(record, draft)?,
                };
                if let (Some(vector), Some(id), true) = (&draft.vector, &imported.id, imported.is_stored())
                    && !import.put_vector(id, vector, kind)?
                {
                    n_remade += 1;
                }
                imported
            }
            Err(why) => refused_draft(render_refusal(&why)),
        };
        result.drafts.push(ImportOutcome { line: draft.line, ..imported });
    }
    for link in &params.links {
        result.links.push(ImportOutcome { line: link.line, ..import.put_link(link)? });
    }
    if let Some(snapshot) = params.snapshot.as_ref().filter(|snapshot| snapshot.is_last) {
        result.archived = rows.archive_missing(&snapshot.key, snapshot.run, &import.import_event())?;
    }
    if n_remade > 0 {
        result
            .notes
            .push("some vectors do not fit the model or the stored text; they are computed again".to_owned());
    }
    Ok(result)
}

/// Answers `memory.import_keys`: returns the import keys that begin with a text.
pub(in crate::daemon::memories) fn list_keys(
    rows: &MemoryRows<'_>,
    params: &KeysParams,
) -> JobResult<KeysResult> {
    Ok(KeysResult { keys: rows.records().list_keys(&params.beginning)?, caveats: Caveats::default() })
}

/// Renders why a draft was refused, with the hint.
fn render_refusal(refused: &RefusedValue) -> String {
    let hint = refused.hint.map_or(String::new(), |hint| format!("; {hint}"));
    format!("{refused}{hint}")
}

/// Returns the ids of all memories by the random digits in them. Returns none if no draft needs them: only a name in another
/// system does.
fn list_ids_by_random_digits(
    rows: &MemoryRows<'_>,
    params: &ImportParams,
) -> JobResult<HashMap<String, String>> {
    if params.drafts.iter().all(|draft| draft.id.is_some() || draft.original.is_none()) {
        return Ok(HashMap::new());
    }
    Ok(rows.records().list_ids()?.into_iter().map(|id| (id::random_digits(&id).to_owned(), id)).collect())
}

fn refused_draft(why: String) -> ImportOutcome {
    ImportOutcome { fate: ImportStatus::Refused, why: Some(why), ..ImportOutcome::default() }
}

fn stored_draft(fate: ImportStatus, id: String) -> ImportOutcome {
    ImportOutcome { fate, id: Some(id), ..ImportOutcome::default() }
}

/// Source of memories that were not written here.
const IMPORT: &str = "import";

/// An import of drafts in one transaction.
struct DraftImport<'a> {
    rows: &'a MemoryRows<'a>,
    params: &'a ImportParams,
    stamp: &'a ChangeStamp,
    /// The ids of all memories by their random digits.
    ids: HashMap<String, String>,
}

impl DraftImport<'_> {
    fn import_event(&self) -> MemoryEvent {
        MemoryEvent { source: IMPORT.to_owned(), ..self.stamp.new_event("import") }
    }

    /// Returns the record of a draft, with an empty id if the draft has none, and the number of private parts that were removed.
    fn build_record(&self, draft: &Draft) -> Result<(MemoryRecord, usize), RefusedValue> {
        let allow_secret = self.params.allow_secret;
        let content = fields::validate_content(&draft.content, allow_secret)?;
        let title = draft.title.as_deref().map(|title| fields::validate_title(title, allow_secret));
        let title = title.transpose()?.flatten();
        let redacted = content.n_redacted + title.as_ref().map_or(0, |title| title.n_redacted);
        let created = parse_time("created", draft.created.as_deref())?.unwrap_or(self.stamp.now_ms);
        let tier = draft.tier.unwrap_or_default();
        // A draft that has neither an id nor the name of an original in another system is a new memory. Unless the draft has an expiry,
        // such a memory expires as if it were added now, and any other memory never expires.
        let is_new = draft.id.is_none() && draft.original.is_none();
        let archived_at = parse_time("archived_at", draft.archived_at.as_deref())?;
        let why = validate_name("archived_why", draft.archived_why.as_deref())?
            .unwrap_or_else(|| "forgotten".to_owned());
        draft.key.as_deref().map_or(Ok(()), |key| fields::check_public_text("key", key))?;
        let key = self.params.snapshot.as_ref().map(|snapshot| &snapshot.key).or(draft.key.as_ref());
        let record = MemoryRecord {
            id: self.find_id(draft, created)?,
            content: content.text,
            title: title.map(|title| title.text),
            container: self.stamp.choose_container(draft.container.as_deref())?,
            tags: fields::validate_tags(&draft.tags)?,
            tier,
            expires_at: parse_time("expires_at", draft.expires_at.as_deref())?
                .or_else(|| self.stamp.tiers.expiry_in(tier, self.stamp.now_ms).filter(|_| is_new)),
            priority: draft.priority.map_or(Ok(fields::DEFAULT_PRIORITY), fields::validate_priority)?,
            confidence: draft.confidence.map_or(Ok(1.0), fields::validate_confidence)?,
            source: draft
                .source
                .as_deref()
                .map_or(Ok(IMPORT.to_owned()), |given| self.choose_source(given))?,
            author: validate_name("author", draft.author.as_deref())?
                .unwrap_or_else(|| self.stamp.author.clone()),
            agent: validate_name("agent", draft.agent.as_deref())?,
            created,
            updated: parse_time("updated", draft.updated.as_deref())?.unwrap_or(created),
            last_access: parse_time("last_access", draft.last_access.as_deref())?,
            access_count: fields::validate_access_count(draft.access_count)?,
            metadata: fields::validate_metadata(draft.metadata.clone(), allow_secret)?,
            archived_at,
            archived_why: archived_at.map(|_| why),
            key: key.map(|key| fields::validate_key(key)).transpose()?,
            anchors: check_anchors(&draft.anchors)?,
            ..MemoryRecord::default()
        };
        Ok((record, redacted))
    }

    /// Returns the source to store for a draft. A source of memories written here is accepted only if `own` is set.
    fn choose_source(&self, given: &str) -> Result<String, RefusedValue> {
        fields::check_public_text("source", given)?;
        let source = fields::imported_source(given);
        let is_taken = !fields::is_local_source(source) || self.params.own;
        Ok(if is_taken { source } else { IMPORT }.to_owned())
    }

    /// Returns the id of a draft; empty if the draft has neither an id nor a name in another system.
    fn find_id(&self, draft: &Draft, created: i64) -> Result<String, RefusedValue> {
        match (&draft.id, &draft.original) {
            (Some(given), _) => id::parse_id(given),
            (None, Some(original)) => {
                let hash = blake3::hash(original.as_bytes());
                let bits = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
                let id = id::new_id(created, *bits);
                // Only the random digits, made from the name, identify a known memory: the creation time of a part of a
                // conversation depends on how the parts are cut.
                Ok(self.ids.get(id::random_digits(&id)).cloned().unwrap_or(id))
            }
            (None, None) => Ok(String::new()),
        }
    }

    /// Stores a draft, unless a memory has its text, or a memory with its id must not be replaced. Returns the fate of the draft.
    fn put_draft(&self, mut record: MemoryRecord, draft: &Draft) -> JobResult<ImportOutcome> {
        let derived = derive_data(&record);
        let is_named = !record.id.is_empty();
        let known = if is_named { self.rows.records().find_memory(&record.id)? } else { None };
        let twin = if record.is_living(self.stamp.now_ms) {
            self.rows.records().find_memory_with_text(&record, &derived.hash)?
        } else {
            None
        };
        let read_updated = record.updated;
        if let Some(known) = &known {
            self.adopt_times(known, &mut record, draft);
        }
        // Without `own`, an import does not change the source of a known memory.
        let source = known.as_ref().filter(|_| !self.params.own).map(|known| known.source.clone());
        let as_imported =
            MemoryRecord { source: source.unwrap_or_else(|| record.source.clone()), ..record.clone() };
        let as_imported = match &known {
            Some(known) => copy_scope(known, &as_imported),
            None => as_imported,
        };
        match (known, twin) {
            (Some(known), _) if is_equal_for_import(&known, &as_imported) => {
                Ok(stored_draft(ImportStatus::Same, known.id))
            }
            (Some(known), _) if self.params.merge && known.updated >= record.updated => {
                Ok(stored_draft(ImportStatus::Older, known.id))
            }
            (Some(known), _) if !self.params.merge => {
                let age = ImportTimes { imported_ms: read_updated, stored_ms: record.updated };
                let why = explain_difference(&known, &as_imported, draft, &age);
                Ok(ImportOutcome { id: Some(known.id.clone()), ..refused_draft(why) })
            }
            (Some(known), Some(twin)) if twin.id != known.id => {
                let why = format!("content: {} in {} has this text", twin.id, twin.container);
                Ok(ImportOutcome { id: Some(known.id), ..refused_draft(why) })
            }
            (Some(known), _) if known.shared => self.store_shared_version(&known, &record),
            (Some(known), _) => {
                let fields = protocol_values::diff_fields(&known, &copy_scope(&known, &record));
                self.rows.put_memory(&record, &derived, &MemoryEvent { fields, ..self.import_event() })?;
                Ok(stored_draft(ImportStatus::Updated, known.id))
            }
            (None, _) if is_named && self.rows.records().has_memory(&record.id)? => {
                let why = format!("id: {} is a file of another worktree", record.id);
                Ok(refused_draft(format!("{why}; `memo restore {}` brings it into this one", record.id)))
            }
            (None, Some(twin)) => Ok(stored_draft(ImportStatus::Same, twin.id)),
            (None, None) => {
                if !is_named {
                    record.id = id::new_id(self.stamp.now_ms, self.rows.random_bytes()?);
                }
                self.rows.put_memory(&record, &derived, &self.import_event())?;
                Ok(stored_draft(ImportStatus::Added, record.id))
            }
        }
    }

    /// Stores the imported version of a memory that is shared as a file. The file is rewritten, created or removed accordingly.
    fn store_shared_version(&self, known: &MemoryRecord, record: &MemoryRecord) -> JobResult<ImportOutcome> {
        if let Err(stopped) = check_writable_as_file(self.rows, &copy_scope(known, record)) {
            return match stopped {
                JobError::Refused(error) => {
                    let hint = error.data.and_then(|data| data.hint).map(|hint| format!("; {hint}"));
                    let why = format!("{}{}", error.message, hint.unwrap_or_default());
                    Ok(ImportOutcome { id: Some(known.id.clone()), ..refused_draft(why) })
                }
                stopped => Err(stopped),
            };
        }
        if known.archived_at.is_some() && record.archived_at.is_none() {
            self.rows.archive().restore_memories(std::slice::from_ref(known), &self.import_event())?;
            register_file(self.rows, &known.id, self.stamp)?;
        }
        // If the imported version is archived, its text is stored first, and then the memory is archived with its file.
        let ends = record.archived_why.as_ref().filter(|_| known.archived_at.is_none());
        let mut stored = record.clone();
        if ends.is_some() {
            (stored.archived_at, stored.archived_why) = (None, None);
        }
        let fields = protocol_values::diff_fields(known, &copy_scope(known, &stored));
        if !fields.is_empty() {
            self.rows.put_memory(
                &stored,
                &derive_data(&stored),
                &MemoryEvent { fields, ..self.import_event() },
            )?;
        }
        if let Some(why) = ends {
            let living = self.rows.records().find_memory(&known.id)?;
            self.rows.archive_memories(living.as_slice(), why, &self.import_event())?;
        }
        Ok(stored_draft(ImportStatus::Updated, known.id.clone()))
    }

    /// Sets the times of a record that was imported before. Of two versions of the same time, the imported version counts as newer:
    /// it may now contain the names of people, or be the user's own.
    fn adopt_times(&self, known: &MemoryRecord, record: &mut MemoryRecord, draft: &Draft) {
        if draft.original.is_some() && draft.created.is_none() {
            // A record without times is as old as its first import, so later changes here are newer.
            (record.created, record.updated) = (known.created, known.created);
        }
        if (draft.original.is_some() || self.params.own) && record.updated == known.updated {
            record.updated += 1;
        }
    }

    /// Stores the vector of an imported memory if it fits the model and the stored text, and returns whether it does. A vector that
    /// does not fit is computed again later.
    fn put_vector(&self, id: &str, vector: &StoredVector, kind: Option<&VectorFormat>) -> JobResult<bool> {
        let stored = self.rows.records().find_memory(id)?;
        let Some(kind) = kind
            .filter(|kind: &&VectorFormat| stored.is_some_and(|record| kind.fits_vector(vector, &record)))
        else {
            return Ok(false);
        };
        self.rows.vectors().put_vector(id, &kind.model, &vector.int8)?;
        Ok(true)
    }

    /// Stores a draft of a snapshot of a document. If the memories of an earlier snapshot have the same text, the memory with that
    /// text is updated and keeps its id.
    fn store_snapshot_draft(
        &self,
        mut record: MemoryRecord,
        snapshot: &Snapshot,
    ) -> JobResult<ImportOutcome> {
        let derived: HashAndWords = derive_data(&record);
        let imported = match self.rows.records().find_memory_with_text(&record, &derived.hash)? {
            Some(known) => {
                let MemoryRecord { title, tags, metadata, .. } = record;
                let is_same = (&known.title, &known.tags, &known.metadata) == (&title, &tags, &metadata);
                if !is_same {
                    let updated = self.stamp.now_ms.max(known.updated + 1);
                    let after = MemoryRecord { title, tags, metadata, updated, ..known.clone() };
                    let fields = protocol_values::diff_fields(&known, &after);
                    self.rows.put_memory(
                        &after,
                        &derive_data(&after),
                        &MemoryEvent { fields, ..self.import_event() },
                    )?;
                }
                stored_draft(if is_same { ImportStatus::Same } else { ImportStatus::Updated }, known.id)
            }
            None => {
                record.id = id::new_id(self.stamp.now_ms, self.rows.random_bytes()?);
                self.rows.put_memory(&record, &derived, &self.import_event())?;
                stored_draft(ImportStatus::Added, record.id)
            }
        };
        self.rows.set_import_run(imported.id.as_deref().unwrap_or_default(), snapshot.run)?;
        Ok(imported)
    }

    fn put_link(&self, draft: &LinkDraft) -> JobResult<ImportOutcome> {
        let Some(kind) = LinkKind::parse(&draft.kind) else {
            let known = LinkKind::ALL.map(LinkKind::as_str).join(", ");
            return Ok(refused_draft(format!("kind: {} is none of {known}", json!(draft.kind))));
        };
        let created =
            draft.created.as_deref().map(|written| time::parse_rfc3339("created", written)).transpose();
        let created = match created {
            Ok(created) => created.unwrap_or(self.stamp.now_ms),
            Err(why) => return Ok(refused_draft(render_refusal(&why))),
        };
        for id in [&draft.source, &draft.target] {
            if !self.rows.records().has_memory(id)? {
                return Ok(refused_draft(format!("no memory has the id {}", json!(id))));
            }
        }
        let link = MemoryLink { created, from: draft.source.clone(), to: draft.target.clone(), kind };
        let event = MemoryEvent { action: "link".to_owned(), ..self.import_event() };
        Ok(match self.rows.links().add_link(&link, &event)? {
            LinkOutcome::New => ImportOutcome { fate: ImportStatus::Added, ..ImportOutcome::default() },
            LinkOutcome::Known => ImportOutcome { fate: ImportStatus::Same, ..ImportOutcome::default() },
            LinkOutcome::Cycle => refused_draft(memory_links::cycle_message(&link)),
        })
    }
}

/// Parses a time of a draft, and returns unix ms.
fn parse_time(field: &'static str, written: Option<&str>) -> Result<Option<i64>, RefusedValue> {
    written.map(|written| time::parse_rfc3339(field, written)).transpose()
}

/// Validates a name of a draft.
fn validate_name(field: &'static str, given: Option<&str>) -> Result<Option<String>, RefusedValue> {
    given.map(|given| fields::validate_name(field, given)).transpose()
}

/// Validates imported anchors, and returns them without their states, which are computed from the code here.
fn check_anchors(given: &[Anchor]) -> Result<Vec<Anchor>, RefusedValue> {
    let anchors: Vec<_> =
        given.iter().map(|anchor| Anchor { state: None, now: None, note: None, ..anchor.clone() }).collect();
    anchors.iter().try_for_each(|anchor| fields::check_public_text("anchors", &anchor.to_string()))?;
    let n_bytes = json!(anchors).to_string().len();
    if n_bytes > fields::MAX_METADATA {
        let why = format!("{n_bytes} bytes, over {}", fields::MAX_METADATA);
        return Err(RefusedValue { field: "anchors", why, hint: None });
    }
    Ok(anchors)
}
