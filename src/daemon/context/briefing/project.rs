//! Says what a project is, from its README and its manifests.
//!
//! What it is comes first, then its languages, where it begins, how it is built and tested, and of what it consists.

use super::commands::commands;
use super::entry_points::entry_points;
use super::manifests::{ProjectFiles, folder, string};
use super::parts::{module, part_lines};
use super::readme::{Readme, letters, shortened};

/// READMEs, the one that is read first at the start.
const READMES: [&str; 6] = ["README.md", "README.rst", "README.txt", "README", "readme.md", "Readme.md"];
/// Files at the top whose text is needed; of others it is enough that they are there.
const WITH_TEXT: [&str; 9] = [
    "requirements.txt",
    "go.mod",
    "Gemfile",
    "composer.json",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
];
/// Files whose text is needed in every folder.
const MANIFESTS: [&str; 3] = ["Cargo.toml", "package.json", "pyproject.toml"];
/// Most manifests below the top that are read.
const MOST_BELOW: usize = 24;
/// Most languages that are named, and the least share of one, percent.
const MOST_LANGUAGES: usize = 5;
const LEAST_SHARE: f64 = 1.0;

/// Returns which of these paths are read, and whether the text is needed: all at the top, and manifests below it, those in
/// fewer folders first.
pub(super) fn wanted(paths: &[String]) -> Vec<(&str, bool)> {
    let needs_text = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        MANIFESTS.contains(&name) || READMES.contains(&name) || WITH_TEXT.contains(&path)
    };
    let is_below = |path: &&String| path.contains('/') && needs_text(path);
    let mut below: Vec<&str> = paths.iter().filter(is_below).map(String::as_str).collect();
    below.sort_by_key(|path| path.matches('/').count());
    below.truncate(MOST_BELOW);
    let rest = paths.iter().filter(|path| !is_below(path)).map(String::as_str);
    rest.chain(below).map(|path| (path, needs_text(path))).collect()
}

/// Returns the lines of the section: what the project is, its languages, where it begins, one for each tool, and those about
/// its parts.
pub(super) fn project_lines(files: &ProjectFiles) -> Vec<String> {
    let mut lines: Vec<String> = what_it_is(files).into_iter().collect();
    lines.extend(languages(&files.languages));
    lines.extend(entry_points(files));
    lines.extend(commands(files));
    lines.extend(part_lines(files));
    lines
}

/// Returns what the README says, else a manifest; the name comes first.
fn what_it_is(files: &ProjectFiles) -> Option<String> {
    let named = name(files);
    let names: Vec<&str> = named.iter().map(String::as_str).chain([files.folder.as_str()]).collect();
    let readme = readme(files, &names).map(|text| Readme::of(text, &names)).unwrap_or_default();
    let said = readme.said.or_else(|| description(files))?;
    let short = readme.title.filter(|title| title.split(' ').count() <= 3 && !title.ends_with('?'));
    let name = named.or(short).filter(|name| !letters(&said).contains(&letters(name)));
    Some(name.map_or_else(|| said.clone(), |name| format!("{name}: {said}")))
}

/// Returns the text of the README at the top, else of that of the package with the project's name.
fn readme<'a>(files: &'a ProjectFiles, names: &[&str]) -> Option<&'a str> {
    if let Some(text) = READMES.iter().find_map(|name| files.text(name)) {
        return Some(text);
    }
    let known: Vec<String> = names.iter().map(|name| letters(name)).collect();
    let is_of = |path: &&str| {
        let package = folder(path).trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        known.contains(&letters(package))
    };
    let below = ["README.md", "README.rst"].into_iter().flat_map(|name| files.named(name));
    files.text(below.into_iter().find(is_of)?)
}

