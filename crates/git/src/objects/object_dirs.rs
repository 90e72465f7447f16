//! Lists the directories of the objects of a repository, and finds what gix cannot read in them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use gix::hash::Kind as ObjectHash;
use memod_base::paths::{IoContext as _, PathError, none_if_unreadable, read_regular};

use crate::git_error::GitError;
use crate::special::refuse_special_file;

/// Most directories of objects that are followed.
const MOST_ALTERNATES: usize = 64;

/// The directories of the objects of a repository, its own first.
pub(super) struct ObjectDirs(Vec<PathBuf>);

impl ObjectDirs {
    /// Finds the directories by following the lists of alternates, as git does. Refuses special files in the place of a list
    /// or a pack.
    pub(super) fn find(objects: &Path) -> Result<Self, GitError> {
        let mut dirs = vec![objects.to_owned()];
        let mut at = 0;
        while let Some(dir) = dirs.get(at).filter(|_| at < MOST_ALTERNATES).cloned() {
            at += 1;
            refuse_special_packs(&dir.join("pack"))?;
            let list = dir.join("info/alternates");
            refuse_special_file(&list)?;
            let bytes = none_if_unreadable(read_regular(&list)).at("read", &list)?.unwrap_or_default();
            // Gix reads the same list, and reports lines that do not parse.
            for path in gix::odb::alternate::parse(&bytes).unwrap_or_default() {
                let path = objects.join(path);
                if !dirs.contains(&path) {
                    dirs.push(path);
                }
            }
        }
        Ok(Self(dirs))
    }

    /// Refuses a special file in the place of a loose object.
    pub(super) fn refuse_special_object(&self, id: &gix::oid) -> Result<(), GitError> {
        let hex = id.to_hex().to_string();
        let (dir, name) = hex.split_at(2);
        self.0.iter().try_for_each(|objects| refuse_special_file(&objects.join(dir).join(name)))
    }
}

impl ObjectDirs {
    /// Returns the error for the first directory of packs, or file in one, that exists and cannot be opened.
    pub(super) fn find_unreadable_pack(&self) -> Option<PathError> {
        self.0.iter().find_map(|objects| {
            let dir = objects.join("pack");
            let entries = match fs::read_dir(&dir) {
                Err(error) => return error_if_present(dir, error),
                Ok(entries) => entries,
            };
            entries.into_iter().find_map(|entry| match entry {
                Err(error) => error_if_present(dir.clone(), error),
                Ok(entry) => error_if_present(entry.path(), fs::File::open(entry.path()).err()?),
            })
        })
    }

    /// Returns the error for the file of a loose object that exists and cannot be opened; `None` if there is no such file.
    pub(super) fn find_unreadable_loose_object(&self, id: &gix::oid) -> Option<PathError> {
        let hex = id.to_hex().to_string();
        let (dir, name) = hex.split_at(2);
        let paths = self.0.iter().map(|objects| objects.join(dir).join(name));
        paths.into_iter().find_map(|path| {
            let error = fs::File::open(&path).err()?;
            error_if_present(path, error)
        })
    }
}

/// Returns the error for a path that cannot be opened; `None` if the path does not exist.
fn error_if_present(path: PathBuf, source: io::Error) -> Option<PathError> {
    let error = PathError { action: "read", path, source };
    (!error.is_absent()).then_some(error)
}

fn refuse_special_packs(dir: &Path) -> Result<(), GitError> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(|entry| !is_plain_file(entry)).try_for_each(|entry| refuse_special_file(&entry.path()))
}

/// Returns whether an entry of a directory is a regular file.
fn is_plain_file(entry: &fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_file())
}

/// Opens the objects of a repository; `None` if the directory does not exist. Call [`ObjectDirs::refuse_special_object`] before
/// each read of an object.
pub(super) fn open_objects(
    objects: &Path,
    object_hash: ObjectHash,
) -> Result<Option<(gix::odb::Handle, ObjectDirs)>, GitError> {
    let dirs = ObjectDirs::find(objects)?;
    let odb = none_if_unreadable(gix::odb::at(objects, object_hash)).at("read", objects)?;
    Ok(odb.map(|odb| (odb, dirs)))
}
