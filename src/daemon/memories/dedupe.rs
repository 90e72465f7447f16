//! Proposes which memories to merge.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use memod_base::types::MemoryRow;
use memod_config::LEAST_NEAR_COSINE;
use memod_engine::errors::RpcResult;
use memod_memory::fields;
use memod_memory::text_difference::find_difference;
use memod_memory_db::{MemoryFilter, Record, Rows};
use memod_proto::Caveats;
use memod_proto::memory::{DedupeParams, DedupeResult, Group};
use memod_vectors::nearest::{IdSet, MutableVectorIndex};
use serde_json::{Value, json};

use super::near::{SAME_WORDS, is_near};
use super::remove::{ARCHIVED_THERE, removal_notice};
use super::rules::{Done, bad, digest, refused};
use super::show;
use super::transaction::{Call, read, with_store};
use crate::daemon::request::blocking;
use crate::daemon::shared::Shared;

/// Number of neighbours that are compared with each memory.
const MOST_NEAR: usize = 50;

/// Number of neighbours of each memory that may also be near by their words.
const MOST_BY_WORDS: usize = 3;

/// Two memories and their cosine.
type Pair = (MemoryRow, MemoryRow, f64);

/// Compares the memories of each container pairwise, before the thread that owns them is involved.
pub(super) async fn dedupe(call: &Call<'_>) -> RpcResult<Value> {
    let params: DedupeParams = call.params()?;
    let threshold = threshold(&params, call.shared.engine.config.memory.near_cosine)?;
    // Who names a threshold means it.
    let n_by_words = if params.threshold.is_none() { MOST_BY_WORDS } else { 0 };
    let containers = read(call.shared, move |rows| by_container(rows, &params)).await?;
    let vectors = call.shared.memories.finder.vectors(Clone::clone);
    let pairs = move |_: &Shared| {
        Ok(containers.iter().flat_map(|rows| pairs(&vectors, rows, threshold, n_by_words)).collect())
    };
    let pairs: Vec<Pair> = blocking(call.shared, pairs).await?;
    let read = move |rows: &Rows<'_>| -> Done<Value> { Ok(json!(groups(rows, &pairs, threshold)?)) };
    with_store(call.shared, move |store, now_ms| store.read(now_ms, read)).await
}

