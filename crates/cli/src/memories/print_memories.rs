//! Prints memories.

use memod_base::paths::CallerDir;
use memod_base::types::memory_file_path;
use memod_proto::anchor::Anchor;
use memod_proto::memory::{
    Brief, Change, HistoryResult, Memory, MemoryScope, StatsResult, Tally, build_reader_marks,
    is_unconfirmed_trust,
};
use memod_terminal::text::{escape_for_display, escape_lines, format_age, format_bytes, format_count, paint};
use memod_terminal::{CliError, Output};
use serde_json::Value;

use super::print_anchors;
use crate::daemon::status::print_field;

/// The daemon's word for the reason that the file of a memory was removed.
const FILE_REMOVED: &str = "file";

pub(super) fn print_full_memories(
    memories: &[Memory],
    dir: &CallerDir,
    output: &mut Output,
) -> Result<(), CliError> {
    for (at, memory) in memories.iter().enumerate() {
        if at > 0 {
            output.write_line("")?;
        }
        print_full_memory(memory, dir, output)?;
    }
    Ok(())
}

/// Writes a memory with all its fields.
fn print_full_memory(memory: &Memory, dir: &CallerDir, output: &mut Output) -> Result<(), CliError> {
    output.write_line(&paint(output.styles.path, &memory.id))?;
    if let Some(title) = &memory.title {
        print_field("title", &escape_for_display(title), output)?;
    }
    print_field("container", &escape_for_display(&memory.container), output)?;
    if !memory.tags.is_empty() {
        print_field("tags", &escape_for_display(&memory.tags.join(", ")), output)?;
    }
    print_anchors::print_anchors(&memory.anchors, dir, output)?;
    let end = memory.expires_at.as_ref().map_or(String::new(), |at| format!(", ends {at}"));
    let tier = paint(output.styles.tier_style(memory.tier), memory.tier.as_str());
    print_field("tier", &format!("{tier}{end}"), output)?;
    let bar = if output.styles.is_coloured {
        format!(" {}", output.styles.priority_bar(memory.priority))
    } else {
        String::new()
    };
    print_field(
        "weight",
        &format!("priority {}{bar}, confidence {}", memory.priority, memory.confidence),
        output,
    )?;
    let author = escape_for_display(&memory.author);
    print_field(
        "added",
        &format!("{} by {author} ({})", time_with_age(&memory.created, output), describe_origin(memory)),
        output,
    )?;
    if memory.updated != memory.created {
        print_field("changed", &time_with_age(&memory.updated, output), output)?;
        if let Some(agent) = &memory.agent {
            print_field("agent", &format!("{} wrote or changed it", escape_for_display(agent)), output)?;
        }
    }
    if !memory.metadata.is_empty() {
        print_field(
            "metadata",
            &escape_for_display(&Value::from(memory.metadata.clone()).to_string()),
            output,
        )?;
    }
    if let (Some(at), Some(why)) = (&memory.archived_at, &memory.archived_why) {
        print_field("archived", &format!("{at}, {}", explain_archiving(why)), output)?;
    }
    if memory.shared && memory.archived_why.as_deref() != Some(FILE_REMOVED) {
        print_field("shared", &escape_for_display(&memory_file_path(&memory.id)), output)?;
    }
    if let Some(repository) = &memory.repository {
        print_field(
            "repository",
            &format!("{}; change the memory there", escape_for_display(repository)),
            output,
        )?;
    } else if memory.scope == MemoryScope::Team {
        print_field("shared", "with the team", output)?;
    }
    let from = match memory.scope {
        MemoryScope::Team => "team: another member wrote it",
        _ => "repo: from a file of the repository",
    };
    if is_unconfirmed_trust(&memory.trust) {
        let hint = if memory.repository.is_none() { "; `memo confirm` trusts it" } else { "" };
        print_field("trust", &format!("{from}{hint}"), output)?;
    }
    if let Some(side) = &memory.conflict {
        print_field("conflict", &format!("{}; `memo resolve` ends it", escape_for_display(side)), output)?;
    }
    for link in memory.links.iter().flatten() {
        let archived = if link.archived { " (archived)" } else { "" };
        let text = format_memory_brief(&link.memory, output);
        print_field("link", &format!("{} {text}{archived}", format_relation(&link.relation)), output)?;
    }
    output.write_line("")?;
    output.write_line(escape_lines(&memory.content).trim_end_matches('\n'))
}

