//! Decides what must be done about one path. Pure.

use memod_base::types::{ReadRefusal, Stat};
use memod_index_db::ManifestEntry;

/// The action for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Do nothing: the manifest is right.
    Keep,
    /// Read the content of the path.
    Read,
    /// Record why the path is not read.
    Refuse(ReadRefusal),
}

/// Returns the action for a path, given its manifest row, its signature and the decision of the admission rules.
///
/// Equal signatures mean "not written since", unless the row is racy: the file was written so shortly before it was read
/// that a later write could have the same time.
pub(super) fn decide_action(
    known: Option<&ManifestEntry>,
    stat: &Stat,
    refusal: Option<ReadRefusal>,
    extractor_version: i64,
) -> Action {
    let same = known.filter(|entry| entry.stat == *stat && !entry.racy);
    match (refusal, same) {
        (Some(reason), Some(entry)) if entry.refusal == Some(reason) => Action::Keep,
        (Some(reason), _) => Action::Refuse(reason),
        (None, Some(entry)) if entry.refusal.is_some_and(depends_on_content) => Action::Keep,
        (None, Some(entry)) if entry.hash.is_some() && entry.extractor_version == extractor_version => {
            Action::Keep
        }
        (None, _) => Action::Read,
    }
}

/// Returns whether a refusal depends on the bytes or their size, and so holds while the signature is the same.
fn depends_on_content(refusal: ReadRefusal) -> bool {
    matches!(refusal, ReadRefusal::Binary | ReadRefusal::TooBig)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: Stat = Stat { size: 5, mtime_ns: 1, ctime_ns: 1, inode: 1, dev: 1, mode: 0o100_644 };

    fn entry(refusal: Option<ReadRefusal>, racy: bool) -> ManifestEntry {
        let hash = refusal.is_none().then_some([7; 32]);
        ManifestEntry { stat: STAT, racy, hash, refusal, extractor_version: 3 }
    }

    #[test]
    fn only_an_equal_signature_that_is_not_racy_is_kept() {
        let check = |known: Option<ManifestEntry>, stat: &Stat, refusal, expected| {
            assert_eq!(decide_action(known.as_ref(), stat, refusal, 3), expected, "{known:?} {refusal:?}");
        };
        let touched = Stat { mtime_ns: 2, ..STAT };
        check(None, &STAT, None, Action::Read);
        check(Some(entry(None, false)), &STAT, None, Action::Keep);
        check(Some(entry(None, true)), &STAT, None, Action::Read);
        check(Some(entry(None, false)), &touched, None, Action::Read);
        check(Some(ManifestEntry { extractor_version: 2, ..entry(None, false) }), &STAT, None, Action::Read);
        check(Some(entry(Some(ReadRefusal::Binary), false)), &STAT, None, Action::Keep);
        check(Some(entry(Some(ReadRefusal::Unreadable), false)), &STAT, None, Action::Read);
        check(Some(entry(Some(ReadRefusal::SecretName), false)), &STAT, None, Action::Read);
        let secret = Some(ReadRefusal::SecretName);
        check(Some(entry(None, false)), &STAT, secret, Action::Refuse(ReadRefusal::SecretName));
        check(Some(entry(secret, false)), &STAT, secret, Action::Keep);
    }
}
