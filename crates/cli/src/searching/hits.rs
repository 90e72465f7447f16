//! Runs `memo search`, and prints the hits of a search.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use memod_base::types::suggest_names;
use memod_proto::memory::build_reader_marks;
use memod_proto::{
    CommitInfo, Hit, MemoryInfo, NO_FILE_MATCHES, Parsed, SearchMode, SearchParams, SearchResult,
    describe_unsearched,
};
use memod_terminal::text::{
    escape_for_display, find_matches, format_commit_line, format_count, highlight_terms,
    not_up_to_date_message, paint, query_terms,
};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::asked_uses::{describe_direct_question, find_asked_uses, list_use_locations, print_asked_uses};
use super::fit_to_budget::fit_hits_to_budget;
use super::last_search::{self, HitLocation};
use super::leading_note::leading_note;
use crate::args::SearchArgs;
use crate::args::build_params;
use crate::llm;
use crate::memories::explain_unknown_filters;

/// Most characters of a query that a note quotes.
const MOST_QUOTED_CHARS: usize = 100;

/// The hint for a glob that matches no file.
const GLOB_HINT: &str =
    "a glob with a slash starts at the current directory; `memo status --files` lists the indexed files";

/// Runs a search and prints its hits. Exits with 1 when nothing matched.
pub(crate) fn run_search(typed: SearchArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    if typed.dry_run {
        return llm::show_expansion_requests(&typed.find.query, context, output);
    }
    let config = memod_config::load_settings(Some(&context.layout))?.config;
    let is_of_files = typed.files || typed.vimgrep;
    let form = |result: &SearchResult, output: &mut Output| match (
        typed.files,
        typed.vimgrep,
        result.found_uses(),
    ) {
        (true, ..) => print_files(result, output),
        (_, true, _) => print_vimgrep(result, output),
        (.., Some(asked)) => print_asked_uses(asked, context, output),
        _ => print_hits(result, output),
    };
    let budget = typed.budget;
    let params = SearchParams {
        texts: budget.is_some(),
        ..build_params::search_params(typed.find, &context.cwd, &config)
    };
    let mut result = fetch_hits(&params, context)?;
    if !is_of_files && budget.is_none() {
        result.uses = find_asked_uses(&params, result.fresh, context);
    }
    if let Some(tokens) = budget {
        fit_hits_to_budget(&mut result, tokens, |part| {
            output.count_chars(part, |output| print_hits(part, output))
        });
    }
    // After a search with `--files`, `memo open N` opens the Nth file. After one with `--vimgrep`, which prints no numbers, there is
    // nothing to open.
    let listed: Option<Vec<&Hit>> = match (output.is_text(), typed.files, typed.vimgrep) {
        (true, true, _) => Some(best_hit_per_file(&result).collect()),
        (true, _, true) => None,
        _ => Some(result.hits.iter().collect()),
    };
    if let Some(listed) = listed.filter(|_| context.client == "cli") {
        let terms = terms_to_highlight(&result);
        let of_hits = || listed.into_iter().map(|hit| HitLocation::from_hit(hit, &terms)).collect();
        let of_uses = result.found_uses().filter(|_| output.is_text()).map(list_use_locations);
        last_search::save_hit_locations(context, of_uses.unwrap_or_else(of_hits));
    }
    if let Some(note) = leading_note(&result).filter(|_| !output.write_json) {
        output.write_note(&note);
    }
    output.write_list(&result, |output| form(&result, output))?;
    if let Some(note) = result_note(&result).filter(|_| !output.write_json) {
        output.flush()?;
        output.write_note(&note);
        if result.parsed.notes.iter().any(|note| note.ends_with(NO_FILE_MATCHES)) {
            output.write_hint(GLOB_HINT);
        }
        if result.hits.is_empty() {
            explain_unknown_filters(params.container.as_deref(), &params.tag, context, output);
        }
    }
    let is_answered = result.found_uses().is_some();
    let is_empty = !is_answered
        && if is_of_files { file_hits(&result).next().is_none() } else { result.hits.is_empty() };
    Ok(if is_empty { EXIT_NOTHING_FOUND } else { 0 })
}

