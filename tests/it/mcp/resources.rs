//! Can memories and documents be read, and nothing else?

use std::os::unix::fs::symlink;

use serde_json::json;

use super::{Mcp, indexed};

#[test]
fn memories_and_documents_are_listed_and_read() {
    let live = indexed();
    live.write("docs/a b%.md", "# Odd\n");
    live.write("docs/old.rst", "Older\n=====\n");
    live.write("docs/older.rest", "Oldest\n======\n");
    live.write("docs/plan.asc", "= Plan\n");
    live.write("docs/old.ipynb", "{\"cells\": []}");
    let mut mcp = Mcp::modern(&live, &[]);
    let added = mcp.tool("remember", json!({ "text": "tokens last a day", "tag": "auth" }));
    let id = added["structuredContent"]["memory"]["id"].as_str().unwrap().to_owned();
    let listed = mcp.call("resources/list", json!({})).unwrap();
    let uris: Vec<&str> =
        listed["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!(uris.len(), 6, "the memory and five documents: {uris:?}");
    assert_eq!(uris[0], format!("memory://{id}"));
    let (markdown, rst) = ("text/markdown", "text/x-rst");
    let expected = [
        ("tokens last a day", markdown),
        ("# Odd", markdown),
        ("# Sessions", markdown),
        ("Older", rst),
        ("Oldest", rst),
        ("= Plan", "text/asciidoc"),
    ];
    for (uri, (expected, mime_type)) in uris.iter().zip(expected) {
        let read = mcp.call("resources/read", json!({ "uri": uri })).unwrap();
        let content = &read["contents"][0];
        assert_eq!((&content["uri"], &content["mimeType"]), (&json!(uri), &json!(mime_type)));
        assert!(content["text"].as_str().unwrap().contains(expected), "{read}");
        assert_eq!(read["ttlMs"], 0);
    }
    let templates = mcp.call("resources/templates/list", json!({})).unwrap();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "memory://{id}");
    let wanted = json!({ "ref": { "type": "ref/resource", "uri": "memory://{id}" }, "argument": { "name": "id", "value": &id[..6] } });
    assert_eq!(mcp.call("completion/complete", wanted).unwrap()["completion"]["values"], json!([id]));
}

#[test]
fn many_resources_come_in_pages() {
    let live = indexed();
    for number in 0..150 {
        live.write(&format!("docs/n{number}.md"), format!("# {number}\n"));
    }
    let mut mcp = Mcp::legacy(&live, &[]);
    let first = mcp.call("resources/list", json!({})).unwrap();
    assert_eq!(first["resources"].as_array().unwrap().len(), 100);
    let rest = mcp.call("resources/list", json!({ "cursor": first["nextCursor"] })).unwrap();
    assert_eq!(rest["resources"].as_array().unwrap().len(), 51);
    assert!(rest["nextCursor"].is_null());
}

#[test]
fn credentials_are_replaced() {
    let live = indexed();
    let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    live.write("docs/deploy.md", format!("# Deploy\n\nUse {token} for it.\n"));
    let mut mcp = Mcp::modern(&live, &[]);
    let uri = format!("file://{}/docs/deploy.md", live.root().display());
    let read = mcp.call("resources/read", json!({ "uri": uri })).unwrap();
    assert_eq!(read["contents"][0]["text"], "# Deploy\n\nUse [REDACTED] for it.\n");
}

#[test]
fn nothing_else_can_be_read() {
    let live = indexed();
    let outside = live.sandbox.path("home/secret.md");
    std::fs::write(&outside, "hidden").unwrap();
    live.write(".gitignore", "ignored.md\n");
    live.write("ignored.md", "hidden");
    symlink(&outside, live.root().join("link.md")).unwrap();
    symlink(live.sandbox.path("home"), live.root().join("up")).unwrap();
    let root = live.root().display().to_string();
    let mut uris: Vec<String> = [
        "/.env",
        "/.git/config",
        "/link.md",
        "/up/secret.md",
        "/../home/secret.md",
        "/docs/../../home/secret.md",
        "/docs/%2e%2e/%2E%2E/home/secret.md",
        "/docs/..%2f..%2fhome/secret.md",
        "/docs//auth.md/../../.env",
        "/ignored.md",
        "/docs",
        "",
        "/docs/auth.md%00",
        "/%ff",
        "/no/such",
    ]
    .map(|path| format!("file://{root}{path}"))
    .to_vec();
    uris.extend([format!("file://{}", outside.display()), "file:///etc/passwd".to_owned()]);
    uris.extend(
        [
            "memory://../x",
            "memory://",
            "memory://no_such",
            "http://x/",
            "docs/auth.md",
            "file://host/etc/passwd",
        ]
        .map(str::to_owned),
    );
    let (mut older, mut newer) = (Mcp::legacy(&live, &[]), Mcp::modern(&live, &[]));
    for uri in uris {
        for (mcp, code) in [(&mut older, -32002), (&mut newer, -32602)] {
            let refused = mcp.call("resources/read", json!({ "uri": uri })).unwrap_err();
            assert_eq!(refused["code"], code, "{uri}: {refused}");
        }
    }
    let read = older.call("resources/read", json!({ "uri": format!("file://{root}/docs/auth.md") }));
    assert!(read.is_ok(), "{read:?}");

    // A directory that becomes a link after it was indexed leads nowhere.
    live.rename("docs", "away");
    symlink(live.sandbox.path("home"), live.root().join("docs")).unwrap();
    std::fs::write(live.sandbox.path("home/auth.md"), "hidden").unwrap();
    let refused = older.call("resources/read", json!({ "uri": format!("file://{root}/docs/auth.md") }));
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn a_document_in_another_encoding_is_read_as_the_daemon_reads_it() {
    let live = indexed();
    let utf16: Vec<u8> = "\u{feff}# Zwölf\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    live.write("docs/utf16.md", utf16);
    live.write("docs/windows.md", b"# Gr\xf6\xdfe\n\ncosts 3 \x80\n");
    live.write("docs/mark.md", "\u{feff}# Mark\n");
    live.write("docs/koi.md", b"<!-- charset=koi8-r -->\n\n# \xcf\xd2\xc9\xcf\xcc\n");
    live.write("docs/utf8.md", "# Größe\n");
    let mut mcp = Mcp::modern(&live, &[]);
    for (name, expected) in [
        ("utf16.md", "# Zwölf\n"),
        ("windows.md", "# Größe\n\ncosts 3 €\n"),
        ("mark.md", "# Mark\n"),
        ("koi.md", "<!-- charset=koi8-r -->\n\n# ориол\n"),
        ("utf8.md", "# Größe\n"),
    ] {
        let uri = format!("file://{}/docs/{name}", live.root().display());
        let read = mcp.call("resources/read", json!({ "uri": uri })).unwrap();
        assert_eq!(read["contents"][0]["text"], expected, "{name}: {read}");
    }
}
