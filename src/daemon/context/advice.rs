//! Answers `advise`: selects the advice for an agent. The answer is empty unless something is clearly relevant.
//!
//! At the start of a session an agent gets the brief, with a prompt the memories that are relevant to the prompt, and before an
//! edit the memories about the edited files. Each memory is delivered once per session.

mod advice_note;
mod edited_files;
mod prompt_advice;

use std::sync::Arc;
use std::time::{Duration, Instant};

use advice_note::{AdviceNote, UnreadPart};
use edited_files::{EditedFile, find_edited_files};
use memod_engine::errors::RpcResult;
use memod_proto::anchor::AnchorState;
use memod_proto::memory::Memory;
use memod_proto::{
    Advice, AdviseParams, AdviseResult, AnswerPart, Beginning, BriefParams, Caveats, FreshnessLevel,
    Occasion, WhyMemory, code,
};

use crate::daemon::context::briefing::{self, BriefOptions};
use crate::daemon::memories::about_code::anchor_states::note_uncertain_states;
use crate::daemon::memories::about_code::memories_for_path::memories_for_path;
use crate::daemon::memories::finding::read_records::find_by_ids;
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::request::worktree_location::locate_worktree;
use crate::daemon::shared::delivered_advice::SessionKey;

/// Default budget of an answer, tokens.
const BUDGET: usize = 400;
/// Default budget at the start of a session, tokens.
const BRIEF_BUDGET: usize = 1_200;
/// Default time limit of a call.
const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(1);
/// Time that remains for the rest of a brief after the deadline of its map.
const TIME_AFTER_MAP: Duration = Duration::from_millis(60);
/// Maximum number of files of one edit that are examined.
const MOST_PATHS: usize = 32;
/// Longest name of a session, bytes.
const MAX_SESSION: usize = 256;
/// Codes of errors that mean that something could not be read; the answer is then a note about that.
const UNREADABLE_CODES: [i64; 4] = [code::STORE, code::IO, code::GIT, code::INTERNAL];

/// One call of `advise`.
struct AdviseCall {
    params: AdviseParams,
    session: Option<SessionKey>,
    budget: usize,
    until: Instant,
}

/// Answers `advise`.
pub(in crate::daemon) async fn answer_advise(
    request: &Arc<RequestContext>,
    params: AdviseParams,
) -> RpcResult<AdviseResult> {
    let began = Instant::now();
    let default_budget = if params.occasion == Occasion::SessionStart { BRIEF_BUDGET } else { BUDGET };
    let budget = params.budget.unwrap_or(default_budget);
    let within = params.within_ms.map_or(DEFAULT_TIME_LIMIT, Duration::from_millis);
    let session = session_key(&params)?;
    let call = AdviseCall { until: began + within.min(10 * DEFAULT_TIME_LIMIT), budget, session, params };
    if let Some(receipt) = call.params.receipt.clone() {
        return call.record_receipt(request, receipt).await;
    }
    let result = match call.params.occasion {
        Occasion::SessionStart => call.answer_session_start(request).await,
        Occasion::Prompt => call.answer_prompt(request).await,
        Occasion::BeforeEdit => call.answer_before_edit(request).await,
    };
    let result = match result {
        Err(error) if UNREADABLE_CODES.contains(&error.code) => {
            match request.caveats.find_caveat(AnswerPart::Memories) {
                Some(why) => call.deliver_unread_note(request, UnreadPart::Memories(why)).await?,
                None => call.deliver_unread_note(request, UnreadPart::Other(error.message)).await?,
            }
        }
        result => result?,
    };
    Ok(AdviseResult { budget, took_ms: began.elapsed().as_secs_f64() * 1_000.0, ..result })
}

