//! Detects the language or format of a file.

use std::fmt;
use std::sync::OnceLock;

use memod_base::types::file_name;
use memod_text::secrets::Syntax;
use tree_sitter_language::LanguageFn;

use self::text_formats::{TEXT_FORMATS, text_format_by_name};
use super::structure::NodeKindMarks;
use crate::c_family::headers;
use crate::components::ComponentCode;
use crate::definitions::tags::TagQuery;

mod content_formats;
mod text_formats;

/// The format of a file, as far as the name and the first line of the file show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// A document with headings.
    Document(Markup),
    /// Source code in one of the [`LANGUAGES`].
    Code(&'static Language),
    /// Any other text, with the name of its format, such as `toml` or `sql`, if the format is known.
    Text(Option<&'static str>),
}

/// The content of a format. The classes of a file depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatGroup {
    /// Text for people.
    Prose,
    /// Settings and data.
    Data,
    /// Source code.
    Code,
    /// An unknown format, or none, as of `LICENSE`.
    Other,
}

impl FormatGroup {
    /// Returns the group of the format with this name, as [`FileFormat::name`] returns it.
    pub fn from_format_name(name: &str) -> Self {
        let has_markup = || DOCUMENTS.iter().any(|(markup, _)| markup.name() == name);
        match text_format_by_name(name) {
            Some(format) => format.group,
            None if language_by_name(name).is_some() => Self::Code,
            None if has_markup() => Self::Prose,
            None => Self::Other,
        }
    }
}

/// The markup of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    /// Markdown in any of its dialects.
    Markdown,
    /// reStructuredText.
    Rst,
    /// AsciiDoc.
    AsciiDoc,
    /// A Jupyter notebook, whose cells are Markdown and code.
    Notebook,
}

impl Markup {
    fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Rst => "rst",
            Self::AsciiDoc => "asciidoc",
            Self::Notebook => "notebook",
        }
    }
}

impl FileFormat {
    /// Returns the name of the format, as `--lang` takes it and as it is stored with the blob; `None` for text of an unknown
    /// format.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Document(markup) => Some(markup.name()),
            Self::Code(language) => Some(language.name),
            Self::Text(name) => name,
        }
    }

    /// Returns whether a word without quotes is a value or an expression in this format.
    pub fn syntax(self) -> Syntax {
        match self {
            Self::Code(language) if language.name == "bash" => Syntax::Prose,
            Self::Code(_) => Syntax::Code,
            Self::Text(Some(name)) => text_format_by_name(name).map_or(Syntax::Prose, |format| format.syntax),
            Self::Document(_) | Self::Text(None) => Syntax::Prose,
        }
    }
}

/// A programming language: its file names, its grammar and its tag query.
pub struct Language {
    /// Name on the command line, in the database and in `grammars/`.
    pub name: &'static str,
    /// The separator between the names in the title of a definition: `::` or `.`.
    pub separator: &'static str,
    files: FileNames,
    interpreters: &'static str,
    grammar: LanguageFn,
    tag_sources: &'static [&'static str],
    tag_query: OnceLock<Result<TagQuery, String>>,
    node_marks: OnceLock<Option<NodeKindMarks>>,
}

