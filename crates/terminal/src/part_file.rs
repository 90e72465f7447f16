//! Writes a file under a temporary name, which replaces another file once it is complete.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, canonicalize_path, rename_over};

use crate::error::CliError;

/// Most temporary names that are tried for a file: killed processes may have left files under some of them.
const MAX_NAME_ATTEMPTS: u32 = 100;

/// Returns the temporary path of a file. `taken` is the number of temporary names that exist already, and makes the name differ
/// from them.
fn part_path(path: &Path, taken: u32) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    if taken > 0 {
        name.push(format!("-{taken}"));
    }
    name.push(".part");
    path.with_file_name(name)
}

/// Removes the temporary files that ended processes left in a directory, for target files whose names begin with `name`.
pub fn remove_stale_part_files(dir: &Path, name: &str) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let file_name = entry.file_name();
        let pid = file_name.to_str().filter(|file| file.starts_with(name)).and_then(part_file_pid);
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && pid.is_some_and(process_has_ended) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the id of the process that created a part file; `None` for the name of any other file.
fn part_file_pid(file_name: &str) -> Option<i32> {
    let (_, number) = file_name.strip_suffix(".part")?.rsplit_once('.')?;
    number.split('-').next()?.parse().ok()
}

#[cfg(unix)]
fn process_has_ended(pid: i32) -> bool {
    let pid = rustix::process::Pid::from_raw(pid).filter(|_| pid > 0);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn process_has_ended(_: i32) -> bool {
    false
}

/// Syncs the directory of a file to disk, where the system can.
fn sync_dir(path: &Path) {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
}

/// A file that replaces another once it is complete.
pub struct PartFile {
    target: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
    is_renamed: bool,
}

impl PartFile {
    /// Creates a file for `path` in the same directory, under a temporary name.
    pub fn create(path: &Path) -> Result<Self, CliError> {
        // Replace the target of a symbolic link, not the link.
        let path = canonicalize_path(path).unwrap_or_else(|_| path.to_owned());
        let mut options = File::options();
        // Never open an existing file: it may be a link that came with the repository.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut taken = 0;
        let (file, part) = loop {
            let part = part_path(&path, taken);
            match options.open(&part) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists && taken < MAX_NAME_ATTEMPTS => {
                    taken += 1;
                }
                opened => break (opened.at("create", &part)?, part),
            }
        };
        let file = BufWriter::new(file);
        Ok(Self { target: path, part, file, is_renamed: false })
    }

    /// Appends bytes to the file.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        Ok(self.file.write_all(bytes).at("write", &self.part)?)
    }

    /// Syncs the file and renames it to the target, which it replaces if the target exists.
    pub fn replace_target(mut self) -> Result<(), CliError> {
        self.sync_to_disk()?;
        rename_over(&self.part, &self.target).at("rename to", &self.target)?;
        self.is_renamed = true;
        sync_dir(&self.target);
        Ok(())
    }

    /// Syncs the file and gives it the name of the target. Fails if the target exists.
    pub fn create_target(mut self) -> Result<(), CliError> {
        self.sync_to_disk()?;
        match fs::hard_link(&self.part, &self.target) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(error).at("create", &self.target)?;
            }
            // Not every file system supports hard links.
            Err(_) if fs::symlink_metadata(&self.target).is_err() => return self.replace_target(),
            linked => linked.at("create", &self.target)?,
        }
        sync_dir(&self.target);
        Ok(()) // `drop` removes the temporary name
    }

    fn sync_to_disk(&mut self) -> Result<(), CliError> {
        self.file.flush().at("write", &self.part)?;
        Ok(self.file.get_ref().sync_all().at("write", &self.part)?)
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.is_renamed {
            let _ = fs::remove_file(&self.part); // incomplete, or linked to its target
        }
    }
}
