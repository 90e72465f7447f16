//! Lists the files of memories that are in conflict or cannot be read.

use std::sync::Arc;

use memod_base::clock::now_ms;
use memod_base::paths::RepoLayout;
use memod_base::types::{SourceKey, noun_form};
use memod_git::{GitError, GitIndex, Settings, UnmergedPath, UserDirs};
use memod_memory::file;
use memod_memory_db::{FileRow, FileSide, MemoryStore};
use memod_proto::{AnswerPart, Check, RpcError};

use crate::daemon::memories::rules::memory_rules::JobResult;
use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::reader_threads::run_reading;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::worktree_location::locate_worktree;
use crate::daemon::request::worktree_memories::WorktreeMemories;

/// Returns a failed check for each file of memories that is unmerged in git's index although memod finds no conflict in its text:
/// one side removed the file, or the conflict markers are too short.
pub(in crate::daemon) async fn check_unmerged(request: &Arc<RequestContext>, cwd: &str) -> Vec<Check> {
    let Ok(layout) = locate_worktree(request, cwd, request_deadline(request, None)).await else {
        return Vec::new(); // another check reports the worktree
    };
    let root = layout.root.clone();
    let found = run_reading(request, &root, move |_| Ok(list_unmerged(&layout)?)).await;
    found.unwrap_or_else(|error| vec![failed_check(file::DIR, error.message, None)])
}

/// Returns a check for each file of memories that is unmerged and has no conflict markers that memod recognizes.
///
/// # Errors
/// When git's index cannot be read.
pub(in crate::daemon::memories) fn list_unmerged(layout: &RepoLayout) -> Result<Vec<Check>, GitError> {
    let Some(git_dir) = &layout.git_dir else { return Ok(Vec::new()) };
    let settings = Settings::read(layout, &UserDirs::read())?;
    let tracked = GitIndex::read(&git_dir.join("index"), settings.object_hash, settings.ignore_case)?;
    let unmerged = tracked.list_unmerged_paths(file::DIR.into()).into_iter();
    Ok(unmerged.filter_map(|unmerged| check_unmerged_file(layout, &unmerged)).collect())
}

/// Returns a check for an unmerged file; `None` if memod finds the conflict in the text of the file.
fn check_unmerged_file(layout: &RepoLayout, unmerged: &UnmergedPath) -> Option<Check> {
    let path = &*unmerged.path.to_string();
    let [here, there] = match (unmerged.is_ours, unmerged.is_theirs) {
        (true, true) => {
            let detail = "unmerged, and its conflict markers are too short to be recognised";
            let hint =
                "merge it by hand, and let git write markers of seven characters (conflict-marker-size)";
            let is_hidden = has_short_markers(layout, path);
            return is_hidden.then(|| failed_check(path, detail.to_owned(), Some(hint.to_owned())));
        }
        (true, false) => ["changed", "removed"],
        _ => ["removed", "changed"],
    };
    let detail = format!("{here} by the side that git calls ours, {there} by theirs");
    let hint = format!("`git add :/{path}` keeps the memory, `git rm :/{path}` archives it");
    Some(failed_check(path, detail, Some(hint)))
}

/// Returns whether a file has markers of a conflict that are too short to be recognized.
fn has_short_markers(layout: &RepoLayout, path: &str) -> bool {
    let bytes =
        memod_scan::read_bytes(&layout.root, &SourceKey::new(path), file::MAX_FILE_BYTES).ok().flatten();
    let text = bytes.and_then(|bytes| file::decode_file(&bytes).ok());
    text.is_some_and(|text| {
        matches!(file::parse_conflict_sides(&text), Ok(None)) && file::may_have_conflict_markers(&text)
    })
}

/// Most files that are listed one by one.
const MOST_CHECKS: usize = 50;

