//! Prints memories.

use memod_base::paths::CallerDir;
use memod_base::types::memory_file;
use memod_proto::anchor::Anchor;
use memod_proto::memory::{
    Brief, Change, HistoryResult, Memory, Scope, StatsResult, Tally, is_unconfirmed, marks,
};
use serde_json::Value;

use super::about;
use crate::error::CliError;
use crate::output::Output;
use crate::status::row;
use crate::text::{age, bytes, count, escape, escape_lines, paint};

/// Why a memory is archived whose file is gone.
const BY_FILE: &str = "file";

pub(super) fn wholes(memories: &[Memory], dir: &CallerDir, output: &mut Output) -> Result<(), CliError> {
    for (at, memory) in memories.iter().enumerate() {
        if at > 0 {
            output.line("")?;
        }
        whole(memory, dir, output)?;
    }
    Ok(())
}

/// Writes all of a memory.
fn whole(memory: &Memory, dir: &CallerDir, output: &mut Output) -> Result<(), CliError> {
    output.line(&paint(output.styles.path, &memory.id))?;
    if let Some(title) = &memory.title {
        row("title", &escape(title), output)?;
    }
    row("container", &escape(&memory.container), output)?;
    if !memory.tags.is_empty() {
        row("tags", &escape(&memory.tags.join(", ")), output)?;
    }
    about::rows(&memory.anchors, dir, output)?;
    let end = memory.expires_at.as_ref().map_or(String::new(), |at| format!(", ends {at}"));
    let tier = paint(output.styles.of_tier(memory.tier), memory.tier.as_str());
    row("tier", &format!("{tier}{end}"), output)?;
    let bar = if output.styles.is_coloured {
        format!(" {}", output.styles.bar(memory.priority))
    } else {
        String::new()
    };
    row("weight", &format!("priority {}{bar}, confidence {}", memory.priority, memory.confidence), output)?;
    let author = escape(&memory.author);
    row("added", &format!("{} by {author} ({})", when(&memory.created, output), origin(memory)), output)?;
    if memory.updated != memory.created {
        row("changed", &when(&memory.updated, output), output)?;
        if let Some(agent) = &memory.agent {
            row("agent", &format!("{} wrote or changed it", escape(agent)), output)?;
        }
    }
    if !memory.metadata.is_empty() {
        row("metadata", &escape(&Value::from(memory.metadata.clone()).to_string()), output)?;
    }
    if let (Some(at), Some(why)) = (&memory.archived_at, &memory.archived_why) {
        let why = match why.as_str() {
            BY_FILE => "no worktree has its file any more; `memo restore` writes it again",
            "unreadable" => {
                "its file is no memory any more; correct it, or remove it and `memo restore` this"
            }
            why => why,
        };
        row("archived", &format!("{at}, {why}"), output)?;
    }
    if memory.shared && memory.archived_why.as_deref() != Some(BY_FILE) {
        row("shared", &escape(&memory_file(&memory.id)), output)?;
    }
    if let Some(repository) = &memory.repository {
        row("repository", &format!("{}; it is changed there", escape(repository)), output)?;
    } else if memory.scope == Scope::Team {
        row("shared", "with the team", output)?;
    }
    let from = match memory.scope {
        Scope::Team => "team: another member wrote it",
        _ => "repo: from a file of the repository",
    };
    if is_unconfirmed(&memory.trust) {
        let hint = if memory.repository.is_none() { "; `memo confirm` trusts it" } else { "" };
        row("trust", &format!("{from}{hint}"), output)?;
    }
    if let Some(side) = &memory.conflict {
        row("conflict", &format!("{}; `memo resolve` ends it", escape(side)), output)?;
    }
    for link in memory.links.iter().flatten() {
        let archived = if link.archived { " (archived)" } else { "" };
        let text = brief_line(&link.memory, output);
        row("link", &format!("{} {text}{archived}", spoken(&link.relation)), output)?;
    }
    output.line("")?;
    output.line(escape_lines(&memory.content).trim_end_matches('\n'))
}

/// Returns how a memory was added, and by which agent.
fn origin(memory: &Memory) -> String {
    let source = escape(&memory.source);
    match &memory.agent {
        // Who has changed it has not added it.
        Some(_) if memory.updated != memory.created => source,
        Some(agent) if memory.source == "agent" => format!("agent {}", escape(agent)),
        Some(agent) => format!("{source}, agent {}", escape(agent)),
        None => source,
    }
}

pub(super) fn lines(memories: &[Memory], output: &mut Output) -> Result<(), CliError> {
    memories.iter().try_for_each(|memory| line(memory, output))
}

/// Writes memories in one line each, with the time of their last change instead of their creation.
pub(super) fn changed_lines(memories: &[Memory], output: &mut Output) -> Result<(), CliError> {
    let of_change = |memory: &Memory| Memory { created: memory.updated.clone(), ..memory.clone() };
    memories.iter().try_for_each(|memory| line(&of_change(memory), output))
}

/// Returns a time with its age.
fn when(time: &str, output: &Output) -> String {
    format!("{time} ({})", age(time, output.now_ms))
}

/// Writes a memory in one line.
fn line(memory: &Memory, output: &mut Output) -> Result<(), CliError> {
    let first = memory.content.lines().next().unwrap_or_default();
    let text = memory.title.as_deref().unwrap_or(first);
    let tags: String = memory.tags.iter().map(|tag| format!(" #{}", escape(tag))).collect();
    let styles = output.styles;
    let weight = match styles.is_coloured {
        true => {
            let tier = format!("{:<5}", memory.tier.as_str());
            format!("{} {}", styles.bar(memory.priority), paint(styles.of_tier(memory.tier), &tier))
        }
        false => format!("p{:<2}", memory.priority),
    };
    let place = format!("{weight} {}", paint(styles.title, &escape(&memory.container)));
    let text = one_line(&memory.id, &memory.created, &place, text, output);
    let mark = about::mark(memory.state, output) + &mark_of(memory, output);
    output.line(&format!("{text}{}{mark}", paint(output.styles.line, &tags)))
}

