//! Asks web servers for files.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use ureq::http::{HeaderMap, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, BodyReader};

use super::web_address::{WebAddress, join, origin, shown};

/// Most redirections for one request.
const MOST_REDIRECTIONS: usize = 10;

/// Longest wait that a server may ask for, before it is asked again.
const MOST_DELAY: Duration = Duration::from_secs(60);

/// A client that follows redirections itself, because the first answer of a hub tells what the file must be.
pub(super) struct Http {
    agent: Agent,
    /// Longest time without a byte.
    pub(super) patience: Duration,
    /// An origin, and what is sent to it alone.
    authorization: Option<(String, String)>,
}

/// An answer whose body has not been read.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: BodyReader<'static>,
    /// Headers of the redirections before it, the first one first.
    pub(super) before: Vec<HeaderMap>,
    /// Where the answer comes from.
    pub(super) url: String,
    /// Whether that is another host than the one that was asked.
    pub(super) is_elsewhere: bool,
}

impl Answer {
    /// The host that it comes from; the address may have a signature, which nobody else must see.
    pub(super) fn origin(&self) -> String {
        origin(&self.url)
    }
}

/// Why there is no usable answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpError {
    pub(super) reason: String,
    /// Whether it may be otherwise in a moment; after how long, if the server says so.
    pub(super) again: Option<Option<Duration>>,
    /// What the server said, if it answered.
    pub(super) status: Option<u16>,
}

impl HttpError {
    /// An error that a later attempt may not meet.
    pub(super) fn passing(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), again: Some(None), status: None }
    }

    /// An error that stays.
    pub(super) fn lasting(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), again: None, status: None }
    }
}

impl Http {
    /// Uses the proxies of the environment and the certificates of the system, as companies install them.
    pub(super) fn new(patience: Duration) -> Self {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(patience))
            .timeout_connect(Some(patience))
            .timeout_per_read(Some(patience))
            .timeout_per_write(Some(patience))
            .user_agent(concat!("memod/", env!("CARGO_PKG_VERSION")));
        Self { agent: config.build().into(), patience, authorization: None }
    }

    /// Sends the credentials of an address to its host.
    pub(super) fn with_credentials_of(mut self, address: &WebAddress) -> Self {
        if let Some(basic) = basic(address) {
            self.authorization = Some((origin(&address.url), basic));
        }
        self
    }

    /// Sends a token to a host.
    pub(super) fn with_token(mut self, url: &str, token: Option<&str>) -> Self {
        if let Some(token) = token {
            self.authorization = Some((origin(url), format!("Bearer {token}")));
        }
        self
    }

    /// Asks for an address. Statuses other than success are errors, but 416 is left to who asked for a range.
    pub(super) fn get(&self, url: &str, headers: &[(&str, String)]) -> Result<Answer, HttpError> {
        let (mut at, mut before) = (WebAddress::new(url), Vec::new());
        for _ in 0..=MOST_REDIRECTIONS {
            let response = self.ask(&at, headers)?;
            let status = response.status();
            let (parts, body) = response.into_parts();
            if status.is_redirection() {
                let location = parts.headers.get("location").and_then(|value| value.to_str().ok());
                let location = location.ok_or_else(|| HttpError::lasting("redirects nowhere"))?;
                at = redirected(&at, location)?;
                before.push(parts.headers);
                continue;
            }
            if !status.is_success() && status != StatusCode::RANGE_NOT_SATISFIABLE {
                return Err(refused(status, &parts.headers, &at.url));
            }
            let is_elsewhere = origin(&at.url) != origin(url);
            let body = body.into_reader();
            return Ok(Answer { status, headers: parts.headers, body, before, url: at.url, is_elsewhere });
        }
        Err(HttpError::lasting(format!("redirects more than {MOST_REDIRECTIONS} times")))
    }

    fn ask(
        &self,
        address: &WebAddress,
        headers: &[(&str, String)],
    ) -> Result<ureq::http::Response<ureq::Body>, HttpError> {
        let url = &address.url;
        let mut request = self.agent.get(url).header("accept-encoding", "identity");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let own = self.authorization.as_ref().filter(|(to, _)| *to == origin(url));
        if let Some(secret) = basic(address).or_else(|| own.map(|(_, secret)| secret.clone())) {
            request = request.header("authorization", secret);
        }
        request.call().map_err(|error| failed(&error, url))
    }
}

/// Returns the header that has the credentials of an address.
fn basic(address: &WebAddress) -> Option<String> {
    let decoded: Vec<u8> = percent_decode_str(address.credentials.as_ref()?).collect();
    Some(format!("Basic {}", BASE64_STANDARD.encode(decoded)))
}

/// Returns where a redirection leads.
fn redirected(from: &WebAddress, location: &str) -> Result<WebAddress, HttpError> {
    let to = WebAddress::new(&join(&from.url, location));
    if is_https(&from.url) && !is_https(&to.url) {
        let (from, to) = (origin(&from.url), origin(&to.url));
        return Err(HttpError::lasting(format!("{from} redirects to {to}, which is not encrypted")));
    }
    Ok(to)
}

fn is_https(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https"))
}

fn refused(status: StatusCode, headers: &HeaderMap, url: &str) -> HttpError {
    let delay = headers.get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let delay = delay.map(|seconds| Duration::from_secs(seconds).min(MOST_DELAY));
    let may_pass = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
    let said = headers.get("x-error-message").and_then(|value| value.to_str().ok());
    let said = said.map_or(String::new(), |said| format!(": {said}"));
    HttpError {
        reason: format!("{} said {status}{said}", origin(url)),
        again: may_pass.then_some(delay),
        status: Some(status.as_u16()),
    }
}

fn failed(error: &ureq::Error, url: &str) -> HttpError {
    let reason = format!("{}: {error}", origin(url));
    match error {
        ureq::Error::BadUri(_) => HttpError::lasting(format!("{} is no address", shown(url))), // it shows all of it
        ureq::Error::Io(_)
        | ureq::Error::Timeout(_)
        | ureq::Error::ConnectionFailed
        | ureq::Error::Protocol(_) => HttpError::passing(reason),
        _ => HttpError::lasting(reason),
    }
}

/// Returns a header as text.
pub(super) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirection_stays_encrypted() {
        let from = WebAddress::new("https://hub.example/a");
        let to = redirected(&from, "https://me:secret@cdn.example/b?signature=s").unwrap();
        assert_eq!(to.url, "https://cdn.example/b?signature=s");
        assert_eq!(basic(&to).unwrap(), "Basic bWU6c2VjcmV0");
        assert_eq!(redirected(&from, "/c").unwrap().url, "https://hub.example/c");
        let error = redirected(&from, "http://me:secret@cdn.example/b?signature=s").unwrap_err();
        assert_eq!(
            error.reason,
            "https://hub.example redirects to http://cdn.example, which is not encrypted"
        );
        assert_eq!(error.again, None);
        let plain = WebAddress::new("http://hub.example/a");
        assert!(
            redirected(&plain, "http://cdn.example/").is_ok() && redirected(&plain, "HTTPS://cdn/").is_ok()
        );
    }
}