impl WorktreeMemories<'_> {
    /// Checks the files of memories in the worktree. Returns no check if there are no such files.
    pub(in crate::daemon) async fn check_files(self, caveats: &NotedCaveats) -> Vec<Check> {
        let n_unlisted = self.count_unlisted_files();
        let files = self.run_job(|store| read_file_rows(store, now_ms())).await;
        let files = match files.map(|files| files.map_err(RpcError::from)) {
            Ok(Ok(files)) => files,
            Ok(Err(error)) | Err(error) => return vec![failed_check(file::DIR, error.message, None)],
        };
        let mut checks: Vec<Check> = files.iter().filter_map(check_row).collect();
        if checks.len() > MOST_CHECKS {
            let n_more = checks.len() - MOST_CHECKS;
            checks.truncate(MOST_CHECKS);
            checks.push(failed_check(file::DIR, format!("{n_more} more files like these"), None));
        }
        if n_unlisted > 0 {
            let detail = format!("{n_unlisted} more files that are not memories");
            let hint = "move files whose name is not the id of a memory out of this directory";
            checks.push(failed_check(file::DIR, detail, Some(hint.to_owned())));
        }
        let are_read = caveats.find_caveat(AnswerPart::Memories).is_none();
        if are_read && checks.is_empty() && !files.is_empty() {
            let n_files = files.len();
            let form = noun_form(n_files as u64, "file", "files");
            let detail = format!("{n_files} {form} of shared memories, none in conflict");
            checks.push(Check { name: file::DIR.to_owned(), ok: true, detail, hint: None });
        }
        checks
    }

    /// Returns a notice with the numbers of files of memories that are in conflict or unreadable, if there are any. Blocks.
    pub(in crate::daemon) fn read_files_notice(self) -> Option<String> {
        let counted = self.read_rows(|rows, _| rows.files().count_conflicted_and_hidden());
        render_files_notice(counted.and_then(Result::ok).unwrap_or_default(), self.count_unlisted_files())
    }
}

fn read_file_rows(store: &mut MemoryStore, now_ms: i64) -> JobResult<Vec<FileRow>> {
    store.read(now_ms, |rows| Ok(rows.files().list_file_rows()?))
}

/// Returns a failed check for a file that is in conflict or cannot be read; `None` for other files.
fn check_row(file: &FileRow) -> Option<Check> {
    let path = format!("{}/{}", file::DIR, file.name);
    match (&file.why, &file.id, file.side) {
        (Some(why), ..) => {
            let hint = "correct or remove the file; until then it is not read as a memory";
            Some(failed_check(&path, why.clone(), Some(hint.to_owned())))
        }
        (None, Some(id), FileSide::Ours) => {
            let hint = format!(
                "`memo get {id}` shows both sides, `memo resolve {id} --ours|--theirs|--text TEXT` ends the conflict"
            );
            Some(failed_check(&path, "in conflict".to_owned(), Some(hint)))
        }
        (None, Some(id), FileSide::Theirs) if file.is_beside_own => {
            let detail = "in conflict: a private memory of yours has its id and another text";
            Some(failed_check(&path, detail.to_owned(), Some(private_conflict_hint(id))))
        }
        _ => None,
    }
}

/// Returns a hint on resolving a conflict between a private memory and a shared one with the same id.
pub(in crate::daemon) fn private_conflict_hint(id: &str) -> String {
    format!(
        "`memo get {id}` shows both; `memo resolve {id} --theirs` takes their version, `--ours` or `--text TEXT` gives them yours, `--both` keeps both and gives yours a new id"
    )
}

fn failed_check(name: &str, detail: String, hint: Option<String>) -> Check {
    Check { name: name.to_owned(), ok: false, detail, hint }
}

/// Returns a notice with the numbers of files of memories that are in conflict or unreadable, if there are any.
pub(in crate::daemon::memories) fn build_files_notice(
    store: &mut MemoryStore,
    now_ms: i64,
    n_unlisted: usize,
) -> Option<String> {
    let counted: JobResult<[u64; 2]> =
        store.read(now_ms, |rows| Ok(rows.files().count_conflicted_and_hidden()?));
    render_files_notice(counted.unwrap_or_default(), n_unlisted)
}

/// Renders the numbers of files that are in conflict or unreadable as a notice; `None` if there are no such files.
fn render_files_notice([n_disputed, n_unreadable]: [u64; 2], n_unlisted: usize) -> Option<String> {
    let counted = [n_disputed, n_unreadable + n_unlisted as u64];
    let parts = counted.into_iter().zip(["in conflict", "unreadable"]).filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, trouble)| format!("{n} {trouble}")).collect();
    (!parts.is_empty())
        .then(|| format!("files of shared memories: {}; `memo doctor` lists them", parts.join(", ")))
}
