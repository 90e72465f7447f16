//! Prints the part of the code map that fits a budget.

use std::collections::BTreeSet;

use memod_base::paths::CallerDir;
use memod_base::types::{self, CHARS_PER_TOKEN, escape_for_display, last_part};

use super::signature::{NumberedLines, find_declared_name, find_word};
use super::{CodeMap, Ranking};

/// Most symbols of a file that are shown before the next file, because a map should cover many files.
const FIRST_SYMBOLS: usize = 6;

/// Longest signature, in characters.
const SIGNATURE_CHARS: usize = 120;

/// A rendered map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedMap {
    /// One line per file, each followed by one line per symbol, ending with `\n`.
    pub text: String,
    /// Number of files in `text`.
    pub n_files: usize,
    /// Number of tokens of `text`, at most the budget.
    pub n_tokens: usize,
}

/// Returns the number of tokens of a text: one for four characters, rounded up.
pub(super) fn count_tokens(text: &str) -> usize {
    text.chars().count().div_ceil(CHARS_PER_TOKEN)
}

/// Renders files in the order of `ranking`, each with its most used symbols sorted by line, within the budget.
///
/// Items that do not fit are skipped in favour of shorter ones, so that small budgets are used well. The remaining budget
/// after the last file goes to further symbols of the first ones.
///
/// Paths are shown as the caller would type them in `dir`. `text` returns the text of a file by its position, for the
/// signatures; it is called for each file with room for a symbol. Without a text, symbols are printed as their names.
pub fn render_map(
    map: &CodeMap,
    ranking: &Ranking,
    budget_tokens: usize,
    dir: &CallerDir,
    mut text: impl FnMut(usize) -> Option<String>,
) -> RenderedMap {
    let mut left = budget_tokens.saturating_mul(CHARS_PER_TOKEN);
    let mut entries: Vec<FileEntry> = Vec::new();
    for &file in &ranking.files {
        if left < MIN_HEADING_CHARS {
            break;
        }
        let path = &map.file_at(file).path;
        let heading = format!("{}\n", escape_for_display(dir.relative_path(path).as_ref().unwrap_or(path)));
        if take_budget(&mut left, &heading) {
            let rest = ranking.ordered_symbols(map, file).into_iter();
            let has_room = left >= MIN_SYMBOL_CHARS;
            let lines = if has_room { text(file).map(NumberedLines::new) } else { None };
            let mut entry = FileEntry { file, heading, lines, rest, shown: BTreeSet::new() };
            entry.add_symbols(map, FIRST_SYMBOLS, &mut left);
            // A path alone says nothing.
            match entry.shown.is_empty() {
                true => left += entry.heading.chars().count(),
                false => entries.push(entry),
            }
        }
    }
    for entry in &mut entries {
        entry.add_symbols(map, usize::MAX, &mut left);
    }
    let n_files = entries.len();
    let text: String = entries.into_iter().map(FileEntry::into_text).collect();
    RenderedMap { n_files, n_tokens: count_tokens(&text), text }
}

/// Length of the shortest heading: a character and the line break.
const MIN_HEADING_CHARS: usize = 2;

/// Length of the line of a symbol without its signature.
const MIN_SYMBOL_CHARS: usize = "    1: \n".len();

/// Takes the characters of `text` from the budget if they fit; returns whether they do.
fn take_budget(left: &mut usize, text: &str) -> bool {
    let n_chars = text.chars().count();
    let fits = n_chars <= *left;
    *left -= if fits { n_chars } else { 0 };
    fits
}

/// A file of the rendered map, with its shown symbols.
struct FileEntry {
    /// The position of the file.
    file: usize,
    heading: String,
    /// The lines of its text.
    lines: Option<NumberedLines>,
    /// Positions of the remaining symbols, the most used first.
    rest: std::vec::IntoIter<usize>,
    /// Line number and text of each shown symbol.
    shown: BTreeSet<(u32, String)>,
}

impl FileEntry {
    /// Shows up to `n_symbols` more symbols that fit.
    fn add_symbols(&mut self, map: &CodeMap, n_symbols: usize, left: &mut usize) {
        let mut n_added = 0;
        while n_added < n_symbols && *left >= MIN_SYMBOL_CHARS {
            let Some(symbol) = self.rest.next() else { return };
            let (name, qualifier, first) = map.symbol_at(self.file, symbol);
            let declared = self.lines.as_ref().and_then(|lines| lines.find_signature(name, first));
            let (number, declared) = declared.unwrap_or_else(|| (first, name.to_owned()));
            let declared = qualify_signature(&declared, name, qualifier);
            let line = (number, format!("{number:>5}: {}\n", one_line(&declared)));
            if !self.shown.contains(&line) && take_budget(left, &line.1) {
                self.shown.insert(line);
                n_added += 1;
            }
        }
    }

    fn into_text(self) -> String {
        let lines = self.shown.iter().map(|(_, line)| line.as_str());
        std::iter::once(self.heading.as_str()).chain(lines).collect()
    }
}

/// Returns a signature with the qualified name in place of the own name, unless the signature names the type already: `fn
/// Session::verify(&self)`, but `func (s *Session) Verify()`.
fn qualify_signature(signature: &str, name: &str, qualifier: &str) -> String {
    let owner = last_part(types::qualifier(qualifier).unwrap_or_default());
    match find_declared_name(signature, name) {
        Some(at) if !owner.is_empty() && find_word(&signature[..at], owner).is_none() => {
            format!("{}{qualifier}{}", &signature[..at], &signature[at..])
        }
        _ => signature.to_owned(),
    }
}

/// Returns a signature on one line of bounded length, without the bracket that opens the body.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut n_chars = 0;
    let mut is_after_space = true;
    for c in text.trim().trim_end_matches(['{', ':']).trim_end().chars() {
        let is_space = c.is_whitespace() || c.is_control();
        if is_space && is_after_space {
            continue;
        }
        if n_chars == SIGNATURE_CHARS {
            line.push('…');
            break;
        }
        line.push(if is_space { ' ' } else { c });
        is_after_space = is_space;
        n_chars += 1;
    }
    escape_for_display(&line)
}
