//! Answers the methods about the language model.

use std::path::Path;
use std::sync::Arc;

use memod_base::paths::CallerDir;
use memod_base::types::format_rfc3339;
use memod_engine::errors::RpcResult;
use memod_llm::Prompt;
use memod_llm::tasks::distil::{self, MemoryCandidate};
use memod_llm::tasks::judge::{self, PairJudgement, Verdict};
use memod_llm::tasks::{expand, suggest, summarise};
use memod_memory_db::MemoryRecord;
use memod_proto::memory::DedupeParams;
use memod_proto::{
    CwdParams, LlmCandidate, LlmCompareParams, LlmCompareResult, LlmDistilParams, LlmDistilResult,
    LlmExpandParams, LlmExpandResult, LlmPair, LlmRequest, LlmStatusResult, LlmSuggestParams,
    LlmSuggestResult, LlmSummariseParams, LlmSummariseResult, LlmUse, SearchParams,
};

use crate::daemon::memories::finding::dedupe::find_near_pairs;
use crate::daemon::memories::finding::queries::read_tag_names;
use crate::daemon::memories::finding::search_scope::SearchScope;
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::llm_settings::read_settings;
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::request::worktree_location::locate_worktree;
use crate::daemon::search::query_expansion::words_to_send;
use crate::daemon::shared::language_model::{ModelQueue, current_day};

/// Longest text that a caller may give, bytes; the prompt contains only a part of a long text.
const MOST_TEXT: usize = 1 << 20;
/// Default number of pairs of memories that are compared.
const PAIRS: usize = 10;
/// Maximum number of pairs that a request may ask for.
const MOST_PAIRS: usize = 20;

/// The outcome of a request to the model.
struct ModelOutcome<T> {
    /// The checked proposal in the answer of the model.
    proposed: Option<T>,
    /// The requests that a dry run would send.
    requests: Vec<LlmRequest>,
    /// Why there is no proposal.
    problem: Option<String>,
}

impl<T> ModelOutcome<T> {
    fn failed(why: &impl ToString) -> Self {
        Self { proposed: None, requests: Vec::new(), problem: Some(why.to_string()) }
    }
}

/// Asks the model and parses the answer with `read`; in a dry run, returns the request that would be sent.
async fn ask_model<T>(
    request: &Arc<RequestContext>,
    is_dry: bool,
    prompt: impl FnOnce(Option<&str>) -> Prompt,
    read: impl FnOnce(&str) -> Result<T, &'static str>,
) -> RpcResult<ModelOutcome<T>> {
    let (llm, endpoint) = read_settings(request).await?;
    let endpoint = match endpoint {
        Ok(endpoint) => endpoint,
        Err(why) => return Ok(ModelOutcome::failed(&why)),
    };
    let prompt = prompt(endpoint.secret());
    if is_dry {
        let body = request.shared.llm.render_body(&endpoint, &prompt);
        let shown = prompt.to_llm_request(endpoint.display_url(), &endpoint.model, body);
        return Ok(ModelOutcome { proposed: None, requests: vec![shown], problem: None });
    }
    let answer = request.shared.llm.ask(&llm, endpoint, prompt, ModelQueue::Task).await;
    Ok(match answer.and_then(|answer| read(&answer).map_err(str::to_owned)) {
        Ok(proposed) => ModelOutcome { proposed: Some(proposed), requests: Vec::new(), problem: None },
        Err(why) => ModelOutcome::failed(&why),
    })
}

/// Returns an error unless the directory of a caller is in this repository.
async fn check_caller(request: &Arc<RequestContext>, cwd: &str) -> RpcResult<()> {
    locate_worktree(request, cwd, request_deadline(request, None)).await.map(drop)
}

