//! Do the tables of the pages have the rows that the code has?

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use memod_base::types::ReadRefusal;
use memod_config::{Config, KEYS};
use memod_extract::lang::LANGUAGES;
use memod_proto::METHODS;
use memod_proto::http::ROUTES;
use regex::Regex;
use toml_edit::DocumentMut;

use super::{Page, check_generated, top};
use crate::live::Live;
use crate::tidy::manifests::dependencies;

/// Returns the comment of a setting in `defaults.toml`, without the name of its variable.
fn meaning(name: &str) -> String {
    let (section, key) = name.split_once('.').unwrap();
    let (_, section) = memod_config::DEFAULTS.split_once(&format!("\n[{section}]\n")).unwrap();
    let lines = section.lines().take_while(|line| !line.starts_with(&format!("{key} = ")));
    let comment = lines.fold(String::new(), |comment, line| match line.strip_prefix("# ") {
        Some(text) => format!("{comment}{text} "),
        None => String::new(),
    });
    let (meaning, _) = comment.split_once(" MEMO_").unwrap_or_else(|| panic!("{name} has no comment"));
    meaning.to_owned()
}

#[test]
fn the_settings_are_all_there_with_their_defaults() {
    let config = Config::default();
    let mut table = "| key | default | values | meaning |\n|---|---|---|---|\n".to_owned();
    for key in KEYS {
        let (name, default) = (key.name, key.get(&config));
        writeln!(table, "| `{name}` | `{default}` | {} | {} |", key.kind, meaning(name)).unwrap();
    }
    check_generated("docs/src/reference/settings.md", "settings", &table);
}

#[test]
fn the_commands_are_those_of_the_help() {
    let help = Live::idle().sandbox.run(&["help", "--all"]);
    let lines = help.lines().filter_map(|line| line.strip_prefix("out:")).map(str::trim_end);
    let groups =
        lines.skip_while(|line| !line.ends_with(':')).take_while(|line| !line.trim().ends_with("ptions:"));
    let mut table = "| command | what it does |\n|---|---|\n".to_owned();
    for line in groups {
        match line.trim().split_once("  ") {
            Some((verb, what)) => writeln!(table, "| `memo {verb}` | {} |", what.trim()).unwrap(),
            None if line.ends_with(':') => {
                writeln!(table, "| **{}** | |", line.trim().trim_end_matches(':')).unwrap();
            }
            None => assert_eq!(line, "", "a line of the help that is no verb"),
        }
    }
    check_generated("docs/src/reference/commands.md", "commands", &table);
}

#[test]
fn the_addresses_are_those_of_the_router() {
    let mut table = "| address | method |\n|---|---|\n".to_owned();
    for route in ROUTES {
        let anchor: String = route.method.chars().filter(|c| *c != '.').collect();
        let flag = route.flag.map(|flag| format!(" with `{flag}`")).unwrap_or_default();
        let method = format!("[`{}`](protocol-reference.md#{anchor}){flag}", route.method);
        writeln!(table, "| `{} {}` | {method} |", route.verb, route.path).unwrap();
    }
    check_generated("docs/src/reference/http.md", "routes", &table);
    let closed = METHODS.iter().filter_map(|method| Some((method.name, method.socket_only?)));
    let table: String = closed.map(|(method, why)| format!("| `{method}` | {why} |\n")).collect();
    check_generated(
        "docs/src/reference/http.md",
        "socket-only",
        &format!("| method | why not |\n|---|---|\n{table}"),
    );
}

/// A crate of the workspace, as its manifest has it.
struct Crate {
    name: String,
    description: String,
    uses: Vec<String>,
}

/// Returns the crates of `crates`, each before those that it uses.
fn crates_from_the_top() -> Vec<Crate> {
    let folders = fs::read_dir(top().join("crates")).unwrap();
    let mut left: Vec<Crate> = folders.map(|folder| read_crate(&folder.unwrap().path())).collect();
    left.sort_by(|a, b| a.name.cmp(&b.name));
    let mut ordered = Vec::new();
    while !left.is_empty() {
        let is_free = |one: &Crate| !left.iter().any(|other| other.uses.contains(&one.name));
        let free = left.iter().position(is_free).expect("crates do not use each other in circles");
        ordered.push(left.remove(free));
    }
    ordered
}

fn read_crate(folder: &Path) -> Crate {
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let manifest: DocumentMut = manifest.parse().unwrap();
    let uses = dependencies(&name).into_iter();
    Crate {
        description: manifest["package"]["description"].as_str().unwrap().to_owned(),
        uses: uses
            .filter_map(|name| name.strip_prefix("memod-").map(|name| name.replace('-', "_")))
            .collect(),
        name,
    }
}

fn code_list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_crates_are_those_of_the_manifests() {
    let row = |one: &Crate| format!("| `{}` | {} | {} |\n", one.name, one.description, code_list(&one.uses));
    let table: String = crates_from_the_top().iter().map(row).collect();
    let table = format!("| crate | what it does | uses |\n|---|---|---|\n{table}");
    check_generated("docs/src/reference/architecture.md", "crates", &table);
}

#[test]
fn the_languages_are_those_with_a_grammar() {
    let names: BTreeSet<_> = LANGUAGES.iter().map(|language| language.name).collect();
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    check_generated("docs/src/reference/indexed.md", "languages", &format!("{}\n", names.join(", ")));
}

#[test]
fn every_reason_to_skip_a_file_is_explained() {
    let row = Regex::new(r"(?m)^\| `([a-z0-9-]+)` \|").unwrap();
    let page = Page::read("docs/src/reference/indexed.md");
    let (_, table) = page.text.split_once("| reason |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let shown: BTreeSet<_> = row.captures_iter(table).map(|row| row[1].to_owned()).collect();
    let known: BTreeSet<_> = ReadRefusal::ALL.iter().map(|reason| reason.as_str().to_owned()).collect();
    assert_eq!(shown, known);
}
