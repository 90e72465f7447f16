//! Answers a request: with a file of the page, or with what a method of the socket returns.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{ALLOW, HeaderMap, HeaderValue, SET_COOKIE, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use memod_base::threads::lock;
use memod_proto::http::{PREFIX, Route};
use serde_json::Value;
use tokio::time::timeout;

use super::event_stream;
use super::guard::{self, Proof};
use super::health::health;
use super::page_files;
use super::request_params as params;
use super::response::{Body, Failure, of_bytes, of_json};
use super::router::{self, Nothing, Target};
use super::site::Site;
use crate::daemon::dispatch;

/// Longest body, as long as a line of the socket.
const MAX_BODY_BYTES: usize = 8 << 20;
/// Longest body of who has not proved anything yet.
const MAX_SESSION_BYTES: usize = 4 << 10;
/// Time limit for a body.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The description of the API, which a test makes from the types of `proto`.
const DESCRIPTION: &[u8] = include_bytes!("openapi.json");

/// Answers one request.
pub(super) async fn answer(site: Arc<Site>, request: Request<Incoming>) -> Response<Body> {
    let (head, body) = request.into_parts();
    respond(&site, &head, body).await.unwrap_or_else(Failure::into_response)
}

async fn respond(site: &Site, head: &Parts, body: Incoming) -> Result<Response<Body>, Failure> {
    guard::check_length(head)?;
    site.hosts.check_host(&head.headers, &head.uri)?;
    let path = head.uri.path();
    if !path.starts_with(PREFIX) {
        return public(site, head).await;
    }
    site.hosts.check_origin(&head.headers)?;
    let found = router::find(head.method.as_str(), path);
    if !matches!(found, Ok((Target::Session, _))) {
        check_proof(site, guard::proof(&head.headers, &site.cookie_name, &site.secrets))?;
    }
    let (target, id) = found.map_err(|nothing| not_there(path, nothing))?;
    guard::check_type(&head.method, &head.headers)?;
    match target {
        Target::Method(method, route) => {
            if let Some(why) = memod_proto::Method::find(method).and_then(|method| method.socket_only) {
                let message = format!("{method}: not over HTTP, because {why}");
                return Err(Failure::new(StatusCode::FORBIDDEN, "forbidden", message)
                    .with_hint("`memo` and the socket have it"));
            }
            let bytes = read(body, MAX_BODY_BYTES).await?;
            call(site, method, route, id, head.uri.query(), &bytes).await
        }
        Target::Description => Ok(of_bytes(StatusCode::OK, "application/json", DESCRIPTION)),
        Target::Events => event_stream::answer(site, head.uri.query()).await,
        Target::Session => open_session(site, &head.headers, body).await,
    }
}

/// Answers what needs no token.
async fn public(site: &Site, head: &Parts) -> Result<Response<Body>, Failure> {
    let path = head.uri.path();
    let file = page_files::find(path);
    if file.is_none() && path != "/health" {
        return Err(not_there(path, Nothing::NoPath));
    }
    if ![Method::GET, Method::HEAD].contains(&head.method) {
        return Err(not_there(path, Nothing::OnlyVerbs(vec!["GET", "HEAD"])));
    }
    match file {
        Some(file) => Ok(of_bytes(StatusCode::OK, file.content_type, file.bytes)),
        None => {
            site.hosts.check_origin(&head.headers)?;
            Ok(health(site).await)
        }
    }
}

fn not_there(path: &str, nothing: Nothing) -> Failure {
    match nothing {
        Nothing::NoPath => {
            Failure::new(StatusCode::NOT_FOUND, "no-method", format!("{path}: there is no such address"))
                .with_hint("GET /v1/openapi.json lists all")
        }
        Nothing::OnlyVerbs(verbs) => {
            let verbs = verbs.join(", ");
            let message = format!("{path}: only {verbs}");
            let failure = Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", message);
            match HeaderValue::from_str(&verbs) {
                Ok(verbs) => failure.with_header(ALLOW, verbs),
                Err(_) => failure,
            }
        }
    }
}

