//! Finds the files of a module by the rules of each language.

use memod_base::types::{ImportedName, file_name};

use super::FileNumber;
use super::path_index::PathIndex;
use super::split_path::{join_path, resolve_relative, split_path};
use super::use_place::{C_SOURCE_ENDINGS, LanguageFamily};

impl PathIndex {
    /// Returns whether an import in the file `importer` means the file `exporter`, or a name in it.
    pub fn imports_file(&self, importer: FileNumber, import: &ImportedName, exporter: FileNumber) -> bool {
        let family = LanguageFamily::from_path(self.path_of(importer));
        self.find_module_files(family, &import.module, importer).contains(&exporter)
            || self.find_module_files(family, &import.full_module(), importer).contains(&exporter)
    }

    /// Returns the files of the module that the text of `importer` names.
    pub fn files_of_module(&self, importer: FileNumber, module: &str) -> Vec<FileNumber> {
        self.find_module_files(LanguageFamily::from_path(self.path_of(importer)), module, importer)
    }

    /// Returns whether a path in the text of the file `from` means the file `module` without an import, as `crate::a` does in
    /// Rust.
    pub fn names_file(&self, from: FileNumber, path: &str, module: FileNumber) -> bool {
        let family = LanguageFamily::from_path(self.path_of(from));
        family == LanguageFamily::Rust
            && self.find_module_files(family, &path.replace('.', "::"), from).contains(&module)
    }

    /// Returns the files of the module that the text of `from` names; none if the module is of another library.
    pub(super) fn find_module_files(
        &self,
        family: LanguageFamily,
        module: &str,
        from: FileNumber,
    ) -> Vec<FileNumber> {
        if module.is_empty() {
            return Vec::new();
        }
        match family {
            LanguageFamily::Python => self.python_files(module, from),
            LanguageFamily::JavaScript => self.find_imported_files(module, from),
            LanguageFamily::Go => self.go_files(module, from),
            LanguageFamily::Rust => self.rust_files(module, from),
            LanguageFamily::Java => self.java_files(module),
            LanguageFamily::C => self.c_files(module, from),
            LanguageFamily::Terraform => self.terraform_files(module, from),
            LanguageFamily::Protobuf => self.protobuf_files(module, from),
            _ => Vec::new(),
        }
    }

    /// Returns the files of `a.b`: `a/b.py` and `a/b/__init__.py` below a directory that is in no package; of several, those
    /// nearest to the importing file.
    fn python_files(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let n_dots = module.len() - module.trim_start_matches('.').len();
        let path = module[n_dots..].replace('.', "/");
        if n_dots == 0 {
            let ends = [path.clone(), format!("{path}/__init__")];
            let found = ends.iter().flat_map(|end| {
                let found = self.files_ending_with(end).into_iter();
                found.filter(|file| self.is_root_of_packages(self.path_of(*file), end))
            });
            return self.nearest_files(&found.collect::<Vec<_>>(), from);
        }
        let mut dir = self.dir_of(from);
        for _ in 1..n_dots {
            dir = split_path(dir).0;
        }
        let base = join_path(dir, &path);
        let of_dir = join_path(&base, "__init__.py");
        [format!("{base}.py"), format!("{base}.pyi"), of_dir]
            .iter()
            .filter_map(|path| self.number_of(path))
            .collect()
    }

    /// Returns whether the directory in which the path of a Python module begins is in no package itself.
    fn is_root_of_packages(&self, path: &str, module: &str) -> bool {
        let bare = path.rsplit_once('.').map_or(path, |(bare, _)| bare);
        let root = bare.strip_suffix(module).unwrap_or_default().trim_end_matches('/');
        self.number_of(&join_path(root, "__init__.py")).is_none()
    }

    /// Returns the files that share the most directories with `from`.
    pub(super) fn nearest_files(&self, files: &[FileNumber], from: FileNumber) -> Vec<FileNumber> {
        let own = self.dir_of(from);
        let n_shared: Vec<usize> =
            files.iter().map(|file| count_shared_dirs(self.dir_of(*file), own)).collect();
        let most = n_shared.iter().max();
        files.iter().zip(&n_shared).filter(|(_, n)| Some(*n) == most).map(|(file, _)| *file).collect()
    }

