//! Reads the lines that an answer shows, and notices files whose text is another one by now.

use std::collections::HashMap;

use super::MOST_CHARS;
use crate::daemon::error::RpcResult;
use crate::daemon::event::Freshness;
use crate::daemon::shared::Shared;
use crate::daemon::show_code::text_of;
use crate::map::Lines;
use crate::paths::CallerDir;
use crate::proto::ReachedDefinition;
use crate::store::Reader;
use crate::types::SourceKey;

/// The files of one answer, each read once.
pub(super) struct Texts<'a> {
    shared: &'a Shared,
    at: &'a Freshness,
    dir: &'a CallerDir,
    known: HashMap<SourceKey, Option<Lines>>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(shared: &'a Shared, at: &'a Freshness, dir: &'a CallerDir) -> Self {
        Self { shared, at, dir, known: HashMap::new() }
    }

    /// Returns the text of a file without its credentials; `None` if the disk has another one than the snapshot.
    pub(super) fn of(&mut self, key: &SourceKey) -> RpcResult<Option<&Lines>> {
        if !self.known.contains_key(key) {
            let entry = self.shared.read(|reader: &Reader| reader.entry(self.at.view, key))?;
            let text = match &entry {
                Some(entry) => text_of(self.shared, self.at, entry, (key, self.dir))?,
                None => None,
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
            let own = found.title.as_deref().map(crate::daemon::path_spec::own_name);
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
