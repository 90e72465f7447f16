//! Builds anchors for the present code.

use memod_base::types::{Definition, SourceKey};
use memod_database::DatabaseError;
use memod_memory::anchor::{LineHashes, hash_text};
use memod_proto::anchor::{Anchor, Seen};

use super::{AnchorChecker, AnchorLocation, encode_hex};

impl AnchorChecker<'_> {
    /// Returns an anchor for the present code at a location; `None` if the code is not there, or differs from the snapshot.
    pub(in crate::daemon) fn build_anchor(
        &mut self,
        location: &AnchorLocation,
    ) -> Result<Option<Anchor>, DatabaseError> {
        let AnchorLocation { key, symbol, lines } = location;
        let (Some(hash), Some(text)) =
            (self.find_entry(key)?.and_then(|entry| entry.hash), self.read_text(key)?)
        else {
            return Ok(None);
        };
        let all = LineHashes::new(&text);
        let mut anchor =
            Anchor { path: key.to_string(), symbol: symbol.clone(), lines: *lines, ..Anchor::default() };
        let seen = match (symbol, lines) {
            (Some(title), _) => {
                let Some(found) = self.reader.find_definition(self.at.worktree, key, title)? else {
                    return Ok(None);
                };
                anchor.lines = Some(found.lines);
                let run = all.hash_lines(found.lines).map(|run| run.to_string());
                let (text, shape) = (found.text.to_string(), Some(found.shape.to_string()));
                Seen { text, shape, run, ..Seen::default() }
            }
            (None, Some(lines)) => {
                let Some(seen) = self.describe_lines(&all, key, *lines)? else { return Ok(None) };
                seen
            }
            (None, None) => Seen { text: hash_text(&text).to_string(), ..Seen::default() },
        };
        anchor.seen = Seen { blob: encode_hex(&hash), sample: Some(all.sample_lines()), ..seen };
        anchor.seen.alone = self.find_same_text(&anchor)?.len() == 1;
        Ok(Some(anchor))
    }

    /// Describes lines of a file and the text around them; returns `None` if some of the lines do not exist.
    fn describe_lines(
        &self,
        all: &LineHashes,
        key: &SourceKey,
        lines: (u32, u32),
    ) -> Result<Option<Seen>, DatabaseError> {
        let (first, last) = lines;
        let Some(run) = all.hash_lines(lines) else { return Ok(None) };
        let text = run.to_string();
        let places = all.find_runs(last - first + 1, &text);
        let nth = places.iter().take_while(|place| **place <= first).count() as u32;
        let definitions = self.reader.list_definitions(self.at.worktree, key)?;
        let is_alone = match Definition::innermost_around(&definitions, lines) {
            None => false,
            Some(found) => self.reader.find_definitions_by_text(self.at.worktree, &found.text, 2)?.len() == 1,
        };
        let around = Some(all.describe_surroundings(lines, &definitions, is_alone));
        Ok(Some(Seen { text, nth: Some((nth, places.len() as u32)), around, ..Seen::default() }))
    }
}
