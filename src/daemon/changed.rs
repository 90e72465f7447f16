//! Lists what changed in the worktree since a revision.
//!
//! Compares the tree of a commit with the manifest, so uncommitted changes and new files count too. Git's index knows the
//! content of most files; the others are read.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::clock::{local, now_ms};
use super::definition_diff::Definitions;
use super::error::{RpcResult, bad_params};
use super::event::Freshness;
use super::history::History;
use super::object_ids::{ContentKey, ObjectIds};
use super::request::{deadline, freshness, reading};
use super::shared::Shared;
use crate::git::{ALIKE, ObjectId, Settings, Tracked, TreeEntry, UserDirs, Walk, likeness};
use crate::paths::{IoContext as _, PathError, if_readable};
use crate::proto::{ChangedFile, ChangedParams, ChangedResult, FileStatus, RpcError, code};
use crate::scan;
use crate::store::{Entry, Reader};
use crate::types::{Refusal, SourceKey, Way, moment};

/// Time limit for comparing definitions.
const BUDGET: Duration = Duration::from_secs(10);
/// Default and maximum number of files.
const LIMIT: (usize, usize) = (200, 100_000);
/// Most added and removed files that are compared pairwise to find renamed files with changes.
const MOST_COMPARED: usize = 100;
/// Files larger than this count as changed unless git knows that they are not, bytes.
const MOST_HASHED_BYTES: u64 = 64 << 20;
/// Files larger than this are not compared line by line, bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Answers `changed`.
pub(super) async fn changed(shared: &Arc<Shared>, params: ChangedParams) -> RpcResult<ChangedResult> {
    let began = Instant::now();
    let until = deadline(shared, params.wait_ms);
    let at = freshness(shared, &params.cwd, params.sync, until).await?;
    let root = at.layout.root.clone();
    let answer = move |shared: &Shared| answer(shared, &params, &at, Instant::now() + BUDGET);
    let result = reading(shared, &root, answer).await?;
    Ok(ChangedResult { took_ms: began.elapsed().as_secs_f64() * 1_000.0, ..result })
}

fn answer(
    shared: &Shared,
    params: &ChangedParams,
    at: &Freshness,
    until: Instant,
) -> RpcResult<ChangedResult> {
    let limit = params.limit.unwrap_or(LIMIT.0);
    if !(1..=LIMIT.1).contains(&limit) {
        let message = format!("limit: {limit} is not between 1 and {}", LIMIT.1);
        return Err(bad_params(message).with_hint("leave it out for two hundred"));
    }
    let past = History::open(at)?;
    let base = base(&past, at, params.since.trim())?;
    let mut comparison = Comparison::new(shared, at, &past)?;
    comparison.compare(base)?;
    let mut files = comparison.files();
    let total = files.len();
    files.truncate(limit);
    let mut definitions = Definitions::new(shared, until)?;
    let mut n_late = 0;
    let mut listed = Vec::with_capacity(files.len());
    for (mut file, old) in files {
        match definitions.compare(&file, || comparison.past_text(old?), || comparison.text(&file.path)) {
            Ok(symbols) => file.symbols = symbols,
            Err(_) => n_late += 1,
        }
        listed.push(file);
    }
    let described = base.map(|base| past.describe(base)).transpose()?;
    let (base, subject) = described.map(|(base, subject, _)| (base, subject)).unzip();
    let late = (n_late > 0).then(|| {
        format!("the time limit was reached before the definitions of {n_late} files were compared")
    });
    let unread = comparison.unread.into_inner();
    Ok(ChangedResult {
        base,
        subject,
        left_out: total - listed.len(),
        total,
        files: listed,
        complete: at.fresh && unread.is_none() && late.is_none(),
        fresh: at.fresh && unread.is_none(),
        reason: at.reason.clone().or(unread).or(late),
        took_ms: 0.0,
    })
}

/// Returns the commit to compare with; `None` if all commits are newer than the requested time.
fn base(past: &History, at: &Freshness, since: &str) -> RpcResult<Option<ObjectId>> {
    let is_ref = matches!(past.refs.find(since), Ok(Some(_)));
    let moment = if is_ref { None } else { moment(since, &local(now_ms()), Way::Back) };
    let Some(moment) = moment else {
        if since.is_empty() {
            let hint = "--since HEAD~3, main, 2026-11-01 or 3d";
            return Err(bad_params("since: empty").with_hint(hint));
        }
        return past.resolve(&at.layout, since).map(Some);
    };
    let Some(head) = past.refs.find("HEAD")? else { return Ok(None) };
    let known = HashMap::new();
    let mut walk = Walk::new(&past.objects, &known, head);
    let found = walk.find(|(_, node)| node.time <= moment.div_euclid(1_000)).map(|(id, _)| id);
    if let Some(unread) = walk.unread {
        return Err(RpcError::new(code::IO, unread));
    }
    match (found, walk.gaps.first()) {
        (None, Some(gap)) => {
            let hint = "earlier history is missing: run `git fetch --unshallow`, or name a revision";
            Err(RpcError::new(code::NOT_FOUND, format!("{since}: {gap}")).with_hint(hint))
        }
        (found, _) => Ok(found),
    }
}

