//! Reads values from the manifests of a project. A manifest that cannot be parsed has no values.

use std::collections::BTreeMap;

use memod_base::types::file_name;
use serde_json::Value;
use toml_edit::{DocumentMut, Item};

/// The files that describe a project.
#[derive(Debug, Default)]
pub(super) struct ProjectFiles {
    /// Texts by path; the text is empty if only the presence of the file matters.
    pub(super) texts: BTreeMap<String, String>,
    /// Name of the worktree's folder.
    pub(super) folder: String,
    /// Bytes of code in each language, the largest number first.
    pub(super) languages: Vec<(String, u64)>,
    /// Files with the entry point of a program, and their languages.
    pub(super) programs: Vec<(String, String)>,
}

impl ProjectFiles {
    /// Returns the text of the file at a path, if the project has that file.
    pub(super) fn file_text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Returns whether the project has a file at a path.
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.texts.contains_key(path)
    }

    /// Parses the file at a path as TOML; `None` if it is missing or invalid.
    pub(super) fn parse_toml(&self, path: &str) -> Option<DocumentMut> {
        self.file_text(path)?.parse().ok()
    }

    /// Parses the file at a path as JSON; `None` if it is missing or invalid.
    pub(super) fn parse_json(&self, path: &str) -> Option<Value> {
        serde_json::from_str(self.file_text(path)?).ok()
    }

    /// Returns the paths of the files with a file name, those in fewer folders first.
    pub(super) fn paths_named(&self, name: &str) -> Vec<&str> {
        let mut paths: Vec<&str> =
            self.texts.keys().map(String::as_str).filter(|path| file_name(path) == name).collect();
        paths.sort_by_key(|path| path.matches('/').count());
        paths
    }
}

/// Returns the item of a TOML document to which these keys lead, from the outermost key to the innermost.
pub(super) fn find_item<'a>(manifest: &'a DocumentMut, path: &[&str]) -> Option<&'a Item> {
    path.iter().try_fold(manifest.as_item(), |item, key| item.get(key))
}

/// Returns the string of a TOML document to which these keys lead.
pub(super) fn find_string(manifest: &DocumentMut, path: &[&str]) -> Option<String> {
    find_item(manifest, path)?.as_str().map(str::to_owned)
}

/// Returns the strings of an array, or of all arrays in a table and in the tables below it.
pub(super) fn collect_strings(item: &Item) -> Vec<String> {
    if let Some(array) = item.as_array() {
        return array.iter().filter_map(|value| value.as_str()).map(str::to_owned).collect();
    }
    let Some(table) = item.as_table_like() else { return Vec::new() };
    table.iter().flat_map(|(_, item)| collect_strings(item)).collect()
}

/// Returns the folder of a path with a `/` at its end; empty for a file at the top.
pub(super) fn folder_with_slash(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}
