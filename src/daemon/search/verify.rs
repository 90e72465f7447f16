//! Reads the file of each hit again before it is shown, and counts near copies with what they repeat.
//!
//! At every level of freshness, the file of each hit is read and hashed, and the snippet is cut from the same bytes. So no
//! stale line is shown, even if the watcher is dead.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use memod_base::types::{Kind, SourceKey};
use memod_engine::event::Freshness;
use memod_proto::{CommitInfo, Copies, Hit};
use memod_search::near_copies::Passage;
use memod_search::rerank::Candidate;
use memod_search::snippet::{Extent, Snippet, Snippets};
use memod_search::translation;
use memod_search::{Answer, Found, arms, explain, most_looked_at};
use memod_structure::map::Lines;

use crate::daemon::search::known_texts::{KnownText, KnownTexts};

/// Longest signature, in characters.
const MOST_SIGNATURE: usize = 200;

/// Verified hits, and stale paths.
#[derive(Debug, Default)]
pub(in crate::daemon) struct Verified {
    pub(in crate::daemon) hits: Vec<Hit>,
    /// Beginnings of the texts of the first hits, as many as were asked for.
    pub(in crate::daemon) texts: Vec<String>,
    pub(in crate::daemon) stale: Vec<SourceKey>,
}

/// Longest text that is kept, bytes: more than the tokens that a cross-encoder takes.
const MOST_TEXT: usize = 2_000;

/// What is said of each hit.
#[derive(Clone, Copy)]
pub(in crate::daemon) struct Forms {
    pub(in crate::daemon) explains: bool,
    /// How much of their texts hits show.
    pub(in crate::daemon) extent: Extent,
    /// Number of hits whose texts are returned too.
    pub(in crate::daemon) most_texts: usize,
}

/// Verifies candidates in order until `limit` of them hold. A near copy of one is counted with it.
pub(in crate::daemon) fn verify(
    answer: &Answer,
    at: &Freshness,
    limit: usize,
    (max_file_bytes, known): (u64, &KnownTexts),
    Forms { explains, extent, most_texts }: Forms,
) -> Verified {
    let mut texts: Vec<String> = Vec::new();
    let mut keep = |text: &str| {
        if texts.len() < most_texts {
            texts.push(text[..text.floor_char_boundary(MOST_TEXT)].to_owned());
        }
    };
    let mut files = Files { at, max_file_bytes, known, texts: HashMap::new(), stale: Vec::new() };
    let snippets = Snippets::new(answer.query.words(), extent);
    let shown_as = |found: &Found, text: &str, around: (String, String), n_before: usize| {
        let snippet = snippets.of(text, found.ranked.candidate.lines.0, &around, n_before);
        hit(found, snippet, at, text, explains)
    };
    let mut hits: Vec<Hit> = Vec::new();
    let mut counted: HashMap<usize, HashSet<&str>> = HashMap::new();
    let mut passages: Vec<(usize, Passage<'_>)> = Vec::new();
    for (nth, found) in answer.found.iter().enumerate() {
        let is_full = hits.len() == limit;
        if is_full && nth >= most_looked_at(limit) {
            break;
        }
        let Candidate { kind, path, classes, .. } = &found.ranked.candidate;
        if *kind == Kind::Commit {
            if let Some(text) = found.text.as_ref().filter(|_| !is_full) {
                keep(text);
                let n_before = hits.len();
                hits.push(commit(text, |message| shown_as(found, message, Default::default(), n_before)));
            }
            continue;
        }
        let bare_path = translation::without_language(path);
        let may_repeat =
            |(_, shown): &(usize, Passage<'_>)| shown.may_repeat(*kind, name(found), path, &bare_path);
        if is_full && !passages.iter().any(may_repeat) {
            continue;
        }
        let Some((text, position)) = files.span(found) else { continue };
        let passage = Passage::new(*kind, name(found), (path, *classes), position, &text);
        match passages.iter().find(|(_, shown)| passage.repeats(shown)) {
            Some((original, _)) => {
                add_copies(&mut hits[*original], counted.entry(*original).or_default(), found);
            }
            None if is_full => {}
            None => {
                // A list leaves nothing out.
                passages.extend((!answer.is_list).then_some((hits.len(), passage)));
                counted.insert(hits.len(), paths(found).collect());
                keep(&text);
                let text = text.into_owned();
                let around = files.lines_around(found, snippets.lines_around());
                hits.push(shown_as(found, &text, around, hits.len()));
            }
        }
    }
    known.end(files.texts.into_values().flatten());
    Verified { hits, texts, stale: files.stale }
}

/// Returns what a copy of the hit has in common with it besides words.
fn name(found: &Found) -> Option<&str> {
    let Candidate { kind, symbol, title, path, .. } = &found.ranked.candidate;
    match kind {
        Kind::Symbol => title.as_deref().or(symbol.as_deref()),
        Kind::Doc => title.as_deref().and_then(|title| title.rsplit(" > ").next()),
        _ => path.rsplit('/').next(),
    }
}

/// Returns the files that have the text of a hit: its own, and those of the same content.
fn paths(found: &Found) -> impl Iterator<Item = &str> {
    std::iter::once(found.ranked.candidate.path.as_str()).chain(found.other_paths.iter().map(String::as_str))
}

/// Counts the files of a copy that are not `counted` yet: one file may say the same in several places.
fn add_copies<'a>(original: &mut Hit, counted: &mut HashSet<&'a str>, copy: &'a Found) {
    for path in paths(copy) {
        if counted.insert(path) {
            original.copies.get_or_insert_default().add(path);
        }
    }
}

/// The files of hits, each read once.
struct Files<'a> {
    at: &'a Freshness,
    max_file_bytes: u64,
    known: &'a KnownTexts,
    /// `None` if the content is another one by now.
    texts: HashMap<&'a str, Option<KnownText>>,
    stale: Vec<SourceKey>,
}

