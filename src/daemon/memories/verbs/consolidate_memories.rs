//! Combines several memories into one.

use std::collections::BTreeMap;

use memod_memory::{anchor, fields, id};
use memod_memory_db::{FILE_SOURCE, MemoryEvent, MemoryFilter, MemoryRecord, MemoryRows};
use memod_proto::Caveats;
use memod_proto::memory::{
    AutoConsolidateParams, ConsolidateParams, ConsolidateResult, ConsolidatedGroup, LinkKind, Tier, Traits,
};
use serde_json::{Map, Value, json};

use super::merge_memories::check_field_limits;
use crate::daemon::memories::finding::memory_hits::is_own_memory;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_links::put_link;
use crate::daemon::memories::rules::memory_rules::{
    JobResult, check_same_scope, check_unique_text, field_error, find_living, refused_error,
};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::record_functions::derive_data;
use crate::daemon::memories::rules::removal_notices::TEAM_ARCHIVED_WORDS;
use crate::daemon::memories::rules::removal_notices::removal_notice;
use crate::daemon::memories::team_memories::queue_changes;

/// Least and most memories that are combined into one.
const N_SOURCES: std::ops::RangeInclusive<usize> = 2..=100;

/// Answers `memory.consolidate`: combines the named memories into one, whose text the caller gives.
pub(in crate::daemon::memories) fn consolidate_named(
    rows: &MemoryRows<'_>,
    params: &ConsolidateParams,
    stamp: &ChangeStamp,
) -> JobResult<ConsolidateResult> {
    let sources = find_sources(rows, &params.ids, stamp.now_ms)?;
    let container = match &params.container {
        Some(name) => stamp.choose_container(Some(name)).map_err(field_error)?,
        None => find_only_container(&sources)?,
    };
    let content = fields::validate_content(&params.summary, params.allow_secret).map_err(field_error)?;
    let title = params.title.as_deref().map(|title| fields::validate_title(title, params.allow_secret));
    let title = title.transpose().map_err(field_error)?.flatten();
    let redacted = content.n_redacted + title.as_ref().map_or(0, |title| title.n_redacted);
    let new = MemoryRecord {
        content: content.text,
        title: title.map(|title| title.text),
        container,
        ..unite_fields(rows, &sources, stamp)?
    };
    check_field_limits(&new).map_err(field_error)?;
    let group = combine_sources(rows, &new, &sources, stamp)?;
    let caveats = Caveats::from_notice(combined_notice(&sources, false));
    Ok(ConsolidateResult { redacted, groups: vec![group], caveats, ..ConsolidateResult::default() })
}

/// Answers `memory.auto_consolidate`: combines all memories with the same container and first tag into one memory of tier long,
/// with their joined texts. Skips superseded memories.
pub(in crate::daemon::memories) fn consolidate_by_tag(
    rows: &MemoryRows<'_>,
    params: &AutoConsolidateParams,
    stamp: &ChangeStamp,
) -> JobResult<ConsolidateResult> {
    if !N_SOURCES.contains(&params.min_count) {
        let message = format!(
            "min_count: {} is not between {} and {}",
            params.min_count,
            N_SOURCES.start(),
            N_SOURCES.end()
        );
        return Err(refused_error(message, "omit it for the default, 3"));
    }
    let container =
        params.container.as_deref().map(fields::validate_container).transpose().map_err(field_error)?;
    let tier = params.short_only.then_some(Tier::Short);
    let filter =
        MemoryFilter { container, traits: Traits { tier, ..Traits::default() }, ..MemoryFilter::default() };
    let (mut records, _) = rows.records().list_page(&filter, Default::default(), 0, None)?;
    records.reverse(); // oldest first
    let mut groups: BTreeMap<(String, String), Vec<MemoryRecord>> = BTreeMap::new();
    for record in records {
        let Some(tag) = record.tags.first().cloned() else { continue };
        let links = rows.links().list_links(&record.id)?;
        if !links.iter().any(|link| link.kind == LinkKind::Supersedes && link.to == record.id) {
            groups.entry((record.container.clone(), tag)).or_default().push(record);
        }
    }
    let mut result = ConsolidateResult { dry_run: params.dry_run, ..ConsolidateResult::default() };
    let mut combined = Vec::new();
    for ((container, tag), sources) in groups {
        if sources.len() >= params.min_count {
            let group = combine_group(rows, container, tag, &sources, params.dry_run, stamp)?;
            combined.extend(sources.into_iter().filter(|_| group.refused.is_none()));
            result.groups.push(group);
        }
    }
    result.caveats = Caveats::from_notice(combined_notice(&combined, params.dry_run));
    Ok(result)
}

