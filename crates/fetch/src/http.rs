//! Sends GET requests to web servers.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use ureq::http::{HeaderMap, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, BodyReader};

use super::web_address::{WebAddress, extract_origin, redact_url, resolve_link};

/// Largest number of redirections for one request.
const MAX_REDIRECTIONS: usize = 10;

/// Longest wait before a retry that a server may ask for.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);

/// An HTTP client. It follows redirections itself, because the first answer of a hub has the checksum of the file.
pub(super) struct HttpClient {
    agent: Agent,
    /// Longest time without a byte.
    pub(super) patience: Duration,
    /// An origin, and the value of the `authorization` header that is sent only to this origin.
    authorization: Option<(String, String)>,
}

/// An answer whose body has not been read.
pub(super) struct HttpAnswer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: BodyReader<'static>,
    /// Headers of the redirections before this answer, in order.
    pub(super) redirect_headers: Vec<HeaderMap>,
    /// The address that sent the answer.
    pub(super) url: String,
    /// Whether the origin of `url` differs from the origin of the request.
    pub(super) is_from_other_origin: bool,
}

impl HttpAnswer {
    /// Returns scheme, host and port of `url`, for messages. The full address may have a secret signature.
    pub(super) fn origin(&self) -> String {
        extract_origin(&self.url)
    }
}

/// Why there is no usable answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpError {
    pub(super) reason: String,
    /// `Some` if a retry may succeed, with the delay that the server asks for, if any.
    pub(super) retry_after: Option<Option<Duration>>,
    /// Status of the answer, if the server answered.
    pub(super) status: Option<u16>,
}

impl HttpError {
    /// Creates an error after which a retry may succeed.
    pub(super) fn transient(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), retry_after: Some(None), status: None }
    }

    /// Creates an error after which a retry is useless.
    pub(super) fn permanent(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), retry_after: None, status: None }
    }
}

impl HttpClient {
    /// Creates a client that uses the proxies of the environment and the certificates of the system, which companies may have
    /// installed. `patience` is the longest time without a byte.
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

    /// Makes the client send the credentials of an address to the origin of that address.
    pub(super) fn with_credentials_of(mut self, address: &WebAddress) -> Self {
        if let Some(basic) = encode_basic_auth(address) {
            self.authorization = Some((extract_origin(&address.url), basic));
        }
        self
    }

    /// Makes the client send a bearer token to the origin of `url`.
    pub(super) fn with_token(mut self, url: &str, token: Option<&str>) -> Self {
        if let Some(token) = token {
            self.authorization = Some((extract_origin(url), format!("Bearer {token}")));
        }
        self
    }

    /// Sends a GET request and follows redirections. A status other than success is an error, except 416, which the caller must
    /// handle, because only the caller requests ranges.
    pub(super) fn get(&self, url: &str, headers: &[(&str, String)]) -> Result<HttpAnswer, HttpError> {
        let (mut at, mut before) = (WebAddress::new(url), Vec::new());
        for _ in 0..=MAX_REDIRECTIONS {
            let response = self.send_request(&at, headers)?;
            let status = response.status();
            let (parts, body) = response.into_parts();
            if status.is_redirection() {
                let location = parts.headers.get("location").and_then(|value| value.to_str().ok());
                let location =
                    location.ok_or_else(|| HttpError::permanent("redirects without a location"))?;
                at = resolve_redirect(&at, location)?;
                before.push(parts.headers);
                continue;
            }
            if !status.is_success() && status != StatusCode::RANGE_NOT_SATISFIABLE {
                return Err(status_error(status, &parts.headers, &at.url));
            }
            let is_elsewhere = extract_origin(&at.url) != extract_origin(url);
            let body = body.into_reader();
            return Ok(HttpAnswer {
                status,
                headers: parts.headers,
                body,
                redirect_headers: before,
                url: at.url,
                is_from_other_origin: is_elsewhere,
            });
        }
        Err(HttpError::permanent(format!("redirects more than {MAX_REDIRECTIONS} times")))
    }

