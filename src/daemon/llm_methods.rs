//! Answers the methods about the language model.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::error::{RpcResult, bad_params};
use super::expansion::words_to_send;
use super::language_model::{Lane, today};
use super::memories::call as memories;
use super::memories::dedupe::near_pairs;
use super::memories::show;
use super::memories::transaction::locate;
use super::request::blocking;
use super::search_scope::Scope;
use super::shared::Shared;
use crate::config::{self, Config, Llm};
use crate::llm::tasks::distil::{self, Candidate};
use crate::llm::tasks::judge::{self, Judged, Verdict};
use crate::llm::tasks::{expand, suggest, summarise};
use crate::llm::{Endpoint, NoEndpoint, Prompt};
use crate::paths::CallerDir;
use crate::proto::memory::{Caller, DedupeParams, TallyResult};
use crate::proto::{
    CwdParams, LlmCandidate, LlmCompareParams, LlmCompareResult, LlmDistilParams, LlmDistilResult,
    LlmExpandParams, LlmExpandResult, LlmPair, LlmRequest, LlmStatusResult, LlmSuggestParams,
    LlmSuggestResult, LlmSummariseParams, LlmSummariseResult, LlmUse, SearchParams,
};
use crate::store::Record;
use crate::types::rfc3339;

/// Longest text of a request, bytes; less of it is sent.
const MOST_TEXT: usize = 1 << 20;
/// Pairs of memories that are compared.
const PAIRS: usize = 10;
/// Most of them.
const MOST_PAIRS: usize = 20;

/// The settings as they are now, and the server that may be asked.
pub(super) type Settings = (Llm, Result<Endpoint, NoEndpoint>);

/// Reads the settings: they may have been changed to switch the model off.
pub(super) async fn settings(shared: &Arc<Shared>) -> RpcResult<Settings> {
    blocking(shared, |shared| {
        Ok(match config::load(Some(&shared.layout)) {
            Ok(loaded) => {
                let llm = loaded.config.llm;
                let endpoint = Endpoint::of(&llm, |name| std::env::var(name).ok());
                (llm, endpoint)
            }
            Err(error) => (Config::default().llm, Err(NoEndpoint::Unreadable(error.to_string()))),
        })
    })
    .await
}

/// A request to the model that is made, or only shown.
pub(super) enum Asked {
    /// What the model wrote.
    Answered(String),
    /// What would be sent.
    Shown(LlmRequest),
}

/// Asks for a task, or returns what would be sent.
///
/// # Errors
/// Why there is no answer.
pub(super) async fn ask(
    shared: &Arc<Shared>,
    (llm, endpoint): &Settings,
    is_dry: bool,
    prompt: impl FnOnce(Option<&str>) -> Prompt,
) -> Result<Asked, String> {
    let endpoint = endpoint.as_ref().map_err(ToString::to_string)?;
    let prompt = prompt(endpoint.secret());
    if is_dry {
        let body = shared.llm.body(endpoint, &prompt);
        return Ok(Asked::Shown(prompt.shown(endpoint.shown(), &endpoint.model, body)));
    }
    shared.llm.ask(llm, endpoint.clone(), prompt, Lane::Task).await.map(Asked::Answered)
}

/// Checks that a caller is in this repository.
pub(super) async fn check_caller(shared: &Arc<Shared>, cwd: &str) -> RpcResult<()> {
    locate(shared, &Caller { cwd: cwd.to_owned(), ..Caller::default() }).await.map(drop)
}

/// Returns what is set, and what was spent today.
pub(super) async fn status(shared: &Arc<Shared>, params: CwdParams) -> RpcResult<LlmStatusResult> {
    check_caller(shared, &params.cwd).await?;
    let (llm, endpoint) = settings(shared).await?;
    let day = today();
    let of_day = day.clone();
    let spent = blocking(shared, move |shared| Ok(shared.llm.spending.of(&of_day))).await?;
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
        url: endpoint.as_ref().map_or_else(|_| shown(&llm.url), |endpoint| endpoint.shown().to_owned()),
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
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => url.to_owned(),
    }
}

/// Asks for other words, or returns what a search would send.
pub(super) async fn expand(shared: &Arc<Shared>, params: LlmExpandParams) -> RpcResult<LlmExpandResult> {
    let caller = Caller { cwd: params.cwd.clone(), ..Caller::default() };
    let layout = locate(shared, &caller).await?;
    let dir = CallerDir::new(&layout, Path::new(&params.cwd));
    let search = SearchParams { cwd: params.cwd.clone(), query: params.query, ..SearchParams::default() };
    let query = Scope::of(&search, &dir)?.query;
    let settings = settings(shared).await?;
    let mut result = LlmExpandResult::default();
    let words = match words_to_send(&query) {
        Ok(words) => words,
        Err(why) => return Ok(LlmExpandResult { problem: Some(why), ..result }),
    };
    let asked = ask(shared, &settings, params.dry_run, |key| expand::prompt(words, key)).await;
    match checked(asked, |answer| expand::words(answer, words)) {
        Ok(Checked::Shown(request)) => result.requests.push(request),
        Ok(Checked::Proposed(words)) => result.words = words,
        Err(why) => result.problem = Some(why),
    }
    Ok(result)
}

