//! Recognises translated files by paths alone.
//!
//! `docs/uk/a.md` is a translation if `docs/en/a.md` or `docs/a.md` exists, and `README.zh-CN.md` is one if `README.md` exists. A
//! language code alone proves nothing: `tests/it` is not in Italian.

use memod_base::types::file_name;
use memod_extract::lang::FormatGroup;

use crate::query::Query;

/// Language codes and the English names of the languages. Some are no official codes, but are used: `cn`, `jp`, `kr`, `ua`.
const LANGUAGES: &[(&str, &str)] = &[
    ("ar", "arabic"),
    ("az", "azerbaijani"),
    ("be", "belarusian"),
    ("bg", "bulgarian"),
    ("bn", "bengali"),
    ("ca", "catalan"),
    ("cn", "chinese"),
    ("cs", "czech"),
    ("cz", "czech"),
    ("da", "danish"),
    ("de", "german"),
    ("el", "greek"),
    ("em", "emoji"),
    ("en", "english"),
    ("eo", "esperanto"),
    ("es", "spanish"),
    ("et", "estonian"),
    ("eu", "basque"),
    ("fa", "persian"),
    ("fi", "finnish"),
    ("fr", "french"),
    ("ga", "irish"),
    ("gl", "galician"),
    ("gu", "gujarati"),
    ("he", "hebrew"),
    ("hi", "hindi"),
    ("hr", "croatian"),
    ("hu", "hungarian"),
    ("hy", "armenian"),
    ("id", "indonesian"),
    ("is", "icelandic"),
    ("it", "italian"),
    ("ja", "japanese"),
    ("jp", "japanese"),
    ("ka", "georgian"),
    ("kk", "kazakh"),
    ("km", "khmer"),
    ("kn", "kannada"),
    ("ko", "korean"),
    ("kr", "korean"),
    ("lt", "lithuanian"),
    ("lv", "latvian"),
    ("mk", "macedonian"),
    ("ml", "malayalam"),
    ("mn", "mongolian"),
    ("mr", "marathi"),
    ("ms", "malay"),
    ("my", "burmese"),
    ("nb", "norwegian"),
    ("ne", "nepali"),
    ("nl", "dutch"),
    ("nn", "norwegian"),
    ("no", "norwegian"),
    ("pa", "punjabi"),
    ("pl", "polish"),
    ("pt", "portuguese"),
    ("ptbr", "portuguese"),
    ("ro", "romanian"),
    ("ru", "russian"),
    ("si", "sinhala"),
    ("sk", "slovak"),
    ("sl", "slovenian"),
    ("sq", "albanian"),
    ("sr", "serbian"),
    ("sv", "swedish"),
    ("sw", "swahili"),
    ("ta", "tamil"),
    ("te", "telugu"),
    ("th", "thai"),
    ("tl", "tagalog"),
    ("tr", "turkish"),
    ("tw", "chinese"),
    ("ua", "ukrainian"),
    ("uk", "ukrainian"),
    ("ur", "urdu"),
    ("uz", "uzbek"),
    ("vi", "vietnamese"),
    ("yo", "yoruba"),
    ("zh", "chinese"),
    ("zhcn", "chinese"),
    ("zhtw", "chinese"),
];

/// Folder names and suffixes that mark an English original.
const ENGLISH: [&str; 8] = ["en", "en-US", "en_US", "en-us", "en_us", "en-GB", "en_GB", "english"];

/// Names of folders in which a folder with a language code always contains translations.
const LANGUAGE_FOLDERS: [&str; 5] = ["i18n", "l10n", "locales", "translations", "translated"];

/// Bytes of the longest code with script and region: `zh-Hant-TW`.
const MAX_CODE_BYTES: usize = 10;

/// Returns the English name of the language with a code, which may have a region or script: `pt-BR`, `zh_Hans`.
fn find_language_name(code: &str) -> Option<&'static str> {
    if !(2..=MAX_CODE_BYTES).contains(&code.len()) || !code.is_ascii() {
        return None;
    }
    let mut parts = code.split(['-', '_']);
    let first = parts.next().unwrap_or_default().to_ascii_lowercase();
    if !parts
        .all(|part| (2..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    {
        return None;
    }
    LANGUAGES.iter().find(|(known, _)| *known == first).map(|(_, name)| *name)
}

/// A part of a path that names a language.
struct LanguageMark<'a> {
    /// The path before the mark, with the separator.
    before: &'a str,
    /// The path after the mark.
    after: &'a str,
    /// English name of the language.
    language: &'static str,
}

/// Returns the marks of languages other than English in a path.
fn foreign_marks(path: &str) -> impl Iterator<Item = LanguageMark<'_>> {
    language_marks(path).filter(|mark| mark.language != "english")
}

