//! Lists the files of shared memories in a worktree.
//!
//! Many files that are not memories cost little time: only the first few are examined, and the others are counted.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext as _, PathError};
use memod_base::types::Stat;
use memod_engine::file_access::file_access_progress::FileAccessProgress;
use memod_memory::file;
use memod_scan::lstat;

use crate::daemon::memories::memory_files::recover_files::may_be_left_by_sync_notes;
use crate::daemon::shared::known_files::{FileListing, KnownWorktreeFiles, MOST_WITHOUT_MEMORY};

/// Most files that are examined although their name is not the id of a memory.
const MOST_OTHERS: usize = 20;

/// The names of files in the directory of memories.
#[derive(Default)]
struct DirNames {
    /// Names that are ids of memories.
    ids: Vec<String>,
    /// The first few names that are no ids.
    others: BTreeSet<String>,
    /// Number of further names that are no ids.
    n_unlisted: usize,
    /// Whether there may be temporary files of `memo share sync`.
    has_temporary: bool,
}

impl DirNames {
    fn add(&mut self, name: String) {
        if file::parse_file_name(&name).is_ok() {
            return self.ids.push(name);
        }
        self.others.insert(name);
        if self.others.len() > MOST_OTHERS {
            self.others.pop_last();
            self.n_unlisted += 1;
        }
    }
}

/// Lists the directory of memories and the signatures of its files. Reuses the names of the last listing if the directory is
/// unchanged and has many files without a memory.
///
/// # Errors
/// When the directory cannot be listed, or its path is not a directory.
pub(super) fn list_files(
    root: &Path,
    last: Option<&KnownWorktreeFiles>,
    progress: &FileAccessProgress,
) -> Result<FileListing, PathError> {
    progress.begin_access(&root.join(file::DIR));
    let Some((dir, stat)) = find_dir(root)? else { return Ok(FileListing::default()) };
    let (names, n_unlisted, has_temporary): (Vec<String>, usize, bool) =
        match last.and_then(|files| files.known_names(&stat)) {
            Some((names, n_unlisted)) => (names, n_unlisted, false),
            None => {
                let DirNames { ids, others, n_unlisted, has_temporary } = read_names(&dir, progress)?;
                (ids.into_iter().chain(others).collect(), n_unlisted, has_temporary)
            }
        };
    progress.end_access(); // the sets below take time without an access to the file system
    let [without_memory, skipped] = last.map(|files| files.split_without_memory(&names)).unwrap_or_default();
    // Files that were skipped last time are examined now, up to the limit.
    let skipped: BTreeSet<String> =
        skipped.into_iter().skip(MOST_WITHOUT_MEMORY.saturating_sub(without_memory.len())).cloned().collect();
    let without_memory = without_memory.into_iter().cloned().collect();
    let mut listing = FileListing {
        n_unlisted,
        has_temporary,
        dir: Some(stat),
        without_memory,
        skipped,
        ..FileListing::default()
    };
    for name in names {
        if listing.skipped.contains(&name) {
            continue;
        }
        let path = dir.join(&name);
        progress.begin_access(&path);
        match lstat(&path) {
            Ok(stat) => drop(listing.files.insert(name, stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) if listing.is_over_limit_with(&name) => drop(listing.skipped.insert(name)),
            Err(error) => {
                let why = PathError { action: "look at", path, source: error }.to_string();
                listing.without_memory.insert(name.clone());
                listing.unread.insert(name, why);
            }
        }
    }
    progress.end_access();
    Ok(listing)
}

/// Returns the directory of memories and its signature; `None` if there is no such directory.
fn find_dir(root: &Path) -> Result<Option<(PathBuf, Stat)>, PathError> {
    let (mut dir, mut found) = (root.to_owned(), None);
    for part in file::DIR.split('/') {
        dir.push(part);
        found = match lstat(&dir) {
            Ok(stat) if stat.is_dir() => Some(stat),
            Ok(_) => {
                let error = io::Error::other("not a directory; the files of shared memories are in one");
                return Err(error).at("list", &dir);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(error).at("look at", &dir),
        }
    }
    Ok(found.map(|stat| (dir, stat)))
}

fn read_names(dir: &Path, progress: &FileAccessProgress) -> Result<DirNames, PathError> {
    let mut names = DirNames::default();
    for entry in fs::read_dir(dir).at("list", dir)? {
        progress.begin_access(dir);
        let name = entry.at("list", dir)?.file_name().to_string_lossy().into_owned();
        match name.starts_with('.') {
            // A temporary file of memod, or a file of another program.
            true => names.has_temporary |= may_be_left_by_sync_notes(&name),
            false => names.add(name),
        }
    }
    Ok(names)
}
