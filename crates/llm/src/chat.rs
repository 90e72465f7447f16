//! Sends a request to a language model, and reads the answer within limits of time and size.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use memod_base::threads::lock;
use memod_memory::outgoing::clean_outgoing_text;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::HeaderMap;
use ureq::tls::{RootCerts, TlsConfig};

use super::messages::estimate_tokens;
use super::model_answer::{parse_answer, parse_error_message};
use super::{Endpoint, Prompt};

/// Largest answer that is read, bytes.
const MAX_ANSWER_BYTES: u64 = 1 << 20;
/// Longest pause that a server can ask for (`retry-after`).
const MAX_RETRY_DELAY: Duration = Duration::from_secs(3_600);
/// Pause if the server does not say how long.
const DEFAULT_RETRY_DELAY: Duration = Duration::from_secs(60);
/// Bytes for which at least one token is counted, even if the server reports fewer tokens.
const MOST_BYTES_A_TOKEN: u64 = 8;

/// A client of servers with the chat completions API of OpenAI.
pub struct ChatClient {
    /// Agent for servers on this machine, which ignores the proxies of the environment.
    local: Agent,
    /// Agent for all other servers.
    remote: Agent,
    /// The URL of the last server, and the parameters that it accepts.
    params: Mutex<(String, RequestParams)>,
}

/// The optional parameters of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RequestParams {
    /// Whether `response_format` is sent.
    sends_format: bool,
    /// Whether `temperature` is sent.
    sends_temperature: bool,
    /// Name of the parameter that limits the tokens of the answer.
    limit_param: &'static str,
}

/// The parameters of the first request to a server.
const DEFAULT_PARAMS: RequestParams =
    RequestParams { sends_format: true, sends_temperature: true, limit_param: "max_tokens" };

/// The answer of a model, with the tokens that it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatAnswer {
    /// Text that the model wrote.
    pub text: String,
    /// Tokens of the prompt and the answer.
    pub tokens: u64,
}

/// Why a request got no usable answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatFailure {
    /// The reason, without the key and other credentials.
    pub why: String,
    /// Whether the server may have charged for the request.
    pub may_have_cost: bool,
    /// Pause that the server asks for before the next request.
    pub delay: Option<Duration>,
}

impl ChatFailure {
    /// Makes the failure of a request that the server did not charge for.
    fn uncharged_failure(why: impl Into<String>) -> Self {
        Self { why: why.into(), may_have_cost: false, delay: None }
    }

    /// Makes the failure of a request that the server may have charged for.
    fn possibly_charged_failure(why: impl Into<String>) -> Self {
        Self { may_have_cost: true, ..Self::uncharged_failure(why) }
    }
}

/// How a server reacted to a request with some parameters.
enum AttemptOutcome {
    Answered(ChatAnswer),
    /// The server refused a parameter and did nothing. Holds the parameters to try next.
    ParamRefused(RequestParams),
}

/// Builds an HTTP client that follows no redirections, and uses no proxy if `is_local`.
fn build_agent(is_local: bool) -> Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        // No redirect is followed, because the key and the texts must not reach another server.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("memod/", env!("CARGO_PKG_VERSION")));
    let config = if is_local { config.proxy(None) } else { config };
    config.build().into()
}

impl Default for ChatClient {
    fn default() -> Self {
        Self {
            local: build_agent(true),
            remote: build_agent(false),
            params: Mutex::new((String::new(), DEFAULT_PARAMS)),
        }
    }
}

impl ChatClient {
    /// Sends a prompt and waits for the answer until a deadline. Repeats the request without a parameter that the server refuses.
    ///
    /// # Errors
    /// When no answer arrives in time, or the answer cannot be read.
    pub fn ask(
        &self,
        endpoint: &Endpoint,
        prompt: &Prompt,
        deadline: Instant,
    ) -> Result<ChatAnswer, ChatFailure> {
        let mut params = self.params_for(endpoint);
        // The loop ends, because each round gives up another parameter that the server refuses.
        loop {
            match self
                .try_once(endpoint, prompt, params, deadline)
                .map_err(|failed| redact_failure(&failed, endpoint))?
            {
                AttemptOutcome::Answered(answered) => return Ok(answered),
                AttemptOutcome::ParamRefused(other) => params = other,
            }
            *lock(&self.params) = (endpoint.url.clone(), params);
        }
    }