/// Returns the mark of a memory that nobody here vouches for, or that is a side of a conflict.
fn mark_of(memory: &Memory, output: &Output) -> String {
    let marks = marks(
        &memory.trust,
        memory.scope,
        memory.repository.as_deref(),
        memory.conflict.as_deref(),
        &memory.superseded_by,
    );
    marks.iter().map(|mark| format!(" {}", paint(output.styles.bad, &escape(mark)))).collect()
}

pub(super) fn brief(brief: &Brief, output: &mut Output) -> Result<(), CliError> {
    output.line(&brief_line(brief, output))
}

pub(super) fn brief_line(brief: &Brief, output: &Output) -> String {
    let place = paint(output.styles.title, &escape(&brief.container));
    one_line(&brief.id, &brief.created, &place, &brief.line, output)
}

/// Returns the name of a relation in words.
pub(super) fn spoken(relation: &str) -> String {
    escape(&relation.replace('_', " "))
}

/// Returns a memory in one line; the place is escaped and painted already.
fn one_line(id: &str, created: &str, place: &str, text: &str, output: &Output) -> String {
    const MOST: usize = 80;
    let (cut, more) = match text.char_indices().nth(MOST) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    };
    let id = paint(output.styles.path, &escape(id));
    format!("{id}  {:>8}  {place}  {}{more}", age(created, output.now_ms), escape(cut))
}

pub(super) fn tallies(names: &[Tally], output: &mut Output) -> Result<(), CliError> {
    names.iter().try_for_each(|tally| output.line(&format!("{:>6}  {}", tally.memories, escape(&tally.name))))
}

/// Name of the worktree whose version was changed, among the fields of a change.
const WORKTREE: &str = "worktree";
/// Name of the mark, among the fields of a change, of a file in conflict with the memory.
const BESIDE: &str = "beside";

/// Writes the history of a memory, one line for each field that changed.
pub(super) fn history(result: &HistoryResult, output: &mut Output) -> Result<(), CliError> {
    for Change { at, action, author, source, fields } in &result.changes {
        let action = paint(output.styles.title, &escape(action));
        let place = fields.get(WORKTREE).and_then(|pair| pair[1].as_str());
        let place = place.map_or(String::new(), |place| format!(" in the worktree {}", escape(place)));
        let of = if fields.contains_key(BESIDE) { " of the file beside it" } else { "" };
        output.line(&format!("{at}  {action}{of} by {} ({}){place}", escape(author), escape(source)))?;
        for (name, pair) in fields.iter().filter(|(name, _)| ![WORKTREE, BESIDE].contains(&name.as_str())) {
            if name == "anchors" {
                output.line(&format!("  anchors: {}", anchors(&pair[0], &pair[1])))?;
                continue;
            }
            output.line(&format!("  {}: {} -> {}", escape(name), value(&pair[0]), value(&pair[1])))?;
        }
    }
    Ok(())
}

/// Returns what a memory was about before and after a change. Where that is the same, the code was looked at anew.
fn anchors(before: &Value, after: &Value) -> String {
    let named = |anchors: &Value| -> Option<String> {
        let anchors: Vec<Anchor> = serde_json::from_value(anchors.clone()).ok()?;
        let names: Vec<String> = anchors.iter().map(|anchor| escape(&anchor.to_string())).collect();
        Some(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
    };
    match (named(before), named(after)) {
        (Some(before), Some(after)) if before == after => format!("{after}, as the code was then"),
        (Some(before), Some(after)) => format!("{before} -> {after}"),
        _ => format!("{} -> {}", value(before), value(after)),
    }
}

fn value(value: &Value) -> String {
    escape(&value.to_string())
}

pub(super) fn stats(stats: &StatsResult, output: &mut Output) -> Result<(), CliError> {
    let text = bytes(stats.content_bytes);
    let mut links = count(stats.links, "link", "links");
    if stats.links_archived > 0 {
        links += &format!(" and {} into the archive", stats.links_archived);
    }
    let numbers = format!("{} living, {} archived, {text} of text, {links}", stats.living, stats.archived);
    row("memories", &numbers, output)?;
    if let (Some(oldest), Some(newest)) = (&stats.oldest, &stats.newest) {
        row("tiers", &tallied(&stats.tiers), output)?;
        row("containers", &tallied(&stats.containers), output)?;
        row("added", &format!("{oldest} to {newest}"), output)?;
    }
    if let Some(end) = &stats.next_end {
        row("ending", &format!("{} within 24 hours, the next at {end}", stats.expiring), output)?;
    }
    row("database", &format!("{}, {}", escape(&stats.path), bytes(stats.bytes)), output)?;
    for path in &stats.elsewhere {
        row("also in", &format!("{}, taken over from there", escape(path)), output)?;
    }
    let newest =
        stats.backups.first().map_or(String::new(), |copy| format!(", newest {}", escape(&copy.path)));
    row("backups", &format!("{}{newest}", count(stats.backups.len() as u64, "copy", "copies")), output)
}

/// Returns the first few counts with their names.
fn tallied(tallies: &[Tally]) -> String {
    const MOST: usize = 8;
    let mut named: Vec<_> = tallies
        .iter()
        .take(MOST)
        .map(|tally| format!("{} {}", tally.memories, escape(&tally.name)))
        .collect();
    if tallies.len() > MOST {
        named.push(format!("{} more", tallies.len() - MOST));
    }
    named.join(", ")
}
