//! What does a page of another site, or a program without the token, get?

use std::io::{BufReader, ErrorKind, Write};

use serde_json::json;

use super::{Web, read_answer};

#[test]
fn another_host_gets_nothing() {
    let web = Web::new();
    let port = web.port;
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        "127.0.0.1:1".to_owned(),
    ] {
        for path in ["/", "/health", "/v1/status", "/v1/session"] {
            let answer = web.ask_with("POST", path, &[("Host", &host)], "{}");
            assert_eq!((answer.status, answer.code().as_str()), (421, "wrong-host"), "{host} {path}");
        }
    }
    assert_eq!(web.ask_with("GET", "/", &[("Host", "")], "").status, 421, "no host at all");
    let absolute = format!("http://evil.example:{port}/v1/stats");
    assert_eq!(web.ask_with("GET", &absolute, &[], "").status, 421);
    let named = format!("localhost:{port}");
    assert_eq!(web.ask_with("GET", "/v1/stats", &[("Host", &named)], "").status, 200);
}

#[test]
fn a_page_of_another_origin_gets_nothing() {
    let web = Web::new();
    let other_port = format!("http://127.0.0.1:{}", web.port - 1);
    for origin in ["http://evil.example", "null", "https://127.0.0.1", &other_port] {
        let answer = web.ask_with("POST", "/v1/memories", &[("Origin", origin)], "{\"content\":\"planted\"}");
        assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"), "{origin}");
        let preflight = web.ask_with(
            "OPTIONS",
            "/v1/memories",
            &[("Origin", origin), ("Access-Control-Request-Method", "POST")],
            "",
        );
        assert_eq!(preflight.status, 403, "{origin}");
        for answer in [answer, preflight] {
            let cors = answer.headers.iter().find(|(name, _)| name.starts_with("access-control"));
            assert_eq!(cors, None, "{origin}");
        }
    }
    for site in ["cross-site", "same-site"] {
        let answer = web.ask_with("GET", "/v1/stats", &[("Sec-Fetch-Site", site)], "");
        assert_eq!(answer.status, 403, "{site}");
        assert_eq!(web.ask_with("GET", "/health", &[("Sec-Fetch-Site", site)], "").status, 403, "{site}");
    }
    let own = format!("http://127.0.0.1:{}", web.port);
    let answer = web.ask_with("GET", "/v1/stats", &[("Origin", &own), ("Sec-Fetch-Site", "same-origin")], "");
    assert_eq!((answer.status, &answer.json()["living"]), (200, &json!(0)), "nothing was planted");
}

#[test]
fn without_the_token_nothing_is_answered() {
    let web = Web::new();
    let none = [("Authorization", "")];
    for (verb, path) in [
        ("POST", "/v1/status"),
        ("GET", "/v1/memories"),
        ("GET", "/v1/openapi.json"),
        ("GET", "/v1/none"),
        ("POST", "/v1/stop"),
    ] {
        let answer = web.ask_with(verb, path, &none, "{}");
        assert_eq!((answer.status, answer.code().as_str()), (401, "unauthorized"), "{path}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{path}");
    }
    // In the address it would be in logs and histories.
    let in_query = format!("/v1/stats?token={}", web.token);
    assert_eq!(web.ask_with("GET", &in_query, &none, "").status, 401);
    let session = web.ask_with("POST", "/v1/session", &none, "{}");
    assert_eq!((session.status, session.header("set-cookie")), (401, None));
}

#[test]
fn guesses_are_refused_and_the_right_token_is_not() {
    let web = Web::new();
    let guess = |n: usize| {
        let mut guess = web.token.clone();
        guess.replace_range(n..=n, if &guess[n..=n] == "A" { "B" } else { "A" });
        guess
    };
    let mut statuses = Vec::new();
    for n in 0..20 {
        let bearer = format!("Bearer {}", guess(n));
        let body = json!({ "token": guess(n) }).to_string();
        let answer = match n % 2 {
            0 => web.ask_with("GET", "/v1/stats", &[("Authorization", &bearer)], ""),
            _ => web.ask_with("POST", "/v1/session", &[("Authorization", "")], &body),
        };
        assert_eq!(answer.header("set-cookie"), None);
        let retry_s = answer.header("retry-after").map(|seconds| seconds.parse::<u64>().unwrap());
        assert_eq!(
            retry_s.is_some_and(|seconds| (1..=60).contains(&seconds)),
            answer.status == 429,
            "{answer:?}"
        );
        statuses.push(answer.status);
    }
    assert_eq!(statuses, [[401; 10], [429; 10]].concat());
    assert_eq!(web.ask("GET", "/v1/stats", &json!(null)).status, 200, "nobody can lock out the owner");
}

