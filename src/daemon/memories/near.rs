//! Finds memories that are similar in meaning or may contradict each other.

use std::collections::HashMap;
use std::sync::Arc;

use memod_base::types::MemoryRow;
use memod_database::DatabaseError;
use memod_embed::QueryVector;
use memod_engine::errors::RpcResult;
use memod_memory::text;
use memod_memory::text_difference::{find_difference, has_same_words, is_similar_title};
use memod_memory_db::{MemoryFilter, Record, Rows, Stopped};
use memod_proto::memory::{Contradicted, Related, RelatedParams, RelatedResult};
use memod_proto::{Caveats, RpcError};
use memod_search::memory_search::nearest;
use serde_json::Value;

use super::finder::Finder;
use super::rules::{Done, find, refused};
use super::transaction::Call;
use super::{links, show};
use crate::daemon::shared::Shared;

/// Most neighbours that are read when all near memories are wanted.
const MOST_NEAR: usize = 50;
/// Most contradictions that are reported.
const MOST_TOLD: usize = 3;
/// Default number of related memories.
const LIMIT: usize = 10;
/// Maximum number of related memories.
const MAX_LIMIT: usize = 200;
/// Lowest cosine of "possibly related" texts, according to models/builtin/README.md.
const MAYBE_RELATED: f64 = 0.5;

/// Lowest cosine of texts with the same words that say nearly the same. Of some 3,400 pairs from here to 0.9, among 1,283 facts of
/// conversations and 1,685 subjects of commits, none has the same words; of 85 pairs from 0.8 on, six say the same, so a lower
/// `memory.near_cosine` would refuse much that is new.
pub(super) const SAME_WORDS: f64 = 0.6;

/// Returns whether two memories with this cosine say nearly the same, where `bound` suffices alone. What a document says may be
/// said beside it in its words.
pub(super) fn is_near(cosine: f64, bound: f64, left: &Record, right: &Record) -> bool {
    let are_documents = left.key.is_some() || right.key.is_some();
    cosine >= bound
        || (cosine >= SAME_WORDS && !are_documents && has_same_words(&left.content, &right.content))
}

/// A memory with its cosine.
type NearRecord = (Record, f64);

/// Finds near memories, on the thread that owns them.
#[derive(Clone)]
pub(super) struct Near {
    finder: Arc<Finder>,
    /// Lowest cosine of texts that say nearly the same.
    cosine: f64,
    /// Whether such a text is refused.
    pub(super) is_refused: bool,
}

impl Near {
    pub(super) fn of_daemon(shared: &Shared) -> Self {
        let config = &shared.engine.config.memory;
        let finder = Arc::clone(&shared.memories.finder);
        Self { finder, cosine: config.near_cosine, is_refused: config.refuse_near }
    }

    /// Returns the living memories of the record's container that say nearly the same, apart from numbers and negations, the
    /// nearest first.
    fn of(&self, rows: &Rows<'_>, record: &Record) -> Result<Vec<NearRecord>, DatabaseError> {
        let field = (record.title.clone().unwrap_or_default(), record.content.clone());
        let vector =
            self.finder.model().ok().and_then(|model| QueryVector::of_record(model.as_ref(), field).ok());
        let Some(vector) = vector.flatten() else { return Ok(Vec::new()) };
        let filter = MemoryFilter { container: Some(record.container.clone()), ..MemoryFilter::default() };
        let mut near = self.nearest(rows, &filter, &vector, MOST_NEAR, self.cosine.min(SAME_WORDS))?;
        near.retain(|(other, cosine)| is_near(*cosine, self.cosine, record, other));
        Ok(near)
    }

    /// Returns the `k` nearest memories that pass the filter, at least as near as `floor`, the nearest first and then the
    /// older.
    fn nearest(
        &self,
        rows: &Rows<'_>,
        filter: &MemoryFilter,
        vector: &QueryVector,
        k: usize,
        floor: f64,
    ) -> Result<Vec<NearRecord>, DatabaseError> {
        let near = self.finder.vectors(|vectors| nearest(rows, vectors, filter, vector, k, floor))?;
        let ids: Vec<MemoryRow> = near.iter().map(|(row, _)| *row).collect();
        let mut records: HashMap<MemoryRow, Record> = rows.records(&ids)?.into_iter().collect();
        Ok(near.into_iter().filter_map(|(row, cosine)| Some((records.remove(&row)?, cosine))).collect())
    }

