use std::fmt::Write as _;

use serde_json::{Value, json};

use super::*;

/// Returns a notebook as Jupyter writes it: a line of the file for each line of a source.
fn notebook(cells: &[(&str, &str)]) -> String {
    let cell = |(kind, source): &(&str, &str)| {
        let lines: Vec<_> = source.split_inclusive('\n').collect();
        let output = json!([{ "data": { "image/png": "QUJD".repeat(5_000), "text/plain": ["walrus"] } }]);
        json!({ "cell_type": kind, "outputs": output, "source": lines })
    };
    let cells: Vec<Value> = cells.iter().map(cell).collect();
    let file =
        json!({ "cells": cells, "metadata": { "kernelspec": { "language": "python" } }, "nbformat": 4 });
    serde_json::to_string_pretty(&file).unwrap() + "\n"
}

/// Returns kind, title and text of each chunk, and checks that the text is on its lines in the file.
fn chunks(file: &str) -> Vec<(ChunkKind, String, String)> {
    let readable = crate::readable_text("a.ipynb", file);
    let lines: Vec<_> = file.lines().collect();
    let found = crate::extract("a.ipynb", file);
    assert_eq!(found.refused, None);
    let mut all = Vec::new();
    for chunk in found.chunks {
        let text = chunk.text.unwrap_or_else(|| readable[chunk.bytes.clone()].to_owned());
        assert!(!text.contains("walrus") && !text.contains("QUJD"), "{text}");
        if chunk.kind != ChunkKind::Map {
            let (first, last) = (chunk.lines.0 as usize, chunk.lines.1 as usize);
            let escaped =
                |line: &str| serde_json::to_string(line.trim()).unwrap().trim_matches('"').to_owned();
            let ends = [(first, text.lines().next()), (last, text.lines().last())];
            for (line, part) in ends {
                assert!(lines[line - 1].contains(&escaped(part.unwrap())), "{line}: {part:?}");
            }
        }
        all.push((chunk.kind, chunk.title.unwrap_or_default(), text));
    }
    all
}

#[test]
fn cells_are_sections_and_code_under_one_heading_path() {
    let file = notebook(&[
        ("markdown", "# Guide\n\nHello."),
        ("code", "import os\nx = os.getcwd()"),
        ("markdown", "More.\n\n## Load \"data\"\n```\n# no heading"),
        ("markdown", "## Next"),
        ("code", "print(x)"),
    ]);
    let found: Vec<_> = chunks(&file).into_iter().filter(|(kind, ..)| *kind != ChunkKind::Map).collect();
    let expected = [
        (ChunkKind::Doc, "Guide", "# Guide\n\nHello."),
        (ChunkKind::Symbol, "x", "x = os.getcwd()"),
        (ChunkKind::Doc, "Guide", "More."),
        (ChunkKind::Doc, "Guide > Load \"data\"", "## Load \"data\"\n```\n# no heading"),
        (ChunkKind::Doc, "Guide > Next", "## Next"),
        (ChunkKind::Text, "Guide > Next", "print(x)"),
    ];
    let expected = expected.map(|(kind, title, text)| (kind, title.to_owned(), text.to_owned()));
    let without_import: Vec<_> = found.into_iter().filter(|(_, _, text)| text != "import os").collect();
    assert_eq!(without_import, expected);
}

#[test]
fn definitions_have_their_lines_in_the_file() {
    let file = notebook(&[
        ("code", "%matplotlib inline\n!ls\n\ndef load(path):\n    return path\n\nload('a')"),
        ("code", "%%bash\ndef not_python("),
        ("code", "%%time\nclass Model:\n    def fit(self):\n        pass"),
    ]);
    let found = crate::extract("a.ipynb", &file);
    assert_eq!(found.problems, Vec::<String>::new());
    let lines: Vec<_> = file.lines().collect();
    let defined: Vec<_> = found.definitions.iter().map(|definition| definition.title.as_str()).collect();
    assert_eq!(defined, ["load", "Model", "Model.fit"]);
    assert!(lines[found.definitions[0].lines.0 as usize - 1].contains("def load"));
    assert!(lines[found.definitions[2].lines.1 as usize - 1].contains("pass"));
    let symbols: Vec<_> = chunks(&file).into_iter().filter(|(kind, ..)| *kind == ChunkKind::Symbol).collect();
    assert_eq!(found.references.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["load"]);
    assert_eq!(symbols[0].2, "def load(path):\n    return path");
    let shown: Vec<_> = chunks(&file).into_iter().map(|(.., text)| text).collect();
    assert_eq!(shown[1], "%matplotlib inline\n!ls");
}

