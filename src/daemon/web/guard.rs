//! Decides from the head of a request whether it comes from this server's page or from a program that was given the token.
//!
//! A page of another site can make a browser send requests to this computer. Such a request names another origin, or, if the
//! name of the site was made to point here (DNS rebinding), another host; and the page does not know the token.

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode, Uri};

use super::http_secrets::HttpSecrets;
use super::response::HttpFailure;

/// Longest head of a request, bytes.
pub(super) const MAX_HEAD_BYTES: usize = 64 << 10;

/// A header of browsers that says which site a request comes from (<https://www.w3.org/TR/fetch-metadata/>).
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The values of the `Host` header with which this server may be addressed.
pub(super) struct AllowedHosts(Vec<String>);

impl AllowedHosts {
    pub(super) fn new(port: u16) -> Self {
        let names = ["127.0.0.1", "localhost", "[::1]"];
        let mut hosts: Vec<_> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            hosts.extend(names.map(str::to_owned)); // browsers omit this port
        }
        Self(hosts)
    }

    fn allows_host(&self, host: &str) -> bool {
        self.0.iter().any(|ours| ours.eq_ignore_ascii_case(host))
    }

    /// Refuses a request that is addressed to another host.
    pub(super) fn check_host(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), HttpFailure> {
        let host = single_header(headers, &HOST).filter(|host| self.allows_host(host));
        // A request may name the whole address, as for a proxy; then the host there must be allowed too.
        let authority_is_ours = uri.authority().is_none_or(|authority| self.allows_host(authority.as_str()));
        if host.is_some() && authority_is_ours {
            return Ok(());
        }
        let message = "this server is addressed as 127.0.0.1 or localhost, with its port";
        Err(HttpFailure::new(StatusCode::MISDIRECTED_REQUEST, "wrong-host", message)
            .with_hint("use the address that `memo serve` prints"))
    }

    /// Refuses a request that a page of another origin made.
    pub(super) fn check_origin(&self, headers: &HeaderMap) -> Result<(), HttpFailure> {
        let host = single_header(headers, &HOST).unwrap_or_default();
        let origin_fits = !headers.contains_key(ORIGIN)
            || single_header(headers, &ORIGIN).is_some_and(|origin| {
                let of_http = origin.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
                of_http.is_some_and(|scheme| origin[scheme.len()..].eq_ignore_ascii_case(host))
            });
        let site_fits = !headers.contains_key(SEC_FETCH_SITE)
            || single_header(headers, &SEC_FETCH_SITE)
                .is_some_and(|site| ["same-origin", "none"].contains(&site));
        if origin_fits && site_fits {
            return Ok(());
        }
        let message = "this request comes from a page of another origin";
        Err(HttpFailure::new(StatusCode::FORBIDDEN, "forbidden", message)
            .with_hint("only this server's own page, and programs with the token, may send requests"))
    }
}

/// The proof of access that a request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessProof {
    /// The right token, or the cookie of a session.
    Right,
    /// Another token or cookie.
    Wrong,
    /// Neither a token nor a cookie.
    Absent,
}

impl AccessProof {
    fn from_match(is_right: bool) -> Self {
        if is_right { Self::Right } else { Self::Wrong }
    }
}

/// Compares the token in `Authorization`, or else the cookies with this name, with the secrets.
pub(super) fn read_proof(headers: &HeaderMap, cookie_name: &str, secrets: &HttpSecrets) -> AccessProof {
    if headers.contains_key(AUTHORIZATION) {
        return AccessProof::from_match(bearer_token(headers).is_some_and(|token| secrets.is_token(token)));
    }
    // Servers on other ports of this computer can set a cookie of the same name, so there may be several.
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let ours: Vec<_> = pairs.filter(|(name, _)| *name == cookie_name).map(|(_, value)| value).collect();
    match ours.is_empty() {
        true => AccessProof::Absent,
        false => AccessProof::from_match(ours.iter().any(|value| secrets.is_session(value))),
    }
}

/// Returns the token in `Authorization: Bearer TOKEN`.
pub(super) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = single_header(headers, &AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// Refuses a head that is too long. hyper checks its own limit only before it reads on, so it accepts up to twice as much.
pub(super) fn check_head_length(head: &Parts) -> Result<(), HttpFailure> {
    let line = head.method.as_str().len() + head.uri.to_string().len() + "  HTTP/1.1\r\n".len();
    let headers = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    if line + headers.sum::<usize>() + "\r\n".len() <= MAX_HEAD_BYTES {
        return Ok(());
    }
    let message = format!("the head of the request is longer than {MAX_HEAD_BYTES} bytes");
    Err(HttpFailure::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "too-large", message)
        .with_hint("send long values in the body"))
}

/// Refuses a request other than GET whose body is not JSON: a form on another site can send only other types.
pub(super) fn check_content_type(method: &Method, headers: &HeaderMap) -> Result<(), HttpFailure> {
    let media = single_header(headers, &CONTENT_TYPE).and_then(|value| value.split(';').next());
    let is_json = media.is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json"));
    if *method == Method::GET || is_json {
        return Ok(());
    }
    let message = format!("{method} needs the header Content-Type: application/json");
    Err(HttpFailure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type", message)
        .with_hint("send the params as a JSON object; {} if there are none"))
}

