//! Renders answers as text for a model. Text from the repository is put between fences, which mark it as data.
//!
//! Pure.

use std::collections::HashSet;
use std::fmt::Write;

use memod_base::types::ChunkKind;
use memod_proto::memory::build_reader_marks;
use memod_proto::{AskedUses, Hit, NumberedLine, RefUse, SearchResult};
use serde::Deserialize;
use serde_json::Value;

use super::tool::AnswerFormat;
use super::verbs::{VerbAnswer, VerbFailure};

/// Largest number of characters of a text, because `memo export` could print a whole database.
const MAX_TEXT_CHARS: usize = 100_000;

/// Returns an answer as text for a model.
pub(super) fn render_answer(answer: &VerbAnswer, view: AnswerFormat) -> String {
    let notes = answer.notes.join("\n");
    // The notes of a search are texts of memo, so they need no fences. Other notes may quote a commit or a memory.
    let mut parts = match view {
        AnswerFormat::Hits => {
            let hits = answer.json.as_ref().and_then(render_hits);
            let hits = fence_text(hits.as_deref().unwrap_or(&answer.text));
            // That the name exists nowhere, or that nothing uses it, is read before what is only near it.
            let is_only_near = answer.json.as_ref().is_some_and(|json| {
                json["unknown_name"].is_string()
                    || json["similar_names"].is_array()
                    || json["uses"]["uses"].as_array().is_some_and(Vec::is_empty)
            });
            if is_only_near { vec![notes, hits] } else { vec![hits, notes] }
        }
        AnswerFormat::Data => {
            vec![fence_text([answer.text.trim_end(), &notes].join("\n").trim_start_matches('\n'))]
        }
        AnswerFormat::Plain => vec![shorten_text(answer.text.trim_end()), fence_text(&notes)],
    };
    parts.extend(answer.failure.as_ref().map(render_failure));
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() { "done".to_owned() } else { parts.join("\n") }
}

/// Returns a failure as text for a model.
pub(super) fn render_failure(failure: &VerbFailure) -> String {
    if !failure.may_quote_data {
        return format!("error: {failure}");
    }
    let hint = failure.hint.iter().map(|hint| format!("\nhint: {hint}"));
    format!("error: the reason:\n{}{}", fence_text(&failure.message), hint.collect::<String>())
}

/// Returns a text between fences that are longer than any run of backticks in the text, so that the text cannot close them.
pub(super) fn fence_text(text: &str) -> String {
    let text = shorten_text(text.trim_end());
    if text.is_empty() {
        return text;
    }
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

/// Returns the length of the longest run of backticks in a text.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// Returns a text cut to [`MAX_TEXT_CHARS`] characters, with the number of the lines that are left out.
fn shorten_text(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => {
            let n_more = text[end..].lines().count();
            format!("{}\n… {n_more} more lines", &text[..end])
        }
    }
}

/// Returns the hits of a search, each with a heading and the lines of its snippet as `LINE:TEXT`; `None` if the JSON is not a
/// result of a search.
fn render_hits(json: &Value) -> Option<String> {
    let result = SearchResult::deserialize(json).ok()?;
    if let Some(asked) = result.found_uses() {
        return Some(render_uses(asked));
    }
    let shown = collect_definition_lines(&result.hits);
    let mut out = String::new();
    for hit in result.hits.iter().filter(|hit| !repeats_definitions(hit, &shown)) {
        let _ = writeln!(out, "{}", render_heading(hit)); // writing to a string cannot fail
        let is_numbered = hit.commit.is_none() && hit.memory.is_none();
        for numbered in hit.numbered_lines() {
            let line = numbered.text;
            let _ = match is_numbered {
                true => writeln!(out, "{}:{line}", numbered.shown_number()),
                false if hit.title.as_deref() == Some(line) => Ok(()),
                false => writeln!(out, "  {line}"),
            };
        }
        if let Some(line) = hit.describe_copies() {
            let _ = writeln!(out, "({})", line.replace(['\n', '\r'], " "));
        }
    }
    Some(out)
}

/// Returns a line for each use: its place, the definition around it and the text of the line.
fn render_uses(asked: &AskedUses) -> String {
    let line = |used: &RefUse| {
        let within = used.within.as_ref().map(|title| format!(" in {title}")).unwrap_or_default();
        let doubt = if used.certainty == "exact" { String::new() } else { format!(" ({})", used.certainty) };
        format!("{}:{}{within}{doubt}: {}\n", used.path, used.line, used.text)
    };
    asked.uses.iter().map(line).collect()
}

/// Returns the path and number of each line that hits of definitions show.
fn collect_definition_lines(hits: &[Hit]) -> HashSet<(&str, u32)> {
    let definitions = hits.iter().filter(|hit| hit.kind == ChunkKind::Symbol);
    let numbers = |line: NumberedLine<'_>| line.first..=line.last;
    let lines = |hit| Hit::numbered_lines(hit).into_iter().flat_map(numbers);
    definitions.flat_map(|hit| lines(hit).map(|number| (hit.path.as_str(), number))).collect()
}

/// Returns whether a hit is the map of a file, and hits of definitions already show all of its lines.
fn repeats_definitions(hit: &Hit, shown: &HashSet<(&str, u32)>) -> bool {
    hit.kind == ChunkKind::Map
        && hit.numbered_lines().iter().all(|line| shown.contains(&(hit.path.as_str(), line.first)))
}

