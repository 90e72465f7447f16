//! Imports Markdown files, and archives the memories of files that were removed since the last import.
//!
//! Folders are read whether or not git ignores them. Symbolic links are not followed, and only regular files are opened.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use memod_base::paths::IoContext;
use memod_proto::exchange::{ImportParams, ImportResult, KeysParams, KeysResult, MarkdownParams, Snapshot};
use memod_terminal::CliError;

use super::draft_sender::{DraftSender, random_run_id};
use super::limited_files::canonical_string;
use crate::args::ImportArgs;

/// Largest document that is imported, bytes; the same as for the index.
const MAX_DOCUMENT_BYTES: u64 = 1 << 20;
/// Prefix of the keys under which the daemon knows imported documents.
const KEY_PREFIX: &str = "import:";
/// Extensions of Markdown files.
const MARKDOWN_EXTENSIONS: [&str; 3] = ["md", "markdown", "mdx"];

/// Sends each document, and archives memories of documents that were removed from an imported folder.
pub(super) fn import_markdown(
    paths: &[PathBuf],
    typed: &ImportArgs,
    sender: &mut DraftSender<'_>,
) -> Result<(), CliError> {
    let mut files = MarkdownFiles::default();
    for path in paths {
        let path = PathBuf::from(canonical_string(path)?);
        if path.is_dir() {
            files.add_folder(path);
        } else {
            files.files.insert(path);
        }
    }
    for (path, why) in &files.unreadable {
        sender.set_source(&path.display().to_string(), "line");
        sender.refuse_entry(0, why.clone());
    }
    let mut keys = BTreeSet::new();
    for path in &files.files {
        let Some(name) = path.to_str() else {
            sender.set_source(&path.display().to_string(), "line");
            sender.refuse_entry(0, "the name is not UTF-8");
            continue;
        };
        sender.set_source(name, "line");
        match read_document(path) {
            Ok(text) => send_document(name, text, typed, sender)?,
            Err(why) => sender.refuse_entry(0, why),
        }
        keys.insert(format!("{KEY_PREFIX}{name}"));
    }
    files.folders.iter().try_for_each(|folder| archive_removed_documents(folder, &keys, typed, sender))
}

/// The files to import.
#[derive(Default)]
struct MarkdownFiles {
    files: BTreeSet<PathBuf>,
    /// The folders that the user named.
    folders: Vec<PathBuf>,
    /// Folders that cannot be read, and why.
    unreadable: Vec<(PathBuf, String)>,
}

impl MarkdownFiles {
    /// Adds the Markdown files below a folder.
    fn add_folder(&mut self, top: PathBuf) {
        self.folders.push(top.clone());
        let mut folders_left = vec![top];
        while let Some(dir) = folders_left.pop() {
            let entries = match fs::read_dir(&dir) {
                Ok(entries) => entries,
                Err(error) => {
                    self.unreadable.push((dir, error.to_string()));
                    continue;
                }
            };
            for entry in entries.flatten() {
                // `file_type` does not follow a symbolic link, which is neither file nor folder.
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders_left.push(entry.path()),
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
    MARKDOWN_EXTENSIONS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

fn read_document(path: &Path) -> Result<String, String> {
    let meta = fs::metadata(path).map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("not a regular file".to_owned());
    }
    if meta.len() > MAX_DOCUMENT_BYTES {
        return Err(format!("over {} MiB", MAX_DOCUMENT_BYTES >> 20));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())
}

fn send_document(
    name: &str,
    text: String,
    typed: &ImportArgs,
    sender: &mut DraftSender<'_>,
) -> Result<(), CliError> {
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
    sender.add_import_result(result);
    Ok(())
}

/// Archives the memories of documents that were removed from a folder.
///
/// A document counts as removed only if its path does not exist: the memories of an unreadable document stay.
fn archive_removed_documents(
    folder: &Path,
    keys: &BTreeSet<String>,
    typed: &ImportArgs,
    sender: &mut DraftSender<'_>,
) -> Result<(), CliError> {
    let name = folder.to_str().unwrap_or_default().trim_end_matches('/');
    let params = KeysParams { caller: sender.caller(), beginning: format!("{KEY_PREFIX}{name}/") };
    let known: KeysResult = sender.client().call("memory.import_keys", &params)?;
    // Fail if the folder was removed meanwhile: its documents would all seem to be gone.
    fs::read_dir(folder).at("list", folder)?;
    for key in known.keys.into_iter().filter(|key| !keys.contains(key)) {
        let path = Path::new(&key[KEY_PREFIX.len()..]);
        let is_gone = fs::symlink_metadata(path).map_or_else(
            |error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
            |meta| !meta.is_file(),
        );
        if is_gone {
            let snapshot = Some(Snapshot { key, run: random_run_id(), is_last: true });
            let params = ImportParams {
                caller: sender.caller(),
                snapshot,
                dry_run: typed.dry_run,
                ..ImportParams::default()
            };
            let result: ImportResult = sender.client().call("memory.import", &params)?;
            sender.add_import_result(result);
        }
    }
    Ok(())
}
