//! Lists the frameworks that a project declares in its manifests, and its packages.

use toml_edit::DocumentMut;

use super::manifests::{ProjectFiles, collect_strings, find_item};

/// Frameworks that shape a project, separated by spaces, by the manifest that declares them.
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
/// Maximum number of packages of a workspace that are listed.
const MOST_PACKAGES: usize = 10;

/// Returns the lines about the parts of a project: the frameworks of each manifest, then the packages of each workspace.
pub(super) fn part_lines(files: &ProjectFiles) -> Vec<String> {
    // The repository of a framework is not built with itself.
    let own = files.file_text("go.mod").and_then(go_module_path);
    let frameworks = FRAMEWORKS.iter().filter_map(|(file, known)| {
        let declared = list_dependencies(file, files)?;
        let used = known
            .split(' ')
            .filter(|name| declared.iter().any(|declared| declared == name) && own.as_deref() != Some(*name));
        render_line("built with", &used.map(str::to_owned).collect::<Vec<_>>(), file)
    });
    let packages = ["Cargo.toml", "package.json"].into_iter().filter_map(|file| {
        let mut packages = list_packages(file, files)?;
        let n_more = packages.len().saturating_sub(MOST_PACKAGES);
        packages.truncate(MOST_PACKAGES);
        packages.extend((n_more > 0).then(|| format!("{n_more} more")));
        render_line("packages", &packages, file)
    });
    frameworks.chain(packages).collect()
}

fn render_line(label: &str, names: &[String], file: &str) -> Option<String> {
    (!names.is_empty()).then(|| format!("- {label} {} ({file})", names.join(", ")))
}

/// Returns the names of the dependencies that a manifest declares; none if it cannot be read.
fn list_dependencies(file: &str, files: &ProjectFiles) -> Option<Vec<String>> {
    let text = files.file_text(file)?;
    Some(match file {
        "Cargo.toml" => {
            list_keys(&files.parse_toml(file)?, &[&["dependencies"], &["workspace", "dependencies"]])
        }
        "pyproject.toml" => {
            let manifest = files.parse_toml(file)?;
            let of_poetry = list_keys(&manifest, &[&["tool", "poetry", "dependencies"]]);
            let listed =
                find_item(&manifest, &["project", "dependencies"]).map(collect_strings).unwrap_or_default();
            listed.iter().map(|line| requirement_name(line)).chain(of_poetry).collect()
        }
        "package.json" => {
            let manifest = files.parse_json(file)?;
            ["dependencies", "devDependencies"]
                .into_iter()
                .flat_map(|table| manifest[table].as_object().cloned().unwrap_or_default())
                .map(|(name, _)| name)
                .collect()
        }
        "requirements.txt" => text.lines().map(requirement_name).collect(),
        "go.mod" => text.split_whitespace().map(without_major).collect(),
        _ => text.lines().filter_map(gem_name).collect(),
    })
}

/// Returns the keys of some tables of a manifest, in lower case.
fn list_keys(manifest: &DocumentMut, tables: &[&[&str]]) -> Vec<String> {
    let tables = tables.iter().filter_map(|path| find_item(manifest, path)?.as_table_like());
    tables.flat_map(|table| table.iter().map(|(key, _)| key.to_lowercase())).collect()
}

/// Returns the packages of a workspace, as the manifest names them.
fn list_packages(file: &str, files: &ProjectFiles) -> Option<Vec<String>> {
    if file == "Cargo.toml" {
        return find_item(&files.parse_toml(file)?, &["workspace", "members"]).map(collect_strings);
    }
    let manifest = files.parse_json(file)?;
    let listed =
        manifest["workspaces"].as_array().or_else(|| manifest["workspaces"]["packages"].as_array())?;
    Some(listed.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

/// Returns the path that a go.mod gives its module, without its major version.
pub(super) fn go_module_path(text: &str) -> Option<String> {
    let path = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    Some(without_major(path.split_whitespace().next()?.trim_matches('"')))
}

/// Returns the name in a requirement of pip: `flask` of `Flask[async]>=2 # web`.
pub(super) fn requirement_name(line: &str) -> String {
    let line = line.trim();
    line.split(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c))
        .next()
        .unwrap_or_default()
        .to_lowercase()
}

/// Returns the path of a Go module without its major version: `…/chi` of `…/chi/v5`.
fn without_major(module: &str) -> String {
    match module.rsplit_once('/') {
        Some((path, last)) if is_major_version(last) => path.to_owned(),
        _ => module.to_owned(),
    }
}

fn is_major_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Returns the name in a line `gem "rails", "~> 8"`.
fn gem_name(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("gem ")?.trim_start().strip_prefix(['"', '\''])?;
    rest.split(['"', '\'']).next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_say_of_what_a_project_consists() {
        let check = |file: &str, text: &str, expected: &[&str]| {
            let texts = [(file.to_owned(), text.to_owned())].into();
            assert_eq!(part_lines(&ProjectFiles { texts, ..ProjectFiles::default() }), expected);
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
            "module github.com/gorilla/mux\nrequire (\n\tgithub.com/go-chi/chi/v5 v5.0.1\n)\n",
            &["- built with github.com/go-chi/chi (go.mod)"],
        );
        check("Gemfile", "gem \"rails\", \"~> 8\"\n# gem 'sinatra'\n", &["- built with rails (Gemfile)"]);
        check("Cargo.toml", "[", &[]);
    }
}
