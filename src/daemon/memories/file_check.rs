//! Says which files of memories are in conflict or cannot be read.

use super::keeper::Memories;
use super::rules::Done;
use crate::daemon::clock::now_ms;
use crate::memory::file;
use crate::proto::{Check, RpcError};
use crate::store::{FileRow, MemoryStore, Side};

impl Memories {
    /// Checks the files of the worktree; nothing is said where there are none.
    pub(in crate::daemon) async fn check_files(&self) -> Vec<Check> {
        let files = self.ask(|store| rows(store, now_ms())).await;
        let files = match files.map(|files| files.map_err(RpcError::from)) {
            Ok(Ok(files)) => files,
            Ok(Err(error)) | Err(error) => return vec![bad(file::DIR, error.message, None)],
        };
        let mut checks: Vec<Check> = files.iter().filter_map(check).collect();
        checks.extend(self.files.failures().into_iter().map(|why| bad(file::DIR, why, None)));
        if checks.is_empty() && !files.is_empty() {
            let detail = format!("{} files of shared memories, none in conflict", files.len());
            checks.push(Check { name: file::DIR.to_owned(), ok: true, detail, hint: None });
        }
        checks
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
        _ => None,
    }
}

fn bad(name: &str, detail: String, hint: Option<String>) -> Check {
    Check { name: name.to_owned(), ok: false, detail, hint }
}

/// Returns a notice on files that need somebody.
pub(super) fn troubles(store: &mut MemoryStore, now_ms: i64) -> Option<String> {
    let files = rows(store, now_ms).ok()?;
    let n_conflicts = files.iter().filter(|file| file.side == Side::Ours).count();
    let n_bad = files.iter().filter(|file| file.why.is_some()).count();
    let told = [(n_conflicts, "in conflict"), (n_bad, "unreadable")];
    let told: Vec<String> =
        told.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    (!told.is_empty())
        .then(|| format!("files of shared memories: {}; `memo doctor` lists them", told.join(", ")))
}
