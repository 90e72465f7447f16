//! Sends one request to a language model, and reads its answer within a time and a size.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use memod_base::threads::lock;
use memod_memory::outgoing::outgoing;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::HeaderMap;
use ureq::tls::{RootCerts, TlsConfig};

use super::messages::tokens;
use super::model_answer::{complaint, said};
use super::{Endpoint, Prompt};

/// Largest answer that is read, bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Longest time that a server may ask to be left alone.
const MOST_DELAY: Duration = Duration::from_secs(3_600);
/// That time if it does not say how long.
const USUAL_DELAY: Duration = Duration::from_secs(60);
/// A server that claims to have used fewer than one token for so many bytes is not believed.
const MOST_BYTES_A_TOKEN: u64 = 8;

/// A client of servers that speak chat completions.
pub struct Chat {
    /// For servers on this machine, without the proxies of the environment.
    local: Agent,
    remote: Agent,
    /// The address of the last server, and the params that it takes.
    wording: Mutex<(String, Wording)>,
}

/// The params that the server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wording {
    says_format: bool,
    says_temperature: bool,
    /// The name of the limit of an answer.
    limit: &'static str,
}

const USUAL: Wording = Wording { says_format: true, says_temperature: true, limit: "max_tokens" };

/// What a model said, and what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// What it wrote.
    pub text: String,
    /// Tokens that were used.
    pub tokens: u64,
}

/// A request without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Why; without the key and other secrets.
    pub why: String,
    /// Whether the server may have worked on it.
    pub may_have_cost: bool,
    /// How long the server asks to be left alone.
    pub delay: Option<Duration>,
}

impl Failed {
    fn free(why: impl Into<String>) -> Self {
        Self { why: why.into(), may_have_cost: false, delay: None }
    }

    fn costly(why: impl Into<String>) -> Self {
        Self { may_have_cost: true, ..Self::free(why) }
    }
}

/// What a server did with one wording of a request.
enum Outcome {
    Answered(Answered),
    /// It does not know a param, so it did nothing.
    Reworded(Wording),
}

impl Default for Chat {
    fn default() -> Self {
        let agent = |is_local: bool| {
            let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
            let config = Agent::config_builder()
                .tls_config(tls)
                .http_status_as_error(false)
                // The key is for this server alone, and so are the texts.
                .max_redirects(0)
                .max_redirects_will_error(false)
                .user_agent(concat!("memod/", env!("CARGO_PKG_VERSION")));
            let config = if is_local { config.proxy(None) } else { config };
            config.build().into()
        };
        Self { local: agent(true), remote: agent(false), wording: Mutex::new((String::new(), USUAL)) }
    }
}

impl Chat {
    /// Sends a request and waits for its answer until a deadline.
    ///
    /// # Errors
    /// When there is no answer that can be read in time.
    pub fn ask(&self, endpoint: &Endpoint, prompt: &Prompt, deadline: Instant) -> Result<Answered, Failed> {
        let cut = |failed: Failed| Failed { why: outgoing(&failed.why, endpoint.secret()).text, ..failed };
        let mut wording = self.wording(endpoint);
        // Each time there is one param less to say otherwise.
        loop {
            match self.try_once(endpoint, prompt, wording, deadline).map_err(cut)? {
                Outcome::Answered(answered) => return Ok(answered),
                Outcome::Reworded(other) => wording = other,
            }
            *lock(&self.wording) = (endpoint.url.clone(), wording);
        }
    }

    /// Returns the body that a request has.
    pub fn body(&self, endpoint: &Endpoint, prompt: &Prompt) -> String {
        body(endpoint, prompt, self.wording(endpoint)).to_string()
    }

    fn wording(&self, endpoint: &Endpoint) -> Wording {
        match &*lock(&self.wording) {
            (url, wording) if *url == endpoint.url => *wording,
            _ => USUAL,
        }
    }

    fn try_once(
        &self,
        endpoint: &Endpoint,
        prompt: &Prompt,
        wording: Wording,
        deadline: Instant,
    ) -> Result<Outcome, Failed> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Failed::free("no time was left to ask"));
        }
        let sent = body(endpoint, prompt, wording).to_string();
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
        let mut response = request.send(&sent).map_err(|error| failed(&error))?;
        let status = response.status();
        let headers = response.headers().clone();
        let read = response.body_mut().with_config().limit(MOST_BYTES).read_to_vec();
        if status.is_redirection() {
            return Err(Failed::free(format!("the server redirects ({status}), which is not followed")));
        }
        if !status.is_success() {
            let complaint = complaint(&read.unwrap_or_default(), endpoint.secret());
            return reworded(status.as_u16(), &complaint, wording)
                .map(Outcome::Reworded)
                .ok_or_else(|| refused(status.as_u16(), &complaint, &headers));
        }
        let read = read.map_err(|error| Failed { may_have_cost: true, ..failed(&error) })?;
        let said = said(&read).map_err(|why| Failed::costly(format!("the server {why}")))?;
        let least = (sent.len() + said.text.len()) as u64 / MOST_BYTES_A_TOKEN;
        let tokens = said.used.unwrap_or_else(|| prompt.tokens() + tokens(&said.text)).max(least);
        Ok(Outcome::Answered(Answered { text: said.text, tokens }))
    }
}

