//! Says what a project is and how it is built and tested, from its README and its manifests.

use std::collections::BTreeMap;

use serde_json::Value;
use toml_edit::DocumentMut;

/// The files at the top of a worktree that say it, and whether their text is needed.
pub(super) const FILES: &[(&str, bool)] = &[
    ("README.md", true),
    ("README.rst", true),
    ("README.txt", true),
    ("README", true),
    ("readme.md", true),
    ("Cargo.toml", true),
    ("package.json", true),
    ("pyproject.toml", true),
    ("go.mod", true),
    ("Makefile", true),
    ("justfile", true),
    ("CMakeLists.txt", false),
    ("pom.xml", false),
    ("gradlew", false),
    ("mix.exs", false),
    ("tox.ini", false),
    ("noxfile.py", false),
    ("uv.lock", false),
    ("poetry.lock", false),
    ("pnpm-lock.yaml", false),
    ("yarn.lock", false),
    ("bun.lock", false),
];
/// The scripts of package.json that are named, in this order.
const SCRIPTS: &[&str] = &["build", "test", "lint", "typecheck", "check", "format", "dev", "start"];
/// Most targets of a file that are named.
const MOST_TARGETS: usize = 10;
/// Fewest words of a sentence; less is a title or a badge.
const LEAST_WORDS: usize = 4;

/// Returns the lines of the section: one that says what the project is, then one for each tool.
pub(super) fn project_lines(files: &BTreeMap<&str, String>) -> Vec<String> {
    let mut readmes =
        FILES.iter().map(|(name, _)| *name).filter(|name| name.to_lowercase().starts_with("readme"));
    let said = readmes.find_map(|name| first_sentence(files.get(name)?));
    let mut lines: Vec<String> = said.or_else(|| description(files)).into_iter().collect();
    let has = |name: &str| files.contains_key(name);
    if has("Cargo.toml") {
        lines.push("- cargo build, cargo test (Cargo.toml)".to_owned());
    }
    lines.extend(files.get("package.json").and_then(|text| scripts(text, &has)));
    lines.extend(files.get("pyproject.toml").and_then(|text| python(text, &has)));
    let fixed = [
        ("go.mod", "go build ./..., go test ./..."),
        ("CMakeLists.txt", "cmake -B build, cmake --build build, ctest --test-dir build"),
        ("pom.xml", "mvn package, mvn test"),
        ("gradlew", "./gradlew build, ./gradlew test"),
        ("mix.exs", "mix compile, mix test"),
    ];
    let fixed = fixed.into_iter().filter(|(name, _)| has(name));
    lines.extend(fixed.map(|(name, commands)| format!("- {commands} ({name})")));
    lines.extend(files.get("Makefile").and_then(|text| targets(text, "make", "Makefile")));
    lines.extend(files.get("justfile").and_then(|text| targets(text, "just", "justfile")));
    lines
}

/// Returns the first sentence of a text that is neither heading, badge, directive nor markup.
fn first_sentence(text: &str) -> Option<String> {
    let is_no_text = |line: &str| {
        line.starts_with(['#', '<', '|', '!', '=', '-', '~', '`', ':', '+'])
            || line.starts_with("[![")
            || line.starts_with("..")
    };
    let mut paragraph: Vec<&str> = Vec::new();
    let mut is_fenced = false;
    for line in text.lines().map(str::trim).chain([""]) {
        is_fenced ^= line.starts_with("```");
        let is_underline = line.len() > 2 && line.chars().all(|c| matches!(c, '=' | '-' | '~'));
        if is_underline || is_fenced {
            paragraph.clear(); // what is above is a heading
        } else if line.is_empty() || is_no_text(line) {
            let sentence = sentence(&paragraph.join(" "));
            if sentence.split(' ').count() >= LEAST_WORDS {
                return Some(sentence);
            }
            paragraph.clear();
        } else {
            paragraph.push(line.trim_start_matches(['>', ' ']));
        }
    }
    None
}

/// Returns a text up to the end of its first sentence, without links and emphasis.
fn sentence(text: &str) -> String {
    let text = without_links(text).replace("**", "");
    let mut ends = text.match_indices(['.', '!', '?']).map(|(at, end)| at + end.len());
    // A dot before a small letter ends no sentence: "e.g. this".
    let is_end = |at: &usize| {
        let mut rest = text[*at..].chars();
        rest.next().is_none_or(|c| c == ' ') && !rest.next().is_some_and(char::is_lowercase)
    };
    let end = ends.find(is_end).unwrap_or(text.len());
    text[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text with `[text](url)` and `[text][name]` as `text`, and without images.
fn without_links(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, link)) = rest.split_once('[') {
        let Some((label, after)) = link.split_once(']') else { break };
        let close = match after.chars().next() {
            Some('(') => after.find(')'),
            Some('[') => after.find(']'),
            _ => None,
        };
        plain += before.strip_suffix('!').unwrap_or(before);
        if !before.ends_with('!') {
            plain += label;
        }
        rest = close.map_or(after, |close| &after[close + 1..]);
    }
    plain + rest
}

