//! Merges duplicate memories.

use memod_memory::text_difference::join_contents;
use memod_memory::{Refused, anchor, fields};
use memod_memory_db::{FROM_FILE, FROM_TEAM, Record, Rows};
use memod_proto::Caveats;
use memod_proto::memory::{LinkKind, MergeParams, MergeResult};

use super::remove::{ARCHIVED_THERE, removal_notice};
use super::rules::{Done, bad, check_expected, digest, find, refused, same_scope, says_other};
use super::stamp::Stamp;
use super::{links, show};

/// Merges `others` into `record` and returns it. Tags, metadata and anchors are combined; for each metadata key the memory
/// that was changed last takes precedence. Content that says more is added, and the highest priority and confidence hold.
pub(super) fn merge_into(rows: &Rows<'_>, record: &Record, others: &[Record], stamp: &Stamp) -> Done<Record> {
    let mut all: Vec<&Record> = others.iter().chain([record]).collect();
    all.sort_by_key(|record| (record.updated, record.created)); // stable: of equal ones the one that stays is last
    let mut after = record.clone();
    for other in others {
        after.content = join_contents(&after.content, &other.content);
        // Not all of the text is trusted.
        match show::trust(other) {
            "own" => {}
            "repo" => after.source = FROM_FILE.to_owned(),
            "team" => after.source = FROM_TEAM.to_owned(),
            _ => after.source = "import".to_owned(),
        }
        after.title = after.title.or_else(|| other.title.clone());
        after.tags.extend(other.tags.iter().cloned());
        after.priority = after.priority.max(other.priority);
        after.confidence = after.confidence.max(other.confidence);
    }
    let by_agent = others.iter().find(|other| other.source == fields::AGENT);
    if let Some(by_agent) = by_agent.filter(|_| says_other(record, &after)) {
        after.source = fields::source_after_agent(&after.source).to_owned();
        after.agent.clone_from(&by_agent.agent);
    }
    after.tags = fields::validate_tags(&after.tags).map_err(bad)?;
    after.anchors =
        anchor::each_once(record.anchors.iter().chain(others.iter().flat_map(|other| &other.anchors)));
    (after.metadata, _) = fields::unite_metadata(all.iter().map(|record| &record.metadata));
    check_size(&after).map_err(bad)?;
    Ok(stamp.put(rows, "merge", record, after)?.0)
}

/// Validates the merged record, whose fields may exceed a limit.
pub(super) fn check_size(record: &Record) -> Result<(), Refused> {
    // A credential that was stored on purpose stays.
    fields::validate_content(&record.content, true)?;
    fields::validate_tags(&record.tags)?;
    fields::validate_metadata(record.metadata.clone(), true)?;
    anchor::check_count(&record.anchors)
}

/// Merges memories into one; the others are archived and superseded by it.
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
    let came_with_files = || others.iter().chain([&keep]).any(|record| record.is_unconfirmed);
    if stamp.is_agent() && came_with_files() {
        return Err(refused(
            "ids: one of them is of others, and only a person confirms what it says".to_owned(),
            "a person reads it with `memo get` and confirms it with `memo confirm`",
        ));
    }
    let all: Vec<Record> = others.iter().chain([&keep]).cloned().collect();
    same_scope(&all)?;
    check_expected(params.expect.as_ref(), &digest([&keep].into_iter().chain(&others)), "merged")?;
    // Archive the others first: the merged text may equal that of one of them.
    rows.archive(&others, "merged", &stamp.event("merge"))?;
    let kept = merge_into(rows, &keep, &others, stamp)?;
    for other in &others {
        links::put(rows, &kept, other, LinkKind::Supersedes, stamp)?;
    }
    let merged = others.iter().map(show::brief).collect();
    let caveats = Caveats::of_notice(removal_notice(&others, ARCHIVED_THERE, false));
    Ok(MergeResult { memory: show::memory(kept, stamp.now_ms), merged, caveats })
}