impl<'a> Files<'a> {
    /// Returns the text of a hit, and its position as a share of the file; `None` if the file has changed.
    fn span(&mut self, found: &'a Found) -> Option<(Cow<'_, str>, f64)> {
        let Candidate { path, lines, .. } = &found.ranked.candidate;
        if !self.texts.contains_key(path.as_str()) {
            let key = SourceKey::new(path.as_str());
            // An unreadable file counts as stale, so the request is repeated.
            let text = self.at.disk.read_same(&self.at.layout.root, &key, self.max_file_bytes, &found.hash);
            self.stale.extend(text.is_none().then_some(key));
            let text = text.map(|text| {
                let text = memod_extract::readable(path, text).into_owned();
                let syntax = memod_extract::syntax_of(path, &text);
                self.known.begin(text, syntax, &found.hash)
            });
            self.texts.insert(path, text);
        }
        let KnownText { text, n_lines, .. } = self.texts.get_mut(path.as_str())?.as_mut()?;
        let position = f64::from(lines.0) / (*n_lines).max(1) as f64;
        Some((text.whole_lines(found.bytes.0..found.bytes.1).unwrap_or_default(), position))
    }

    /// Returns so many lines before and after the text of a hit whose file was read; none unless they are `wanted`.
    fn lines_around(&mut self, found: &Found, wanted: Option<(usize, usize)>) -> (String, String) {
        let Some((before, after)) = wanted else { return Default::default() };
        let known = self.texts.get_mut(found.ranked.candidate.path.as_str()).and_then(Option::as_mut);
        known.map_or_else(Default::default, |known| {
            known.text.lines_around(found.bytes.0..found.bytes.1, before, after)
        })
    }
}

/// Returns a hit in a commit. Commits never change, so the index needs no check.
fn commit(text: &str, shown_as: impl Fn(&str) -> Hit) -> Hit {
    let (header, message) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut words = header.splitn(3, ' ').map(str::to_owned);
    let mut next = || words.next().unwrap_or_default();
    let commit = Some(CommitInfo { oid: next(), date: next(), author: next() });
    Hit { commit, ..shown_as(message) }
}

fn hit(found: &Found, snippet: Snippet, at: &Freshness, text: &str, explains: bool) -> Hit {
    let candidate = &found.ranked.candidate;
    let signature = signature(candidate, text);
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
        signature_line: signature.as_ref().map(|(line, _)| *line),
        signature: signature.map(|(_, text)| text),
        rank: 0, // known once all hits are
        score: found.ranked.score,
        copies: copies(found),
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

/// Returns the files with the same content.
fn copies(found: &Found) -> Option<Copies> {
    let mut copies = Copies::default();
    found.other_paths.iter().for_each(|path| copies.add(path));
    (copies.count > 0).then_some(copies)
}

/// Returns the line that names a definition, with its number in the file.
fn signature(candidate: &Candidate, text: &str) -> Option<(u32, String)> {
    let name =
        candidate.symbol.as_deref().filter(|name| candidate.kind == Kind::Symbol && !name.contains(' '))?;
    let (line, signature) = Lines::of(text.to_owned()).signature(name, 1)?;
    let cut = signature.char_indices().nth(MOST_SIGNATURE).map(|(at, _)| format!("{}…", &signature[..at]));
    Some((candidate.lines.0 + line - 1, cut.unwrap_or(signature)))
}
