//! Finds memories that are similar in meaning or may contradict each other.

use std::collections::HashMap;
use std::sync::Arc;

use memod_base::types::MemoryRow;
use memod_database::DatabaseError;
use memod_embed::QueryVector;
use memod_engine::errors::RpcResult;
use memod_memory::text;
use memod_memory::text_difference::is_similar_title;
use memod_memory_db::{JobError, MemoryFilter, MemoryRecord, MemoryRows};
use memod_proto::memory::{Contradicted, Related, RelatedParams, RelatedResult};
use memod_proto::{Caveats, RpcError};
use memod_search::memory_search::nearest_memories;
use serde_json::Value;

use super::near_rule::{ComparedRecord, Likeness, MOST_CONTRADICTIONS, MOST_NEAR, NearRule};
use crate::daemon::memories::calls::method_call::MethodCall;
use crate::daemon::memories::rules::memory_links;
use crate::daemon::memories::rules::memory_rules::{JobResult, find_memory, refused_error};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::shared::Shared;
use crate::daemon::shared::memory_thread::memory_finder::MemoryFinder;

/// Default number of related memories.
const DEFAULT_LIMIT: usize = 10;
/// Maximum number of related memories.
const MAX_LIMIT: usize = 200;
/// Lowest cosine of "possibly related" texts, see models/builtin/README.md.
const MIN_RELATED_COSINE: f64 = 0.5;

/// A memory, and its cosine to the memory or query that it was compared with.
type NearRecord = (MemoryRecord, f64);

/// Finds near memories, on the thread that owns them.
#[derive(Clone)]
pub(in crate::daemon::memories) struct NearFinder {
    finder: Arc<MemoryFinder>,
    rule: NearRule,
    /// Whether to refuse a near-duplicate.
    pub(in crate::daemon::memories) refuses_near: bool,
}

impl NearFinder {
    pub(in crate::daemon::memories) fn from_shared(shared: &Shared) -> Self {
        let config = &shared.engine.config.memory;
        let finder = Arc::clone(&shared.memories.finder);
        let rule = NearRule { cosine: config.near_cosine, compares_words: true };
        Self { finder, rule, refuses_near: config.refuse_near }
    }

    /// Returns the living memories of the record's container that may say nearly the same, the nearest first.
    fn find_near_records(
        &self,
        rows: &MemoryRows<'_>,
        record: &MemoryRecord,
    ) -> Result<Vec<NearRecord>, DatabaseError> {
        let field = (record.title.clone().unwrap_or_default(), record.content.clone());
        let vector = self
            .finder
            .load_model()
            .ok()
            .and_then(|model| QueryVector::embed_record(model.as_ref(), field).ok());
        let Some(vector) = vector.flatten() else { return Ok(Vec::new()) };
        let filter = MemoryFilter { container: Some(record.container.clone()), ..MemoryFilter::default() };
        self.find_nearest(rows, &filter, &vector, MOST_NEAR, self.rule.least_cosine())
    }

    /// Returns the `k` nearest memories that pass the filter, at least as near as `floor`, the nearest first and then the
    /// older.
    fn find_nearest(
        &self,
        rows: &MemoryRows<'_>,
        filter: &MemoryFilter,
        vector: &QueryVector,
        k: usize,
        floor: f64,
    ) -> Result<Vec<NearRecord>, DatabaseError> {
        let near =
            self.finder.with_vectors(|vectors| nearest_memories(rows, vectors, filter, vector, k, floor))?;
        let ids: Vec<MemoryRow> = near.iter().map(|(row, _)| *row).collect();
        let mut records: HashMap<MemoryRow, MemoryRecord> =
            rows.records().find_records(&ids)?.into_iter().collect();
        Ok(near.into_iter().filter_map(|(row, cosine)| Some((records.remove(&row)?, cosine))).collect())
    }

    /// Returns the near-duplicates of a new record, and the memories that it may contradict.
    pub(in crate::daemon::memories) fn compare_record(
        &self,
        rows: &MemoryRows<'_>,
        record: &MemoryRecord,
    ) -> Result<(Vec<NearRecord>, Vec<Contradicted>), DatabaseError> {
        let mut same = Vec::new();
        let mut contradicted = Vec::new();
        let text = ComparedRecord::new(record);
        for (other, cosine) in self.find_near_records(rows, record)? {
            match self.rule.judge_pair(cosine, &text, &ComparedRecord::new(&other)) {
                Likeness::Different => {}
                Likeness::Same => same.push((other, cosine)),
                Likeness::Contradicts(by) => {
                    contradicted.push(build_contradicted(&other, by, Some(cosine)));
                }
            }
        }
        for other in find_titled_alike(rows, record)? {
            if !contradicted.iter().any(|known| known.memory.id == other.id)
                && !same.iter().any(|(known, _)| known.id == other.id)
            {
                contradicted.push(build_contradicted(&other, "title", None));
            }
        }
        contradicted.truncate(MOST_CONTRADICTIONS);
        Ok((same, contradicted))
    }
}

