//! Merges memories that say the same.

use super::rules::{Done, bad, check_expected, digest, find, refused};
use super::transaction::Stamp;
use super::{links, show};
use crate::memory::fields;
use crate::memory::similar::united;
use crate::proto::memory::{LinkKind, MergeParams, MergeResult};
use crate::store::{Record, Rows};

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