fn session_key(params: &AdviseParams) -> RpcResult<Option<SessionKey>> {
    let name = params.session.as_deref().filter(|name| !name.is_empty());
    match name.map(str::len) {
        Some(length) if length > MAX_SESSION => {
            Err(bad_params_error(format!("session: {length} bytes, over {MAX_SESSION}")))
        }
        _ => Ok(name.map(SessionKey::from_name)),
    }
}

impl AdviseCall {
    async fn answer_session_start(&self, request: &Arc<RequestContext>) -> RpcResult<AdviseResult> {
        let beginning = self.params.beginning;
        if beginning == Beginning::Fork {
            return Ok(silent_result("the copy of a session already has the advice of the session"));
        }
        locate_worktree(request, &self.params.cwd, self.until).await?;
        if self.begin_session(request).await? {
            return Ok(silent_result("this session has the brief already"));
        }
        let unread = request.caveats.find_caveat(AnswerPart::Memories);
        let budget = Some(advice_note::compute_brief_budget(self.budget, unread.as_deref()));
        let params = BriefParams { cwd: self.params.cwd.clone(), budget, sync: FreshnessLevel::Fs };
        let map_until = self.until.checked_sub(TIME_AFTER_MAP).unwrap_or_else(Instant::now);
        let wanted =
            BriefOptions { until: self.until, map_until: Some(map_until), memories: unread.is_none() };
        let brief = briefing::build_brief(request, params, wanted).await?;
        let Some(note) = AdviceNote::from_brief(&brief.text, self.budget, unread.as_deref()) else {
            return Ok(silent_result("nothing to show, or the budget is too small for it"));
        };
        let caveats = Caveats { fresh: brief.fresh, reason: brief.reason, notice: None };
        Ok(AdviseResult { caveats, ..self.deliver(request, note, true).await? })
    }

    /// Delivers a note that a part of the answer could not be read, and no memories.
    async fn deliver_unread_note(
        &self,
        request: &Arc<RequestContext>,
        why: UnreadPart,
    ) -> RpcResult<AdviseResult> {
        match &why {
            UnreadPart::Memories(why) => request.caveats.note_caveat(AnswerPart::Memories, why.clone()),
            UnreadPart::Other(why) => request.caveats.note_caveat(AnswerPart::Code, why.clone()),
        }
        let note = AdviceNote::from_unread(&why, &self.list_delivered(request).await?, self.budget);
        self.deliver(request, note, false).await
    }

    /// Records an answer as delivered: a receipt means that the caller has passed the answer on to the agent.
    async fn record_receipt(
        &self,
        request: &Arc<RequestContext>,
        receipt: String,
    ) -> RpcResult<AdviseResult> {
        locate_worktree(request, &self.params.cwd, self.until).await?;
        run_blocking(request, move |request| {
            request.shared.delivered_advice.record_receipt(&receipt);
            Ok(())
        })
        .await?;
        Ok(silent_result("the receipt was recorded"))
    }

    /// Forgets the advice that the agent no longer remembers; returns whether the session still has the brief.
    async fn begin_session(&self, request: &Arc<RequestContext>) -> RpcResult<bool> {
        let (session, beginning) = (self.session, self.params.beginning);
        let explains = self.params.explain;
        run_blocking(request, move |request| {
            Ok(!explains
                && session
                    .is_some_and(|session| request.shared.delivered_advice.begin_session(session, beginning)))
        })
        .await
    }

