//! Checks whether the code that memories are about has changed.
//!
//! States are never stored. A request waits until the index holds everything written before it, then compares the hashes
//! of each anchor with one snapshot. Every file involved is also compared with the disk, as hits are; if a file differs, the
//! file is indexed and all anchors are checked again.

mod build_anchor;
mod compare_lines;
mod renamed_file;
mod replaced_file;
mod resolve_target;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::CallerDir;
use memod_base::types::{Definition, ReadRefusal, SourceKey, TextHash};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_index_db::{IndexReader, ManifestEntry};
use memod_memory::anchor::{LineHashes, hash_text};
use memod_memory_db::AnchoredMemory;
use memod_proto::anchor::{Anchor, AnchorState};
use memod_proto::{FreshnessLevel, RpcError, code};

pub(in crate::daemon) use self::resolve_target::{find_named_anchor, is_anchor_at_target, resolve_target};
use crate::daemon::request::caveats::add_unknown_part;
use crate::daemon::request::fresh_snapshot::{SnapshotRequest, run_on_snapshot};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::sparse_paths::SparsePaths;

/// A value that was computed from the states of anchors, and why it may be out of date.
#[derive(Debug, Default)]
pub(in crate::daemon) struct SnapshotResult<T> {
    pub(in crate::daemon) value: T,
    /// Why some states may be out of date.
    pub(in crate::daemon) reason: Option<String>,
}

impl<T> SnapshotResult<T> {
    /// Returns the value if it is certain, so that it can be stored.
    ///
    /// # Errors
    /// When the states may be out of date.
    pub(in crate::daemon) fn require_certain_value(self) -> RpcResult<T> {
        match self.reason {
            None => Ok(self.value),
            Some(why) => Err(RpcError::new(code::BUSY, format!("about: {why}"))
                .with_hint("try again, or run `memo sync` first")),
        }
    }
}

/// Waits until the index of the worktree of `cwd` is as fresh as requested, and runs a check of anchors on one snapshot of the
/// index. Repeats the check if a file on the disk is newer than the snapshot.
pub(in crate::daemon) async fn run_anchor_check<T: Send + 'static>(
    request: &Arc<RequestContext>,
    cwd: &str,
    level: FreshnessLevel,
    deadline: Instant,
    run: impl Fn(&mut AnchorChecker<'_>) -> RpcResult<T> + Send + std::marker::Sync + 'static,
) -> RpcResult<SnapshotResult<T>> {
    let ask = SnapshotRequest { cwd: cwd.to_owned(), level, deadline, needs_commits: false };
    let ((value, reason), again) =
        run_on_snapshot(request, ask, move |request: &RequestContext, at: &Freshness, is_rerun: bool| {
            request.shared.engine.with_reader(|reader: &IndexReader| -> RpcResult<_> {
                reader.read_snapshot(|reader| {
                    let mut checker = AnchorChecker::new(request, reader, at, is_rerun);
                    let value = run(&mut checker);
                    Ok(((value, at.reason.clone().or(checker.unreadable_note)), checker.stale))
                })
            })
        })
        .await?;
    let reason = reason.or(again);
    match (value, &reason) {
        // A target that was not found may be in a part of the worktree that is not indexed yet.
        (Err(error), Some(why)) => Err(add_unknown_part(error, why)),
        (value, _) => Ok(SnapshotResult { value: value?, reason }),
    }
}

/// Memories whose anchors were checked on one snapshot.
pub(in crate::daemon) struct CheckedAnchors {
    pub(in crate::daemon) anchors_by_memory: Vec<AnchoredMemory>,
    /// Paths whose files differ between the disk and the snapshot.
    pub(in crate::daemon) stale: Vec<SourceKey>,
    /// Why some states are unknown: read permission for a file is missing.
    pub(in crate::daemon) unreadable_reason: Option<String>,
}

