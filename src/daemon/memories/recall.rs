//! Recalls memories: finds them and extends their lifetime.

use std::collections::HashSet;

use memod_base::paths::CallerDir;
use memod_base::types::Kind;
use memod_engine::errors::RpcResult;
use memod_memory::tiers::Retention;
use memod_memory_db::{MemoryEvent, Record, Rows, Side};
use memod_proto::memory::{Memory, PromoteParams, RecallParams, RecallResult, Recalled, UpdateResult};
use memod_proto::{Caveats, Mode, SearchParams};
use memod_search::memory_search::FoundMemory;
use serde_json::Value;

use super::keeper::derive;
use super::rules::{Done, find_living, refused};
use super::show;
use super::stamp::Stamp;
use super::transaction::Call;
use crate::daemon::memories::search_scope::Scope;
use crate::daemon::request::blocking;
use crate::daemon::request::error::bad_params;
use crate::daemon::shared::Shared;

/// Default and maximum number of memories.
const LIMIT: (usize, usize) = (10, 200);

/// A memory that was found.
struct Hit {
    id: String,
    score: f64,
    /// Whether it is reinforced; otherwise it is only shown.
    is_reinforced: bool,
    /// The memory, if it is a copy of what another repository has.
    copy: Option<Record>,
    /// What others say under the id of a memory in conflict, if that was found.
    theirs: Option<Record>,
    superseded_by: Vec<String>,
}

/// Searches, then reinforces in one transaction the memories that match by a word or are clearly near.
pub(super) async fn recall(call: &Call<'_>) -> RpcResult<Value> {
    call.write_found(hits(call), reinforce).await
}

/// Returns the memories found, best first.
async fn hits(call: &Call<'_>) -> RpcResult<Vec<Hit>> {
    let params: RecallParams = call.params()?;
    let limit = params.limit.unwrap_or(LIMIT.0);
    if !(1..=LIMIT.1).contains(&limit) {
        return Err(bad_params(format!("limit: {limit} is not between 1 and {}", LIMIT.1)));
    }
    if params.query.trim().is_empty() {
        return Err(bad_params("query: empty"));
    }
    let search = SearchParams {
        query: params.query,
        kind: vec![Kind::Memory],
        mode: params.mode,
        container: params.container,
        tag: params.tags,
        since: params.since,
        until: params.until,
        traits: params.traits,
        ..SearchParams::default()
    };
    let scope = Scope::of(&search, &CallerDir::default())?;
    let min_cosine = call.shared.engine.config.search.min_cosine;
    let Some(mut wanted) = scope.memory_ask(&search, limit, min_cosine) else { return Ok(Vec::new()) };
    let look = move |shared: &Shared| {
        if wanted.mode != Mode::Keyword {
            wanted.embed(shared.memories.model().as_deref().map_err(String::as_str));
        }
        let hit = |FoundMemory { ranked, record }: FoundMemory| Hit {
            is_reinforced: record.repository.is_none() && ranked.candidate.is_meant(),
            id: record.id.clone(),
            score: ranked.score,
            superseded_by: ranked.candidate.facts.successors,
            theirs: (record.side == Side::Theirs).then(|| record.clone()),
            copy: record.repository.is_some().then_some(record),
        };
        Ok(shared.memories.find(&wanted)?.found.into_iter().map(hit).collect())
    };
    blocking(call.shared, look).await
}

/// Reinforces the memories found, and leaves out those that are gone by now.
fn reinforce(rows: &Rows<'_>, hits: &Vec<Hit>, stamp: &Stamp) -> Done<RecallResult> {
    let (mut memories, mut reinforced) = (Vec::new(), HashSet::new());
    for Hit { id, score, is_reinforced, copy, theirs, superseded_by } in hits {
        // Both sides of a conflict are one memory.
        let is_reinforced = *is_reinforced && reinforced.insert(id);
        let found = copy.clone().map_or_else(|| rows.get(id), |copy| Ok(Some(copy)))?;
        let Some(before) = found.filter(|record| record.lives(stamp.now_ms)) else { continue };
        let after = match is_reinforced {
            true => {
                let mut standing = stamp.tiers.recalled(standing(&before), stamp.now_ms);
                if before.is_shared() {
                    // Recalls are of this user alone; the rest is in the file.
                    let access_count = standing.access_count;
                    standing = Retention { access_count, ..self::standing(&before) };
                }
                Record { last_access: Some(stamp.now_ms), ..with(&before, standing) }
            }
            false => before.clone(),
        };
        let changed = show::differences(&before, &after);
        if is_reinforced {
            let event = MemoryEvent { fields: changed.clone(), ..stamp.event("recall") };
            match after.is_shared() {
                true => rows.put_recall(&after, &event)?,
                false => rows.put_standing(&after, &event)?,
            }
        }
        let (last_access, access_count) = (after.last_access, after.access_count);
        let after = theirs.clone().map_or(after, |theirs| Record { last_access, access_count, ..theirs });
        let superseded_by = superseded_by.clone();
        let memory = Memory { superseded_by, ..show::memory(after, stamp.now_ms) };
        memories.push(Recalled { memory, score: *score, changed });
    }
    Ok(RecallResult { memories, caveats: Caveats::default() })
}

/// Moves a memory up one tier, or to the tier that was named.
pub(super) fn promote(rows: &Rows<'_>, params: &PromoteParams, stamp: &Stamp) -> Done<UpdateResult> {
    let before = find_living(rows, &params.id, stamp.now_ms)?;
    if let Some(to) = params.to.filter(|to| *to < before.tier) {
        let message = format!("to: {} is of tier {}, above {}", before.id, before.tier.as_str(), to.as_str());
        return Err(refused(message, "`memo update --tier` lowers a tier"));
    }
    let Some(after) = stamp.tiers.promoted(standing(&before), params.to, stamp.now_ms) else {
        return Ok(UpdateResult { memory: show::memory(before, stamp.now_ms), ..UpdateResult::default() });
    };
    let updated = stamp.now_ms.max(before.updated + 1);
    let after = Record { updated, ..with(&before, after) };
    let fields = show::differences(&before, &after);
    let changed = fields.keys().cloned().collect();
    let event = MemoryEvent { fields, ..stamp.event("promote") };
    match after.is_shared() {
        true => rows.put(&Record { expires_at: None, ..after.clone() }, &derive(&after), &event)?,
        false => rows.put_standing(&after, &event)?,
    }
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
