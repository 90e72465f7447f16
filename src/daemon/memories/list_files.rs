//! Lists the files of shared memories in a worktree.
//!
//! What is no memory costs one listing: of such files only the first are looked at one by one, and the others are counted.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext as _, PathError};
use memod_base::types::Stat;
use memod_engine::look_progress::LookProgress;
use memod_memory::file;
use memod_scan::lstat;

use super::file_recovery::may_be_left_by_notes;
use super::known_files::{Listing, Look, MOST_BARREN};

/// Most files whose names are no ids that are looked at one by one.
const MOST_OTHERS: usize = 20;

/// Names in the directory.
#[derive(Default)]
struct Names {
    ids: Vec<String>,
    /// The first that are no ids.
    others: BTreeSet<String>,
    n_unlisted: usize,
    has_left: bool,
}

impl Names {
    fn add(&mut self, name: String) {
        if file::id_of(&name).is_ok() {
            return self.ids.push(name);
        }
        self.others.insert(name);
        if self.others.len() > MOST_OTHERS {
            self.others.pop_last();
            self.n_unlisted += 1;
        }
    }
}

/// Lists the directory. Where most of it was no memories the last time, and it has not changed, the names are known.
///
/// # Errors
/// When it cannot be listed, or is not a directory of the worktree.
pub(super) fn list(root: &Path, last: Option<&Look>, progress: &LookProgress) -> Result<Listing, PathError> {
    progress.ask(&root.join(file::DIR));
    let Some((dir, stat)) = find_dir(root)? else { return Ok(Listing::default()) };
    let (names, n_unlisted, has_left): (Vec<String>, usize, bool) =
        match last.and_then(|look| look.known_names(&stat)) {
            Some((names, n_unlisted)) => (names, n_unlisted, false),
            None => {
                let Names { ids, others, n_unlisted, has_left } = read_names(&dir, progress)?;
                (ids.into_iter().chain(others).collect(), n_unlisted, has_left)
            }
        };
    progress.end(); // to go through the names takes time, too, and is not the file system's
    let [barren, left] = last.map(|look| look.barren_of(&names)).unwrap_or_default();
    // As many of those that were left as there is room for now.
    let left: BTreeSet<String> =
        left.into_iter().skip(MOST_BARREN.saturating_sub(barren.len())).cloned().collect();
    let barren = barren.into_iter().cloned().collect();
    let mut listing = Listing { n_unlisted, has_left, dir: Some(stat), barren, left, ..Listing::default() };
    for name in names {
        if listing.left.contains(&name) {
            continue;
        }
        let path = dir.join(&name);
        progress.ask(&path);
        match lstat(&path) {
            Ok(stat) => drop(listing.files.insert(name, stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) if listing.is_full_for(&name) => drop(listing.left.insert(name)),
            Err(error) => {
                let why = PathError { action: "look at", path, source: error }.to_string();
                listing.barren.insert(name.clone());
                listing.unread.insert(name, why);
            }
        }
    }
    progress.end();
    Ok(listing)
}

/// Returns the directory of memories; `None` if there is none.
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

fn read_names(dir: &Path, progress: &LookProgress) -> Result<Names, PathError> {
    let mut names = Names::default();
    for entry in fs::read_dir(dir).at("list", dir)? {
        progress.ask(dir);
        let name = entry.at("list", dir)?.file_name().to_string_lossy().into_owned();
        match name.starts_with('.') {
            // Ours while a file is written, or of another program.
            true => names.has_left |= may_be_left_by_notes(&name),
            false => names.add(name),
        }
    }
    Ok(names)
}
