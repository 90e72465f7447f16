//! Answers the methods about the language model.

use std::path::Path;
use std::sync::Arc;

use memod_base::paths::CallerDir;
use memod_base::types::rfc3339;
use memod_engine::errors::RpcResult;
use memod_llm::Prompt;
use memod_llm::tasks::distil::{self, MemoryCandidate};
use memod_llm::tasks::judge::{self, PairJudgement, Verdict};
use memod_llm::tasks::{expand, suggest, summarise};
use memod_memory_db::Record;
use memod_proto::memory::{Caller, DedupeParams};
use memod_proto::{
    CwdParams, LlmCandidate, LlmCompareParams, LlmCompareResult, LlmDistilParams, LlmDistilResult,
    LlmExpandParams, LlmExpandResult, LlmPair, LlmRequest, LlmStatusResult, LlmSuggestParams,
    LlmSuggestResult, LlmSummariseParams, LlmSummariseResult, LlmUse, SearchParams,
};

use crate::daemon::language_model::llm_settings::settings;
use crate::daemon::language_model::{Lane, today};
use crate::daemon::memories::dedupe::near_pairs;
use crate::daemon::memories::queries::tag_names;
use crate::daemon::memories::search_scope::Scope;
use crate::daemon::memories::show;
use crate::daemon::memories::transaction::locate;
use crate::daemon::request::blocking;
use crate::daemon::request::error::bad_params;
use crate::daemon::search::expansion::words_to_send;
use crate::daemon::shared::Shared;

/// Longest text of a request, bytes; less of it is sent.
const MOST_TEXT: usize = 1 << 20;
/// Pairs of memories that are compared.
const PAIRS: usize = 10;
/// Most of them.
const MOST_PAIRS: usize = 20;

/// What became of a request to the model.
struct Outcome<T> {
    /// What its answer proposes, once it is checked.
    proposed: Option<T>,
    /// What would be sent, if it is only shown.
    requests: Vec<LlmRequest>,
    /// Why there is nothing.
    problem: Option<String>,
}

impl<T> Outcome<T> {
    fn failed(why: &impl ToString) -> Self {
        Self { proposed: None, requests: Vec::new(), problem: Some(why.to_string()) }
    }
}

/// Asks the model and reads its answer, or shows what would be sent.
async fn ask<T>(
    shared: &Arc<Shared>,
    is_dry: bool,
    prompt: impl FnOnce(Option<&str>) -> Prompt,
    read: impl FnOnce(&str) -> Result<T, &'static str>,
) -> RpcResult<Outcome<T>> {
    let (llm, endpoint) = settings(shared).await?;
    let endpoint = match endpoint {
        Ok(endpoint) => endpoint,
        Err(why) => return Ok(Outcome::failed(&why)),
    };
    let prompt = prompt(endpoint.secret());
    if is_dry {
        let body = shared.llm.body(&endpoint, &prompt);
        let shown = prompt.to_llm_request(endpoint.display_url(), &endpoint.model, body);
        return Ok(Outcome { proposed: None, requests: vec![shown], problem: None });
    }
    let answer = shared.llm.ask(&llm, endpoint, prompt, Lane::Task).await;
    Ok(match answer.and_then(|answer| read(&answer).map_err(str::to_owned)) {
        Ok(proposed) => Outcome { proposed: Some(proposed), requests: Vec::new(), problem: None },
        Err(why) => Outcome::failed(&why),
    })
}

/// Checks that a caller is in this repository.
async fn check_caller(shared: &Arc<Shared>, cwd: &str) -> RpcResult<()> {
    locate(shared, &Caller { cwd: cwd.to_owned(), ..Caller::default() }).await.map(drop)
}

/// Returns what is set, and what was spent today.
pub(super) async fn status(shared: &Arc<Shared>, params: CwdParams) -> RpcResult<LlmStatusResult> {
    check_caller(shared, &params.cwd).await?;
    let (llm, endpoint) = settings(shared).await?;
    let day = today();
    let of_day = day.clone();
    let spent = blocking(shared, move |shared| Ok(shared.llm.spending.read_day(&of_day))).await?;
    let (problem, hint) = match (&endpoint, &spent) {
        (Err(why), _) => (Some(why.to_string()), Some(why.hint().to_owned())),
        (_, Err(error)) => (Some(error.to_string()), None),
        (Ok(_), Ok(_)) => (None, None),
    };
    let spent = spent.unwrap_or_default();
    let last_error = shared.llm.last_error();
    Ok(LlmStatusResult {
        problem,
        hint,
        url: endpoint.as_ref().map_or_else(|_| shown(&llm.url), |endpoint| endpoint.display_url().to_owned()),
        model: llm.model,
        key_env: llm.key_env,
        day,
        tokens: spent.tokens,
        tokens_a_day: llm.tokens_a_day,
        requests: spent.requests,
        uses: spent.by.into_iter().map(|(purpose, tokens)| LlmUse { purpose, tokens }).collect(),
        file: shared.llm.spending.file().display().to_string(),
        last_error_at: last_error.as_ref().map(|(_, at)| rfc3339(*at)),
        last_error: last_error.map(|(why, _)| why),
    })
}

/// Returns an address that cannot be used, without what may be a password.
fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.find("://").map_or(("", url), |at| url.split_at(at + 3));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}{host}")
}

