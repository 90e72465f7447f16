//! Reads the file of each hit again before the hit is shown, and counts near copies with the hit that they repeat.
//!
//! At every level of freshness, the file of each hit is read and hashed, and the snippet is cut from the same bytes. So no
//! stale line is shown, even if the watcher is dead.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use memod_base::types::{ChunkKind, SourceKey, file_name};
use memod_engine::freshness::Freshness;
use memod_proto::{CommitInfo, Copies, Hit};
use memod_search::candidates::chunk_candidate::ChunkCandidate;
use memod_search::hits::explain::{explain_score, ranks_by_arm};
use memod_search::hits::near_copies::HitPassage;
use memod_search::hits::snippet::{Snippet, SnippetCutter, SnippetExtent};
use memod_search::paths::translation;
use memod_search::{FoundChunk, SearchAnswer, max_compared_candidates};
use memod_structure::map::NumberedLines;

use crate::daemon::shared::known_texts::{KnownText, KnownTexts};

/// Longest signature, in characters.
const MOST_SIGNATURE: usize = 200;

/// Verified hits, and paths whose content on disk differs from the snapshot.
#[derive(Debug, Default)]
pub(in crate::daemon) struct VerifiedHits {
    pub(in crate::daemon) hits: Vec<Hit>,
    /// Beginnings of the texts of the first hits, as many as [`ShownHitParts::most_texts`].
    pub(in crate::daemon) texts: Vec<String>,
    pub(in crate::daemon) stale: Vec<SourceKey>,
}

/// Longest text of a hit that is returned, bytes: more than a cross-encoder reads.
const MOST_TEXT: usize = 2_000;

/// The parts that each hit shows.
#[derive(Clone, Copy)]
pub(in crate::daemon) struct ShownHitParts {
    pub(in crate::daemon) explains: bool,
    /// How much of its text each hit shows.
    pub(in crate::daemon) extent: SnippetExtent,
    /// Number of hits whose texts are returned too.
    pub(in crate::daemon) most_texts: usize,
}

/// Verifies candidates in order until `limit` hits are found. A near copy of a hit is counted with that hit.
pub(in crate::daemon) fn verify_hits(
    answer: &SearchAnswer,
    at: &Freshness,
    limit: usize,
    (max_file_bytes, known): (u64, &KnownTexts),
    ShownHitParts { explains, extent, most_texts }: ShownHitParts,
) -> VerifiedHits {
    let mut texts: Vec<String> = Vec::new();
    let mut keep = |text: &str| {
        if texts.len() < most_texts {
            texts.push(text[..text.floor_char_boundary(MOST_TEXT)].to_owned());
        }
    };
    let mut files = HitFiles { at, max_file_bytes, known, texts: HashMap::new(), stale: Vec::new() };
    let snippets = SnippetCutter::new(answer.query.words(), extent);
    let shown_as = |found: &FoundChunk, text: &str, around: (String, String), n_before: usize| {
        let snippet = snippets.cut_snippet(text, found.ranked.candidate.lines.0, &around, n_before);
        build_hit(found, snippet, at, text, explains)
    };
    let mut hits: Vec<Hit> = Vec::new();
    let mut counted: HashMap<usize, HashSet<&str>> = HashMap::new();
    let mut passages: Vec<(usize, HitPassage<'_>)> = Vec::new();
    for (nth, found) in answer.found.iter().enumerate() {
        let is_full = hits.len() == limit;
        if is_full && nth >= max_compared_candidates(limit) {
            break;
        }
        let ChunkCandidate { kind, path, classes, .. } = &found.ranked.candidate;
        if *kind == ChunkKind::Commit {
            if let Some(text) = found.text.as_ref().filter(|_| !is_full) {
                keep(text);
                let n_before = hits.len();
                hits.push(build_commit_hit(text, |message| {
                    shown_as(found, message, Default::default(), n_before)
                }));
            }
            continue;
        }
        let bare_path = translation::strip_language_marks(path);
        if is_full
            && !passages
                .iter()
                .any(|(_, shown)| shown.may_be_copy(*kind, name_for_copies(found), path, &bare_path))
        {
            continue;
        }
        let Some((text, position)) = files.read_span(found) else { continue };
        let passage = HitPassage::new(*kind, name_for_copies(found), (path, *classes), position, &text);
        match passages.iter().find(|(_, shown)| passage.is_copy_of(shown)) {
            Some((original, _)) => {
                count_copies(&mut hits[*original], counted.entry(*original).or_default(), found);
            }
            None if is_full => {}
            None => {
                // A list of all matches shows near copies too.
                passages.extend((!answer.is_list).then_some((hits.len(), passage)));
                counted.insert(hits.len(), list_paths(found).collect());
                keep(&text);
                let text = text.into_owned();
                let around = files.lines_around(found, snippets.context_line_counts());
                hits.push(shown_as(found, &text, around, hits.len()));
            }
        }
    }
    known.cache_facts(files.texts.into_values().flatten());
    VerifiedHits { hits, texts, stale: files.stale }
}

/// Returns the name that a hit has in common with its copies.
fn name_for_copies(found: &FoundChunk) -> Option<&str> {
    let ChunkCandidate { kind, symbol, title, path, .. } = &found.ranked.candidate;
    match kind {
        ChunkKind::Symbol => title.as_deref().or(symbol.as_deref()),
        ChunkKind::Doc => title.as_deref().and_then(|title| title.rsplit(" > ").next()),
        _ => Some(file_name(path)),
    }
}

/// Returns the paths of the files that have the text of a hit: its own, and files with the same content.
fn list_paths(found: &FoundChunk) -> impl Iterator<Item = &str> {
    std::iter::once(found.ranked.candidate.path.as_str()).chain(found.other_paths.iter().map(String::as_str))
}

/// Counts the files of a copy that are not in `counted` yet, because one file may contain the same text in several places.
fn count_copies<'a>(original: &mut Hit, counted: &mut HashSet<&'a str>, copy: &'a FoundChunk) {
    for path in list_paths(copy) {
        if counted.insert(path) {
            original.copies.get_or_insert_default().add_file(path);
        }
    }
}

