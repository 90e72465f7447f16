//! Lists the commands that build and test a project, from its manifests.

use toml_edit::{DocumentMut, Item};

use super::manifests::{ProjectFiles, collect_strings, find_item};
use super::project_parts::requirement_name;

/// Names of the scripts in package.json and composer.json that are listed, in this order.
const SCRIPTS: [&str; 10] =
    ["build", "test", "lint", "typecheck", "check", "format", "dev", "start", "cs", "analyse"];
/// Maximum number of targets of a file that are listed.
const MOST_TARGETS: usize = 10;
/// Commands of a build system that is recognised by a file at the top, with the names of that file; the first that exists is shown.
const COMMANDS_BY_FILE: [(&[&str], &str); 9] = [
    (&["go.mod"], "go build ./..., go test ./..."),
    (&["CMakeLists.txt"], "cmake -B build, cmake --build build, ctest --test-dir build"),
    (&["meson.build"], "meson setup build, meson compile -C build, meson test -C build"),
    (&["pom.xml"], "mvn package, mvn test"),
    (&["gradlew"], "./gradlew build, ./gradlew test"),
    (&["build.gradle", "build.gradle.kts"], "gradle build, gradle test"),
    (&["mix.exs"], "mix compile, mix test"),
    (&["build.zig"], "zig build, zig build test"),
    (&["build.sbt"], "sbt compile, sbt test"),
];
/// Folders in which CI services are configured.
const CI: [&str; 3] = [".github/workflows/", ".forgejo/workflows/", ".circleci/"];

/// Returns a line with the commands of each build tool; without any tool, a line with the files that configure the CI service.
pub(super) fn list_commands(files: &ProjectFiles) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if files.has_file("Cargo.toml") {
        lines.push("- cargo build, cargo test (Cargo.toml)".to_owned());
    }
    lines.extend(node_command(files));
    lines.extend(python_command(files));
    for (names, commands) in COMMANDS_BY_FILE {
        let is_wrapped = names[0] == "build.gradle" && files.has_file("gradlew");
        let file = names.iter().find(|name| files.has_file(name)).filter(|_| !is_wrapped);
        lines.extend(file.map(|file| format!("- {commands} ({file})")));
    }
    lines.extend(composer_command(files));
    lines.extend(ruby_command(files));
    lines.extend(targets_command(files, "make", &["Makefile", "makefile", "GNUmakefile"]));
    lines.extend(targets_command(files, "just", &["justfile", "Justfile"]));
    if lines.is_empty() {
        lines.extend(ci_line(files));
    }
    lines
}

/// Returns the names of the known scripts in a JSON manifest, joined by ` | `; `None` if it has none of them.
fn list_scripts(files: &ProjectFiles, file: &str) -> Option<String> {
    let manifest = files.parse_json(file)?;
    let scripts = manifest["scripts"].as_object()?;
    let known: Vec<&str> = SCRIPTS.into_iter().filter(|name| scripts.contains_key(*name)).collect();
    (!known.is_empty()).then(|| known.join(" | "))
}

fn node_command(files: &ProjectFiles) -> Option<String> {
    let runners =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    let runner =
        runners.into_iter().find(|(lock, _)| files.has_file(lock)).map_or("npm", |(_, runner)| runner);
    list_scripts(files, "package.json").map(|scripts| format!("- {runner} run {scripts} (package.json)"))
}

fn composer_command(files: &ProjectFiles) -> Option<String> {
    if let Some(scripts) = list_scripts(files, "composer.json") {
        return Some(format!("- composer {scripts} (composer.json)"));
    }
    let config = ["phpunit.xml", "phpunit.xml.dist"].into_iter().find(|name| files.has_file(name))?;
    Some(format!("- vendor/bin/phpunit ({config})"))
}

fn ruby_command(files: &ProjectFiles) -> Option<String> {
    let tools = [("Rakefile", "bundle exec rake"), (".rspec", "bundle exec rspec")];
    let commands: Vec<&str> =
        tools.into_iter().filter(|(file, _)| files.has_file(file)).map(|(_, command)| command).collect();
    let has_gems = files.has_file("Gemfile") && !commands.is_empty();
    has_gems.then(|| format!("- bundle install, {} (Gemfile)", commands.join(", ")))
}

/// Returns a line with the test runners that pyproject.toml configures or requires, and those that have a file of their own.
fn python_command(files: &ProjectFiles) -> Option<String> {
    let manifest = files.parse_toml("pyproject.toml");
    let runners = [("uv.lock", "uv run "), ("poetry.lock", "poetry run "), ("pdm.lock", "pdm run ")];
    let runner = runners.into_iter().find(|(lock, _)| files.has_file(lock)).map_or("", |(_, runner)| runner);
    let is_pytest = manifest.as_ref().is_some_and(|manifest| {
        has_tool_table(manifest, "pytest")
            || requires_package(manifest, "pytest")
            || is_poetry_dev_dependency(manifest, "pytest")
    });
    let has_tox = manifest.as_ref().is_some_and(|manifest| has_tool_table(manifest, "tox"));
    let tools = [
        (is_pytest || files.has_file("pytest.ini") || files.has_file("conftest.py"), "pytest"),
        (files.has_file("tox.ini") || has_tox, "tox"),
        (files.has_file("noxfile.py"), "nox"),
        (files.has_file("manage.py"), "python manage.py test"),
    ];
    let commands: Vec<String> =
        tools.iter().filter(|(is_used, _)| *is_used).map(|(_, tool)| format!("{runner}{tool}")).collect();
    let sources = ["pyproject.toml", "pytest.ini", "tox.ini", "noxfile.py", "conftest.py", "manage.py"];
    let source = sources.into_iter().find(|name| files.has_file(name))?;
    (!commands.is_empty()).then(|| format!("- {} ({source})", commands.join(", ")))
}

