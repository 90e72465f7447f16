use super::*;

/// Checks the text, and the source of each cell with its own line breaks.
fn check(file: &str, text: &str, cells: &[(CellKind, &str)]) {
    let notebook = NotebookText::decode(file).unwrap();
    let unfolded = notebook.restore_line_breaks();
    let got: Vec<_> = notebook.cells.iter().map(|cell| (cell.kind, &unfolded[cell.bytes.clone()])).collect();
    assert_eq!((notebook.text.as_str(), &got[..]), (text, cells), "{file}");
    assert_eq!(file.matches('\n').count(), notebook.text.matches('\n').count(), "{file}");
}

#[test]
fn a_source_keeps_the_lines_of_the_file() {
    check(
        "{\"cells\": [\n{\"cell_type\": \"code\",\n \"outputs\": [{\"data\": \"never\"}],\n \"source\": [\n  \"a = 1\\n\",\n  \"\\n\",\n  \"b\"\n ]}\n]}\n",
        "\n\n\n\na = 1\n\nb\n\n\n",
        &[(CellKind::Code, "a = 1\n\nb")],
    );
}

#[test]
fn line_breaks_within_a_line_are_folded() {
    check(
        "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": \"# A\\n\\ntext\"},\n{\"cell_type\": \"raw\", \"source\": [\"x\\n\", \"y\"]}]}",
        "# A  text\nx y ",
        &[(CellKind::Markdown, "# A\n\ntext"), (CellKind::Raw, "x\ny")],
    );
    check(
        "{\"cells\":[{\"cell_type\":\"code\",\"source\":\"a\"},{\"cell_type\":\"code\",\"source\":\"\\u0000\\u65e5\\r\\n\\t\"}]}",
        "a  日  \t ",
        &[(CellKind::Code, "a"), (CellKind::Code, " 日 \n\t")],
    );
}

#[test]
fn format_3_has_worksheets_and_headings() {
    check(
        "{\"worksheets\": [{\"cells\": [\n{\"cell_type\": \"heading\", \"level\": 2, \"source\": \"H\"},\n{\"cell_type\": \"code\", \"language\": \"Ruby\", \"input\": \"x\", \"outputs\": []},\n{\"cell_type\": \"html\"}]}]}",
        "\nH\nx\n",
        &[(CellKind::Heading(2), "H"), (CellKind::Code, "x")],
    );
}

#[test]
fn the_language_is_that_of_the_kernel() {
    let check = |metadata: &str, expected: &str| {
        let file = format!("{{\"cells\": [], \"metadata\": {metadata}}}");
        assert_eq!(NotebookText::decode(&file).unwrap().language.as_deref(), Some(expected), "{metadata}");
    };
    check("{}", "python");
    check("{\"kernelspec\": {\"name\": \"x\"}, \"language_info\": {\"name\": \"R\"}}", "r");
    check("{\"kernelspec\": {\"language\": \"rust\"}, \"language_info\": {\"name\": \"R\"}}", "rust");
}

#[test]
fn what_is_no_notebook_is_refused_with_a_reason() {
    let check = |file: &str, expected: &str| {
        let why = NotebookText::decode(file).unwrap_err();
        assert!(why.starts_with("not a notebook: ") && why.contains(expected), "{why}");
    };
    check("{\"cells\": [", "EOF while parsing");
    check("<<<<<<< HEAD\n", "expected value");
    check("[]", "line 1 column");
    check("{}", "neither cells nor worksheets");
    check("{\"cells\": [{\"source\": 5}]}", "expected a string");
    check("{\"cells\": [{\"source\": \"\\ud83d\"}]}", "hex escape");
    check(&"[".repeat(100_000), "");
    check(&format!("{{\"cells\": {}", "[{\"cells\":".repeat(50_000)), "");
    assert_eq!(NotebookText::decode(" \n").unwrap(), NotebookText::default());
    assert_eq!(NotebookText::decode("\u{feff}").unwrap(), NotebookText::default());
}
