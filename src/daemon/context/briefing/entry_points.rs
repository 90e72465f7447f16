//! Lists the entry points of the programs of a project.

use memod_base::types::file_name;
use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

use super::manifests::{ProjectFiles, find_item, find_string, folder_with_slash};

/// Maximum number of entry points that are listed.
const MOST_LISTED: usize = 8;

/// Returns a line with the binaries and scripts that manifests declare, and the files and packages that are programs; without any,
/// a line with the main files of JavaScript packages.
pub(super) fn render_entry_points(files: &ProjectFiles) -> Option<String> {
    let mut found: Vec<String> = list_cargo_binaries(files);
    found.extend(list_python_scripts(files));
    found.extend(list_node_commands(files));
    found.extend(list_main_files(files));
    if found.is_empty() {
        found.extend(list_node_mains(files));
    }
    let mut seen: Vec<String> = Vec::new();
    found.retain(|one| {
        let is_new = !seen.contains(one);
        seen.push(one.clone());
        is_new
    });
    let n_more = found.len().saturating_sub(MOST_LISTED);
    found.truncate(MOST_LISTED);
    let more = if n_more > 0 { format!(", {n_more} more") } else { String::new() };
    (!found.is_empty()).then(|| format!("- entry points: {}{more}", found.join(", ")))
}

/// Returns the binaries of each Cargo.toml: those that it declares, and those that Cargo finds by their paths.
fn list_cargo_binaries(files: &ProjectFiles) -> Vec<String> {
    files
        .paths_named("Cargo.toml")
        .into_iter()
        .filter_map(|path| {
            let manifest = files.parse_toml(path)?;
            let package = find_string(&manifest, &["package", "name"])?;
            Some(list_package_binaries(files, &manifest, folder_with_slash(path), &package))
        })
        .flatten()
        .collect()
}

fn list_package_binaries(
    files: &ProjectFiles,
    manifest: &DocumentMut,
    dir: &str,
    package: &str,
) -> Vec<String> {
    let declared = manifest.get("bin").and_then(Item::as_array_of_tables);
    let mut bins: Vec<(String, Option<String>)> = declared
        .into_iter()
        .flatten()
        .filter_map(|table| {
            let path = find_text(table, "path").map(|path| format!("{dir}{path}"));
            Some((find_text(table, "name")?.to_owned(), path))
        })
        .collect();
    let finds = find_item(manifest, &["package", "autobins"]).and_then(Item::as_bool).unwrap_or(true);
    let found: Vec<(String, &str)> = programs_in(files, "rust")
        .filter_map(|path| Some((binary_name(path.strip_prefix(dir)?, package)?, path)))
        .collect();
    for (name, path) in &mut bins {
        *path = path
            .take()
            .or_else(|| found.iter().find(|(found, _)| found == name).map(|(_, path)| (*path).to_owned()));
    }
    for (name, path) in found.into_iter().filter(|_| finds) {
        if !bins.iter().any(|(known, at)| *known == name || at.as_deref() == Some(path)) {
            bins.push((name, Some(path.to_owned())));
        }
    }
    bins.into_iter()
        .map(|(name, path)| path.map_or(name.clone(), |path| format!("{name} = {path}")))
        .collect()
}

fn find_text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key)?.as_str()
}

/// Returns the name that Cargo gives to a binary at a path of a package.
fn binary_name(path: &str, package: &str) -> Option<String> {
    if path == "src/main.rs" {
        return Some(package.to_owned());
    }
    let name = path.strip_prefix("src/bin/")?;
    let name = name.strip_suffix("/main.rs").or_else(|| name.strip_suffix(".rs"))?;
    (!name.contains('/')).then(|| name.to_owned())
}

/// Returns the scripts of each pyproject.toml, and the packages that `python -m` runs.
fn list_python_scripts(files: &ProjectFiles) -> Vec<String> {
    const TABLES: [&[&str]; 3] =
        [&["project", "scripts"], &["project", "gui-scripts"], &["tool", "poetry", "scripts"]];
    let scripts = files
        .paths_named("pyproject.toml")
        .into_iter()
        .filter_map(|path| {
            let manifest = files.parse_toml(path)?;
            let tables = TABLES.iter().filter_map(|table| find_item(&manifest, table)?.as_table_like());
            let entries = tables.flat_map(|table| table.iter());
            Some(
                entries
                    .filter_map(|(name, value)| Some(format!("{name} = {}", value.as_str()?)))
                    .collect::<Vec<_>>(),
            )
        })
        .flatten();
    scripts
        .chain(programs_in(files, "python").filter_map(|path| {
            let package = path.strip_suffix("/__main__.py")?;
            Some(format!("python -m {}", package.strip_prefix("src/").unwrap_or(package).replace('/', ".")))
        }))
        .collect()
}

/// Returns the commands of each package.json.
fn list_node_commands(files: &ProjectFiles) -> Vec<String> {
    files
        .paths_named("package.json")
        .into_iter()
        .filter_map(|path| {
            let manifest = files.parse_json(path)?;
            Some(match &manifest["bin"] {
                Value::String(target) => {
                    let name = manifest["name"].as_str()?;
                    vec![format!("{} = {}", file_name(name), join_target(path, target))]
                }
                Value::Object(bins) => bins
                    .iter()
                    .filter_map(|(name, target)| {
                        Some(format!("{name} = {}", join_target(path, target.as_str()?)))
                    })
                    .collect(),
                _ => Vec::new(),
            })
        })
        .flatten()
        .collect()
}