/// Returns the nearest pairs of living memories of a container, the older one first, that no link relates yet.
pub(in crate::daemon) async fn near_pairs(
    shared: &Arc<Shared>,
    params: DedupeParams,
    most: usize,
) -> RpcResult<Vec<(Record, Record, f64)>> {
    let threshold = threshold(&params, SAME_WORDS)?;
    let containers = read(shared, move |rows| by_container(rows, &params)).await?;
    let vectors = shared.memories.finder.vectors(Clone::clone);
    let near = move |_: &Shared| {
        Ok(containers.iter().flat_map(|rows| pairs(&vectors, rows, threshold, 0)).collect())
    };
    let mut near: Vec<Pair> = blocking(shared, near).await?;
    near.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| (a.0, a.1).cmp(&(b.0, b.1))));
    read(shared, move |rows| {
        let mut found = Vec::new();
        for &(left, right, cosine) in &near {
            let meant = rows.meant(&MemoryFilter::default(), Some(&[left, right]))?;
            let mut records = rows.records(&meant)?.into_iter().map(|(_, record)| record);
            let (Some(left), Some(right)) = (records.next(), records.next()) else { continue };
            let is_linked =
                rows.links(&left.id)?.iter().any(|link| [&link.from, &link.to].contains(&&right.id));
            if !is_linked {
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

/// Returns the living memories of each selected container.
fn by_container(rows: &Rows<'_>, params: &DedupeParams) -> Done<Vec<Vec<MemoryRow>>> {
    let names = match &params.container {
        Some(name) => vec![fields::validate_container(name).map_err(bad)?],
        None => rows.containers()?.into_iter().map(|tally| tally.name).collect(),
    };
    let meant = |name| rows.meant(&MemoryFilter { container: Some(name), ..MemoryFilter::default() }, None);
    Ok(names.into_iter().map(meant).collect::<Result<_, _>>()?)
}

/// Returns the pairs of `rows` that are near each other, and of the nearest `n_by_words` of each row also those that are if they
/// have the same words. Needs a scan per row, so it holds no lock.
fn pairs(
    vectors: &MutableVectorIndex<MemoryRow>,
    rows: &[MemoryRow],
    threshold: f64,
    n_by_words: usize,
) -> Vec<Pair> {
    let meant: IdSet = rows.iter().copied().collect();
    let mut pairs = Vec::new();
    for row in rows {
        let Some(vector) = vectors.query(*row) else { continue };
        let near = vectors.top(&vector, MOST_NEAR, |other| other > *row && meant.contains(other));
        let bound = |nth| if nth < n_by_words { threshold.min(SAME_WORDS) } else { threshold };
        let near = near.into_iter().enumerate().take_while(|(nth, (_, cosine))| *cosine >= bound(*nth));
        pairs.extend(near.map(|(_, (other, cosine))| (*row, other, cosine)));
    }
    pairs
}

/// Returns the minimum cosine that was asked for, or that of the settings.
fn threshold(params: &DedupeParams, setting: f64) -> Done<f64> {
    let threshold = params.threshold.unwrap_or(setting);
    match (LEAST_NEAR_COSINE..=1.0).contains(&threshold) {
        true => Ok(threshold),
        false => Err(refused(
            format!("threshold: {threshold} is not between {LEAST_NEAR_COSINE} and 1"),
            "a cosine; memory.near_cosine when absent",
        )),
    }
}

/// Groups near-duplicates. Each group keeps the memory with the highest priority, then the most used, then the newest.
fn groups(rows: &Rows<'_>, pairs: &[Pair], threshold: f64) -> Done<DedupeResult> {
    let mut ids: Vec<MemoryRow> = pairs.iter().flat_map(|(left, right, _)| [*left, *right]).collect();
    ids.sort_unstable();
    ids.dedup();
    let meant = rows.meant(&MemoryFilter::default(), Some(&ids))?;
    let mut records: BTreeMap<MemoryRow, Record> = rows.records(&meant)?.into_iter().collect();
    let is_same = |(left, right, cosine): &&Pair| {
        let (Some(left), Some(right)) = (records.get(left), records.get(right)) else { return false };
        left.container == right.container
            && is_near(*cosine, threshold, left, right)
            && find_difference(&left.content, &right.content).is_none()
    };
    let same: Vec<_> = pairs.iter().filter(is_same).copied().collect();
    let (mut groups, mut merged) = (Vec::new(), Vec::new());
    for (members, cosine) in connected(&same) {
        let mut members: Vec<Record> = members.iter().filter_map(|row| records.remove(row)).collect();
        let rank =
            |record: &Record| (record.priority, record.access_count, record.updated, record.id.clone());
        members.sort_by_key(|record| std::cmp::Reverse(rank(record)));
        let others = members.split_off(1);
        let [keep] = members.as_slice() else { continue };
        let digest = digest([keep].into_iter().chain(&others));
        let merge = others.iter().map(show::brief).collect();
        groups.push(Group { keep: show::brief(keep), merge, cosine, digest });
        merged.extend(others);
    }
    groups.sort_by(|a, b| b.merge.len().cmp(&a.merge.len()).then_with(|| a.keep.id.cmp(&b.keep.id)));
    let caveats = Caveats::of_notice(removal_notice(&merged, ARCHIVED_THERE, true));
    Ok(DedupeResult { groups, threshold, caveats })
}

/// Returns the connected groups of pairs, each with its lowest cosine.
fn connected(pairs: &[Pair]) -> Vec<(Vec<MemoryRow>, f64)> {
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
        let groups = connected(&[pair(1, 2, 0.95), pair(3, 4, 0.92), pair(2, 3, 0.91), pair(7, 8, 0.99)]);
        let groups: Vec<_> = groups
            .into_iter()
            .map(|(mut members, cosine)| {
                members.sort_unstable();
                (members.into_iter().map(|row| row.0).collect::<Vec<_>>(), cosine)
            })
            .collect();
        assert_eq!(groups, [(vec![1, 2, 3, 4], 0.91), (vec![7, 8], 0.99)]);
        assert!(connected(&[]).is_empty());
    }
}
