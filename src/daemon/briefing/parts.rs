//! Says which frameworks a project declares in its manifests, and which packages it consists of.

use std::collections::BTreeMap;

use serde_json::Value;
use toml_edit::{DocumentMut, Item};

/// Frameworks that say how a project is built up, separated by spaces, by the manifest that declares them.
const FRAMEWORKS: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "actix-web axum rocket warp tonic tokio diesel sea-orm sqlx rusqlite bevy tauri leptos yew dioxus clap ratatui",
    ),
    (
        "package.json",
        "next nuxt react vue svelte @angular/core express fastify @nestjs/core koa hono electron prisma typeorm vite jest \
         vitest",
    ),
    ("pyproject.toml", PYTHON),
    ("requirements.txt", PYTHON),
    (
        "go.mod",
        "github.com/gin-gonic/gin github.com/labstack/echo github.com/go-chi/chi github.com/gofiber/fiber \
         github.com/gorilla/mux google.golang.org/grpc gorm.io/gorm github.com/spf13/cobra",
    ),
    ("Gemfile", "rails sinatra hanami sidekiq rspec-rails"),
];
const PYTHON: &str = "django flask fastapi starlette sanic aiohttp litestar sqlalchemy celery pydantic click typer numpy pandas \
                      torch tensorflow";
/// Most packages of a workspace that are named.
const MOST_PACKAGES: usize = 10;

/// Returns the lines of the section: the frameworks of each manifest, then the packages of each workspace.
pub(super) fn part_lines(files: &BTreeMap<&str, String>) -> Vec<String> {
    let frameworks = FRAMEWORKS.iter().filter_map(|(file, known)| {
        let declared = declared(file, files.get(file)?);
        let used = known.split(' ').filter(|name| declared.iter().any(|declared| declared == name));
        line("built with", &used.map(str::to_owned).collect::<Vec<_>>(), file)
    });
    let packages = ["Cargo.toml", "package.json"].into_iter().filter_map(|file| {
        let mut packages = packages(file, files.get(file)?)?;
        packages.truncate(MOST_PACKAGES);
        line("packages", &packages, file)
    });
    frameworks.chain(packages).collect()
}

fn line(label: &str, names: &[String], file: &str) -> Option<String> {
    (!names.is_empty()).then(|| format!("- {label} {} ({file})", names.join(", ")))
}

/// Returns the names of the dependencies that a manifest declares; none if it cannot be read.
fn declared(file: &str, text: &str) -> Vec<String> {
    match file {
        "Cargo.toml" => keys(text, &[&["dependencies"], &["workspace", "dependencies"]]),
        "pyproject.toml" => {
            let of_poetry = keys(text, &[&["tool", "poetry", "dependencies"]]);
            let listed = strings(text, &["project", "dependencies"]).unwrap_or_default();
            listed.iter().map(|line| requirement(line)).chain(of_poetry).collect()
        }
        "package.json" => {
            let manifest: Value = serde_json::from_str(text).unwrap_or_default();
            let of = |table: &str| manifest[table].as_object().cloned().unwrap_or_default();
            ["dependencies", "devDependencies"].into_iter().flat_map(of).map(|(name, _)| name).collect()
        }
        "requirements.txt" => text.lines().map(requirement).collect(),
        "go.mod" => text.split_whitespace().map(without_major).collect(),
        _ => text.lines().filter_map(gem).collect(),
    }
}

/// Returns the keys of tables in a TOML text.
fn keys(text: &str, tables: &[&[&str]]) -> Vec<String> {
    let Ok(manifest) = text.parse::<DocumentMut>() else { return Vec::new() };
    let tables = tables.iter().filter_map(|path| item(&manifest, path)?.as_table_like());
    tables.flat_map(|table| table.iter().map(|(key, _)| key.to_lowercase())).collect()
}

/// Returns the strings of an array in a TOML text.
fn strings(text: &str, path: &[&str]) -> Option<Vec<String>> {
    let manifest: DocumentMut = text.parse().ok()?;
    let array = item(&manifest, path)?.as_array()?;
    Some(array.iter().filter_map(|value| value.as_str()).map(str::to_owned).collect())
}

fn item<'a>(manifest: &'a DocumentMut, path: &[&str]) -> Option<&'a Item> {
    path.iter().try_fold(manifest.as_item(), |item, key| item.get(key))
}

/// Returns the packages of a workspace, as the manifest names them.
fn packages(file: &str, text: &str) -> Option<Vec<String>> {
    if file == "Cargo.toml" {
        return strings(text, &["workspace", "members"]);
    }
    let manifest: Value = serde_json::from_str(text).ok()?;
    let listed =
        manifest["workspaces"].as_array().or_else(|| manifest["workspaces"]["packages"].as_array())?;
    Some(listed.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

/// Returns the name in a requirement of pip: `flask` of `Flask[async]>=2 # web`.
fn requirement(line: &str) -> String {
    let name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    line.trim().split(|c| !name(c)).next().unwrap_or_default().to_lowercase()
}

/// Returns the path of a Go module without its major version: `…/chi` of `…/chi/v5`.
fn without_major(module: &str) -> String {
    let major = |last: &str| last.strip_prefix('v').is_some_and(|n| n.parse::<u32>().is_ok());
    match module.rsplit_once('/') {
        Some((path, last)) if major(last) => path.to_owned(),
        _ => module.to_owned(),
    }
}

/// Returns the name in a line `gem "rails", "~> 8"`.
fn gem(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("gem ")?.trim_start().strip_prefix(['"', '\''])?;
    rest.split(['"', '\'']).next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_say_of_what_a_project_consists() {
        let check = |file: &'static str, text: &str, expected: &[&str]| {
            assert_eq!(part_lines(&BTreeMap::from([(file, text.to_owned())])), expected);
        };
        check(
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n[dependencies]\ntokio = \"1\"\nserde = \"1\"\naxum.version = \"1\"\n",
            &["- built with axum, tokio (Cargo.toml)", "- packages crates/*, xtask (Cargo.toml)"],
        );
        check(
            "package.json",
            "{\"dependencies\": {\"express\": \"5\"}, \"devDependencies\": {\"jest\": \"1\"}, \"workspaces\": [\"a\"]}",
            &["- built with express, jest (package.json)", "- packages a (package.json)"],
        );
        check(
            "pyproject.toml",
            "[project]\ndependencies = [\"Flask[async]>=2\", \"flasky\"]\n[tool.poetry.dependencies]\npydantic = \"*\"\n",
            &["- built with flask, pydantic (pyproject.toml)"],
        );
        check(
            "requirements.txt",
            "# django\ncelery==5 # jobs\n",
            &["- built with celery (requirements.txt)"],
        );
        check(
            "go.mod",
            "module x\nrequire (\n\tgithub.com/go-chi/chi/v5 v5.0.1\n)\n",
            &["- built with github.com/go-chi/chi (go.mod)"],
        );
        check("Gemfile", "gem \"rails\", \"~> 8\"\n# gem 'sinatra'\n", &["- built with rails (Gemfile)"]);
        check("Cargo.toml", "[", &[]);
    }
}
