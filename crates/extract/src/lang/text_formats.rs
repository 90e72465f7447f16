//! Lists the formats without a grammar, whose files are cut by lines.

use memod_text::secrets::Syntax;

use super::{FileNames, FormatGroup, file_names};

/// A format without a grammar.
pub(super) struct TextFormat {
    /// Name on the command line and in the database.
    pub(super) name: &'static str,
    pub(super) files: FileNames,
    pub(super) group: FormatGroup,
    /// Whether a word without quotes is a value, as in prose, or an expression.
    pub(super) syntax: Syntax,
}

const fn text_format(
    name: &'static str,
    aliases: &'static str,
    extensions: &'static str,
    names: &'static str,
    group: FormatGroup,
    syntax: Syntax,
) -> TextFormat {
    TextFormat { name, files: file_names(aliases, extensions, names), group, syntax }
}

/// The formats without a grammar. Each row has: name, aliases, extensions, file names, what the files hold, and how a word without
/// quotes is read.
#[rustfmt::skip]
pub(super) static TEXT_FORMATS: &[TextFormat] = &[
    text_format("batch", "bat cmd", "bat cmd", "", FormatGroup::Code, Syntax::Prose),
    text_format("clojure", "clj", "clj cljs cljc edn", "", FormatGroup::Code, Syntax::Code),
    text_format("cmake", "", "cmake", "CMakeLists.txt", FormatGroup::Other, Syntax::Code),
    text_format("css", "scss sass less", "css scss sass less", "", FormatGroup::Code, Syntax::Code),
    text_format("csv", "tsv", "csv tsv", "", FormatGroup::Data, Syntax::Prose),
    text_format("dart", "", "dart", "", FormatGroup::Code, Syntax::Code),
    text_format("diff", "patch", "diff patch", "", FormatGroup::Other, Syntax::Code),
    text_format("dockerfile", "docker", "dockerfile containerfile", "Dockerfile Containerfile", FormatGroup::Other, Syntax::Prose),
    text_format("erlang", "erl", "erl hrl", "rebar.config", FormatGroup::Code, Syntax::Code),
    text_format("fish", "", "fish", "", FormatGroup::Code, Syntax::Prose),
    text_format("fsharp", "fs f#", "fs fsi fsx", "", FormatGroup::Code, Syntax::Code),
    text_format("graphql", "gql", "graphql gql", "", FormatGroup::Code, Syntax::Code),
    text_format("groovy", "gradle", "groovy gradle", "Jenkinsfile", FormatGroup::Code, Syntax::Code),
    text_format("html", "htm", "html htm xhtml", "", FormatGroup::Other, Syntax::Prose),
    text_format("ini", "conf", "ini cfg conf properties desktop service", ".editorconfig .gitconfig .gitmodules", FormatGroup::Data, Syntax::Prose),
    text_format("json", "jsonc json5 jsonl", "json jsonc json5 jsonl ndjson geojson webmanifest", ".babelrc", FormatGroup::Data, Syntax::Code),
    text_format("julia", "jl", "jl", "", FormatGroup::Code, Syntax::Code),
    text_format("just", "", "just", "justfile Justfile", FormatGroup::Other, Syntax::Code),
    text_format("latex", "tex", "tex sty bib", "", FormatGroup::Prose, Syntax::Prose),
    text_format("makefile", "make", "mk mak make", "Makefile makefile GNUmakefile", FormatGroup::Other, Syntax::Prose),
    text_format("mathematica", "wolfram wl", "wl wls", "", FormatGroup::Code, Syntax::Code),
    text_format("matlab", "octave", "", "", FormatGroup::Code, Syntax::Code),
    text_format("meson", "", "", "meson.build meson_options.txt", FormatGroup::Other, Syntax::Code),
    text_format("nix", "", "nix", "", FormatGroup::Code, Syntax::Code),
    text_format("objective-c", "objc", "m mm", "", FormatGroup::Code, Syntax::Code),
    text_format("ocaml", "ml", "ml mli", "", FormatGroup::Code, Syntax::Code),
    text_format("org", "", "org", "", FormatGroup::Prose, Syntax::Prose),
    text_format("perl", "pl", "pl pm", "", FormatGroup::Code, Syntax::Code),
    text_format("powershell", "ps1", "ps1 psm1 psd1", "", FormatGroup::Code, Syntax::Code),
    text_format("prolog", "", "prolog", "", FormatGroup::Code, Syntax::Code),
    text_format("protobuf", "proto", "proto", "", FormatGroup::Code, Syntax::Code),
    text_format("r", "", "r R Rmd", "", FormatGroup::Code, Syntax::Code),
    text_format("sql", "", "sql ddl", "", FormatGroup::Code, Syntax::Code),
    text_format("terraform", "hcl tf", "tf tfvars hcl", "", FormatGroup::Code, Syntax::Code),
    text_format("text", "txt plain", "txt text", "", FormatGroup::Prose, Syntax::Prose),
    text_format("toml", "", "toml", "Cargo.lock Pipfile poetry.lock uv.lock", FormatGroup::Data, Syntax::Code),
    text_format("vim", "", "vim vimrc", ".vimrc", FormatGroup::Code, Syntax::Code),
    text_format("xml", "svg", "xml xsd xsl xslt svg plist csproj props", "", FormatGroup::Data, Syntax::Prose),
    text_format("yaml", "yml", "yaml yml", ".clang-format .clang-tidy", FormatGroup::Data, Syntax::Prose),
];

/// Returns the format without a grammar that has this name.
pub(super) fn text_format_by_name(name: &str) -> Option<&'static TextFormat> {
    TEXT_FORMATS.iter().find(|format| format.name == name)
}
