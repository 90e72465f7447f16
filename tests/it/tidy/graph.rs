//! The import graph of files: which file uses a name that another one defines.
//!
//! A name is followed through re-exports to the file that defines it, so a face that only re-exports has no edges of its
//! own. `mod` declarations are no edges, and neither is a method that is called on a value without an import of its file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Source;

/// The name of a module, from the root of the programs.
type Path = Vec<String>;

/// Files, and whom they import.
pub(crate) struct Graph {
    /// The file of each module, as `Source::name` has it.
    files: BTreeMap<Path, String>,
    crates: BTreeSet<String>,
    /// What a module re-exports, and whence.
    reexports: HashMap<(Path, String), Path>,
    edges: BTreeMap<String, BTreeSet<String>>,
}

/// A `use` declaration.
struct Use {
    is_reexport: bool,
    paths: Vec<(String, String)>,
}

/// Returns all that can be reached from a start over `next`.
fn follow<'a, I: Iterator<Item = &'a str>>(start: &'a str, next: impl Fn(&'a str) -> I) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut left: Vec<&str> = next(start).collect();
    while let Some(name) = left.pop() {
        if found.insert(name) {
            left.extend(next(name));
        }
    }
    found
}

/// Returns the first part of a path without its ending: a file and the folder of its name are one room.
fn room(path: &str) -> &str {
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs")
}

impl Graph {
    pub(crate) fn new(sources: &[Source]) -> Self {
        let shipped: Vec<(&Source, String)> = sources
            .iter()
            .filter(|source| !source.is_for_tests() && !source.name.starts_with("bin/"))
            .map(|source| (source, without_visibility(&source.shipped())))
            .collect();
        let files = shipped.iter().map(|(source, _)| (module(&source.name), source.name.clone())).collect();
        let crates =
            sources.iter().filter(|source| source.is_of_crate()).map(|source| source.module().to_owned());
        let mut graph =
            Self { files, crates: crates.collect(), reexports: HashMap::new(), edges: BTreeMap::new() };
        for (source, code) in &shipped {
            let at = module(&source.name);
            for found in uses(code).0.iter().filter(|found| found.is_reexport) {
                for (path, alias) in &found.paths {
                    if let Some(path) = graph.absolute(&at, path) {
                        graph.reexports.insert((at.clone(), alias.clone()), path);
                    }
                }
            }
        }
        for (source, code) in &shipped {
            let edges = graph.imports(&module(&source.name), code);
            graph.edges.insert(source.name.clone(), edges);
        }
        graph
    }

    /// Returns the files that a file imports.
    pub(crate) fn of(&self, file: &str) -> impl Iterator<Item = &str> {
        self.edges.get(file).into_iter().flatten().map(String::as_str)
    }