#[test]
fn a_cookie_is_for_one_server_and_its_page() {
    let web = Web::new();
    let session = web.ask("POST", "/v1/session", &json!({}));
    assert_eq!((session.status, session.body.len()), (204, 0));
    let set = session.header("set-cookie").unwrap();
    let (cookie, rest) = set.split_once("; ").unwrap();
    assert_eq!(rest, "HttpOnly; SameSite=Strict; Path=/");
    let (name, secret) = cookie.split_once('=').unwrap();
    assert_eq!(name, format!("memo-{}", web.port), "cookies do not know ports");
    assert!(!secret.contains(&web.token) && secret.len() >= 43, "the token cannot be read from it");

    let with =
        |cookie: &str| web.ask_with("GET", "/v1/stats", &[("Authorization", ""), ("Cookie", cookie)], "");
    assert_eq!(with(cookie).status, 200);
    assert_eq!(
        with(&format!("other=1; {name}=planted; {cookie}")).status,
        200,
        "one was planted from another port"
    );
    for wrong in [
        format!("{name}={}", web.token),
        format!("{name}="),
        format!("{name}={}", &secret[1..]),
        format!("memo-1={secret}"),
    ] {
        assert_eq!(with(&wrong).status, 401, "{wrong}");
    }
    let by_cookie = [("Authorization", ""), ("Cookie", cookie), ("Origin", "http://evil.example")];
    assert_eq!(web.ask_with("POST", "/v1/memories", &by_cookie, "{}").status, 403);

    web.live.call("serve.stop", json!({}));
    let next = Web::of(web.live);
    assert_ne!(next.token, web.token);
    let stale = [("Authorization", ""), ("Cookie", cookie)];
    assert_eq!(next.ask_with("GET", "/v1/stats", &stale, "").status, 401, "it ended with its server");
}

/// Sends a head and so many MiB of a body, and returns what is answered before or after all have been sent.
fn send_mib(
    web: &Web,
    headers: &[(&str, &str)],
    framing: &str,
    n_mib: usize,
) -> (Option<super::Answer>, usize) {
    let mut stream = web.connect();
    write!(stream, "{}{framing}\r\n\r\n", web.head("POST", "/v1/memories", headers)).unwrap();
    let mib = vec![b' '; 1 << 20];
    let is_chunked = framing.contains("chunked");
    let mut n_sent = 0;
    while n_sent < n_mib {
        let part = if is_chunked {
            stream
                .write_all(b"100000\r\n")
                .and_then(|()| stream.write_all(&mib))
                .and_then(|()| stream.write_all(b"\r\n"))
        } else {
            stream.write_all(&mib)
        };
        match part {
            Ok(()) => n_sent += 1,
            Err(error) => {
                assert!(
                    [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset].contains(&error.kind()),
                    "{error}"
                );
                break;
            }
        }
    }
    (read_answer(&mut BufReader::new(stream)), n_sent)
}

#[test]
fn a_body_of_100_mib_is_not_read() {
    let web = Web::new();
    let length = format!("Content-Length: {}", 100 << 20);
    let bearer = format!("Bearer {}", web.token);
    let (with, without) = ([("Authorization", bearer.as_str())], [("Authorization", "")]);
    for (headers, framing, expected) in [
        (&with, length.as_str(), 413),
        (&with, "Transfer-Encoding: chunked", 413),
        (&without, length.as_str(), 401),
        (&without, "Transfer-Encoding: chunked", 401),
    ] {
        let (answer, n_sent) = send_mib(&web, headers, framing, 100);
        assert!(n_sent < 100, "{framing}: all was read");
        // The answer may be lost when what nobody read is thrown away with the connection.
        let status = answer.map_or(expected, |answer| answer.status);
        assert_eq!(status, expected, "{framing}");
    }
    // Who waits for permission, as curl does, is told before anything is sent.
    let mut stream = web.connect();
    write!(stream, "{}{length}\r\nExpect: 100-continue\r\n\r\n", web.head("POST", "/v1/memories", &[]))
        .unwrap();
    let answer = read_answer(&mut BufReader::new(stream)).unwrap();
    assert_eq!((answer.status, answer.code().as_str()), (413, "too-large"));
    let longest = json!({ "content": "a", "metadata": { "x": "y".repeat((8 << 20) - 100) } }).to_string();
    let answer = web.ask_with("POST", "/v1/memories", &[], &longest);
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (400, "usage"),
        "it is read, and the method refuses it"
    );
    web.assert_alive("after long bodies");
}

