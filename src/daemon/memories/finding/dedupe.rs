//! Proposes which memories to merge.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use memod_base::types::MemoryRow;
use memod_config::LEAST_NEAR_COSINE;
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_memory::fields;
use memod_memory_db::{MemoryFilter, MemoryRecord, MemoryRows};
use memod_proto::Caveats;
use memod_proto::memory::{DedupeParams, DedupeResult, DifferingPair, Group};
use memod_vectors::vector_index::{IdSet, MutableVectorIndex};
use serde_json::{Value, json};

use super::near_rule::{
    ComparedRecord, Likeness, MIN_SAME_WORDS_COSINE, MOST_CONTRADICTIONS, MOST_NEAR, NearRule,
};
use crate::daemon::memories::calls::method_call::{MethodCall, read, run_on_store};
use crate::daemon::memories::rules::memory_rules::{JobResult, digest_records, field_error, refused_error};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::removal_notices::TEAM_ARCHIVED_WORDS;
use crate::daemon::memories::rules::removal_notices::removal_notice;
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_context::RequestContext;

/// The rows of two memories, and the cosine of their vectors.
type NearPair = (MemoryRow, MemoryRow, f64);

/// Answers `memory.dedupe`: proposes groups of memories to merge. Compares the memories of each container pairwise, outside the
/// thread that owns the memories.
pub(in crate::daemon::memories) async fn propose_merges(call: &MethodCall<'_>) -> RpcResult<Value> {
    let params: DedupeParams = call.parse_params()?;
    let cosine = choose_threshold(&params, call.request.shared.engine.config.memory.near_cosine)?;
    // An explicit threshold applies without exceptions.
    let rule = NearRule { cosine, compares_words: params.threshold.is_none() };
    let containers = read(call.request, move |rows| list_rows_by_container(rows, &params)).await?;
    let vectors = call.request.shared.memories.finder.with_vectors(Clone::clone);
    let pairs: Vec<NearPair> = run_blocking(call.request, move |_| {
        let pairs = containers.iter().flat_map(|rows| compare_pairwise(&vectors, rows, rule.least_cosine()));
        Ok(pairs.collect())
    })
    .await?;
    run_on_store(call.request, move |store, now_ms| {
        store.read(now_ms, |rows| -> JobResult<Value> { Ok(json!(group_duplicates(rows, &pairs, rule)?)) })
    })
    .await
}

/// Returns at most `most` pairs of living memories of one container that are similar and not linked, with their cosine, the
/// nearest pair first. The older memory of each pair comes first.
pub(in crate::daemon) async fn find_near_pairs(
    request: &Arc<RequestContext>,
    params: DedupeParams,
    most: usize,
) -> RpcResult<Vec<(MemoryRecord, MemoryRecord, f64)>> {
    let threshold = choose_threshold(&params, MIN_SAME_WORDS_COSINE)?;
    let containers = read(request, move |rows| list_rows_by_container(rows, &params)).await?;
    let vectors = request.shared.memories.finder.with_vectors(Clone::clone);
    let mut near: Vec<NearPair> = run_blocking(request, move |_| {
        Ok(containers.iter().flat_map(|rows| compare_pairwise(&vectors, rows, threshold)).collect())
    })
    .await?;
    near.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| (a.0, a.1).cmp(&(b.0, b.1))));
    read(request, move |rows| {
        let mut found = Vec::new();
        for &(left, right, cosine) in &near {
            let rows_of_pair = rows.search().select_rows(&MemoryFilter::default(), Some(&[left, right]))?;
            let mut records =
                rows.records().find_records(&rows_of_pair)?.into_iter().map(|(_, record)| record);
            let (Some(left), Some(right)) = (records.next(), records.next()) else { continue };
            if !are_linked(rows, &left, &right)? {
                let is_ordered = (left.created, &left.id) <= (right.created, &right.id);
                found.push(if is_ordered { (left, right, cosine) } else { (right, left, cosine) });
            }
            if found.len() == most {
                break;
            }
        }
        Ok(found)
    })
    .await
}

