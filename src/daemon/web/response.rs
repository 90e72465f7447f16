//! Builds HTTP responses: their bodies, their status, and the headers that all of them have.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use memod_proto::{RpcError, code};
use serde_json::{Value, json};

/// The body of a response, which may come in parts.
pub(super) type Body = BoxBody<Bytes, Infallible>;

/// Headers of every response. Scripts and styles come only from this server, no site may frame it or load parts of it,
/// and no other site learns the address.
pub(super) const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Returns a response with a body and the headers of every response.
pub(super) fn bytes_response(
    status: StatusCode,
    content_type: &'static str,
    bytes: impl Into<Bytes>,
) -> Response<Body> {
    body_response(status, content_type, Full::new(bytes.into()).boxed())
}

/// Like [`bytes_response`], with a body that may come in parts.
pub(super) fn body_response(status: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Returns a response with JSON as its body.
pub(super) fn json_response(status: StatusCode, value: &Value) -> Response<Body> {
    bytes_response(status, "application/json", value.to_string())
}

/// The error with which a request is answered.
#[derive(Debug)]
pub(super) struct HttpFailure {
    pub(super) status: StatusCode,
    /// The word in `error.code`, as in the JSON output of `memo`.
    code: &'static str,
    message: String,
    hint: Option<String>,
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

impl HttpFailure {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), hint: None, header: None }
    }

    /// Sets the hint about what the caller can do.
    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Adds the time after which to try again.
    pub(super) fn with_retry(self, after: Duration) -> Self {
        // The header has whole seconds, so a part of a second is rounded up.
        let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
        self.with_header(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)))
    }

    /// Sets the header that the status of this response needs; a response has only one such header.
    pub(super) fn with_header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some(Box::new((name, value))), ..self }
    }

    /// Returns the error for a request that failed for a reason that only the log describes.
    pub(super) fn internal_failure() -> Self {
        let message = "the request failed; the daemon keeps running";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
            .with_hint("`memo daemon logs` says why")
    }

    /// Returns the error for a request that exceeds a limit on concurrent requests or connections.
    pub(super) fn busy_failure(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).with_retry(Duration::from_secs(1))
    }

    /// Returns the response with the error as JSON.
    pub(super) fn into_response(self) -> Response<Body> {
        let error = json!({ "code": self.code, "message": self.message, "hint": self.hint });
        let mut response = json_response(self.status, &json!({ "error": error }));
        response.headers_mut().extend(self.header.map(|header| *header));
        response
    }
}

/// Shows errors that the caller can avoid. The messages of other errors go to the log only, because those of the system and of
/// SQLite name private files and states.
impl From<RpcError> for HttpFailure {
    fn from(error: RpcError) -> Self {
        let data = error.data.unwrap_or_default();
        let shown = |status, word| {
            let failure = Self::new(status, word, error.message.clone());
            Self { hint: data.hint.clone(), ..failure }
        };
        let hidden = |word, message: &str, hint: Option<String>| {
            tracing::warn!(error = error.message, "a request over HTTP failed");
            let failure = Self::new(StatusCode::INTERNAL_SERVER_ERROR, word, message);
            failure.with_hint(hint.unwrap_or_else(|| "`memo daemon logs` says why".to_owned()))
        };
        match (error.code, data.retry_after_ms) {
            (code::PARSE | code::INVALID_REQUEST | code::INVALID_PARAMS, _) => {
                shown(StatusCode::BAD_REQUEST, "usage")
            }
            (code::WRONG_REPOSITORY, _) => shown(StatusCode::BAD_REQUEST, "wrong-repository"),
            (code::NO_METHOD, _) => shown(StatusCode::NOT_FOUND, "no-method"),
            (code::NOT_FOUND, _) => shown(StatusCode::NOT_FOUND, "not-found"),
            (code::BUSY, Some(after_ms)) => {
                shown(StatusCode::SERVICE_UNAVAILABLE, "busy").with_retry(Duration::from_millis(after_ms))
            }
            // Without a time to wait, the error means that a file or memory changed while it was read, not that the daemon is busy.
            (code::BUSY, None) => shown(StatusCode::CONFLICT, "busy"),
            (code::STOPPING, _) => {
                shown(StatusCode::SERVICE_UNAVAILABLE, "stopping").with_retry(Duration::from_secs(1))
            }
            // The hints for errors of the database and of files may be shown, because they contain no names of files.
            (code::STORE, _) => hidden("store", "the database failed", data.hint.clone()),
            (code::IO, _) => hidden("io", "a file cannot be examined", data.hint.clone()),
            (code::GIT, _) => hidden("git", "a file of git's cannot be read or changed", None),
            _ => hidden("internal", "the request failed; the daemon keeps running", None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_inside_is_not_told() {
        let check = |code: i64, after_ms: Option<u64>, status: u16, is_told: bool| {
            let error = RpcError::new(code, "/home/me/.git: secret");
            let error = after_ms.into_iter().fold(error, RpcError::with_retry);
            let failure = HttpFailure::from(error);
            assert_eq!(failure.status.as_u16(), status, "{code}");
            assert_eq!(failure.message.contains("secret"), is_told, "{code}: {}", failure.message);
            let retry = failure.into_response().headers().get(header::RETRY_AFTER).cloned();
            assert_eq!(retry.is_some(), status == 503, "{code}");
        };
        check(code::INVALID_PARAMS, None, 400, true);
        check(code::WRONG_REPOSITORY, None, 400, true);
        check(code::NO_METHOD, None, 404, true);
        check(code::NOT_FOUND, None, 404, true);
        check(code::BUSY, None, 409, true);
        check(code::BUSY, Some(100), 503, true);
        check(code::STOPPING, None, 503, true);
        for inside in [code::STORE, code::IO, code::GIT, code::INTERNAL, -1] {
            check(inside, None, 500, false);
        }
    }
}