fn body(endpoint: &Endpoint, prompt: &Prompt, wording: Wording) -> Value {
    let mut body = json!({ "messages": prompt.messages(), "stream": false });
    body[wording.limit] = json!(prompt.most_answer_tokens);
    if !endpoint.model.is_empty() {
        body["model"] = json!(endpoint.model);
    }
    if wording.says_format {
        body["response_format"] = json!({ "type": "json_object" });
    }
    if wording.says_temperature {
        body["temperature"] = json!(0);
    }
    body
}

/// Returns another wording if a server refused a param of this one.
fn reworded(status: u16, complaint: &str, wording: Wording) -> Option<Wording> {
    let names = |param: &str| matches!(status, 400 | 422) && complaint.contains(param);
    if wording.says_format && names("response_format") {
        Some(Wording { says_format: false, ..wording })
    } else if wording.limit == USUAL.limit && names("max_tokens") {
        Some(Wording { limit: "max_completion_tokens", ..wording })
    } else if wording.says_temperature && names("temperature") {
        Some(Wording { says_temperature: false, ..wording })
    } else {
        None
    }
}

fn refused(status: u16, complaint: &str, headers: &HeaderMap) -> Failed {
    let said = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
    match status {
        401 | 403 => Failed::free(format!("the server refuses the key ({status}){said}")),
        404 => Failed::free(format!("the server knows no such model or address (404){said}")),
        429 => {
            let asked = headers.get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
            let delay = asked.map_or(USUAL_DELAY, Duration::from_secs).min(MOST_DELAY);
            let why = format!("the server asks for fewer requests (429, for {} s){said}", delay.as_secs());
            Failed { delay: Some(delay), ..Failed::free(why) }
        }
        500.. => Failed::costly(format!("the server failed ({status}){said}")),
        _ => Failed::free(format!("the server refuses the request ({status}){said}")),
    }
}

fn failed(error: &ureq::Error) -> Failed {
    match error {
        ureq::Error::Timeout(_) => Failed::costly("the server did not answer in time"),
        ureq::Error::BodyExceedsLimit(_) => {
            Failed::costly(format!("the answer is larger than {} MiB", MOST_BYTES >> 20))
        }
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::BadUri(_) => {
            Failed::free("the server cannot be reached")
        }
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            Failed::free("no server listens there (connection refused)")
        }
        error => Failed::costly(format!("the connection failed: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_asked_in_its_words() {
        let check = |status: u16, complaint: &str, wording: Wording, expected: Option<Wording>| {
            assert_eq!(reworded(status, complaint, wording), expected, "{complaint}");
        };
        let plain = Wording { says_format: false, ..USUAL };
        check(400, "'response_format.type' must be 'json_schema'", USUAL, Some(plain));
        check(400, "'response_format.type' must be 'json_schema'", plain, None);
        let newer = Wording { limit: "max_completion_tokens", ..USUAL };
        check(400, "use 'max_completion_tokens' instead of max_tokens", USUAL, Some(newer));
        check(400, "use 'max_completion_tokens' instead of max_tokens", newer, None);
        check(422, "temperature: unsupported", newer, Some(Wording { says_temperature: false, ..newer }));
        check(401, "response_format", USUAL, None);
        check(400, "no", USUAL, None);
    }

    #[test]
    fn a_server_may_ask_for_a_pause() {
        let delay = |value: &str| {
            let headers = HeaderMap::from_iter([("retry-after".parse().unwrap(), value.parse().unwrap())]);
            refused(429, "", &headers).delay.map(|delay| delay.as_secs())
        };
        assert_eq!(delay("7"), Some(7));
        assert_eq!(delay("99999999"), Some(3_600));
        assert_eq!(delay("Wed, 21 Oct 2026 07:28:00 GMT"), Some(60));
        assert_eq!(refused(429, "", &HeaderMap::new()).delay, Some(USUAL_DELAY));
        assert!(!refused(401, "", &HeaderMap::new()).may_have_cost);
        assert!(refused(502, "", &HeaderMap::new()).may_have_cost);
    }
}
