//! Does the source keep the house rules?

mod graph;
pub(crate) mod manifests;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use self::graph::Graph;

/// Text and values in, values out. A name that ends with `/` is a directory; that of a crate begins with its folder in `crates`.
const PURE: &[&str] = &[
    "base/types.rs",
    "base/types/",
    "cli/agent_hook/hook_input.rs",
    "cli/agent_hook/reply_form.rs",
    "client/version.rs",
    "daemon/context/advice/advice_note.rs",
    "daemon/context/briefing/build_commands.rs",
    "daemon/context/briefing/entry_points.rs",
    "daemon/context/briefing/manifests.rs",
    "daemon/context/briefing/brief_page.rs",
    "daemon/context/briefing/project_parts.rs",
    "daemon/context/briefing/project_lines.rs",
    "daemon/context/briefing/readme.rs",
    "daemon/web/guard.rs",
    "daemon/web/page_files.rs",
    "daemon/web/request_params.rs",
    "daemon/web/response.rs",
    "daemon/web/router.rs",
    "config/setting_key.rs",
    "extract/",
    "hooks/block.rs",
    "hooks/section.rs",
    "indexing/plan.rs",
    "llm/messages.rs",
    "llm/model_answer.rs",
    "memory/outgoing.rs",
    "llm/tasks/",
    "mcp/agent_text.rs",
    "mcp/arguments.rs",
    "mcp/instructions.rs",
    "mcp/lean_json.rs",
    "mcp/more_tools.rs",
    "mcp/prompts.rs",
    "mcp/tool.rs",
    "mcp/tools.rs",
    "memory/",
    "proto/",
    "search/arms/bm25.rs",
    "search/candidates/arm_signals.rs",
    "search/candidates/chunk_candidate.rs",
    "search/candidates/ranked.rs",
    "search/filter.rs",
    "search/hits/",
    "search/memory_search/",
    "search/paths/",
    "search/query.rs",
    "search/query/",
    "search/ranking/correction_factor.rs",
    "search/ranking/fuse.rs",
    "search/ranking/rare_word.rs",
    "search/ranking/rerank.rs",
    "search/recent_cache.rs",
    "search/text_scores/",
    "search/worktree_chunks.rs",
    "search/worktree_chunks/",
    "setup/agent_table.rs",
    "setup/document.rs",
    "setup/marked_section.rs",
    "setup/text_lines.rs",
    "index_db/postings/invert_words.rs",
    "index_db/postings/posting_list.rs",
    "setup/unified_diff.rs",
    "structure/",
    "text/",
    "watch/debounce.rs",
    "bench/asked_definitions.rs",
    "bench/bootstrap_means.rs",
    "bench/candidate_rows.rs",
    "bench/label_json.rs",
    "bench/labelled_question.rs",
    "bench/page_headings.rs",
    "bench/quality_report.rs",
    "bench/rank_scores.rs",
    "cli/args/build_params.rs",
    "setup/json.rs",
    "setup/json/",
    "terminal/text.rs",
];

/// Where a pure module may name an impure word: file, word, and why.
const IMPURE_FOR_A_REASON: &[(&str, &str, &str)] =
    &[("extract/definitions/parse_budget.rs", "Instant::now", "the time budget of a hostile file")];

const IMPURE_WORDS: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::io::std",
    "SystemTime::now",
    "Instant::now",
    ".elapsed()",
    "rusqlite",
];

/// Flat tables, which may be longer than [`MAX_FUNCTION`]: `path: function`.
const LONG_TABLES: &[&str] = &["cli/lib.rs: run_verb", "cli/mcp/permission.rs: verb_permission"];

const MAX_FILE: usize = 500;
const MAX_FUNCTION: usize = 80;