/// Returns what a manifest says of the project.
fn description(files: &BTreeMap<&str, String>) -> Option<String> {
    let of_toml = |file: &str, table: &str| {
        let manifest: DocumentMut = files.get(file)?.parse().ok()?;
        manifest.get(table)?.get("description")?.as_str().map(str::to_owned)
    };
    let of_json = || {
        let manifest: Value = serde_json::from_str(files.get("package.json")?).ok()?;
        manifest["description"].as_str().map(str::to_owned)
    };
    let said = of_toml("Cargo.toml", "package").or_else(|| of_toml("pyproject.toml", "project"));
    said.or_else(of_json).filter(|said| !said.trim().is_empty())
}

fn scripts(text: &str, has: &impl Fn(&str) -> bool) -> Option<String> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    let scripts = manifest["scripts"].as_object()?;
    let known: Vec<&str> = SCRIPTS.iter().copied().filter(|name| scripts.contains_key(*name)).collect();
    let runners = [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun")];
    let runner = runners.into_iter().find(|(lock, _)| has(lock)).map_or("npm", |(_, runner)| runner);
    (!known.is_empty()).then(|| format!("- {runner} run {} (package.json)", known.join(" | ")))
}

fn python(text: &str, has: &impl Fn(&str) -> bool) -> Option<String> {
    let manifest: DocumentMut = text.parse().ok()?;
    let is_pytest = manifest.get("tool").is_some_and(|tool| tool.get("pytest").is_some());
    let runner = match (has("uv.lock"), has("poetry.lock")) {
        (true, _) => "uv run ",
        (_, true) => "poetry run ",
        _ => "",
    };
    let tools = [
        (is_pytest || text.contains("pytest"), "pytest"),
        (has("tox.ini"), "tox"),
        (has("noxfile.py"), "nox"),
    ];
    let commands: Vec<String> =
        tools.iter().filter(|(is_used, _)| *is_used).map(|(_, tool)| format!("{runner}{tool}")).collect();
    (!commands.is_empty()).then(|| format!("- {} (pyproject.toml)", commands.join(", ")))
}

/// Returns the targets of a Makefile, or the recipes of a justfile, in their order.
fn targets(text: &str, tool: &str, file: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for line in text.lines() {
        let Some((head, rest)) = line.split_once(':') else { continue };
        let Some(name) = head.split(' ').next() else { continue };
        // A recipe may have parameters; a target has one name here.
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
            && (tool == "just" || head.trim_end() == name);
        if is_name && !rest.starts_with(['=', ':']) && !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(MOST_TARGETS);
    (!names.is_empty()).then(|| format!("- {tool} {} ({file})", names.join(" | ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readme_says_what_the_project_is() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(first_sentence(text).as_deref(), expected, "{text}");
        };
        check(
            "# Flask\n\nFlask is a lightweight [WSGI] web\napplication framework. It is small.\n",
            Some("Flask is a lightweight WSGI web application framework."),
        );
        check(
            "Flask\n=====\n\n.. image:: x\n\nA **tool** for [all](http://x) of us, e.g. you and me\n",
            Some("A tool for all of us, e.g. you and me"),
        );
        check(
            "<h1>x</h1>\n\n[![ci](a)](b)\n![logo](x.png)\n\n> One line that says what it does!\n",
            Some("One line that says what it does!"),
        );
        check("# Title\n\nShort text.\n\n```sh\ncargo install this very tool\n```\n", None);
        check("", None);
    }

    #[test]
    fn manifests_say_how_it_is_built_and_tested() {
        let check = |files: &[(&'static str, &str)], expected: &[&str]| {
            let files = files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
            assert_eq!(project_lines(&files), expected);
        };
        check(&[], &[]);
        check(
            &[("Cargo.toml", "[package]\ndescription = \"A tool\"\n")],
            &["A tool", "- cargo build, cargo test (Cargo.toml)"],
        );
        let package = "{\"scripts\": {\"test\": \"jest\", \"build\": \"tsc\", \"postinstall\": \"x\"}}";
        check(&[("package.json", package)], &["- npm run build | test (package.json)"]);
        check(&[("package.json", package), ("yarn.lock", "")], &["- yarn run build | test (package.json)"]);
        check(
            &[("pyproject.toml", "[project]\nname = \"x\"\n[tool.pytest.ini_options]\n"), ("uv.lock", "")],
            &["- uv run pytest (pyproject.toml)"],
        );
        let makefile =
            ".PHONY: all\nCC := gcc\nall: build test\nbuild:\n\tcc a.c\ntest: build\n%.o: %.c\nall:\n";
        check(&[("Makefile", makefile)], &["- make all | build | test (Makefile)"]);
        check(&[("justfile", "x := '1'\ntest filter='':\n  cargo test\n")], &["- just test (justfile)"]);
        check(
            &[("package.json", "{"), ("pyproject.toml", "["), ("Cargo.toml", "[")],
            &["- cargo build, cargo test (Cargo.toml)"],
        );
    }
}
