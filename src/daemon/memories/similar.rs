//! Finds memories that say nearly the same or contradict each other.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::call::Stamp;
use super::finder::{Finder, Model, load};
use super::rules::{Done, bad, check_expected, digest, find, refused};
use super::{links, show};
use crate::embed::{cosine_i8, quantize, record_vectors};
use crate::memory::similar::{NEAR, difference, is_similar_title, united};
use crate::memory::{fields, text};
use crate::proto::RpcError;
use crate::proto::memory::{
    Contradicted, DedupeParams, DedupeResult, Group, LinkKind, MergeParams, MergeResult, Related,
    RelatedParams, RelatedResult,
};
use crate::search::nearest::MutableVectorIndex;
use crate::store::{MemoryFilter, Record, Rows, Stopped, StoreError};
use crate::types::MemoryRow;

/// Memories looked at where all near ones are wanted.
const MOST_NEAR: usize = 50;
/// Contradictions that are told of.
const MOST_TOLD: usize = 3;
/// Related memories when nothing is said.
const LIMIT: usize = 10;
/// Most related memories.
const MAX_LIMIT: usize = 200;
/// The lowest bound of duplicates: below it are things of the same subject.
const LEAST_THRESHOLD: f64 = 0.5;

/// A memory, and how near it is.
type NearRecord = (Record, f64);

/// What knows which memories are near, on the thread that keeps them.
#[derive(Clone)]
pub(super) struct Near {
    pub(super) finder: Arc<Finder>,
    pub(super) model: Model,
}