/// Asks for other words, or returns what a search would send.
pub(super) async fn expand(shared: &Arc<Shared>, params: LlmExpandParams) -> RpcResult<LlmExpandResult> {
    let caller = Caller { cwd: params.cwd.clone(), ..Caller::default() };
    let layout = locate(shared, &caller).await?;
    let dir = CallerDir::new(&layout, Path::new(&params.cwd));
    let search = SearchParams { cwd: params.cwd.clone(), query: params.query, ..SearchParams::default() };
    let query = Scope::of(&search, &dir)?.query;
    let outcome = match words_to_send(&query) {
        Ok(words) => {
            let read = |answer: &str| expand::read_words(answer, words);
            ask(shared, params.dry_run, |key| expand::build_prompt(words, key), read).await?
        }
        Err(why) => Outcome::failed(&why),
    };
    let Outcome { proposed, requests, problem } = outcome;
    Ok(LlmExpandResult { words: proposed.unwrap_or_default(), requests, problem })
}

/// Asks for a summary of a brief.
pub(super) async fn summarise(
    shared: &Arc<Shared>,
    params: LlmSummariseParams,
) -> RpcResult<LlmSummariseResult> {
    check_caller(shared, &params.cwd).await?;
    check_size("text", &params.text, MOST_TEXT)?;
    let prompt = |key: Option<&str>| summarise::build_prompt(&params.text, key);
    let Outcome { proposed: summary, requests, problem } =
        ask(shared, params.dry_run, prompt, summarise::read_summary).await?;
    Ok(LlmSummariseResult { summary, requests, problem })
}

/// Asks for a title and tags.
pub(super) async fn suggest(shared: &Arc<Shared>, params: LlmSuggestParams) -> RpcResult<LlmSuggestResult> {
    check_caller(shared, &params.cwd).await?;
    check_size("content", &params.content, MOST_TEXT)?;
    let tags = tag_names(shared, suggest::MOST_KNOWN).await.unwrap_or_default(); // it does without
    let prompt = |key: Option<&str>| suggest::build_prompt(&params.content, &tags, key);
    let Outcome { proposed, requests, problem } =
        ask(shared, params.dry_run, prompt, suggest::read_suggestion).await?;
    let (title, tags) = proposed.map(|found| (found.title, found.tags)).unwrap_or_default();
    Ok(LlmSuggestResult { title, tags, requests, problem, ..LlmSuggestResult::default() })
}

/// Asks how memories that are near each other are related.
pub(super) async fn compare(shared: &Arc<Shared>, params: LlmCompareParams) -> RpcResult<LlmCompareResult> {
    check_caller(shared, &params.cwd).await?;
    let limit = params.limit.unwrap_or(PAIRS);
    if !(1..=MOST_PAIRS).contains(&limit) {
        return Err(bad_params(format!("limit: {limit} is not between 1 and {MOST_PAIRS}")));
    }
    let LlmCompareParams { container, threshold, dry_run, .. } = params;
    let near = DedupeParams { container, threshold, ..DedupeParams::default() };
    let near = near_pairs(shared, near, limit).await?;
    let pair = |(left, right, cosine): &(Record, Record, f64)| LlmPair {
        left: show::brief(left),
        right: show::brief(right),
        cosine: *cosine,
        ..LlmPair::default()
    };
    let mut pairs: Vec<_> = near.iter().map(pair).collect();
    if pairs.is_empty() {
        return Ok(LlmCompareResult::default());
    }
    let text =
        |record: &Record| format!("{} {}", record.title.as_deref().unwrap_or_default(), record.content);
    let texts: Vec<_> = near.iter().map(|(left, right, _)| (text(left), text(right))).collect();
    let read = |answer: &str| judge::read_judgements(answer, texts.len());
    let outcome = ask(shared, dry_run, |key| judge::build_prompt(&texts, key), read).await?;
    outcome.proposed.into_iter().flatten().for_each(|judged| propose(&mut pairs, judged));
    Ok(LlmCompareResult {
        pairs,
        requests: outcome.requests,
        problem: outcome.problem,
        ..LlmCompareResult::default()
    })
}

/// Adds what the model says of a pair, and the command that would do it. The newer one of a contradiction is proposed to hold.
fn propose(pairs: &mut [LlmPair], judged: PairJudgement) {
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

/// Asks which memories a part of a transcript is worth.
pub(super) async fn distil(shared: &Arc<Shared>, params: LlmDistilParams) -> RpcResult<LlmDistilResult> {
    check_caller(shared, &params.cwd).await?;
    check_size("text", &params.text, distil::MOST_TEXT)?;
    let prompt = |key: Option<&str>| distil::build_prompt(&params.text, key);
    let Outcome { proposed, requests, problem } =
        ask(shared, params.dry_run, prompt, distil::read_candidates).await?;
    let candidate = |MemoryCandidate { content, title, tags }| LlmCandidate { content, title, tags };
    let memories = proposed.into_iter().flatten().map(candidate).collect();
    Ok(LlmDistilResult { memories, requests, problem })
}

fn check_size(name: &str, text: &str, most: usize) -> RpcResult<()> {
    match text.trim().is_empty() || text.len() > most {
        true => Err(bad_params(format!("{name}: a text of 1 to {most} bytes is needed"))),
        false => Ok(()),
    }
}
