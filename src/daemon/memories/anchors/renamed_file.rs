//! Finds the code of an anchor whose file was renamed and edited.

use std::time::{Duration, Instant};

use memod_base::types::{SourceKey, file_name, parent_dir};
use memod_database::DatabaseError;
use memod_memory::anchor::LineHashes;
use memod_proto::anchor::Anchor;

use super::{AnchorChecker, AnchorFinding, AnchorLocation};
use crate::daemon::definitions::named_definitions::find_definitions;
use crate::daemon::request::commit_history::CommitHistory;

/// Most files whose history is searched for the name of an anchor's file.
const MOST_CANDIDATES: usize = 8;
/// Time limit for searching histories, because states are checked for many questions.
const BUDGET: Duration = Duration::from_millis(200);

impl AnchorChecker<'_> {
    /// Returns the state and location of an anchor whose file is gone, if git says that exactly one file was renamed from it.
    pub(super) fn find_in_renamed_file(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
    ) -> Result<Option<AnchorFinding>, DatabaseError> {
        // Of a copy that was there before, git cannot tell whether it is the renamed file.
        if !anchor.seen.alone || self.at.layout.git_dir.is_none() {
            return Ok(None);
        }
        let candidates = self.list_rename_candidates(anchor, key)?;
        let mut renamed = Vec::new();
        for candidate in candidates {
            let Some(hash) = self.find_entry(&candidate.key)?.and_then(|entry| entry.hash) else { continue };
            if self.was_renamed(key, &candidate.key, hash) {
                renamed.push(candidate);
            }
        }
        let [location] = renamed.as_slice() else { return Ok(None) };
        let Some(lines) = anchor.lines.filter(|_| anchor.symbol.is_none()) else {
            return Ok(Some(AnchorFinding::new_drifted(Some(location.clone()), None)));
        };
        let text = self.read_text(&location.key)?;
        let moved = text.and_then(|text| {
            LineHashes::new(&text).find_moved_lines(lines, &anchor.seen.text, anchor.seen.nth)
        });
        Ok(Some(match moved {
            Some(lines) => {
                AnchorFinding::new_fresh(AnchorLocation { lines: Some(lines), ..location.clone() })
            }
            None => AnchorFinding::new_drifted(Some(location.clone()), None),
        }))
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

    /// Returns whether git knows that the file `old` was renamed to `new`. The answer is cached for this `HEAD` and content of `new`.
    fn was_renamed(&self, old: &SourceKey, new: &SourceKey, hash: [u8; 32]) -> bool {
        let Ok(history) = CommitHistory::open(self.at) else { return false };
        let Ok(Some(head)) = history.refs.resolve_ref("HEAD") else { return false };
        let shared = &self.request.shared;
        let ask = (head, old.clone(), new.clone(), hash);
        shared.renames.get_or_find(ask, || {
            let until = Instant::now() + BUDGET;
            history.was_renamed((shared, self.at), head, (old, new), until).unwrap_or(false)
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
