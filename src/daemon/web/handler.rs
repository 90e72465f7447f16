//! Answers an HTTP request with a file of the page, or with the result of a method that the socket has too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{ALLOW, HeaderMap, HeaderValue, SET_COOKIE, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use memod_base::threads::lock;
use memod_proto::http::{API_PREFIX, ApiRoute};
use serde_json::Value;
use tokio::time::timeout;

use super::event_stream;
use super::guard::{self, AccessProof};
use super::health::answer_health;
use super::http_site::HttpSite;
use super::page_files;
use super::request_params as params;
use super::response::{Body, HttpFailure, bytes_response, json_response};
use super::router::{self, NoRoute, RouteTarget};
use crate::daemon::dispatch;
use crate::daemon::request::request_context::RequestOrigin;

/// Longest body, bytes: as long as a line of the socket.
const MAX_BODY_BYTES: usize = 8 << 20;
/// Longest body of a caller without proof of access, bytes.
const MAX_SESSION_BODY_BYTES: usize = 4 << 10;
/// Time limit for receiving a body.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The description of the API, which a test generates from the types of `proto`.
const DESCRIPTION: &[u8] = include_bytes!("openapi.json");

/// Answers one request.
pub(super) async fn answer_request(site: Arc<HttpSite>, request: Request<Incoming>) -> Response<Body> {
    let (head, body) = request.into_parts();
    route_request(&site, &head, body).await.unwrap_or_else(HttpFailure::into_response)
}

async fn route_request(site: &HttpSite, head: &Parts, body: Incoming) -> Result<Response<Body>, HttpFailure> {
    guard::check_head_length(head)?;
    site.hosts.check_host(&head.headers, &head.uri)?;
    let path = head.uri.path();
    if !path.starts_with(API_PREFIX) {
        return answer_public(site, head).await;
    }
    site.hosts.check_origin(&head.headers)?;
    let found = router::find_target(head.method.as_str(), path);
    if !matches!(found, Ok((RouteTarget::Session, _))) {
        check_proof(site, guard::read_proof(&head.headers, &site.cookie_name, &site.secrets))?;
    }
    let (target, id) = found.map_err(|nothing| not_found_failure(path, nothing))?;
    guard::check_content_type(&head.method, &head.headers)?;
    match target {
        RouteTarget::Method(method, route) => {
            if let Some(why) = memod_proto::Method::find_method(method).and_then(|method| method.socket_only)
            {
                let message = format!("{method}: not available over HTTP, because {why}");
                return Err(HttpFailure::new(StatusCode::FORBIDDEN, "forbidden", message)
                    .with_hint("use `memo` or the socket"));
            }
            let bytes = read_body(body, MAX_BODY_BYTES).await?;
            call_method(site, method, route, id, head.uri.query(), &bytes).await
        }
        RouteTarget::Description => Ok(bytes_response(StatusCode::OK, "application/json", DESCRIPTION)),
        RouteTarget::Events => event_stream::answer_events(site, head.uri.query()).await,
        RouteTarget::Session => open_session(site, &head.headers, body).await,
    }
}

/// Answers requests that need no token.
async fn answer_public(site: &HttpSite, head: &Parts) -> Result<Response<Body>, HttpFailure> {
    let path = head.uri.path();
    let file = page_files::find_file(path);
    if file.is_none() && path != "/health" {
        return Err(not_found_failure(path, NoRoute::NoPath));
    }
    if ![Method::GET, Method::HEAD].contains(&head.method) {
        return Err(not_found_failure(path, NoRoute::OnlyVerbs(vec!["GET", "HEAD"])));
    }
    match file {
        Some(file) => Ok(bytes_response(StatusCode::OK, file.content_type, file.bytes)),
        None => {
            site.hosts.check_origin(&head.headers)?;
            Ok(answer_health(site).await)
        }
    }
}

fn not_found_failure(path: &str, nothing: NoRoute) -> HttpFailure {
    match nothing {
        NoRoute::NoPath => {
            HttpFailure::new(StatusCode::NOT_FOUND, "no-method", format!("{path}: no such address"))
                .with_hint("GET /v1/openapi.json lists all addresses")
        }
        NoRoute::OnlyVerbs(verbs) => {
            let verbs = verbs.join(", ");
            let message = format!("{path}: answers only {verbs}");
            let failure = HttpFailure::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", message);
            match HeaderValue::from_str(&verbs) {
                Ok(verbs) => failure.with_header(ALLOW, verbs),
                Err(_) => failure,
            }
        }
    }
}

