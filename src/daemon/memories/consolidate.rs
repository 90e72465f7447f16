//! Combines several memories into one.

use std::collections::BTreeMap;

use memod_memory::{anchor, fields, id};
use memod_memory_db::{FROM_FILE, MemoryEvent, MemoryFilter, Record, Rows};
use memod_proto::Caveats;
use memod_proto::memory::{
    AutoConsolidateParams, ConsolidateParams, ConsolidateResult, Consolidated, LinkKind, Tier, Traits,
};
use serde_json::{Map, Value, json};

use super::hits::is_own;
use super::keeper::derive;
use super::links::put;
use super::merge::check_size;
use super::remove::{ARCHIVED_THERE, removal_notice};
use super::rules::{Done, bad, check_text, find_living, refused, same_scope};
use super::stamp::Stamp;
use super::{show, team_write};

/// Least and most memories that are combined into one.
const SOURCES: std::ops::RangeInclusive<usize> = 2..=100;

/// Combines the named memories into one with the text of the caller.
pub(super) fn consolidate(
    rows: &Rows<'_>,
    params: &ConsolidateParams,
    stamp: &Stamp,
) -> Done<ConsolidateResult> {
    let sources = sources(rows, &params.ids, stamp.now_ms)?;
    let container = match &params.container {
        Some(name) => stamp.container(Some(name)).map_err(bad)?,
        None => only_container(&sources)?,
    };
    let content = fields::validate_content(&params.summary, params.allow_secret).map_err(bad)?;
    let title = params.title.as_deref().map(|title| fields::validate_title(title, params.allow_secret));
    let title = title.transpose().map_err(bad)?.flatten();
    let redacted = content.redacted + title.as_ref().map_or(0, |title| title.redacted);
    let new = Record {
        content: content.text,
        title: title.map(|title| title.text),
        container,
        ..united(rows, &sources, stamp)?
    };
    check_size(&new).map_err(bad)?;
    let group = become_one(rows, &new, &sources, stamp)?;
    let caveats = Caveats::of_notice(combined_notice(&sources, false));
    Ok(ConsolidateResult { redacted, groups: vec![group], caveats, ..ConsolidateResult::default() })
}

/// Combines all memories that share container and first tag into ones of tier long, joining their texts. Superseded memories
/// are skipped.
pub(super) fn auto(
    rows: &Rows<'_>,
    params: &AutoConsolidateParams,
    stamp: &Stamp,
) -> Done<ConsolidateResult> {
    if !SOURCES.contains(&params.min_count) {
        let message = format!(
            "min_count: {} is not between {} and {}",
            params.min_count,
            SOURCES.start(),
            SOURCES.end()
        );
        return Err(refused(message, "leave it out for three"));
    }
    let container = params.container.as_deref().map(fields::validate_container).transpose().map_err(bad)?;
    let tier = params.short_only.then_some(Tier::Short);
    let filter =
        MemoryFilter { container, traits: Traits { tier, ..Traits::default() }, ..MemoryFilter::default() };
    let (mut records, _) = rows.list(&filter, Default::default(), 0, None)?;
    records.reverse(); // oldest first
    let mut groups: BTreeMap<(String, String), Vec<Record>> = BTreeMap::new();
    for record in records {
        let Some(tag) = record.tags.first().cloned() else { continue };
        let is_superseded =
            |link: &memod_memory_db::Link| link.kind == LinkKind::Supersedes && link.to == record.id;
        if !rows.links(&record.id)?.iter().any(is_superseded) {
            groups.entry((record.container.clone(), tag)).or_default().push(record);
        }
    }
    let mut result = ConsolidateResult { dry_run: params.dry_run, ..ConsolidateResult::default() };
    let mut combined = Vec::new();
    for ((container, tag), sources) in groups {
        if sources.len() >= params.min_count {
            let group = group(rows, container, tag, &sources, params.dry_run, stamp)?;
            combined.extend(sources.into_iter().filter(|_| group.refused.is_none()));
            result.groups.push(group);
        }
    }
    result.caveats = Caveats::of_notice(combined_notice(&combined, params.dry_run));
    Ok(result)
}

/// Returns a notice on what others have of the memories that become one, which is this user's alone unless the team has them all.
fn combined_notice(sources: &[Record], dry_run: bool) -> Option<String> {
    let told = removal_notice(sources, ARCHIVED_THERE, dry_run)?;
    let is_private = sources.iter().any(|source| source.shared);
    let private = "what they become is yours alone until `memo share`";
    Some(if is_private { format!("{told}; {private}") } else { told })
}

/// Combines a group. One that is too large stays unchanged, and the result has the reason.
fn group(
    rows: &Rows<'_>,
    container: String,
    tag: String,
    sources: &[Record],
    dry_run: bool,
    stamp: &Stamp,
) -> Done<Consolidated> {
    let content: Vec<String> = sources.iter().map(said).collect();
    let new = Record {
        content: content.join("\n\n"),
        title: Some(format!("{tag}: {} memories", sources.len())),
        container,
        // What several memories say is worth more than a draft that ends by itself.
        tier: Tier::Long,
        expires_at: None,
        ..united(rows, sources, stamp)?
    };
    let mut group = Consolidated {
        memory: show::brief(&Record { id: String::new(), ..new.clone() }),
        tag: Some(tag),
        sources: sources.iter().map(show::brief).collect(),
        refused: None,
    };
    if !SOURCES.contains(&sources.len()) {
        group.refused = Some(format!("{} are more than {}", sources.len(), SOURCES.end()));
    } else if let Err(error) = check_size(&new) {
        group.refused = Some(error.to_string());
    } else if !dry_run {
        group.memory = become_one(rows, &new, sources, stamp)?.memory;
    }
    Ok(group)
}

