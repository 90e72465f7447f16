//! Extracts chunks, definitions and used names from the text of a file.
//!
//! Pure: takes the path and the text of a file, and returns chunks. Uses no file system, environment or SQL; only
//! `definitions::parse_budget` reads a clock.
//!
//! [`lang`] detects the format of a file. [`documents`] splits documents. For source code, `definitions` parses the file,
//! `structure` collects its uses, and `code` combines the results;
//! `c_family` prepares C and C++ for it, `components` the files of Vue, Svelte and Astro. `formats` reads formats without a grammar. All of
//! them cut text with `chunks`.

mod c_family;
mod chunks;
mod code;
mod components;
mod content_class;
mod definitions;
pub mod documents;
#[cfg(test)]
mod fixtures;
mod formats;
pub mod lang;
mod structure;

use std::borrow::Cow;

use memod_text::redact;
use memod_text::secrets::{self, Syntax};

pub use chunks::chunk::{CHUNK_CHARS, Chunk, Extraction, OVERLAP_CHARS};
use documents::notebook_text::NotebookText;
pub use documents::sections::ChunkSize;
use documents::{asciidoc, markdown, notebook, rst};
use lang::{FileFormat, Markup};

/// Version of the extractors. Raise it when the result of any extractor changes, so that stored blobs are extracted again.
pub const EXTRACTOR_VERSION: i64 = 31;

/// Returns the name of a file's format, as it is stored with the content; `""` for a format without a name.
pub fn format_name(path: &str, text: &str) -> &'static str {
    lang::format_of(path, text).name().unwrap_or("")
}

/// Returns whether a file with this path is parsed for its definitions.
pub fn may_be_code(path: &str) -> bool {
    match lang::format_of(path, "") {
        FileFormat::Code(_) | FileFormat::Document(Markup::Notebook) => true,
        FileFormat::Text(Some(name)) => formats::has_reader(name),
        _ => false,
    }
}

/// Returns whether a file with this path is a notebook.
pub fn is_notebook(path: &str) -> bool {
    matches!(lang::format_of(path, ""), FileFormat::Document(Markup::Notebook))
}

/// Returns whether files of the format `name` define a component that has the name of the file.
pub fn is_named_by_path(name: &str) -> bool {
    components::ComponentFormat::from_language(name).is_some()
}

/// Returns the part of a path on which the extraction of a text depends besides its format, whose name is `format`: the name of a
/// component, or an ending that decides how the text is read. Texts that agree in their bytes, format and this part are extracted alike.
pub fn path_part(path: &str, format: &str) -> String {
    if is_named_by_path(format) {
        return components::component_name::component_name(path);
    }
    let ending = match format {
        "c" => [lang::C_HEADER].into_iter().find(|ending| path.ends_with(ending)),
        "terraform" => formats::terraform::VALUE_ENDINGS.into_iter().find(|ending| path.ends_with(ending)),
        _ => code::http_routes::find_route_ending(format, path),
    };
    ending.unwrap_or_default().to_owned()
}

/// Returns whether a word without quotes in this file is a value or an expression, for the search for credentials.
pub fn bare_word_syntax(path: &str, text: &str) -> Syntax {
    lang::format_of(path, text).syntax()
}

/// Extracts the chunks, definitions and uses of one file. Credentials are masked first, so that no name, title, skeleton or
/// problem contains one.
///
/// Spans are byte offsets in the result of [`readable_text`] for the same file.
pub fn extract(path: &str, text: &str) -> Extraction {
    let format = lang::format_of(path, text);
    let parse: &dyn Fn(&str) -> Extraction = match format {
        FileFormat::Document(Markup::Notebook) => return extract_notebook(text),
        FileFormat::Document(Markup::Markdown) => &markdown::extract,
        FileFormat::Document(Markup::Rst) => &rst::extract,
        FileFormat::Document(Markup::AsciiDoc) => &asciidoc::extract,
        FileFormat::Code(language) => &move |text| code::extract(language, path, text),
        FileFormat::Text(name) => &move |text| formats::extract_format(name, path, text),
    };
    let class = content_class::classify_content(format, text);
    let secrets = secrets::find_secret_spans(text, format.syntax());
    let extracted = parse(&redact::mask(text, &secrets));
    Extraction { secrets, class, ..extracted }
}