/// Returns the path, from the top, of a target that a manifest at `path` names.
fn join_target(path: &str, target: &str) -> String {
    format!("{}{}", folder_with_slash(path), target.trim_start_matches("./"))
}

/// Returns the main file of each package, which `import` loads.
fn list_node_mains(files: &ProjectFiles) -> Vec<String> {
    files
        .paths_named("package.json")
        .into_iter()
        .filter_map(|path| {
            let manifest = files.parse_json(path)?;
            let (name, main) =
                (manifest["name"].as_str()?, manifest["module"].as_str().or(manifest["main"].as_str())?);
            let is_private = manifest["private"].as_bool() == Some(true);
            (!is_private)
                .then(|| format!("{name} = {}{}", folder_with_slash(path), main.trim_start_matches("./")))
        })
        .collect()
}

/// Returns the packages of Go and the files of other languages that define `main`: well named ones first, then those in fewer
/// folders.
fn list_main_files(files: &ProjectFiles) -> Vec<String> {
    let declared = ["rust", "python"]; // their manifests say which files are programs
    let mut found: Vec<String> = Vec::new();
    for (path, lang) in files.programs.iter().filter(|(_, lang)| !declared.contains(&lang.as_str())) {
        found.push(match lang.as_str() {
            "go" if folder_with_slash(path).is_empty() => ".".to_owned(),
            "go" => format!("./{}", folder_with_slash(path).trim_end_matches('/')),
            _ => path.clone(),
        });
    }
    found.sort_by_key(|path| (!has_program_name(path, &files.folder), path.matches('/').count()));
    found
}

/// Returns whether the name of a program suggests that users run it: a usual word such as `cli`, or the name of the project. In C,
/// a file often has a `main` only to test itself.
fn has_program_name(path: &str, project: &str) -> bool {
    if path == "." {
        return true;
    }
    let stem = file_name(path).split('.').next().unwrap_or_default();
    let mut words = stem.split(['-', '_']).filter(|word| !word.is_empty());
    words.any(|word| ["app", "cli", "daemon", "main", "server"].contains(&word) || word == project)
}

fn programs_in<'a>(files: &'a ProjectFiles, lang: &'a str) -> impl Iterator<Item = &'a str> {
    files.programs.iter().filter(move |(_, language)| language == lang).map(|(path, _)| path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[(&str, &str)], programs: &[(&str, &str)], expected: Option<&str>) {
        let owned = |(left, right): &(&str, &str)| ((*left).to_owned(), (*right).to_owned());
        let files = ProjectFiles {
            texts: texts.iter().map(owned).collect(),
            programs: programs.iter().map(owned).collect(),
            ..ProjectFiles::default()
        };
        assert_eq!(render_entry_points(&files).as_deref(), expected, "{texts:?}");
    }

    #[test]
    fn binaries_are_those_of_cargo() {
        let manifest = "[package]\nname = \"grep\"\n[[bin]]\nname = \"rg\"\npath = \"core/main.rs\"\n";
        let programs = [("core/main.rs", "rust"), ("src/bin/x.rs", "rust"), ("src/bin/y/main.rs", "rust")];
        let all = "- entry points: rg = core/main.rs, x = src/bin/x.rs, y = src/bin/y/main.rs";
        check(&[("Cargo.toml", manifest)], &programs, Some(all));
        let manifest = "[package]\nname = \"a\"\nautobins = false\n[[bin]]\nname = \"x\"\n";
        check(&[("Cargo.toml", manifest)], &programs, Some("- entry points: x = src/bin/x.rs"));
        let below = ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n");
        let main = [("crates/a/src/main.rs", "rust"), ("build.rs", "rust")];
        check(&[below], &main, Some("- entry points: a = crates/a/src/main.rs"));
        check(&[("Cargo.toml", "[")], &main, None);
    }

    #[test]
    fn scripts_and_packages_are_programs() {
        let python = "[project.scripts]\nflask = \"flask.cli:main\"\n[tool.poetry.scripts]\nodd = 3\n";
        let main = [("src/flask/__main__.py", "python")];
        let expected = "- entry points: flask = flask.cli:main, python -m flask";
        check(&[("pyproject.toml", python)], &main, Some(expected));
        let bins = "{\"name\": \"@a/tool\", \"bin\": \"./cli.js\", \"main\": \"index.js\"}";
        check(
            &[("packages/tool/package.json", bins)],
            &[],
            Some("- entry points: tool = packages/tool/cli.js"),
        );
        let several = "{\"bin\": {\"a\": \"a.js\", \"b\": 1}}";
        check(&[("package.json", several)], &[], Some("- entry points: a = a.js"));
        let library = "{\"name\": \"zod\", \"main\": \"./index.cjs\"}";
        let private = "{\"name\": \"all\", \"private\": true, \"main\": \"x.js\"}";
        let both = [("package.json", private), ("packages/zod/package.json", library)];
        check(&both, &[], Some("- entry points: zod = packages/zod/index.cjs"));
    }

    #[test]
    fn programs_are_where_main_is() {
        let programs = [
            ("cmd/b/a.go", "go"),
            ("cmd/b/b.go", "go"),
            ("crc.c", "c"),
            ("main.go", "go"),
            ("src/server.c", "c"),
        ];
        check(&[], &programs, Some("- entry points: ., src/server.c, crc.c, ./cmd/b"));
        let many: Vec<String> = (0..10).map(|nth| format!("{nth}.c")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|path| (path.as_str(), "c")).collect();
        check(&[], &many, Some("- entry points: 0.c, 1.c, 2.c, 3.c, 4.c, 5.c, 6.c, 7.c, 2 more"));
    }
}
