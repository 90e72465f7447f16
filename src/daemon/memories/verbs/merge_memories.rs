//! Merges duplicate memories.

use memod_memory::text_difference::join_contents;
use memod_memory::{RefusedValue, anchor, fields};
use memod_memory_db::{FILE_SOURCE, MemoryRecord, MemoryRows, TEAM_SOURCE};
use memod_proto::Caveats;
use memod_proto::memory::{LinkKind, MergeParams, MergeResult};

use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_links;
use crate::daemon::memories::rules::memory_rules::{
    JobResult, check_expected, check_same_scope, digest_records, field_error, find_memory, has_changed_text,
    refused_error,
};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::removal_notices::TEAM_ARCHIVED_WORDS;
use crate::daemon::memories::rules::removal_notices::removal_notice;

/// Merges `others` into `record`, and returns the merged record. Tags, metadata and anchors are combined; for each metadata key,
/// the memory that was changed last takes precedence. New content is appended, and the highest priority and confidence are taken.
pub(super) fn merge_into(
    rows: &MemoryRows<'_>,
    record: &MemoryRecord,
    others: &[MemoryRecord],
    stamp: &ChangeStamp,
) -> JobResult<MemoryRecord> {
    let mut all: Vec<&MemoryRecord> = others.iter().chain([record]).collect();
    all.sort_by_key(|record| (record.updated, record.created)); // a stable sort: of memories with equal times, `record` is last
    let mut after = record.clone();
    for other in others {
        after.content = join_contents(&after.content, &other.content);
        // The merged text is trusted only as far as its least trusted source.
        match protocol_values::determine_trust(other) {
            "own" => {}
            "repo" => after.source = FILE_SOURCE.to_owned(),
            "team" => after.source = TEAM_SOURCE.to_owned(),
            _ => after.source = "import".to_owned(),
        }
        after.title = after.title.or_else(|| other.title.clone());
        after.tags.extend(other.tags.iter().cloned());
        after.priority = after.priority.max(other.priority);
        after.confidence = after.confidence.max(other.confidence);
    }
    let by_agent = others.iter().find(|other| other.source == fields::AGENT);
    if let Some(by_agent) = by_agent.filter(|_| has_changed_text(record, &after)) {
        after.source = fields::source_after_agent(&after.source).to_owned();
        after.agent.clone_from(&by_agent.agent);
    }
    after.tags = fields::validate_tags(&after.tags).map_err(field_error)?;
    after.anchors = anchor::without_duplicate_anchors(
        record.anchors.iter().chain(others.iter().flat_map(|other| &other.anchors)),
    );
    (after.metadata, _) = fields::combine_metadata(all.iter().map(|record| &record.metadata));
    check_field_limits(&after).map_err(field_error)?;
    Ok(stamp.store_if_changed(rows, "merge", record, after)?.0)
}

/// Validates a combined record, whose fields may exceed a limit although those of each source do not.
pub(super) fn check_field_limits(record: &MemoryRecord) -> Result<(), RefusedValue> {
    // This does not search for credentials, because a credential in a source was stored on purpose.
    fields::validate_content(&record.content, true)?;
    fields::validate_tags(&record.tags)?;
    fields::validate_metadata(record.metadata.clone(), true)?;
    anchor::check_anchor_count(&record.anchors)
}

/// Answers `memory.merge`: merges memories into the one to keep. The others are archived, and the kept memory supersedes them.
pub(in crate::daemon::memories) fn merge_memories(
    rows: &MemoryRows<'_>,
    params: &MergeParams,
    stamp: &ChangeStamp,
) -> JobResult<MergeResult> {
    let keep = find_memory(rows, &params.keep)?;
    let others: Vec<MemoryRecord> =
        params.ids.iter().map(|typed| find_memory(rows, typed)).collect::<JobResult<_>>()?;
    let unfit = [&keep]
        .into_iter()
        .chain(&others)
        .find(|record| !record.is_living(stamp.now_ms) || record.container != keep.container);
    if let Some(unfit) = unfit {
        let message = format!("id: {} is in the archive, or in another container than {}", unfit.id, keep.id);
        return Err(refused_error(message, "only active memories of one container can be merged"));
    }
    if others.is_empty() || others.iter().any(|other| other.id == keep.id) {
        return Err(refused_error(
            "ids: at least one memory besides the one to keep is needed".to_owned(),
            "`memo dedupe` lists groups to merge",
        ));
    }
    if stamp.is_agent() && others.iter().chain([&keep]).any(|record| record.is_unconfirmed) {
        return Err(refused_error(
            "ids: one of the memories was written by others, and only a person can confirm it".to_owned(),
            "ask a person to read it with `memo get` and to confirm it with `memo confirm`",
        ));
    }
    let all: Vec<MemoryRecord> = others.iter().chain([&keep]).cloned().collect();
    check_same_scope(&all)?;
    check_expected(params.expect.as_ref(), &digest_records([&keep].into_iter().chain(&others)), "merged")?;
    // The others are archived first, because the merged text may equal that of one of them.
    rows.archive_memories(&others, "merged", &stamp.new_event("merge"))?;
    let merged_record = merge_into(rows, &keep, &others, stamp)?;
    for other in &others {
        memory_links::put_link(rows, &merged_record, other, LinkKind::Supersedes, stamp)?;
    }
    let merged = others.iter().map(protocol_values::to_brief).collect();
    let caveats = Caveats::from_notice(removal_notice(&others, TEAM_ARCHIVED_WORDS, false));
    Ok(MergeResult { memory: protocol_values::to_memory(merged_record, stamp.now_ms), merged, caveats })
}