/// Returns why a memory is in the archive, with the remedy if its file is gone or unreadable.
fn explain_archiving(why: &str) -> &str {
    match why {
        FILE_REMOVED => "no worktree has its file any more; `memo restore` writes the file again",
        "unreadable" => {
            "its file cannot be read as a memory any more; correct it, or remove it and run `memo restore`"
        }
        why => why,
    }
}

/// Returns the source of a memory, and the agent that added it if that is known.
fn describe_origin(memory: &Memory) -> String {
    let source = escape_for_display(&memory.source);
    match &memory.agent {
        // After a change, `agent` is the one that changed the memory, not the one that added it.
        Some(_) if memory.updated != memory.created => source,
        Some(agent) if memory.source == "agent" => format!("agent {}", escape_for_display(agent)),
        Some(agent) => format!("{source}, agent {}", escape_for_display(agent)),
        None => source,
    }
}

pub(super) fn print_memory_lines(memories: &[Memory], output: &mut Output) -> Result<(), CliError> {
    memories.iter().try_for_each(|memory| print_memory_line(memory, output))
}

/// Writes memories in one line each, with the time of their last change instead of their creation.
pub(super) fn print_lines_with_change_time(memories: &[Memory], output: &mut Output) -> Result<(), CliError> {
    memories.iter().try_for_each(|memory| {
        let changed = Memory { created: memory.updated.clone(), ..memory.clone() };
        print_memory_line(&changed, output)
    })
}

/// Returns a time with its age.
fn time_with_age(time: &str, output: &Output) -> String {
    format!("{time} ({})", format_age(time, output.now_ms))
}

/// Writes a memory in one line.
fn print_memory_line(memory: &Memory, output: &mut Output) -> Result<(), CliError> {
    let first = memory.content.lines().next().unwrap_or_default();
    let text = memory.title.as_deref().unwrap_or(first);
    let tags: String = memory.tags.iter().map(|tag| format!(" #{}", escape_for_display(tag))).collect();
    let styles = output.styles;
    let weight = match styles.is_coloured {
        true => {
            let tier = format!("{:<5}", memory.tier.as_str());
            format!(
                "{} {}",
                styles.priority_bar(memory.priority),
                paint(styles.tier_style(memory.tier), &tier)
            )
        }
        false => format!("p{:<2}", memory.priority),
    };
    let details = format!("{weight} {}", paint(styles.title, &escape_for_display(&memory.container)));
    let text = format_memory_line(&memory.id, &memory.created, &details, text, output);
    let mark = print_anchors::state_mark(memory.state, output) + &memory_marks(memory, output);
    output.write_line(&format!("{text}{}{mark}", paint(output.styles.line, &tags)))
}

/// Returns the marks of a memory: that it is not confirmed here, copied, superseded, or a side of a conflict.
fn memory_marks(memory: &Memory, output: &Output) -> String {
    let marks = build_reader_marks(
        &memory.trust,
        memory.scope,
        memory.repository.as_deref(),
        memory.conflict.as_deref(),
        &memory.superseded_by,
    );
    marks.iter().map(|mark| format!(" {}", paint(output.styles.bad, &escape_for_display(mark)))).collect()
}

pub(super) fn print_memory_brief(brief: &Brief, output: &mut Output) -> Result<(), CliError> {
    output.write_line(&format_memory_brief(brief, output))
}

pub(super) fn format_memory_brief(brief: &Brief, output: &Output) -> String {
    let container = paint(output.styles.title, &escape_for_display(&brief.container));
    format_memory_line(&brief.id, &brief.created, &container, &brief.line, output)
}

/// Returns the name of a relation with spaces, as in `derived from`.
pub(super) fn format_relation(relation: &str) -> String {
    escape_for_display(&relation.replace('_', " "))
}

/// Most characters of a memory that its line shows.
const MOST_CHARS: usize = 80;

/// Returns whether the line of a memory shows its whole text.
pub(super) fn is_shown_by_line(memory: &Memory) -> bool {
    let content = memory.content.trim_end();
    memory.title.is_none() && !content.contains('\n') && content.chars().count() <= MOST_CHARS
}

/// Returns a memory in one line: id, age, details and text. The caller has escaped and painted `details`.
fn format_memory_line(id: &str, created: &str, details: &str, text: &str, output: &Output) -> String {
    let (cut, more) = match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    };
    let id = paint(output.styles.path, &escape_for_display(id));
    format!("{id}  {:>8}  {details}  {}{more}", format_age(created, output.now_ms), escape_for_display(cut))
}

pub(super) fn print_tallies(names: &[Tally], output: &mut Output) -> Result<(), CliError> {
    names.iter().try_for_each(|tally| {
        output.write_line(&format!("{:>6}  {}", tally.memories, escape_for_display(&tally.name)))
    })
}