impl Language {
    /// Returns the tag query, compiled on first use.
    ///
    /// # Errors
    /// Returns a sentence that says why the grammar or its query does not load. This never happens for [`LANGUAGES`], because
    /// a test loads each of them.
    pub(super) fn tag_query(&self) -> Result<&TagQuery, String> {
        self.tag_query
            .get_or_init(|| TagQuery::compile(self.name, self.grammar, &self.tag_sources.concat()))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Returns the marks of the kinds of nodes in the grammar, created on first use; `None` for a language whose uses are not
    /// resolved.
    pub(super) fn node_marks(&self) -> Option<&NodeKindMarks> {
        self.node_marks.get_or_init(|| NodeKindMarks::from_grammar(self.name, self.grammar.into())).as_ref()
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The file names of one format, and the aliases of the format's name; each field has words separated by spaces.
struct FileNames {
    aliases: &'static str,
    extensions: &'static str,
    names: &'static str,
}

/// The markups of documents with headings, each with its file names.
static DOCUMENTS: [(Markup, FileNames); 4] = [
    (Markup::Markdown, file_names("md", "md markdown mdx", "")),
    (Markup::Rst, file_names("restructuredtext", "rst rest", "")),
    (Markup::AsciiDoc, file_names("adoc", "adoc asciidoc asc", "")),
    (Markup::Notebook, file_names("jupyter", "ipynb", "")),
];

const fn file_names(aliases: &'static str, extensions: &'static str, names: &'static str) -> FileNames {
    FileNames { aliases, extensions, names }
}

#[allow(clippy::too_many_arguments, reason = "a row of the table below")]
const fn code_language(
    name: &'static str,
    aliases: &'static str,
    extensions: &'static str,
    names: &'static str,
    interpreters: &'static str,
    join: &'static str,
    grammar: LanguageFn,
    tag_sources: &'static [&'static str],
) -> Language {
    let files = file_names(aliases, extensions, names);
    Language {
        name,
        separator: join,
        files,
        interpreters,
        grammar,
        tag_sources,
        tag_query: OnceLock::new(),
        node_marks: OnceLock::new(),
    }
}

/// Every language that has a grammar and a tag query.
// Each line has: name, aliases, extensions, file names, interpreters, separator, grammar, queries.
#[rustfmt::skip]
pub static LANGUAGES: [Language; 23] = [
    code_language("rust", "rs", "rs", "", "", "::", tree_sitter_rust::LANGUAGE, &[memod_grammars::RUST]),
    code_language("python", "py", "py pyi pyw", "SConstruct wscript", "python pypy", ".", tree_sitter_python::LANGUAGE, &[memod_grammars::PYTHON]),
    code_language("javascript", "js jsx node", "js mjs cjs jsx", "", "node", ".", tree_sitter_javascript::LANGUAGE, &[memod_grammars::JAVASCRIPT_SHARED, memod_grammars::JAVASCRIPT_JSX, memod_grammars::JAVASCRIPT]),
    code_language("typescript", "ts", "ts mts cts", "", "deno bun ts-node", ".", tree_sitter_typescript::LANGUAGE_TYPESCRIPT, &[memod_grammars::JAVASCRIPT_SHARED, memod_grammars::TYPESCRIPT]),
    code_language("tsx", "", "tsx", "", "tsx", ".", tree_sitter_typescript::LANGUAGE_TSX, &[memod_grammars::JAVASCRIPT_SHARED, memod_grammars::JAVASCRIPT_JSX, memod_grammars::TYPESCRIPT]),
    code_language("vue", "", "vue", "", "", ".", tree_sitter_typescript::LANGUAGE_TYPESCRIPT, &[memod_grammars::JAVASCRIPT_SHARED, memod_grammars::TYPESCRIPT, memod_grammars::COMPONENT]),
    code_language("svelte", "", "svelte", "", "", ".", tree_sitter_typescript::LANGUAGE_TYPESCRIPT, &[memod_grammars::JAVASCRIPT_SHARED, memod_grammars::TYPESCRIPT, memod_grammars::COMPONENT]),
    code_language("astro", "", "astro", "", "", ".", tree_sitter_typescript::LANGUAGE_TSX, &[memod_grammars::JAVASCRIPT_SHARED, memod_grammars::TYPESCRIPT, memod_grammars::COMPONENT]),
    code_language("go", "golang", "go", "", "", ".", tree_sitter_go::LANGUAGE, &[memod_grammars::GO]),
    code_language("java", "", "java", "", "", ".", tree_sitter_java::LANGUAGE, &[memod_grammars::JAVA]),
    code_language("c", "", "c h", "", "", "::", tree_sitter_c::LANGUAGE, &[memod_grammars::C]),
    code_language("cpp", "c++ cxx", "cpp cc cxx c++ C hpp hh hxx h++ ipp tpp inl ino cu cuh", "", "", "::", tree_sitter_cpp::LANGUAGE, &[memod_grammars::C, memod_grammars::CPP]),
    code_language("c-sharp", "c# cs csharp", "cs csx", "", "dotnet-script", ".", tree_sitter_c_sharp::LANGUAGE, &[memod_grammars::C_SHARP]),
    code_language("ruby", "rb", "rb rake gemspec ru podspec", "Rakefile Gemfile Vagrantfile Guardfile Podfile Fastfile", "ruby jruby", "::", tree_sitter_ruby::LANGUAGE, &[memod_grammars::RUBY]),
    code_language("php", "", "php phtml php5 php7 php8", "", "php", "::", tree_sitter_php::LANGUAGE_PHP, &[memod_grammars::PHP]),
    code_language("bash", "sh shell zsh", "sh bash zsh ksh bats ebuild", ".bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .zshenv PKGBUILD", "sh bash zsh ksh dash ash bats", ".", tree_sitter_bash::LANGUAGE, &[memod_grammars::BASH]),
    code_language("kotlin", "kt", "kt kts", "", "kotlin", ".", tree_sitter_kotlin_ng::LANGUAGE, &[memod_grammars::KOTLIN]),
    code_language("swift", "", "swift", "", "swift", ".", tree_sitter_swift::LANGUAGE, &[memod_grammars::SWIFT]),
    code_language("scala", "", "scala sc sbt", "", "scala", ".", tree_sitter_scala::LANGUAGE, &[memod_grammars::SCALA]),
    code_language("lua", "", "lua rockspec", ".luacheckrc", "lua luajit", ".", tree_sitter_lua::LANGUAGE, &[memod_grammars::LUA]),
    code_language("elixir", "ex", "ex exs", "", "elixir", ".", tree_sitter_elixir::LANGUAGE, &[memod_grammars::ELIXIR]),
    code_language("haskell", "hs", "hs hs-boot", "", "runhaskell runghc stack", ".", tree_sitter_haskell::LANGUAGE, &[memod_grammars::HASKELL]),
    code_language("zig", "", "zig zon", "", "", ".", tree_sitter_zig::LANGUAGE, &[memod_grammars::ZIG]),
];

/// Returns the format of `path` (with `/` separators).
///
/// The whole file name decides first, then the extension, then the name up to its first dot (`Dockerfile.dev`); if the name
/// matches no format, the `#!` interpreter in `first_line` decides.
pub fn detect_format(path: &str, first_line: &str) -> FileFormat {
    let name = file_name(path);
    let is_signature = first_line.starts_with("-----BEGIN ");
    find_format(|files| has_word(files.names, name))
        .or_else(|| {
            let (stem, extension) = name.rsplit_once('.')?;
            if stem.is_empty() {
                return None;
            }
            format_by_extension(extension).or_else(|| format_by_extension(&extension.to_ascii_lowercase()))
        })
        .map(|found| match found {
            // `.asc` is the ending of signatures and keys, too.
            FileFormat::Document(Markup::AsciiDoc) if is_signature => FileFormat::Text(None),
            _ => found,
        })
        .or_else(|| {
            let (stem, _) = name.split_once('.')?;
            find_format(|files| has_word(files.names, stem))
        })
        .or_else(|| format_by_interpreter(first_line))
        .unwrap_or(FileFormat::Text(None))
}

/// File extension of C headers. Some of these files contain C++.
pub(super) const C_HEADER: &str = ".h";

/// Returns the format of a file by its name and its text, which distinguishes the formats of one extension.
pub(crate) fn format_of(path: &str, text: &str) -> FileFormat {
    let by_name = detect_format(path, text.lines().next().unwrap_or_default());
    content_formats::refine_format(path, by_name, text)
}

/// Returns the language of `text`: C++ for a header of C whose content only C++ has, otherwise `language`.
pub(super) fn refine_language(language: &'static Language, path: &str, text: &str) -> &'static Language {
    let is_header = language.name == "c" && path.ends_with(C_HEADER);
    if is_header && headers::is_cpp_header(text) {
        language_by_name("cpp").unwrap_or(language)
    } else {
        language
    }
}

/// Returns the language whose grammar and query read a component: that of TSX if a script has JSX.
pub(super) fn language_of_component(
    language: &'static Language,
    component: Option<&ComponentCode>,
) -> &'static Language {
    let has_jsx = component.is_some_and(|component| component.has_jsx);
    if has_jsx { language_by_name("tsx").unwrap_or(language) } else { language }
}

/// Returns the names of formats that `--lang` takes, without aliases, sorted.
pub fn list_format_names() -> Vec<&'static str> {
    let code = LANGUAGES.iter().map(|language| language.name);
    let text = TEXT_FORMATS.iter().map(|format| format.name);
    let documents = DOCUMENTS.iter().map(|(markup, _)| markup.name());
    let mut names: Vec<_> = code.chain(text).chain(documents).collect();
    names.sort_unstable();
    names
}

/// Returns the canonical name of the format that `word` means: its name, an alias or an extension (`ts`, `py`, `c++`), in
/// upper or lower case; `None` if no format matches.
pub fn canonical_format_name(word: &str) -> Option<&'static str> {
    let word = word.trim_start_matches('.').to_ascii_lowercase();
    let named = list_format_names().into_iter().find(|name| *name == word);
    named
        .or_else(|| find_format(|files| has_word(files.aliases, &word))?.name())
        .or_else(|| find_format(|files| has_word(files.extensions, &word))?.name())
}

