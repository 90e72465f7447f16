//! Walks a worktree or a directory and lists its indexed files.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use gix::bstr::{BString, ByteSlice};
use memod_base::paths::{PathError, RepoLayout};
use memod_base::types::{ReadRefusal, SourceKey, Stat, is_secret_name};

use super::{AdmissionRules, FileKind, RelPath, ScanError, Verdict, lstat, name_bytes, path_on_disk};

/// A path that git lists, at the time of the visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Path of the file; a lossy one if the path is not UTF-8.
    pub key: SourceKey,
    /// Signature of the file.
    pub stat: Stat,
    /// Why the file is refused; `None` if it is admitted.
    pub refusal: Option<ReadRefusal>,
}

/// Callbacks of a walk.
pub trait Visit {
    /// A directory is about to be listed; `key` is its path below the root, `None` for the root itself. A watcher must watch the
    /// directory before this returns, because files that are created later are only reported as events, not listed.
    fn before_listing(&mut self, abs: &Path, key: Option<&SourceKey>);
    /// A directory is about to be examined, which may take long.
    fn before_examining(&mut self, _abs: &Path) {}
    /// A path is admitted or refused.
    fn visit_file(&mut self, found: ListedFile);
    /// A file that git ignores has a secret name.
    fn visit_ignored_secret(&mut self, _stat: Stat) {}
    /// A path and everything below it is not accessible; the walk continues. `None` means the root.
    fn report_problem(&mut self, key: Option<SourceKey>, problem: ScanError);
    /// A path and everything below it could not be examined this time; the walk continues. `None` means the root.
    fn report_unread(&mut self, key: Option<SourceKey>, why: String);
    /// Returns whether to end the walk early; called before each directory.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Walks the worktree, or `below` and everything in it, in the order of the names' bytes within each directory.
///
/// Files that vanish are skipped silently. A directory without permission is both a problem and one refusal. A directory
/// that cannot be listed at the moment, or whose ignore file cannot be read, is reported as unread.
///
/// Returns whether no listed directory has changed, so that the listings show one moment. Two changes within one tick of the
/// file system's clock (4 ms on Linux before 6.13) look like one.
///
/// # Errors
/// When the root is gone or not a directory; nothing was visited.
pub fn walk(
    layout: &RepoLayout,
    admission: &mut AdmissionRules,
    below: Option<&SourceKey>,
    visit: &mut dyn Visit,
) -> Result<bool, ScanError> {
    let root = &layout.root;
    let failed = |source| ScanError::Root(PathError { action: "open", path: root.clone(), source });
    if FileKind::from_stat(&lstat(root).map_err(failed)?) != FileKind::Directory {
        return Err(failed(io::ErrorKind::NotADirectory.into()));
    }
    let mut walk =
        WorktreeWalk { admission, visit, pending: Vec::new(), listed: Vec::new(), lossy: HashSet::new() };
    match below {
        None => walk.pending.push(BString::default()),
        Some(key) => walk.visit_start(RelPath::new(key.as_str())),
    }
    walk.visit_pending();
    Ok(walk.are_listed_dirs_unchanged())
}

struct WorktreeWalk<'a> {
    admission: &'a mut AdmissionRules,
    visit: &'a mut dyn Visit,
    /// A stack of directories to enter. The walk is not recursive, because a hostile tree can be deeper than the call stack.
    pending: Vec<BString>,
    /// Stats of directories before they were listed.
    listed: Vec<(PathBuf, Stat)>,
    /// Lossy names that were reported; two names can have the same lossy name.
    lossy: HashSet<String>,
}