fn build_contradicted(record: &MemoryRecord, by: &str, cosine: Option<f64>) -> Contradicted {
    Contradicted { memory: protocol_values::to_brief(record), by: by.to_owned(), cosine }
}

/// Returns the living memories of the record's container whose titles are about the same thing as the record's.
fn find_titled_alike(
    rows: &MemoryRows<'_>,
    record: &MemoryRecord,
) -> Result<Vec<MemoryRecord>, DatabaseError> {
    let Some(title) = &record.title else { return Ok(Vec::new()) };
    let subject = text::title_stems(title);
    if subject.is_empty() {
        return Ok(Vec::new());
    }
    let filter = MemoryFilter { container: Some(record.container.clone()), ..MemoryFilter::default() };
    let found = rows.search().rank_by_bm25(
        &filter,
        &format!("title : ({})", text::build_any_term_query(&subject)),
        MOST_NEAR,
    )?;
    let ids: Vec<MemoryRow> = found.into_iter().map(|(row, _)| row).collect();
    let records = rows.records().find_records(&ids)?.into_iter().map(|(_, record)| record);
    Ok(records
        .filter(|other| other.title.as_ref().is_some_and(|other| is_similar_title(title, other)))
        .collect())
}

/// Returns the error for a new memory that is a near-duplicate of `other`.
pub(in crate::daemon::memories) fn near_duplicate_error(
    other: &MemoryRecord,
    cosine: f64,
) -> JobError<RpcError> {
    let line = protocol_values::to_brief(other).line;
    let message = format!(
        "content: {} in {} says nearly the same (cosine {cosine:.2}): {line}",
        other.id, other.container
    );
    refused_error(message, "--merge adds the new parts to that memory, --force keeps both")
}

/// Answers `memory.related`: returns the memories that are linked to a memory, and then similar memories.
pub(in crate::daemon::memories) async fn list_related(call: &MethodCall<'_>) -> RpcResult<Value> {
    let near = NearFinder::from_shared(&call.request.shared);
    call.read(move |rows, params| find_related_to(rows, &near, params)).await
}

fn find_related_to(
    rows: &MemoryRows<'_>,
    near: &NearFinder,
    params: &RelatedParams,
) -> JobResult<RelatedResult> {
    let limit = params.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(refused_error(
            format!("limit: {limit} is not between 1 and {MAX_LIMIT}"),
            "give a limit in this range, or none for 10 memories",
        ));
    }
    let record = find_memory(rows, &params.id)?;
    let mut memories: Vec<Related> = Vec::new();
    for link in memory_links::list_links(rows, &record.id)?.into_iter().filter(|link| !link.archived) {
        match memories.iter_mut().find(|known| known.memory.id == link.memory.id) {
            Some(known) => known.relations.push(link.relation),
            None => {
                let cosine = near.find_cosine(rows, &record.id, &link.memory.id)?;
                memories.push(Related { memory: link.memory, cosine, relations: vec![link.relation] });
            }
        }
    }
    memories.sort_by(|left, right| {
        let [left_cosine, right_cosine] = [left, right].map(|related| related.cosine.unwrap_or(0.0));
        right_cosine.total_cmp(&left_cosine).then_with(|| left.memory.id.cmp(&right.memory.id))
    });
    let linked: Vec<String> = memories.iter().map(|related| related.memory.id.clone()).collect();
    let mut others = near.find_similar_memories(rows, &record, limit + linked.len())?;
    others.retain(|other| !linked.contains(&other.memory.id));
    memories.extend(others);
    memories.truncate(limit);
    Ok(RelatedResult { id: record.id, memories, caveats: Caveats::default() })
}

impl NearFinder {
    fn find_cosine(
        &self,
        rows: &MemoryRows<'_>,
        left: &str,
        right: &str,
    ) -> Result<Option<f64>, DatabaseError> {
        let (Some(left), Some(right)) = (rows.records().find_row(left)?, rows.records().find_row(right)?)
        else {
            return Ok(None);
        };
        Ok(self.finder.with_vectors(|vectors| vectors.scaled_cosine(&vectors.vector_as_query(left)?, right)))
    }

    /// Returns at most `k` other living memories that may be related, the nearest first.
    fn find_similar_memories(
        &self,
        rows: &MemoryRows<'_>,
        record: &MemoryRecord,
        k: usize,
    ) -> Result<Vec<Related>, DatabaseError> {
        let Some(own) = rows.records().find_row(&record.id)? else { return Ok(Vec::new()) };
        let Some(vector) = self.finder.with_vectors(|vectors| vectors.vector_as_query(own)) else {
            return Ok(Vec::new());
        };
        let mut near =
            self.find_nearest(rows, &MemoryFilter::default(), &vector, k + 1, MIN_RELATED_COSINE)?;
        near.retain(|(other, _)| other.id != record.id);
        Ok(near
            .iter()
            .map(|(other, cosine)| Related {
                memory: protocol_values::to_brief(other),
                cosine: Some(*cosine),
                relations: Vec::new(),
            })
            .collect())
    }
}