impl Near {
    /// Returns the living memories of the record's container that are near it, nearest first.
    fn of(&self, rows: &Rows<'_>, record: &Record) -> Result<Vec<NearRecord>, StoreError> {
        let field = (record.title.clone().unwrap_or_default(), record.content.clone());
        let vectors =
            load(&self.model).as_ref().ok().and_then(|model| record_vectors(model.as_ref(), &[field]).ok());
        let Some(vector) = vectors.and_then(|mut vectors| vectors.pop().flatten()) else {
            return Ok(Vec::new());
        };
        let near = self.finder.vectors(|vectors| vectors.top(&quantize(&vector), MOST_NEAR, |_| true));
        let cosines: BTreeMap<MemoryRow, f64> =
            near.into_iter().filter(|(_, cosine)| *cosine >= NEAR).collect();
        let filter = MemoryFilter { container: Some(record.container.clone()), ..MemoryFilter::default() };
        let ids: Vec<MemoryRow> = cosines.keys().copied().collect();
        let meant = if ids.is_empty() { Vec::new() } else { rows.meant(&filter, Some(&ids))? };
        let records = rows.records(&meant)?;
        let mut near: Vec<_> = records.into_iter().map(|(row, record)| (record, cosines[&row])).collect();
        near.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.id.cmp(&right.0.id)));
        Ok(near)
    }

    /// Returns what says the same as a record that is not stored yet, and what it may contradict.
    pub(super) fn compare(
        &self,
        rows: &Rows<'_>,
        record: &Record,
    ) -> Result<(Vec<NearRecord>, Vec<Contradicted>), StoreError> {
        let mut same = Vec::new();
        let mut contradicted = Vec::new();
        for (other, cosine) in self.of(rows, record)? {
            match difference(&record.content, &other.content) {
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
fn titled_alike(rows: &Rows<'_>, record: &Record) -> Result<Vec<Record>, StoreError> {
    let Some(title) = &record.title else { return Ok(Vec::new()) };
    let Some(words) = text::all_words(title) else { return Ok(Vec::new()) };
    let filter = MemoryFilter { container: Some(record.container.clone()), ..MemoryFilter::default() };
    let found = rows.bm25(&filter, &format!("title : ({words})"), MOST_NEAR)?;
    let ids: Vec<MemoryRow> = found.into_iter().map(|(row, _)| row).collect();
    let records = rows.records(&ids)?.into_iter().map(|(_, record)| record);
    Ok(records
        .filter(|other| other.title.as_ref().is_some_and(|other| is_similar_title(title, other)))
        .collect())
}

/// Refuses what another memory says already.
pub(super) fn refuse_same(other: &Record, cosine: f64) -> Stopped<RpcError> {
    let line = show::brief(other).line;
    let message = format!(
        "content: {} in {} says nearly the same (cosine {cosine:.2}): {line}",
        other.id, other.container
    );
    refused(message, "--merge adds to that one what is new, --force keeps both")
}

/// Puts what `other` says into `record`: tags and what they are about are united, content that says more is added, the greater priority and
/// confidence hold. Returns it as it is then.
pub(super) fn merge_into(rows: &Rows<'_>, record: &Record, other: &Record, stamp: &Stamp) -> Done<Record> {
    let mut after = record.clone();
    after.content = united(&record.content, &other.content);
    fields::content(&after.content, true).map_err(bad)?; // the sum of two good texts may be too long
    after.title = record.title.clone().or_else(|| other.title.clone());
    after.tags = fields::tags(&[record.tags.as_slice(), &other.tags].concat()).map_err(bad)?;
    after.anchors.extend(other.anchors.iter().filter(|anchor| !record.anchors.contains(anchor)).cloned());
    after.priority = record.priority.max(other.priority);
    after.confidence = record.confidence.max(other.confidence);
    Ok(stamp.put(rows, "merge", record, after)?.0)
}

/// Merges memories into one that stays; the others go into the archive, superseded by it.
pub(super) fn merge(rows: &Rows<'_>, params: &MergeParams, stamp: &Stamp) -> Done<MergeResult> {
    let keep = find(rows, &params.keep)?;
    let others: Vec<Record> = params.ids.iter().map(|typed| find(rows, typed)).collect::<Done<_>>()?;
    let is_good = |record: &Record| record.lives(stamp.now_ms) && record.container == keep.container;
    if let Some(bad) = [&keep].into_iter().chain(&others).find(|record| !is_good(record)) {
        let message = format!("id: {} is in the archive, or in another container than {}", bad.id, keep.id);
        return Err(refused(message, "only the living of one container are merged"));
    }
    if others.is_empty() || others.iter().any(|other| other.id == keep.id) {
        return Err(refused(
            "ids: others than the one that stays are needed".to_owned(),
            "`memo dedupe` lists them",
        ));
    }
    check_expected(params.expect.as_ref(), &digest([&keep].into_iter().chain(&others)), "merged")?;
    let mut kept = keep;
    for other in &others {
        // First out of the way: the sum may be the very text of the other.
        rows.archive(std::slice::from_ref(other), "merged", &stamp.event("merge"))?;
        kept = merge_into(rows, &kept, other, stamp)?;
        links::put(rows, &kept, other, LinkKind::Supersedes, stamp)?;
    }
    let merged = others.iter().map(show::brief).collect();
    Ok(MergeResult { memory: show::memory(kept, stamp.now_ms), merged, notice: None })
}

/// Returns what is related to a memory: what it is linked with, then what is near it in meaning.
pub(super) fn related(rows: &Rows<'_>, near: &Near, params: &RelatedParams) -> Done<RelatedResult> {
    let limit = params.limit.unwrap_or(LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(refused(format!("limit: {limit} is not between 1 and {MAX_LIMIT}"), "10 when absent"));
    }
    let record = find(rows, &params.id)?;
    let mut memories: Vec<Related> = Vec::new();
    for link in links::of(rows, &record.id, rows.now_ms())?.into_iter().filter(|link| !link.archived) {
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
    let mut others = near.nearest(rows, &record, limit + linked.len())?;
    others.retain(|other| !linked.contains(&other.memory.id));
    others.sort_by(by_cosine);
    memories.extend(others);
    memories.truncate(limit);
    Ok(RelatedResult { id: record.id, memories, notice: None })
}

impl Near {
    fn cosine(&self, rows: &Rows<'_>, left: &str, right: &str) -> Result<Option<f64>, StoreError> {
        let (Some(left), Some(right)) = (rows.row(left)?, rows.row(right)?) else { return Ok(None) };
        Ok(self.finder.vectors(|vectors| Some(f64::from(cosine_i8(vectors.get(left)?, vectors.get(right)?)))))
    }

    /// Returns living memories that may be related, none of them the record itself.
    fn nearest(&self, rows: &Rows<'_>, record: &Record, k: usize) -> Result<Vec<Related>, StoreError> {
        let Some(own) = rows.row(&record.id)? else { return Ok(Vec::new()) };
        let near = self.finder.vectors(|vectors| {
            let vector = vectors.get(own).map(<[i8]>::to_vec);
            vector.map_or(Vec::new(), |vector| vectors.top(&vector, k + MOST_NEAR, |row| row != own))
        });
        // "Possibly related" in models/builtin/README.md.
        let cosines: HashMap<MemoryRow, f64> =
            near.into_iter().filter(|(_, cosine)| *cosine >= LEAST_THRESHOLD).collect();
        let ids: Vec<MemoryRow> = cosines.keys().copied().collect();
        let meant = rows.meant(&MemoryFilter::default(), Some(&ids))?;
        let related = rows.records(&meant)?.into_iter().map(|(row, record)| Related {
            memory: show::brief(&record),
            cosine: Some(cosines[&row]),
            relations: Vec::new(),
        });
        Ok(related.collect())
    }
}

/// What must be known before anything is read for [`dedupe`]: pairs of rows and their cosines. Takes a scan for each
/// memory, so no lock is held meanwhile.
pub(super) fn pairs(
    vectors: &MutableVectorIndex<MemoryRow>,
    threshold: f64,
) -> Vec<(MemoryRow, MemoryRow, f64)> {
    let mut pairs = Vec::new();
    for row in vectors.ids() {
        let Some(vector) = vectors.get(*row) else { continue };
        let near = vectors.top(vector, MOST_NEAR, |other| other > *row);
        let near = near.into_iter().take_while(|(_, cosine)| *cosine >= threshold);
        pairs.extend(near.map(|(other, cosine)| (*row, other, cosine)));
    }
    pairs
}

/// Reads and checks what is asked for.
pub(super) fn threshold(params: &DedupeParams) -> Done<f64> {
    let threshold = params.threshold.unwrap_or(NEAR);
    match (LEAST_THRESHOLD..=1.0).contains(&threshold) {
        true => Ok(threshold),
        false => Err(refused(
            format!("threshold: {threshold} is not between {LEAST_THRESHOLD} and 1"),
            "a cosine; 0.9 when absent",
        )),
    }
}

/// Groups what says nearly the same; in each, the one to keep is that of the highest priority, most used, newest.
pub(super) fn dedupe(
    rows: &Rows<'_>,
    params: &DedupeParams,
    pairs: &[(MemoryRow, MemoryRow, f64)],
    threshold: f64,
) -> Done<DedupeResult> {
    let container = params.container.as_deref().map(fields::container).transpose().map_err(bad)?;
    let filter = MemoryFilter { container, ..MemoryFilter::default() };
    let mut ids: Vec<MemoryRow> = pairs.iter().flat_map(|(left, right, _)| [*left, *right]).collect();
    ids.sort_unstable();
    ids.dedup();
    let meant = if ids.is_empty() { Vec::new() } else { rows.meant(&filter, Some(&ids))? };
    let mut records: BTreeMap<MemoryRow, Record> = rows.records(&meant)?.into_iter().collect();
    let is_same = |(left, right, _): &&(MemoryRow, MemoryRow, f64)| {
        let (Some(left), Some(right)) = (records.get(left), records.get(right)) else { return false };
        left.container == right.container && difference(&left.content, &right.content).is_none()
    };
    let same: Vec<_> = pairs.iter().filter(is_same).copied().collect();
    let mut groups = Vec::new();
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
    }
    groups.sort_by(|a, b| b.merge.len().cmp(&a.merge.len()).then_with(|| a.keep.id.cmp(&b.keep.id)));
    Ok(DedupeResult { groups, threshold, notice: None })
}

/// Returns what hangs together by pairs, with the lowest cosine of each.
fn connected(pairs: &[(MemoryRow, MemoryRow, f64)]) -> Vec<(Vec<MemoryRow>, f64)> {
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
