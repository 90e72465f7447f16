//! Checks whether the code that memories are about has changed.
//!
//! States are never stored. A request waits until the index holds everything written before it, then compares the hashes
//! of each anchor with one snapshot. Every file involved is compared with the disk too, as hits are; if one differs, it is
//! indexed and all anchors are checked again.

mod resolve;

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

pub(in crate::daemon) use self::resolve::{is_about, named_by, resolve};
use memod_base::types::{Definition, Refusal, SourceKey, TextHash};
use memod_proto::anchor::{Anchor, Seen, State};
use memod_proto::{RpcError, Sync, code};

use crate::daemon::request::caveats;
use crate::daemon::request::{self, SnapshotAsk};
use crate::daemon::shared::Shared;
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_index_db::{Entry, Reader};
use memod_memory::anchor::{LineHashes, hash_text};
use memod_memory_db::Anchored;

/// The states of anchors, and how far they can be trusted.
#[derive(Debug, Default)]
pub(in crate::daemon) struct Judged<T> {
    pub(in crate::daemon) value: T,
    /// Why some states may be out of date.
    pub(in crate::daemon) reason: Option<String>,
}

impl<T> Judged<T> {
    /// Returns the states that are certain, to be stored.
    pub(in crate::daemon) fn sure(self) -> RpcResult<T> {
        match self.reason {
            None => Ok(self.value),
            Some(why) => Err(RpcError::new(code::BUSY, format!("about: {why}"))
                .with_hint("try again, or `memo sync` first")),
        }
    }
}

/// Waits until the view of `cwd` is as fresh as requested, and checks anchors on one snapshot of it. Repeats if the disk
/// is newer.
pub(in crate::daemon) async fn on_snapshot<T: Send + 'static>(
    shared: &Arc<Shared>,
    cwd: &str,
    level: Sync,
    deadline: Instant,
    run: impl Fn(&mut AnchorChecker<'_>) -> RpcResult<T> + Send + std::marker::Sync + 'static,
) -> RpcResult<Judged<T>> {
    let ask = SnapshotAsk { cwd: cwd.to_owned(), level, deadline, needs_commits: false };
    let judge = move |shared: &Shared, at: &Freshness, is_rerun: bool| {
        shared.engine.read(|reader: &Reader| -> RpcResult<_> {
            reader.snapshot(|reader| {
                let mut judge = AnchorChecker::new(shared, reader, at, is_rerun);
                let value = run(&mut judge);
                Ok(((value, at.reason.clone().or(judge.closed)), judge.stale))
            })
        })
    };
    let ((value, reason), again) = request::on_snapshot(shared, ask, judge).await?;
    let reason = reason.or(again);
    match (value, &reason) {
        // What is not found may be in what is not known.
        (Err(error), Some(why)) => Err(caveats::known_without(error, why)),
        (value, _) => Ok(Judged { value: value?, reason }),
    }
}

/// Anchors by memory, checked on one snapshot.
pub(in crate::daemon) struct JudgedAll {
    pub(in crate::daemon) value: Vec<Anchored>,
    /// Paths that the disk has otherwise than the snapshot.
    pub(in crate::daemon) stale: Vec<SourceKey>,
    /// Why some states are not known: a file may not be read.
    pub(in crate::daemon) closed: Option<String>,
}

/// Checks the anchors of several memories. The caller asks again if paths prove stale.
///
/// # Errors
/// When the index cannot be read.
pub(in crate::daemon) fn judge_all(
    shared: &Shared,
    at: &Freshness,
    mut all: Vec<Anchored>,
) -> Result<JudgedAll, DatabaseError> {
    shared.engine.read(|reader: &Reader| {
        reader.snapshot(|reader| {
            // A file that exists without being indexed is ignored: otherwise the wait before would have indexed it.
            let mut judge = AnchorChecker::new(shared, reader, at, true);
            for (_, anchors) in &mut all {
                judge.judge(anchors)?;
            }
            Ok(JudgedAll { value: all, stale: judge.stale, closed: judge.closed })
        })
    })
}

/// Checks anchors on one snapshot of the index.
pub(in crate::daemon) struct AnchorChecker<'a> {
    shared: &'a Shared,
    pub(in crate::daemon) reader: &'a Reader,
    pub(in crate::daemon) at: &'a Freshness,
    /// Paths on disk that are not in the manifest do not count: they were examined a moment ago.
    is_rerun: bool,
    files: HashMap<SourceKey, Option<Entry>>,
    /// The text that was read last; anchors of one file are checked in sequence.
    text: Option<(SourceKey, Option<Rc<str>>)>,
    /// Paths that the disk has otherwise than the snapshot.
    pub(in crate::daemon) stale: Vec<SourceKey>,
    /// The first path that may not be read, if there is one.
    closed: Option<String>,
}