/// Fetches the hits of a search. The time limit is that of other requests plus the time for which the daemon may wait for
/// freshness.
pub(crate) fn fetch_hits(params: &SearchParams, context: &CommandContext) -> Result<SearchResult, CliError> {
    let mut client = context.connect()?;
    // The daemon waits for a language model for at most a minute (llm.timeout_ms).
    let model_s = if params.expand == Some(true) { 60 } else { 0 };
    let wait = Duration::from_millis(params.wait_ms.unwrap_or(0));
    client.set_answer_limit(Duration::from_secs(30 + model_s) + wait);
    Ok(client.call("search", params)?)
}

/// Returns the words of a query that are highlighted in hits.
pub(crate) fn terms_to_highlight(result: &SearchResult) -> Vec<String> {
    let Parsed { terms: words, phrases, .. } = &result.parsed;
    let words: Vec<&str> = words.iter().chain(phrases).chain(&result.corrected).map(String::as_str).collect();
    query_terms(&if words.is_empty() { result.query.clone() } else { words.join(" ") })
}

fn print_hits(result: &SearchResult, output: &mut Output) -> Result<(), CliError> {
    let terms = terms_to_highlight(result);
    for (at, hit) in result.hits.iter().enumerate() {
        if at > 0 {
            output.write_line("")?;
        }
        print_hit_number(hit.rank, output)?;
        print_hit(hit, &terms, output)?;
    }
    Ok(())
}

/// Prints the number of a hit for `memo open`, on a terminal only.
fn print_hit_number(number: usize, output: &mut Output) -> Result<(), CliError> {
    if output.is_on_terminal {
        output.write_bytes(paint(output.styles.line, &format!("{number} ")).as_bytes())?;
    }
    Ok(())
}

fn styled_hit_path(hit: &Hit, output: &Output) -> String {
    output.styled_path(hit.shown_path(), &Path::new(&hit.view).join(&hit.path))
}

fn file_hits(result: &SearchResult) -> impl Iterator<Item = &Hit> {
    result.hits.iter().filter(|hit| hit.commit.is_none() && hit.memory.is_none())
}

/// Returns the best hit of each file, the best first.
fn best_hit_per_file(result: &SearchResult) -> impl Iterator<Item = &Hit> {
    let mut seen = HashSet::new();
    file_hits(result).filter(move |hit| seen.insert(hit.shown_path()))
}

fn print_files(result: &SearchResult, output: &mut Output) -> Result<(), CliError> {
    let mut seen: HashSet<&str> = file_hits(result).map(Hit::shown_path).collect();
    let mut n_unlisted = 0;
    for (number, hit) in (1..).zip(best_hit_per_file(result)) {
        print_hit_number(number, output)?;
        output.write_line(&styled_hit_path(hit, output))?;
        // Files with the same content match as well. They have no number, because `memo open` opens hits.
        let Some(copies) = &hit.copies else { continue };
        let shown = if copies.cwd_paths.is_empty() { &copies.paths } else { &copies.cwd_paths };
        for (path, shown) in copies.paths.iter().zip(shown) {
            if seen.insert(shown) {
                output.write_line(&output.styled_path(shown, &Path::new(&hit.view).join(path)))?;
            }
        }
        n_unlisted += copies.count.saturating_sub(copies.paths.len());
    }
    note_unlisted_copies(n_unlisted, "--path lists those of a directory", output)
}

/// Notes the number of files with the content of a hit that are not printed, and what prints them.
fn note_unlisted_copies(n_unlisted: usize, remedy: &str, output: &mut Output) -> Result<(), CliError> {
    if n_unlisted > 0 && !output.write_json {
        let files = format_count(n_unlisted as u64, "more file has", "more files have");
        output.flush()?;
        output.write_note(&format!("{files} the same content; {remedy}"));
    }
    Ok(())
}

