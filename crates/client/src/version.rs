//! Compares the versions of client and daemon.

use std::cmp::Ordering;

use semver::{BuildMetadata, Version};

/// Whether the daemon is older or newer than the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionSkew {
    /// Client and daemon have the same version.
    Equal,
    /// The daemon is older; the client may replace it.
    DaemonOlder,
    /// The daemon is newer; the client must not replace it.
    DaemonNewer,
}

/// Compares the pair (version, protocol) of the client with that of the daemon.
pub(super) fn compare_versions(client: (&str, u32), daemon: (&str, u32)) -> VersionSkew {
    match (parse_version(client.0), client.1).cmp(&(parse_version(daemon.0), daemon.1)) {
        Ordering::Equal => VersionSkew::Equal,
        Ordering::Greater => VersionSkew::DaemonOlder,
        Ordering::Less => VersionSkew::DaemonNewer,
    }
}

/// Parses a version and drops its build metadata, so that versions compare by precedence (Semantic Versioning 2.0.0, section 11).
/// An invalid version is `None`, which is less than all others.
fn parse_version(version: &str) -> Option<Version> {
    let version = Version::parse(version).ok()?;
    Some(Version { build: BuildMetadata::EMPTY, ..version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered() {
        let cases = [
            ("0.1.0", 1, "0.1.0", 1, VersionSkew::Equal),
            ("0.1.0+a", 1, "0.1.0+b", 1, VersionSkew::Equal),
            ("0.10.0", 1, "0.9.9", 1, VersionSkew::DaemonOlder),
            ("1.0.0", 1, "1.0.0-rc.1", 1, VersionSkew::DaemonOlder),
            ("1.0.0-rc.10", 1, "1.0.0-rc.2", 1, VersionSkew::DaemonOlder),
            ("0.1.0", 1, "0.1.1", 1, VersionSkew::DaemonNewer),
            ("0.1.0", 1, "0.1.0", 2, VersionSkew::DaemonNewer),
            ("0.2.0", 1, "0.1.0", 2, VersionSkew::DaemonOlder),
            ("0.1.0", 1, "nonsense", 1, VersionSkew::DaemonOlder),
        ];
        for (client, ours, daemon, theirs, expected) in cases {
            assert_eq!(compare_versions((client, ours), (daemon, theirs)), expected, "{client} {daemon}");
        }
    }
}