    async fn answer_before_edit(&self, request: &Arc<RequestContext>) -> RpcResult<AdviseResult> {
        let cwd = &self.params.cwd;
        let layout = locate_worktree(request, cwd, self.until).await?;
        let paths = self.params.paths.iter().take(MOST_PATHS).cloned().collect();
        let files = find_edited_files(request, &layout, cwd, paths).await?;
        if files.is_empty() {
            return Ok(silent_result("no file of this repository is named"));
        }
        if let Some(why) = request.caveats.find_caveat(AnswerPart::Memories) {
            return self.deliver_unread_note(request, UnreadPart::Memories(why)).await;
        }
        let mut found: Vec<WhyMemory> = Vec::new();
        for EditedFile { root, path } in &files {
            let (memories, unsure) = memories_for_path(request, root, path, &[], self.until).await?;
            note_uncertain_states(&request.caveats, unsure);
            found.extend(memories);
        }
        // The sort is stable: memories with the same state keep their order.
        found.sort_by_key(|memory| match memory.state {
            Some(AnchorState::Drifted) => 0,
            Some(AnchorState::Orphaned) => 1,
            None => 2,
            Some(AnchorState::Fresh) => 3,
        });
        let ids: Vec<String> = found.iter().map(|memory| memory.id.clone()).collect();
        let memories = find_by_ids(request, ids).await?.into_iter();
        let memories: Vec<_> = memories
            .map(|memory| {
                let state = found.iter().find(|found| found.id == memory.id).and_then(|found| found.state);
                (Memory { state, ..memory }, None)
            })
            .collect();
        if memories.is_empty() {
            return Ok(silent_result("no memory is about these files"));
        }
        let delivered = self.list_delivered(request).await?;
        self.deliver(request, AdviceNote::from_memories(memories, &delivered, self.budget), false).await
    }

    /// Returns the ids of the advice that the session was given. Once memories can be read, forgets that the session had the note
    /// about unreadable memories, so that a later failure is reported again.
    async fn list_delivered(&self, request: &Arc<RequestContext>) -> RpcResult<Vec<String>> {
        let Some(session) = self.session.filter(|_| !self.params.explain) else { return Ok(Vec::new()) };
        let are_read = [AnswerPart::Memories, AnswerPart::Code]
            .into_iter()
            .all(|part| request.caveats.find_caveat(part).is_none());
        run_blocking(request, move |request| {
            if are_read {
                request
                    .shared
                    .delivered_advice
                    .forget_ids(session, |id| id.starts_with(advice_note::UNREAD_ID_PREFIX));
            }
            Ok(request.shared.delivered_advice.list_delivered_ids(session))
        })
        .await
    }

    /// Returns a note as an answer, and records the note as delivered: at once, or when the caller confirms the delivery with a
    /// receipt. After the deadline of the call the answer is empty, because the caller no longer waits.
    async fn deliver(
        &self,
        request: &Arc<RequestContext>,
        note: AdviceNote,
        is_brief: bool,
    ) -> RpcResult<AdviseResult> {
        if note.text.is_empty() {
            let reason = note.why_empty();
            return Ok(AdviseResult {
                items: self.select_visible_items(note.items),
                ..silent_result(&reason)
            });
        }
        if Instant::now() >= self.until {
            return Ok(silent_result("the answer took too long"));
        }
        let session = self.session.filter(|_| !self.params.explain);
        let (ids, gives_receipt) = (note.list_delivered_ids(), self.params.gives_receipt);
        let receipt = run_blocking(request, move |request| {
            let Some(session) = session else { return Ok(None) };
            if gives_receipt {
                return Ok(Some(request.shared.delivered_advice.issue_receipt(session, ids, is_brief)));
            }
            request.shared.delivered_advice.add_ids(session, ids, is_brief);
            Ok(None)
        })
        .await?;
        let (tokens, items) = (advice_note::count_tokens(&note.text), self.select_visible_items(note.items));
        Ok(AdviseResult { text: note.text, tokens, items, receipt, ..AdviseResult::default() })
    }

    /// Returns all items if the caller asked for an explanation, else those that were delivered, without their evidence.
    fn select_visible_items(&self, mut items: Vec<Advice>) -> Vec<Advice> {
        if !self.params.explain {
            items.retain(|item| item.told);
            items.iter_mut().for_each(|item| item.evidence.clear());
        }
        items
    }
}

fn silent_result(reason: &str) -> AdviseResult {
    AdviseResult { silent: Some(reason.to_owned()), ..AdviseResult::default() }
}
