//! How do memories answer a search?

use std::collections::HashMap;

use super::rules::traits;
use super::{Memories, Outcome, failed, now_ms};
use crate::daemon::clock::local;
use crate::daemon::dispatch::{bad_params, store_error};
use crate::embed::{Embedder, quantize};
use crate::memory::{Refused, fields, text, time};
use crate::proto::anchor::{Anchor, State};
use crate::proto::memory::Traits;
use crate::proto::{Arms, Hit, MemoryInfo, Mode, SearchParams};
use crate::search::memories::{FoundMemory, MemoryAsk, memories};
use crate::search::nearest::Changing;
use crate::search::query::{Query, parse};
use crate::search::{explain, snippet};
use crate::store::{Rows, Stopped, StoreError, Which};
use crate::types::{Kind, MemoryRow, rfc3339};

pub(in crate::daemon) use crate::search::memories::FoundMemories;

/// A question to the memories, understood.
#[derive(Clone, Debug, Default)]
pub(in crate::daemon) struct Wanted {
    pub(in crate::daemon) query: Query,
    pub(in crate::daemon) mode: Mode,
    pub(in crate::daemon) which: Which,
    pub(in crate::daemon) limit: usize,
    pub(in crate::daemon) vector: Option<Vec<i8>>,
    /// What memories are about, judged, by id.
    pub(in crate::daemon) judged: HashMap<String, Vec<Anchor>>,
}

impl Wanted {
    /// Reads what a search wants of the memories; none where it leaves them out.
    ///
    /// # Errors
    /// When a filter is none.
    pub(in crate::daemon) fn of(params: &SearchParams, limit: usize) -> Outcome<Option<Self>> {
        let bad = |refused: Refused| bad_params(refused.to_string());
        let now = local(now_ms());
        let moment = |field, typed: &Option<String>| {
            typed.as_deref().map(|typed| time::past(field, typed, &now)).transpose().map_err(bad)
        };
        let which = Which {
            container: params.container.as_deref().map(fields::container).transpose().map_err(bad)?,
            tags: fields::tags(&params.tag).map_err(bad)?,
            since: moment("since", &params.since)?,
            before: moment("until", &params.until)?,
            traits: traits(&params.traits).map_err(bad)?,
            ..Which::default()
        };
        let is_left_out = !params.kind.is_empty() && !params.kind.contains(&Kind::Memory)
            || !params.path.is_empty()
            || !params.lang.is_empty();
        if is_left_out && is_about_memories(params) {
            let message = "container, tag, since, until, tier, author, min_priority, metadata: these are about memories, \
                 which kind, path or lang leave out";
            return Err(bad_params(message.to_owned()));
        }
        let query = parse(&params.query);
        Ok((!is_left_out).then_some(Self { query, mode: params.mode, which, limit, ..Self::default() }))
    }

    /// Looks for other words instead.
    pub(in crate::daemon) fn with_query(&self, text: &str) -> Self {
        Self { query: parse(text), ..self.clone() }
    }

    /// Adds the query's vector, if the model is there and knows a word of it.
    pub(in crate::daemon) fn embed(&mut self, text: &str, embedder: Result<&dyn Embedder, &str>) {
        let vectors = embedder.ok().and_then(|embedder| embedder.embed(&[text]).ok());
        self.vector = vectors.and_then(|mut vectors| vectors.pop().flatten()).as_deref().map(quantize);
    }
}

/// Returns whether a search has a filter that only memories can pass.
pub(in crate::daemon) fn is_about_memories(params: &SearchParams) -> bool {
    let is_dated = params.since.is_some() || params.until.is_some();
    params.container.is_some() || !params.tag.is_empty() || is_dated || params.traits != Traits::default()
}

impl Memories {
    /// Returns the memories that answer best, and the text for people, if memories were restored. Blocks: for threads
    /// that may. What was acknowledged before is found; what is archived or over is not.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(in crate::daemon) fn find(&self, wanted: &Wanted) -> Outcome<FoundMemories> {
        if let Some(Ok(found)) = self.finder.read(now_ms(), |rows, vectors| find(rows, vectors, wanted)) {
            return Ok(found);
        }
        // Not open, or damaged: who keeps the memories opens or heals them.
        let (wanted, finder) = (wanted.clone(), std::sync::Arc::clone(&self.finder));
        let answer = self.send(move |keeper| {
            let _ = keeper.open_now(now_ms()); // what is read next says why it cannot be
            finder.follow(keeper);
            let read = |rows: &Rows<'_>| {
                finder.vectors(|vectors| find(rows, vectors, &wanted)).map_err(Stopped::<()>::Store)
            };
            keeper.read(now_ms(), read).map_err(|stopped| match stopped {
                Stopped::Store(error) => store_error(&error),
                Stopped::Refused(()) => failed(),
            })
        })?;
        answer.blocking_recv().map_err(|_| failed())?
    }

    /// Waits until every living memory has its vector.
    pub(in crate::daemon) async fn complete(&self) -> Outcome<()> {
        self.ask(|keeper| {
            while keeper.embed_some(now_ms())? {}
            Ok(())
        })
        .await?
        .map_err(|error: StoreError| store_error(&error))
    }
}

fn find(
    rows: &Rows<'_>,
    nearest: &Changing<MemoryRow>,
    wanted: &Wanted,
) -> Result<FoundMemories, StoreError> {
    memories(
        rows,
        &MemoryAsk {
            query: &wanted.query,
            mode: wanted.mode,
            which: &wanted.which,
            limit: wanted.limit,
            vector: wanted.vector.as_deref(),
            nearest,
            judged: &wanted.judged,
        },
    )
}

/// Returns a memory as a hit of a search in the worktree `root`.
pub(in crate::daemon) fn hit(found: &FoundMemory, wanted: &Wanted, root: &str, explains: bool) -> Hit {
    let FoundMemory { ranked, record } = found;
    let snippet = snippet::snippet(&record.content, 1, wanted.query.words());
    let anchors = wanted.judged.get(&record.id).unwrap_or(&record.anchors).clone();
    let signals = &ranked.candidate.signals;
    let n_lines = u32::try_from(record.content.lines().count()).unwrap_or(u32::MAX);
    Hit {
        kind: Kind::Memory,
        path: format!("memory:{}", record.id),
        lines: (1, n_lines.max(1)),
        symbol: None,
        title: record.title.clone(),
        snippet: snippet.text,
        snippet_line: snippet.line,
        score: ranked.score,
        arms: Arms {
            bm25: signals.bm25.map(|place| place.rank),
            knn: signals.knn,
            cosine: signals.cosine,
            ..Arms::default()
        },
        id: Some(record.id.clone()),
        view: root.to_owned(),
        blob: blake3::Hash::from_bytes(text::hash(&record.content)).to_hex().to_string(),
        trust: if record.source == "import" || record.key.is_some() { "import" } else { "own" }.to_owned(),
        state: State::of(&anchors).map(|state| state.as_str().to_owned()),
        commit: None,
        memory: Some(MemoryInfo {
            container: record.container.clone(),
            tags: record.tags.clone(),
            created: rfc3339(record.created),
            anchors,
        }),
        explain: explains.then(|| explain(signals, ranked.fused, &ranked.factors)),
    }
}