/// Checks the anchors of several memories. If the result has stale paths, the caller must repeat the check.
///
/// # Errors
/// When the index cannot be read.
pub(in crate::daemon) fn check_anchors_by_memory(
    request: &RequestContext,
    at: &Freshness,
    mut all: Vec<AnchoredMemory>,
) -> Result<CheckedAnchors, DatabaseError> {
    request.shared.engine.with_reader(|reader: &IndexReader| {
        reader.read_snapshot(|reader| {
            // A file that exists but is not indexed must be ignored, because the caller has waited for the index.
            let mut checker = AnchorChecker::new(request, reader, at, true);
            for (_, anchors) in &mut all {
                checker.check_all(anchors)?;
            }
            Ok(CheckedAnchors {
                anchors_by_memory: all,
                stale: checker.stale,
                unreadable_reason: checker.unreadable_note,
            })
        })
    })
}

/// Checks anchors on one snapshot of the index.
pub(in crate::daemon) struct AnchorChecker<'a> {
    request: &'a RequestContext,
    pub(in crate::daemon) reader: &'a IndexReader,
    pub(in crate::daemon) at: &'a Freshness,
    /// Whether the check is repeated. Paths on the disk that are not in the manifest are not stale then: the index was updated
    /// before.
    is_rerun: bool,
    files: HashMap<SourceKey, Option<ManifestEntry>>,
    /// The text that was read last. It is kept because anchors of one file are checked in sequence.
    text: Option<(SourceKey, Option<Rc<str>>)>,
    /// Paths whose files differ between the disk and the snapshot.
    pub(in crate::daemon) stale: Vec<SourceKey>,
    /// A note on the first path for which read permission is missing.
    unreadable_note: Option<String>,
    /// The files outside the sparse checkout, read when the first file is gone.
    sparse: OnceCell<SparsePaths>,
}

/// The result of checking an anchor.
#[derive(Clone)]
struct AnchorFinding {
    state: Option<AnchorState>,
    /// Where the code of the anchor is now, if known.
    location: Option<AnchorLocation>,
    note: Option<String>,
}

/// A file, lines of it, or a definition in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::daemon) struct AnchorLocation {
    pub(in crate::daemon) key: SourceKey,
    pub(in crate::daemon) symbol: Option<String>,
    pub(in crate::daemon) lines: Option<(u32, u32)>,
}

impl AnchorLocation {
    pub(in crate::daemon) fn from_anchor(anchor: &Anchor) -> Self {
        Self { key: SourceKey::new(anchor.path.as_str()), symbol: anchor.symbol.clone(), lines: anchor.lines }
    }

    fn from_definition(key: SourceKey, definition: &Definition) -> Self {
        Self { key, symbol: Some(definition.title.clone()), lines: Some(definition.lines) }
    }

    /// Returns the location as a user types it.
    fn render_target(&self) -> String {
        let (symbol, lines) = (self.symbol.clone(), self.lines);
        Anchor { path: self.key.to_string(), symbol, lines, ..Anchor::default() }.to_string()
    }
}

impl AnchorFinding {
    fn is_fresh(&self) -> bool {
        self.state == Some(AnchorState::Fresh)
    }

    fn new_fresh(location: AnchorLocation) -> Self {
        Self { state: Some(AnchorState::Fresh), location: Some(location), note: None }
    }

    fn new_drifted(location: Option<AnchorLocation>, note: Option<String>) -> Self {
        Self { state: Some(AnchorState::Drifted), location, note }
    }
}

impl<'a> AnchorChecker<'a> {
    pub(in crate::daemon) fn new(
        request: &'a RequestContext,
        reader: &'a IndexReader,
        at: &'a Freshness,
        is_rerun: bool,
    ) -> Self {
        let (files, text, stale, closed) = Default::default();
        let sparse = OnceCell::new();
        Self { request, reader, at, is_rerun, files, text, stale, unreadable_note: closed, sparse }
    }

    /// Sets the state of each anchor, and returns the state of the memory; `None` if it is unknown.
    pub(in crate::daemon) fn check_all(
        &mut self,
        anchors: &mut [Anchor],
    ) -> Result<Option<AnchorState>, DatabaseError> {
        for anchor in anchors.iter_mut() {
            self.check_anchor(anchor)?;
        }
        Ok(AnchorState::from_anchors(anchors))
    }

