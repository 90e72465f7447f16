//! Finds the files of a module by the rules of each language.

use memod_base::types::Import;

use super::FileNumber;
use super::path_index::{PathIndex, split};
use super::place::{C_SOURCES, Family};

impl PathIndex {
    /// Whether an import of one file brings in another, or a name of it.
    pub fn imports_file(&self, importer: FileNumber, import: &Import, exporter: FileNumber) -> bool {
        let family = Family::of(self.path(importer));
        let of = |module: &str| self.files_of(family, module, importer).contains(&exporter);
        of(&import.module) || of(&import.full_module())
    }

    /// Whether a path in the text of one file means the module that another is, without an import: `crate::a` of Rust.
    pub fn names_file(&self, from: FileNumber, path: &str, module: FileNumber) -> bool {
        let family = Family::of(self.path(from));
        family == Family::Rust && self.files_of(family, &path.replace('.', "::"), from).contains(&module)
    }

    /// Returns the files that a module means when `from` names it; none if it is of another library.
    pub(super) fn files_of(&self, family: Family, module: &str, from: FileNumber) -> Vec<FileNumber> {
        if module.is_empty() {
            return Vec::new();
        }
        match family {
            Family::Python => self.python(module, from),
            Family::JavaScript => self.javascript(module, from),
            Family::Go => self.go(module, from),
            Family::Rust => self.rust(module, from),
            Family::Java => self.java(module),
            Family::C => self.c(module, from),
            Family::Other => Vec::new(),
        }
    }

    /// Of `a.b`: `a/b.py` and `a/b/__init__.py`, where a package may begin: in a directory that is in no package. Of several the ones
    /// nearest to the importing file.
    fn python(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let n_dots = module.len() - module.trim_start_matches('.').len();
        let path = module[n_dots..].replace('.', "/");
        if n_dots == 0 {
            let ends = [path.clone(), format!("{path}/__init__")];
            let found = ends.iter().flat_map(|end| {
                let found = self.ending_with(end).into_iter();
                found.filter(|file| self.is_root_of_packages(self.path(*file), end))
            });
            return self.nearest(found.collect(), from);
        }
        let mut dir = self.dir(from);
        for _ in 1..n_dots {
            dir = split(dir).0;
        }
        let base = joined(dir, &path);
        let of_dir = joined(&base, "__init__.py");
        [format!("{base}.py"), format!("{base}.pyi"), of_dir]
            .iter()
            .filter_map(|path| self.number(path))
            .collect()
    }

    /// Whether the directory that a module path begins in is in no package itself.
    fn is_root_of_packages(&self, path: &str, module: &str) -> bool {
        let bare = path.rsplit_once('.').map_or(path, |(bare, _)| bare);
        let root = bare.strip_suffix(module).unwrap_or_default().trim_end_matches('/');
        self.number(&joined(root, "__init__.py")).is_none()
    }

    /// Returns those files that share the most directories with another one.
    fn nearest(&self, files: Vec<FileNumber>, from: FileNumber) -> Vec<FileNumber> {
        let own = self.dir(from);
        let n_shared = |file: &FileNumber| {
            let parts = self.dir(*file).split('/').zip(own.split('/'));
            parts.take_while(|(one, other)| one == other).count()
        };
        let most = files.iter().map(n_shared).max();
        files.into_iter().filter(|file| Some(n_shared(file)) == most).collect()
    }

    /// Relative paths with or without an ending, `index` of a directory, and packages of the same repository.
    fn javascript(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        const ENDINGS: [&str; 9] = [".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"];
        if let Some(path) = module.starts_with('.').then(|| relative(self.dir(from), module)).flatten() {
            let bare = ENDINGS.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(&path);
            let with_endings = |path: &str| ENDINGS.map(|ending| format!("{path}{ending}"));
            let index = joined(&path, "index");
            let all = [path.clone()].into_iter().chain(with_endings(bare)).chain(with_endings(&index));
            return all.filter_map(|path| self.number(&path)).take(1).collect();
        }
        if let Some(path) = module.strip_prefix("@/").or_else(|| module.strip_prefix("~/")) {
            let found = self.ending_with(path);
            return if found.is_empty() { self.ending_with(&format!("{path}/index")) } else { found };
        }
        let Some((dir, rest)) = self.packages.of_npm(module) else { return Vec::new() };
        let entry = if rest.is_empty() { "index" } else { rest };
        let places = [format!("src/{entry}"), entry.to_owned(), format!("src/{entry}/index")];
        let files = places.iter().flat_map(|place| {
            let path = joined(dir, place);
            ENDINGS.map(|ending| format!("{path}{ending}"))
        });
        files.filter_map(|path| self.number(&path)).take(1).collect()
    }

    /// The directory of an import path in a module of the repository, or in `vendor`. Outside of known modules the directory that
    /// the longest end of the path names; then a first part without a dot is the standard library.
    fn go(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let is_go = |file: &FileNumber| self.path(*file).ends_with(".go");
        let in_dir = |dir: &str| -> Vec<FileNumber> {
            let files = self.in_dirs(dir).into_iter();
            files.filter(|file| is_go(file) && self.dir(*file) == dir).collect()
        };
        if let Some((dir, rest)) = self.packages.of_go(module) {
            return in_dir(&joined(dir, rest));
        }
        if self.packages.is_in_go(self.dir(from)) {
            return in_dir(&joined("vendor", module));
        }
        if !module.split('/').next().is_some_and(|first| first.contains('.')) {
            return Vec::new();
        }
        let mut end = module;
        loop {
            let found: Vec<FileNumber> = self.in_dirs(end).into_iter().filter(is_go).collect();
            if !found.is_empty() || end.is_empty() {
                return found;
            }
            // The module itself is the top directory, whose name is empty.
            end = end.split_once('/').map_or("", |(_, rest)| rest);
        }
    }

