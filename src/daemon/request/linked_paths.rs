//! Explains why a path that is a symbolic link, or leads through one, has no answer: for git, a link is a file of its own.

use memod_base::paths::{CallerDir, canonicalize_path};
use memod_base::types::SourceKey;
use memod_engine::freshness::Freshness;
use memod_proto::{RpcError, code};

/// The bits of a mode that are the type of a file, and their value for a symbolic link.
const LINK_TYPE: (u32, u32) = (0o170_000, 0o120_000);

/// Returns the error for a path that is a symbolic link or leads through one; `None` for other paths. The hint names the file that the path
/// leads to.
pub(in crate::daemon) fn explain_link(at: &Freshness, key: &SourceKey, dir: &CallerDir) -> Option<RpcError> {
    let (root, path) = (&at.layout.root, key.as_str());
    let mut ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    let is_link = |end: &usize| {
        let stat = at.disk.lstat(&root.join(&path[..*end]));
        stat.is_ok_and(|stat| stat.mode & LINK_TYPE.0 == LINK_TYPE.1)
    };
    let link = &path[..ends.find(is_link)?];
    let shown = dir.display_path(path);
    let message = match link == path {
        true => format!("{shown}: a symbolic link, so it has no text of its own"),
        false => format!("{shown}: {} is a symbolic link, which git does not follow", dir.display_path(link)),
    };
    let full = canonicalize_path(&root.join(path)).ok();
    let real = full.as_ref().map(|full| full.strip_prefix(root).ok().and_then(|real| real.to_str()));
    let hint = match real {
        Some(Some("")) => "it leads to the top of the worktree".to_owned(),
        Some(Some(real)) => format!("ask for {}", dir.display_path(&real.replace('\\', "/"))),
        Some(None) => "it leads out of the worktree".to_owned(),
        None => "it leads to nothing".to_owned(),
    };
    Some(RpcError::new(code::NOT_FOUND, message).with_hint(hint))
}
