//! Collects Markdown files to import and finds those that are gone since the last import.
//!
//! Folders are read whether or not git ignores them. Symbolic links are not followed, and only regular files are opened.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use memod_base::paths::IoContext;
use memod_proto::exchange::{ImportParams, ImportResult, KeysParams, KeysResult, MarkdownParams, Snapshot};

use super::files::absolute;
use super::send::{Sender, run};
use crate::args::ImportArgs;
use crate::error::CliError;

/// Largest document, as for the index.
const MOST_BYTES: u64 = 1 << 20;
/// Prefix of the keys of documents.
const PREFIX: &str = "import:";
const ENDINGS: [&str; 3] = ["md", "markdown", "mdx"];

/// Sends each document, and archives memories of documents that are gone from a folder.
pub(super) fn read(paths: &[PathBuf], typed: &ImportArgs, sender: &mut Sender<'_>) -> Result<(), CliError> {
    let mut found = Found::default();
    for path in paths {
        let path = PathBuf::from(absolute(path)?);
        if path.is_dir() {
            found.walk(path);
        } else {
            found.files.insert(path);
        }
    }
    for (path, why) in &found.bad {
        sender.at(&path.display().to_string(), "line");
        sender.refuse(0, why.clone());
    }
    let mut keys = BTreeSet::new();
    for path in &found.files {
        let Some(name) = path.to_str() else {
            sender.at(&path.display().to_string(), "line");
            sender.refuse(0, "the name is not UTF-8");
            continue;
        };
        sender.at(name, "line");
        match document(path) {
            Ok(text) => send(name, text, typed, sender)?,
            Err(why) => sender.refuse(0, why),
        }
        keys.insert(format!("{PREFIX}{name}"));
    }
    found.folders.iter().try_for_each(|folder| archive_gone(folder, &keys, typed, sender))
}

#[derive(Default)]
struct Found {
    files: BTreeSet<PathBuf>,
    /// The folders that were named.
    folders: Vec<PathBuf>,
    bad: Vec<(PathBuf, String)>,
}

impl Found {
    fn walk(&mut self, top: PathBuf) {
        self.folders.push(top.clone());
        let mut left = vec![top];
        while let Some(dir) = left.pop() {
            let entries = match fs::read_dir(&dir) {
                Ok(entries) => entries,
                Err(error) => {
                    self.bad.push((dir, error.to_string()));
                    continue;
                }
            };
            for entry in entries.flatten() {
                // The type of the entry itself: a symbolic link is neither file nor folder.
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => left.push(entry.path()),
                    Ok(kind) if kind.is_file() && is_markdown(&entry.path()) => {
                        self.files.insert(entry.path());
                    }
                    _ => {}
                }
            }
        }
    }
}

fn is_markdown(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

fn document(path: &Path) -> Result<String, String> {
    let meta = fs::metadata(path).map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("not a regular file".to_owned());
    }
    if meta.len() > MOST_BYTES {
        return Err(format!("over {} MiB", MOST_BYTES >> 20));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())
}

fn send(name: &str, text: String, typed: &ImportArgs, sender: &mut Sender<'_>) -> Result<(), CliError> {
    let params = MarkdownParams {
        caller: sender.caller(),
        path: name.to_owned(),
        text,
        container: typed.container.clone(),
        tags: typed.tag.clone(),
        chunk_tokens: typed.chunk_tokens.map(|n| n as usize),
        overlap_tokens: typed.overlap_tokens.map(|n| n as usize),
        allow_secret: typed.allow_secret,
        dry_run: typed.dry_run,
    };
    let result: ImportResult = sender.client().call("memory.import_markdown", &params)?;
    sender.count(result);
    Ok(())
}

/// A document counts as gone only if its name is gone: the memories of an unreadable one stay.
fn archive_gone(
    folder: &Path,
    keys: &BTreeSet<String>,
    typed: &ImportArgs,
    sender: &mut Sender<'_>,
) -> Result<(), CliError> {
    let name = folder.to_str().unwrap_or_default().trim_end_matches('/');
    let params = KeysParams { caller: sender.caller(), beginning: format!("{PREFIX}{name}/") };
    let known: KeysResult = sender.client().call("memory.import_keys", &params)?;
    // The folder must still exist: it may have been removed while it was read.
    fs::read_dir(folder).at("list", folder)?;
    for key in known.keys.into_iter().filter(|key| !keys.contains(key)) {
        let path = Path::new(&key[PREFIX.len()..]);
        let is_gone = fs::symlink_metadata(path).map_or_else(
            |error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
            |meta| !meta.is_file(),
        );
        if is_gone {
            let snapshot = Some(Snapshot { key, run: run(), is_last: true });
            let params = ImportParams {
                caller: sender.caller(),
                snapshot,
                dry_run: typed.dry_run,
                ..ImportParams::default()
            };
            let result: ImportResult = sender.client().call("memory.import", &params)?;
            sender.count(result);
        }
    }
    Ok(())
}