#[test]
fn paths_lead_nowhere_else() {
    let web = Web::new();
    web.live.write("secret.md", "nobody asked for it");
    for path in [
        "/../secret.md",
        "/a.md",
        "/./a.md",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2fetc%2fpasswd",
        "/app.js/../../../etc/passwd",
        "//etc/passwd",
        "/page/index.html",
        "/src/daemon/web/page/index.html",
        "/app.js%00.html",
        "/v1/../app.js",
        "/v1/../../etc/passwd",
        "/v1/memories/../../etc/passwd",
        "/v1/",
        "/v2/status",
        "/index.html",
    ] {
        let answer = web.ask_with("GET", path, &[], "");
        assert_eq!((answer.status, answer.code().as_str()), (404, "no-method"), "{path}");
    }
}

#[test]
fn each_address_has_its_verbs() {
    let web = Web::new();
    let check = |verb: &str, path: &str, allowed: &str| {
        let answer = web.ask_with(verb, path, &[], "");
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{verb} {path}");
    };
    check("GET", "/v1/memory.add", "POST");
    check("GET", "/v1/session", "POST");
    check("DELETE", "/v1/memories", "GET, POST");
    check("POST", "/v1/stats", "GET");
    check("OPTIONS", "/v1/stats", "GET");
    check("TRACE", "/v1/stats", "GET");
    check("BREW", "/v1/stats", "GET");
    check("POST", "/", "GET, HEAD");
    check("DELETE", "/health", "GET, HEAD");
    let answer = web.ask_with("CONNECT", "evil.example:443", &[], "");
    assert!((400..500).contains(&answer.status), "{answer:?}");
}

#[test]
fn a_form_changes_nothing() {
    let web = Web::new();
    let id = web.add("the first thing to remember");
    let forget = format!("/v1/memories/{id}");
    for (verb, path) in
        [("POST", "/v1/memories"), ("POST", "/v1/memory.add"), ("DELETE", &forget), ("PATCH", &forget)]
    {
        for media in [
            "",
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "text/plain, application/json",
        ] {
            let answer = web.ask_with(verb, path, &[("Content-Type", media)], "{\"content\":\"planted\"}");
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (415, "content-type"),
                "{verb} {path} {media}"
            );
        }
    }
    assert_eq!(web.get("GET", "/v1/stats", &json!(null))["living"], 1);
}

#[test]
fn what_ends_the_daemon_or_leaves_the_repository_is_not_served() {
    let web = Web::new();
    for method in [
        "stop",
        "serve.start",
        "serve.stop",
        "serve.status",
        "hooks.install",
        "hooks.uninstall",
        "model.import",
        "model.use",
        "model.remove",
        "llm.expand",
        "llm.summarise",
        "llm.compare",
        "llm.suggest",
        "llm.distil",
        "memory.read_database",
        "subscribe",
        "unsubscribe",
    ] {
        let answer = web.ask("POST", &format!("/v1/{method}"), &json!({}));
        assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"), "{method}");
    }
    let copy = web.live.sandbox.path("copy.db");
    for (method, body) in
        [("memory.backup", json!({ "path": copy })), ("memory.restore_backup", json!({ "path": copy }))]
    {
        let answer = web.ask("POST", &format!("/v1/{method}"), &body);
        assert_eq!((answer.status, copy.exists()), (400, false), "{method}: {}", answer.json());
    }
    let expanded = |expand: bool| {
        web.ask("POST", "/v1/search", &json!({ "query": "sent elsewhere", "expand": expand })).status
    };
    assert_eq!((expanded(true), expanded(false)), (400, 200));
    let outside = web.ask("POST", "/v1/search", &json!({ "query": "x", "cwd": "/" }));
    assert_eq!((outside.status, outside.code().as_str()), (400, "wrong-repository"));
    web.assert_alive("after all of these");
}

#[test]
fn a_script_in_a_memory_stays_text() {
    let web = Web::new();
    let script = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
    let id = web.add(script);
    let answer = web.ask("GET", &format!("/v1/memories/{id}"), &json!(null));
    assert_eq!(answer.json()["memories"][0]["content"], script);
    let headers = ["content-type", "x-content-type-options", "cross-origin-resource-policy", "cache-control"];
    let told = headers.map(|name| answer.header(name).unwrap());
    assert_eq!(told, ["application/json", "nosniff", "same-origin", "no-store"]);
    assert!(
        answer
            .header("content-security-policy")
            .unwrap()
            .starts_with("default-src 'none'; script-src 'self';")
    );
    let in_path = web.ask("GET", "/v1/%3Cscript%3Ealert(1)%3C/script%3E", &json!(null));
    assert_eq!((in_path.status, in_path.header("content-type")), (404, Some("application/json")));
}