/// The files of hits, each read once.
struct HitFiles<'a> {
    at: &'a Freshness,
    max_file_bytes: u64,
    known: &'a KnownTexts,
    /// Texts by path; `None` if the content has changed meanwhile.
    texts: HashMap<&'a str, Option<KnownText>>,
    stale: Vec<SourceKey>,
}

impl<'a> HitFiles<'a> {
    /// Returns the text of a hit, and its position in the file, 0 to 1; `None` if the file has changed.
    fn read_span(&mut self, found: &'a FoundChunk) -> Option<(Cow<'_, str>, f64)> {
        let ChunkCandidate { path, lines, .. } = &found.ranked.candidate;
        if !self.texts.contains_key(path.as_str()) {
            let key = SourceKey::new(path.as_str());
            // An unreadable file counts as stale, so the request is repeated.
            let text =
                self.at.disk.read_if_unchanged(&self.at.layout.root, &key, self.max_file_bytes, &found.hash);
            self.stale.extend(text.is_none().then_some(key));
            let text = text.map(|text| {
                let text = memod_extract::readable_text(path, text).into_owned();
                let syntax = memod_extract::bare_word_syntax(path, &text);
                self.known.with_known_facts(text, syntax, &found.hash)
            });
            self.texts.insert(path, text);
        }
        let KnownText { text, n_lines, .. } = self.texts.get_mut(path.as_str())?.as_mut()?;
        let position = f64::from(lines.0) / (*n_lines).max(1) as f64;
        Some((text.whole_lines(found.bytes.0..found.bytes.1).unwrap_or_default(), position))
    }

    /// Returns the lines before and after the text of a hit whose file was read, as many as `wanted`; no lines if that is `None`.
    fn lines_around(&mut self, found: &FoundChunk, wanted: Option<(usize, usize)>) -> (String, String) {
        let Some((before, after)) = wanted else { return Default::default() };
        let known = self.texts.get_mut(found.ranked.candidate.path.as_str()).and_then(Option::as_mut);
        known.map_or_else(Default::default, |known| {
            known.text.lines_around(found.bytes.0..found.bytes.1, before, after)
        })
    }
}

/// Returns a hit in a commit. Commits never change, so the index needs no check.
fn build_commit_hit(text: &str, shown_as: impl Fn(&str) -> Hit) -> Hit {
    let (header, message) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut words = header.splitn(3, ' ').map(str::to_owned);
    let mut next = || words.next().unwrap_or_default();
    let commit = Some(CommitInfo { oid: next(), date: next(), author: next() });
    Hit { commit, ..shown_as(message) }
}

fn build_hit(found: &FoundChunk, snippet: Snippet, at: &Freshness, text: &str, explains: bool) -> Hit {
    let candidate = &found.ranked.candidate;
    let signature = find_signature(candidate, text);
    Hit {
        kind: candidate.kind,
        classes: candidate.classes.iter().collect(),
        path: candidate.path.clone(),
        cwd_path: None,
        lines: candidate.lines,
        symbol: candidate.symbol.as_deref().map(str::to_owned),
        title: candidate.title.as_deref().map(str::to_owned),
        snippet: snippet.lines,
        snippet_line: snippet.line,
        text: snippet.text,
        signature_line: signature.as_ref().map(|((first, _), _)| *first),
        signature_end: signature.as_ref().and_then(|((first, last), _)| (last > first).then_some(*last)),
        signature: signature.map(|(_, text)| text),
        rank: 0, // set once all hits are known
        score: found.ranked.score,
        copies: list_copies(found),
        arms: ranks_by_arm(&candidate.signals),
        id: None,
        view: at.layout.root.display().to_string(),
        blob: blake3::Hash::from_bytes(found.hash).to_hex().to_string(),
        trust: "repo".to_owned(),
        state: None,
        commit: None,
        memory: None,
        explain: explains
            .then(|| explain_score(&candidate.signals, found.ranked.fused, &found.ranked.factors)),
    }
}

/// Returns the other files with the same content as the file of a hit; `None` if there are none.
fn list_copies(found: &FoundChunk) -> Option<Copies> {
    let mut copies = Copies::default();
    found.other_paths.iter().for_each(|path| copies.add_file(path));
    (copies.count > 0).then_some(copies)
}

/// Returns the numbers in the file and the joined text of the lines that name a definition.
fn find_signature(candidate: &ChunkCandidate, text: &str) -> Option<((u32, u32), String)> {
    let name = candidate
        .symbol
        .as_deref()
        .filter(|name| candidate.kind == ChunkKind::Symbol && !name.contains(' '))?;
    let (lines, signature) = NumberedLines::new(text.to_owned()).find_signature_lines(name, 1)?;
    let cut = signature.char_indices().nth(MOST_SIGNATURE).map(|(at, _)| format!("{}…", &signature[..at]));
    let number = |line: u32| candidate.lines.0 + line - 1;
    Some(((number(lines.0), number(lines.1)), cut.unwrap_or(signature)))
}
