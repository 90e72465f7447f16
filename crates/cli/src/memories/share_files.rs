//! Shares memories as files or with the team, and ends conflicts in the files of memories.

use std::time::Duration;

use memod_proto::memory::{
    MemoryScope, ResolveFileParams, ResolveFileResult, ShareParams, ShareResult, SideName,
};
use memod_terminal::text::{escape_for_display, escape_lines, format_count};
use memod_terminal::{CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::notes_git::NotesGit;
use super::print_memories;
use super::request::{new_caller, read_text_or_stdin};
use crate::args::{ResolveArgs, ShareArgs, ShareWithArgs};

/// Longest wait for an answer. Sharing takes long, because the file of each memory is synced to disk.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

/// Shares memories. Exits with 1 when there is none to share.
pub(crate) fn share_memories(
    typed: ShareWithArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let words = match typed.team {
        true => ["shared with the team", "would be shared with the team", "shared with the team already"],
        false => ["shared", "would be shared", "shared already"],
    };
    change_sharing("memory.share", words, typed, context, output)
}

/// Ends the sharing of memories. Exits with 1 when none was shared.
pub(crate) fn unshare_memories(typed: ShareArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let typed = ShareWithArgs { share: typed, team: false };
    let words = ["no longer shared", "would no longer be shared", "not shared"];
    change_sharing("memory.unshare", words, typed, context, output)
}

fn change_sharing(
    method: &str,
    [done, would, already]: [&str; 3],
    ShareWithArgs { share: typed, team }: ShareWithArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let selection = typed.filter.into_selection(typed.ids);
    let params = ShareParams { caller: new_caller(context), selection, team, dry_run: typed.dry_run };
    let mut client = context.connect()?;
    client.set_answer_limit(ANSWER_TIMEOUT);
    let result: ShareResult = client.call(method, &params)?;
    output.write_result(&result, |output| {
        for file in &result.files {
            let name = if file.path.is_empty() { &file.id } else { &file.path };
            output.write_line(&escape_for_display(name))?;
            if let Some(text) = &file.text {
                output.write_line(escape_lines(text).trim_end_matches('\n'))?;
            }
        }
        output.flush()?;
        let memories = format_count(result.memories.len() as u64, "memory", "memories");
        match (result.memories.is_empty(), result.dry_run) {
            (true, _) if result.already > 0 => {
                output.write_note(&format!(
                    "{} {already}",
                    format_count(result.already, "memory is", "memories are")
                ));
            }
            (true, _) => output.write_note("no such memories"),
            (false, true) => output.write_note(&format!("{memories} {would}")),
            (false, false) if result.files.iter().any(|file| !file.path.is_empty()) => {
                let next = match NotesGit::has_exchanged_notes(context.layout.git_dir.as_deref()) {
                    true => "`memo share sync` exchanges the change",
                    false => "commit the change as you commit code",
                };
                output.write_note(&format!("{memories} {done}; {next}"));
            }
            (false, false) => output.write_note(&format!("{memories} {done}")),
        }
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    Ok(if result.memories.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

/// Ends the conflict in the file of a memory.
pub(super) fn resolve_file_conflict(
    typed: ResolveArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let sides =
        [(typed.ours, SideName::Ours), (typed.theirs, SideName::Theirs), (typed.both, SideName::Both)];
    let side = sides.into_iter().find(|(is_chosen, _)| *is_chosen).map(|(_, side)| side);
    let text = typed.text.map(read_text_or_stdin).transpose()?;
    let params = ResolveFileParams { caller: new_caller(context), id: typed.winner, side, text };
    let result: ResolveFileResult = context.connect()?.call("memory.resolve_file", &params)?;
    output.write_result(&result, |output| {
        print_memories::print_memory_lines(std::slice::from_ref(&result.memory), output)?;
        output.flush()?;
        let next = match result.path.is_empty() {
            true if result.memory.scope == MemoryScope::Team => "; the team gets the result".to_owned(),
            true => String::new(),
            false if NotesGit::has_exchanged_notes(context.layout.git_dir.as_deref()) => {
                "; `memo share sync` continues the exchange".to_owned()
            }
            false => {
                format!("; `git add {}` marks the file as resolved in git", escape_for_display(&result.path))
            }
        };
        output.write_note(&format!("the conflict is resolved{next}"));
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    Ok(0)
}
