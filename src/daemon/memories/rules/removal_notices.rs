//! Builds notices on the removal of memories that are shared as files or with a team.

use memod_memory_db::{FileSide, MemoryRecord};

use crate::daemon::memories::rules::memory_rules::join_notices;

/// The words of a notice about archived memories of the team: those of a run, and those of a dry run.
pub(in crate::daemon::memories) const TEAM_ARCHIVED_WORDS: [&str; 2] =
    ["archived for the whole team", "would be archived for the whole team"];

/// Returns a notice on the shared or conflicting ones of the memories that were removed, or that a dry run would remove. `team` has
/// the words for memories of the team: those of a run, and those of a dry run.
pub(in crate::daemon::memories) fn removal_notice(
    records: &[MemoryRecord],
    team: [&str; 2],
    dry_run: bool,
) -> Option<String> {
    let living: Vec<&MemoryRecord> = records.iter().filter(|record| record.archived_at.is_none()).collect();
    let with_files =
        ["removed with their files in the worktree", "would be removed with their files in the worktree"];
    let staying = ["remaining in the version of others", "would remain in the version of others"];
    let in_conflict =
        ["in conflict, removed with both sides", "in conflict, would be removed with both sides"];
    let counted = [
        (count_records(&living, |record| record.shared), with_files),
        (
            count_records(&living, |record| !record.is_shared_or_team() && record.side == FileSide::Ours),
            staying,
        ),
        (count_records(&living, |record| record.shared && record.side == FileSide::Ours), in_conflict),
        (count_records(&living, |record| record.team), team),
    ];
    let counted = counted.into_iter().filter(|(n, _)| *n > 0);
    let notices: Vec<String> =
        counted.map(|(n, words)| format!("{}: {n}", words[usize::from(dry_run)])).collect();
    join_notices(&notices)
}

fn count_records(records: &[&MemoryRecord], is_counted: fn(&MemoryRecord) -> bool) -> usize {
    records.iter().filter(|record| is_counted(record)).count()
}
