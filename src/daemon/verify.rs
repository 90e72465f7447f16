//! Reads the file of each hit again before it is shown.
//!
//! At every level of freshness, the file of each hit is read and hashed, and the snippet is cut from the same bytes. So no
//! stale line is shown, even if the watcher is dead.

use std::collections::HashMap;

use super::event::Freshness;
use crate::extract::{self, redact::RedactedText};
use crate::proto::{CommitInfo, Hit};
use crate::scan;
use crate::search::{Answer, Found, arms, explain, snippet};
use crate::types::SourceKey;

/// Verified hits, and stale paths.
#[derive(Debug, Default)]
pub(super) struct Verified {
    pub(super) hits: Vec<Hit>,
    pub(super) stale: Vec<SourceKey>,
}

/// Verifies candidates in order until `limit` of them hold.
pub(super) fn verify(
    answer: &Answer,
    at: &Freshness,
    limit: usize,
    max_file_bytes: u64,
    explains: bool,
) -> Verified {
    let mut verified = Verified::default();
    let mut texts: HashMap<&str, Option<RedactedText>> = HashMap::new();
    for found in &answer.found {
        if verified.hits.len() == limit {
            break;
        }
        if let Some(text) = &found.text {
            verified.hits.push(commit(found, answer, at, text, explains));
            continue;
        }
        let path = found.ranked.candidate.path.as_str();
        let text = texts.entry(path).or_insert_with(|| {
            let key = SourceKey::new(path);
            // An unreadable file counts as stale, so the request is repeated.
            let text = scan::read_same(&at.layout.root, &key, max_file_bytes, &found.hash).ok().flatten();
            verified.stale.extend(text.is_none().then_some(key));
            text.map(|text| {
                let syntax = extract::syntax_of(path, &text);
                RedactedText::new(text, syntax)
            })
        });
        if let Some(text) = text {
            let shown = text.span(found.bytes.0..found.bytes.1).unwrap_or_default();
            verified.hits.push(hit(found, answer, at, &shown, explains));
        }
    }
    verified
}

/// Returns a hit in a commit. Commits never change, so the index needs no check.
fn commit(found: &Found, answer: &Answer, at: &Freshness, text: &str, explains: bool) -> Hit {
    let (header, message) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut words = header.splitn(3, ' ').map(str::to_owned);
    let mut next = || words.next().unwrap_or_default();
    let commit = Some(CommitInfo { oid: next(), date: next(), author: next() });
    Hit { commit, ..hit(found, answer, at, message, explains) }
}

fn hit(found: &Found, answer: &Answer, at: &Freshness, shown: &str, explains: bool) -> Hit {
    let candidate = &found.ranked.candidate;
    let snippet = snippet::snippet(shown, candidate.lines.0, answer.query.words());
    Hit {
        kind: candidate.kind,
        classes: candidate.classes.iter().collect(),
        path: candidate.path.clone(),
        lines: candidate.lines,
        symbol: candidate.symbol.clone(),
        title: candidate.title.clone(),
        snippet: snippet.text,
        snippet_line: snippet.line,
        score: found.ranked.score,
        arms: arms(&candidate.signals),
        id: None,
        view: at.layout.root.display().to_string(),
        blob: blake3::Hash::from_bytes(found.hash).to_hex().to_string(),
        trust: "repo".to_owned(),
        state: None,
        commit: None,
        memory: None,
        explain: explains.then(|| explain(&candidate.signals, found.ranked.fused, &found.ranked.factors)),
    }
}