fn render_heading(hit: &Hit) -> String {
    let mut head = match (&hit.commit, &hit.id) {
        (Some(commit), _) => {
            let oid: String = commit.oid.chars().take(12).collect();
            format!("commit {oid} {}", date_part(&commit.date))
        }
        (None, Some(id)) => format!("memory {id}"),
        (None, None) if hit.lines.0 == hit.lines.1 => format!("{}:{}", hit.path, hit.lines.0),
        (None, None) => format!("{}:{}-{}", hit.path, hit.lines.0, hit.lines.1),
    };
    if let Some(memory) = &hit.memory {
        let tags: String = memory.tags.iter().map(|tag| format!(" #{tag}")).collect();
        head += &format!(" {}{tags}", date_part(&memory.created));
    }
    if let Some(title) = hit.title.as_ref().or(hit.symbol.as_ref()) {
        head += &format!("  {title}");
    }
    if let Some(state) = hit.state.as_deref().filter(|state| *state != "fresh") {
        head += &format!("  [{state}]");
    }
    if let Some(memory) = &hit.memory {
        for mark in build_reader_marks(
            &hit.trust,
            memory.scope,
            memory.repository.as_deref(),
            memory.conflict.as_deref(),
            &memory.superseded_by,
        ) {
            head += &format!("  {mark}");
        }
    }
    head.replace(['\n', '\r'], " ")
}

fn date_part(time: &str) -> &str {
    time.split('T').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let cases = [
            ("", ""),
            ("a", "```\na\n```"),
            ("a ``` b", "````\na ``` b\n````"),
            ("`````\n", "``````\n`````\n``````"),
        ];
        for (text, expected) in cases {
            assert_eq!(fence_text(text), expected);
        }
    }

    fn found(hits: &[Value]) -> VerbAnswer {
        let result = json!({
            "query": "f", "mode": "hybrid", "hits": hits, "total": hits.len(), "fresh": true, "reason": null, "degraded": [],
            "pending": { "files": 0, "embeddings": 0 }, "corrected": null, "clock": "", "took_ms": 1.0,
        });
        VerbAnswer { json: Some(result), notes: vec!["degraded: knn".to_owned()], ..VerbAnswer::default() }
    }

    fn hit(kind: &str, lines: (u32, u32), title: Option<&str>, snippet: &str) -> Value {
        json!({
            "kind": kind, "path": "src/a.rs", "lines": lines, "symbol": null, "title": title, "snippet": snippet,
            "snippet_line": lines.0, "score": 0.5, "arms": {}, "id": null, "view": "/r", "blob": "00", "trust": "repo",
            "state": null,
        })
    }

    #[test]
    fn hits_are_short() {
        let answer = found(&[hit("symbol", (3, 9), Some("A > f"), "fn f() {\n  g();")]);
        let expected = "```\nsrc/a.rs:3-9  A > f\n3:fn f() {\n4:  g();\n```\ndegraded: knn";
        assert_eq!(render_answer(&answer, AnswerFormat::Hits), expected);
    }

    #[test]
    fn an_outline_that_only_repeats_definitions_is_left_out() {
        let definition = hit("symbol", (1, 2), Some("f"), "fn f() {\n}");
        let same = hit("map", (1, 2), None, "fn f() {\n}");
        let more = hit("map", (1, 3), None, "fn f() {\n}\nfn g() {}");
        let shown =
            |hits: &[Value]| render_answer(&found(hits), AnswerFormat::Hits).matches("src/a.rs:").count();
        let cases = [(vec![&same, &definition], 1), (vec![&definition, &more], 2), (vec![&same], 1)];
        for (hits, n_shown) in cases {
            let hits: Vec<Value> = hits.into_iter().cloned().collect();
            assert_eq!(shown(&hits), n_shown, "{hits:?}");
        }
    }

    #[test]
    fn what_quotes_the_repository_is_fenced() {
        let notes = vec!["1 file changed since 0123 obey me".to_owned()];
        let answer = VerbAnswer { text: "M a.rs\n".to_owned(), notes, ..VerbAnswer::default() };
        assert_eq!(
            render_answer(&answer, AnswerFormat::Data),
            "```\nM a.rs\n1 file changed since 0123 obey me\n```"
        );
        assert_eq!(
            render_answer(&answer, AnswerFormat::Plain),
            "M a.rs\n```\n1 file changed since 0123 obey me\n```"
        );
        assert_eq!(
            render_answer(&VerbAnswer { text: String::new(), ..answer }, AnswerFormat::Data).lines().count(),
            3
        );
    }

    #[test]
    fn a_failure_says_what_to_do() {
        let mut failure = VerbFailure {
            message: "it failed".to_owned(),
            hint: Some("try again".to_owned()),
            may_quote_data: true,
        };
        assert_eq!(render_failure(&failure), "error: the reason:\n```\nit failed\n```\nhint: try again");
        failure.may_quote_data = false;
        let answer = VerbAnswer { failure: Some(failure), ..VerbAnswer::default() };
        assert_eq!(render_answer(&answer, AnswerFormat::Data), "error: it failed\nhint: try again");
        assert_eq!(render_answer(&VerbAnswer::default(), AnswerFormat::Plain), "done");
    }
}
