use super::*;
use serde_json::json;

fn refused<T>(result: Result<T, RefusedValue>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "taken".to_owned())
}

#[test]
fn what_an_agent_changes_is_an_agents_but_an_import_stays_one() {
    for own in LOCAL_SOURCES {
        assert_eq!(source_after_agent(own), AGENT, "{own}");
    }
    for other in ["import", "claude"] {
        assert_eq!(source_after_agent(other), other);
    }
}

#[test]
fn contents_have_limits() {
    let longest = "x".repeat(MAX_CONTENT);
    assert_eq!(validate_content(&format!(" {longest}\n"), false).unwrap().text, longest);
    let cases = [
        (format!("{longest}y"), format!("content: \"{}…\" is 65537 bytes, over 65536", "x".repeat(60))),
        (" \n".to_owned(), "content: empty".to_owned()),
        ("a\0b".to_owned(), "content: has a NUL at byte 1".to_owned()),
        (
            "<private>a</private> <private>b</private>".to_owned(),
            "content: all of the text is private, so nothing is left to store".to_owned(),
        ),
    ];
    for (raw, expected) in cases {
        assert_eq!(refused(validate_content(&raw, false)), expected);
    }
    let private = format!("a <private>{longest}</private>");
    assert_eq!(
        validate_content(&private, false).unwrap(),
        StorableText { text: "a [REDACTED]".to_owned(), n_redacted: 1 }
    );
}

#[test]
fn a_credential_is_kept_on_demand_only() {
    let token = ["glpat-", "Ab3dEf6hIj9kLmN0pQrS"].concat();
    assert!(refused(validate_content(&token, false)).contains("GitLab token"));
    assert_eq!(validate_content(&token, true).unwrap().text, token);
    assert!(refused(validate_title(&token, false)).starts_with("title: line 1 looks like"));
    let meta = json!({ "a": [{ "b": token }] }).as_object().unwrap().clone();
    assert!(refused(validate_metadata(meta.clone(), false)).starts_with("metadata: line 1 looks like"));
    assert_eq!(validate_metadata(meta.clone(), true), Ok(meta));
}

#[test]
fn names_hold_nothing_private_and_no_message_shows_it() {
    let (token, private) = ("ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "x <private>planted</private>");
    for text in [token, private] {
        let messages = [
            refused(validate_container(text)),
            refused(validate_tags(&[text.to_owned()])),
            refused(validate_name("author", text)),
            refused(validate_content(&format!("{text} {}", "y".repeat(MAX_CONTENT)), false)),
            refused(validate_title(&format!("{text} {}", "y".repeat(MAX_TITLE)), false)),
            refused(validate_tags(&[format!("{text},")])),
        ];
        for message in messages {
            let shows = [token, "planted"].iter().any(|hidden| message.contains(hidden));
            assert!(message != "taken" && !shows, "{message}");
        }
    }
}

#[test]
fn names_have_a_normal_form() {
    let containers = [
        (" My  Project! ", "my-project"),
        ("a__b--c", "a-b-c"),
        ("-x-", "x"),
        ("Größe", "gr-e"), // ö and ß are runs of something else
    ];
    for (raw, expected) in containers {
        assert_eq!(validate_container(raw).as_deref(), Ok(expected), "{raw}");
    }
    assert_eq!(refused(validate_container("…")), "container: \"…\" has no letter a-z and no digit");
    assert!(refused(validate_container(&"x".repeat(129))).ends_with("is 129 bytes, over 128"));

    let own = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
    assert_eq!(validate_tags(&own(&["b c", "A", " a ", "ü"])).unwrap(), own(&["a", "b-c", "ü"]));
    assert_eq!(
        refused(validate_tags(&own(&["a,b"]))),
        "tag: \"a,b\" is not a tag: it must not be empty or have a comma"
    );
    assert!(refused(validate_tags(&own(&[" "]))).starts_with("tag: \" \" is not a tag"));
    assert!(refused(validate_tags(&own(&["\u{7}"]))).starts_with("tag: \"\\u{7}\" is not a tag"));
    let many: Vec<_> = (0..51).map(|number| number.to_string()).collect();
    assert_eq!(refused(validate_tags(&many)), "tags: 51 tags, over 50");
    assert!(validate_tags(&many[1..]).is_ok());
}

#[test]
fn titles_and_numbers_have_limits() {
    assert_eq!(validate_title("  ", false), Ok(None));
    assert_eq!(validate_title(" a ", false).unwrap().unwrap().text, "a");
    assert_eq!(refused(validate_title("a\nb", false)), "title: \"a\\nb\" has more than one line");
    assert!(refused(validate_title(&"é".repeat(257), false)).ends_with("is 514 bytes, over 512"));
    assert_eq!((validate_priority(1), validate_priority(10)), (Ok(1), Ok(10)));
    assert_eq!(refused(validate_priority(11)), "priority: 11 is not between 1 and 10");
    assert_eq!(refused(validate_priority(-1)), "priority: -1 is not between 1 and 10");
    assert_eq!((validate_confidence(0.0), validate_confidence(1.0)), (Ok(0.0), Ok(1.0)));
    assert_eq!(refused(validate_confidence(f64::NAN)), "confidence: NaN is not between 0 and 1");
    assert_eq!(refused(validate_confidence(1.1)), "confidence: 1.1 is not between 0 and 1");
}

#[test]
fn metadata_is_cleaned_and_merged() {
    let object = |value: Value| value.as_object().unwrap().clone();
    let raw = object(json!({ "a": "x <private>y</private>", "n": 1 }));
    let mut kept = validate_metadata(raw, false).unwrap();
    let keys = object(json!({ "a": [{ "b <private>y</private>": 1 }] }));
    assert_eq!(
        Value::Object(validate_metadata(keys, false).unwrap()),
        json!({ "a": [{ "b [REDACTED]": 1 }] })
    );
    assert_eq!(Value::Object(kept.clone()), json!({ "a": "x [REDACTED]", "n": 1 }));
    patch_metadata(&mut kept, object(json!({ "a": null, "b": [2] })));
    assert_eq!(Value::Object(kept), json!({ "b": [2], "n": 1 }));
    assert_eq!(
        refused(validate_metadata(object(json!({ "a": "\0" })), false)),
        "metadata: has a NUL at byte 0"
    );
    let all = [json!({ "a": 1, "b": 1 }), json!({ "a": 2 }), json!({ "a": 3, "b": 1 })].map(object);
    let (united, replaced) = combine_metadata(&all);
    assert_eq!((json!(united), json!(replaced)), (json!({ "a": 3, "b": 1 }), json!({ "a": [1, 2] })));
}

#[test]
fn what_looks_like_a_source_of_ours_is_an_import() {
    let taken = ["user", "cli", "slack", "import", "ai-memory 2.0", "https://example.org/a", "users"];
    for source in taken {
        assert_eq!(imported_source(source), source);
    }
    let long = "x".repeat(MAX_NAME + 1);
    let refused = [
        "User",
        "USER",
        "us-er",
        "user:",
        "u\u{200b}ser",
        "us\u{435}r",
        "\u{ff55}ser",
        "u5er",
        "cIi",
        "ap1",
        "a\tb",
        "",
        "sy5tem",
        "größe",
        &long,
    ];
    for source in refused {
        assert_eq!(imported_source(source), "import", "{source:?}");
    }
}

#[test]
fn the_first_of_several_lines_keeps_its_indentation() {
    let of = |raw: &str| validate_content(raw, false).unwrap().text;
    assert_eq!(of("  alone \n"), "alone");
    assert_eq!(of("\n  \n    if x:\n        return\n\n"), "    if x:\n        return");
}
