//! Reads the lines that an answer shows, and notices files whose text has changed since.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use memod_base::paths::CallerDir;
use memod_base::types::SourceKey;
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_index_db::{IndexReader, ManifestEntry as StoredEntry};
use memod_proto::ReachedDefinition;
use memod_structure::map::NumberedLines;

use crate::daemon::shared::Shared;
use crate::daemon::structure::show_code::read_shown_text;

/// Longest line that is shown, in characters.
pub(super) const MOST_CHARS: usize = 160;

/// The files of one answer, each read once.
pub(super) struct AnswerTexts<'a> {
    shared: &'a Shared,
    at: &'a Freshness,
    dir: &'a CallerDir,
    entries: StoredEntries,
    known: HashMap<SourceKey, Option<NumberedLines>>,
}

/// The manifest entries of files in the snapshot from which an answer comes.
pub(super) type StoredEntries = HashMap<SourceKey, Option<StoredEntry>>;

/// Reads the manifest entries of files in the snapshot of `reader`.
pub(super) fn read_entries(
    reader: &IndexReader,
    at: &Freshness,
    keys: impl Iterator<Item = SourceKey>,
) -> Result<StoredEntries, DatabaseError> {
    let mut entries = StoredEntries::new();
    for key in keys {
        if let Entry::Vacant(place) = entries.entry(key) {
            let entry = reader.find_entry(at.worktree, place.key())?;
            place.insert(entry);
        }
    }
    Ok(entries)
}

impl<'a> AnswerTexts<'a> {
    pub(super) fn new(
        (shared, at): (&'a Shared, &'a Freshness),
        dir: &'a CallerDir,
        entries: StoredEntries,
    ) -> Self {
        Self { shared, at, dir, entries, known: HashMap::new() }
    }

    /// Returns the lines of a file with its credentials masked; `None` if the disk differs from the snapshot.
    pub(super) fn read_lines(&mut self, key: &SourceKey) -> RpcResult<Option<&NumberedLines>> {
        if !self.known.contains_key(key) {
            let text = match self.entries.get(key) {
                Some(Some(entry)) => read_shown_text(self.shared, self.at, entry, (key, self.dir))?,
                _ => None,
            };
            self.known.insert(key.clone(), text.map(NumberedLines::new));
        }
        Ok(self.known.get(key).and_then(Option::as_ref))
    }

    /// As [`Self::read_lines`], for a file whose manifest entry `reader` reads if it is not known.
    pub(super) fn read_lines_from(
        &mut self,
        reader: &IndexReader,
        key: &SourceKey,
    ) -> RpcResult<Option<&NumberedLines>> {
        if !self.entries.contains_key(key) {
            // A file that is refused has no text.
            let entry = reader.find_entry(self.at.worktree, key)?.filter(|entry| entry.hash.is_some());
            self.entries.insert(key.clone(), entry);
        }
        self.read_lines(key)
    }

    /// Adds the shown line and the path from the caller's directory to each definition; returns the files whose content on disk
    /// differs from the snapshot. The line is that of the use or, with `with_signatures`, the signature of the definition, whose name
    /// is on `text_line` where that is known.
    pub(super) fn add_texts(
        mut self,
        found: &mut [ReachedDefinition],
        with_signatures: bool,
    ) -> RpcResult<Vec<SourceKey>> {
        let mut stale = Vec::new();
        for found in found {
            let key = SourceKey::new(&found.path);
            found.cwd_path = self.dir.relative_path(&found.path);
            let Some(lines) = self.read_lines(&key)? else {
                stale.push(key);
                continue;
            };
            let own = found.title.as_deref().map(memod_base::types::last_part);
            let name_line = found.text_line.unwrap_or(found.lines.0);
            let signature =
                own.filter(|_| with_signatures).and_then(|own| lines.find_signature(own, name_line));
            let first = if with_signatures { found.lines.0 } else { found.line };
            let (line, text) = signature.unwrap_or_else(|| (first, lines.line_at(first).to_owned()));
            found.text_line = with_signatures.then_some(line);
            found.text = text.chars().take(MOST_CHARS).collect();
        }
        stale.dedup();
        Ok(stale)
    }
}