/// Asks for a summary of a brief.
pub(super) async fn summarise(
    shared: &Arc<Shared>,
    params: LlmSummariseParams,
) -> RpcResult<LlmSummariseResult> {
    check_caller(shared, &params.cwd).await?;
    check_size("text", &params.text, MOST_TEXT)?;
    let settings = settings(shared).await?;
    let asked = ask(shared, &settings, params.dry_run, |key| summarise::prompt(&params.text, key)).await;
    let mut result = LlmSummariseResult::default();
    match checked(asked, summarise::summary) {
        Ok(Checked::Shown(request)) => result.requests.push(request),
        Ok(Checked::Proposed(summary)) => result.summary = Some(summary),
        Err(why) => result.problem = Some(why),
    }
    Ok(result)
}

/// Asks for a title and tags.
pub(super) async fn suggest(shared: &Arc<Shared>, params: LlmSuggestParams) -> RpcResult<LlmSuggestResult> {
    check_caller(shared, &params.cwd).await?;
    check_size("content", &params.content, MOST_TEXT)?;
    let tags = memories::call(shared, "memory.tags", json!({ "cwd": params.cwd })).await?;
    let tags: TallyResult = serde_json::from_value(tags).unwrap_or_default();
    let tags: Vec<String> =
        tags.names.into_iter().take(suggest::MOST_KNOWN).map(|tally| tally.name).collect();
    let settings = settings(shared).await?;
    let prompt = |key: Option<&str>| suggest::prompt(&params.content, &tags, key);
    let asked = ask(shared, &settings, params.dry_run, prompt).await;
    let mut result = LlmSuggestResult::default();
    match checked(asked, suggest::suggestion) {
        Ok(Checked::Shown(request)) => result.requests.push(request),
        Ok(Checked::Proposed(found)) => (result.title, result.tags) = (found.title, found.tags),
        Err(why) => result.problem = Some(why),
    }
    Ok(result)
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
    let mut result =
        LlmCompareResult { pairs: near.iter().map(pair).collect(), ..LlmCompareResult::default() };
    if near.is_empty() {
        return Ok(result);
    }
    let text =
        |record: &Record| format!("{} {}", record.title.as_deref().unwrap_or_default(), record.content);
    let texts: Vec<_> = near.iter().map(|(left, right, _)| (text(left), text(right))).collect();
    let settings = settings(shared).await?;
    let asked = ask(shared, &settings, dry_run, |key| judge::prompt(&texts, key)).await;
    match checked(asked, |answer| judge::judged(answer, texts.len())) {
        Ok(Checked::Shown(request)) => result.requests.push(request),
        Ok(Checked::Proposed(all)) => all.into_iter().for_each(|judged| propose(&mut result.pairs, judged)),
        Err(why) => result.problem = Some(why),
    }
    Ok(result)
}

/// Adds what the model says of a pair, and the command that would do it. The newer one of a contradiction is proposed to hold.
fn propose(pairs: &mut [LlmPair], judged: Judged) {
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
    let settings = settings(shared).await?;
    let asked = ask(shared, &settings, params.dry_run, |key| distil::prompt(&params.text, key)).await;
    let mut result = LlmDistilResult::default();
    let candidate = |found: Candidate| {
        let Candidate { content, title, tags } = found;
        LlmCandidate { content, title, tags }
    };
    match checked(asked, distil::candidates) {
        Ok(Checked::Shown(request)) => result.requests.push(request),
        Ok(Checked::Proposed(all)) => result.memories = all.into_iter().map(candidate).collect(),
        Err(why) => result.problem = Some(why),
    }
    Ok(result)
}

/// A checked answer, or what would be sent.
enum Checked<T> {
    Proposed(T),
    Shown(LlmRequest),
}

fn checked<T>(
    asked: Result<Asked, String>,
    read: impl FnOnce(&str) -> Result<T, &'static str>,
) -> Result<Checked<T>, String> {
    match asked? {
        Asked::Shown(request) => Ok(Checked::Shown(request)),
        Asked::Answered(answer) => read(&answer).map(Checked::Proposed).map_err(str::to_owned),
    }
}

fn check_size(name: &str, text: &str, most: usize) -> RpcResult<()> {
    match text.trim().is_empty() || text.len() > most {
        true => Err(bad_params(format!("{name}: a text of 1 to {most} bytes is needed"))),
        false => Ok(()),
    }
}