#[test]
fn a_notebook_on_one_line_has_the_same_chunks() {
    let cells = [("markdown", "# A\n\na"), ("code", "def f():\n    return 1\n"), ("code", "f()")];
    let pretty = notebook(&cells);
    let flat: Value = serde_json::from_str(&pretty).unwrap();
    let blanks = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let of = |file: &str| -> Vec<_> {
        chunks_of(file).into_iter().map(|(title, text)| (title, blanks(&text))).collect()
    };
    assert_eq!(of(&flat.to_string()), of(&pretty));
}

fn chunks_of(file: &str) -> Vec<(Option<String>, String)> {
    let readable = crate::readable_text("a.ipynb", file);
    let found = crate::extract("a.ipynb", file);
    assert!(!found.minified);
    let chunks = found.chunks.into_iter().filter(|chunk| chunk.kind != ChunkKind::Map);
    chunks.map(|chunk| (chunk.title, readable[chunk.bytes].to_owned())).collect()
}

#[test]
fn credentials_and_comments_count_as_elsewhere() {
    let password = ["hunter2", "hunter2"].concat();
    let file = notebook(&[("markdown", &format!("password: {password}\n")), ("code", "x = 1")]);
    let found = crate::extract("a.ipynb", &file);
    assert_eq!(found.secrets.len(), 1);
    let readable = crate::readable_text("a.ipynb", &*file);
    assert_eq!(readable[found.secrets[0].clone()], password);
    let shown = serde_json::to_string(&found).unwrap();
    assert!(!shown.contains(&password), "{shown}");
    let file = notebook(&[("markdown", "<!-- vector-index: false -->")]);
    assert!(crate::extract("a.ipynb", &file).opted_out);
}

#[test]
fn a_file_that_is_no_notebook_has_no_chunks_but_a_reason() {
    let found = crate::extract("a.ipynb", "{\"cells\": 1}");
    assert!(found.chunks.is_empty() && found.refused.is_some_and(|why| why.contains("not a notebook")));
    assert_eq!(crate::readable_text("a.ipynb", "{"), "{");
    assert_eq!(crate::extract("a.ipynb", "").chunks, []);
}

#[test]
fn kernels_without_a_grammar_are_text() {
    let file = notebook(&[("code", "library(x)\nf <- function() 1")]).replace("\"python\"", "\"R\"");
    let expected = (ChunkKind::Text, String::new(), "library(x)\nf <- function() 1".to_owned());
    assert_eq!(chunks(&file), [expected]);
}

#[test]
fn hostile_cells_end() {
    let mut source = String::new();
    for at in 0..2_000 {
        writeln!(source, "{}x", "- ".repeat(at % 200)).unwrap();
    }
    let file = notebook(&[("markdown", &source), ("code", &"(".repeat(20_000)), ("code", &source)]);
    assert!(chunks(&file).len() > 2);
}

#[test]
fn a_notebook_on_one_long_line_has_definitions_and_uses() {
    let assignments: String = (0..2_000).map(|nth| format!("x{nth} = {nth}\\n")).collect();
    let file = format!(
        "{{\"cells\": [{{\"cell_type\": \"code\", \"source\": \"from lib import load\\ndef run():\\n    return load(1)\\n{assignments}\"}}], \"metadata\": {{}}}}"
    );
    assert!(file.lines().count() == 1 && file.len() > 10_000);
    let found = crate::extract("a.ipynb", &file);
    assert!(found.definitions.iter().any(|own| own.title == "run"), "{:?}", found.definitions.first());
    let structure = &found.structure;
    assert!(structure.uses.iter().any(|used| structure.name(used.name) == "load" && used.line == 1));
}
