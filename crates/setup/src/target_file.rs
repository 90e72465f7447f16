//! Reads and replaces the settings files of agents.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, PathError, canonicalize_path, rename_over};

use super::Refusal;

/// Size of the largest file that is changed, bytes. Settings files are far smaller.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// A settings file, as it was read.
#[derive(Debug)]
pub(super) struct TargetFile {
    /// The path, with symbolic links resolved.
    path: PathBuf,
    /// The text that was read; `None` when the file does not exist.
    pub(super) text: Option<String>,
    meta: Option<Metadata>,
}

impl TargetFile {
    /// Reads a file; a missing file has no text.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a regular file, is too large, or is not UTF-8.
    pub(super) fn read(path: &Path) -> Result<Self, Refusal> {
        let found = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found.at("look at", path)?),
        };
        let Some(found) = found else {
            return Ok(Self { path: path.to_owned(), text: None, meta: None });
        };
        let path = if found.is_symlink() {
            canonicalize_path(path)
                .map_err(|error| if error.is_absent() { Refusal::Dangling } else { error.into() })?
        } else {
            path.to_owned()
        };
        let meta = fs::metadata(&path).at("look at", &path)?;
        if !meta.is_file() {
            return Err(Refusal::NotAFile);
        }
        if meta.len() > MAX_FILE_BYTES {
            return Err(Refusal::TooBig);
        }
        let text = String::from_utf8(fs::read(&path).at("read", &path)?).map_err(|_| Refusal::NotUtf8)?;
        Ok(Self { path, text: Some(text), meta: Some(meta) })
    }

    /// Returns the path with links resolved, so that a file with two names has one record.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the file is not read-only. Without this check, a rename would replace even a read-only file.
    ///
    /// # Errors
    /// When the file is read-only.
    pub(super) fn check_writable(&self) -> Result<(), Refusal> {
        let is_protected = self.meta.as_ref().is_some_and(|meta| meta.permissions().readonly());
        if is_protected { Err(Refusal::ReadOnly) } else { Ok(()) }
    }

    /// Returns the directories that [`Self::write`] would create, outermost first.
    pub(super) fn missing_dirs(&self) -> Vec<PathBuf> {
        let around = self.path.ancestors().skip(1);
        let mut missing: Vec<PathBuf> = around.take_while(|dir| !dir.exists()).map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Replaces the text of the file, or creates the file with the directories around it.
    ///
    /// # Errors
    /// When the file cannot be written, or has changed since it was read. The file is unchanged then.
    pub(super) fn write(&self, text: &str) -> Result<(), Refusal> {
        self.check_writable()?;
        let dir = self.path.parent().unwrap_or(Path::new("/"));
        let missing = self.missing_dirs();
        fs::create_dir_all(dir).at("create directory", dir)?;
        let aside = self.temp_path();
        let written = write_temp_file(&aside, text.as_bytes(), self.meta.as_ref()).and_then(|()| {
            self.check_unchanged()?;
            rename_over(&aside, &self.path)
        });
        let written = written.inspect_err(|_| {
            let _ = fs::remove_file(&aside);
            remove_empty_dirs(&missing);
        });
        Ok(written.at("write", &self.path)?)
    }

    /// Removes the file.
    ///
    /// # Errors
    /// When the file cannot be removed, or has changed since it was read.
    pub(super) fn remove(&self) -> Result<(), Refusal> {
        self.check_writable()?;
        Ok(self.check_unchanged().and_then(|()| fs::remove_file(&self.path)).at("remove", &self.path)?)
    }

    /// Removes the temporary file that an interrupted process may have left beside the file.
    pub(super) fn remove_leftover(&self) {
        let _ = fs::remove_file(self.temp_path()); // mostly there is none
    }

    /// Returns an error if the text of the file has changed since it was read.
    fn check_unchanged(&self) -> io::Result<()> {
        let now = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            read => Some(read?),
        };
        if now.as_deref() == self.text.as_deref().map(str::as_bytes) {
            return Ok(());
        }
        Err(io::Error::other("another program has changed the file meanwhile; try again"))
    }

    /// Returns the path of the temporary file, next to the file, with a name that no agent reads. The name is always the same, so
    /// that [`Self::remove_leftover`] finds it.
    fn temp_path(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.memo-new"))
    }
}

/// Removes those of the directories that are empty, innermost first.
pub(super) fn remove_empty_dirs(dirs: &[PathBuf]) {
    let mut dirs: Vec<&PathBuf> = dirs.iter().collect();
    dirs.sort_by_key(|dir| std::cmp::Reverse(dir.components().count()));
    for dir in dirs {
        let _ = fs::remove_dir(dir); // fails if something is in the directory
    }
}

/// Writes a temporary file and flushes it to the disk. Replaces one that an interrupted process has left. The file gets the owner
/// and permissions of `former`, the metadata of the file that it will replace.
pub(super) fn write_temp_file(path: &Path, bytes: &[u8], former: Option<&Metadata>) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if former.is_some() {
        // The former file may be readable only by its owner, so the new one must not be readable by others even for a moment.
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    if let Some(former) = former {
        #[cfg(unix)]
        copy_owner(&file, former)?;
        file.set_permissions(former.permissions())?;
    }
    file.sync_all()
}

/// Gives a file the owner and the group of the file that it replaces.
///
/// # Errors
/// When this user may not change the owner; then the user should not replace the file either.
#[cfg(unix)]
fn copy_owner(file: &File, former: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) == (former.uid(), former.gid()) {
        return Ok(());
    }
    fchown(file, Some(former.uid()), Some(former.gid()))
}

impl From<PathError> for Refusal {
    fn from(error: PathError) -> Self {
        Self::Io(error)
    }
}