/// Prints matching lines in the form that `vim -q` and the quickfix lists of other editors read.
fn print_vimgrep(result: &SearchResult, output: &mut Output) -> Result<(), CliError> {
    let terms = terms_to_highlight(result);
    let mut seen = HashSet::new();
    for hit in file_hits(result) {
        let lines = hit.numbered_lines();
        let mut found: Vec<_> = lines
            .iter()
            .filter_map(|line| Some((line.first, first_column(line.text, &terms)?, line)))
            // The columns of joined lines are not those of the file.
            .map(|(number, column, line)| {
                (number, if line.first == line.last { column } else { 1 }, line.text)
            })
            .collect();
        if found.is_empty() {
            found.extend(lines.first().map(|line| (line.first, 1, line.text)));
        }
        found.retain(|(number, ..)| seen.insert((&hit.path, *number))); // several hits may have the same line
        for (number, column, line) in found {
            let line = escape_for_display(line.trim_end());
            output
                .write_line(&format!("{}:{number}:{column}:{line}", escape_for_display(hit.shown_path())))?;
        }
    }
    let copies = best_hit_per_file(result).filter_map(|hit| hit.copies.as_ref());
    note_unlisted_copies(copies.map(|copies| copies.count).sum(), "-l lists them", output)
}

/// Returns the 1-based byte column of the first match in a line.
fn first_column(line: &str, terms: &[String]) -> Option<usize> {
    find_matches(line, terms).first().map(|span| span.start + 1)
}

/// Prints a commit: its id, date, author and subject, and the lines of its message that match.
fn print_commit(
    hit: &Hit,
    commit: &CommitInfo,
    terms: &[String],
    output: &mut Output,
) -> Result<(), CliError> {
    output.write_line(&format_commit_line(
        commit,
        hit.title.as_deref().unwrap_or_default(),
        output.styles,
    ))?;
    let matched = output.styles.matched;
    for line in hit.snippet.lines().filter(|line| hit.title.as_deref() != Some(*line) && !line.is_empty()) {
        output.write_line(format!("  {}", highlight_terms(line, terms, matched)).trim_end())?;
    }
    Ok(())
}

/// Prints a memory: its id, date, container, title and tags, and the lines that match.
fn print_memory(
    hit: &Hit,
    memory: &MemoryInfo,
    terms: &[String],
    output: &mut Output,
) -> Result<(), CliError> {
    let styles = output.styles;
    let id = paint(styles.path, &escape_for_display(hit.id.as_deref().unwrap_or(&hit.path)));
    let day = memory.created.get(..10).unwrap_or(&memory.created);
    let container = paint(styles.title, &escape_for_display(&memory.container));
    let mut head = format!("{id}  {}  {container}", paint(styles.line, &escape_for_display(day)));
    if let Some(title) = &hit.title {
        head = format!("{head}  {}", paint(styles.title, &escape_for_display(title)));
    }
    let tags: String = memory.tags.iter().map(|tag| format!(" #{}", escape_for_display(tag))).collect();
    head += &paint(styles.line, &tags);
    output.write_line(&format!("{head}{}", memory_notes(hit, output)))?;
    for line in hit.snippet.lines() {
        output.write_line(format!("  {}", highlight_terms(line, terms, styles.matched)).trim_end())?;
    }
    Ok(())
}

/// Returns notes on a memory: the state of the code that it is about, and marks such as a conflict in its file.
fn memory_notes(hit: &Hit, output: &Output) -> String {
    let state = hit.state.as_deref().filter(|state| *state != "fresh");
    let memory = hit.memory.as_ref();
    let marks = memory
        .map(|memory| {
            build_reader_marks(
                &hit.trust,
                memory.scope,
                memory.repository.as_deref(),
                memory.conflict.as_deref(),
                &memory.superseded_by,
            )
        })
        .unwrap_or_default();
    let notes = state.map(str::to_owned).into_iter().chain(marks);
    notes.map(|note| format!("  {}", paint(output.styles.bad, &escape_for_display(&note)))).collect()
}