fn said(record: &Record) -> String {
    match &record.title {
        Some(title) => format!("{title}\n{}", record.content),
        None => record.content.clone(),
    }
}

fn sources(rows: &Rows<'_>, ids: &[String], now_ms: i64) -> Done<Vec<Record>> {
    if !SOURCES.contains(&ids.len()) {
        let message = format!("ids: {} are not between {} and {}", ids.len(), SOURCES.start(), SOURCES.end());
        return Err(refused(message, "name those that become one"));
    }
    let mut sources: Vec<Record> = Vec::new();
    for typed in ids {
        let record = find_living(rows, typed, now_ms)?;
        if sources.iter().any(|other| other.id == record.id) {
            return Err(refused(format!("id: {} twice", record.id), "name each once"));
        }
        sources.push(record);
    }
    sources.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    Ok(sources)
}

fn only_container(sources: &[Record]) -> Done<String> {
    let mut names: Vec<&str> = sources.iter().map(|record| record.container.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [name] => Ok((*name).to_owned()),
        names => {
            let message = format!("container: these are in {}", names.join(", "));
            Err(refused(message, "--container says where the one they become belongs"))
        }
    }
}

/// Returns the combined fields: all tags, metadata and anchors, the highest priority, the latest expiry and the lowest
/// confidence.
fn united(rows: &Rows<'_>, sources: &[Record], stamp: &Stamp) -> Done<Record> {
    let mut tags: Vec<String> = sources.iter().flat_map(|record| record.tags.clone()).collect();
    tags.sort();
    tags.dedup();
    let tiers = [Tier::Long, Tier::Mid, Tier::Short];
    let is_there = |tier: &Tier| sources.iter().any(|record| record.tier == *tier);
    let is_endless = sources.iter().any(|record| record.expires_at.is_none());
    let (metadata, _) = metadata(sources);
    let latest = sources.iter().filter_map(|record| record.expires_at).max();
    Ok(Record {
        id: id::new_id(stamp.now_ms, rows.random()?),
        tags,
        anchors: anchor::each_once(sources.iter().flat_map(|record| &record.anchors)),
        metadata,
        tier: tiers.into_iter().find(is_there).unwrap_or_default(),
        expires_at: if is_endless { None } else { latest },
        priority: sources.iter().map(|record| record.priority).max().unwrap_or(fields::DEFAULT_PRIORITY),
        confidence: sources.iter().map(|record| record.confidence).fold(1.0, f64::min),
        // What was imported gains no trust by being combined.
        source: match () {
            () if sources.iter().all(is_own) => "consolidation",
            () if sources.iter().any(|source| source.is_unconfirmed) => FROM_FILE,
            () => "import",
        }
        .to_owned(),
        author: stamp.author.clone(),
        agent: stamp.agent.clone(),
        created: stamp.now_ms,
        updated: stamp.now_ms,
        ..Record::default()
    })
}

/// Returns the combined metadata and the values that lost. For each key, the source that was changed last takes precedence.
fn metadata(sources: &[Record]) -> (Map<String, Value>, Map<String, Value>) {
    let mut sources: Vec<&Record> = sources.iter().collect();
    sources.sort_by_key(|record| (record.updated, record.created, &record.id));
    fields::unite_metadata(sources.into_iter().map(|record| &record.metadata))
}

/// Archives the sources, stores the new memory and links it to each source.
fn become_one(rows: &Rows<'_>, new: &Record, sources: &[Record], stamp: &Stamp) -> Done<Consolidated> {
    same_scope(sources)?;
    rows.archive(sources, "consolidated", &stamp.event("consolidate"))?;
    check_text(rows, new)?;
    rows.put(new, &derive(new), &MemoryEvent { fields: replaced(new, sources), ..stamp.event("add") })?;
    if sources.iter().all(|source| source.team) {
        team_write::share(rows, new, stamp)?;
    }
    for source in sources {
        put(rows, new, source, LinkKind::DerivedFrom, stamp)?;
    }
    let sources = sources.iter().map(show::brief).collect();
    Ok(Consolidated { memory: show::brief(new), tag: None, sources, refused: None })
}

/// Returns the metadata values that replaced others, for the history.
fn replaced(new: &Record, sources: &[Record]) -> Map<String, Value> {
    let (_, replaced) = metadata(sources);
    if replaced.is_empty() {
        return Map::new();
    }
    let kept: Map<String, Value> =
        new.metadata.clone().into_iter().filter(|(key, _)| replaced.contains_key(key)).collect();
    Map::from_iter([("metadata".to_owned(), json!([replaced, kept]))])
}