/// Returns the value of a header that a request has exactly once.
fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().expect("a value"));
        }
        headers
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let check = |port: u16, lines: &[(&'static str, &str)], uri: &str, expected: bool| {
            let uri: Uri = uri.parse().expect("an address");
            let fits = AllowedHosts::new(port).check_host(&headers(lines), &uri).is_ok();
            assert_eq!(fits, expected, "{port} {lines:?} {uri}");
        };
        for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"] {
            check(8080, &[("host", host)], "/", true);
        }
        for host in [
            "",
            "127.0.0.1",
            "localhost",
            "127.0.0.1:80",
            "127.0.0.1:80800",
            "evil.example:8080",
            "0.0.0.0:8080",
            "127.0.0.1.nip.io:8080",
            "localhost:8080.",
            "localhost.:8080",
            "x@localhost:8080",
            "127.1:8080",
        ] {
            check(8080, &[("host", host)], "/", false);
        }
        check(8080, &[], "/", false);
        check(8080, &[("host", "localhost:8080"), ("host", "evil.example")], "/", false);
        check(8080, &[("host", "localhost:8080")], "http://evil.example/", false);
        check(8080, &[("host", "localhost:8080")], "http://localhost:8080/", true);
        check(80, &[("host", "localhost")], "/", true);
    }

    #[test]
    fn only_our_own_page_is_answered() {
        let check = |lines: &[(&'static str, &str)], expected: bool| {
            let all = [&[("host", "127.0.0.1:8080")], lines].concat();
            assert_eq!(AllowedHosts::new(8080).check_origin(&headers(&all)).is_ok(), expected, "{lines:?}");
        };
        check(&[], true);
        check(&[("origin", "http://127.0.0.1:8080")], true);
        check(&[("sec-fetch-site", "same-origin")], true);
        check(&[("sec-fetch-site", "none")], true);
        for origin in [
            "null",
            "",
            "http://evil.example",
            "https://127.0.0.1:8080",
            "http://localhost:8080",
            "http://127.0.0.1:8081",
            "http://127.0.0.1",
            "http://127.0.0.1:8080/",
            "http://127.0.0.1:8080.evil",
            "é",
        ] {
            check(&[("origin", origin)], false);
        }
        check(&[("origin", "http://127.0.0.1:8080"), ("origin", "http://evil.example")], false);
        check(&[("sec-fetch-site", "cross-site")], false);
        check(&[("origin", "http://127.0.0.1:8080"), ("sec-fetch-site", "same-site")], false);
    }

    #[test]
    fn a_token_or_a_cookie_proves_a_request() {
        let secrets = HttpSecrets::random().expect("random bytes");
        let (token, session) = (secrets.token().to_owned(), secrets.session().to_owned());
        let check = |lines: &[(&'static str, &str)], expected: AccessProof| {
            assert_eq!(read_proof(&headers(lines), "memo-1", &secrets), expected, "{lines:?}");
        };
        check(&[], AccessProof::Absent);
        check(&[("authorization", &format!("Bearer {token}"))], AccessProof::Right);
        check(&[("authorization", &format!("bearer  {token} "))], AccessProof::Right);
        check(&[("authorization", &format!("Basic {token}"))], AccessProof::Wrong);
        check(&[("authorization", &token)], AccessProof::Wrong);
        check(&[("authorization", "Bearer "), ("cookie", &format!("memo-1={session}"))], AccessProof::Wrong);
        check(&[("cookie", &format!("a=b; memo-1={session}"))], AccessProof::Right);
        check(&[("cookie", &format!("memo-1=x; memo-1={session}"))], AccessProof::Right);
        check(&[("cookie", "memo-1=x"), ("cookie", &format!("memo-1={session}"))], AccessProof::Right);
        check(&[("cookie", &format!("memo-1={token}"))], AccessProof::Wrong);
        check(&[("cookie", &format!("memo-2={session}; memo-1; =; ;"))], AccessProof::Absent);
    }

    #[test]
    fn changes_are_json() {
        let check = |method: Method, types: &[&str], expected: bool| {
            let lines: Vec<_> = types.iter().map(|value| ("content-type", *value)).collect();
            assert_eq!(check_content_type(&method, &headers(&lines)).is_ok(), expected, "{method} {types:?}");
        };
        check(Method::GET, &[], true);
        check(Method::POST, &["application/json"], true);
        check(Method::PATCH, &["Application/JSON; charset=utf-8"], true);
        check(Method::DELETE, &[], false);
        check(Method::POST, &["text/plain"], false);
        check(Method::POST, &["application/x-www-form-urlencoded"], false);
        check(Method::POST, &["application/jsonp"], false);
        check(Method::POST, &["text/plain", "application/json"], false);
    }
}