/// One file of `src` or of a crate.
struct Source {
    /// Relative to the repository, with `/`.
    path: String,
    /// Relative to `src`; of a crate, its folder in `crates` and what is below the crate's own `src`.
    name: String,
    text: String,
    /// The same length and lines, but comments and what is in quotes are blank; and the whole of a file that
    /// is compiled for tests alone.
    code: String,
}

impl Source {
    fn new(name: &str, text: &str) -> Self {
        Self { path: format!("src/{name}"), name: name.to_owned(), text: text.to_owned(), code: blank(text) }
    }

    fn is_of_crate(&self) -> bool {
        self.path.starts_with("crates/")
    }

    /// The top module; for a program its name.
    fn module(&self) -> &str {
        let name = self.name.strip_prefix("bin/").unwrap_or(&self.name);
        name.split('/').next().unwrap_or(name).trim_end_matches(".rs")
    }

    /// The modules in files of their own that are compiled for tests alone, as names of files.
    fn test_files(&self) -> Vec<String> {
        let own = ["mod.rs", "lib.rs"].into_iter().find_map(|top| self.name.strip_suffix(top));
        let dir = own.map_or(self.name.replace(".rs", "/"), str::to_owned);
        let declared = self.code.match_indices("#[cfg(test)]").filter_map(|(at, mark)| {
            let (name, _) =
                self.code[at + mark.len()..].trim_start().strip_prefix("mod ")?.split_once(';')?;
            name.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| format!("{dir}{name}.rs"))
        });
        declared.collect()
    }

    /// Whether all of it is compiled for tests alone.
    fn is_for_tests(&self) -> bool {
        self.code.trim().is_empty() && !self.text.trim().is_empty()
    }

    /// The code without what is compiled for tests alone.
    fn shipped(&self) -> String {
        let mut code = self.code.clone();
        while let Some(start) = code.find("#[cfg(test)]") {
            let item = &code[start..];
            let end = match (item.find('{'), item.find(';')) {
                (Some(open), semicolon) if semicolon.is_none_or(|at| open < at) => closing(item, open),
                (_, at) => at.unwrap_or(item.len() - 1),
            };
            let gone: String = code[start..=start + end].chars().map(blanked).collect();
            code.replace_range(start..=start + end, &gone);
        }
        code
    }
}

fn sources() -> Vec<Source> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut left = vec![top.join("src"), top.join("crates")];
    let mut found = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let relative = path.strip_prefix(top).unwrap().to_str().unwrap().replace('\\', "/");
            let (_, below) = relative.split_once('/').unwrap();
            let name = below.replacen("/src/", "/", usize::from(relative.starts_with("crates/")));
            found.push(Source { path: relative, ..Source::new(&name, &fs::read_to_string(&path).unwrap()) });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let test_files: Vec<String> = found.iter().flat_map(Source::test_files).collect();
    for source in found.iter_mut().filter(|source| test_files.contains(&source.name)) {
        source.code = source.code.chars().map(blanked).collect();
    }
    assert!(found.iter().any(Source::is_of_crate) && found.len() > 10, "the sources were not found");
    found
}

fn blanked(c: char) -> char {
    if c == '\n' { c } else { ' ' }
}

/// Blanks comments, strings and character literals; bytes outside ASCII become spaces, so offsets stay.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    while out.len() < bytes.len() {
        let at = out.len();
        let len = match quoted_len(&bytes[at..], at.checked_sub(1).map(|before| bytes[before])) {
            0 => {
                out.push(if bytes[at].is_ascii() { bytes[at] } else { b' ' });
                continue;
            }
            len => len.min(bytes.len() - at),
        };
        out.extend(bytes[at..at + len].iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
    }
    String::from_utf8(out).unwrap()
}