/// The field of a change that names the worktree whose version changed.
const WORKTREE_FIELD: &str = "worktree";
/// The field of a change that is set if the change is about a file in conflict with the memory.
const CONFLICT_FIELD: &str = "beside";

/// Writes the history of a memory, one line for each field that changed.
pub(super) fn print_history(result: &HistoryResult, output: &mut Output) -> Result<(), CliError> {
    for Change { at, action, author, source, fields } in &result.changes {
        let action = paint(output.styles.title, &escape_for_display(action));
        let worktree = fields.get(WORKTREE_FIELD).and_then(|pair| pair[1].as_str());
        let worktree =
            worktree.map_or(String::new(), |name| format!(" in the worktree {}", escape_for_display(name)));
        let subject = if fields.contains_key(CONFLICT_FIELD) { " of the conflicting file" } else { "" };
        output.write_line(&format!(
            "{at}  {action}{subject} by {} ({}){worktree}",
            escape_for_display(author),
            escape_for_display(source)
        ))?;
        for (name, pair) in
            fields.iter().filter(|(name, _)| ![WORKTREE_FIELD, CONFLICT_FIELD].contains(&name.as_str()))
        {
            if name == "anchors" {
                output.write_line(&format!("  anchors: {}", describe_anchor_change(&pair[0], &pair[1])))?;
                continue;
            }
            output.write_line(&format!(
                "  {}: {} -> {}",
                escape_for_display(name),
                escape_json(&pair[0]),
                escape_json(&pair[1])
            ))?;
        }
    }
    Ok(())
}

/// Returns the anchors of a memory before and after a change, in words. If they have the same names, only the state of the code
/// changed.
fn describe_anchor_change(before: &Value, after: &Value) -> String {
    match (anchor_names(before), anchor_names(after)) {
        (Some(before), Some(after)) if before == after => format!("{after}, as the code was then"),
        (Some(before), Some(after)) => format!("{before} -> {after}"),
        _ => format!("{} -> {}", escape_json(before), escape_json(after)),
    }
}

/// Returns the names of the anchors in a JSON value; `None` if the value is not a list of anchors.
fn anchor_names(anchors: &Value) -> Option<String> {
    let anchors: Vec<Anchor> = serde_json::from_value(anchors.clone()).ok()?;
    let names: Vec<String> = anchors.iter().map(|anchor| escape_for_display(&anchor.to_string())).collect();
    Some(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}

fn escape_json(value: &Value) -> String {
    escape_for_display(&value.to_string())
}

pub(super) fn print_stats(stats: &StatsResult, output: &mut Output) -> Result<(), CliError> {
    let text = format_bytes(stats.content_bytes);
    let mut links = format_count(stats.links, "link", "links");
    if stats.links_archived > 0 {
        links += &format!(" and {} to archived memories", stats.links_archived);
    }
    let numbers = format!("{} living, {} archived, {text} of text, {links}", stats.living, stats.archived);
    print_field("memories", &numbers, output)?;
    if let (Some(oldest), Some(newest)) = (&stats.oldest, &stats.newest) {
        print_field("tiers", &summarize_tallies(&stats.tiers), output)?;
        print_field("containers", &summarize_tallies(&stats.containers), output)?;
        print_field("added", &format!("{oldest} to {newest}"), output)?;
    }
    if let Some(end) = &stats.next_end {
        print_field("ending", &format!("{} within 24 hours, the next at {end}", stats.expiring), output)?;
    }
    print_field(
        "database",
        &format!("{}, {}", escape_for_display(&stats.path), format_bytes(stats.bytes)),
        output,
    )?;
    for path in &stats.elsewhere {
        print_field("also in", &format!("{}, taken over from there", escape_for_display(path)), output)?;
    }
    let newest = stats
        .backups
        .first()
        .map_or(String::new(), |copy| format!(", newest {}", escape_for_display(&copy.path)));
    print_field(
        "backups",
        &format!("{}{newest}", format_count(stats.backups.len() as u64, "copy", "copies")),
        output,
    )
}

/// Returns the first counts with their names, and how many more there are.
fn summarize_tallies(tallies: &[Tally]) -> String {
    const MOST_TALLIES: usize = 8;
    let mut named: Vec<_> = tallies
        .iter()
        .take(MOST_TALLIES)
        .map(|tally| format!("{} {}", tally.memories, escape_for_display(&tally.name)))
        .collect();
    if tallies.len() > MOST_TALLIES {
        named.push(format!("{} more", tallies.len() - MOST_TALLIES));
    }
    named.join(", ")
}
