//! Decides what must be done about one path. Pure.

use memod_base::types::{Refusal, Stat};
use memod_index_db::Entry;

/// The action for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The manifest is right.
    Keep,
    /// Its content must be read.
    Read,
    /// Record why it is not read.
    Refuse(Refusal),
}

/// Compares a manifest row with `lstat` and the admission rules.
///
/// Equal signatures mean "not written since", unless the row is racy: the file was written so shortly before it was read
/// that a later write could have the same time.
pub(super) fn decide_action(
    known: Option<&Entry>,
    stat: &Stat,
    refusal: Option<Refusal>,
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
fn depends_on_content(refusal: Refusal) -> bool {
    matches!(refusal, Refusal::Binary | Refusal::TooBig)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: Stat = Stat { size: 5, mtime_ns: 1, ctime_ns: 1, inode: 1, dev: 1, mode: 0o100_644 };

    fn entry(refusal: Option<Refusal>, racy: bool) -> Entry {
        let hash = refusal.is_none().then_some([7; 32]);
        Entry { stat: STAT, racy, hash, refusal, extractor_version: 3 }
    }

    #[test]
    fn only_an_equal_signature_that_is_not_racy_is_kept() {
        let check = |known: Option<Entry>, stat: &Stat, refusal, expected| {
            assert_eq!(decide_action(known.as_ref(), stat, refusal, 3), expected, "{known:?} {refusal:?}");
        };
        let touched = Stat { mtime_ns: 2, ..STAT };
        check(None, &STAT, None, Action::Read);
        check(Some(entry(None, false)), &STAT, None, Action::Keep);
        check(Some(entry(None, true)), &STAT, None, Action::Read);
        check(Some(entry(None, false)), &touched, None, Action::Read);
        check(Some(Entry { extractor_version: 2, ..entry(None, false) }), &STAT, None, Action::Read);
        check(Some(entry(Some(Refusal::Binary), false)), &STAT, None, Action::Keep);
        check(Some(entry(Some(Refusal::Unreadable), false)), &STAT, None, Action::Read);
        check(Some(entry(Some(Refusal::SecretName), false)), &STAT, None, Action::Read);
        let secret = Some(Refusal::SecretName);
        check(Some(entry(None, false)), &STAT, secret, Action::Refuse(Refusal::SecretName));
        check(Some(entry(secret, false)), &STAT, secret, Action::Keep);
    }
}