/// Returns the length of the comment, string or character at the start; 0 when there is none.
fn quoted_len(rest: &[u8], before: Option<u8>) -> usize {
    let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match rest {
        [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => find(rest, b"*/").map_or(rest.len(), |at| at + 2),
        [b'r', b'"' | b'#', ..] if !in_word || before == Some(b'b') => raw_string_len(rest),
        [b'"', ..] => string_len(rest),
        [b'\'', b'\\', ..] => 3 + rest[3..].iter().position(|byte| *byte == b'\'').map_or(0, |at| at + 1),
        [b'\'', ..] => {
            // A character, unless no quote follows it: then it is a lifetime.
            let first = std::str::from_utf8(&rest[1..rest.len().min(5)])
                .or_else(|error| std::str::from_utf8(&rest[1..1 + error.valid_up_to()]))
                .unwrap_or_default();
            let len = first.chars().next().map_or(0, char::len_utf8);
            if len > 0 && rest.get(1 + len) == Some(&b'\'') { len + 2 } else { 0 }
        }
        _ => 0,
    }
}

fn raw_string_len(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 0; // a raw identifier
    }
    let end = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let body = 2 + hashes;
    find(&rest[body..], &end).map_or(rest.len(), |at| body + at + end.len())
}

fn string_len(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// Returns the offset of the brace that closes the one at `open`.
fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len() - 1
}

/// Returns the line of an offset, 1-based.
fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

/// Returns each function's name, first line and number of lines.
fn functions(code: &str) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code[..at].bytes().last();
        if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            continue;
        }
        let rest = &code[at + 3..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // `;` ends a declaration without a body; inside brackets it is an array's length.
        let mut depth = 0;
        let start = rest.bytes().position(|byte| {
            match byte {
                b'[' | b'(' => depth += 1,
                b']' | b')' => depth -= 1,
                _ => {}
            }
            depth <= 0 && (byte == b'{' || byte == b';')
        });
        if let Some(start) = start.filter(|start| !name.is_empty() && rest.as_bytes()[*start] == b'{') {
            let end = closing(rest, start);
            found.push((name, line_of(code, at), rest[..end].matches('\n').count() + 1));
        }
    }
    found
}

/// Fails with one line for each broken rule.
fn report(broken: &[String], rule: &str) {
    assert!(broken.is_empty(), "{} places break a rule\n{}\n{rule}", broken.len(), broken.join("\n"));
}

/// Runs a check over every source.
fn every(check: impl Fn(&Source) -> Vec<String>, rule: &str) {
    let broken: Vec<String> = sources().iter().flat_map(check).collect();
    report(&broken, rule);
}

/// Files of one name, at most: a name says what is in a file without its folder.
const MAX_NAMESAKES: usize = 2;

#[test]
fn file_names_say_what_is_in_them() {
    let sources = sources();
    let mut named: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in &sources {
        let name = source.name.rsplit('/').next().unwrap_or_default();
        named.entry(name).or_default().push(&source.name);
    }
    named.retain(|name, files| {
        !["lib.rs", "mod.rs", "tests.rs"].contains(name) && files.len() > MAX_NAMESAKES
    });
    let broken: Vec<String> = named.values().map(|files| files.join(" ")).collect();
    report(&broken, "name a file by what it does, not by the word that its folder has already");
}

/// Largest group of files that import each other in a circle.
const MAX_CYCLE: usize = 3;

#[test]
fn files_do_not_import_in_circles() {
    let sources = sources();
    let graph = Graph::new(&sources);
    let cycles = graph.cycles(MAX_CYCLE);
    let broken: Vec<String> =
        cycles.iter().map(|group| format!("{}: {}", group.len(), group.join(" "))).collect();
    report(
        &broken,
        "move what several of them need into a file below them, or import from the file that defines it",
    );
}

#[test]
fn rooms_do_not_use_each_other_in_circles() {
    report(
        &Graph::new(&sources()).room_circles(),
        "move what both need into a room below them, or pass it in as a value",
    );
}

