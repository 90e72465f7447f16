//! Asks the language model for other words of a query, while the query itself is searched.

use std::sync::Arc;

use memod_llm::tasks::expand;
use memod_search::query::Query;

use crate::daemon::request::llm_settings::read_settings;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::shared::language_model::ModelQueue;

/// Returns other words for a query, from the cache or from the model.
///
/// # Errors
/// When there are no words; the error says why.
pub(in crate::daemon) async fn ask_for_words(
    request: &Arc<RequestContext>,
    query: &Query,
) -> Result<Vec<String>, String> {
    let text = words_to_send(query)?;
    let (llm, endpoint) = read_settings(request).await.map_err(|error| error.message)?;
    let endpoint = endpoint.map_err(|error| error.to_string())?;
    let key = format!("{} {} {text}", endpoint.url, endpoint.model);
    match request.shared.llm.find_cached_words(&key) {
        Some(words) if words.is_empty() => {
            return Err("the model named no usable words before".to_owned());
        }
        Some(words) => return Ok(words),
        None => {}
    }
    let prompt = expand::build_prompt(text, endpoint.secret());
    let answer = request.shared.llm.ask(&llm, endpoint, prompt, ModelQueue::Search).await?;
    let words = expand::read_words(&answer, text);
    // An answer without words is cached too, because asking again would cost as much and give the same.
    request.shared.llm.cache_words(key, words.clone().unwrap_or_default());
    Ok(words?)
}

/// Returns the part of a query that is sent to the model: its words without filters.
///
/// # Errors
/// When the query is not expanded; the error says why.
pub(in crate::daemon) fn words_to_send(query: &Query) -> Result<&str, String> {
    if query.with_added_words(&[]).is_none() {
        return Err("a query of names, operators and filters is not expanded".to_owned());
    }
    let text = query.text_to_embed().trim();
    if text.len() > expand::MAX_QUERY_BYTES {
        return Err(format!("a query of over {} bytes is not expanded", expand::MAX_QUERY_BYTES));
    }
    Ok(text)
}
