//! Reads the lines that an answer shows, and notices files whose text is another one by now.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use memod_base::paths::CallerDir;
use memod_base::types::SourceKey;
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_index_db::{Entry as StoredEntry, Reader};
use memod_proto::ReachedDefinition;
use memod_structure::map::Lines;

use crate::daemon::shared::Shared;
use crate::daemon::structure::show_code::text_of;

/// Longest line that is shown, in characters.
pub(super) const MOST_CHARS: usize = 160;

/// The files of one answer, each read once.
pub(super) struct Texts<'a> {
    shared: &'a Shared,
    at: &'a Freshness,
    dir: &'a CallerDir,
    entries: Entries,
    known: HashMap<SourceKey, Option<Lines>>,
}

/// The entries of files in the snapshot that an answer is from.
pub(super) type Entries = HashMap<SourceKey, Option<StoredEntry>>;

/// Reads the entries of files, in the snapshot of `reader`.
pub(super) fn entries(
    reader: &Reader,
    at: &Freshness,
    keys: impl Iterator<Item = SourceKey>,
) -> Result<Entries, DatabaseError> {
    let mut entries = Entries::new();
    for key in keys {
        if let Entry::Vacant(place) = entries.entry(key) {
            let entry = reader.entry(at.view, place.key())?;
            place.insert(entry);
        }
    }
    Ok(entries)
}

impl<'a> Texts<'a> {
    pub(super) fn new(
        (shared, at): (&'a Shared, &'a Freshness),
        dir: &'a CallerDir,
        entries: Entries,
    ) -> Self {
        Self { shared, at, dir, entries, known: HashMap::new() }
    }

    /// Returns the text of a file without its credentials; `None` if the disk has another one than the snapshot.
    pub(super) fn of(&mut self, key: &SourceKey) -> RpcResult<Option<&Lines>> {
        if !self.known.contains_key(key) {
            let text = match self.entries.get(key) {
                Some(Some(entry)) => text_of(self.shared, self.at, entry, (key, self.dir))?,
                _ => None,
            };
            self.known.insert(key.clone(), text.map(Lines::of));
        }
        Ok(self.known.get(key).and_then(Option::as_ref))
    }

    /// Adds lines and paths for people to definitions; returns the files that are to be read again.
    pub(super) fn fill(
        mut self,
        found: &mut [ReachedDefinition],
        with_signatures: bool,
    ) -> RpcResult<Vec<SourceKey>> {
        let mut stale = Vec::new();
        for found in found {
            let key = SourceKey::new(&found.path);
            found.cwd_path = self.dir.shown(&found.path);
            let Some(lines) = self.of(&key)? else {
                stale.push(key);
                continue;
            };
            let own = found.title.as_deref().map(crate::daemon::request::path_spec::own_name);
            let signature =
                own.filter(|_| with_signatures).and_then(|own| lines.signature(own, found.lines.0));
            let line = || lines.line(if with_signatures { found.lines.0 } else { found.line }).to_owned();
            let text = signature.map_or_else(line, |(_, signature)| signature);
            found.text = text.chars().take(MOST_CHARS).collect();
        }
        stale.dedup();
        Ok(stale)
    }
}