#[test]
fn every_module_says_what_it_does() {
    let check = |source: &Source| {
        let first = source.text.lines().next().unwrap_or_default();
        let good = first.starts_with("//! ") && first.ends_with('.') && !first.contains('?');
        if good || source.name.ends_with("tests.rs") {
            Vec::new()
        } else {
            vec![format!("{}: begins with: {first}", source.path)]
        }
    };
    every(check, "the first line of a file is `//! ` and one sentence that says what the module does");
}

#[test]
fn files_and_functions_are_short() {
    let check = |source: &Source| {
        let mut broken = Vec::new();
        let lines = source.text.lines().count();
        if lines > MAX_FILE {
            broken.push(format!("{}: {lines} lines, over {MAX_FILE}", source.path));
        }
        for (name, line, lines) in functions(&source.code) {
            let table = LONG_TABLES.contains(&format!("{}: {name}", source.name).as_str());
            if lines > MAX_FUNCTION && !table {
                broken.push(format!("{}:{line}: {name} has {lines} lines, over {MAX_FUNCTION}", source.path));
            }
        }
        broken
    };
    every(check, "split it; a flat table may go into LONG_TABLES");
}

#[test]
fn only_tests_unwrap() {
    let check = |source: &Source| {
        let code = source.shipped();
        let hits = code.match_indices(".unwrap()");
        hits.map(|(at, _)| format!("{}:{}: unwrap()", source.path, line_of(&code, at))).collect()
    };
    every(check, "return an error, or `expect(\"why it holds\")`");
}

#[test]
fn messages_are_for_people() {
    let check = |source: &Source| {
        let lines = source.text.lines().enumerate();
        let bad = lines.filter(|(_, line)| line.contains("#[error(") && line.contains(":?}"));
        bad.map(|(at, line)| format!("{}:{}: {}", source.path, at + 1, line.trim())).collect()
    };
    every(check, "no `{:?}` in a message: `.display()` a path, `Display` a value");
}

#[test]
fn pure_modules_are_pure() {
    let sources = sources();
    let is_pure = |name: &str, pure: &str| name == pure || (pure.ends_with('/') && name.starts_with(pure));
    for pure in PURE {
        assert!(
            sources.iter().any(|source| is_pure(&source.name, pure)),
            "PURE names {pure}, which is not there"
        );
    }
    let check = |source: &Source| {
        let code = source.shipped();
        let excused =
            |word: &str| IMPURE_FOR_A_REASON.iter().any(|row| row.0 == source.name && row.1 == word);
        let words = IMPURE_WORDS.iter().filter(|word| !excused(word));
        let found = words.flat_map(|word| code.match_indices(*word));
        found.map(|(at, word)| format!("{}:{}: {word}", source.path, line_of(&code, at))).collect::<Vec<_>>()
    };
    let pure = sources.iter().filter(|source| PURE.iter().any(|pure| is_pure(&source.name, pure)));
    let broken: Vec<String> = pure.flat_map(check).collect();
    report(&broken, "pass the text, the value or the time in from the caller");
}

#[test]
fn the_checks_see_what_they_should() {
    let text = "fn a(x: [u8; 2]) {\n '{'; \"}\\\"{\"; r#\"{\"#; '\\''; b'}'\n}\nfn b<'a>() -> &'a str { \"\" }\ntrait T { fn c(); }";
    let found: Vec<_> =
        functions(&blank(text)).into_iter().map(|(name, line, n)| format!("{name}{line}{n}")).collect();
    assert_eq!(found.join(" "), "a13 b41");

    let code =
        Source::new("a.rs", "x.unwrap();\n#[cfg(test)]\nmod tests { y.unwrap(); }\nz.unwrap();").shipped();
    assert_eq!(code.matches(".unwrap()").count(), 2);

    let declared = |name: &str| Source::new(name, "#[cfg(test)]\nmod x;\nmod y;").test_files().join(" ");
    assert_eq!((declared("a.rs").as_str(), declared("a/mod.rs").as_str()), ("a/x.rs", "a/x.rs"));
}