/// Answers `llm.status` with the settings of the language model, and the tokens spent today.
pub(super) async fn answer_status(
    request: &Arc<RequestContext>,
    params: CwdParams,
) -> RpcResult<LlmStatusResult> {
    check_caller(request, &params.cwd).await?;
    let (llm, endpoint) = read_settings(request).await?;
    let day = current_day();
    let of_day = day.clone();
    let spent =
        run_blocking(request, move |request| Ok(request.shared.llm.spending.read_day(&of_day))).await?;
    let (problem, hint) = match (&endpoint, &spent) {
        (Err(why), _) => (Some(why.to_string()), Some(why.hint().to_owned())),
        (_, Err(error)) => (Some(error.to_string()), None),
        (Ok(_), Ok(_)) => (None, None),
    };
    let spent = spent.unwrap_or_default();
    let last_error = request.shared.llm.last_error();
    Ok(LlmStatusResult {
        problem,
        hint,
        url: endpoint
            .as_ref()
            .map_or_else(|_| display_url(&llm.url), |endpoint| endpoint.display_url().to_owned()),
        model: llm.model,
        key_env: llm.key_env,
        day,
        tokens: spent.tokens,
        tokens_a_day: llm.tokens_a_day,
        requests: spent.requests,
        uses: spent.by.into_iter().map(|(purpose, tokens)| LlmUse { purpose, tokens }).collect(),
        file: request.shared.llm.spending.file().display().to_string(),
        last_error_at: last_error.as_ref().map(|(_, at)| format_rfc3339(*at)),
        last_error: last_error.map(|(why, _)| why),
    })
}

/// Returns a URL without the parts that may contain a password, for display.
fn display_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.find("://").map_or(("", url), |at| url.split_at(at + 3));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}{host}")
}

/// Answers `llm.expand`: asks for other words of a query, or returns the request that a search would send.
pub(super) async fn answer_expand(
    request: &Arc<RequestContext>,
    params: LlmExpandParams,
) -> RpcResult<LlmExpandResult> {
    let layout = locate_worktree(request, &params.cwd, request_deadline(request, None)).await?;
    let dir = CallerDir::new(&layout, Path::new(&params.cwd));
    let search = SearchParams { cwd: params.cwd.clone(), query: params.query, ..SearchParams::default() };
    let query = SearchScope::from_params(&search, &dir)?.query;
    let outcome = match words_to_send(&query) {
        Ok(words) => {
            ask_model(
                request,
                params.dry_run,
                |key| expand::build_prompt(words, key),
                |answer| expand::read_words(answer, words),
            )
            .await?
        }
        Err(why) => ModelOutcome::failed(&why),
    };
    let ModelOutcome { proposed, requests, problem } = outcome;
    Ok(LlmExpandResult { words: proposed.unwrap_or_default(), requests, problem })
}

/// Answers `llm.summarise`: asks for a summary of a brief.
pub(super) async fn answer_summarise(
    request: &Arc<RequestContext>,
    params: LlmSummariseParams,
) -> RpcResult<LlmSummariseResult> {
    check_caller(request, &params.cwd).await?;
    check_size("text", &params.text, MOST_TEXT)?;
    let ModelOutcome { proposed: summary, requests, problem } = ask_model(
        request,
        params.dry_run,
        |key| summarise::build_prompt(&params.text, key),
        summarise::read_summary,
    )
    .await?;
    Ok(LlmSummariseResult { summary, requests, problem })
}

/// Answers `llm.suggest`: asks for a title and tags of a memory.
pub(super) async fn answer_suggest(
    request: &Arc<RequestContext>,
    params: LlmSuggestParams,
) -> RpcResult<LlmSuggestResult> {
    check_caller(request, &params.cwd).await?;
    check_size("content", &params.content, MOST_TEXT)?;
    let tags = read_tag_names(request, suggest::MAX_KNOWN_TAGS).await.unwrap_or_default(); // known tags are optional
    let ModelOutcome { proposed, requests, problem } = ask_model(
        request,
        params.dry_run,
        |key| suggest::build_prompt(&params.content, &tags, key),
        suggest::read_suggestion,
    )
    .await?;
    let (title, tags) = proposed.map(|found| (found.title, found.tags)).unwrap_or_default();
    Ok(LlmSuggestResult { title, tags, requests, problem, ..LlmSuggestResult::default() })
}

