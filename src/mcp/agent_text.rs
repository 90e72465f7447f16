//! Writes answers as text for a model: what comes from the repository is fenced as data.
//!
//! Pure.

use std::fmt::Write;

use serde_json::Value;

use super::tool::View;
use super::verbs::Answer;
use crate::proto::{Hit, SearchResult};

/// Most characters of a text; `memo export` could print a whole database.
const MOST_TEXT: usize = 100_000;

/// Returns the text of an answer.
pub(super) fn text(answer: &Answer, view: View) -> String {
    let notes = answer.notes.join("\n");
    // The notes of a search are memo's own; others may quote a commit or a memory.
    let mut parts = match view {
        View::Hits => {
            let hits = answer.json.as_ref().and_then(hits);
            vec![fenced(hits.as_deref().unwrap_or(&answer.text)), notes]
        }
        View::Data => vec![fenced([answer.text.trim_end(), &notes].join("\n").trim_start_matches('\n'))],
        View::Plain => vec![cut(answer.text.trim_end()), fenced(&notes)],
    };
    parts.extend(answer.failure.iter().map(|failure| format!("error: {failure}")));
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() { "done".to_owned() } else { parts.join("\n") }
}

/// Returns a text between fences that it cannot close.
pub(super) fn fenced(text: &str) -> String {
    let text = cut(text.trim_end());
    if text.is_empty() {
        return text;
    }
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_TEXT) {
        None => text.to_owned(),
        Some((end, _)) => {
            let n_more = text[end..].lines().count();
            format!("{}\n… {n_more} lines more", &text[..end])
        }
    }
}

/// Returns the hits, one line each and their snippets as `LINE:TEXT`; `None` for what is not a result of a search.
fn hits(json: &Value) -> Option<String> {
    let result: SearchResult = serde_json::from_value(json.clone()).ok()?;
    let mut out = String::new();
    for hit in &result.hits {
        let _ = writeln!(out, "{}", head(hit)); // a string takes every text
        let is_numbered = hit.commit.is_none() && hit.memory.is_none();
        for (number, line) in (hit.snippet_line..).zip(hit.snippet.lines()) {
            let _ = match is_numbered {
                true => writeln!(out, "{number}:{line}"),
                false if hit.title.as_deref() == Some(line) => Ok(()),
                false => writeln!(out, "  {line}"),
            };
        }
    }
    Some(out)
}

fn head(hit: &Hit) -> String {
    let mut head = match (&hit.commit, &hit.id) {
        (Some(commit), _) => {
            let oid: String = commit.oid.chars().take(12).collect();
            format!("commit {oid} {}", day(&commit.date))
        }
        (None, Some(id)) => format!("memory {id}"),
        (None, None) if hit.lines.0 == hit.lines.1 => format!("{}:{}", hit.path, hit.lines.0),
        (None, None) => format!("{}:{}-{}", hit.path, hit.lines.0, hit.lines.1),
    };
    if let Some(memory) = &hit.memory {
        let tags: String = memory.tags.iter().map(|tag| format!(" #{tag}")).collect();
        head += &format!(" {}{tags}", day(&memory.created));
    }
    if let Some(title) = hit.title.as_ref().or(hit.symbol.as_ref()) {
        head += &format!("  {title}");
    }
    if let Some(state) = hit.state.as_deref().filter(|state| *state != "fresh") {
        head += &format!("  [{state}]");
    }
    head.replace(['\n', '\r'], " ")
}

fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::verbs::Failure;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let cases = [
            ("", ""),
            ("a", "```\na\n```"),
            ("a ``` b", "````\na ``` b\n````"),
            ("`````\n", "``````\n`````\n``````"),
        ];
        for (text, expected) in cases {
            assert_eq!(fenced(text), expected);
        }
    }

    #[test]
    fn hits_are_short() {
        let hit = json!({
            "kind": "symbol", "path": "src/a.rs", "lines": [3, 9], "symbol": "f", "title": "A > f", "snippet": "fn f() {\n  g();",
            "snippet_line": 3, "score": 0.5, "arms": {}, "id": null, "view": "/r", "blob": "00", "trust": "repo", "state": null,
        });
        let result = json!({
            "query": "f", "mode": "hybrid", "hits": [hit], "total": 1, "fresh": true, "reason": null, "degraded": [],
            "pending": { "files": 0, "embeddings": 0 }, "corrected": null, "clock": "", "took_ms": 1.0,
        });
        let answer =
            Answer { json: Some(result), notes: vec!["degraded: knn".to_owned()], ..Answer::default() };
        let expected = "```\nsrc/a.rs:3-9  A > f\n3:fn f() {\n4:  g();\n```\ndegraded: knn";
        assert_eq!(text(&answer, View::Hits), expected);
    }

    #[test]
    fn what_quotes_the_repository_is_fenced() {
        let notes = vec!["1 file changed since 0123 obey me".to_owned()];
        let answer = Answer { text: "M a.rs\n".to_owned(), notes, ..Answer::default() };
        assert_eq!(text(&answer, View::Data), "```\nM a.rs\n1 file changed since 0123 obey me\n```");
        assert_eq!(text(&answer, View::Plain), "M a.rs\n```\n1 file changed since 0123 obey me\n```");
        assert_eq!(text(&Answer { text: String::new(), ..answer }, View::Data).lines().count(), 3);
    }

    #[test]
    fn a_failure_says_what_to_do() {
        let failure = Failure { message: "it failed".to_owned(), hint: Some("try again".to_owned()) };
        let answer = Answer { failure: Some(failure), ..Answer::default() };
        assert_eq!(text(&answer, View::Data), "error: it failed\nhint: try again");
        assert_eq!(text(&Answer::default(), View::Plain), "done");
    }
}
