//! Reads values from the manifests of a project. What cannot be parsed has none.

use std::collections::BTreeMap;

use memod_base::types::file_name;
use serde_json::Value;
use toml_edit::{DocumentMut, Item};

/// The files that describe a project.
#[derive(Debug, Default)]
pub(super) struct ProjectFiles {
    /// Texts by path; of a file that only has to be there, an empty one.
    pub(super) texts: BTreeMap<String, String>,
    /// Name of the worktree's folder.
    pub(super) folder: String,
    /// Bytes of code in each language, most first.
    pub(super) languages: Vec<(String, u64)>,
    /// Files at which a program begins, with their languages.
    pub(super) programs: Vec<(String, String)>,
}

impl ProjectFiles {
    /// Returns the text of a file at a path.
    pub(super) fn file_text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.texts.contains_key(path)
    }

    pub(super) fn parse_toml(&self, path: &str) -> Option<DocumentMut> {
        self.file_text(path)?.parse().ok()
    }

    pub(super) fn parse_json(&self, path: &str) -> Option<Value> {
        serde_json::from_str(self.file_text(path)?).ok()
    }

    /// Returns the paths of the files with a name, those in fewer folders first.
    pub(super) fn paths_named(&self, name: &str) -> Vec<&str> {
        let mut paths: Vec<&str> =
            self.texts.keys().map(String::as_str).filter(|path| file_name(path) == name).collect();
        paths.sort_by_key(|path| path.matches('/').count());
        paths
    }
}

/// Returns the item of a TOML text at the end of these keys.
pub(super) fn find_item<'a>(manifest: &'a DocumentMut, path: &[&str]) -> Option<&'a Item> {
    path.iter().try_fold(manifest.as_item(), |item, key| item.get(key))
}

/// Returns the string that a TOML text has at the end of these keys.
pub(super) fn find_string(manifest: &DocumentMut, path: &[&str]) -> Option<String> {
    find_item(manifest, path)?.as_str().map(str::to_owned)
}

/// Returns the strings of an array, and of those in the tables and arrays below it.
pub(super) fn strings_below(item: &Item) -> Vec<String> {
    if let Some(array) = item.as_array() {
        return array.iter().filter_map(|value| value.as_str()).map(str::to_owned).collect();
    }
    let Some(table) = item.as_table_like() else { return Vec::new() };
    table.iter().flat_map(|(_, item)| strings_below(item)).collect()
}

/// Returns the folder of a path with its `/`; empty at the top.
pub(super) fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}