/// Answers `llm.compare`: asks how memories with similar vectors are related.
pub(super) async fn answer_compare(
    request: &Arc<RequestContext>,
    params: LlmCompareParams,
) -> RpcResult<LlmCompareResult> {
    check_caller(request, &params.cwd).await?;
    let limit = params.limit.unwrap_or(PAIRS);
    if !(1..=MOST_PAIRS).contains(&limit) {
        return Err(bad_params_error(format!("limit: {limit} is not between 1 and {MOST_PAIRS}")));
    }
    let LlmCompareParams { container, threshold, dry_run, .. } = params;
    let near = DedupeParams { container, threshold, ..DedupeParams::default() };
    let near = find_near_pairs(request, near, limit).await?;
    let mut pairs: Vec<_> = near
        .iter()
        .map(|(left, right, cosine)| LlmPair {
            left: protocol_values::to_brief(left),
            right: protocol_values::to_brief(right),
            cosine: *cosine,
            ..LlmPair::default()
        })
        .collect();
    if pairs.is_empty() {
        return Ok(LlmCompareResult::default());
    }
    let texts: Vec<_> = near.iter().map(|(left, right, _)| (titled_text(left), titled_text(right))).collect();
    let outcome = ask_model(
        request,
        dry_run,
        |key| judge::build_prompt(&texts, key),
        |answer| judge::read_judgements(answer, texts.len()),
    )
    .await?;
    outcome.proposed.into_iter().flatten().for_each(|judged| propose_command(&mut pairs, judged));
    Ok(LlmCompareResult {
        pairs,
        requests: outcome.requests,
        problem: outcome.problem,
        ..LlmCompareResult::default()
    })
}

fn titled_text(record: &MemoryRecord) -> String {
    format!("{} {}", record.title.as_deref().unwrap_or_default(), record.content)
}

/// Adds the verdict of the model to a pair, and the command that would apply the verdict. Of two contradicting memories, the
/// command keeps the newer one.
fn propose_command(pairs: &mut [LlmPair], judged: PairJudgement) {
    let Some(pair) = pairs.get_mut(judged.pair) else { return };
    let (left, right) = (&pair.left.id, &pair.right.id);
    pair.command = match (judged.verdict, judged.second_is_better) {
        (Verdict::Same, true) => Some(format!("memo link {right} {left} --kind supersedes")),
        (Verdict::Same, false) => Some(format!("memo link {left} {right} --kind supersedes")),
        (Verdict::Contradict, _) => Some(format!("memo resolve {right} {left}")),
        (Verdict::Neither, _) => None,
    };
    pair.verdict = Some(judged.verdict.as_str().to_owned());
    pair.reason = judged.reason;
}

/// Answers `llm.distil`: asks which memories should be stored from a part of a transcript.
pub(super) async fn answer_distil(
    request: &Arc<RequestContext>,
    params: LlmDistilParams,
) -> RpcResult<LlmDistilResult> {
    check_caller(request, &params.cwd).await?;
    check_size("text", &params.text, distil::MAX_TEXT_BYTES)?;
    let ModelOutcome { proposed, requests, problem } = ask_model(
        request,
        params.dry_run,
        |key| distil::build_prompt(&params.text, key),
        distil::read_candidates,
    )
    .await?;
    let memories = proposed
        .into_iter()
        .flatten()
        .map(|MemoryCandidate { content, title, tags }| LlmCandidate { content, title, tags })
        .collect();
    Ok(LlmDistilResult { memories, requests, problem })
}

fn check_size(name: &str, text: &str, most: usize) -> RpcResult<()> {
    match text.trim().is_empty() || text.len() > most {
        true => Err(bad_params_error(format!("{name}: a text of 1 to {most} bytes is needed"))),
        false => Ok(()),
    }
}
