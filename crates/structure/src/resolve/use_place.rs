//! Describes the place of a use: its language, and the definitions around it.

use memod_base::types::{DeclaredItem, DeclaredRole, FileStructure, last_part};

use super::path_index::FileNumber;
use super::split_path::split_path;

/// Endings of files that are of C++ and not of C.
pub(super) const CPP_ENDINGS: [&str; 15] =
    ["C", "c++", "cc", "cpp", "cu", "cuh", "cxx", "h++", "hh", "hpp", "hxx", "inl", "ino", "ipp", "tpp"];

/// Endings of files of C and C++ that are compiled, and not included by other files.
pub(super) const C_SOURCE_ENDINGS: [&str; 8] = ["C", "c", "c++", "cc", "cpp", "cu", "cxx", "ino"];

/// A group of languages whose files can use each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LanguageFamily {
    Python,
    JavaScript,
    Go,
    Rust,
    Java,
    C,
    Terraform,
    Protobuf,
    GraphQl,
    Sql,
    CMake,
    Dockerfile,
    Makefile,
    CSharp,
    Dart,
    Elixir,
    Kotlin,
    Lua,
    ObjectiveC,
    Php,
    Ruby,
    Scala,
    Swift,
    Zig,
    Other,
}

impl LanguageFamily {
    pub(crate) fn from_path(path: &str) -> Self {
        match path.rsplit('.').next().unwrap_or_default() {
            "py" | "pyi" | "pyw" | "ipynb" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" | "astro" => {
                Self::JavaScript
            }
            "go" => Self::Go,
            "rs" => Self::Rust,
            "java" => Self::Java,
            "c" | "h" => Self::C,
            ending if CPP_ENDINGS.contains(&ending) => Self::C,
            "tf" | "tfvars" | "hcl" => Self::Terraform,
            "proto" => Self::Protobuf,
            "graphql" | "gql" => Self::GraphQl,
            "sql" | "ddl" => Self::Sql,
            "cmake" => Self::CMake,
            "mk" | "mak" | "make" => Self::Makefile,
            "cs" | "csx" => Self::CSharp,
            "dart" => Self::Dart,
            "ex" | "exs" => Self::Elixir,
            "kt" | "kts" => Self::Kotlin,
            "lua" | "rockspec" => Self::Lua,
            "m" | "mm" => Self::ObjectiveC,
            "php" | "phtml" => Self::Php,
            "rb" | "rake" | "gemspec" | "ru" | "podspec" => Self::Ruby,
            "scala" | "sc" | "sbt" => Self::Scala,
            "swift" => Self::Swift,
            "zig" => Self::Zig,
            _ => Self::from_file_name(split_path(path).1),
        }
    }

    /// Returns the family of a file whose name, and not its ending, shows the format.
    fn from_file_name(name: &str) -> Self {
        let stem = name.split('.').next().unwrap_or_default();
        match (name, stem) {
            ("CMakeLists.txt", _) => Self::CMake,
            (_, "Dockerfile" | "Containerfile") => Self::Dockerfile,
            (_, "Makefile" | "makefile" | "GNUmakefile") => Self::Makefile,
            _ if name.ends_with(".dockerfile") || name.ends_with(".containerfile") => Self::Dockerfile,
            _ => Self::Other,
        }
    }

    /// Returns whether the names of a format mean definitions by rules of their own, because it has no scopes, values or members.
    pub(crate) fn is_declarative(self) -> bool {
        use LanguageFamily::{CMake, Dockerfile, GraphQl, Makefile, Protobuf, Sql, Terraform};
        matches!(self, Terraform | Protobuf | GraphQl | Sql | CMake | Dockerfile | Makefile)
    }

    /// Returns whether the uses of a language are found by name alone, because its scopes and types are not read.
    pub(crate) fn is_by_name(self) -> bool {
        use LanguageFamily::{CSharp, Dart, Elixir, Kotlin, Lua, ObjectiveC, Php, Ruby, Scala, Swift, Zig};
        matches!(self, CSharp | Dart | Elixir | Kotlin | Lua | ObjectiveC | Php | Ruby | Scala | Swift | Zig)
    }

    /// Returns whether code of this family uses definitions of another family: Objective-C those of C, whose headers (`.h`) are its own.
    pub(crate) fn sees_family(self, other: Self) -> bool {
        self == other || self == Self::ObjectiveC && other == Self::C
    }

    /// Returns whether a use of a member needs no receiver inside of its type.
    pub(crate) fn has_implicit_self(self) -> bool {
        matches!(self, Self::Java | Self::C)
    }

    /// Returns whether a variable that a block declares is not known after the block.
    pub(super) fn has_block_scopes(self) -> bool {
        matches!(self, Self::Go | Self::Rust | Self::Java | Self::C)
    }

    /// Returns whether the path of a module may also be a type.
    pub(super) fn has_types_as_modules(self) -> bool {
        matches!(self, Self::Rust | Self::Java | Self::Python | Self::JavaScript)
    }

    /// Returns whether the text writes a type by a path of modules, namespaces or packages that need no import.
    pub(super) fn has_qualified_types(self) -> bool {
        matches!(self, Self::Rust | Self::Java | Self::C)
    }

    pub(super) fn separator(self) -> &'static str {
        if self == Self::Rust { "::" } else { "." }
    }
}