pub(crate) fn print_hit(hit: &Hit, terms: &[String], output: &mut Output) -> Result<(), CliError> {
    if let Some(commit) = &hit.commit {
        return print_commit(hit, commit, terms, output);
    }
    if let Some(memory) = &hit.memory {
        return print_memory(hit, memory, terms, output);
    }
    let styles = output.styles;
    let lines = format!("{}-{}", hit.lines.0, hit.lines.1);
    let mut head = format!("{}:{}", styled_hit_path(hit, output), paint(styles.line, &lines));
    if let Some(title) = hit.title.as_ref().or(hit.symbol.as_ref()) {
        head = format!("{head}  {}", paint(styles.title, &escape_for_display(title)));
    }
    output.write_line(&format!("{head}{}", memory_notes(hit, output)))?;
    let lines = hit.numbered_lines();
    let width = lines.iter().map(|line| line.shown_number().len()).max().unwrap_or(0);
    for line in lines {
        let number = paint(styles.line, &format!("{:>width$}", line.shown_number()));
        let text = highlight_terms(line.text, terms, styles.matched);
        output.write_line(format!("  {number}  {text}").trim_end())?;
    }
    if let Some(line) = hit.describe_copies() {
        output.write_line(&format!("  {}", paint(styles.line, &escape_for_display(&line))))?;
    }
    Ok(())
}