impl WorktreeWalk<'_> {
    fn visit_start(&mut self, path: &RelPath) {
        match lstat(&self.disk_path(path)) {
            Ok(stat) => self.visit_path(path, FileKind::from_stat(&stat), || Ok(stat)),
            Err(error) => self.report_stat_error(path, error),
        }
    }

    fn visit_pending(&mut self) {
        while let Some(dir) = self.pending.pop() {
            if self.visit.should_stop() {
                return;
            }
            self.enter_dir(dir.as_bstr());
        }
    }

    /// Returns whether no listed directory has changed since it was listed.
    fn are_listed_dirs_unchanged(&self) -> bool {
        self.listed.iter().all(|(dir, before)| lstat(dir).is_ok_and(|now| now == *before))
    }

    fn enter_dir(&mut self, dir: &RelPath) {
        let abs = self.disk_path(dir);
        match dir.to_str() {
            Ok("") => self.visit.before_listing(&abs, None),
            Ok(key) => self.visit.before_listing(&abs, Some(&SourceKey::new(key))),
            // Nothing below can be admitted, so nothing there needs a watch.
            Err(_) => {}
        }
        if let Some(why) = self.admission.undecided_dir_reason(dir) {
            return self.visit.report_unread(nearest_utf8_key(dir), why);
        }
        let (stat, entries) = match list_dir(&abs) {
            Ok(listed) => listed,
            Err(error) => return self.report_list_error(dir, &abs, error),
        };
        self.listed.push((abs, stat));
        let first_pending = self.pending.len();
        for (name, entry) in entries {
            let path = if dir.is_empty() { name } else { [dir.as_bytes(), b"/", &name].concat().into() };
            match entry.file_type() {
                Ok(kind) => {
                    self.visit_path(path.as_bstr(), FileKind::from_file_type(kind), || lstat(&entry.path()));
                }
                Err(error) => self.report_stat_error(path.as_bstr(), error),
            }
        }
        self.pending[first_pending..].reverse();
    }

    /// Visits one path, and reads its stat only if necessary.
    fn visit_path(&mut self, path: &RelPath, kind: FileKind, stat: impl FnOnce() -> io::Result<Stat>) {
        if kind == FileKind::Directory {
            self.visit.before_examining(&self.disk_path(path));
        }
        if kind == FileKind::Directory && self.admission.should_enter_path(path) {
            self.pending.push(path.to_owned());
            return;
        }
        let verdict = self.admission.judge_kind(path, kind);
        if verdict == Verdict::Ignored {
            if kind == FileKind::Regular
                && path.to_str().is_ok_and(is_secret_name)
                && let Ok(stat) = stat()
            {
                self.visit.visit_ignored_secret(stat);
            }
            return;
        }
        match stat() {
            // The path was replaced since the listing, which causes an event if it still matters.
            Ok(stat) if FileKind::from_stat(&stat) != kind => {}
            Ok(stat) if verdict == Verdict::Admitted => {
                self.report_found(path, stat, self.admission.judge_size(&stat));
            }
            Ok(stat) => self.report_found(path, stat, verdict),
            Err(error) => self.report_stat_error(path, error),
        }
    }

    fn report_stat_error(&mut self, path: &RelPath, error: io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.report_error(path, "look at", error);
        }
    }

    fn report_found(&mut self, path: &RelPath, stat: Stat, verdict: Verdict) {
        let refusal = match verdict {
            Verdict::Ignored => return,
            Verdict::Admitted => None,
            Verdict::Refused(reason) => Some(reason),
        };
        let Ok(key) = path.to_str() else {
            return self.report_not_utf8(path, stat);
        };
        self.visit.visit_file(ListedFile { key: SourceKey::new(key), stat, refusal });
    }

    /// Reports a path under its lossy name, unless a file has exactly that name.
    fn report_not_utf8(&mut self, path: &RelPath, stat: Stat) {
        let lossy = path.to_str_lossy().into_owned();
        let is_taken = lstat(&self.disk_path(RelPath::new(lossy.as_bytes()))).is_ok();
        if !is_taken && self.lossy.insert(lossy.clone()) {
            let key = SourceKey::new(lossy);
            self.visit.visit_file(ListedFile { key, stat, refusal: Some(ReadRefusal::NameNotUtf8) });
        }
    }

    fn report_list_error(&mut self, dir: &RelPath, abs: &Path, error: io::Error) {
        match error.kind() {
            io::ErrorKind::NotFound => return,
            io::ErrorKind::PermissionDenied => {
                if let (Ok(key), Ok(stat)) = (dir.to_str(), lstat(abs))
                    && !key.is_empty()
                {
                    let refusal = Some(ReadRefusal::Unreadable);
                    self.visit.visit_file(ListedFile { key: SourceKey::new(key), stat, refusal });
                }
            }
            _ => {}
        }
        self.report_error(dir, "list", error);
    }

    fn report_error(&mut self, path: &RelPath, action: &'static str, source: io::Error) {
        let error = PathError { action, path: self.disk_path(path), source };
        if error.is_transient() {
            self.visit.report_unread(nearest_utf8_key(path), error.to_string());
        } else {
            self.visit.report_problem(nearest_utf8_key(path), ScanError::Directory(error));
        }
    }

    fn disk_path(&self, path: &RelPath) -> std::path::PathBuf {
        path_on_disk(self.admission.rules().root(), path)
    }
}

/// Returns the path itself, or the nearest directory above it whose name is UTF-8; `None` for the root.
fn nearest_utf8_key(path: &RelPath) -> Option<SourceKey> {
    let mut path = path;
    while path.to_str().is_err() {
        path = super::rules::parent_dir(path);
    }
    path.to_str().ok().filter(|path| !path.is_empty()).map(SourceKey::new)
}

/// Lists a directory in the order of its names; returns its stat from before, too. Fails if a link has replaced the directory.
fn list_dir(dir: &Path) -> io::Result<(Stat, Vec<(BString, DirEntry)>)> {
    let before = lstat(dir)?; // this also makes a network file system list the directory again if it has changed
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        entries.push((BString::from(name_bytes(&entry.file_name())), entry));
    }
    if FileKind::from_stat(&lstat(dir)?) != FileKind::Directory {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok((before, entries))
}
