use super::*;
use crate::documents::document_checks::{check_order, sections};

/// Checks lines and title of each chunk.
fn check(text: &str, expected: &[(u32, u32, &str)]) {
    assert_eq!(sections(&extract(text)), expected, "{text}");
}

#[test]
fn sections_follow_titles() {
    check("", &[]);
    check("Just text.\n", &[(1, 1, "")]);
    check(
        "= D\nAuthor\n:a: b\n\npre\n\n== A\na\n\n=== B\nb\n\n== C\nc\n",
        &[(1, 5, "D"), (7, 8, "D > A"), (10, 11, "D > A > B"), (13, 14, "D > C")],
    );
    check("## A ##\r\na\r\n\r\n### B\r\nb\r\n", &[(1, 2, "A"), (4, 5, "A > B")]);
    check("== A ==\na\n\n==B\n\n======= C\n", &[(1, 6, "A")]);
    check("text\n== A\n", &[(1, 2, "")]);
    check("// comment\n== A\na\n", &[(1, 1, ""), (2, 3, "A")]);
}

#[test]
fn underlined_titles_are_as_long_as_their_lines() {
    check(
        "Doc\n===\n\nAlpha\n-----\na\n\nBeta\n~~~~\nb\n",
        &[(4, 6, "Doc > Alpha"), (8, 10, "Doc > Alpha > Beta")],
    );
    check("Alpha beta\n----\ncode\n----\n", &[(1, 4, "")]);
    check(".Name\n-----\n== a\n-----\n", &[(1, 4, "")]);
}

#[test]
fn blocks_have_no_titles() {
    for delimiter in
        ["----", "....", "====", "****", "____", "++++", "////", "|===", ",===", "--", "```", "-----"]
    {
        let text = format!("== A\n\n{delimiter}\n== B\n\n=== C\n{delimiter}\n\n== D\nd\n");
        check(&text, &[(1, 7, "A"), (9, 10, "D")]);
    }
    check("```java\n== B\n```\n\n== D\n", &[(1, 3, ""), (5, 5, "D")]);
    check("----\n== never closed\n\n== B\n", &[(1, 4, "")]);
    check("====\n----\n== B\n----\n====\n\n== D\n", &[(1, 5, ""), (7, 7, "D")]);
    check("a text\n----\n== B\n----\n", &[(1, 4, "")]);
    check("== A\n\n[discrete]\n== B\nb\n\n[[x]]\n[float]\n=== C\n", &[(1, 9, "A")]);
}

#[test]
fn an_anchor_belongs_to_the_title_below_it() {
    check("== A\na\n\n[[b]]\n[role=x]\n=== B\nb\n", &[(1, 2, "A"), (4, 7, "A > B")]);
    check("[[x]]\ntext\n\n== B\nb\n", &[(1, 2, ""), (4, 5, "B")]);
}

#[test]
fn titles_have_no_markup() {
    let cases = [
        ("[[x]]A `code` title", "A code title"),
        ("A image:b.svg[\"c\", link=\"d\"]", "A"),
        ("xref:a.adoc#b[The *bold* one] and snake_case", "The *bold* one and snake_case"),
        ("See <<a,the text>>, <<b>>", "See the text, b"),
        ("_em_ and *strong* `+lit+`", "em and strong lit"),
        ("javadoc:org.a.B[] beans, javadoc:java.io.C[format=annotation]", "B beans, C"),
        ("https://a.b/c[See c,role=x]", "See c"),
        ("2 * 3 * 4: a", "2 * 3 * 4: a"),
    ];
    for (title, expected) in cases {
        assert_eq!(strip_markup(title), expected);
    }
    check(":product: Mill\n\n== The {product} of {nobody}\n", &[(1, 1, ""), (3, 3, "The Mill of nobody")]);
}

#[test]
fn front_matter_is_the_root() {
    check("---\ntitle: T\n---\n== B\nb\n", &[(2, 2, "T"), (4, 5, "T > B")]);
}

#[test]
fn a_block_with_its_title_is_not_cut() {
    let prose = "This sentence has forty-two characters ok. ".repeat(25) + "\n\n";
    let code = "[source,java]\n.Example\n----\n".to_owned() + &"var line = 1;\n\n".repeat(50) + "----\n";
    let text = format!("== A\n\n{prose}{code}\nend\n");
    let chunks = extract(&text).chunks;
    assert!(chunks.len() == 2 && text[chunks[1].bytes.clone()].contains(code.trim()), "{chunks:?}");
}

#[test]
fn a_comment_excludes_the_file() {
    assert!(extract("= A\n\n// vector-index: false\n").opted_out);
    assert!(!extract("= A\n\n----\n// vector-index: false\n----\n").opted_out);
}

#[test]
fn hostile_documents_end_and_nothing_is_lost() {
    for part in [
        "=",
        "= a\n",
        "----\n",
        "-----\n----\n",
        "a\n-\n",
        "[[",
        "[a]\n",
        ".a\n",
        ":a: b\n",
        "{a}",
        "<<",
        "*",
        "é\n~\n",
        "\r",
    ] {
        let text = part.repeat((1 << 16) / part.len());
        let text = format!("{text}\n\n== é\n{text}");
        check_order(&text, &extract(&text));
    }
}
