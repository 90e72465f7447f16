//! Lists files of memories that are in conflict, or cannot be read.

use std::sync::Arc;

use gix::bstr::BString;
use memod_base::paths::RepoLayout;
use memod_base::types::SourceKey;
use memod_engine::clock::now_ms;
use memod_git::{GitError, Settings, Tracked, UserDirs};
use memod_memory::file;
use memod_memory_db::{FileRow, MemoryStore, Side};
use memod_proto::{AnswerPart, Check, RpcError};

use super::keeper::Memories;
use super::rules::Done;
use crate::daemon::request::caveats;
use crate::daemon::request::memory_scope;
use crate::daemon::request::{deadline, locate, reading};
use crate::daemon::shared::Shared;

/// Lists the files of memories that git's index has as unmerged, though memod reads no conflict in them: one side has removed the file,
/// or its markers are too short.
pub(in crate::daemon) async fn check_unmerged(shared: &Arc<Shared>, cwd: &str) -> Vec<Check> {
    let Ok(layout) = locate(shared, cwd, deadline(shared, None)).await else {
        return Vec::new(); // the worktree has a check of its own
    };
    let root = layout.root.clone();
    let found = reading(shared, &root, move |_| Ok(unmerged(&layout)?)).await;
    found.unwrap_or_else(|error| vec![bad(file::DIR, error.message, None)])
}

/// Returns a check for each file of memories that is unmerged and has no markers that memod knows.
///
/// # Errors
/// When git's index cannot be read.
pub(super) fn unmerged(layout: &RepoLayout) -> Result<Vec<Check>, GitError> {
    let Some(git_dir) = &layout.git_dir else { return Ok(Vec::new()) };
    let settings = Settings::read(layout, &UserDirs::read())?;
    let tracked = Tracked::read(&git_dir.join("index"), settings.object_hash, settings.ignore_case)?;
    let check = |(path, sides): (BString, [bool; 2])| {
        let path = path.to_string();
        let [here, there] = match sides {
            [true, true] => {
                let detail =
                    "unmerged, and the markers of the conflict are too short to be told from its text";
                let hint =
                    "merge it by hand, and let git write markers of seven characters (conflict-marker-size)";
                let is_hidden = has_short_markers(layout, &path);
                return is_hidden.then(|| bad(&path, detail.to_owned(), Some(hint.to_owned())));
            }
            [true, false] => ["changed", "removed"],
            _ => ["removed", "changed"],
        };
        let detail = format!("{here} by the side that git calls ours, {there} by theirs");
        let hint = format!("`git add :/{path}` keeps the memory, `git rm :/{path}` archives it");
        Some(bad(&path, detail, Some(hint)))
    };
    Ok(tracked.unmerged_below(file::DIR.into()).into_iter().filter_map(check).collect())
}

/// Returns whether a file seems to be in conflict, but is not taken for that.
fn has_short_markers(layout: &RepoLayout, path: &str) -> bool {
    let bytes = memod_scan::read_bytes(&layout.root, &SourceKey::new(path), file::MAX_FILE).ok().flatten();
    let text = bytes.and_then(|bytes| file::text_of(&bytes).ok());
    text.is_some_and(|text| matches!(file::parse_sides(&text), Ok(None)) && file::may_have_sides(&text))
}

/// Most files that are listed one by one.
const MOST_CHECKS: usize = 50;

impl Memories {
    /// Checks the files of the worktree; nothing is said where there are none.
    pub(in crate::daemon) async fn check_files(&self) -> Vec<Check> {
        let n_unlisted = self.files.n_unlisted(memory_scope::worktree());
        let files = self.ask(|store| rows(store, now_ms())).await;
        let files = match files.map(|files| files.map_err(RpcError::from)) {
            Ok(Ok(files)) => files,
            Ok(Err(error)) | Err(error) => return vec![bad(file::DIR, error.message, None)],
        };
        let mut checks: Vec<Check> = files.iter().filter_map(check).collect();
        if checks.len() > MOST_CHECKS {
            let n_more = checks.len() - MOST_CHECKS;
            checks.truncate(MOST_CHECKS);
            checks.push(bad(file::DIR, format!("{n_more} more files like these"), None));
        }
        if n_unlisted > 0 {
            let detail = format!("{n_unlisted} more files that are no memories");
            let hint = "only files that are named by the id of a memory belong there: move the others away";
            checks.push(bad(file::DIR, detail, Some(hint.to_owned())));
        }
        let are_read = caveats::noted(AnswerPart::Memories).is_none();
        if are_read && checks.is_empty() && !files.is_empty() {
            let detail = format!("{} files of shared memories, none in conflict", files.len());
            checks.push(Check { name: file::DIR.to_owned(), ok: true, detail, hint: None });
        }
        checks
    }

    /// Returns a notice on files that need somebody. Blocks.
    pub(in crate::daemon) fn files_note(&self) -> Option<String> {
        let counted = self.finder.read(now_ms(), |rows, _| rows.file_troubles());
        told(
            counted.and_then(Result::ok).unwrap_or_default(),
            self.files.n_unlisted(memory_scope::worktree()),
        )
    }
}

fn rows(store: &mut MemoryStore, now_ms: i64) -> Done<Vec<FileRow>> {
    store.read(now_ms, |rows| Ok(rows.file_rows()?))
}

fn check(file: &FileRow) -> Option<Check> {
    let path = format!("{}/{}", file::DIR, file.name);
    match (&file.why, &file.id, file.side) {
        (Some(why), ..) => {
            let hint = "correct it, or remove it; until then it is no memory";
            Some(bad(&path, why.clone(), Some(hint.to_owned())))
        }
        (None, Some(id), Side::Ours) => {
            let hint = format!(
                "`memo get {id}` shows both sides, `memo resolve {id} --ours|--theirs|--text TEXT` ends it"
            );
            Some(bad(&path, "in conflict".to_owned(), Some(hint)))
        }
        (None, Some(id), Side::Theirs) if file.is_beside_own => {
            let detail = "in conflict: a memory of yours alone has its id and says something else";
            Some(bad(&path, detail.to_owned(), Some(how_to_resolve_own(id))))
        }
        _ => None,
    }
}

/// Returns how to end a conflict between what is this user's alone and what others have.
pub(in crate::daemon) fn how_to_resolve_own(id: &str) -> String {
    format!(
        "`memo get {id}` shows both; `memo resolve {id} --theirs` takes theirs, `--ours` or `--text TEXT` gives them yours, `--both` keeps both, yours under an id of its own"
    )
}

fn bad(name: &str, detail: String, hint: Option<String>) -> Check {
    Check { name: name.to_owned(), ok: false, detail, hint }
}

/// Returns a notice on files that need somebody.
pub(super) fn troubles(store: &mut MemoryStore, now_ms: i64, n_unlisted: usize) -> Option<String> {
    let counted: Done<[u64; 2]> = store.read(now_ms, |rows| Ok(rows.file_troubles()?));
    told(counted.unwrap_or_default(), n_unlisted)
}

fn told([n_disputed, n_unreadable]: [u64; 2], n_unlisted: usize) -> Option<String> {
    let counted = [n_disputed, n_unreadable + n_unlisted as u64];
    let told = counted.into_iter().zip(["in conflict", "unreadable"]).filter(|(n, _)| *n > 0);
    let told: Vec<String> = told.map(|(n, what)| format!("{n} {what}")).collect();
    (!told.is_empty())
        .then(|| format!("files of shared memories: {}; `memo doctor` lists them", told.join(", ")))
}
