//! Finds the code of an anchor whose file was renamed and edited.

use std::time::{Duration, Instant};

use memod_base::types::{SourceKey, file_name, parent_dir};
use memod_database::DatabaseError;
use memod_memory::anchor::{KeptLines, LineHashes};
use memod_proto::anchor::Anchor;

use super::{AnchorChecker, AnchorFinding, AnchorLocation};
use crate::daemon::definitions::named_definitions::find_definitions;
use crate::daemon::request::commit_history::CommitHistory;

/// Most files whose history is searched for the name of an anchor's file.
const MOST_CANDIDATES: usize = 8;
/// Time limit for searching histories, because states are checked for many questions.
const BUDGET: Duration = Duration::from_millis(200);

impl AnchorChecker<'_> {
    /// Returns the state and location of an anchor whose file is gone or was replaced, if git says that exactly one file was renamed
    /// from it. `replaced` is how much the file that replaced it has of its text. If git does not know where a replaced file is, the
    /// only file with nearly all of its text is the most likely place.
    pub(super) fn find_in_renamed_file(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
        replaced: Option<KeptLines>,
    ) -> Result<Option<AnchorFinding>, DatabaseError> {
        // Of a copy that was there before, git cannot tell whether it is the renamed file.
        if !anchor.seen.alone || replaced.is_none() && self.at.layout.git_dir.is_none() {
            return Ok(None);
        }
        let mut candidates = self.list_rename_candidates(anchor, key)?;
        candidates.dedup_by(|left, right| left.key == right.key);
        let (mut renamed, mut alike) = (Vec::new(), Vec::new());
        for candidate in candidates {
            let Some(hash) = self.find_entry(&candidate.key)?.and_then(|entry| entry.hash) else { continue };
            // A file that was renamed before the memory was written has other text.
            let kept = self.count_sampled_lines(anchor, &candidate.key)?;
            let is_possible = kept.is_none_or(|kept| match replaced {
                Some(own) => kept.has_most() && kept.n_kept > own.n_kept,
                None => kept.has_some(),
            });
            if !is_possible {
                continue;
            }
            // An edit may have left no line of a small file, so only a commit shows that it was replaced.
            let is_replaced = replaced.is_some_and(|own| !own.is_small());
            if self.was_renamed(key, (&candidate.key, hash), is_replaced) {
                renamed.push(candidate);
            } else if replaced.is_some() && kept.is_some_and(|kept| !kept.is_small() && kept.has_nearly_all())
            {
                alike.push(candidate);
            }
        }
        Ok(match (renamed.as_slice(), alike.as_slice()) {
            ([location], _) => Some(self.compare_at(anchor, location)?),
            ([], [location]) => {
                let found = self.compare_at(anchor, location)?;
                Some(AnchorFinding::new_drifted(found.location, found.note))
            }
            _ => None,
        })
    }

    /// Returns how many lines of an anchor's former file another file has; `None` if the anchor has no sample of it.
    fn count_sampled_lines(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
    ) -> Result<Option<KeptLines>, DatabaseError> {
        let Some(sample) = &anchor.seen.sample else { return Ok(None) };
        let text = self.read_text(key)?.unwrap_or_default();
        Ok(Some(LineHashes::new(&text).count_kept(sample)))
    }

    /// Compares an anchor with a file to which its file was renamed.
    fn compare_at(
        &mut self,
        anchor: &Anchor,
        location: &AnchorLocation,
    ) -> Result<AnchorFinding, DatabaseError> {
        let AnchorLocation { key, symbol, .. } = location;
        match (symbol, anchor.lines) {
            (Some(title), _) => {
                let found = self.reader.find_definition(self.at.worktree, key, title)?;
                let is_same = found.is_some_and(|found| found.text.to_string() == anchor.seen.text);
                Ok(match is_same {
                    true => AnchorFinding::new_fresh(location.clone()),
                    false => AnchorFinding::new_drifted(Some(location.clone()), None),
                })
            }
            (None, Some(lines)) => self.find_lines_in(anchor, key, lines),
            (None, None) => self.compare_whole_file(anchor, key),
        }
    }

    /// Returns the places where the code of an anchor may be now: definitions with the same name, or else the files whose names are
    /// most similar.
    fn list_rename_candidates(
        &self,
        anchor: &Anchor,
        key: &SourceKey,
    ) -> Result<Vec<AnchorLocation>, DatabaseError> {
        if let Some(title) = &anchor.symbol {
            let found = find_definitions(&self.request.shared, self.reader, self.at.worktree, title)?;
            let same = found.into_iter().filter(|(other, found)| other != key && found.title == *title);
            let places = same.map(|(other, found)| AnchorLocation::from_definition(other, &found));
            return Ok(places.take(MOST_CANDIDATES).collect());
        }
        let old = key.as_str();
        let paths = self.reader.list_paths(self.at.worktree)?.into_iter();
        let mut alike: Vec<(f64, String)> = paths
            .filter(|(_, refusal)| refusal.is_none())
            .map(|(path, _)| (rename_likelihood(old, &path), path))
            .filter(|(likelihood, _)| *likelihood > 0.0)
            .collect();
        alike.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
        let keys = alike.into_iter().take(MOST_CANDIDATES).map(|(_, path)| SourceKey::new(path));
        Ok(keys.map(|key| AnchorLocation { key, symbol: None, lines: anchor.lines }).collect())
    }

    /// Returns whether git knows that the file `old` was renamed to `new`, which has the content `hash`. `is_replaced` is whether
    /// another file has the name `old` now. The answer is cached for this `HEAD` and content of `new`.
    pub(super) fn was_renamed(
        &self,
        old: &SourceKey,
        (new, hash): (&SourceKey, [u8; 32]),
        is_replaced: bool,
    ) -> bool {
        let Ok(history) = CommitHistory::open(self.at) else { return false };
        let Ok(Some(head)) = history.refs.resolve_ref("HEAD") else { return false };
        let shared = &self.request.shared;
        let ask = (head, old.clone(), new.clone(), hash, is_replaced);
        shared.renames.get_or_find(ask, || {
            let until = Instant::now() + BUDGET;
            let names = (old, new, is_replaced);
            history.was_renamed((shared, self.at), head, names, until).unwrap_or(false)
        })
    }
}

/// Returns how likely a file got its name from an old one, by the names alone; 0 if it is not worth a look.
fn rename_likelihood(old: &str, new: &str) -> f64 {
    if old == new || file_ending(old) != file_ending(new) {
        return 0.0;
    }
    if file_name(old) == file_name(new) {
        return 2.0;
    }
    match parent_dir(old) == parent_dir(new) {
        true => 1.0 + strsim::jaro_winkler(file_name(old), file_name(new)),
        false => 0.0,
    }
}

fn file_ending(path: &str) -> Option<&str> {
    file_name(path).rsplit_once('.').map(|(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likely_new_names_come_first() {
        let mut paths =
            ["src/b.rs", "lib/auth.rs", "src/auth2.rs", "src/auth.md", "lib/other.rs", "src/auth.rs"];
        paths.sort_by(|left, right| {
            rename_likelihood("src/auth.rs", right).total_cmp(&rename_likelihood("src/auth.rs", left))
        });
        assert_eq!(paths[..3], ["lib/auth.rs", "src/auth2.rs", "src/b.rs"]);
        assert!(paths[3..].iter().all(|path| rename_likelihood("src/auth.rs", path) == 0.0));
    }
}