    /// Returns the groups of files that all import each other, directly or not, of more than `most` files.
    pub(crate) fn cycles(&self, most: usize) -> Vec<Vec<&str>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.edges.keys().map(|file| (file.as_str(), self.reached(file))).collect();
        let mut groups: BTreeSet<Vec<&str>> = BTreeSet::new();
        for (file, ahead) in &reached {
            let group: Vec<&str> =
                ahead.iter().filter(|other| reached[**other].contains(file)).copied().collect();
            groups.insert(group);
        }
        groups.into_iter().filter(|group| group.len() > most).collect()
    }

    /// Returns the rooms of each folder, files and folders in it, that use each other in a circle: `folder: one, two`. A circle of
    /// files alone is one of [`Self::cycles`].
    pub(crate) fn room_circles(&self) -> Vec<String> {
        let mut folders: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
        for (file, imported) in &self.edges {
            for other in imported {
                // Where their paths part is the folder that has both.
                let parts = file.split('/').zip(other.split('/')).take_while(|(one, two)| one == two);
                let shared: usize = parts.map(|(part, _)| part.len() + 1).sum();
                let [from, to] = [file, other].map(|name| room(&name[shared..]));
                // `lib.rs` and `mod.rs` are the folder itself.
                if from != to && [from, to].iter().all(|room| !["lib", "mod"].contains(room)) {
                    folders.entry(&file[..shared]).or_default().entry(from).or_default().insert(to);
                }
            }
        }
        let circles = folders.into_iter().flat_map(|(folder, uses)| {
            let reached: BTreeMap<&str, BTreeSet<&str>> = uses
                .keys()
                .map(|room| (*room, follow(room, |room| uses.get(room).into_iter().flatten().copied())))
                .collect();
            let in_circle = reached.iter().filter(|(room, ahead)| ahead.contains(*room));
            let groups: BTreeSet<Vec<&str>> = in_circle
                .map(|(room, ahead)| {
                    let back = |other: &&&str| reached.get(**other).is_some_and(|ahead| ahead.contains(room));
                    ahead.iter().filter(back).copied().collect()
                })
                .collect();
            let with_folders = groups.into_iter().filter(|group| {
                group
                    .iter()
                    .any(|room| self.edges.keys().any(|file| file.starts_with(&format!("{folder}{room}/"))))
            });
            with_folders.map(|group| format!("{folder}: {}", group.join(", "))).collect::<Vec<_>>()
        });
        circles.collect()
    }

    fn reached(&self, file: &str) -> BTreeSet<&str> {
        let start = self.edges.get_key_value(file).map_or("", |(name, _)| name);
        follow(start, |file| self.of(file))
    }

    fn imports(&self, at: &Path, code: &str) -> BTreeSet<String> {
        let (uses, body) = uses(code);
        let declared = uses.iter().filter(|found| !found.is_reexport).flat_map(|found| &found.paths);
        let inline = inline_paths(&body);
        declared
            .map(|(path, _)| path)
            .chain(&inline)
            .filter_map(|path| self.definer(&self.absolute(at, path)?, 8))
            .filter(|file| *file != self.files[at])
            .collect()
    }

    /// Returns a path from the root of the programs, below which a crate is a module; none where it does not begin at a module of ours.
    fn absolute(&self, at: &Path, path: &str) -> Option<Path> {
        let mut parts: Vec<String> = path.split("::").map(str::to_owned).collect();
        let mut from = match parts[0].as_str() {
            "crate" => at.first().filter(|first| self.crates.contains(*first)).cloned().into_iter().collect(),
            "self" | "super" => at.clone(),
            other if other.strip_prefix("memod_").is_some_and(|name| self.crates.contains(name)) => {
                parts[0] = parts[0].replacen("memod_", "", 1);
                return Some(parts);
            }
            child => {
                let below = [at.as_slice(), &[child.to_owned()]].concat();
                return self.files.contains_key(&below).then(|| [at.clone(), parts].concat());
            }
        };
        while matches!(parts.first().map(String::as_str), Some("crate" | "self" | "super")) {
            if parts.remove(0) == "super" {
                from.pop();
            }
        }
        Some([from, parts].concat())
    }

    /// Returns the file that defines what a path names.
    fn definer(&self, path: &[String], hops: usize) -> Option<String> {
        for end in (0..=path.len()).rev() {
            let (parent, rest) = path.split_at(end);
            let Some(file) = self.files.get(parent) else { continue };
            let exported = rest.first().and_then(|name| self.reexports.get(&(parent.to_vec(), name.clone())));
            return match exported {
                Some(whence) if hops > 0 => self.definer(&[whence, &rest[1..]].concat(), hops - 1),
                _ => Some(file.clone()),
            };
        }
        None
    }
}

fn module(file: &str) -> Path {
    let mut parts: Path = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
        parts.pop();
    }
    parts
}