/// Least similarity (Jaro-Winkler, 0 to 1) of a suggested format name.
const MIN_SIMILARITY: f64 = 0.8;

/// Returns the format name whose spelling is most similar to `word`, as a suggestion; `None` if none is similar enough.
pub fn suggest_format_name(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let alike = list_format_names().into_iter().map(|name| (strsim::jaro_winkler(name, &word), name));
    let (likeness, name) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness >= MIN_SIMILARITY).then_some(name)
}

pub(super) fn language_by_name(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.name == name)
}

fn find_format(is_match: impl Fn(&FileNames) -> bool) -> Option<FileFormat> {
    let document = DOCUMENTS.iter().find(|(_, files)| is_match(files));
    document
        .map(|(markup, _)| FileFormat::Document(*markup))
        .or_else(|| LANGUAGES.iter().find(|language| is_match(&language.files)).map(FileFormat::Code))
        .or_else(|| {
            let format = TEXT_FORMATS.iter().find(|format| is_match(&format.files))?;
            Some(FileFormat::Text(Some(format.name)))
        })
}

fn format_by_extension(extension: &str) -> Option<FileFormat> {
    find_format(|files| has_word(files.extensions, extension))
}

fn format_by_interpreter(first_line: &str) -> Option<FileFormat> {
    let mut words = first_line.trim_start_matches('\u{feff}').strip_prefix("#!")?.split_whitespace();
    let mut name = program_name(words.next()?);
    if name == "env" {
        name = program_name(words.find(|word| !word.starts_with('-') && !word.contains('='))?);
    }
    LANGUAGES.iter().find(|language| has_word(language.interpreters, &name)).map(FileFormat::Code)
}

