//! Prepares the rows of one file.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use memod_base::threads::catch_panic;
use memod_base::types::{
    ChunkKind, FileClass, HttpRoute, ReadRefusal, SourceKey, Stat, WordPieces, WorktreeId,
};
use memod_embed::BuiltinModel;
use memod_extract::{EXTRACTOR_VERSION, Extraction};
use memod_index_db::{IndexReader, ManifestChange, NewBlob, NewChunk};
use memod_scan::{Content, FileSnapshot, ReadError};
use memod_text::{redact, words};

use super::extractor::{ExtractFailure, ExtractorPool};
use super::{IndexError, UnreadPath, WalkProgress};

/// Number of first lines of a chunk that explain a definition: its comment or its signature.
const N_HEAD_LINES: usize = 6;

/// The change of the manifest row of a file.
pub(super) enum PreparedFile {
    /// The row is written.
    Change(ManifestChange),
    /// The row is correct.
    Unchanged,
    /// The row stays although it may be wrong, because the file could not be read.
    Unread(UnreadPath),
}

/// Reads and extracts files, one after the other.
pub(super) struct Preparer<'a> {
    pub(super) worktree: WorktreeId,
    pub(super) root: &'a Path,
    pub(super) max_file_bytes: u64,
    pub(super) reader: &'a IndexReader,
    pub(super) extractors: &'a ExtractorPool,
    pub(super) walk: &'a WalkProgress,
}

/// Returns nanoseconds since the epoch.
pub(super) fn now_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}

/// Returns seconds since the epoch.
pub(super) fn now_s() -> i64 {
    now_ns() / 1_000_000_000
}

impl Preparer<'_> {
    /// Like [`Self::prepare_file`], but refuses a file on which that panics. Such a file counts as unreadable and is tried again.
    pub(super) fn prepare_or_refuse(&self, key: &SourceKey, stat: &Stat) -> Result<PreparedFile, IndexError> {
        let prepared = catch_panic(|| self.prepare_file(key, stat)).unwrap_or_else(|why| {
            self.refuse_unreadable(key, stat, &format!("reading the file panicked; it is left out: {why}"))
        });
        self.walk.count_handled_file(stat.size);
        prepared
    }

    /// Reads a path, and extracts its content unless the index has that. A path that is gone becomes a removal. The row does not
    /// change if the manifest already has the path as unreadable, or if the path cannot be read at the moment.
    ///
    /// The file is read even if git's index names its object: while git switches branches the index is out of date, and
    /// filters give one object several forms.
    ///
    /// # Errors
    /// When the index cannot be read, or the extracting process cannot be started.
    fn prepare_file(&self, key: &SourceKey, stat: &Stat) -> Result<PreparedFile, IndexError> {
        let read_at_ns = now_ns();
        let read = {
            let _access = self.walk.begin_access(&key.path_in(self.root));
            memod_scan::read(self.root, key, self.max_file_bytes)
        };
        let read = match read {
            Ok(read) => read,
            Err(error) => return self.prepare_unread(key, stat, &error),
        };
        let FileSnapshot { stat, hash, content } = read;
        let text = match content {
            Content::Text(text) => text,
            Content::Refused(refusal) => {
                return Ok(PreparedFile::Change(ManifestChange::Refuse { key: key.clone(), stat, refusal }));
            }
        };
        let lang = memod_extract::format_name(key.as_str(), &text);
        let path_part = memod_extract::path_part(key.as_str(), lang);
        let blob = if self.reader.has_blob(&hash, lang, &path_part, EXTRACTOR_VERSION)? {
            None
        } else {
            Some(Box::new(self.extract_text(key, &text, stat.size)?))
        };
        let racy = memod_scan::is_racy(&stat, read_at_ns);
        let key = key.clone();
        Ok(PreparedFile::Change(ManifestChange::Put { key, stat, racy, hash, lang, path_part, blob }))
    }

    /// Returns the action for a file that could not be read.
    fn prepare_unread(
        &self,
        key: &SourceKey,
        stat: &Stat,
        error: &ReadError,
    ) -> Result<PreparedFile, IndexError> {
        if matches!(error, ReadError::Transient(_)) {
            return Ok(PreparedFile::Unread(UnreadPath { key: Some(key.clone()), why: error.to_string() }));
        }
        let Some(refusal) = error.refusal() else {
            return Ok(PreparedFile::Change(ManifestChange::Remove { key: key.clone(), is_secret: false }));
        };
        if matches!(error, ReadError::Unreadable(_)) {
            return self.refuse_unreadable(key, stat, &error.to_string());
        }
        tracing::warn!(path = %key, %error, "the file is not indexed");
        Ok(PreparedFile::Change(ManifestChange::Refuse { key: key.clone(), stat: *stat, refusal }))
    }

    /// Refuses a file that cannot be read. If the manifest has that refusal already, the file is unchanged, because a row that is
    /// written again would be compared again. A file that was binary, and was not written since, still counts as binary.
    fn refuse_unreadable(&self, key: &SourceKey, stat: &Stat, why: &str) -> Result<PreparedFile, IndexError> {
        let known = self.reader.find_entry(self.worktree, key)?;
        let refusal = match known.map(|known| (known.refusal, known.stat)) {
            Some((Some(ReadRefusal::Unreadable), _)) => return Ok(PreparedFile::Unchanged),
            Some((Some(ReadRefusal::Binary), known)) if is_unwritten(&known, stat) => ReadRefusal::Binary,
            _ => ReadRefusal::Unreadable,
        };
        tracing::warn!(path = %key, why, "the file is not indexed");
        Ok(PreparedFile::Change(ManifestChange::Refuse { key: key.clone(), stat: *stat, refusal }))
    }

    /// Extracts one content. A content that cannot be extracted is recorded with the reason: as `parse-failed` when the
    /// content itself is the cause, as `parse-aborted` when a later attempt may succeed.
    fn extract_text(&self, key: &SourceKey, text: &str, size: u64) -> Result<NewBlob, IndexError> {
        let blob = self.extractors.extract(key.as_str(), text)?.and_then(|extracted| {
            if let Some(why) = &extracted.refused {
                return Err(ExtractFailure { why: why.clone(), is_caused_by_text: true });
            }
            let text = memod_extract::readable_text(key.as_str(), text);
            catch_panic(|| build_blob(extracted, &text, size)).map_err(|_| ExtractFailure {
                why: "splitting into words panicked".to_owned(),
                is_caused_by_text: true,
            })
        });
        Ok(blob.unwrap_or_else(|ExtractFailure { why, is_caused_by_text: is_own }| {
            tracing::error!(path = %key, problems = why, "the file cannot be extracted, so it is not indexed");
            NewBlob {
                size,
                kind: if is_own { "parse-failed" } else { "parse-aborted" },
                extractor_version: EXTRACTOR_VERSION,
                problems: why,
                ..NewBlob::default()
            }
        }))
    }
}

