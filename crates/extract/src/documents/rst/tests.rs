use super::*;
use crate::documents::document_checks::{check_order, sections};

/// Checks lines and title of each chunk.
fn check(text: &str, expected: &[(u32, u32, &str)]) {
    assert_eq!(sections(&extract(text)), expected, "{text}");
}

#[test]
fn levels_are_those_of_first_use() {
    check("", &[]);
    check("Just text.\n", &[(1, 1, "")]);
    check("A\n=\na\n\nB\n-\nb\n\nC\n=\nc\n", &[(1, 3, "A"), (5, 7, "A > B"), (9, 11, "C")]);
    check("A\n~~~~\na\n\nB\n####\nb\n\nC\n====\nc\n", &[(1, 3, "A"), (5, 7, "A > B"), (9, 11, "A > B > C")]);
    check("A\r\n===\r\na\r\n\r\nB\r\n---\r\nb\r\n", &[(1, 3, "A"), (5, 7, "A > B")]);
    check("\u{feff}A\n=\na\n", &[(1, 3, "A")]);
}

#[test]
fn a_line_above_makes_another_level() {
    check("===\n A\n===\na\n\nB\n===\nb\n\n===\nC\n===\nc\n", &[(1, 4, "A"), (6, 8, "A > B"), (10, 13, "C")]);
    check("======\nA\n====\n", &[(1, 3, "")]);
    check("A\n=\n\nB\n-\nb\n", &[(4, 6, "A > B")]);
    check("A\n=\nB\n-\nb\n", &[(3, 5, "A > B")]);
}

#[test]
fn only_a_whole_line_below_a_block_of_one_line_is_an_underline() {
    check("one\ntwo\n===\n", &[(1, 3, "")]);
    check("A title\n===\n", &[(1, 2, "")]);
    check("A title\n====\n", &[(1, 2, "A title")]);
    check("a\n\n----\n\nb\n", &[(1, 5, "")]);
    check("- item\n------\n\n:field: x\n---------\n\n.. comment\n----------\n", &[(1, 8, "")]);
    check(">>> 1\n1\n----\n", &[(1, 3, "")]);
    check("1. One\n------\na\n", &[(1, 3, "1. One")]);
    check(":mod:`a.b` -- does\n==================\n", &[(1, 2, "a.b -- does")]);
    check("日本\n====\n\n本\n-\nx\n", &[(4, 6, "日本 > 本")]);
}

#[test]
fn literal_blocks_directives_and_tables_have_no_titles() {
    check("A\n=\n\nSo::\n\n  B\n  -\n\nend\n", &[(1, 9, "A")]);
    check("A\n=\n\n.. code-block:: rst\n\n   B\n   -\n", &[(1, 7, "A")]);
    check("====  ====\na     b\n====  ====\n1     2\n----------\n3     4\n====  ====\n", &[(1, 7, "")]);
    check("+---+\n| a |\n+---+\n\nB\n-\nb\n", &[(1, 3, ""), (5, 7, "B")]);
    check("=====  =====\nnever  ended\n", &[(1, 2, "")]);
}

#[test]
fn a_label_belongs_to_the_title_below_it() {
    check("A\n=\na\n\n.. _b:\n\nB\n-\nb\n", &[(1, 3, "A"), (5, 9, "A > B")]);
    check(".. _a:\n\ntext\n\nB\n-\nb\n", &[(1, 3, ""), (5, 7, "B")]);
}

#[test]
fn titles_have_no_markup() {
    let cases = [
        (":doc:`The guide </guide>` and `a link`_", "The guide and a link"),
        (":class:`~flask.views.View`", "View"),
        ("``*args`` and **bold** *words*", "*args and bold words"),
        ("|name| a \\*star a_b", "name a *star a_b"),
        ("`<https://a.b>`_", "https://a.b"),
        ("a * b", "a * b"),
        ("No ``<file>`` here", "No <file> here"),
    ];
    for (title, expected) in cases {
        assert_eq!(strip_markup(title), expected);
    }
}

#[test]
fn a_block_of_code_is_not_cut() {
    let prose = "This sentence has forty-two characters ok. ".repeat(25) + "\n\n";
    let code = ".. code-block:: python\n\n".to_owned() + &"    line = 1\n\n".repeat(60) + "\n";
    let text = format!("A\n=\n\n{prose}{code}end\n");
    let chunks = extract(&text).chunks;
    assert!(chunks.len() == 2 && text[chunks[1].bytes.clone()].contains(code.trim()), "{chunks:?}");
}

#[test]
fn a_comment_excludes_the_file() {
    let extracted = extract("A\n=\n\n.. vector-index: false\n");
    assert!(extracted.opted_out && extracted.chunks.is_empty());
    assert!(!extract("A\n=\n\n  .. vector-index: false\n").opted_out);
}

#[test]
fn hostile_documents_end_and_nothing_is_lost() {
    for part in [
        "=",
        "=\n",
        "a\n=\n",
        "=\n=\n=\n",
        "== ==\n",
        "+-+\n",
        " ",
        "\t\n",
        ".. _a:\n",
        "`",
        "*",
        "é\n-\n",
        "\r",
        ":",
    ] {
        let text = part.repeat((1 << 16) / part.len());
        let text = format!("{text}\n\né\n=\n{text}");
        let indented: String =
            text.lines().zip(0..).map(|(line, n)| format!("{}{line}\n", " ".repeat(n % 300))).collect();
        for text in [text, indented] {
            check_order(&text, &extract(&text));
        }
    }
}