    /// `crate::a::b`, `super::b`, `self::b`, a module beside, or one of another crate of the repository.
    fn rust(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let mut parts: Vec<&str> = module.split("::").collect();
        let first = parts.remove(0);
        let (base, is_relative) = match first {
            "crate" => (self.crate_root(from), false),
            "self" => (self.module_dir(from), true),
            "super" => {
                let mut dir = split(self.module_dir(from)).0;
                while parts.first() == Some(&"super") {
                    parts.remove(0);
                    dir = split(dir).0;
                }
                // Inside `mod tests` of a file, the file itself.
                let own = if parts.is_empty() { vec![from] } else { Vec::new() };
                return [own, self.rust_module(dir, &parts)].concat();
            }
            name => {
                let dir = self.module_dir(from);
                let here = self.rust_module(&joined(dir, name), &parts);
                if !here.is_empty() {
                    return here;
                }
                if let Some(dir) = self.packages.of_crate(name) {
                    return self.rust_module(&joined(dir, "src"), &parts);
                }
                let named = [name.replace('_', "-"), name.to_owned()];
                let roots = named.iter().flat_map(|name| self.ending_with(&format!("{name}/src/lib")));
                return roots.flat_map(|root| self.rust_module(self.dir(root), &parts)).collect();
            }
        };
        let own = if is_relative && parts.is_empty() { vec![from] } else { Vec::new() };
        [own, self.rust_module(base, &parts)].concat()
    }

    /// Returns the file of a module below a directory: the deepest that there is, because a file may hold modules and types.
    fn rust_module(&self, dir: &str, parts: &[&str]) -> Vec<FileNumber> {
        for n_parts in (0..=parts.len()).rev() {
            // What is left may be a module inside of the file, or a type; not a whole path.
            if parts.len() - n_parts > 1 {
                break;
            }
            let base = parts[..n_parts].iter().fold(dir.to_owned(), |path, part| joined(&path, part));
            let names = ["mod.rs", "lib.rs", "main.rs"].map(|name| joined(&base, name));
            let all = [format!("{base}.rs")].into_iter().chain(names);
            let found: Vec<FileNumber> = all.filter_map(|path| self.number(&path)).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Returns the directory with the `lib.rs` or `main.rs` above a file.
    fn crate_root(&self, from: FileNumber) -> &str {
        let mut dir = self.dir(from);
        loop {
            let is_root = ["lib.rs", "main.rs"].iter().any(|name| self.number(&joined(dir, name)).is_some());
            if is_root || dir.is_empty() {
                return dir;
            }
            dir = split(dir).0;
        }
    }

    /// Returns the directory that holds the modules inside of a file's module.
    fn module_dir(&self, file: FileNumber) -> &str {
        let path = self.path(file);
        let (dir, name) = split(path);
        if matches!(name, "mod.rs" | "lib.rs" | "main.rs") {
            dir
        } else {
            path.strip_suffix(".rs").unwrap_or(path)
        }
    }

    /// Of `a.b.C` the file of that class, of `a.b` the files of that package.
    fn java(&self, module: &str) -> Vec<FileNumber> {
        let path = module.replace('.', "/");
        let found = self.ending_with(&path);
        if found.is_empty() { self.in_dirs(&path) } else { found }
    }

    /// Returns the headers of this name that are nearest to the including file, and the sources of the same name that are nearest to
    /// these: `dict.h` of a vendored library is another one.
    fn c(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let name = module.rsplit('/').next().unwrap_or(module);
        let (mut headers, sources): (Vec<_>, Vec<_>) =
            self.ending_with_name(module).into_iter().partition(|file| self.is_header(*file));
        headers.retain(|file| split(self.path(*file)).1 == name);
        let beside = relative(self.dir(from), module).and_then(|path| self.number(&path));
        let mut files = beside.map_or_else(|| self.nearest(headers, from), |file| vec![file]);
        if files.len() > 1 {
            return Vec::new(); // options of the compiler tell which
        }
        let sources = self.nearest(sources, files.first().copied().unwrap_or(from));
        files.extend(sources);
        files.dedup();
        files
    }

    /// Whether a file of C or C++ is there to be included: `.h`, `.hpp`, `.inl`.
    pub(super) fn is_header(&self, file: FileNumber) -> bool {
        is_header(self.path(file))
    }

    fn ending_with_name(&self, path: &str) -> Vec<FileNumber> {
        let bare = path.rsplit_once('.').map_or(path, |(bare, _)| bare);
        self.ending_with(bare.trim_start_matches("../").trim_start_matches("./"))
    }
}

/// As [`PathIndex::is_header`], of a path.
pub(super) fn is_header(path: &str) -> bool {
    !C_SOURCES.contains(&path.rsplit_once('.').map_or("", |(_, ending)| ending))
}

fn joined(dir: &str, path: &str) -> String {
    match (dir, path) {
        ("", path) => path.to_owned(),
        (dir, "") => dir.to_owned(),
        (dir, path) => format!("{dir}/{path}"),
    }
}

/// Joins a path with `.` and `..` to a directory; `None` if it leaves the worktree.
fn relative(dir: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
