use super::*;

fn full() -> MemoryFile {
    let lines = Anchor { path: "src/auth.rs".to_owned(), lines: Some((3, 9)), ..Anchor::default() };
    let id = |n: u8| id::new_id(1, [n; 10]);
    MemoryFile {
        title: Some("Auth: JWT, \"24 h\"".to_owned()),
        container: "web".to_owned(),
        tags: vec!["auth".to_owned(), "jwt 2".to_owned(), "no".to_owned(), "é".to_owned()],
        tier: Tier::Mid,
        priority: 7,
        confidence: 0.8,
        author: "Ann Lee <ann@example.org>".to_owned(),
        agent: Some("claude".to_owned()),
        created: 1_700_000_000_123,
        updated: 1_700_000_000_456,
        anchors: vec![lines],
        links: vec![
            (LinkKind::RelatedTo, id(1)),
            (LinkKind::Supersedes, id(2)),
            (LinkKind::Supersedes, id(3)),
        ],
        metadata: serde_json::from_str(r#"{"z": 1, "a": {"y": "- x", "b": [1]}}"#).unwrap(),
        others: vec![("reviewed".to_owned(), " by Bob \n   \n\n  - x  \n  y\n\n  ".to_owned())],
        comments: vec!["# checked: 2026  ".to_owned(), "#".to_owned()],
        content: "JWT with 24 h expiry.\n\n---\n\n  tags:\n    - not one".to_owned(),
    }
}

#[test]
fn what_is_written_is_read_again() {
    let least = MemoryFile {
        container: "project".to_owned(),
        priority: 5,
        confidence: 1.0,
        author: "unknown".to_owned(),
        created: 1,
        updated: 1,
        content: "x".to_owned(),
        ..MemoryFile::default()
    };
    for mut file in [full(), least] {
        file.tags = fields::validate_tags(&file.tags).unwrap();
        let text = file.render();
        let read = MemoryFile::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert_eq!(read, file, "{text}");
        assert_eq!(read.render(), text);
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(decode_file(crlf.as_bytes()).unwrap(), text);
    }
}

#[test]
fn people_write_it_in_other_ways() {
    let text = "---\ntags: [b, A]\ntitle: 'It''s'\ncreated: 2026-01-02T03:04:05Z\nauthor: Ann\n---\nhello\n";
    let file = MemoryFile::parse(text).unwrap();
    assert_eq!((file.title.as_deref(), file.content.as_str()), (Some("It's"), "hello"));
    assert_eq!(
        (file.tags, file.tier, file.updated),
        (vec!["a".to_owned(), "b".to_owned()], Tier::Long, file.created)
    );
}

#[test]
fn comments_and_empty_lines_are_for_people() {
    let text = "---\n\n# who: Bob\ntags:\n\n  - b\n# and\n  - a\ncreated: 2026-01-02T03:04:05Z\n\nauthor: Ann\n\n---\nhello\n";
    let file = MemoryFile::parse(text).unwrap();
    assert_eq!(
        (file.tags.join(","), file.comments.join(";")),
        ("a,b".to_owned(), "# who: Bob;# and".to_owned())
    );
    assert!(file.render().starts_with("---\n# who: Bob\n# and\ntier: long\n"));
}

#[test]
fn what_is_no_memory_says_why() {
    let check = |text: &str, expected: &str| {
        let why = MemoryFile::parse(text).unwrap_err().to_string();
        assert!(why.contains(expected), "{text}: {why}");
    };
    let with = |line: &str| format!("---\n{line}\ncreated: 2026-01-02T03:04:05Z\nauthor: Ann\n---\nhello\n");
    check("", "does not end");
    check("hello", "line 1 is not ---");
    check("---\ntier: long\n", "does not end");
    check("---\ntier: long\n---\nhello", "created: is missing");
    check("---\ncreated: 2026-01-02T03:04:05Z\n---\nhello", "author: is missing");
    check("---\ncreated: 2026-01-02T03:04:05Z\nauthor: a\n---\n\n", "content: empty");
    check(&with("tier: soon"), "line 2: tier is none of");
    check(&with("priority: 11"), "priority: 11 is not between");
    check(&with("confidence: NaN"), "confidence: ");
    check(&with("tags: x"), "line 2: tags is a list");
    check(&with("title: {a: b}"), "line 2: title is not plain words");
    check(&with("tags:\n  - a # why"), "tags has a #");
    check(&with("supersedes: [mem_1]"), "is not the id of a memory");
    check(&with("what is this"), "line 2 is neither");
    check(&with("tier: long\ntier: mid"), "line 3: tier appears twice");
    check(&with("metadata: [1]"), "metadata is not a JSON object");
    check(&with("about:\n  - {\"path\": \"../x\"}"), "not in the worktree");
    check(&with("about:\n  - {\"path\": \"x\", \"lines\": [9, 1]}"), "counted from 1");
    check(&with("title: a <private>b</private>"), "has a private part");
    let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    check(&with("tier: long").replace("hello", &token), "looks like a credential");
    check(&with(&format!("# {token}")), "looks like a credential");
    check(&with(&format!("note: {token}")), "looks like a credential");
}

#[test]
fn a_name_is_an_id() {
    let id = id::new_id(5, [7; 10]);
    assert_eq!(parse_file_name(&file_name(&id)), Ok(id.clone()));
    for other in
        ["README.md", "mem_1.md", &id, &file_name(&id.to_lowercase()), &file_name(&id).to_uppercase()]
    {
        assert!(parse_file_name(other).is_err(), "{other}");
    }
    assert!(decode_file(&[0xff]).is_err() && decode_file(&vec![b'a'; 70_000]).is_err());
}