/// Returns a note on a result that is empty, out of date or incomplete.
pub(crate) fn result_note(result: &SearchResult) -> Option<String> {
    let mut parts: Vec<String> = result.found_uses().into_iter().map(describe_direct_question).collect();
    if !result.fresh {
        let mut behind = not_up_to_date_message(result.reason.as_deref());
        if result.pending.files > 0 {
            behind += &format!(", {} to be indexed", format_count(result.pending.files, "file", "files"));
        }
        parts.push(behind);
    }
    let unsearched = describe_unsearched(&result.unsearched, result.n_more_unsearched);
    parts.extend(unsearched.map(|named| format!("not searched: {}", escape_for_display(&named))));
    if result.pending.embeddings > 0 && result.mode != SearchMode::Keyword {
        parts.push(format!(
            "{} still without a vector",
            format_count(result.pending.embeddings, "chunk", "chunks")
        ));
    }
    if let Some(corrected) = &result.corrected {
        parts.push(format!(
            "little or nothing found as typed; also searched: {}",
            escape_for_display(corrected)
        ));
        let is_said = result.similar_names.iter().any(|name| name.eq_ignore_ascii_case(corrected));
        parts.extend(
            suggest_names(&result.similar_names)
                .filter(|_| !is_said)
                .map(|similar| escape_for_display(&similar)),
        );
    }
    if !result.expanded.is_empty() {
        parts.push(format!(
            "also searched for words that a language model suggested: {}",
            escape_for_display(&result.expanded.join(", "))
        ));
    }
    parts.extend(result.parsed.notes.iter().map(|note| escape_for_display(note)));
    let reason = result.reason.as_deref().unwrap_or_default();
    // Leave out a problem whose cause the reason already names.
    let is_in_reason = |why: &str| reason.contains(why.split_once(": ").map_or(why, |(_, cause)| cause));
    let degraded: Vec<&str> =
        result.degraded.iter().map(String::as_str).filter(|why| !is_in_reason(why)).collect();
    if !degraded.is_empty() {
        parts.push(format!("degraded: {}", degraded.join(", ")));
    }
    if result.left_out > 0 {
        let more = format_count(result.left_out as u64, "more hit does", "more hits do");
        parts.insert(0, format!("{more} not fit into the budget"));
    } else if result.hits.is_empty() {
        // That the first indexed files do not match says nothing about the other files.
        let is_too_early = !result.fresh && reason.starts_with("the index is being built");
        let none = match result.fresh {
            true => "no match",
            false if is_too_early => "too early for an answer",
            false => "no match yet",
        };
        parts.insert(0, format!("{none} for {}", shorten_query(result)));
        parts.extend(is_too_early.then(|| "`memo sync` waits until everything is indexed".to_owned()));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns the query, shortened to fit into a note.
pub(super) fn shorten_query(result: &SearchResult) -> String {
    let query = &result.query;
    let cut = query.char_indices().nth(MOST_QUOTED_CHARS).map(|(at, _)| format!("{}…", &query[..at]));
    escape_for_display(cut.as_ref().unwrap_or(query))
}

#[cfg(test)]
pub(super) mod tests {
    use memod_base::types::ChunkKind;
    use memod_proto::{Arms, Pending};

    use super::*;

    #[test]
    fn what_an_answer_lacks_is_said() {
        let check = |fresh: bool, files: u64, embeddings: u64, degraded: &[&str], expected: &str| {
            let degraded = degraded.iter().map(ToString::to_string).collect();
            let reason = (!fresh).then(|| "first index".to_owned());
            let query = "q".to_owned();
            let pending = Pending { files, embeddings };
            let result = SearchResult { fresh, reason, query, pending, degraded, ..SearchResult::default() };
            assert_eq!(result_note(&result).as_deref(), Some(expected));
        };
        check(true, 0, 0, &[], "no match for q");
        check(true, 0, 9, &[], "no match for q; 9 chunks still without a vector");
        check(
            false,
            1200,
            0,
            &[],
            "no match yet for q; not up to date: first index, 1,200 files to be indexed",
        );
        let result = SearchResult {
            query: "q".to_owned(),
            reason: Some("the index is being built: 2 of 643 files".to_owned()),
            ..SearchResult::default()
        };
        let said = "too early for an answer for q; not up to date: the index is being built: 2 of 643 files; \
                    `memo sync` waits until everything is indexed";
        assert_eq!(result_note(&result).as_deref(), Some(said));
        check(true, 0, 0, &["knn: model loading"], "no match for q; degraded: knn: model loading");
    }

    #[test]
    fn a_long_query_is_not_repeated_as_a_whole() {
        let result = SearchResult { fresh: true, query: "é".repeat(9_000), ..SearchResult::default() };
        assert_eq!(result_note(&result), Some(format!("no match for {}…", "é".repeat(MOST_QUOTED_CHARS))));
    }

    /// Returns a hit without text that these arms found.
    pub(in crate::searching) fn build_hit(arms: Arms) -> Hit {
        Hit {
            kind: ChunkKind::Text,
            classes: Vec::new(),
            path: "a".to_owned(),
            cwd_path: None,
            lines: (1, 1),
            symbol: None,
            title: None,
            snippet: String::new(),
            snippet_line: 1,
            signature: None,
            signature_line: None,
            signature_end: None,
            copies: None,
            text: None,
            rank: 1,
            score: 1.0,
            arms,
            id: None,
            view: String::new(),
            blob: String::new(),
            trust: "repo".to_owned(),
            state: None,
            commit: None,
            memory: None,
            explain: None,
        }
    }

    #[test]
    fn hits_by_meaning_alone_are_called_so() {
        let check = |arms: Arms, mode: SearchMode, expected: Option<&str>| {
            let hits = vec![build_hit(arms)];
            let result =
                SearchResult { hits, mode, fresh: true, query: "q".to_owned(), ..SearchResult::default() };
            assert_eq!((leading_note(&result).as_deref(), result_note(&result)), (expected, None));
        };
        let near = Arms { knn: Some(1), cosine: Some(0.3), ..Arms::default() };
        check(near, SearchMode::Hybrid, Some("no word of q was found; these hits are near in meaning"));
        check(near, SearchMode::Vector, None);
        check(Arms { path: Some(1), ..near }, SearchMode::Hybrid, None);
    }

    #[test]
    fn joined_lines_have_the_numbers_of_all() {
        let snippet = |snippet: &str, line: u32| Hit {
            snippet: snippet.to_owned(),
            snippet_line: line,
            signature: Some("def a(b, c):".to_owned()),
            signature_line: Some(3),
            signature_end: Some(5),
            ..build_hit(Arms::default())
        };
        let check = |hit: &Hit, expected: &[(&str, &str)]| {
            let lines = hit.numbered_lines();
            let lines: Vec<_> = lines.iter().map(|line| (line.shown_number(), line.text)).collect();
            let lines: Vec<_> = lines.iter().map(|(number, text)| (number.as_str(), *text)).collect();
            assert_eq!(lines, expected);
        };
        check(&snippet("    d", 9), &[("3-5", "def a(b, c):"), ("9", "    d")]);
        check(&snippet("# e\ndef a(\n    b,", 2), &[("2", "# e"), ("3-5", "def a(b, c):")]);
        check(&snippet("    b,\n    c):\n    d", 4), &[("3-5", "def a(b, c):"), ("6", "    d")]);
        let whole = [("3", "def a("), ("4", "    b,"), ("5", "    c):"), ("6", "    d")];
        check(&snippet("def a(\n    b,\n    c):\n    d", 3), &whole);
    }
}
