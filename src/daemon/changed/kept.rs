//! Keeps what has changed in worktrees since a commit, until the manifest, the commit or git's index is another one.

use std::convert::Infallible;
use std::sync::Arc;

use super::compare::{Change, Worktree, is_gone};
use super::texts::Texts;
use crate::daemon::error::RpcResult;
use crate::daemon::per_view::{Kept, PerView};
use crate::daemon::request::clock;
use crate::daemon::shared::Shared;
use crate::git::{GitError, ObjectId, Settings, Tracked, UserDirs};
use crate::paths::{IoContext as _, if_readable};
use crate::scan;
use crate::store::{Reader, StoreError};
use crate::types::{Stat, ViewId};

/// Memory of the changes of all worktrees together, bytes.
const MOST_BYTES: usize = 16 << 20;

/// The changes of worktrees.
pub(in crate::daemon) struct KeptChanges(PerView<Option<ChangesOfView>>);

/// The changes of a view, and what they follow from.
#[derive(Clone)]
struct ChangesOfView {
    source: Source,
    /// Paths that the manifest does not list, and whether each is gone from the disk: no clock tells of them.
    unlisted: Arc<[(String, bool)]>,
    changes: Arc<[Change]>,
}

/// What the changes of a view follow from.
#[derive(Clone, PartialEq, Eq)]
struct Source {
    clock: String,
    base: Option<ObjectId>,
    /// Signature of git's index.
    index: Option<Stat>,
}

impl Kept for Option<ChangesOfView> {
    fn size(&self) -> usize {
        let of_path = |path: &str| path.len() + size_of::<Change>();
        self.as_ref().map_or(0, |kept| {
            let changed: usize = kept.changes.iter().map(|change| of_path(&change.file.path)).sum();
            changed + kept.unlisted.iter().map(|(path, _)| of_path(path)).sum::<usize>()
        })
    }
}

impl Default for KeptChanges {
    fn default() -> Self {
        Self(PerView::new(MOST_BYTES))
    }
}

impl KeptChanges {
    fn of(&self, view: ViewId) -> Option<ChangesOfView> {
        let Ok(kept) = self.0.of(view, |former| Ok::<_, Infallible>(former.flatten()));
        kept
    }

    fn keep(&self, view: ViewId, kept: ChangesOfView) {
        let Ok(_) = self.0.of(view, |_| Ok::<_, Infallible>(Some(kept)));
    }

    /// Forgets all changes.
    pub(in crate::daemon) fn clear(&self) {
        self.0.retain(&[]);
    }
}

/// Returns the changes since a commit by path; without one every file is added.
///
/// # Errors
/// When the database, git's index or an object of the commit cannot be read.
pub(super) fn changes(
    shared: &Shared,
    texts: &Texts<'_>,
    base: Option<ObjectId>,
) -> RpcResult<Arc<[Change]>> {
    let layout = &texts.at.layout;
    let index = layout.git_dir.as_ref().map(|dir| dir.join("index")).unwrap_or_default();
    let index_stat = if_readable(scan::lstat(&index)).at("look at", &index).map_err(GitError::from)?;
    let source =
        |reader: &Reader| clock(reader, texts.at).map(|clock| Source { clock, base, index: index_stat });
    let source_now = shared.read(source)?;
    let is_still = |(path, was_gone): &(String, bool)| is_gone(texts, path) == *was_gone;
    let known = shared.changes.of(texts.at.view);
    if let Some(kept) = known.filter(|kept| kept.source == source_now && kept.unlisted.iter().all(is_still)) {
        return Ok(kept.changes);
    }
    let settings = Settings::read(layout, &UserDirs::read())?;
    let tracked = Tracked::read(&index, settings.object_hash, settings.ignore_case)?;
    let (source, manifest) = shared.read(|reader: &Reader| {
        reader.snapshot(|reader| Ok::<_, StoreError>((source(reader)?, reader.entries(texts.at.view, None)?)))
    })?;
    let mut found = Worktree { shared, texts, tracked: &tracked, manifest: &manifest }.compare(base)?;
    let is_settled = found.is_settled;
    let unlisted = std::mem::take(&mut found.unlisted).into();
    let changes: Arc<[Change]> = found.list().into();
    if is_settled && if_readable(scan::lstat(&index)).is_ok_and(|now| now == index_stat) {
        let kept = ChangesOfView { source, unlisted, changes: Arc::clone(&changes) };
        shared.changes.keep(texts.at.view, kept);
    }
    Ok(changes)
}