/// Returns the rows of the living memories of each selected container.
fn list_rows_by_container(rows: &MemoryRows<'_>, params: &DedupeParams) -> JobResult<Vec<Vec<MemoryRow>>> {
    let names = match &params.container {
        Some(name) => vec![fields::validate_container(name).map_err(field_error)?],
        None => rows.tallies().tally_containers()?.into_iter().map(|tally| tally.name).collect(),
    };
    Ok(names
        .into_iter()
        .map(|name| {
            rows.search()
                .select_rows(&MemoryFilter { container: Some(name), ..MemoryFilter::default() }, None)
        })
        .collect::<Result<_, _>>()?)
}

/// Returns the pairs of `rows` with at least the cosine `threshold`. Scans all vectors for each row, so the caller must hold no lock.
fn compare_pairwise(
    vectors: &MutableVectorIndex<MemoryRow>,
    rows: &[MemoryRow],
    threshold: f64,
) -> Vec<NearPair> {
    let own_rows: IdSet = rows.iter().copied().collect();
    let mut pairs = Vec::new();
    for row in rows {
        let Some(vector) = vectors.vector_as_query(*row) else { continue };
        let near = vectors.find_nearest(&vector, MOST_NEAR, |other| other > *row && own_rows.contains(other));
        let near = near.into_iter().take_while(|(_, cosine)| *cosine >= threshold);
        pairs.extend(near.map(|(other, cosine)| (*row, other, cosine)));
    }
    pairs
}

/// Returns the minimum cosine of the request, or else that of the settings. Fails if the cosine is out of range.
fn choose_threshold(params: &DedupeParams, setting: f64) -> JobResult<f64> {
    let threshold = params.threshold.unwrap_or(setting);
    match (LEAST_NEAR_COSINE..=1.0).contains(&threshold) {
        true => Ok(threshold),
        false => Err(refused_error(
            format!("threshold: {threshold} is not between {LEAST_NEAR_COSINE} and 1"),
            "give a cosine in this range, or none to use the setting memory.near_cosine",
        )),
    }
}

/// Groups near-duplicates. Each group keeps the memory with the highest priority, then the most used, then the newest.
fn group_duplicates(rows: &MemoryRows<'_>, pairs: &[NearPair], rule: NearRule) -> JobResult<DedupeResult> {
    let mut ids: Vec<MemoryRow> = pairs.iter().flat_map(|(left, right, _)| [*left, *right]).collect();
    ids.sort_unstable();
    ids.dedup();
    let living = rows.search().select_rows(&MemoryFilter::default(), Some(&ids))?;
    let mut records: BTreeMap<MemoryRow, MemoryRecord> =
        rows.records().find_records(&living)?.into_iter().collect();
    let texts: HashMap<MemoryRow, ComparedRecord> =
        records.iter().map(|(row, record)| (*row, ComparedRecord::new(record))).collect();
    let (mut same, mut differing) = (Vec::new(), Vec::new());
    for (left, right, cosine) in pairs {
        let [Some(one), Some(other)] = [left, right].map(|row| records.get(row)) else { continue };
        if one.container != other.container {
            continue;
        }
        match rule.judge_pair(*cosine, &texts[left], &texts[right]) {
            Likeness::Different => {}
            Likeness::Same => same.push((*left, *right, *cosine)),
            Likeness::Contradicts(by) => differing.push((one, other, by, *cosine)),
        }
    }
    let differing = list_differing_pairs(rows, differing)?;
    let (mut groups, mut merged) = (Vec::new(), Vec::new());
    for (members, cosine) in connect_pairs(&same) {
        let mut members: Vec<MemoryRecord> = members.iter().filter_map(|row| records.remove(row)).collect();
        members.sort_by_key(|record| {
            std::cmp::Reverse((record.priority, record.access_count, record.updated, record.id.clone()))
        });
        let others = members.split_off(1);
        let [keep] = members.as_slice() else { continue };
        let digest = digest_records([keep].into_iter().chain(&others));
        let merge = others.iter().map(protocol_values::to_brief).collect();
        groups.push(Group { keep: protocol_values::to_brief(keep), merge, cosine, digest });
        merged.extend(others);
    }
    groups.sort_by(|a, b| b.merge.len().cmp(&a.merge.len()).then_with(|| a.keep.id.cmp(&b.keep.id)));
    let caveats = Caveats::from_notice(removal_notice(&merged, TEAM_ARCHIVED_WORDS, true));
    Ok(DedupeResult { groups, differing, threshold: rule.cosine, caveats })
}