    /// Sets the state of an anchor and returns its present location, if known.
    pub(in crate::daemon) fn check_anchor(
        &mut self,
        anchor: &mut Anchor,
    ) -> Result<Option<AnchorLocation>, DatabaseError> {
        let AnchorFinding { state, location, note } = self.compare_anchor(anchor)?;
        let is_stale = self.stale.iter().any(|key| {
            key.as_str() == anchor.path || location.as_ref().is_some_and(|location| location.key == *key)
        });
        let is_sure = !is_stale && (self.at.fresh || state != Some(AnchorState::Orphaned));
        (anchor.state, anchor.note) = if is_sure { (state, note) } else { (None, None) };
        let now = location
            .as_ref()
            .filter(|_| matches!(anchor.state, Some(AnchorState::Fresh | AnchorState::Drifted)));
        let moved = now.filter(|location| {
            **location != AnchorLocation::from_anchor(anchor)
                && location.render_target() != anchor.to_string()
        });
        anchor.now = moved.map(AnchorLocation::render_target);
        Ok(location)
    }

    /// Compares an anchor with the code in the snapshot, and returns the state, the location and a note.
    fn compare_anchor(&mut self, anchor: &Anchor) -> Result<AnchorFinding, DatabaseError> {
        let key = SourceKey::new(anchor.path.as_str());
        let entry = self.find_entry(&key)?;
        if entry.as_ref().is_none_or(|entry| entry.hash.is_none())
            && let Some(closed) = self.find_unreadable(&key)?
        {
            let note = format!("{closed} cannot be read, so its state is unknown");
            self.unreadable_note.get_or_insert_with(|| note.clone());
            return Ok(AnchorFinding { state: None, location: None, note: Some(note) });
        }
        let Some(entry) = entry else { return self.find_gone_code(anchor, &key) };
        let own = match (entry.hash, &anchor.symbol, anchor.lines) {
            (Some(hash), ..) if encode_hex(&hash) == anchor.seen.blob => {
                return Ok(AnchorFinding::new_fresh(AnchorLocation::from_anchor(anchor)));
            }
            (None, ..) => {
                let why = entry.refusal.map_or("not indexed", |refusal| refusal.as_str());
                let note = format!("{key} is {why} now, so its text was not compared");
                AnchorFinding::new_drifted(None, Some(note))
            }
            (_, Some(title), _) => self.compare_symbol(anchor, &key, title)?,
            (_, None, Some(lines)) => self.compare_lines(anchor, &key, lines)?,
            (_, None, None) => self.compare_whole_file(anchor, &key)?,
        };
        self.follow_replaced_file(anchor, (&key, &entry), own)
    }

    /// Compares an anchor for a whole file with the text of a file.
    fn compare_whole_file(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
    ) -> Result<AnchorFinding, DatabaseError> {
        let Some(text) = self.read_text(key)? else { return Ok(AnchorFinding::new_drifted(None, None)) };
        let location = AnchorLocation { key: key.clone(), symbol: None, lines: None };
        Ok(match hash_text(&text).to_string() == anchor.seen.text {
            true => AnchorFinding::new_fresh(location),
            false => AnchorFinding::new_drifted(Some(location), None),
        })
    }

    /// Finds the code of an anchor whose file is gone: the same text elsewhere, or else the renamed file.
    fn find_gone_code(&mut self, anchor: &Anchor, key: &SourceKey) -> Result<AnchorFinding, DatabaseError> {
        let moved = self.find_moved_text(anchor, key)?;
        if moved.is_fresh() {
            return Ok(moved);
        }
        let elsewhere = self.find_lines_elsewhere(anchor, key)?;
        if let Some(found) = elsewhere.as_ref().filter(|found| found.is_fresh()) {
            return Ok(found.clone());
        }
        let sparse = self.sparse.get_or_init(|| SparsePaths::read(&self.at.layout));
        if sparse.leaves_out(key.as_str()) {
            let dir = CallerDir::new(&self.at.layout, &self.at.layout.root);
            let command = sparse.command_for(key.as_str(), &dir);
            let note = format!("outside the sparse checkout, so its state is unknown: {command}");
            return Ok(AnchorFinding { state: None, location: None, note: Some(note) });
        }
        let renamed = self.find_in_renamed_file(anchor, key, None)?;
        Ok(match (renamed, elsewhere) {
            (Some(renamed), _) if renamed.is_fresh() => renamed,
            // The same lines in another file are more likely than the place that changed lines had.
            (_, Some(elsewhere)) => elsewhere,
            (renamed, None) => renamed.unwrap_or(moved),
        })
    }

