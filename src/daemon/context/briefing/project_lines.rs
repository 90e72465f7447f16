//! Describes a project from its README and its manifests.
//!
//! The description comes first, then the languages, the entry points, the commands that build and test the project, and its parts.

use memod_base::types::{file_name, parent_dir};

use super::build_commands::list_commands;
use super::entry_points::render_entry_points;
use super::manifests::{ProjectFiles, find_string};
use super::project_parts::{go_module_path, part_lines};
use super::readme::{ReadmeSummary, normalize_letters, shorten_to_sentences};

/// Names of READMEs; the first that exists is read.
const READMES: [&str; 6] = ["README.md", "README.rst", "README.txt", "README", "readme.md", "Readme.md"];
/// Files at the top whose text is needed; for other files at the top only their presence matters.
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
/// Maximum number of manifests below the top that are read.
const MOST_BELOW: usize = 24;
/// Maximum number of languages that are listed, and the least share of the code that a listed language has, percent.
const MOST_LANGUAGES: usize = 5;
const LEAST_SHARE: f64 = 1.0;

/// Returns the paths that describe a project, each with whether the text of the file is needed. Omits manifests below the top
/// beyond the limit; those in fewer folders are preferred.
pub(super) fn select_files(paths: &[String]) -> Vec<(&str, bool)> {
    let (mut below, rest): (Vec<&str>, Vec<&str>) =
        paths.iter().map(String::as_str).partition(|path| path.contains('/') && needs_text(path));
    below.sort_by_key(|path| path.matches('/').count());
    below.truncate(MOST_BELOW);
    rest.into_iter().chain(below).map(|path| (path, needs_text(path))).collect()
}

/// Returns whether the text of a file is needed, and not only its presence.
fn needs_text(path: &str) -> bool {
    let name = file_name(path);
    MANIFESTS.contains(&name) || READMES.contains(&name) || WITH_TEXT.contains(&path)
}

/// Returns the lines of the project section: the description, the languages, the entry points, a line for each build tool, and the
/// lines about its parts.
pub(super) fn project_lines(files: &ProjectFiles) -> Vec<String> {
    let mut lines: Vec<String> = describe_project(files).into_iter().collect();
    lines.extend(render_languages(&files.languages));
    lines.extend(render_entry_points(files));
    lines.extend(list_commands(files));
    lines.extend(part_lines(files));
    lines
}

/// Returns the description in the README, else that in a manifest, after the name of the project.
fn describe_project(files: &ProjectFiles) -> Option<String> {
    let named = find_project_name(files);
    let names: Vec<&str> = named.iter().map(String::as_str).chain([files.folder.as_str()]).collect();
    let readme =
        find_readme(files, &names).map(|text| ReadmeSummary::from_text(text, &names)).unwrap_or_default();
    let paragraph = readme.paragraph.or_else(|| find_description(files))?;
    let short = readme.title.filter(|title| title.split(' ').count() <= 3 && !title.ends_with('?'));
    let name =
        named.or(short).filter(|name| !normalize_letters(&paragraph).contains(&normalize_letters(name)));
    Some(name.map_or_else(|| paragraph.clone(), |name| format!("{name}: {paragraph}")))
}

/// Returns the text of the README at the top, else of the README of the package that has the project's name.
fn find_readme<'a>(files: &'a ProjectFiles, names: &[&str]) -> Option<&'a str> {
    if let Some(text) = READMES.iter().find_map(|name| files.file_text(name)) {
        return Some(text);
    }
    let known: Vec<String> = names.iter().map(|name| normalize_letters(name)).collect();
    let below = ["README.md", "README.rst"].into_iter().flat_map(|name| files.paths_named(name));
    files.file_text(below.into_iter().find(|path| {
        let package = file_name(parent_dir(path));
        known.contains(&normalize_letters(package))
    })?)
}

/// Returns the name that a manifest gives the project, else that of its repository.
fn find_project_name(files: &ProjectFiles) -> Option<String> {
    let found = find_toml_string(files, "Cargo.toml", &["package", "name"])
        .or_else(|| find_toml_string(files, "pyproject.toml", &["project", "name"]))
        .or_else(|| find_toml_string(files, "pyproject.toml", &["tool", "poetry", "name"]))
        .or_else(|| find_json_string(files, "package.json", "name"))
        .or_else(|| last_part(&go_module_path(files.file_text("go.mod")?)?))
        .or_else(|| last_part(&find_json_string(files, "composer.json", "name")?))
        .or_else(|| {
            let manifest = files.parse_json("package.json")?;
            let url = manifest["repository"]["url"].as_str().or(manifest["repository"].as_str())?.to_owned();
            last_part(url.trim_end_matches(".git"))
        });
    found.filter(|name| !name.is_empty())
}

/// Returns the description of the project in a manifest.
fn find_description(files: &ProjectFiles) -> Option<String> {
    let text = find_toml_string(files, "Cargo.toml", &["package", "description"])
        .or_else(|| find_toml_string(files, "pyproject.toml", &["project", "description"]))
        .or_else(|| find_toml_string(files, "pyproject.toml", &["tool", "poetry", "description"]))
        .or_else(|| find_json_string(files, "package.json", "description"))
        .or_else(|| find_json_string(files, "composer.json", "description"))?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then(|| shorten_to_sentences(&line))
}

fn find_toml_string(files: &ProjectFiles, file: &str, path: &[&str]) -> Option<String> {
    find_string(&files.parse_toml(file)?, path)
}

fn find_json_string(files: &ProjectFiles, file: &str, key: &str) -> Option<String> {
    files.parse_json(file)?[key].as_str().map(str::to_owned)
}

fn last_part(path: &str) -> Option<String> {
    path.trim_end_matches('/').rsplit('/').next().map(str::to_owned)
}

/// Returns a line with the languages and their shares of the code.
fn render_languages(sizes: &[(String, u64)]) -> Option<String> {
    let total: u64 = sizes.iter().map(|(_, size)| size).sum();
    let shares = sizes.iter().map(|(name, size)| (name, *size as f64 / total.max(1) as f64 * 100.0));
    let listed = shares.filter(|(_, share)| *share >= LEAST_SHARE).take(MOST_LANGUAGES);
    let listed: Vec<String> = listed.map(|(name, share)| format!("{name} {share:.0} %")).collect();
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
        assert_eq!(render_languages(&sizes).as_deref(), Some("- languages: rust 90 %, bash 10 %"));
        assert_eq!(render_languages(&[]), None);
        assert_eq!(render_languages(&[("c".to_owned(), 0)]), None);
    }

    #[test]
    fn what_is_far_below_is_read_last_or_not() {
        let mut paths: Vec<String> = (0..40).map(|nth| format!("a/b/{nth}/package.json")).collect();
        paths.extend(["z/Cargo.toml", "uv.lock", "README.md"].map(str::to_owned));
        let wanted = select_files(&paths);
        assert_eq!(wanted[..3], [("uv.lock", false), ("README.md", true), ("z/Cargo.toml", true)]);
        assert_eq!(wanted.len(), 2 + MOST_BELOW);
    }
}