/// Blanks `pub(in crate::x)`, which names a module and imports nothing.
fn without_visibility(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("pub(in ") {
        out += before;
        out += "pub ";
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    out + rest
}

/// Returns the `use` declarations, and the code without them.
fn uses(code: &str) -> (Vec<Use>, String) {
    let (mut found, mut body) = (Vec::new(), String::new());
    for part in code.split_inclusive(';') {
        let at = part.rfind("use ").filter(|at| {
            let before = part[..*at].trim_end();
            let begins = before.is_empty() || before.ends_with(['}', '{', ';', ']', ')']);
            begins || before.ends_with("pub")
        });
        let Some(at) = at.filter(|_| part.ends_with(';')) else {
            body += part;
            continue;
        };
        let before = part[..at].trim_end();
        body += before;
        let is_reexport =
            before.ends_with("pub") || before.ends_with("pub(super)") || before.ends_with("pub(crate)");
        let mut paths = Vec::new();
        expand("", part[at + 4..].trim_end_matches(';'), &mut paths);
        found.push(Use { is_reexport, paths });
    }
    (found, body)
}

/// Adds each path of a tree of `use`, with the name it gets here.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<(String, String)>) {
    let tree = tree.trim();
    let Some((head, group)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let full = format!("{prefix}{}", path.trim());
        let full = full.strip_suffix("::self").map_or(full.clone(), str::to_owned);
        let last = full.rsplit("::").next().unwrap_or_default().to_owned();
        let name = if alias.is_empty() { last } else { alias.trim().to_owned() };
        if !full.is_empty() {
            paths.push((full, name));
        }
        return;
    };
    let prefix = format!("{prefix}{}", head.trim());
    let group = group.trim_end().strip_suffix('}').unwrap_or(group);
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&prefix, &group[start..at], paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    expand(&prefix, &group[start..], paths);
}

/// Returns the paths of two parts and more outside of `use`.
fn inline_paths(body: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = body.split(|c| !is_part(c)).map(|word| word.trim_matches(':'));
    words.filter(|word| word.contains("::")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_that_use_each_other_are_found() {
        let circles = |sources: &[(&str, &str)]| {
            let sources: Vec<Source> = sources.iter().map(|(name, text)| Source::new(name, text)).collect();
            Graph::new(&sources).room_circles()
        };
        let (one, two) = (("a/x.rs", "use crate::b::y::Y;\npub struct X;"), ("b/y.rs", "pub struct Y;"));
        assert!(circles(&[one, two]).is_empty());
        let back = ("b/z.rs", "use crate::a::x::X;");
        assert_eq!(circles(&[one, two, back]), [": a, b"]);
        let nested = [
            ("m/a/x.rs", "use crate::m::b::y::Y;\npub struct X;"),
            ("m/b/y.rs", "use crate::m::a::x::X;\npub struct Y;"),
        ];
        assert_eq!(circles(&nested), ["m/: a, b"]);
        let face = ("face.rs", "pub use crate::a::x::X;");
        let over_face = ("b/z.rs", "use crate::face::X;");
        assert_eq!(circles(&[one, two, face, over_face]), [": a, b"]);
    }

    #[test]
    fn a_name_leads_to_the_file_that_defines_it() {
        let sources = [
            ("lib.rs", "pub mod a;\npub mod b;"),
            (
                "a.rs",
                "mod face;\nmod deep;\npub(super) use face::{Thing, deep::Other as Alias};\nfn f() { deep::g() }",
            ),
            ("a/face.rs", "use super::Thing;\npub(in crate::a) struct Thing;"),
            ("a/deep.rs", "pub fn g(x: crate::b::B) {}"),
            ("b.rs", "use crate::{a::{Thing, deep}, b};\nfn h() -> std::fmt::Result { self::x() }"),
        ];
        let sources: Vec<Source> = sources.iter().map(|(name, text)| Source::new(name, text)).collect();
        let graph = Graph::new(&sources);
        let of = |file: &str| graph.of(file).collect::<Vec<_>>().join(" ");
        assert_eq!(of("a.rs"), "a/deep.rs", "what it re-exports is no import");
        assert_eq!(of("a/face.rs"), "");
        assert_eq!(of("a/deep.rs"), "b.rs");
        assert_eq!(of("b.rs"), "a/deep.rs a/face.rs");
        assert_eq!(graph.cycles(1), [vec!["a/deep.rs", "b.rs"]]);
    }
}
