//! Finds the files from which an import may bring names, by the parts of their paths and by their packages.

use std::collections::HashSet;

use indexmap::IndexSet;
use memod_base::types::is_version;

use super::map_file::{InternedUse, MapFile};

/// The parts of the paths of all files, and their packages, as numbers of names. A part that no file imports has no number.
pub(super) struct ModuleFiles {
    by_file: Vec<Box<[u32]>>,
    known: HashSet<u32>,
}

impl ModuleFiles {
    pub(super) fn from_files(files: &[MapFile], names: &IndexSet<Box<str>>) -> Self {
        let number_of = |part: &str| names.get_index_of(part).map(|number| number as u32);
        let list_parts = |file: &MapFile| {
            list_path_parts(file.path()).filter_map(number_of).chain(file.numbered.package).collect()
        };
        let by_file: Vec<Box<[u32]>> = files.iter().map(list_parts).collect();
        let known = by_file.iter().flatten().copied().collect();
        Self { by_file, known }
    }

    /// Returns the definers that a use can mean. A module that is part of the path of a definer means that one; another module of the
    /// worktree may export the names of any file, and a module that is no part of any path is of another package.
    pub(super) fn choose_definers<'a>(
        &self,
        used: &InternedUse,
        definers: &'a [(u32, u32)],
    ) -> ChosenDefiners<'a> {
        let Some(module) = used.module else { return ChosenDefiners::All };
        if !self.known.contains(&module) {
            return ChosenDefiners::Some(Vec::new());
        }
        let named: Vec<&(u32, u32)> =
            definers.iter().filter(|(file, _)| self.by_file[*file as usize].contains(&module)).collect();
        if named.is_empty() { ChosenDefiners::All } else { ChosenDefiners::Some(named) }
    }
}

/// The definers of a name that one use can mean.
pub(super) enum ChosenDefiners<'a> {
    /// All that the name has.
    All,
    /// Only these, each a file and its first symbol of the name.
    Some(Vec<&'a (u32, u32)>),
}

/// Returns the names of the directories of a path, and that of the file without its endings.
fn list_path_parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').map(|part| part.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(part))
}

/// Returns the last part of a module as an import writes it: `json` of `encoding/json`, `a` of `../a.js`, `types` of
/// `memod_base::types`; empty if the module is the directory or the package of the file itself.
pub(super) fn last_module_part(module: &str) -> &str {
    let is_file = module.contains('/') || module.starts_with('.') && module.ends_with("js");
    let path = if is_file { module.trim_end_matches(".js").trim_end_matches(".ts") } else { module };
    let separators: &[char] = if module.contains('/') { &['/'] } else { &['/', '.', ':', '\\'] };
    let mut parts = path.rsplit(separators).filter(|part| !part.is_empty());
    let last = parts.next().unwrap_or_default();
    let last = if is_version(last) { parts.next().unwrap_or(last) } else { last };
    let last = last.trim_start_matches(['@', '#', '~', '$']);
    if matches!(last, "." | ".." | "crate" | "super" | "self" | "index" | "mod") { "" } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_a_module_is_found_in_every_language() {
        for (module, expected) in [
            ("encoding/json", "json"),
            ("github.com/x/yaml/v3", "yaml"),
            ("../a.js", "a"),
            ("./router", "router"),
            ("..", ""),
            (".", ""),
            ("@trpc/server", "server"),
            ("zod", "zod"),
            ("#utils", "utils"),
            ("flask.json", "json"),
            (".nodes", "nodes"),
            ("...nodes", "nodes"),
            ("crate::dir_entry", "dir_entry"),
            ("crate", ""),
            ("super", ""),
            ("org.apache.kafka.common", "common"),
            ("Symfony\\Component\\Console", "Console"),
        ] {
            assert_eq!(last_module_part(module), expected, "{module}");
        }
    }
}