/// Returns the name of a program without its directory and version.
fn program_name(word: &str) -> String {
    let base = file_name(word);
    base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned()
}

fn has_word(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word && !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_extensions_and_interpreters_decide() {
        #[rustfmt::skip]
        let cases = [
            ("README.md", "", "markdown"), ("docs/a.MDX", "", "markdown"), ("src/lib.rs", "", "rust"),
            ("a.b/x.d.ts", "", "typescript"), ("App.tsx", "", "tsx"), ("main.GO", "", "go"),
            ("bin/run", "#!/usr/bin/env python3.11", "python"), ("bin/run", "#! /usr/bin/python3 -u", "python"),
            ("bin/run", "#!/usr/bin/env -S A=1 node --x", "javascript"), ("bin/run", "#!", "-"),
            ("bin/run", "\u{feff}#!/usr/bin/pypy", "python"), ("a.toml", "#!/bin/python", "toml"),
            ("Dockerfile", "", "dockerfile"), ("x/Dockerfile.dev", "", "dockerfile"), ("Cargo.lock", "", "toml"),
            ("Makefile.am", "", "makefile"), ("LICENSE", "MIT", "-"), ("", "", "-"), (".", "", "-"),
            ("docs/index.rst", "", "rst"), ("a.adoc", "", "asciidoc"), ("a.asc", "= A", "asciidoc"),
            ("a.asc", "-----BEGIN PGP SIGNATURE-----", "-"), ("a.ipynb", "{", "notebook"),
            ("rs", "", "-"), (".rs", "", "-"), ("a.", "", "-"), ("a. ", "", "-"), ("日本.py", "", "python"),
        ];
        for (path, first_line, expected) in cases {
            assert_eq!(
                detect_format(path, first_line).name().unwrap_or("-"),
                expected,
                "{path} {first_line}"
            );
        }
    }

    #[test]
    fn words_of_the_command_line_are_understood() {
        let cases = [
            ("ts", "typescript"),
            ("PY", "python"),
            (".rs", "rust"),
            ("yml", "yaml"),
            ("md", "markdown"),
            ("c++", "cpp"),
            ("C#", "c-sharp"),
            ("cs", "c-sharp"),
            ("sh", "bash"),
        ];
        for (word, expected) in cases {
            assert_eq!(canonical_format_name(word), Some(expected), "{word}");
        }
        assert_eq!(canonical_format_name(""), None);
        assert_eq!(canonical_format_name("klingon"), None);
        for (word, expected) in [("pythn", "python"), ("Typscript", "typescript"), ("ruts", "rust")] {
            assert_eq!(suggest_format_name(word), Some(expected), "{word}");
        }
        assert_eq!([suggest_format_name(""), suggest_format_name("#")], [None, None]);
    }

    #[test]
    fn a_header_with_words_of_cpp_is_cpp() {
        let c = language_by_name("c").unwrap();
        let cases = [
            ("a.h", "class A;\n", "cpp"),
            ("a.h", "#pragma once\r\n  namespace a {\n", "cpp"),
            ("a.h", "/* no class here */\nstruct a;\n", "c"),
            ("a.c", "class A;\n", "c"),
            ("a.h", "", "c"),
        ];
        for (path, text, expected) in cases {
            assert_eq!(refine_language(c, path, text).name, expected, "{text}");
        }
    }

    #[test]
    fn no_extension_alias_or_name_is_claimed_twice() {
        let code = LANGUAGES.iter().map(|language| &language.files);
        let texts = TEXT_FORMATS.iter().map(|format| &format.files);
        let documents = DOCUMENTS.iter().map(|(_, files)| files);
        let all: Vec<_> = code.chain(texts).chain(documents).collect();
        let columns: [fn(&FileNames) -> &'static str; 3] =
            [|files| files.aliases, |files| files.extensions, |files| files.names];
        for column in columns {
            let mut words: Vec<_> = all.iter().flat_map(|files| column(files).split_whitespace()).collect();
            words.sort_unstable();
            let twice: Vec<_> = words.windows(2).filter(|pair| pair[0] == pair[1]).collect();
            assert_eq!(twice, Vec::<&[&str]>::new());
        }
    }
}
