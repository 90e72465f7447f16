//! Answers `advise`: decides what an agent is told, which is nothing unless it helps.
//!
//! At the start of a session that is the brief, for a prompt the memories that are relevant to it, and before an edit the
//! memories about the files. A session is told each thing once.

mod edited_files;
mod note;
mod prompt;
pub(in crate::daemon) mod told;

use std::sync::Arc;
use std::time::{Duration, Instant};

use edited_files::{EditedFile, edited_files};
use memod_engine::errors::RpcResult;
use memod_proto::anchor::State;
use memod_proto::memory::Memory;
use memod_proto::{
    Advice, AdviseParams, AdviseResult, AnswerPart, Beginning, BriefParams, Caveats, Occasion, Sync,
    WhyMemory, code,
};
use note::{Note, UnreadPart};
use told::SessionKey;

use crate::daemon::context::briefing::{self, Wanted};
use crate::daemon::memories::memories_for_path::memories_for_path;
use crate::daemon::memories::records::records;
use crate::daemon::memories::states::note_unsure;
use crate::daemon::request::caveats;
use crate::daemon::request::error::bad_params;
use crate::daemon::request::{blocking, locate};
use crate::daemon::shared::Shared;

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
/// Errors after which nothing can be told: something could not be read.
const UNREADABLE: [i64; 4] = [code::STORE, code::IO, code::GIT, code::INTERNAL];

/// One call.
struct Call {
    params: AdviseParams,
    session: Option<SessionKey>,
    budget: usize,
    until: Instant,
}

/// Decides what to tell.
pub(in crate::daemon) async fn advise(shared: &Arc<Shared>, params: AdviseParams) -> RpcResult<AdviseResult> {
    let began = Instant::now();
    let usual = if params.occasion == Occasion::SessionStart { BRIEF_BUDGET } else { BUDGET };
    let budget = params.budget.unwrap_or(usual);
    let within = params.within_ms.map_or(WITHIN, Duration::from_millis);
    let session = session(&params)?;
    let call = Call { until: began + within.min(10 * WITHIN), budget, session, params };
    if let Some(receipt) = call.params.receipt.clone() {
        return call.take_receipt(shared, receipt).await;
    }
    let result = match call.params.occasion {
        Occasion::SessionStart => call.session_start(shared).await,
        Occasion::Prompt => call.prompt(shared).await,
        Occasion::BeforeEdit => call.before_edit(shared).await,
    };
    let result = match result {
        Err(error) if UNREADABLE.contains(&error.code) => match caveats::noted(AnswerPart::Memories) {
            Some(why) => call.tell_unread(shared, UnreadPart::Memories(why)).await?,
            None => call.tell_unread(shared, UnreadPart::Other(error.message)).await?,
        },
        result => result?,
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
        let unread = caveats::noted(AnswerPart::Memories);
        let budget = Some(note::room_for_brief(self.budget, unread.as_deref()));
        let params = BriefParams { cwd: self.params.cwd.clone(), budget, sync: Sync::Fs };
        let map_until = self.until.checked_sub(AFTER_MAP).unwrap_or_else(Instant::now);
        let wanted = Wanted { until: self.until, map_until: Some(map_until), memories: unread.is_none() };
        let brief = briefing::brief_until(shared, params, wanted).await?;
        let Some(note) = Note::of_brief(&brief.text, self.budget, unread.as_deref()) else {
            return Ok(silent("nothing to show, or the budget is too small for it"));
        };
        let caveats = Caveats { fresh: brief.fresh, reason: brief.reason, notice: None };
        Ok(AdviseResult { caveats, ..self.tell(shared, note, true).await? })
    }

    /// Tells which part cannot be read, and nothing that memories said before.
    async fn tell_unread(&self, shared: &Arc<Shared>, why: UnreadPart) -> RpcResult<AdviseResult> {
        match &why {
            UnreadPart::Memories(why) => caveats::note(AnswerPart::Memories, why.clone()),
            UnreadPart::Other(why) => caveats::note(AnswerPart::Code, why.clone()),
        }
        let note = Note::of_unread(&why, &self.told(shared).await?, self.budget);
        self.tell(shared, note, false).await
    }

    /// Counts what an answer told as told, now that its caller has passed it on.
    async fn take_receipt(&self, shared: &Arc<Shared>, receipt: String) -> RpcResult<AdviseResult> {
        locate(shared, &self.params.cwd, self.until).await?;
        blocking(shared, move |shared| {
            shared.told.take_receipt(&receipt);
            Ok(())
        })
        .await?;
        Ok(silent("a receipt was taken"))
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
        let paths = self.params.paths.iter().take(MOST_PATHS).cloned().collect();
        let files = edited_files(shared, &layout, cwd, paths).await?;
        if files.is_empty() {
            return Ok(silent("no file of this repository is named"));
        }
        if let Some(why) = caveats::noted(AnswerPart::Memories) {
            return self.tell_unread(shared, UnreadPart::Memories(why)).await;
        }
        let mut found: Vec<WhyMemory> = Vec::new();
        for EditedFile { root, path } in &files {
            let (memories, unsure) = memories_for_path(shared, root, path, &[], self.until).await?;
            note_unsure(unsure);
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

    /// Returns the memories that the session was told. That they cannot be read is told again once they could.
    async fn told(&self, shared: &Arc<Shared>) -> RpcResult<Vec<String>> {
        let Some(session) = self.session.filter(|_| !self.params.explain) else { return Ok(Vec::new()) };
        let are_read =
            [AnswerPart::Memories, AnswerPart::Code].into_iter().all(|part| caveats::noted(part).is_none());
        blocking(shared, move |shared| {
            if are_read {
                shared.told.forget(session, |id| id.starts_with(note::UNREAD));
            }
            Ok(shared.told.memories(session))
        })
        .await
    }

    /// Returns what a note tells, and remembers it: at once, or when the caller says that it has passed it on. A caller that has
    /// gone is told nothing.
    async fn tell(&self, shared: &Arc<Shared>, note: Note, is_brief: bool) -> RpcResult<AdviseResult> {
        if note.text.is_empty() {
            let reason = note.silent();
            return Ok(AdviseResult { items: self.shown(note.items), ..silent(&reason) });
        }
        if Instant::now() >= self.until {
            return Ok(silent("it took too long"));
        }
        let session = self.session.filter(|_| !self.params.explain);
        let (ids, gives_receipt) = (note.ids(), self.params.gives_receipt);
        let remember = move |shared: &Shared| {
            let Some(session) = session else { return Ok(None) };
            if gives_receipt {
                return Ok(Some(shared.told.expect_receipt(session, ids, is_brief)));
            }
            shared.told.remember(session, ids, is_brief);
            Ok(None)
        };
        let receipt = blocking(shared, remember).await?;
        let (tokens, items) = (note::tokens(&note.text), self.shown(note.items));
        Ok(AdviseResult { text: note.text, tokens, items, receipt, ..AdviseResult::default() })
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
