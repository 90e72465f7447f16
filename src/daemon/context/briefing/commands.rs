//! Says how a project is built and tested, from its manifests.

use super::manifests::{ProjectFiles, item, strings_below};
use super::parts::requirement;

/// The scripts of package.json and composer.json that are named, in this order.
const SCRIPTS: [&str; 10] =
    ["build", "test", "lint", "typecheck", "check", "format", "dev", "start", "cs", "analyse"];
/// Most targets of a file that are named.
const MOST_TARGETS: usize = 10;
/// What tools do wherever their file is at the top. Of those for one build system the first.
const FIXED: [(&[&str], &str); 9] = [
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
/// Paths of the services that build and test.
const CI: [&str; 3] = [".github/workflows/", ".forgejo/workflows/", ".circleci/"];

/// Returns a line for each tool; where there is none, the files of the service that tests the project.
pub(super) fn commands(files: &ProjectFiles) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if files.has("Cargo.toml") {
        lines.push("- cargo build, cargo test (Cargo.toml)".to_owned());
    }
    lines.extend(node(files));
    lines.extend(python(files));
    for (names, commands) in FIXED {
        let is_wrapped = names[0] == "build.gradle" && files.has("gradlew");
        let file = names.iter().find(|name| files.has(name)).filter(|_| !is_wrapped);
        lines.extend(file.map(|file| format!("- {commands} ({file})")));
    }
    lines.extend(composer(files));
    lines.extend(ruby(files));
    lines.extend(targets(files, "make", &["Makefile", "makefile", "GNUmakefile"]));
    lines.extend(targets(files, "just", &["justfile", "Justfile"]));
    if lines.is_empty() {
        lines.extend(ci(files));
    }
    lines
}

/// Returns the known scripts in the `scripts` of a JSON manifest, joined.
fn scripts(files: &ProjectFiles, file: &str) -> Option<String> {
    let manifest = files.json(file)?;
    let scripts = manifest["scripts"].as_object()?;
    let known: Vec<&str> = SCRIPTS.into_iter().filter(|name| scripts.contains_key(*name)).collect();
    (!known.is_empty()).then(|| known.join(" | "))
}

fn node(files: &ProjectFiles) -> Option<String> {
    let runners =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    let runner = runners.into_iter().find(|(lock, _)| files.has(lock)).map_or("npm", |(_, runner)| runner);
    scripts(files, "package.json").map(|scripts| format!("- {runner} run {scripts} (package.json)"))
}

fn composer(files: &ProjectFiles) -> Option<String> {
    let of_scripts =
        || scripts(files, "composer.json").map(|scripts| format!("- composer {scripts} (composer.json)"));
    let is_there = |name: &&str| files.has(name);
    let phpunit = || ["phpunit.xml", "phpunit.xml.dist"].into_iter().find(is_there);
    of_scripts().or_else(|| Some(format!("- vendor/bin/phpunit ({})", phpunit()?)))
}

fn ruby(files: &ProjectFiles) -> Option<String> {
    let tools = [("Rakefile", "bundle exec rake"), (".rspec", "bundle exec rspec")];
    let commands: Vec<&str> =
        tools.into_iter().filter(|(file, _)| files.has(file)).map(|(_, command)| command).collect();
    let has_gems = files.has("Gemfile") && !commands.is_empty();
    has_gems.then(|| format!("- bundle install, {} (Gemfile)", commands.join(", ")))
}

/// Returns the test runners that pyproject.toml sets up or requires, and those that have a file of their own.
fn python(files: &ProjectFiles) -> Option<String> {
    const REQUIRED: [&[&str]; 5] = [
        &["dependency-groups"],
        &["project", "optional-dependencies"],
        &["tool", "uv", "dev-dependencies"],
        &["tool", "pdm", "dev-dependencies"],
        &["tool", "hatch", "envs"],
    ];
    let manifest = files.toml("pyproject.toml");
    let has_table =
        |name: &str| manifest.as_ref().is_some_and(|found| item(found, &["tool", name]).is_some());
    let required = |name: &str| {
        let found = manifest.iter().flat_map(|found| REQUIRED.iter().filter_map(|path| item(found, path)));
        found.flat_map(strings_below).any(|line| requirement(&line) == name)
    };
    let of_poetry = |name: &str| {
        let groups = || item(manifest.as_ref()?, &["tool", "poetry"])?.get("group")?.as_table_like();
        let table = || item(manifest.as_ref()?, &["tool", "poetry", "dev-dependencies"])?.as_table_like();
        let in_group = |(_, group): (&str, &toml_edit::Item)| {
            group.get("dependencies").is_some_and(|table| table.get(name).is_some())
        };
        groups().is_some_and(|groups| groups.iter().any(in_group))
            || table().is_some_and(|table| table.contains_key(name))
    };
    let runners = [("uv.lock", "uv run "), ("poetry.lock", "poetry run "), ("pdm.lock", "pdm run ")];
    let runner = runners.into_iter().find(|(lock, _)| files.has(lock)).map_or("", |(_, runner)| runner);
    let is_pytest = has_table("pytest") || required("pytest") || of_poetry("pytest");
    let tools = [
        (is_pytest || files.has("pytest.ini") || files.has("conftest.py"), "pytest"),
        (files.has("tox.ini") || has_table("tox"), "tox"),
        (files.has("noxfile.py"), "nox"),
        (files.has("manage.py"), "python manage.py test"),
    ];
    let commands: Vec<String> =
        tools.iter().filter(|(is_used, _)| *is_used).map(|(_, tool)| format!("{runner}{tool}")).collect();
    let sources = ["pyproject.toml", "pytest.ini", "tox.ini", "noxfile.py", "conftest.py", "manage.py"];
    let source = sources.into_iter().find(|name| files.has(name))?;
    (!commands.is_empty()).then(|| format!("- {} ({source})", commands.join(", ")))
}

/// Returns the targets of a Makefile, or the recipes of a justfile, in their order.
fn targets(files: &ProjectFiles, tool: &str, named: &[&str]) -> Option<String> {
    let (file, text) = named.iter().find_map(|name| Some((name, files.text(name)?)))?;
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

/// Returns where the service that tests the project is told how.
fn ci(files: &ProjectFiles) -> Option<String> {
    let names = [".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", ".woodpecker.yml"];
    let is_ci = |path: &&str| CI.iter().any(|folder| path.starts_with(folder)) || names.contains(path);
    let mut found: Vec<&str> = files.texts.keys().map(String::as_str).filter(is_ci).collect();
    found.truncate(3);
    (!found.is_empty()).then(|| format!("- built and tested by {}", found.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let texts = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        assert_eq!(commands(&ProjectFiles { texts, ..ProjectFiles::default() }), expected, "{files:?}");
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
