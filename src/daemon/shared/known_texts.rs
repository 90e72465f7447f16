//! Caches where the texts of hits have credentials, and how many lines they have.
//!
//! The file of a hit is read and hashed each time. If the hash is known, these two facts follow from an earlier search.

use std::sync::Mutex;

use memod_base::threads::lock;
use memod_search::recent_cache::RecentCache;
use memod_text::redact::{RedactedText, SecretsFoundSoFar};
use memod_text::secrets::Syntax;

/// Maximum number of texts whose facts are cached, some 200 bytes each.
const MOST_TEXTS: usize = 20_000;

/// Identifies a text: blake3 of its bytes, and whether it is read as code.
type TextKey = ([u8; 32], bool);

/// For each text, the number of its lines, and the credentials that were found so far.
#[derive(Default)]
pub(in crate::daemon) struct KnownTexts(Mutex<RecentCache<TextKey, (usize, SecretsFoundSoFar), MOST_TEXTS>>);

/// The text of a file, with what is known about it.
pub(in crate::daemon) struct KnownText {
    key: TextKey,
    pub(in crate::daemon) n_lines: usize,
    pub(in crate::daemon) text: RedactedText,
}

impl KnownTexts {
    /// Returns a text with what is known about it. `hash` is the blake3 of its bytes.
    pub(in crate::daemon) fn with_known_facts(
        &self,
        text: String,
        syntax: Syntax,
        hash: &[u8; 32],
    ) -> KnownText {
        let key = (*hash, syntax == Syntax::Code);
        let known = lock(&self.0).get(&key).cloned();
        let (n_lines, searched) =
            known.unwrap_or_else(|| (text.lines().count(), SecretsFoundSoFar::default()));
        KnownText { key, n_lines, text: RedactedText::new(text, syntax).with_searched(searched) }
    }

    /// Caches what was found out about texts.
    pub(in crate::daemon) fn cache_facts(&self, texts: impl Iterator<Item = KnownText>) {
        let mut known = lock(&self.0);
        for KnownText { key, n_lines, text } in texts {
            known.insert(key, (n_lines, text.into_searched()));
        }
    }
}