    /// Returns the file, or the directory that contains it, for which read permission is missing; `None` if all may be read.
    fn find_unreadable(&self, key: &SourceKey) -> Result<Option<SourceKey>, DatabaseError> {
        let around = Path::new(key.as_str()).ancestors().filter_map(Path::to_str);
        for key in around.filter(|path| !path.is_empty()).map(SourceKey::new) {
            let entry = self.reader.find_entry(self.at.worktree, &key)?;
            if entry.is_some_and(|entry| entry.refusal == Some(ReadRefusal::Unreadable)) {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// Compares an anchor for a definition with the definitions of its file, and then of the worktree.
    fn compare_symbol(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
        title: &str,
    ) -> Result<AnchorFinding, DatabaseError> {
        let found = self.reader.find_definition(self.at.worktree, key, title)?;
        if let Some(found) = found.as_ref().filter(|found| found.text.to_string() == anchor.seen.text) {
            return Ok(AnchorFinding::new_fresh(AnchorLocation::from_definition(key.clone(), found)));
        }
        let is_parsed_well = self.reader.is_fully_parsed(self.at.worktree, key)?;
        if !is_parsed_well && let Some(lines) = self.find_exact_lines(anchor, key)? {
            let location = AnchorLocation { lines: Some(lines), ..AnchorLocation::from_anchor(anchor) };
            return Ok(AnchorFinding::new_fresh(location));
        }
        if let Some(found) = &found {
            return Ok(AnchorFinding::new_drifted(
                Some(AnchorLocation::from_definition(key.clone(), found)),
                None,
            ));
        }
        let elsewhere = self.find_moved_text(anchor, key)?;
        if !is_parsed_well && elsewhere.state == Some(AnchorState::Orphaned) {
            let note = format!("{key} has syntax errors, so some definitions are unknown");
            return Ok(AnchorFinding::new_drifted(None, Some(note)));
        }
        Ok(elsewhere)
    }

    /// Finds the lines of a definition by their exact text, in a file that was not parsed completely. Returns the first and the
    /// last line.
    fn find_exact_lines(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
    ) -> Result<Option<(u32, u32)>, DatabaseError> {
        // An equal definition that was there before may be the one that is found.
        let (Some((first, last)), Some(run), true) = (anchor.lines, &anchor.seen.run, anchor.seen.alone)
        else {
            return Ok(None);
        };
        let Some(n_lines) = last.checked_sub(first) else { return Ok(None) };
        let text = self.read_text(key)?;
        Ok(text.and_then(|text| LineHashes::new(&text).find_only_run(n_lines + 1, run)))
    }

    /// Searches the worktree for the text of an anchor that is gone from its location. The text has moved if it was unique when
    /// the anchor was made, and is now in exactly one other location.
    fn find_moved_text(&mut self, anchor: &Anchor, key: &SourceKey) -> Result<AnchorFinding, DatabaseError> {
        let mut locations = self.find_same_text(anchor)?;
        locations.retain(|location| location.symbol == anchor.symbol && location.key != *key);
        let note = match locations.as_slice() {
            [location] if anchor.seen.alone => {
                let location = location.clone();
                self.find_entry(&location.key)?; // records the path as stale if the disk is newer
                return Ok(AnchorFinding::new_fresh(location));
            }
            _ => self.explain_missing(anchor, key)?,
        };
        Ok(AnchorFinding { state: Some(AnchorState::Orphaned), location: None, note })
    }

    /// Returns the locations in the worktree that have the text of an anchor.
    fn find_same_text(&self, anchor: &Anchor) -> Result<Vec<AnchorLocation>, DatabaseError> {
        const ENOUGH: usize = 64;
        let view = self.at.worktree;
        if anchor.symbol.is_some() {
            let Some(text) = decode_hex(&anchor.seen.text) else { return Ok(Vec::new()) };
            let same = self.reader.find_definitions_by_text(view, &TextHash(text), ENOUGH)?;
            return Ok(same
                .into_iter()
                .map(|(key, found)| AnchorLocation::from_definition(key, &found))
                .collect());
        }
        let Some(hash) = decode_hex(&anchor.seen.blob) else { return Ok(Vec::new()) };
        let same = self.reader.find_files_by_hash(view, &hash, ENOUGH)?;
        Ok(same.into_iter().map(|key| AnchorLocation { key, symbol: None, lines: anchor.lines }).collect())
    }

    /// Returns a note on what may have happened to a target that is gone.
    fn explain_missing(&self, anchor: &Anchor, key: &SourceKey) -> Result<Option<String>, DatabaseError> {
        let at_path = self.reader.list_definitions(self.at.worktree, key)?;
        let shape = anchor.seen.shape.as_deref();
        if let Some(found) = at_path.iter().find(|found| Some(found.shape.to_string()).as_deref() == shape) {
            return Ok(Some(format!("renamed? {key}#{} has the same text", found.title)));
        }
        if let Some(location) = self.find_same_text(anchor)?.first() {
            return Ok(Some(format!("{} has the same text", location.render_target())));
        }
        let is_there = self.at.disk.lstat(&key.path_in(&self.at.layout.root)).is_ok();
        let is_listed = self.files.get(key).is_some_and(Option::is_some);
        Ok((is_there && !is_listed).then(|| format!("{key} exists but is ignored, so it is not checked")))
    }

    /// Returns the entry of a path in the snapshot, and records the path as stale if the disk differs.
    pub(in crate::daemon) fn find_entry(
        &mut self,
        key: &SourceKey,
    ) -> Result<Option<ManifestEntry>, DatabaseError> {
        if let Some(known) = self.files.get(key) {
            return Ok(known.clone());
        }
        let entry = self.reader.find_entry(self.at.worktree, key)?;
        let stat = self.at.disk.lstat(&key.path_in(&self.at.layout.root)).ok();
        let is_same = match (&entry, stat) {
            (None, None) => true,
            (None, Some(stat)) => self.is_rerun || stat.is_dir(),
            (Some(entry), Some(stat)) if entry.stat == stat && !entry.racy => true,
            (Some(ManifestEntry { hash: Some(hash), .. }), Some(_)) => {
                self.read_unchanged_text(key, hash).is_some()
            }
            _ => false,
        };
        if !is_same {
            self.stale.push(key.clone());
        }
        self.files.insert(key.clone(), entry.clone());
        Ok(entry)
    }

    /// Returns the text of a file; `None` if the file is not indexed, or no longer equals the snapshot.
    pub(in crate::daemon) fn read_text(&mut self, key: &SourceKey) -> Result<Option<Rc<str>>, DatabaseError> {
        if let Some((_, text)) = self.text.as_ref().filter(|(known, _)| known == key) {
            return Ok(text.clone());
        }
        let Some(hash) = self.find_entry(key)?.and_then(|entry| entry.hash) else { return Ok(None) };
        let text: Option<Rc<str>> = self.read_unchanged_text(key, &hash).map(Rc::from);
        if text.is_none() && !self.stale.contains(key) {
            self.stale.push(key.clone());
        }
        self.text = Some((key.clone(), text.clone()));
        Ok(text)
    }

    /// Reads a file, and returns its text if it has this hash.
    fn read_unchanged_text(&self, key: &SourceKey, hash: &[u8; 32]) -> Option<String> {
        // An unreadable file counts as stale, so the request is repeated.
        let most = self.request.shared.engine.config.index.max_file_bytes;
        self.at.disk.read_if_unchanged(&self.at.layout.root, key, most, hash)
    }
}

fn encode_hex(hash: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*hash).to_hex().to_string()
}

fn decode_hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if digits.len() != 2 * N || !digits.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}
