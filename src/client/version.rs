//! Compares the versions of client and daemon.

use std::cmp::Ordering;

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

/// Returns what orders versions: major, minor, patch, and that a pre-release comes before its release
/// (Semantic Versioning 2.0.0, section 11; pre-releases of one version count as equal).
fn precedence(version: &str) -> (u64, u64, u64, bool) {
    let version = version.split('+').next().unwrap_or_default();
    let (numbers, released) =
        version.split_once('-').map_or((version, true), |(numbers, _)| (numbers, false));
    let mut parts = numbers.split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    (next(), next(), next(), released)
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