    /// Returns the words of which an import of a file of JavaScript contains one, and the files that may import it without a
    /// word: those near an `index`.
    pub fn words_of_imports(&self, file: FileNumber) -> (Vec<String>, Vec<FileNumber>) {
        let path = self.path_of(file);
        let (dir, name) = split_path(path);
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        let mut words = self.module_resolver().words_meaning(path);
        if stem != "index" {
            words.push(stem.to_owned());
            return (words, Vec::new());
        }
        words.push(split_path(dir).1.to_owned());
        let near = self.all_files().filter(|(_, other)| {
            let own = split_path(other).0;
            own == dir || split_path(own).0 == dir
        });
        let near = near.map(|(number, _)| number).collect();
        words.retain(|word| !word.is_empty());
        (words, near)
    }

    /// Returns the files of an import path in a module of the repository, or in `vendor`. In a file outside of known modules,
    /// returns the files of the directory that the longest end of the path names, unless the first part has no dot, as in the
    /// standard library.
    fn go_files(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        if let Some((dir, rest)) = self.packages.go_module(module) {
            return self.go_files_in(&join_path(dir, rest));
        }
        if self.packages.is_in_go_module(self.dir_of(from)) {
            return self.go_files_in(&join_path("vendor", module));
        }
        if !module.split('/').next().is_some_and(|first| first.contains('.')) {
            return Vec::new();
        }
        let mut end = module;
        loop {
            let found: Vec<FileNumber> =
                self.files_in_dirs(end).into_iter().filter(|file| self.is_go(*file)).collect();
            if !found.is_empty() || end.is_empty() {
                return found;
            }
            // The last end that is tried is empty: the module itself may be the top directory.
            end = end.split_once('/').map_or("", |(_, rest)| rest);
        }
    }

    fn go_files_in(&self, dir: &str) -> Vec<FileNumber> {
        let files = self.files_in_dirs(dir).into_iter();
        files.filter(|file| self.is_go(*file) && self.dir_of(*file) == dir).collect()
    }

    fn is_go(&self, file: FileNumber) -> bool {
        self.path_of(file).ends_with(".go")
    }

    /// Returns the files of `crate::a::b`, `super::b`, `self::b`, a sibling module, or a module of another crate of the
    /// repository.
    fn rust_files(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let mut parts: Vec<&str> = module.split("::").collect();
        let first = parts.remove(0);
        let (base, is_relative) = match first {
            "crate" => (self.crate_root(from), false),
            "self" => (self.module_dir(from), true),
            "super" => {
                let mut dir = split_path(self.module_dir(from)).0;
                while parts.first() == Some(&"super") {
                    parts.remove(0);
                    dir = split_path(dir).0;
                }
                // In `mod tests` of a file, `super` means that file.
                let own = if parts.is_empty() { vec![from] } else { Vec::new() };
                return [own, self.rust_module(dir, &parts)].concat();
            }
            name => {
                let dir = self.module_dir(from);
                let sibling = self.rust_module(&join_path(dir, name), &parts);
                if !sibling.is_empty() {
                    return sibling;
                }
                if let Some(dir) = self.packages.crate_dir(name) {
                    return self.rust_module(&join_path(dir, "src"), &parts);
                }
                let named = [name.replace('_', "-"), name.to_owned()];
                let roots = named.iter().flat_map(|name| self.files_ending_with(&format!("{name}/src/lib")));
                return roots.flat_map(|root| self.rust_module(self.dir_of(root), &parts)).collect();
            }
        };
        let own = if is_relative && parts.is_empty() { vec![from] } else { Vec::new() };
        [own, self.rust_module(base, &parts)].concat()
    }

