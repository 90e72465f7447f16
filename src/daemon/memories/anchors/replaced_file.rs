//! Finds the code of an anchor when another file has taken the path of its file.

use memod_base::types::{ReadRefusal, SourceKey};
use memod_database::DatabaseError;
use memod_index_db::ManifestEntry;
use memod_memory::anchor::{KeptLines, LineHashes};
use memod_proto::anchor::{Anchor, AnchorState};

use super::{AnchorChecker, AnchorFinding, AnchorLocation, decode_hex};

impl AnchorChecker<'_> {
    /// Returns where the code of an anchor is if another file has replaced its file; `own`, the finding at its path, if the file was
    /// only edited.
    pub(super) fn follow_replaced_file(
        &mut self,
        anchor: &Anchor,
        (key, entry): (&SourceKey, &ManifestEntry),
        own: AnchorFinding,
    ) -> Result<AnchorFinding, DatabaseError> {
        let is_elsewhere = own.location.as_ref().is_some_and(|location| location.key != *key);
        if !anchor.seen.alone || own.is_fresh() && is_elsewhere {
            return Ok(own);
        }
        let whole = self.find_whole_file(anchor, key)?;
        // Most anchors end here: their definition is unchanged, and no other file has it.
        if own.is_fresh()
            && anchor.symbol.is_some()
            && whole.is_none()
            && self.find_same_text(anchor)?.len() < 2
        {
            return Ok(own);
        }
        let Some(kept) = self.count_kept_lines(anchor, (key, entry), whole.as_ref())? else { return Ok(own) };
        if kept.has_most() {
            return self.note_same_text(anchor, key, own);
        }
        if let Some(whole) = whole
            && (!kept.is_small() || self.is_renamed_to(key, &whole)?)
        {
            let location = AnchorLocation { key: whole, ..AnchorLocation::from_anchor(anchor) };
            return Ok(AnchorFinding::new_fresh(location));
        }
        if !own.is_fresh() && !kept.is_small() {
            let moved = match anchor.symbol {
                Some(_) => Some(self.find_moved_text(anchor, key)?),
                None => self.find_lines_elsewhere(anchor, key)?,
            };
            if let Some(moved) = moved.filter(AnchorFinding::is_fresh) {
                return Ok(moved);
            }
        }
        match self.find_in_renamed_file(anchor, key, Some(kept))? {
            Some(found) if found.is_fresh() || !own.is_fresh() => Ok(found),
            _ => self.note_same_text(anchor, key, own),
        }
    }

    /// Returns the only other file that has the whole former text of an anchor's file.
    fn find_whole_file(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
    ) -> Result<Option<SourceKey>, DatabaseError> {
        let Some(hash) = decode_hex(&anchor.seen.blob) else { return Ok(None) };
        let mut same = self.reader.find_files_by_hash(self.at.worktree, &hash, 3)?;
        same.retain(|other| other != key);
        let [whole] = same.as_slice() else { return Ok(None) };
        self.find_entry(whole)?; // records the path as stale if the disk is newer
        Ok(same.pop())
    }

    /// Returns how many lines of its former text the file of an anchor still has; `None` if it is unknown.
    fn count_kept_lines(
        &mut self,
        anchor: &Anchor,
        (key, entry): (&SourceKey, &ManifestEntry),
        whole: Option<&SourceKey>,
    ) -> Result<Option<KeptLines>, DatabaseError> {
        let sample = match (&anchor.seen.sample, whole) {
            (Some(sample), _) => sample.clone(),
            (None, Some(whole)) => {
                let Some(text) = self.read_text(whole)? else { return Ok(None) };
                LineHashes::new(&text).sample_lines()
            }
            (None, None) => return Ok(None),
        };
        if matches!(entry.refusal, Some(ReadRefusal::Symlink | ReadRefusal::Binary)) {
            return Ok(Some(LineHashes::new("").count_kept(&sample)));
        }
        Ok(self.read_text(key)?.map(|text| LineHashes::new(&text).count_kept(&sample)))
    }

    /// Returns whether git knows that the file `old` was renamed to `new` before another file took its path.
    fn is_renamed_to(&mut self, old: &SourceKey, new: &SourceKey) -> Result<bool, DatabaseError> {
        let hash = self.find_entry(new)?.and_then(|entry| entry.hash);
        Ok(hash.is_some_and(|hash| self.was_renamed(old, (new, hash), false)))
    }

    /// Adds a note to a drifted finding if another file has the former text.
    fn note_same_text(
        &self,
        anchor: &Anchor,
        key: &SourceKey,
        own: AnchorFinding,
    ) -> Result<AnchorFinding, DatabaseError> {
        if own.state != Some(AnchorState::Drifted) || own.note.is_some() {
            return Ok(own);
        }
        let same = self.find_same_text(anchor)?;
        let other = same.iter().find(|other| other.key != *key && other.symbol == anchor.symbol);
        let note = other.map(|other| format!("{} has the same text", other.render_target()));
        Ok(AnchorFinding { note, ..own })
    }
}
