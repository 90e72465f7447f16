//! Splits paths.

/// Splits a path into its directory and its last part.
pub(super) fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
