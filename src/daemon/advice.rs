//! Answers `advise`: decides what an agent is told, which is nothing unless it helps.
//!
//! At the start of a session that is the brief, for a prompt the memories that are relevant to it, and before an edit the
//! memories about the files. A session is told each thing once.

mod note;
mod prompt;
pub(super) mod told;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::briefing;
use super::error::{RpcResult, bad_params};
use super::history::key_of;
use super::memories::memories_for_path::memories_for_path;
use super::memories::records::records;
use super::request::{blocking, locate};
use super::shared::Shared;
use crate::proto::anchor::State;
use crate::proto::memory::Memory;
use crate::proto::{Advice, AdviseParams, AdviseResult, Beginning, BriefParams, Occasion, Sync, WhyMemory};
use note::Note;
use told::SessionKey;

/// Default budget, tokens.
const BUDGET: usize = 400;
/// Default budget at the start of a session, tokens.
const BRIEF_BUDGET: usize = 1_200;
/// Time that a caller listens if it does not say how long.
const WITHIN: Duration = Duration::from_secs(1);
/// Time that is left for the answer when the map of a brief is given up.
const AFTER_MAP: Duration = Duration::from_millis(60);
/// Most files of one edit that are looked at.
const MOST_PATHS: usize = 32;
/// Longest name of a session, bytes.
const MAX_SESSION: usize = 256;

/// One call.
struct Call {
    params: AdviseParams,
    session: Option<SessionKey>,
    budget: usize,
    until: Instant,
}

/// Decides what to tell.
pub(super) async fn advise(shared: &Arc<Shared>, params: AdviseParams) -> RpcResult<AdviseResult> {
    let began = Instant::now();
    let usual = if params.occasion == Occasion::SessionStart { BRIEF_BUDGET } else { BUDGET };
    let budget = params.budget.unwrap_or(usual);
    let within = params.within_ms.map_or(WITHIN, Duration::from_millis);
    let session = session(&params)?;
    let call = Call { until: began + within.min(10 * WITHIN), budget, session, params };
    let result = match call.params.occasion {
        Occasion::SessionStart => call.session_start(shared).await?,
        Occasion::Prompt => call.prompt(shared).await?,
        Occasion::BeforeEdit => call.before_edit(shared).await?,
    };
    Ok(AdviseResult { budget, took_ms: began.elapsed().as_secs_f64() * 1_000.0, ..result })
}

fn session(params: &AdviseParams) -> RpcResult<Option<SessionKey>> {
    let name = params.session.as_deref().filter(|name| !name.is_empty());
    match name.map(str::len) {
        Some(length) if length > MAX_SESSION => {
            Err(bad_params(format!("session: {length} bytes, over {MAX_SESSION}")))
        }
        _ => Ok(name.map(SessionKey::of)),
    }
}

impl Call {
    async fn session_start(&self, shared: &Arc<Shared>) -> RpcResult<AdviseResult> {
        let beginning = self.params.beginning;
        if beginning == Beginning::Fork {
            return Ok(silent("the copy of a session has what was told to the session"));
        }
        locate(shared, &self.params.cwd, self.until).await?;
        if self.begin(shared).await? {
            return Ok(silent("this session has the brief"));
        }
        let budget = Some(note::room_for_brief(self.budget));
        let params = BriefParams { cwd: self.params.cwd.clone(), budget, sync: Sync::Fs };
        let map_until = self.until.checked_sub(AFTER_MAP).unwrap_or_else(Instant::now);
        let brief = briefing::brief_until(shared, params, self.until, Some(map_until)).await?;
        let Some(note) = Note::of_brief(&brief.text, self.budget) else {
            return Ok(silent("nothing to show, or the budget is too small for it"));
        };
        self.tell(shared, note, true).await
    }

    /// Forgets what a session no longer knows; returns whether it was told the brief.
    async fn begin(&self, shared: &Arc<Shared>) -> RpcResult<bool> {
        let (session, beginning) = (self.session, self.params.beginning);
        let explains = self.params.explain;
        blocking(shared, move |shared| {
            Ok(!explains && session.is_some_and(|session| shared.told.begin(session, beginning)))
        })
        .await
    }

    async fn before_edit(&self, shared: &Arc<Shared>) -> RpcResult<AdviseResult> {
        let cwd = &self.params.cwd;
        let layout = locate(shared, cwd, self.until).await?;
        let paths = self.params.paths.iter().take(MOST_PATHS);
        let keys: Vec<String> =
            paths.filter_map(|path| key_of(path, cwd, &layout)).map(|key| key.to_string()).collect();
        if keys.is_empty() {
            return Ok(silent("no file of this worktree is named"));
        }
        let mut found: Vec<WhyMemory> = Vec::new();
        for key in &keys {
            let (memories, _) = memories_for_path(shared, cwd, key, &[], self.until).await?;
            found.extend(memories);
        }
        // Stable: within a state the order of the file.
        found.sort_by_key(|memory| match memory.state {
            Some(State::Drifted) => 0,
            Some(State::Orphaned) => 1,
            None => 2,
            Some(State::Fresh) => 3,
        });
        let ids: Vec<String> = found.iter().map(|memory| memory.id.clone()).collect();
        let memories = records(shared, ids).await?.into_iter();
        let with_state = |memory: Memory| {
            let state = found.iter().find(|found| found.id == memory.id).and_then(|found| found.state);
            (Memory { state, ..memory }, None)
        };
        let memories: Vec<_> = memories.map(with_state).collect();
        if memories.is_empty() {
            return Ok(silent("no memory is about these files"));
        }
        let told = self.told(shared).await?;
        self.tell(shared, Note::of_memories(memories, &told, self.budget), false).await
    }

    /// Returns the memories that the session was told.
    async fn told(&self, shared: &Arc<Shared>) -> RpcResult<Vec<String>> {
        let session = self.session.filter(|_| !self.params.explain);
        blocking(shared, move |shared| {
            Ok(session.map(|session| shared.told.memories(session)).unwrap_or_default())
        })
        .await
    }

    /// Remembers what a note tells and returns it, unless the caller has gone by now.
    async fn tell(&self, shared: &Arc<Shared>, note: Note, is_brief: bool) -> RpcResult<AdviseResult> {
        if note.text.is_empty() {
            let reason = note.silent();
            return Ok(AdviseResult { items: self.shown(note.items), ..silent(&reason) });
        }
        if Instant::now() >= self.until {
            return Ok(silent("it took too long"));
        }
        let session = self.session.filter(|_| !self.params.explain);
        let ids: Vec<String> = note.ids();
        let remember = move |shared: &Shared| {
            if let Some(session) = session {
                shared.told.remember(session, ids, is_brief);
            }
            Ok(())
        };
        blocking(shared, remember).await?;
        let tokens = note::tokens(&note.text);
        Ok(AdviseResult { text: note.text, tokens, items: self.shown(note.items), ..AdviseResult::default() })
    }

    /// Returns the items that the caller wants to see.
    fn shown(&self, mut items: Vec<Advice>) -> Vec<Advice> {
        if !self.params.explain {
            items.retain(|item| item.told);
            items.iter_mut().for_each(|item| item.evidence.clear());
        }
        items
    }
}

fn silent(reason: &str) -> AdviseResult {
    AdviseResult { silent: Some(reason.to_owned()), ..AdviseResult::default() }
}