/// Returns an error for a caller that has not proved to have the token.
fn check_proof(site: &HttpSite, proof: AccessProof) -> Result<(), HttpFailure> {
    if proof == AccessProof::Right {
        return Ok(());
    }
    let refused_for =
        (proof == AccessProof::Wrong).then(|| lock(&site.guesses).note_wrong(Instant::now())).flatten();
    if let Some(time) = refused_for {
        let message = "too many wrong tokens or cookies";
        return Err(HttpFailure::new(StatusCode::TOO_MANY_REQUESTS, "too-many", message).with_retry(time));
    }
    let message = match proof {
        AccessProof::Wrong => "wrong token or cookie; it may be from before this server was started",
        _ => "the request has neither a token nor the cookie of a session",
    };
    Err(HttpFailure::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
        .with_hint(
            "`memo serve` prints the address with the token; a program sends Authorization: Bearer TOKEN",
        )
        .with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")))
}

/// Exchanges the token in a request for a cookie, which scripts cannot read and other sites cannot send.
async fn open_session(
    site: &HttpSite,
    headers: &HeaderMap,
    body: Incoming,
) -> Result<Response<Body>, HttpFailure> {
    let proof = match guard::bearer_token(headers) {
        Some(token) => compare_token(site, token),
        None => {
            let bytes = read_body(body, MAX_SESSION_BODY_BYTES).await?;
            let token = params::parse_body(&bytes)?.remove("token");
            token
                .as_ref()
                .and_then(Value::as_str)
                .map_or(AccessProof::Absent, |token| compare_token(site, token))
        }
    };
    check_proof(site, proof)?;
    let (name, secret) = (&site.cookie_name, site.secrets.session());
    let cookie = format!("{name}={secret}; HttpOnly; SameSite=Strict; Path=/");
    let mut response = bytes_response(StatusCode::NO_CONTENT, "application/json", "");
    let cookie = HeaderValue::from_str(&cookie).map_err(|_| HttpFailure::internal_failure())?;
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}

fn compare_token(site: &HttpSite, token: &str) -> AccessProof {
    if site.secrets.accept_session_token(token, Instant::now()) {
        AccessProof::Right
    } else {
        AccessProof::Wrong
    }
}

/// Reads a body; refuses at once a body whose announced length is over the limit.
async fn read_body(body: Incoming, max_bytes: usize) -> Result<Bytes, HttpFailure> {
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(too_long_failure(max_bytes));
    }
    let collecting = timeout(BODY_TIME, Limited::new(body, max_bytes).collect());
    let collected = collecting.await.map_err(|_| {
        let message = format!("the body has not arrived within {} s", BODY_TIME.as_secs());
        HttpFailure::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
    })?;
    match collected {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_long_failure(max_bytes)),
        Err(error) => Err(HttpFailure::new(
            StatusCode::BAD_REQUEST,
            "usage",
            format!("the body cannot be read: {error}"),
        )),
    }
}

fn too_long_failure(max_bytes: usize) -> HttpFailure {
    let message = format!("the body is longer than {max_bytes} bytes");
    HttpFailure::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message)
        .with_hint("send it in several requests")
}

/// Runs a method as the socket does. A request that creates something is answered with the status 201.
async fn call_method(
    site: &HttpSite,
    method: &'static str,
    route: Option<&ApiRoute>,
    id: Option<&str>,
    query: Option<&str>,
    body: &[u8],
) -> Result<Response<Body>, HttpFailure> {
    let mut params = params::parse_body(body)?;
    if let Some(route) = route {
        params::add_address_params(&mut params, route, id, query)?;
    }
    params::complete_params(&mut params, method, &site.root)?;
    let place = site.in_work.try_acquire();
    let _place = place
        .map_err(|_| HttpFailure::busy_failure("too many requests are in progress on all connections"))?;
    let result =
        dispatch::call_method(&site.shared, RequestOrigin::Other, method, Value::Object(params)).await?;
    let is_new = route.is_some_and(|route| route.verb == "POST") && result["created"] == true;
    Ok(json_response(if is_new { StatusCode::CREATED } else { StatusCode::OK }, &result))
}