fn extract_notebook(file: &str) -> Extraction {
    let mut notebook = match NotebookText::decode(file) {
        Ok(notebook) => notebook,
        Err(why) => return Extraction { refused: Some(why), ..Extraction::default() },
    };
    let secrets = secrets::find_secret_spans(&notebook.text, FileFormat::Document(Markup::Notebook).syntax());
    notebook.text = redact::mask(&notebook.text, &secrets).into_owned();
    Extraction { secrets, ..notebook::extract(&notebook) }
}

/// Returns the text that is indexed and shown for a file: for a notebook, the text of its cells, on the same lines as in the
/// file. Other files, and notebooks that cannot be decoded, are returned as they are.
pub fn readable_text<'a>(path: &str, text: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
    let text = text.into();
    match lang::format_of(path, &text) {
        FileFormat::Document(Markup::Notebook) => match NotebookText::decode(&text) {
            Ok(notebook) => Cow::Owned(notebook.text),
            Err(_) => text,
        },
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_extracted_differently_under_two_paths_have_two_path_parts() {
        let cases = [
            ("a/Card.vue", "a/Row.vue", "<template><p/></template>\n", true),
            ("a/Card.vue", "b/Card.vue", "<template><p/></template>\n", false),
            ("Card/index.svelte", "Row/index.svelte", "<p>{1}</p>\n", true),
            ("my-card.astro", "MyCard.client.astro", "<p>{1}</p>\n", false),
            ("app/urls.py", "app/views.py", "urlpatterns = [\n    path('a', view),\n]\n", true),
            ("app/urls.py", "shop/urls.py", "urlpatterns = [\n    path('a', view),\n]\n", false),
            ("a.tf", "a.tfvars", "size = 1\n", true),
            ("config/routes.rb", "config/other.rb", "get 'a', to: 'b'\n", true),
            ("a.h", "a.c", "class A {\n public:\n  void f();\n};\n", true),
            ("a.py", "b.py", "def f():\n    pass\n", false),
            ("a.ts", "b.ts", "export const a = 1\n", false),
        ];
        for (one, other, text, differs) in cases {
            let format = format_name(one, text);
            assert_eq!(format, format_name(other, text), "{one} {other}");
            assert_eq!(path_part(one, format) != path_part(other, format), differs, "{one} {other}");
            let shown = |path| {
                let found = extract(path, text);
                format!("{} {:?}", serde_json::to_string(&found).unwrap(), found.structure)
            };
            assert_eq!(shown(one) != shown(other), differs, "{one} {other}");
        }
    }

    #[test]
    fn no_part_of_what_is_found_shows_a_credential() {
        let password = ["hunter2", "hunter2"].concat();
        let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
        let texts = [
            ("a.md", "---\ntitle: the token is TK\n---\n# password: PW\n\nText.\n"),
            ("a.md", "# A `TK`\n\n## TK\n\nThe password is PW.\n"),
            ("a.rst", "password: PW\n============\n\nThe TK\n------\n\nText.\n"),
            ("a.adoc", ":token: TK\n\n== password: PW\n\n=== The {token}\n\nText.\n"),
            ("a.rs", "pub const PASSWORD: &str = \"PW\";\npub fn TK() { TK() }\n"),
            ("a.py", "def login(password=\"PW\", token=\"TK\"):\n    return TK\n"),
            ("a.sh", "export DB_PASSWORD=PW\nTK() { echo TK; }\n"),
            ("a.json", "{ \"password\": \"PW\", \"TK\": 1 }\n"),
            ("a.yaml", "password: PW\nTK: 1\n"),
        ];
        for (path, text) in texts {
            let text = text.replace("PW", &password).replace("TK", &token);
            let found = extract(path, &text);
            assert!(!found.secrets.is_empty(), "{text}");
            let shown = serde_json::to_string(&found).unwrap();
            let shown = format!("{shown}\n{:?}", found.structure);
            assert!(!shown.contains(&password) && !shown.contains(&token), "{text}\n{shown}");
            assert!(found.chunks.iter().all(|chunk| text.get(chunk.bytes.clone()).is_some()), "{text}");
        }
    }
}