/// The place of a use.
pub(super) struct UsePlace<'a> {
    pub(super) file: FileNumber,
    pub(super) structure: &'a FileStructure,
    pub(super) family: LanguageFamily,
    /// The name as the text writes it at the use.
    pub(super) written: &'a str,
    /// Index of the innermost definition around the use; `None` at the top of the file.
    pub(super) within: Option<u32>,
    /// Line of the use, 1-based; `None` for a place in a definition of which no line is known.
    pub(super) line: Option<u32>,
    /// Whether the use is a call.
    pub(super) is_call: bool,
    /// Number of values and functions that may still be followed to a type.
    pub(super) steps: u32,
}

impl UsePlace<'_> {
    /// Returns a place inside of a definition of another file, from which types are followed as far as from this one.
    pub(super) fn in_file<'b>(
        &'b self,
        file: FileNumber,
        structure: &'b FileStructure,
        within: Option<u32>,
    ) -> UsePlace<'b> {
        let line = structure.find_item(within).map(|around| around.name_at.0);
        UsePlace { file, structure, within, line, ..*self }
    }

    /// Returns whether the name is private to a class, as in `this.#token`.
    pub(super) fn has_private_name(&self) -> bool {
        self.family == LanguageFamily::JavaScript && self.written.starts_with('#')
    }

    /// Returns the indices of the definitions around the place, innermost first.
    pub(super) fn definitions_around(&self) -> impl Iterator<Item = u32> {
        self.structure.enclosing_ids(self.within)
    }

    /// Returns whether a JavaScript function has methods: `View.prototype.lookup = function () {}`.
    fn has_methods(&self, function: &DeclaredItem) -> bool {
        self.family == LanguageFamily::JavaScript
            && self
                .structure
                .declared
                .iter()
                .any(|other| other.role == DeclaredRole::Member && other.owner_title() == function.names)
    }

    /// Returns the own name of the enclosing type.
    pub(super) fn owner_name(&self) -> Option<String> {
        self.owner_title().map(|title| last_part(&title).to_owned())
    }

    /// Returns the title of the enclosing type.
    pub(super) fn owner_title(&self) -> Option<String> {
        let around = self.structure.enclosing_items(self.within);
        let mut owners = around.filter_map(|around| match around.role {
            DeclaredRole::Type | DeclaredRole::Scope => Some(around.title.clone()),
            DeclaredRole::Member | DeclaredRole::Field => {
                Some(around.owner_title().to_owned()).filter(|owner| !last_part(owner).is_empty())
            }
            DeclaredRole::Free if self.has_methods(around) => Some(around.names.clone()),
            DeclaredRole::Free | DeclaredRole::Module => None,
        });
        owners.next()
    }
}