    /// Sends one request, with the credentials for its origin.
    fn send_request(
        &self,
        address: &WebAddress,
        headers: &[(&str, String)],
    ) -> Result<ureq::http::Response<ureq::Body>, HttpError> {
        let url = &address.url;
        let mut request = self.agent.get(url).header("accept-encoding", "identity");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let own = self.authorization.as_ref().filter(|(to, _)| *to == extract_origin(url));
        if let Some(secret) = encode_basic_auth(address).or_else(|| own.map(|(_, secret)| secret.clone())) {
            request = request.header("authorization", secret);
        }
        request.call().map_err(|error| request_error(&error, url))
    }
}

/// Returns the value of the `authorization` header for the credentials of an address; `None` if it has none.
fn encode_basic_auth(address: &WebAddress) -> Option<String> {
    let decoded: Vec<u8> = percent_decode_str(address.credentials.as_ref()?).collect();
    Some(format!("Basic {}", BASE64_STANDARD.encode(decoded)))
}

/// Returns the address to which a redirection leads.
///
/// # Errors
/// When it leads from HTTPS to another scheme.
fn resolve_redirect(from: &WebAddress, location: &str) -> Result<WebAddress, HttpError> {
    let to = WebAddress::new(&resolve_link(&from.url, location));
    if is_https(&from.url) && !is_https(&to.url) {
        let (from, to) = (extract_origin(&from.url), extract_origin(&to.url));
        return Err(HttpError::permanent(format!("{from} redirects to {to}, which is not encrypted")));
    }
    Ok(to)
}

fn is_https(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https"))
}

/// Returns the error for a status other than success.
fn status_error(status: StatusCode, headers: &HeaderMap, url: &str) -> HttpError {
    let delay = headers.get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let delay = delay.map(|seconds| Duration::from_secs(seconds).min(MAX_RETRY_DELAY));
    let may_pass = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
    let said = headers.get("x-error-message").and_then(|value| value.to_str().ok());
    let said = said.map_or(String::new(), |said| format!(": {said}"));
    HttpError {
        reason: format!("{} answered {status}{said}", extract_origin(url)),
        retry_after: may_pass.then_some(delay),
        status: Some(status.as_u16()),
    }
}

/// Returns the error for a request without an answer.
fn request_error(error: &ureq::Error, url: &str) -> HttpError {
    let reason = format!("{}: {error}", extract_origin(url));
    match error {
        // The message of ureq has the credentials of the address.
        ureq::Error::BadUri(_) => HttpError::permanent(format!("{} is not a valid address", redact_url(url))),
        ureq::Error::Io(_)
        | ureq::Error::Timeout(_)
        | ureq::Error::ConnectionFailed
        | ureq::Error::Protocol(_) => HttpError::transient(reason),
        _ => HttpError::permanent(reason),
    }
}

/// Returns a header as text; `None` if it is missing or not ASCII.
pub(super) fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirection_stays_encrypted() {
        let from = WebAddress::new("https://hub.example/a");
        let to = resolve_redirect(&from, "https://me:secret@cdn.example/b?signature=s").unwrap();
        assert_eq!(to.url, "https://cdn.example/b?signature=s");
        assert_eq!(encode_basic_auth(&to).unwrap(), "Basic bWU6c2VjcmV0");
        assert_eq!(resolve_redirect(&from, "/c").unwrap().url, "https://hub.example/c");
        let error = resolve_redirect(&from, "http://me:secret@cdn.example/b?signature=s").unwrap_err();
        assert_eq!(
            error.reason,
            "https://hub.example redirects to http://cdn.example, which is not encrypted"
        );
        assert_eq!(error.retry_after, None);
        let plain = WebAddress::new("http://hub.example/a");
        assert!(
            resolve_redirect(&plain, "http://cdn.example/").is_ok()
                && resolve_redirect(&plain, "HTTPS://cdn/").is_ok()
        );
    }
}