    /// Returns the near-duplicates of a new record, and the memories that it may contradict.
    pub(super) fn compare(
        &self,
        rows: &Rows<'_>,
        record: &Record,
    ) -> Result<(Vec<NearRecord>, Vec<Contradicted>), DatabaseError> {
        let mut same = Vec::new();
        let mut contradicted = Vec::new();
        for (other, cosine) in self.of(rows, record)? {
            match find_difference(&record.content, &other.content) {
                None => same.push((other, cosine)),
                Some(by) => contradicted.push(contradicted_by(&other, by, Some(cosine))),
            }
        }
        for other in titled_alike(rows, record)? {
            let is_known = |told: &Contradicted| told.memory.id == other.id;
            if !contradicted.iter().any(is_known) && !same.iter().any(|(known, _)| known.id == other.id) {
                contradicted.push(contradicted_by(&other, "title", None));
            }
        }
        contradicted.truncate(MOST_TOLD);
        Ok((same, contradicted))
    }
}

fn contradicted_by(record: &Record, by: &str, cosine: Option<f64>) -> Contradicted {
    Contradicted { memory: show::brief(record), by: by.to_owned(), cosine }
}

/// Returns living memories of the container with a title about the same thing.
fn titled_alike(rows: &Rows<'_>, record: &Record) -> Result<Vec<Record>, DatabaseError> {
    let Some(title) = &record.title else { return Ok(Vec::new()) };
    let subject = text::title_stems(title);
    if subject.is_empty() {
        return Ok(Vec::new());
    }
    let filter = MemoryFilter { container: Some(record.container.clone()), ..MemoryFilter::default() };
    let found = rows.bm25(&filter, &format!("title : ({})", text::any_of(&subject)), MOST_NEAR)?;
    let ids: Vec<MemoryRow> = found.into_iter().map(|(row, _)| row).collect();
    let records = rows.records(&ids)?.into_iter().map(|(_, record)| record);
    Ok(records
        .filter(|other| other.title.as_ref().is_some_and(|other| is_similar_title(title, other)))
        .collect())
}

/// Returns the error for a near-duplicate.
pub(super) fn refuse_same(other: &Record, cosine: f64) -> Stopped<RpcError> {
    let line = show::brief(other).line;
    let message = format!(
        "content: {} in {} says nearly the same (cosine {cosine:.2}): {line}",
        other.id, other.container
    );
    refused(message, "--merge adds to that one what is new, --force keeps both")
}

/// Returns the memories related to a memory: the linked ones, then the similar ones.
pub(super) async fn related(call: &Call<'_>) -> RpcResult<Value> {
    let near = Near::of_daemon(call.shared);
    call.read(move |rows, params| related_to(rows, &near, params)).await
}

fn related_to(rows: &Rows<'_>, near: &Near, params: &RelatedParams) -> Done<RelatedResult> {
    let limit = params.limit.unwrap_or(LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(refused(format!("limit: {limit} is not between 1 and {MAX_LIMIT}"), "10 when absent"));
    }
    let record = find(rows, &params.id)?;
    let mut memories: Vec<Related> = Vec::new();
    for link in links::of(rows, &record.id)?.into_iter().filter(|link| !link.archived) {
        match memories.iter_mut().find(|known| known.memory.id == link.memory.id) {
            Some(known) => known.relations.push(link.relation),
            None => {
                let cosine = near.cosine(rows, &record.id, &link.memory.id)?;
                memories.push(Related { memory: link.memory, cosine, relations: vec![link.relation] });
            }
        }
    }
    let by_cosine = |left: &Related, right: &Related| {
        let value = |related: &Related| related.cosine.unwrap_or(0.0);
        value(right).total_cmp(&value(left)).then_with(|| left.memory.id.cmp(&right.memory.id))
    };
    memories.sort_by(by_cosine);
    let linked: Vec<String> = memories.iter().map(|related| related.memory.id.clone()).collect();
    let mut others = near.related(rows, &record, limit + linked.len())?;
    others.retain(|other| !linked.contains(&other.memory.id));
    memories.extend(others);
    memories.truncate(limit);
    Ok(RelatedResult { id: record.id, memories, caveats: Caveats::default() })
}

impl Near {
    fn cosine(&self, rows: &Rows<'_>, left: &str, right: &str) -> Result<Option<f64>, DatabaseError> {
        let (Some(left), Some(right)) = (rows.row(left)?, rows.row(right)?) else { return Ok(None) };
        Ok(self.finder.vectors(|vectors| vectors.cosine(&vectors.query(left)?, right)))
    }

    /// Returns other living memories that may be related, the nearest first.
    fn related(&self, rows: &Rows<'_>, record: &Record, k: usize) -> Result<Vec<Related>, DatabaseError> {
        let Some(own) = rows.row(&record.id)? else { return Ok(Vec::new()) };
        let Some(vector) = self.finder.vectors(|vectors| vectors.query(own)) else { return Ok(Vec::new()) };
        let mut near = self.nearest(rows, &MemoryFilter::default(), &vector, k + 1, MAYBE_RELATED)?;
        near.retain(|(other, _)| other.id != record.id);
        let related = |(other, cosine): &NearRecord| Related {
            memory: show::brief(other),
            cosine: Some(*cosine),
            relations: Vec::new(),
        };
        Ok(near.iter().map(related).collect())
    }
}
