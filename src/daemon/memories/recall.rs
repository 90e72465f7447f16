//! Recalls memories: finds them and extends their lifetime.

use std::sync::Arc;

use serde_json::Value;

use super::call::{Stamp, locate, write_for};
use super::rules::{Done, find_living};
use super::search::wanted;
use super::show;
use crate::daemon::error::{RpcResult, bad_params};
use crate::daemon::request::{blocking, params_of};
use crate::daemon::search::embedder;
use crate::daemon::shared::Shared;
use crate::memory::tiers::Retention;
use crate::proto::memory::{PromoteParams, RecallParams, RecallResult, Recalled, UpdateResult};
use crate::proto::{Mode, SearchParams};
use crate::search::memories::FoundMemory;
use crate::store::{MemoryEvent, Record, Rows};

/// Memories when nothing is said, and the most.
const LIMIT: (usize, usize) = (10, 200);

/// What was found, best first.
type Hits = Vec<Hit>;

struct Hit {
    id: String,
    score: f64,
    /// Else it is shown only.
    is_reinforced: bool,
}

/// Answers `memory.recall`: looks as a search does, then reinforces in one transaction what it found by a word
/// or clearly near.
pub(super) async fn recall(shared: &Arc<Shared>, params: Value) -> RpcResult<Value> {
    let params: RecallParams = params_of(params)?;
    locate(shared, &params.caller)?;
    let limit = params.limit.unwrap_or(LIMIT.0);
    if !(1..=LIMIT.1).contains(&limit) {
        return Err(bad_params(format!("limit: {limit} is not between 1 and {}", LIMIT.1)));
    }
    if params.query.trim().is_empty() {
        return Err(bad_params("query: empty"));
    }
    let search = SearchParams {
        query: params.query.clone(),
        mode: params.mode,
        container: params.container.clone(),
        tag: params.tags.clone(),
        since: params.since.clone(),
        until: params.until.clone(),
        traits: params.traits.clone(),
        ..SearchParams::default()
    };
    let wanted = wanted(&search, limit)?;
    let look = move |shared: &Shared| {
        let Some(mut wanted) = wanted else { return Ok(Vec::new()) };
        if wanted.mode != Mode::Keyword {
            wanted.embed(&search.query, embedder(shared));
        }
        let found = shared.memories.find(&wanted)?.found;
        let hit = |FoundMemory { ranked, record }: FoundMemory| Hit {
            id: record.id,
            score: ranked.score,
            is_reinforced: ranked.candidate.is_meant(),
        };
        Ok(found.into_iter().map(hit).collect())
    };
    let hits: Hits = blocking(shared, look).await?;
    write_for(shared, params.caller, hits, reinforce).await
}

/// Memories that have gone since they were found are left out.
fn reinforce(rows: &Rows<'_>, hits: &Hits, stamp: &Stamp) -> Done<RecallResult> {
    let mut memories = Vec::new();
    for Hit { id, score, is_reinforced } in hits {
        let Some(before) = rows.get(id)?.filter(|record| record.lives(stamp.now_ms)) else { continue };
        let after = match is_reinforced {
            true => {
                let standing = stamp.tiers.recalled(standing(&before), stamp.now_ms);
                Record { last_access: Some(stamp.now_ms), ..with(&before, standing) }
            }
            false => before.clone(),
        };
        let changed = show::differences(&before, &after);
        if *is_reinforced {
            rows.put_standing(&after, &MemoryEvent { fields: changed.clone(), ..stamp.event("recall") })?;
        }
        memories.push(Recalled { memory: show::memory(after, stamp.now_ms), score: *score, changed });
    }
    Ok(RecallResult { memories, notice: None })
}

/// Takes a memory one tier up.
pub(super) fn promote(rows: &Rows<'_>, params: &PromoteParams, stamp: &Stamp) -> Done<UpdateResult> {
    let before = find_living(rows, &params.id, stamp.now_ms)?;
    let Some(after) = stamp.tiers.promoted(standing(&before), stamp.now_ms) else {
        return Ok(UpdateResult { memory: show::memory(before, stamp.now_ms), ..UpdateResult::default() });
    };
    let updated = stamp.now_ms.max(before.updated + 1);
    let after = Record { updated, ..with(&before, after) };
    let fields = show::differences(&before, &after);
    let changed = fields.keys().cloned().collect();
    rows.put_standing(&after, &MemoryEvent { fields, ..stamp.event("promote") })?;
    Ok(UpdateResult { changed, memory: show::memory(after, stamp.now_ms), ..UpdateResult::default() })
}

fn standing(record: &Record) -> Retention {
    let Record { tier, expires_at, priority, access_count, .. } = *record;
    Retention { tier, expires_at, priority, access_count }
}

fn with(record: &Record, standing: Retention) -> Record {
    let Retention { tier, expires_at, priority, access_count } = standing;
    Record { tier, expires_at, priority, access_count, ..record.clone() }
}
