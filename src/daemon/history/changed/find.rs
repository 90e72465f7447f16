//! Finds what has changed in a worktree since a commit, unless it is kept from an earlier question.

use std::sync::Arc;

use memod_base::paths::{IoContext as _, if_readable};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_git::{AttributeFile, Attributes, GitError, ObjectId, OutsideAttributes, Tracked, UserDirs};
use memod_index_db::Reader;

use super::compare::Worktree;
use super::conversions::{Conversions, Uncompared};
use super::on_disk::UnlistedPaths;
use super::texts::Texts;
use crate::daemon::history::kept_changes::{Change, ChangesOfView, OnDisk, Source};
use crate::daemon::request::clock;
use crate::daemon::shared::Shared;

/// Returns the changes since a commit by path, and the files that could not be compared; without a commit every file is added.
///
/// # Errors
/// When the database, git's index or an object of the commit cannot be read.
pub(super) fn changes(
    shared: &Shared,
    texts: &Texts<'_>,
    base: Option<ObjectId>,
) -> RpcResult<(Arc<[Change]>, Vec<Uncompared>)> {
    let layout = &texts.at.layout;
    let index = layout.git_dir.as_ref().map(|dir| dir.join("index")).unwrap_or_default();
    let index_stat = if_readable(memod_scan::lstat(&index)).at("look at", &index).map_err(GitError::from)?;
    // Read before everything else, so that a later question finds them to be others if they have changed meanwhile.
    let settings = &texts.past.settings;
    let outside = OutsideAttributes::read(layout, settings, &UserDirs::read());
    let source = |reader: &Reader| {
        clock(reader, texts.at).map(|clock| Source {
            clock,
            base,
            index: index_stat,
            settings: settings.clone(),
            outside: outside.clone(),
        })
    };
    let source_now = shared.engine.read(source)?;
    let unlisted = UnlistedPaths::new(shared, texts);
    let is_still = |(path, found): &(String, OnDisk)| unlisted.look_at(path) == Some(*found);
    let answers = |dir: &str| texts.at.disk.lstat(&layout.root.join(dir)).is_ok();
    let is_same = |file: &AttributeFile| answers(&file.0) && Attributes::is_same(&layout.root, file);
    let is_current = |kept: &ChangesOfView| {
        kept.source == source_now && kept.on_disk.iter().all(is_still) && kept.attributes.iter().all(is_same)
    };
    if let Some(kept) = shared.changes.of(texts.at.view).filter(is_current) {
        return Ok((kept.changes, Vec::new()));
    }
    let tracked = Tracked::read(&index, settings.object_hash, settings.ignore_case)?;
    let from = (&tracked, Some(&texts.past.objects));
    let conversions = Conversions::new(texts, Attributes::new(&layout.root, settings, &outside, from));
    let (source, manifest) = shared.engine.read(|reader: &Reader| {
        reader.snapshot(|reader| {
            Ok::<_, DatabaseError>((source(reader)?, reader.entries(texts.at.view, None)?))
        })
    })?;
    let worktree = Worktree {
        shared,
        texts,
        tracked: &tracked,
        manifest: &manifest,
        conversions: &conversions,
        unlisted: &unlisted,
    };
    let mut found = worktree.compare(base)?;
    let is_settled = found.is_settled;
    let on_disk = std::mem::take(&mut found.on_disk).into();
    let attributes = conversions.attribute_files().into();
    let changes: Arc<[Change]> = found.list().into();
    if is_settled && if_readable(memod_scan::lstat(&index)).is_ok_and(|now| now == index_stat) {
        let kept = ChangesOfView { source, on_disk, attributes, changes: Arc::clone(&changes) };
        shared.changes.keep(texts.at.view, kept);
    }
    Ok((changes, conversions.uncompared()))
}