/// A changed file with its old content.
type Pair = (ChangedFile, Option<ObjectId>);

/// A comparison of a tree with the worktree.
struct Comparison<'a> {
    shared: &'a Shared,
    at: &'a Freshness,
    past: &'a History,
    tracked: Tracked,
    manifest: HashMap<SourceKey, Entry>,
    added: BTreeMap<String, ObjectId>,
    removed: BTreeMap<String, TreeEntry>,
    modified: BTreeMap<String, ObjectId>,
    /// New path, old path and old content.
    renamed: BTreeMap<String, (String, ObjectId)>,
    /// The first transient error.
    unread: OnceCell<String>,
}

impl<'a> Comparison<'a> {
    fn new(shared: &'a Shared, at: &'a Freshness, past: &'a History) -> RpcResult<Self> {
        let settings = Settings::read(&at.layout, &UserDirs::read())?;
        let index = at.layout.git_dir.as_ref().map(|dir| dir.join("index")).unwrap_or_default();
        let tracked = Tracked::read(&index, settings.object_hash, settings.ignore_case)?;
        let manifest = shared.read(|reader: &Reader| reader.entries(at.view, None))?;
        let (added, removed, modified, renamed) = Default::default();
        let unread = OnceCell::new();
        Ok(Self { shared, at, past, tracked, manifest, added, removed, modified, renamed, unread })
    }

    fn compare(&mut self, base: Option<ObjectId>) -> RpcResult<()> {
        let mut old = HashMap::new();
        if let Some(base) = base {
            let files = self.past.objects.node(base).and_then(|node| self.past.objects.files(node.tree));
            old = files?.into_iter().collect();
        }
        let keys: Vec<SourceKey> = self.manifest.keys().cloned().collect();
        for key in keys {
            let was = old.remove(key.as_str());
            let entry = &self.manifest[&key];
            if entry.refusal == Some(Refusal::NestedRepository) {
                continue; // another repository has a history of its own
            }
            let now = self.content(&key, was.as_ref());
            if let (Some(was), Some(now)) = (was, now) {
                if was.id != now {
                    self.modified.insert(key.to_string(), was.id);
                }
            } else if let Some(now) = now {
                self.added.insert(key.to_string(), now);
            }
        }
        for (path, was) in old {
            // A sparse checkout omits files, and so do our own ignore files.
            let is_left_out = self.tracked.left_out(path.as_str().into()).is_some();
            if was.is_file() && !is_left_out && self.is_gone(&path) {
                self.removed.insert(path, was);
            }
        }
        self.pair();
        Ok(())
    }

    /// Returns the object id that git would give to the content of a path: that of `was` if only line ends differ; `None` if
    /// the file is gone.
    fn content(&self, key: &SourceKey, was: Option<&TreeEntry>) -> Option<ObjectId> {
        let entry = &self.manifest[key];
        // Neither a file with credentials nor a huge file is read.
        let is_secret = entry.refusal == Some(Refusal::SecretName);
        let unknown = ObjectId::null(self.past.object_hash);
        match self.tracked.noted(key.as_str().into(), &entry.stat) {
            Some((id, is_racy)) if !is_racy || is_secret => return Some(id),
            _ if is_secret => return Some(unknown),
            _ => {}
        }
        let content = ContentKey::of(key, entry);
        let ids = match self.shared.object_ids.of(&content) {
            Some(known) => known,
            None => match self.read_ids(key, content)? {
                Some(read) => read,
                None => return Some(unknown),
            },
        };
        match was {
            Some(was) if ids.lf == was.id => Some(was.id),
            _ => Some(ids.raw),
        }
    }

    /// Reads a file and returns the object ids of its content: `Some(None)` if it is too large, `None` if it is gone.
    fn read_ids(&self, key: &SourceKey, listed: ContentKey) -> Option<Option<ObjectIds>> {
        let root = &self.at.layout.root;
        let path = root.join(key.as_str());
        let read_at_ns = now_ms() * 1_000_000;
        let read = if_readable(scan::bytes(root, key, MOST_HASHED_BYTES)).at("read", &path);
        let Some(bytes) = self.known(read)?? else { return Some(None) };
        let ids = ObjectIds::of(self.past.object_hash, &bytes);
        // What was read may be newer than the manifest.
        let is_listed = match &listed {
            ContentKey::Hash(hash) => blake3::hash(&bytes) == *hash,
            ContentKey::Stat(_, stat) => {
                scan::lstat(&path).is_ok_and(|now| now == *stat) && !scan::is_racy(stat, read_at_ns)
            }
        };
        if is_listed {
            self.shared.object_ids.add(listed, ids);
        }
        Some(Some(ids))
    }

    /// Returns whether a path does not exist any more.
    fn is_gone(&self, path: &str) -> bool {
        let path = self.at.layout.root.join(path);
        self.known(if_readable(scan::lstat(&path)).at("look at", &path)).is_some_and(|stat| stat.is_none())
    }