/// The result of checking an anchor.
struct Finding {
    state: Option<State>,
    /// Location of the same text.
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
    pub(in crate::daemon) fn of(anchor: &Anchor) -> Self {
        Self { key: SourceKey::new(anchor.path.as_str()), symbol: anchor.symbol.clone(), lines: anchor.lines }
    }

    fn definition(key: SourceKey, definition: &Definition) -> Self {
        Self { key, symbol: Some(definition.title.clone()), lines: Some(definition.lines) }
    }

    /// Returns the target as a user types it.
    fn typed(&self) -> String {
        let (symbol, lines) = (self.symbol.clone(), self.lines);
        Anchor { path: self.key.to_string(), symbol, lines, ..Anchor::default() }.to_string()
    }
}

impl Finding {
    fn fresh(location: AnchorLocation) -> Self {
        Self { state: Some(State::Fresh), location: Some(location), note: None }
    }

    fn drifted(location: Option<AnchorLocation>, note: Option<String>) -> Self {
        Self { state: Some(State::Drifted), location, note }
    }
}

impl<'a> AnchorChecker<'a> {
    pub(in crate::daemon) fn new(
        shared: &'a Shared,
        reader: &'a Reader,
        at: &'a Freshness,
        is_rerun: bool,
    ) -> Self {
        let (files, text, stale, closed) = Default::default();
        Self { shared, reader, at, is_rerun, files, text, stale, closed }
    }

    /// Sets the state of each anchor and returns the state of the memory.
    pub(in crate::daemon) fn judge(
        &mut self,
        anchors: &mut [Anchor],
    ) -> Result<Option<State>, DatabaseError> {
        for anchor in anchors.iter_mut() {
            self.location(anchor)?;
        }
        Ok(State::of(anchors))
    }

    /// Sets the state of an anchor and returns its present location, if known.
    pub(in crate::daemon) fn location(
        &mut self,
        anchor: &mut Anchor,
    ) -> Result<Option<AnchorLocation>, DatabaseError> {
        let Finding { state, location, note } = self.find(anchor)?;
        let is_stale = self.stale.iter().any(|key| {
            key.as_str() == anchor.path || location.as_ref().is_some_and(|location| location.key == *key)
        });
        let is_sure = !is_stale && (self.at.fresh || state != Some(State::Orphaned));
        (anchor.state, anchor.note) = if is_sure { (state, note) } else { (None, None) };
        let is_elsewhere = |location: &&AnchorLocation| {
            **location != AnchorLocation::of(anchor) && location.typed() != anchor.to_string()
        };
        let now = location.as_ref().filter(|_| anchor.state == Some(State::Fresh)).filter(is_elsewhere);
        anchor.now = now.map(AnchorLocation::typed);
        Ok(location)
    }

    fn find(&mut self, anchor: &Anchor) -> Result<Finding, DatabaseError> {
        let key = SourceKey::new(anchor.path.as_str());
        let entry = self.entry(&key)?;
        if entry.as_ref().is_none_or(|entry| entry.hash.is_none())
            && let Some(closed) = self.find_closed(&key)?
        {
            let note = format!("{closed} may not be read, so it is not compared");
            self.closed.get_or_insert_with(|| note.clone());
            return Ok(Finding { state: None, location: None, note: Some(note) });
        }
        let Some(entry) = entry else { return self.elsewhere(anchor, &key) };
        let Some(hash) = entry.hash else {
            let why = entry.refusal.map_or("not indexed", |refusal| refusal.as_str());
            return Ok(Finding::drifted(None, Some(format!("{key} is {why} now, and not compared"))));
        };
        if hex(&hash) == anchor.seen.blob {
            return Ok(Finding::fresh(AnchorLocation::of(anchor)));
        }
        if let Some(title) = &anchor.symbol {
            return self.find_symbol(anchor, &key, title);
        }
        let Some(text) = self.text(&key)? else { return Ok(Finding::drifted(None, None)) };
        let Some(lines) = anchor.lines else {
            let is_same = hash_text(&text).to_string() == anchor.seen.text;
            let location = AnchorLocation::of(anchor);
            return Ok(if is_same {
                Finding::fresh(location)
            } else {
                Finding::drifted(Some(location), None)
            });
        };
        let found = LineHashes::new(&text).find(lines, &anchor.seen.text, anchor.seen.nth);
        Ok(found.map_or_else(
            || Finding::drifted(Some(AnchorLocation::of(anchor)), None),
            |lines| Finding::fresh(AnchorLocation { key, symbol: None, lines: Some(lines) }),
        ))
    }

