//! Turns a Markdown document into memories.

use std::hash::{BuildHasher, RandomState};

use memod_base::types::CHARS_PER_TOKEN;
use memod_extract::documents::markdown;
use memod_extract::{CHUNK_CHARS, Chunk, ChunkSize, Extraction, OVERLAP_CHARS};
use memod_proto::exchange::{Draft, ImportParams, MarkdownParams, Snapshot};
use serde_json::{Map, Value, json};

use memod_memory::fields::{self, MAX_TITLE};

/// Largest document, bytes; the same as for the index.
pub(super) const MOST_BYTES: usize = 1 << 20;
/// Shortest and longest chunks, tokens.
const CHUNK_TOKENS: std::ops::RangeInclusive<usize> = 50..=4_000;

/// Splits a document into chunks. Returns the params to import each chunk as a draft, and notes on the document.
///
/// # Errors
/// When the params are invalid.
pub(super) fn split_document(params: MarkdownParams) -> Result<(ImportParams, Vec<String>), String> {
    let chunk_tokens = params.chunk_tokens.unwrap_or(CHUNK_CHARS / CHARS_PER_TOKEN);
    if !CHUNK_TOKENS.contains(&chunk_tokens) {
        return Err(format!(
            "chunk_tokens: {chunk_tokens} is not between {} and {}",
            CHUNK_TOKENS.start(),
            CHUNK_TOKENS.end()
        ));
    }
    if params.text.len() > MOST_BYTES {
        return Err(format!("text: is {} bytes, over {MOST_BYTES}", params.text.len()));
    }
    let overlap_chars =
        params.overlap_tokens.map_or(OVERLAP_CHARS, |tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
    let size = ChunkSize { max_chars: chunk_tokens * CHARS_PER_TOKEN, overlap_chars };
    let Extraction { chunks, opted_out, problems, .. } =
        markdown::extract_with_chunk_size(&params.text, size);
    let mut notes: Vec<String> = problems.into_iter().map(|why| format!("{}: {why}", params.path)).collect();
    if opted_out {
        notes.push(format!("{}: not imported, because it contains vector-index: false", params.path));
    }
    let drafts = chunks.iter().zip(1..).map(|(chunk, number)| build_draft(&params, chunk, number)).collect();
    let run = RandomState::new().hash_one(&params.path).cast_signed();
    let snapshot = Some(Snapshot { key: format!("import:{}", params.path), run, is_last: true });
    let MarkdownParams { caller, allow_secret, dry_run, .. } = params;
    Ok((ImportParams { caller, drafts, snapshot, allow_secret, dry_run, ..ImportParams::default() }, notes))
}

fn build_draft(params: &MarkdownParams, chunk: &Chunk, number: u64) -> Draft {
    let content = chunk.text.as_deref().unwrap_or(&params.text[chunk.bytes.clone()]);
    let title = chunk.title.as_deref().map(|title| title[..title.floor_char_boundary(MAX_TITLE)].to_owned());
    // The hash is that of the redacted text: private parts could be guessed from a hash of the whole text.
    let stored =
        fields::validate_content(content, params.allow_secret).map(|valid| valid.text).unwrap_or_default();
    let metadata = [
        ("path".to_owned(), json!(params.path)),
        ("lines".to_owned(), json!(chunk.lines)),
        ("chunk".to_owned(), json!(number)),
        ("hash".to_owned(), json!(blake3::hash(stored.as_bytes()).to_hex().as_str())),
    ];
    Draft {
        line: u64::from(chunk.lines.0),
        content: content.to_owned(),
        title,
        container: params.container.clone(),
        tags: params.tags.clone(),
        metadata: Map::<String, Value>::from_iter(metadata),
        ..Draft::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash_of(text: &str) -> Value {
        json!(blake3::hash(text.trim().as_bytes()).to_hex().as_str())
    }

    #[test]
    fn the_hash_of_a_chunk_is_that_of_what_is_stored() {
        let text = "# Gate\n\nThe code is <private>1234</private>, ask at the desk.\n".to_owned();
        let (import, _) = split_document(MarkdownParams { text, ..Default::default() }).unwrap();
        let stored = "# Gate\n\nThe code is [REDACTED], ask at the desk.";
        assert_eq!(import.drafts[0].metadata["hash"], hash_of(stored));
    }

    #[test]
    fn sections_become_drafts_of_one_source() {
        let text =
            format!("# Guide\n\nhello\n\n## Long\n\n{}", "A sentence of thirty-six characters. ".repeat(40));
        let params = MarkdownParams {
            path: "/d/a.md".to_owned(),
            text,
            chunk_tokens: Some(100),
            ..Default::default()
        };
        let (import, notes) = split_document(params).unwrap();
        assert_eq!((import.drafts[0].title.as_deref(), import.drafts[0].line), (Some("Guide"), 1));
        assert!(import.drafts.len() > 3 && import.drafts.iter().all(|draft| draft.content.len() <= 400));
        assert_eq!(import.drafts[1].metadata["chunk"], 2);
        assert!(import.drafts.iter().all(|draft| draft.metadata["hash"] == hash_of(&draft.content)));
        assert_eq!((import.snapshot.unwrap().key.as_str(), notes.len()), ("import:/d/a.md", 0));
        let text = "---\nvector-index: false\n---\n# A\n".to_owned();
        let (import, notes) = split_document(MarkdownParams { text, ..Default::default() }).unwrap();
        assert!(import.drafts.is_empty() && notes.len() == 1);
        assert!(split_document(MarkdownParams { chunk_tokens: Some(1), ..Default::default() }).is_err());
    }
}
