//! What do the manifests of the crates hold?

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toml_edit::DocumentMut;

/// Crates that only the program of the daemon may have, or how their names begin.
const OF_THE_DAEMON: &[&str] = &[
    "rusqlite",
    "sqlite-vec",
    "gix",
    "tree-sitter",
    "tokio-postgres",
    "fastembed",
    "ort",
    "hyper",
    "notify",
    "memod-bench",
    "memod-models",
    "memod-tokenizer",
];

/// Returns what a crate of the workspace depends on; what only tests need is not among it.
pub(crate) fn dependencies(name: &str) -> Vec<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = name.replace('-', "_");
    let folders = ["crates/", ""].map(|place| top.join(format!("{place}{folder}/Cargo.toml")));
    let manifest = folders.iter().find_map(|path| fs::read_to_string(path).ok());
    let manifest: DocumentMut = manifest.unwrap_or_else(|| panic!("no crate {name}")).parse().unwrap();
    let of_systems = manifest.get("target").and_then(|item| item.as_table()).into_iter().flatten();
    let tables =
        of_systems.filter_map(|(_, system)| system.get("dependencies")).chain(manifest.get("dependencies"));
    tables.flat_map(|table| table.as_table().unwrap().iter()).map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn the_client_carries_nothing_of_the_daemon() {
    let (mut known, mut left) = (BTreeSet::new(), vec!["cli".to_owned()]);
    while let Some(name) = left.pop() {
        for dependency in dependencies(&name) {
            let heavy = OF_THE_DAEMON.iter().find(|heavy| dependency.starts_with(*heavy));
            assert!(heavy.is_none(), "memod-{name} depends on {dependency}, and memod-cli on that");
            if let Some(ours) = dependency.strip_prefix("memod-")
                && known.insert(ours.to_owned())
            {
                left.push(ours.to_owned());
            }
        }
    }
    assert!(known.contains("client") && known.len() > 5, "{known:?}");
}

#[test]
fn the_client_is_the_crate_of_the_command_line_alone() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/memo.rs");
    let code = fs::read_to_string(path).unwrap();
    let named: BTreeSet<_> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let ours: Vec<_> = named.into_iter().filter(|word| word.starts_with("memod")).collect();
    assert_eq!(ours, ["memod_cli"], "what memo uses is linked into it");
}
