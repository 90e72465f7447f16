//! What goes into the index for one file?

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::strikes::Strikes;
use crate::embed::Embedder;
use crate::extract::{self, EXTRACTOR_VERSION, Extracted, redact, words};
use crate::scan::{self, Content, Read};
use crate::store::{Change, NewBlob, NewChunk, Reader, StoreError};
use crate::types::{Kind, SourceKey, Stat};

/// How often extraction of a content may kill the daemon before it is left out (design 11).
const STRIKES_OUT: u32 = 2;

/// More chunks than this of one file are noise: a megabyte of one-word headings has 262,000.
const MOST_CHUNKS: usize = 8_192;

/// What every worker of a reconcile shares.
pub(super) struct Shop<'a> {
    pub(super) root: &'a Path,
    pub(super) max_file_bytes: u64,
    pub(super) strikes: &'a Strikes,
    pub(super) struck: &'a HashMap<[u8; 32], u32>,
}

/// Returns nanoseconds since the epoch.
pub(super) fn now_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}

impl Shop<'_> {
    /// Reads a path and extracts it, unless its content is known. A path that is gone becomes a removal.
    pub(super) fn prepare(
        &self,
        slot: usize,
        key: &SourceKey,
        stat: &Stat,
        reader: &Reader,
    ) -> Result<Change, StoreError> {
        let read_at_ns = now_ns();
        let read = match scan::read(self.root, key, self.max_file_bytes) {
            Ok(read) => read,
            Err(error) => {
                let Some(refusal) = error.refusal() else { return Ok(Change::Remove { key: key.clone() }) };
                tracing::warn!(path = %key, %error, "not indexed");
                return Ok(Change::Refuse { key: key.clone(), stat: *stat, refusal });
            }
        };
        let Read { stat, hash, content } = read;
        let text = match content {
            Content::Text(text) => text,
            Content::Refused(refusal) => return Ok(Change::Refuse { key: key.clone(), stat, refusal }),
        };
        let lang = extract::format_name(key.as_str(), &text);
        let known = reader.knows_blob(&hash, lang, EXTRACTOR_VERSION)?;
        let blob = (!known).then(|| Box::new(self.extract(slot, key, &hash, &text, stat.size)));
        let mut path_words = String::new();
        words::path_words(key.as_str(), &mut path_words);
        let racy = scan::is_racy(&stat, read_at_ns);
        Ok(Change::Put { key: key.clone(), stat, racy, hash, lang, path_words, blob })
    }

    /// Extracts one content; one that panics is recorded as struck, and the daemon goes on.
    fn extract(&self, slot: usize, key: &SourceKey, hash: &[u8; 32], text: &str, size: u64) -> NewBlob {
        let struck = |problem: String| NewBlob {
            size,
            kind: "struck",
            extractor_version: EXTRACTOR_VERSION,
            problems: problem,
            ..NewBlob::default()
        };
        if self.struck.get(hash).is_some_and(|strikes| *strikes >= STRIKES_OUT) {
            return struck(format!("its extraction ended {STRIKES_OUT} daemons"));
        }
        let extracted = self.strikes.around(slot, hash, || {
            catch_unwind(|| into_blob(extract::extract(key.as_str(), text), text, size))
        });
        match extracted {
            Ok(blob) => blob,
            Err(_) => {
                tracing::error!(path = %key, "extraction panicked; the file is left out");
                struck("extraction panicked".to_owned())
            }
        }
    }
}

fn into_blob(extracted: Extracted, text: &str, size: u64) -> NewBlob {
    let kind = match (extracted.opted_out, extracted.minified) {
        (true, _) => "opted-out",
        (_, true) => "minified",
        _ => "text",
    };
    let mut refs = String::new();
    for (name, count) in &extracted.references {
        refs.push_str(&format!("{name} {count}\n"));
    }
    let embeds = !extracted.minified;
    let secrets = redact::secrets(text);
    let mut chunks = extracted.chunks;
    let mut problems = extracted.problems;
    if chunks.len() > MOST_CHUNKS {
        problems.push(format!("{} chunks; only the first {MOST_CHUNKS} are indexed", chunks.len()));
        chunks.truncate(MOST_CHUNKS);
    }
    NewBlob {
        size,
        kind,
        extractor_version: EXTRACTOR_VERSION,
        refs,
        problems: problems.join("\n"),
        chunks: chunks.into_iter().map(|chunk| into_chunk(chunk, text, &secrets, embeds)).collect(),
    }
}

fn into_chunk(chunk: extract::Chunk, text: &str, secrets: &[Range<usize>], embeds: bool) -> NewChunk {
    let own_text = chunk.text.map(|text| redact::redact(&text).into_owned());
    let body = match &own_text {
        Some(own) => Cow::Borrowed(own.as_str()),
        None => redact::redact_span(text, chunk.bytes.clone(), secrets),
    };
    let symbol = chunk.symbol.as_deref().unwrap_or_default();
    let title = chunk.title.as_deref().unwrap_or_default();
    let mut index_words = [String::new(), String::new(), String::with_capacity(body.len() * 2)];
    for (text, out) in [symbol, title, &body].into_iter().zip(&mut index_words) {
        words::index_words(text, out);
    }
    NewChunk {
        kind: chunk.kind,
        text_hash: embedded_text_hash(chunk.kind, symbol, title, &body),
        embeds,
        words: index_words,
        bytes: (chunk.bytes.start, chunk.bytes.end),
        lines: chunk.lines,
        symbol: chunk.symbol,
        title: chunk.title,
        text: own_text,
    }
}

/// Returns the identity of what is embedded for a chunk.
fn embedded_text_hash(kind: Kind, symbol: &str, title: &str, body: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in [kind.as_str(), symbol, title, body] {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize().into()
}

/// Returns one vector of a chunk from its fields (models/builtin/README.md): title and symbol against body.
///
/// # Errors
/// When the model cannot run.
pub(super) fn chunk_vectors(
    embedder: &dyn Embedder,
    fields: &[(String, String)],
) -> Result<Vec<Option<Vec<f32>>>, crate::embed::EmbedError> {
    let texts: Vec<&str> = fields.iter().flat_map(|(head, body)| [head.as_str(), body.as_str()]).collect();
    let vectors = embedder.embed(&texts)?;
    let combine = |pair: &[Option<Vec<f32>>]| {
        crate::embed::combine(&[(0.4, pair[0].as_deref()), (0.6, pair[1].as_deref())])
    };
    Ok(vectors.chunks_exact(2).map(combine).collect())
}
