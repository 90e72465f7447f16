//! Finds the changes of a worktree since a commit, or returns them from the cache.

use std::sync::Arc;

use memod_base::paths::{IoContext as _, none_if_unreadable};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_git::{Attributes, GitError, GitIndex, ObjectId, OutsideAttributes, UserDirs};
use memod_index_db::IndexReader;

use super::compare_worktree::ComparedWorktree;
use super::conversions::{UncomparedFile, WorktreeConversions};
use super::unlisted_paths::UnlistedPaths;
use super::version_texts::VersionTextReader;
use crate::daemon::request::fresh_snapshot::format_clock;
use crate::daemon::shared::Shared;
use crate::daemon::shared::change_cache::{CachedChanges, ChangeInputs, ContentChange};

/// Returns the changes since a commit, ordered by path, and the files that could not be compared. Without a commit, every file
/// counts as added.
///
/// # Errors
/// When the database, git's index or an object of the commit cannot be read.
pub(super) fn find_changes(
    shared: &Shared,
    texts: &VersionTextReader<'_>,
    base: Option<ObjectId>,
) -> RpcResult<(Arc<[ContentChange]>, Vec<UncomparedFile>)> {
    let layout = &texts.at.layout;
    let index = layout.git_dir.as_ref().map(|dir| dir.join("index")).unwrap_or_default();
    let index_stat =
        none_if_unreadable(memod_scan::lstat(&index)).at("look at", &index).map_err(GitError::from)?;
    // The inputs are read first: if they change during the comparison, the next question finds that they differ.
    let settings = &texts.history.settings;
    let outside = OutsideAttributes::read(layout, settings, &UserDirs::read());
    let source = |reader: &IndexReader| {
        format_clock(reader, texts.at).map(|clock| ChangeInputs {
            clock,
            base,
            index: index_stat,
            settings: settings.clone(),
            outside: outside.clone(),
        })
    };
    let source_now = shared.engine.with_reader(source)?;
    let unlisted = UnlistedPaths::new(shared, texts);
    if let Some(kept) = shared.changes.find_cached_changes(texts.at.worktree).filter(|kept| {
        kept.inputs == source_now
            && kept.on_disk.iter().all(|(path, found)| unlisted.examine_path(path) == Some(*found))
            && kept.attributes.iter().all(|file| {
                texts.at.disk.lstat(&layout.root.join(&file.0)).is_ok()
                    && Attributes::is_unchanged(&layout.root, file)
            })
    }) {
        return Ok((kept.changes, Vec::new()));
    }
    let tracked = GitIndex::read(&index, settings.object_hash, settings.ignore_case)?;
    let from = (&tracked, Some(&texts.history.objects));
    let conversions =
        WorktreeConversions::new(texts, Attributes::new(&layout.root, settings, &outside, from));
    let (source, manifest) = shared.engine.with_reader(|reader: &IndexReader| {
        reader.read_snapshot(|reader| {
            Ok::<_, DatabaseError>((source(reader)?, reader.list_entries(texts.at.worktree, None)?))
        })
    })?;
    let worktree = ComparedWorktree {
        shared,
        texts,
        tracked: &tracked,
        manifest: &manifest,
        conversions: &conversions,
        unlisted: &unlisted,
    };
    let mut found = worktree.compare_with(base)?;
    let is_settled = found.is_cacheable;
    let on_disk = std::mem::take(&mut found.on_disk).into();
    let attributes = conversions.attribute_files().into();
    let changes: Arc<[ContentChange]> = found.into_list().into();
    if is_settled && none_if_unreadable(memod_scan::lstat(&index)).is_ok_and(|now| now == index_stat) {
        let kept = CachedChanges { inputs: source, on_disk, attributes, changes: Arc::clone(&changes) };
        shared.changes.keep_changes(texts.at.worktree, kept);
    }
    Ok((changes, conversions.into_uncompared()))
}