/// Returns the name that a manifest gives the project, else that of its repository.
fn name(files: &ProjectFiles) -> Option<String> {
    let of_toml = |file: &str, path: &[&str]| string(&files.toml(file)?, path);
    let of_json = |file: &str| files.json(file)?["name"].as_str().map(str::to_owned);
    let last = |path: &str| path.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    let of_url = || {
        let manifest = files.json("package.json")?;
        let url = manifest["repository"]["url"].as_str().or(manifest["repository"].as_str())?.to_owned();
        last(url.trim_end_matches(".git"))
    };
    let found = of_toml("Cargo.toml", &["package", "name"])
        .or_else(|| of_toml("pyproject.toml", &["project", "name"]))
        .or_else(|| of_toml("pyproject.toml", &["tool", "poetry", "name"]))
        .or_else(|| of_json("package.json"))
        .or_else(|| last(&module(files.text("go.mod")?)?))
        .or_else(|| last(&of_json("composer.json")?))
        .or_else(of_url);
    found.filter(|name| !name.is_empty())
}

/// Returns what a manifest says of the project.
fn description(files: &ProjectFiles) -> Option<String> {
    let of_toml = |file: &str, path: &[&str]| string(&files.toml(file)?, path);
    let of_json = |file: &str| files.json(file)?["description"].as_str().map(str::to_owned);
    let said = of_toml("Cargo.toml", &["package", "description"])
        .or_else(|| of_toml("pyproject.toml", &["project", "description"]))
        .or_else(|| of_toml("pyproject.toml", &["tool", "poetry", "description"]))
        .or_else(|| of_json("package.json"))
        .or_else(|| of_json("composer.json"))?;
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then(|| shortened(&line))
}

/// Returns a line with the languages and their shares of the code.
fn languages(sizes: &[(String, u64)]) -> Option<String> {
    let total: u64 = sizes.iter().map(|(_, size)| size).sum();
    let share = |size: u64| size as f64 / total.max(1) as f64 * 100.0;
    let listed = sizes.iter().filter(|(_, size)| share(*size) >= LEAST_SHARE).take(MOST_LANGUAGES);
    let listed: Vec<String> = listed.map(|(name, size)| format!("{name} {:.0} %", share(*size))).collect();
    (!listed.is_empty()).then(|| format!("- languages: {}", listed.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[(&str, &str)], expected: &[&str]) {
        let texts = texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let files = ProjectFiles { texts, folder: "shop".to_owned(), ..ProjectFiles::default() };
        assert_eq!(project_lines(&files), expected);
    }

    #[test]
    fn a_project_is_named_and_described() {
        check(&[], &[]);
        let cargo = "- cargo build, cargo test (Cargo.toml)";
        let manifest = ("Cargo.toml", "[package]\nname = \"till\"\ndescription = \"A tool\"\n");
        check(&[manifest], &["till: A tool", cargo]);
        check(
            &[manifest, ("README.md", "# T\n\nIt sells things, slowly.\n")],
            &["till: It sells things, slowly.", cargo],
        );
        check(&[("README", "The shop sells things, slowly.\n")], &["The shop sells things, slowly."]);
        check(
            &[
                ("go.mod", "module a.b/till/v2\n"),
                ("README.md", "News of the day here.\n\nTill is a till.\n"),
            ],
            &["Till is a till.", "- go build ./..., go test ./... (go.mod)"],
        );
        let below = ("packages/shop/README.md", "Sells all kinds of things.\n");
        check(&[("packages/a/README.md", "Not what it is.\n"), below], &["Sells all kinds of things."]);
        check(
            &[("package.json", "{"), ("pyproject.toml", "name ="), ("go.mod", "module")],
            &["- go build ./..., go test ./... (go.mod)"],
        );
    }

    #[test]
    fn languages_have_shares() {
        let sizes = [("rust".to_owned(), 900_u64), ("bash".to_owned(), 95), ("c".to_owned(), 5)];
        assert_eq!(languages(&sizes).as_deref(), Some("- languages: rust 90 %, bash 10 %"));
        assert_eq!(languages(&[]), None);
        assert_eq!(languages(&[("c".to_owned(), 0)]), None);
    }

    #[test]
    fn what_is_far_below_is_read_last_or_not() {
        let mut paths: Vec<String> = (0..40).map(|nth| format!("a/b/{nth}/package.json")).collect();
        paths.extend(["z/Cargo.toml", "uv.lock", "README.md"].map(str::to_owned));
        let wanted = wanted(&paths);
        assert_eq!(wanted[..3], [("uv.lock", false), ("README.md", true), ("z/Cargo.toml", true)]);
        assert_eq!(wanted.len(), 2 + MOST_BELOW);
    }
}