fn has_tool_table(manifest: &DocumentMut, tool: &str) -> bool {
    find_item(manifest, &["tool", tool]).is_some()
}

/// Returns whether one of the lists of development dependencies contains a package.
fn requires_package(manifest: &DocumentMut, name: &str) -> bool {
    const REQUIRED: [&[&str]; 5] = [
        &["dependency-groups"],
        &["project", "optional-dependencies"],
        &["tool", "uv", "dev-dependencies"],
        &["tool", "pdm", "dev-dependencies"],
        &["tool", "hatch", "envs"],
    ];
    let lists = REQUIRED.iter().filter_map(|path| find_item(manifest, path));
    lists.flat_map(collect_strings).any(|line| requirement_name(&line) == name)
}

/// Returns whether a package is in a dependency group of Poetry, or in the table that Poetry used before it had groups.
fn is_poetry_dev_dependency(manifest: &DocumentMut, name: &str) -> bool {
    let groups = find_item(manifest, &["tool", "poetry", "group"]).and_then(Item::as_table_like);
    let is_in_group = groups.is_some_and(|groups| {
        groups
            .iter()
            .any(|(_, group)| group.get("dependencies").is_some_and(|table| table.get(name).is_some()))
    });
    let table = find_item(manifest, &["tool", "poetry", "dev-dependencies"]).and_then(Item::as_table_like);
    is_in_group || table.is_some_and(|table| table.contains_key(name))
}

/// Returns a line with the targets of a Makefile, or the recipes of a justfile, in the order of the file.
fn targets_command(files: &ProjectFiles, tool: &str, named: &[&str]) -> Option<String> {
    let (file, text) = named.iter().find_map(|name| Some((name, files.file_text(name)?)))?;
    let mut names: Vec<&str> = Vec::new();
    for line in text.lines() {
        let Some((head, rest)) = line.split_once(':') else { continue };
        let Some(name) = head.split(' ').next() else { continue };
        // A recipe of a justfile may have parameters; a rule of a Makefile counts only if it has a single target.
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

/// Returns a line with the first three files that configure the CI service.
fn ci_line(files: &ProjectFiles) -> Option<String> {
    let names = [".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", ".woodpecker.yml"];
    let mut found: Vec<&str> = files
        .texts
        .keys()
        .map(String::as_str)
        .filter(|path| CI.iter().any(|folder| path.starts_with(folder)) || names.contains(path))
        .collect();
    found.truncate(3);
    (!found.is_empty()).then(|| format!("- built and tested by {}", found.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let texts = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        assert_eq!(list_commands(&ProjectFiles { texts, ..ProjectFiles::default() }), expected, "{files:?}");
    }

    #[test]
    fn scripts_are_run_by_the_manager_whose_lock_is_there() {
        let package = "{\"scripts\": {\"test\": \"jest\", \"build\": \"tsc\", \"postinstall\": \"x\"}}";
        check(&[("package.json", package)], &["- npm run build | test (package.json)"]);
        check(&[("package.json", package), ("yarn.lock", "")], &["- yarn run build | test (package.json)"]);
        check(&[("composer.json", package)], &["- composer build | test (composer.json)"]);
        check(
            &[("composer.json", "{}"), ("phpunit.xml.dist", "")],
            &["- vendor/bin/phpunit (phpunit.xml.dist)"],
        );
    }

    #[test]
    fn python_is_tested_by_what_it_requires() {
        let pytest = "[project]\nname = \"x\"\n[tool.pytest.ini_options]\n";
        check(&[("pyproject.toml", pytest), ("uv.lock", "")], &["- uv run pytest (pyproject.toml)"]);
        let groups = "[dependency-groups]\ntests = [\"PyTest>=8\", {include-group = \"a\"}]\n[tool.tox]\n";
        check(&[("pyproject.toml", groups)], &["- pytest, tox (pyproject.toml)"]);
        let poetry = "[tool.poetry.group.dev.dependencies]\npytest = \"*\"\n";
        let lock = ("poetry.lock", "");
        check(&[("pyproject.toml", poetry), lock], &["- poetry run pytest (pyproject.toml)"]);
        check(&[("pyproject.toml", "[project]\ndescription = \"like pytest\"\n")], &[]);
        check(&[("tox.ini", "")], &["- tox (tox.ini)"]);
    }

    #[test]
    fn targets_are_those_with_a_name() {
        let makefile =
            ".PHONY: all\nCC := gcc\nall: build test\nbuild:\n\tcc a.c\ntest: build\n%.o: %.c\nall:\n";
        check(&[("Makefile", makefile)], &["- make all | build | test (Makefile)"]);
        check(&[("justfile", "x := '1'\ntest filter='':\n  cargo test\n")], &["- just test (justfile)"]);
    }

    #[test]
    fn the_service_is_named_where_nothing_else_says_it() {
        let ci = (".github/workflows/test.yml", "");
        check(&[ci], &["- built and tested by .github/workflows/test.yml"]);
        check(
            &[ci, ("build.gradle.kts", ""), ("gradlew", "")],
            &["- ./gradlew build, ./gradlew test (gradlew)"],
        );
        let gems = [("Gemfile", ""), ("Rakefile", "")];
        check(&gems, &["- bundle install, bundle exec rake (Gemfile)"]);
        check(
            &[("package.json", "{"), ("pyproject.toml", "["), ("Cargo.toml", "[")],
            &["- cargo build, cargo test (Cargo.toml)"],
        );
    }
}
