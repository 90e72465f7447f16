//! Says what a project is, how it is built and tested, and of what it consists, from its README and its manifests.

use std::collections::BTreeMap;

use serde_json::Value;
use toml_edit::DocumentMut;

use super::parts::part_lines;
use super::readme::first_sentence;

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
    ("requirements.txt", true),
    ("go.mod", true),
    ("Gemfile", true),
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

/// Returns the lines of the section: one that says what the project is, one for each tool, and those
/// about its parts.
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
    lines.extend(part_lines(files));
    lines
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
    let said = said.or_else(of_json)?;
    let words: Vec<&str> = said.split_whitespace().collect(); // one line
    (!words.is_empty()).then(|| words.join(" "))
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