/// Returns whether a file has the size and time that it had before.
fn is_unwritten(known: &Stat, stat: &Stat) -> bool {
    (known.size, known.mtime_ns) == (stat.size, stat.mtime_ns)
}

fn build_blob(extracted: Extraction, text: &str, size: u64) -> NewBlob {
    let kind = match (extracted.opted_out, extracted.minified) {
        (true, _) => "opted-out",
        (_, true) => "minified",
        _ => extracted.class.map_or("text", FileClass::as_str),
    };
    let mut refs = String::new();
    for (name, count) in &extracted.references {
        refs.push_str(&format!("{name} {count}\n"));
    }
    let routes =
        extracted.routes.iter().map(|HttpRoute { method, path, line }| format!("{line} {method} {path}\n"));
    let embeds = !extracted.minified;
    let secrets = extracted.secrets;
    NewBlob {
        size,
        kind,
        extractor_version: EXTRACTOR_VERSION,
        refs,
        structure: if extracted.structure.is_empty() { Vec::new() } else { extracted.structure.to_bytes() },
        routes: routes.collect(),
        problems: extracted.problems.join("\n"),
        n_secrets: secrets.len(),
        definitions: extracted.definitions,
        chunks: extracted
            .chunks
            .into_iter()
            .map(|chunk| build_chunk(chunk, text, &secrets, embeds))
            .collect(),
    }
}

fn build_chunk(chunk: memod_extract::Chunk, text: &str, secrets: &[Range<usize>], embeds: bool) -> NewChunk {
    let body = match &chunk.text {
        Some(own) => Cow::Borrowed(own.as_str()),
        None => redact::redact_span(text, chunk.bytes.clone(), secrets),
    };
    let symbol = chunk.symbol.as_deref().unwrap_or_default();
    let title = chunk.title.as_deref().unwrap_or_default();
    let keywords = chunk.keywords.as_deref().unwrap_or_default();
    let mut index_words = [String::new(), String::new(), String::with_capacity(body.len() * 2)];
    for (text, out) in [symbol, title, &body].into_iter().zip(&mut index_words) {
        words::write_index_words(text, out);
    }
    words::write_index_words(keywords, &mut index_words[1]);
    NewChunk {
        kind: chunk.kind,
        pieces: compute_word_pieces(
            &[symbol, title, keywords, &body],
            &[symbol, title, keywords, first_lines(&body)],
        ),
        text_hash: embedded_text_hash(chunk.kind, symbol, title, &body),
        gets_vector: embeds,
        words: index_words,
        bytes: (chunk.bytes.start, chunk.bytes.end),
        lines: chunk.lines,
        symbol: chunk.symbol,
        title: chunk.title,
        text: chunk.text,
    }
}

/// Returns the first lines of a chunk.
fn first_lines(body: &str) -> &str {
    let end = body.match_indices('\n').nth(N_HEAD_LINES - 1).map_or(body.len(), |(at, _)| at);
    &body[..end]
}

/// Returns the word pieces of `texts`, and those of `head`, a part of these texts; none if the builtin model cannot be loaded,
/// which searches report.
pub(super) fn compute_word_pieces(texts: &[&str], head: &[&str]) -> WordPieces {
    let Ok(model) = BuiltinModel::shared() else { return WordPieces::default() };
    let [text, head] = [texts, head].map(|texts| model.distinct_pieces(&texts.join("\n")).into());
    WordPieces { text, head }
}

/// Returns the hash of the text that is embedded for a chunk.
pub(super) fn embedded_text_hash(kind: ChunkKind, symbol: &str, title: &str, body: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in [kind.as_str(), symbol, title, body] {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize().into()
}