    /// Returns what was read; `None` after a transient error, which is recorded.
    fn known<T>(&self, read: Result<T, PathError>) -> Option<T> {
        read.inspect_err(|error| drop(self.unread.set(error.to_string()))).ok()
    }

    /// Finds the new names of removed files: first by equal content, then by similarity.
    fn pair(&mut self) {
        let mut by_id: HashMap<ObjectId, Vec<String>> = HashMap::new();
        for (path, was) in &self.removed {
            by_id.entry(was.id).or_default().push(path.clone());
        }
        let same: Vec<(String, String)> = self
            .added
            .iter()
            .filter_map(|(path, id)| Some((path.clone(), by_id.get_mut(id)?.pop()?)))
            .collect();
        same.into_iter().for_each(|(new, old)| self.rename(new, old));
        // A moved file usually keeps its name, which is cheap to try first. Git does the same.
        let moved = self.moved();
        for (new, old) in moved {
            let was = self.removed.get(&old).and_then(|was| self.past_text(was.id));
            let is = self.text(&new);
            if was.zip(is).is_some_and(|(was, is)| likeness(was.as_bytes(), is.as_bytes()) >= ALIKE) {
                self.rename(new, old);
            }
        }
        if self.added.len() <= MOST_COMPARED && self.removed.len() <= MOST_COMPARED {
            self.pair_alike();
        }
    }

    /// Pairs each added file with the removed file of the same name, if the name is unique among both.
    fn moved(&self) -> Vec<(String, String)> {
        let mut by_name: BTreeMap<&str, (Vec<&String>, Vec<&String>)> = BTreeMap::new();
        for path in self.added.keys() {
            by_name.entry(name_of(path)).or_default().0.push(path);
        }
        for path in self.removed.keys() {
            by_name.entry(name_of(path)).or_default().1.push(path);
        }
        let pairs = by_name.into_values().filter_map(|(new, old)| match (new.as_slice(), old.as_slice()) {
            ([new], [old]) => Some(((*new).clone(), (*old).clone())),
            _ => None,
        });
        pairs.collect()
    }

    /// Compares all pairs of added and removed files and takes the most similar first.
    fn pair_alike(&mut self) {
        let texts: Vec<(String, String)> = self
            .removed
            .iter()
            .filter_map(|(path, was)| Some((path.clone(), self.past_text(was.id)?)))
            .collect();
        let mut alike = Vec::new();
        for new in self.added.keys() {
            let Some(text) = self.text(new) else { continue };
            let share =
                |(old, was): &(String, String)| (likeness(was.as_bytes(), text.as_bytes()), old.clone());
            let shares = texts.iter().map(share).filter(|(share, _)| *share >= ALIKE);
            alike.extend(shares.map(|(share, old)| (share, new.clone(), old)));
        }
        alike.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (&a.1, &a.2).cmp(&(&b.1, &b.2))));
        for (_, new, old) in alike {
            if self.added.contains_key(&new) && self.removed.contains_key(&old) {
                self.rename(new, old);
            }
        }
    }

    fn rename(&mut self, new: String, old: String) {
        self.added.remove(&new);
        if let Some(was) = self.removed.remove(&old) {
            self.renamed.insert(new, (old, was.id));
        }
    }

    fn files(&self) -> Vec<Pair> {
        let file =
            |path: &String, status, from| ChangedFile { path: path.clone(), status, from, symbols: None };
        let added = self.added.keys().map(|path| (file(path, FileStatus::Added, None), None));
        let removed =
            self.removed.iter().map(|(path, was)| (file(path, FileStatus::Removed, None), Some(was.id)));
        let modified =
            self.modified.iter().map(|(path, was)| (file(path, FileStatus::Modified, None), Some(*was)));
        let renamed = self
            .renamed
            .iter()
            .map(|(path, (from, was))| (file(path, FileStatus::Renamed, Some(from.clone())), Some(*was)));
        let mut files: Vec<Pair> = added.chain(removed).chain(modified).chain(renamed).collect();
        files.sort_by(|a, b| a.0.path.cmp(&b.0.path));
        files
    }

    /// Returns the text of an indexed file in the worktree.
    fn text(&self, path: &str) -> Option<String> {
        let key = SourceKey::new(path);
        let hash = self.manifest.get(&key)?.hash?;
        let max_file_bytes = self.shared.config.index.max_file_bytes;
        self.known(scan::read_same(&self.at.layout.root, &key, max_file_bytes, &hash))?
    }

    /// Returns the text of a past content.
    fn past_text(&self, id: ObjectId) -> Option<String> {
        let read = self.past.objects.blob(id, MOST_BYTES);
        let bytes = read.inspect_err(|error| {
            if error.is_transient() {
                let _ = self.unread.set(error.to_string()); // the first is enough
            }
        });
        let text = String::from_utf8(bytes.ok().flatten()?);
        text.ok().filter(|text| !text.contains('\0'))
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