    /// Returns the JSON body of the request that [`Self::ask`] would send.
    pub fn render_body(&self, endpoint: &Endpoint, prompt: &Prompt) -> String {
        build_body(endpoint, prompt, self.params_for(endpoint)).to_string()
    }

    /// Returns the parameters that the server accepted last; for a new server the default ones.
    fn params_for(&self, endpoint: &Endpoint) -> RequestParams {
        match &*lock(&self.params) {
            (url, params) if *url == endpoint.url => *params,
            _ => DEFAULT_PARAMS,
        }
    }

    /// Sends the request once, with these parameters.
    fn try_once(
        &self,
        endpoint: &Endpoint,
        prompt: &Prompt,
        params: RequestParams,
        deadline: Instant,
    ) -> Result<AttemptOutcome, ChatFailure> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ChatFailure::uncharged_failure("the deadline passed before the request was sent"));
        }
        let sent = build_body(endpoint, prompt, params).to_string();
        let agent = if endpoint.is_local { &self.local } else { &self.remote };
        let mut request = agent
            .post(&endpoint.url)
            .config()
            .timeout_global(Some(left))
            .build()
            .header("content-type", "application/json")
            .header("accept-encoding", "identity");
        if let Some(key) = &endpoint.key {
            request = request.header("authorization", format!("Bearer {}", key.secret()));
        }
        let mut response = request.send(&sent).map_err(|error| transport_failure(&error))?;
        let status = response.status();
        let headers = response.headers().clone();
        let read = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        if status.is_redirection() {
            return Err(ChatFailure::uncharged_failure(format!(
                "the server redirects ({status}), which is not followed"
            )));
        }
        if !status.is_success() {
            let complaint = parse_error_message(&read.unwrap_or_default(), endpoint.secret());
            return adapt_params(status.as_u16(), &complaint, params)
                .map(AttemptOutcome::ParamRefused)
                .ok_or_else(|| status_failure(status.as_u16(), &complaint, &headers));
        }
        let read = read.map_err(|error| ChatFailure { may_have_cost: true, ..transport_failure(&error) })?;
        let said = parse_answer(&read)
            .map_err(|why| ChatFailure::possibly_charged_failure(format!("the server {why}")))?;
        let least = (sent.len() + said.text.len()) as u64 / MOST_BYTES_A_TOKEN;
        let tokens =
            said.used.unwrap_or_else(|| prompt.estimate_tokens() + estimate_tokens(&said.text)).max(least);
        Ok(AttemptOutcome::Answered(ChatAnswer { text: said.text, tokens }))
    }
}

/// Removes the key and other credentials from the reason of a failure.
fn redact_failure(failed: &ChatFailure, endpoint: &Endpoint) -> ChatFailure {
    ChatFailure { why: clean_outgoing_text(&failed.why, endpoint.secret()).text, ..*failed }
}

/// Builds the JSON body of a request.
fn build_body(endpoint: &Endpoint, prompt: &Prompt, params: RequestParams) -> Value {
    let mut body = json!({ "messages": prompt.render_messages(), "stream": false });
    body[params.limit_param] = json!(prompt.most_answer_tokens);
    if !endpoint.model.is_empty() {
        body["model"] = json!(endpoint.model);
    }
    if params.sends_format {
        body["response_format"] = json!({ "type": "json_object" });
    }
    if params.sends_temperature {
        body["temperature"] = json!(0);
    }
    body
}

/// Returns whether a server refused a request because of the parameter `param`.
fn refuses_param(status: u16, complaint: &str, param: &str) -> bool {
    matches!(status, 400 | 422) && complaint.contains(param)
}