/// Returns the language marks of a path. A mark is a folder name, a file name without extension, or the end of either after `-`,
/// `_` or `.`.
fn language_marks(path: &str) -> impl Iterator<Item = LanguageMark<'_>> {
    let mut start = 0;
    let parts = path.split_inclusive('/').map(move |part| {
        let at = start;
        start += part.len();
        (at, part)
    });
    parts.filter_map(move |(at, part)| {
        let name =
            part.strip_suffix('/').or_else(|| part.rsplit_once('.').map(|(stem, _)| stem)).unwrap_or(part);
        let name = name.strip_suffix(".lproj").unwrap_or(name);
        let ends = name.match_indices(['-', '_', '.']).map(|(separator, _)| separator + 1);
        let (from, language) = std::iter::once(0)
            .chain(ends)
            .find_map(|from| Some((from, find_language_name(&name[from..])?)))?;
        let (before, after) = (&path[..at + from], &path[at + name.len()..]);
        Some(LanguageMark { before, after, language })
    })
}

impl LanguageMark<'_> {
    /// Returns the paths that an English original may have: the path with the mark replaced.
    fn english_paths(&self) -> impl Iterator<Item = String> {
        ENGLISH.into_iter().chain(["Base"]).map(|code| format!("{}{code}{}", self.before, self.after))
    }

    /// Returns the path without the mark.
    fn without_mark(&self) -> String {
        let before = self.before.strip_suffix(['-', '_', '.']);
        match before {
            Some(before) => format!("{before}{}", self.after),
            None => format!("{}{}", self.before, self.after.strip_prefix('/').unwrap_or(self.after)),
        }
    }

    /// Returns whether the mark is a folder in one of [`LANGUAGE_FOLDERS`].
    fn is_in_folder_of_languages(&self) -> bool {
        let folder = self.before.strip_suffix('/').map(file_name);
        self.after.starts_with('/') && folder.is_some_and(|folder| LANGUAGE_FOLDERS.contains(&folder))
    }
}

/// Returns whether a path contains a mark of a foreign language, so that the file may be a translation.
pub(crate) fn may_be_translation(path: &str) -> bool {
    foreign_marks(path).next().is_some()
}

/// Returns whether a file is a translation. `exists` returns whether a file exists. Code is a translation only if there is an
/// English original with a mark: `it/read.rs` is not the Italian version of `read.rs`.
pub(crate) fn is_translation(path: &str, group: FormatGroup, exists: impl Fn(&str) -> bool) -> bool {
    let is_code = group == FormatGroup::Code;
    foreign_marks(path).any(|mark| {
        mark.english_paths().any(|original| exists(&original))
            || !is_code && (mark.is_in_folder_of_languages() || exists(&mark.without_mark()))
    })
}

/// Returns a path without its language marks, including marks of English.
pub fn strip_language_marks(path: &str) -> String {
    let mut bare = path.to_owned();
    // The loop ends, because each step shortens the path.
    loop {
        let shorter = language_marks(&bare).next().map(|mark| mark.without_mark());
        match shorter {
            Some(shorter) => bare = shorter,
            None => return bare,
        }
    }
}

/// Returns whether a query asks for the language of a path: the query contains the English name of the language, or letters outside
/// ASCII.
pub(crate) fn asks_for_language(query: &Query, path: &str) -> bool {
    query.text_to_embed().contains(|c: char| c.is_alphabetic() && !c.is_ascii())
        || foreign_marks(path).any(|mark| query.has_any_word(&[mark.language]))
}

#[cfg(test)]
mod tests {
    use memod_extract::format_name;

    use super::*;
    use crate::query::parse_query;

    #[test]
    fn a_translation_has_an_original() {
        let check = |path: &str, others: &[&str], expected: bool| {
            let group = FormatGroup::from_format_name(format_name(path, ""));
            assert_eq!(is_translation(path, group, |other| others.contains(&other)), expected, "{path}");
        };
        check("docs/uk/a.md", &["docs/en/a.md"], true);
        check("docs/uk/a.md", &["docs/a.md"], true);
        check("docs/uk/a.md", &["docs/en/b.md", "a.md"], false);
        check("docs/en/a.md", &["docs/uk/a.md", "docs/a.md"], false);
        check("README.zh-CN.md", &["README.md"], true);
        check("README_pt_BR.md", &["README.md"], true);
        check("README.md", &["README.de.md"], false);
        check("docs-ja/guide/a.md", &["docs/guide/a.md"], true);
        check("po/messages_de.properties", &["po/messages.properties"], true);
        check("web/locale/de.json", &["web/locale/en.json"], true);
        check("src/locale/de/index.ts", &["src/locale/en-US/index.ts"], true);
        check("app/de.lproj/Main.strings", &["app/en.lproj/Main.strings"], true);
        check("i18n/ja/docusaurus-plugin-content-docs/current/a.md", &["docs/a.md"], true);
        check("tests/it/main.rs", &["tests/main.rs"], false);
        check("src/parse_it.rs", &["src/parse.rs"], false);
        check("ml/a.md", &["b.md"], false);
        check("de", &[], false);
    }

    #[test]
    fn a_language_is_asked_for_by_name_or_by_use() {
        let check = |query: &str, path: &str, expected: bool| {
            assert_eq!(asks_for_language(&parse_query(query), path), expected, "{query} {path}");
        };
        check("install in Ukrainian", "docs/uk/a.md", true);
        check("install in Ukrainian", "docs/de/a.md", false);
        check("как установить", "README.ru.md", true);
        check("install", "README.zh-Hans.md", false);
        check("install", "日本/語.md", false);
    }
}
