//! Answers the methods about the language model.

use std::sync::Arc;

use super::clock::{local, now_ms};
use super::error::{RpcResult, bad_params};
use super::language_model::{Lane, today};
use super::memories::transaction::locate;
use super::request::blocking;
use super::shared::Shared;
use crate::config::{self, Config, Llm};
use crate::llm::tasks::expand;
use crate::llm::{Endpoint, NoEndpoint, Prompt};
use crate::proto::memory::Caller;
use crate::proto::{CwdParams, LlmExpandParams, LlmExpandResult, LlmRequest, LlmStatusResult, LlmUse};

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
        return Ok(Asked::Shown(prompt.shown(endpoint.shown(), &endpoint.model)));
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
    let at = last_error.as_ref().map(|(_, at)| local(*at).timestamp().to_string());
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
        last_error: last_error.map(|(why, _)| why),
        last_error_at: at.filter(|_| now_ms() > 0),
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
    check_caller(shared, &params.cwd).await?;
    let query = params.query.trim();
    if query.is_empty() || query.len() > expand::MOST_QUERY {
        return Err(bad_params(format!("query: a text of 1 to {} bytes is needed", expand::MOST_QUERY)));
    }
    let settings = settings(shared).await?;
    let asked = ask(shared, &settings, params.dry_run, |key| expand::prompt(query, key)).await;
    let mut result = LlmExpandResult::default();
    match asked {
        Ok(Asked::Shown(request)) => result.requests.push(request),
        Ok(Asked::Answered(answer)) => match expand::words(&answer, query) {
            Ok(words) => result.words = words,
            Err(why) => result.problem = Some(why.to_owned()),
        },
        Err(why) => result.problem = Some(why),
    }
    Ok(result)
}