/// Returns a notice on combined memories that others have too. Adds that the new memory is private if a source is a shared file.
fn combined_notice(sources: &[MemoryRecord], dry_run: bool) -> Option<String> {
    let notice = removal_notice(sources, TEAM_ARCHIVED_WORDS, dry_run)?;
    let is_private = sources.iter().any(|source| source.shared);
    let private = "the new memory is private until `memo share`";
    Some(if is_private { format!("{notice}; {private}") } else { notice })
}

/// Combines a group of memories into one. Leaves a group that is too large unchanged, and returns the reason in the result.
fn combine_group(
    rows: &MemoryRows<'_>,
    container: String,
    tag: String,
    sources: &[MemoryRecord],
    dry_run: bool,
    stamp: &ChangeStamp,
) -> JobResult<ConsolidatedGroup> {
    let content: Vec<String> = sources.iter().map(render_text).collect();
    let new = MemoryRecord {
        content: content.join("\n\n"),
        title: Some(format!("{tag}: {} memories", sources.len())),
        container,
        // A combination of several memories must not expire by itself.
        tier: Tier::Long,
        expires_at: None,
        ..unite_fields(rows, sources, stamp)?
    };
    let mut group = ConsolidatedGroup {
        memory: protocol_values::to_brief(&MemoryRecord { id: String::new(), ..new.clone() }),
        tag: Some(tag),
        sources: sources.iter().map(protocol_values::to_brief).collect(),
        refused: None,
    };
    if !N_SOURCES.contains(&sources.len()) {
        group.refused = Some(format!("{} memories are more than {}", sources.len(), N_SOURCES.end()));
    } else if let Err(error) = check_field_limits(&new) {
        group.refused = Some(error.to_string());
    } else if !dry_run {
        group.memory = combine_sources(rows, &new, sources, stamp)?.memory;
    }
    Ok(group)
}

fn render_text(record: &MemoryRecord) -> String {
    match &record.title {
        Some(title) => format!("{title}\n{}", record.content),
        None => record.content.clone(),
    }
}

fn find_sources(rows: &MemoryRows<'_>, ids: &[String], now_ms: i64) -> JobResult<Vec<MemoryRecord>> {
    if !N_SOURCES.contains(&ids.len()) {
        let message = format!(
            "ids: their number, {}, is not between {} and {}",
            ids.len(),
            N_SOURCES.start(),
            N_SOURCES.end()
        );
        return Err(refused_error(message, "combine fewer at once, or name another memory"));
    }
    let mut sources: Vec<MemoryRecord> = Vec::new();
    for typed in ids {
        let record = find_living(rows, typed, now_ms)?;
        if sources.iter().any(|other| other.id == record.id) {
            return Err(refused_error(format!("id: {} is named twice", record.id), "name each memory once"));
        }
        sources.push(record);
    }
    sources.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    Ok(sources)
}

fn find_only_container(sources: &[MemoryRecord]) -> JobResult<String> {
    let mut names: Vec<&str> = sources.iter().map(|record| record.container.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [name] => Ok((*name).to_owned()),
        names => {
            let message = format!("container: the memories are in {}", names.join(", "));
            Err(refused_error(message, "name the container of the new memory with --container"))
        }
    }
}

