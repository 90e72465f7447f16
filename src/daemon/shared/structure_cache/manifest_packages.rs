//! Reads the packages that the manifests of a worktree declare.

use std::collections::HashSet;
use std::path::Path;

use memod_base::types::{ClassSet, SourceKey};
use memod_search::paths::class_rules;
use memod_structure::resolve::Packages;

use crate::daemon::shared::code_map_cache::SECONDARY_CLASSES;

/// Maximum number of manifests that are read, and of bytes in each.
const MOST_MANIFESTS: usize = 2_000;
const MOST_MANIFEST_BYTES: u64 = 256 << 10;

/// The path of a manifest, and the blake3 of its bytes; `None` if it is refused or cannot be read.
pub(super) type ManifestHash = (String, Option<[u8; 32]>);

/// Returns the packages that manifests among `paths`, which are sorted, declare; and the manifests that were read.
pub(super) fn read_packages(root: &Path, paths: &[String]) -> (Packages, Vec<ManifestHash>) {
    let mut packages = Packages::default();
    let mut manifests: Vec<&String> = paths.iter().filter(|path| Packages::is_manifest(path)).collect();
    // If several packages have one name, the one nearest to the top counts; those in tests, examples and the like come last.
    manifests.sort_by_key(|path| {
        let is_aside =
            class_rules::classes_by_path(path).intersects(ClassSet::from_classes(&SECONDARY_CLASSES));
        (is_aside, path.matches('/').count())
    });
    let mut rest: Vec<String> = manifests.into_iter().take(MOST_MANIFESTS).cloned().collect();
    let mut known: HashSet<String> = rest.iter().cloned().collect();
    let mut hashes = Vec::new();
    // A configuration of a compiler may extend others, which have any name.
    while !rest.is_empty() {
        for path in &rest {
            let read = memod_scan::read(root, &SourceKey::new(path), MOST_MANIFEST_BYTES).ok();
            hashes.push((path.clone(), read.as_ref().map(|read| read.hash)));
            if let Some(memod_scan::Content::Text(text)) = read.map(|read| read.content) {
                packages.add_manifest(path, &text);
            }
        }
        rest = packages.list_missing_manifests();
        rest.retain(|path| paths.binary_search(path).is_ok() && known.insert(path.clone()));
    }
    (packages, hashes)
}