/// Returns the parameters for another attempt; `None` if the server did not refuse one of `params`.
fn adapt_params(status: u16, complaint: &str, params: RequestParams) -> Option<RequestParams> {
    if params.sends_format && refuses_param(status, complaint, "response_format") {
        Some(RequestParams { sends_format: false, ..params })
    } else if params.limit_param == DEFAULT_PARAMS.limit_param
        && refuses_param(status, complaint, "max_tokens")
    {
        Some(RequestParams { limit_param: "max_completion_tokens", ..params })
    } else if params.sends_temperature && refuses_param(status, complaint, "temperature") {
        Some(RequestParams { sends_temperature: false, ..params })
    } else {
        None
    }
}

/// Returns the failure for an HTTP status other than success.
fn status_failure(status: u16, complaint: &str, headers: &HeaderMap) -> ChatFailure {
    let said = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
    match status {
        401 | 403 => ChatFailure::uncharged_failure(format!("the server refuses the key ({status}){said}")),
        404 => {
            ChatFailure::uncharged_failure(format!("the server knows no such model or address (404){said}"))
        }
        429 => {
            let asked = headers.get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
            let delay = asked.map_or(DEFAULT_RETRY_DELAY, Duration::from_secs).min(MAX_RETRY_DELAY);
            let why = format!("the server asks for fewer requests (429, for {} s){said}", delay.as_secs());
            ChatFailure { delay: Some(delay), ..ChatFailure::uncharged_failure(why) }
        }
        500.. => ChatFailure::possibly_charged_failure(format!("the server failed ({status}){said}")),
        _ => ChatFailure::uncharged_failure(format!("the server refuses the request ({status}){said}")),
    }
}

/// Returns the failure for a request or an answer that was not transmitted completely.
fn transport_failure(error: &ureq::Error) -> ChatFailure {
    match error {
        ureq::Error::Timeout(_) => ChatFailure::possibly_charged_failure("the server did not answer in time"),
        ureq::Error::BodyExceedsLimit(_) => ChatFailure::possibly_charged_failure(format!(
            "the answer is larger than {} MiB",
            MAX_ANSWER_BYTES >> 20
        )),
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::BadUri(_) => {
            ChatFailure::uncharged_failure("the server cannot be reached")
        }
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            ChatFailure::uncharged_failure("no server listens there (connection refused)")
        }
        error => ChatFailure::possibly_charged_failure(format!("the connection failed: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_asked_in_its_words() {
        let check = |status: u16, complaint: &str, params: RequestParams, expected: Option<RequestParams>| {
            assert_eq!(adapt_params(status, complaint, params), expected, "{complaint}");
        };
        let plain = RequestParams { sends_format: false, ..DEFAULT_PARAMS };
        check(400, "'response_format.type' must be 'json_schema'", DEFAULT_PARAMS, Some(plain));
        check(400, "'response_format.type' must be 'json_schema'", plain, None);
        let newer = RequestParams { limit_param: "max_completion_tokens", ..DEFAULT_PARAMS };
        check(400, "use 'max_completion_tokens' instead of max_tokens", DEFAULT_PARAMS, Some(newer));
        check(400, "use 'max_completion_tokens' instead of max_tokens", newer, None);
        check(
            422,
            "temperature: unsupported",
            newer,
            Some(RequestParams { sends_temperature: false, ..newer }),
        );
        check(401, "response_format", DEFAULT_PARAMS, None);
        check(400, "no", DEFAULT_PARAMS, None);
    }

    #[test]
    fn a_server_may_ask_for_a_pause() {
        let delay = |value: &str| {
            let headers = HeaderMap::from_iter([("retry-after".parse().unwrap(), value.parse().unwrap())]);
            status_failure(429, "", &headers).delay.map(|delay| delay.as_secs())
        };
        assert_eq!(delay("7"), Some(7));
        assert_eq!(delay("99999999"), Some(3_600));
        assert_eq!(delay("Wed, 21 Oct 2026 07:28:00 GMT"), Some(60));
        assert_eq!(status_failure(429, "", &HeaderMap::new()).delay, Some(DEFAULT_RETRY_DELAY));
        assert!(!status_failure(401, "", &HeaderMap::new()).may_have_cost);
        assert!(status_failure(502, "", &HeaderMap::new()).may_have_cost);
    }
}