    /// Returns the file of a module below a directory: the deepest one that exists, because the last part of the path may be
    /// a module or type inside of a file.
    fn rust_module(&self, dir: &str, parts: &[&str]) -> Vec<FileNumber> {
        for n_parts in (0..=parts.len()).rev() {
            // One remaining part may be a module or type inside of the file; two may not.
            if parts.len() - n_parts > 1 {
                break;
            }
            let base = parts[..n_parts].iter().fold(dir.to_owned(), |path, part| join_path(&path, part));
            let names = ["mod.rs", "lib.rs", "main.rs"].map(|name| join_path(&base, name));
            let all = [format!("{base}.rs")].into_iter().chain(names);
            let found: Vec<FileNumber> = all.filter_map(|path| self.number_of(&path)).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Returns the nearest directory above a file that has a `lib.rs` or `main.rs`; the top directory if none has.
    pub(super) fn crate_root(&self, from: FileNumber) -> &str {
        let mut dir = self.dir_of(from);
        loop {
            let is_root =
                ["lib.rs", "main.rs"].iter().any(|name| self.number_of(&join_path(dir, name)).is_some());
            if is_root || dir.is_empty() {
                return dir;
            }
            dir = split_path(dir).0;
        }
    }

    /// Returns the directory that holds the modules inside of a file's module.
    pub(super) fn module_dir(&self, file: FileNumber) -> &str {
        let path = self.path_of(file);
        let (dir, name) = split_path(path);
        if matches!(name, "mod.rs" | "lib.rs" | "main.rs") {
            dir
        } else {
            path.strip_suffix(".rs").unwrap_or(path)
        }
    }

    /// Returns the file of the class `a.b.C`, or the files of the package `a.b`.
    fn java_files(&self, module: &str) -> Vec<FileNumber> {
        let path = module.replace('.', "/");
        let found = self.files_ending_with(&path);
        if found.is_empty() { self.files_in_dirs(&path) } else { found }
    }

    /// Returns the header of this name nearest to the including file, and the sources of the same name nearest to the header:
    /// `dict.h` of a vendored library is a different header. Returns no files if several headers are equally near.
    fn c_files(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let name = file_name(module);
        let (mut headers, sources): (Vec<_>, Vec<_>) =
            self.files_ending_with_stem(module).into_iter().partition(|file| self.is_header(*file));
        headers.retain(|file| split_path(self.path_of(*file)).1 == name);
        let beside = resolve_relative(self.dir_of(from), module).and_then(|path| self.number_of(&path));
        let mut files = beside.map_or_else(|| self.nearest_files(&headers, from), |file| vec![file]);
        if files.len() > 1 {
            return Vec::new(); // the options of the compiler decide which header is meant
        }
        let sources = self.nearest_files(&sources, files.first().copied().unwrap_or(from));
        files.extend(sources);
        files.dedup();
        files
    }

    /// Returns whether a file of C or C++ is meant to be included, by its ending: `.h`, `.hpp`, `.inl`.
    pub(super) fn is_header(&self, file: FileNumber) -> bool {
        is_header(self.path_of(file))
    }

    /// Returns the files of the directory of a Terraform module: `../network`.
    fn terraform_files(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let Some(dir) = resolve_relative(self.dir_of(from), module) else { return Vec::new() };
        self.files_in_dirs(&dir).into_iter().filter(|file| self.dir_of(*file) == dir).collect()
    }

    /// Returns the file of an import of Protocol Buffers: the nearest file whose path ends with the imported one, because the directory
    /// where that path begins is an argument of the compiler.
    fn protobuf_files(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let bare = module.strip_suffix(".proto").unwrap_or(module);
        let mut files = self.files_ending_with(bare);
        files.retain(|file| self.path_of(*file).ends_with(".proto"));
        self.nearest_files(&files, from)
    }

    fn files_ending_with_stem(&self, path: &str) -> Vec<FileNumber> {
        let bare = path.rsplit_once('.').map_or(path, |(bare, _)| bare);
        self.files_ending_with(bare.trim_start_matches("../").trim_start_matches("./"))
    }
}

/// Returns whether a file of C or C++ is meant to be included, by its path; see [`PathIndex::is_header`].
pub(super) fn is_header(path: &str) -> bool {
    !C_SOURCE_ENDINGS.contains(&path.rsplit_once('.').map_or("", |(_, ending)| ending))
}

fn count_shared_dirs(left: &str, right: &str) -> usize {
    left.split('/').zip(right.split('/')).take_while(|(one, other)| one == other).count()
}
