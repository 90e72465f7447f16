//! Finds anchored lines in their file, and in files to which their definition moved.

use memod_base::types::{SourceKey, TextHash};
use memod_database::DatabaseError;
use memod_memory::anchor::{FoundLines, LineHashes};
use memod_proto::anchor::Anchor;

use super::{AnchorChecker, AnchorFinding, AnchorLocation, decode_hex};
use crate::daemon::definitions::named_definitions::find_definitions;

/// Most files that are searched for lines of a definition by its name.
const MOST_FILES: usize = 8;

impl AnchorChecker<'_> {
    /// Compares anchored lines with a file, and with the files to which the definition around them may have moved.
    pub(super) fn compare_lines(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
        lines: (u32, u32),
    ) -> Result<AnchorFinding, DatabaseError> {
        let own = self.find_lines_in(anchor, key, lines)?;
        let inside = anchor.seen.around.as_ref().and_then(|around| around.inside.as_ref());
        if own.is_fresh() || inside.is_none() {
            return Ok(own);
        }
        let definitions = self.reader.list_definitions(self.at.worktree, key)?;
        if definitions.iter().any(|found| Some(&found.title) == inside) {
            return Ok(own);
        }
        Ok(self.find_lines_elsewhere(anchor, key)?.unwrap_or(own))
    }

    /// Compares anchored lines with a file: the lines are fresh only if it is certain that these are the anchored ones.
    pub(super) fn find_lines_in(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
        lines: (u32, u32),
    ) -> Result<AnchorFinding, DatabaseError> {
        let Some(text) = self.read_text(key)? else { return Ok(AnchorFinding::new_drifted(None, None)) };
        let definitions = self.reader.list_definitions(self.at.worktree, key)?;
        let all = LineHashes::new(&text);
        let location = |lines| AnchorLocation { key: key.clone(), symbol: None, lines };
        Ok(match all.find_anchored_lines(lines, &anchor.seen, &definitions) {
            Some(FoundLines { lines, is_certain: true }) => AnchorFinding::new_fresh(location(Some(lines))),
            Some(found) => AnchorFinding::new_drifted(Some(location(Some(found.lines))), None),
            // The file as a whole is the place if it no longer has that many lines.
            None => {
                let there = Some(lines).filter(|(_, last)| key.as_str() == anchor.path || *last <= all.len());
                AnchorFinding::new_drifted(Some(location(there)), None)
            }
        })
    }

    /// Returns the place of anchored lines in another file: fresh in the unchanged definition around them, drifted in a changed one.
    pub(super) fn find_lines_elsewhere(
        &mut self,
        anchor: &Anchor,
        key: &SourceKey,
    ) -> Result<Option<AnchorFinding>, DatabaseError> {
        let (None, Some(lines), Some(around)) = (&anchor.symbol, anchor.lines, &anchor.seen.around) else {
            return Ok(None);
        };
        if let Some(text) = around.text.as_deref().and_then(decode_hex) {
            let same = self.reader.find_definitions_by_text(self.at.worktree, &TextHash(text), 3)?;
            let others: Vec<_> = same.iter().filter(|(other, _)| other != key).collect();
            if let [(other, definition)] = others.as_slice()
                && let Some(text) = self.read_text(other)?
                && let Some(lines) =
                    LineHashes::new(&text).find_lines_in_definition(lines, &anchor.seen, definition)
            {
                let location = AnchorLocation { key: other.clone(), symbol: None, lines: Some(lines) };
                return Ok(Some(AnchorFinding::new_fresh(location)));
            }
        }
        // A definition of that name that was there before is no place to which the lines moved.
        let Some(title) = around.inside.as_ref().filter(|_| anchor.seen.alone) else { return Ok(None) };
        let named = find_definitions(&self.request.shared, self.reader, self.at.worktree, title)?;
        let mut keys: Vec<SourceKey> = named
            .into_iter()
            .filter(|(other, found)| other != key && found.title == *title)
            .map(|(other, _)| other)
            .collect();
        keys.dedup();
        let mut places = Vec::new();
        for other in keys.into_iter().take(MOST_FILES) {
            let found = self.find_lines_in(anchor, &other, lines)?;
            places.extend(
                found.location.filter(|_| found.state == Some(memod_proto::anchor::AnchorState::Fresh)),
            );
        }
        let [_] = places.as_slice() else { return Ok(None) };
        Ok(Some(AnchorFinding::new_drifted(places.pop(), None)))
    }
}