/// Returns a new record with the combined fields of the sources: all tags, metadata and anchors, the highest priority, the latest
/// expiry and the lowest confidence.
fn unite_fields(
    rows: &MemoryRows<'_>,
    sources: &[MemoryRecord],
    stamp: &ChangeStamp,
) -> JobResult<MemoryRecord> {
    let mut tags: Vec<String> = sources.iter().flat_map(|record| record.tags.clone()).collect();
    tags.sort();
    tags.dedup();
    let tiers = [Tier::Long, Tier::Mid, Tier::Short];
    let is_endless = sources.iter().any(|record| record.expires_at.is_none());
    let (metadata, _) = unite_metadata(sources);
    let latest = sources.iter().filter_map(|record| record.expires_at).max();
    Ok(MemoryRecord {
        id: id::new_id(stamp.now_ms, rows.random_bytes()?),
        tags,
        anchors: anchor::without_duplicate_anchors(sources.iter().flat_map(|record| &record.anchors)),
        metadata,
        tier: tiers
            .into_iter()
            .find(|tier| sources.iter().any(|record| record.tier == *tier))
            .unwrap_or_default(),
        expires_at: if is_endless { None } else { latest },
        priority: sources.iter().map(|record| record.priority).max().unwrap_or(fields::DEFAULT_PRIORITY),
        confidence: sources.iter().map(|record| record.confidence).fold(1.0, f64::min),
        // The combination is trusted only as far as the least trusted source.
        source: match () {
            () if sources.iter().all(is_own_memory) => "consolidation",
            () if sources.iter().any(|source| source.is_unconfirmed) => FILE_SOURCE,
            () => "import",
        }
        .to_owned(),
        author: stamp.author.clone(),
        agent: stamp.agent.clone(),
        created: stamp.now_ms,
        updated: stamp.now_ms,
        ..MemoryRecord::default()
    })
}

/// Returns the combined metadata, and the values that were replaced. For each key, the source that was changed last has precedence.
fn unite_metadata(sources: &[MemoryRecord]) -> (Map<String, Value>, Map<String, Value>) {
    let mut sources: Vec<&MemoryRecord> = sources.iter().collect();
    sources.sort_by_key(|record| (record.updated, record.created, &record.id));
    fields::combine_metadata(sources.into_iter().map(|record| &record.metadata))
}

/// Archives the sources, stores the new memory, and links the new memory to each source.
fn combine_sources(
    rows: &MemoryRows<'_>,
    new: &MemoryRecord,
    sources: &[MemoryRecord],
    stamp: &ChangeStamp,
) -> JobResult<ConsolidatedGroup> {
    check_same_scope(sources)?;
    rows.archive_memories(sources, "consolidated", &stamp.new_event("consolidate"))?;
    check_unique_text(rows, new)?;
    rows.put_memory(
        new,
        &derive_data(new),
        &MemoryEvent { fields: list_replaced_metadata(new, sources), ..stamp.new_event("add") },
    )?;
    if sources.iter().all(|source| source.team) {
        queue_changes::share_with_team(rows, new, stamp)?;
    }
    for source in sources {
        put_link(rows, new, source, LinkKind::DerivedFrom, stamp)?;
    }
    let sources = sources.iter().map(protocol_values::to_brief).collect();
    Ok(ConsolidatedGroup { memory: protocol_values::to_brief(new), tag: None, sources, refused: None })
}

/// Returns the replaced metadata values and the values that replaced them, as a change for the history.
fn list_replaced_metadata(new: &MemoryRecord, sources: &[MemoryRecord]) -> Map<String, Value> {
    let (_, replaced) = unite_metadata(sources);
    if replaced.is_empty() {
        return Map::new();
    }
    let present: Map<String, Value> =
        new.metadata.clone().into_iter().filter(|(key, _)| replaced.contains_key(key)).collect();
    Map::from_iter([("metadata".to_owned(), json!([replaced, present]))])
}
