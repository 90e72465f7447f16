//! Does a browser get the page, and can nothing be put into it?

use serde_json::json;

use super::Web;
use crate::live::until;

#[test]
fn the_page_needs_no_token_and_has_no_script_inside() {
    let web = Web::new();
    for (path, media) in [
        ("/", "text/html"),
        ("/?x=1", "text/html"),
        ("/app.js", "text/javascript"),
        ("/search.js", "text/javascript"),
        ("/app.css", "text/css"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        let answer = web.ask_with("GET", path, &[("Authorization", "")], "");
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.header("content-type").unwrap().starts_with(media), "{path}");
        let head = web.ask_with("HEAD", path, &[("Authorization", "")], "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
    }
    let page = String::from_utf8(web.ask_with("GET", "/", &[], "").body).unwrap();
    assert!(!page.contains("<script>") && !page.contains("<style") && !page.contains(" on"), "{page}");
    assert!(!page.contains("http:") && !page.contains("https:"), "nothing comes from elsewhere: {page}");
}

#[test]
fn every_answer_has_the_headers() {
    let web = Web::new();
    let answers = [
        web.ask_with("GET", "/", &[], ""),
        web.ask_with("GET", "/health", &[], ""),
        web.ask_with("GET", "/v1/stats", &[], ""),
        web.ask_with("GET", "/v1/openapi.json", &[], ""),
        web.ask_with("POST", "/v1/session", &[], "{}"),
        web.ask_with("GET", "/none", &[], ""),
        web.ask_with("GET", "/v1/stats", &[("Host", "evil.example")], ""),
        web.ask_with("GET", "/v1/stats", &[("Authorization", "")], ""),
        web.ask_with("POST", "/v1/search", &[], "{"),
    ];
    for answer in answers {
        let has = |name: &str, expected: &str| {
            assert_eq!(answer.header(name), Some(expected), "{}: {name}", answer.status);
        };
        has("x-content-type-options", "nosniff");
        has("x-frame-options", "DENY");
        has("referrer-policy", "no-referrer");
        has("cross-origin-opener-policy", "same-origin");
        has("cross-origin-resource-policy", "same-origin");
        has("cache-control", "no-store");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(!answer.headers.iter().any(|(name, _)| name.starts_with("access-control")));
    }
}

#[test]
fn health_is_a_word() {
    let web = Web::new();
    let ask = |web: &Web| web.ask_with("GET", "/health", &[("Authorization", "")], "");
    let healthy = ask(&web);
    assert_eq!((healthy.status, healthy.json()), (200, json!({ "status": "ok" })));
    web.live.call("serve.stop", json!({}));
    web.live.commit_all();
    web.live.git(&["worktree", "add", "-q", "../second"]);
    let second = web.live.sandbox.path("second");
    let told = web.live.call_in(&second, "serve.start", json!({ "port": web.port }));
    assert_eq!(told["root"], json!(second));
    assert_eq!(ask(&web).status, 200);
    web.live.git(&["worktree", "remove", "--force", "../second"]);
    until("the kept answer is made anew", || ask(&web).status == 503);
    assert_eq!(ask(&web).json(), json!({ "status": "error", "reason": "worktree" }));
}