    /// Returns the file, or the directory around it, that may not be read, if that is so.
    fn find_closed(&self, key: &SourceKey) -> Result<Option<SourceKey>, DatabaseError> {
        let around = Path::new(key.as_str()).ancestors().filter_map(Path::to_str);
        for key in around.filter(|path| !path.is_empty()).map(SourceKey::new) {
            let entry = self.reader.entry(self.at.view, &key)?;
            if entry.is_some_and(|entry| entry.refusal == Some(Refusal::Unreadable)) {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    fn find_symbol(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
        title: &str,
    ) -> Result<Finding, DatabaseError> {
        let found = self.reader.definition(self.at.view, key, title)?;
        if let Some(found) = found.as_ref().filter(|found| found.text.to_string() == anchor.seen.text) {
            return Ok(Finding::fresh(AnchorLocation::definition(key.clone(), found)));
        }
        let is_parsed_well = self.reader.is_parsed_well(self.at.view, key)?;
        if !is_parsed_well && let Some(lines) = self.find_run(anchor, key)? {
            let location = AnchorLocation { lines: Some(lines), ..AnchorLocation::of(anchor) };
            return Ok(Finding::fresh(location));
        }
        if let Some(found) = &found {
            return Ok(Finding::drifted(Some(AnchorLocation::definition(key.clone(), found)), None));
        }
        let elsewhere = self.elsewhere(anchor, key)?;
        if !is_parsed_well && elsewhere.state == Some(State::Orphaned) {
            let note = format!("{key} has syntax errors, so some definitions are unknown");
            return Ok(Finding::drifted(None, Some(note)));
        }
        Ok(elsewhere)
    }

    /// Looks for the exact lines of a definition in a file that was not parsed completely.
    fn find_run(&mut self, anchor: &Anchor, key: &SourceKey) -> Result<Option<(u32, u32)>, DatabaseError> {
        let (Some(lines), Some(run)) = (anchor.lines, &anchor.seen.run) else { return Ok(None) };
        let text = self.text(key)?;
        Ok(text.and_then(|text| LineHashes::new(&text).find(lines, run, None)))
    }

    /// Looks for a target that is gone from its place. It has moved if its text is in exactly one place where it was not
    /// before.
    fn elsewhere(&mut self, anchor: &Anchor, key: &SourceKey) -> Result<Finding, DatabaseError> {
        let mut locations = self.same(anchor)?;
        locations.retain(|location| location.symbol == anchor.symbol);
        let note = match locations.as_slice() {
            [location] if anchor.seen.alone => {
                let location = location.clone();
                self.entry(&location.key)?; // is it still what the snapshot says?
                return Ok(Finding::fresh(location));
            }
            _ => self.hint(anchor, key)?,
        };
        Ok(Finding { state: Some(State::Orphaned), location: None, note })
    }

    /// Returns the locations in the view that have the text of an anchor.
    fn same(&self, anchor: &Anchor) -> Result<Vec<AnchorLocation>, DatabaseError> {
        const ENOUGH: usize = 64;
        let view = self.at.view;
        if anchor.symbol.is_some() {
            let Some(text) = unhex(&anchor.seen.text) else { return Ok(Vec::new()) };
            let same = self.reader.same_definition(view, &TextHash(text), ENOUGH)?;
            return Ok(same
                .into_iter()
                .map(|(key, found)| AnchorLocation::definition(key, &found))
                .collect());
        }
        let Some(hash) = unhex(&anchor.seen.blob) else { return Ok(Vec::new()) };
        let same = self.reader.same_content(view, &hash, ENOUGH)?;
        Ok(same.into_iter().map(|key| AnchorLocation { key, symbol: None, lines: anchor.lines }).collect())
    }

    /// Returns a note on what may have happened to a target that is gone.
    fn hint(&self, anchor: &Anchor, key: &SourceKey) -> Result<Option<String>, DatabaseError> {
        let at_path = self.reader.definitions(self.at.view, key)?;
        let shape = anchor.seen.shape.as_deref();
        if let Some(found) = at_path.iter().find(|found| Some(found.shape.to_string()).as_deref() == shape) {
            return Ok(Some(format!("renamed? {key}#{} says the same", found.title)));
        }
        if let Some(location) = self.same(anchor)?.first() {
            return Ok(Some(format!("{} says the same", location.typed())));
        }
        let is_there = self.at.disk.lstat(&self.at.layout.root.join(key.as_str())).is_ok();
        let is_listed = self.files.get(key).is_some_and(Option::is_some);
        Ok((is_there && !is_listed).then(|| format!("{key} exists but is ignored, so it is not checked")))
    }

    /// Returns the entry of a path in the snapshot, and records the path if the disk differs.
    pub(in crate::daemon) fn entry(&mut self, key: &SourceKey) -> Result<Option<Entry>, DatabaseError> {
        if let Some(known) = self.files.get(key) {
            return Ok(known.clone());
        }
        let entry = self.reader.entry(self.at.view, key)?;
        let stat = self.at.disk.lstat(&self.at.layout.root.join(key.as_str())).ok();
        let is_same = match (&entry, stat) {
            (None, None) => true,
            (None, Some(stat)) => self.is_rerun || stat.is_dir(),
            (Some(entry), Some(stat)) if entry.stat == stat && !entry.racy => true,
            (Some(Entry { hash: Some(hash), .. }), Some(_)) => self.read(key, hash).is_some(),
            _ => false,
        };
        if !is_same {
            self.stale.push(key.clone());
        }
        self.files.insert(key.clone(), entry.clone());
        Ok(entry)
    }

    /// Returns the text of a file if it still equals the snapshot.
    pub(in crate::daemon) fn text(&mut self, key: &SourceKey) -> Result<Option<Rc<str>>, DatabaseError> {
        if let Some((_, text)) = self.text.as_ref().filter(|(known, _)| known == key) {
            return Ok(text.clone());
        }
        let Some(hash) = self.entry(key)?.and_then(|entry| entry.hash) else { return Ok(None) };
        let text: Option<Rc<str>> = self.read(key, &hash).map(Rc::from);
        if text.is_none() && !self.stale.contains(key) {
            self.stale.push(key.clone());
        }
        self.text = Some((key.clone(), text.clone()));
        Ok(text)
    }

    fn read(&self, key: &SourceKey, hash: &[u8; 32]) -> Option<String> {
        // An unreadable file counts as stale, so the request is repeated.
        let most = self.shared.engine.config.index.max_file_bytes;
        self.at.disk.read_same(&self.at.layout.root, key, most, hash)
    }

    /// Returns an anchor for the present state of a location.
    pub(in crate::daemon) fn anchor(
        &mut self,
        location: &AnchorLocation,
    ) -> Result<Option<Anchor>, DatabaseError> {
        let AnchorLocation { key, symbol, lines } = location;
        let (Some(hash), Some(text)) = (self.entry(key)?.and_then(|entry| entry.hash), self.text(key)?)
        else {
            return Ok(None);
        };
        let blob = hex(&hash);
        let mut anchor =
            Anchor { path: key.to_string(), symbol: symbol.clone(), lines: *lines, ..Anchor::default() };
        anchor.seen = match (symbol, lines) {
            (Some(title), _) => {
                let Some(found) = self.reader.definition(self.at.view, key, title)? else { return Ok(None) };
                anchor.lines = Some(found.lines);
                let run = LineHashes::new(&text).run(found.lines).map(|run| run.to_string());
                let (text, shape) = (found.text.to_string(), Some(found.shape.to_string()));
                Seen { blob, text, shape, run, ..Seen::default() }
            }
            (None, Some((first, last))) => {
                let all = LineHashes::new(&text);
                let Some(run) = all.run((*first, *last)) else { return Ok(None) };
                let text = run.to_string();
                let locations = all.find_runs(last - first + 1, &text);
                let nth = locations.iter().take_while(|location| *location <= first).count() as u32;
                Seen { blob, text, nth: Some((nth, locations.len() as u32)), ..Seen::default() }
            }
            (None, None) => Seen { blob, text: hash_text(&text).to_string(), ..Seen::default() },
        };
        anchor.seen.alone = self.same(&anchor)?.len() == 1;
        Ok(Some(anchor))
    }
}

fn hex(hash: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*hash).to_hex().to_string()
}

fn unhex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if digits.len() != 2 * N || !digits.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}
