//! Compares the versions of client and daemon.

use std::cmp::Ordering;

use semver::{BuildMetadata, Version};

/// How the daemon's version relates to the client's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skew {
    /// The same.
    Equal,
    /// The client may replace the daemon.
    DaemonOlder,
    /// The daemon stays.
    DaemonNewer,
}

/// Compares (version, protocol) of the client with those of the daemon.
pub(super) fn compare(client: (&str, u32), daemon: (&str, u32)) -> Skew {
    match (precedence(client.0), client.1).cmp(&(precedence(daemon.0), daemon.1)) {
        Ordering::Equal => Skew::Equal,
        Ordering::Greater => Skew::DaemonOlder,
        Ordering::Less => Skew::DaemonNewer,
    }
}

/// Returns the precedence of a version without its build (Semantic Versioning 2.0.0, section 11). An invalid version is
/// `None`, which comes first.
fn precedence(version: &str) -> Option<Version> {
    let version = Version::parse(version).ok()?;
    Some(Version { build: BuildMetadata::EMPTY, ..version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered() {
        let cases = [
            ("0.1.0", 1, "0.1.0", 1, Skew::Equal),
            ("0.1.0+a", 1, "0.1.0+b", 1, Skew::Equal),
            ("0.10.0", 1, "0.9.9", 1, Skew::DaemonOlder),
            ("1.0.0", 1, "1.0.0-rc.1", 1, Skew::DaemonOlder),
            ("1.0.0-rc.10", 1, "1.0.0-rc.2", 1, Skew::DaemonOlder),
            ("0.1.0", 1, "0.1.1", 1, Skew::DaemonNewer),
            ("0.1.0", 1, "0.1.0", 2, Skew::DaemonNewer),
            ("0.2.0", 1, "0.1.0", 2, Skew::DaemonOlder),
            ("0.1.0", 1, "nonsense", 1, Skew::DaemonOlder),
        ];
        for (client, ours, daemon, theirs, expected) in cases {
            assert_eq!(compare((client, ours), (daemon, theirs)), expected, "{client} {daemon}");
        }
    }
}