/// Refuses who has not proved to have the token.
fn check_proof(site: &Site, proof: Proof) -> Result<(), Failure> {
    if proof == Proof::Right {
        return Ok(());
    }
    let refused_for =
        (proof == Proof::Wrong).then(|| lock(&site.guesses).note_wrong(Instant::now())).flatten();
    if let Some(time) = refused_for {
        let message = "too many wrong tokens or cookies";
        return Err(Failure::new(StatusCode::TOO_MANY_REQUESTS, "too-many", message).with_retry(time));
    }
    let message = match proof {
        Proof::Wrong => "this token or cookie is not of this server, or from before it was started",
        _ => "neither a token nor the cookie of a session",
    };
    Err(Failure::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
        .with_hint(
            "`memo serve` prints the address with the token; a program sends Authorization: Bearer TOKEN",
        )
        .with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")))
}

/// Exchanges the token for a cookie, which scripts cannot read and other sites cannot send.
async fn open_session(site: &Site, headers: &HeaderMap, body: Incoming) -> Result<Response<Body>, Failure> {
    let proof = match guard::bearer(headers) {
        Some(token) => of_token(site, token),
        None => {
            let bytes = read(body, MAX_SESSION_BYTES).await?;
            let token = params::of_body(&bytes)?.remove("token");
            token.as_ref().and_then(Value::as_str).map_or(Proof::Absent, |token| of_token(site, token))
        }
    };
    check_proof(site, proof)?;
    let (name, secret) = (&site.cookie_name, site.secrets.session());
    let cookie = format!("{name}={secret}; HttpOnly; SameSite=Strict; Path=/");
    let mut response = of_bytes(StatusCode::NO_CONTENT, "application/json", "");
    let cookie = HeaderValue::from_str(&cookie).map_err(|_| Failure::internal())?;
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}

fn of_token(site: &Site, token: &str) -> Proof {
    if site.secrets.opens_session(token, Instant::now()) { Proof::Right } else { Proof::Wrong }
}

/// Reads a body, but not one that says at once that it is too long.
async fn read(body: Incoming, max_bytes: usize) -> Result<Bytes, Failure> {
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(too_long(max_bytes));
    }
    let bad = |status, code, message: String| Failure::new(status, code, message);
    let collecting = timeout(BODY_TIME, Limited::new(body, max_bytes).collect());
    let collected = collecting.await.map_err(|_| {
        let message = format!("the body has not arrived within {} s", BODY_TIME.as_secs());
        bad(StatusCode::REQUEST_TIMEOUT, "timeout", message)
    })?;
    match collected {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_long(max_bytes)),
        Err(error) => Err(bad(StatusCode::BAD_REQUEST, "usage", format!("the body cannot be read: {error}"))),
    }
}

fn too_long(max_bytes: usize) -> Failure {
    let message = format!("a body over {max_bytes} bytes");
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message).with_hint("send it in several requests")
}

/// Runs a method as the socket does. What was created has its own status.
async fn call(
    site: &Site,
    method: &'static str,
    route: Option<&Route>,
    id: Option<&str>,
    query: Option<&str>,
    body: &[u8],
) -> Result<Response<Body>, Failure> {
    let mut params = params::of_body(body)?;
    if let Some(route) = route {
        params::add_address(&mut params, route, id, query)?;
    }
    params::complete(&mut params, method, &site.root)?;
    let place = site.in_work.try_acquire();
    let _place = place.map_err(|_| Failure::busy("too many requests are in progress on all connections"))?;
    let result = dispatch::call(&site.shared, method, Value::Object(params)).await?;
    let is_new = route.is_some_and(|route| route.verb == "POST") && result["created"] == true;
    Ok(of_json(if is_new { StatusCode::CREATED } else { StatusCode::OK }, &result))
}