/// Returns the first pairs with nearly the same text that differ in numbers or a negation, the nearest first. Leaves out linked
/// memories, because their relation is decided.
fn list_differing_pairs(
    rows: &MemoryRows<'_>,
    mut pairs: Vec<(&MemoryRecord, &MemoryRecord, &str, f64)>,
) -> JobResult<Vec<DifferingPair>> {
    pairs.sort_by(|a, b| b.3.total_cmp(&a.3).then_with(|| (&a.0.id, &a.1.id).cmp(&(&b.0.id, &b.1.id))));
    let mut found = Vec::new();
    for (left, right, by, cosine) in pairs {
        if found.len() == MOST_CONTRADICTIONS {
            break;
        }
        if !are_linked(rows, left, right)? {
            let is_ordered = (left.created, &left.id) <= (right.created, &right.id);
            let [older, newer] = if is_ordered { [left, right] } else { [right, left] };
            let [older, newer] = [older, newer].map(protocol_values::to_brief);
            found.push(DifferingPair { older, newer, by: by.to_owned(), cosine });
        }
    }
    Ok(found)
}

/// Returns whether a link leads from one of two memories to the other.
fn are_linked(
    rows: &MemoryRows<'_>,
    left: &MemoryRecord,
    right: &MemoryRecord,
) -> Result<bool, DatabaseError> {
    let links = rows.links().list_links(&left.id)?;
    Ok(links.iter().any(|link| [&link.from, &link.to].contains(&&right.id)))
}

/// Joins pairs that share a memory into groups. Returns the members of each group, and its lowest cosine.
fn connect_pairs(pairs: &[NearPair]) -> Vec<(Vec<MemoryRow>, f64)> {
    let mut group_of: HashMap<MemoryRow, usize> = HashMap::new();
    let mut groups: Vec<(Vec<MemoryRow>, f64)> = Vec::new();
    for (left, right, cosine) in pairs {
        let [left_at, right_at] = [*left, *right].map(|row| {
            *group_of.entry(row).or_insert_with(|| {
                groups.push((vec![row], 1.0));
                groups.len() - 1
            })
        });
        groups[left_at].1 = groups[left_at].1.min(*cosine);
        if left_at != right_at {
            let (members, lowest) = std::mem::take(&mut groups[right_at]);
            group_of.extend(members.iter().map(|row| (*row, left_at)));
            groups[left_at].0.extend(members);
            groups[left_at].1 = groups[left_at].1.min(lowest);
        }
    }
    groups.retain(|(members, _)| members.len() > 1);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_groups() {
        let pair = |left, right, cosine| (MemoryRow(left), MemoryRow(right), cosine);
        let groups = connect_pairs(&[pair(1, 2, 0.95), pair(3, 4, 0.92), pair(2, 3, 0.91), pair(7, 8, 0.99)]);
        let groups: Vec<_> = groups
            .into_iter()
            .map(|(mut members, cosine)| {
                members.sort_unstable();
                (members.into_iter().map(|row| row.0).collect::<Vec<_>>(), cosine)
            })
            .collect();
        assert_eq!(groups, [(vec![1, 2, 3, 4], 0.91), (vec![7, 8], 0.99)]);
        assert!(connect_pairs(&[]).is_empty());
    }
}
