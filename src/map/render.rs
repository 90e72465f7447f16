//! Prints the part of the code map that fits a budget.

use super::{MapFile, RankedFile};
use crate::types::escape;

/// Characters per token. Tokenizers differ; for English and code the average is about four.
const TOKEN_CHARS: usize = 4;

/// Symbols of a file that are shown before the next file, because a map should cover many files.
const FIRST_SYMBOLS: usize = 6;

/// Longest signature, in characters.
const SIGNATURE_CHARS: usize = 120;

/// A rendered map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// One line per file, each followed by one line per symbol, ending with `\n`.
    pub text: String,
    /// Files in `text`.
    pub n_files: usize,
    /// Tokens of `text`, at most the budget.
    pub n_tokens: usize,
}

/// Returns the tokens of a text: four characters each, rounded up.
pub(super) fn count_tokens(text: &str) -> usize {
    text.chars().count().div_ceil(TOKEN_CHARS)
}

/// Renders files in order, each with its most used symbols sorted by line, within the budget.
///
/// Items that do not fit are skipped in favour of shorter ones, so that small budgets are used well. The remaining budget
/// after the last file goes to further symbols of the first ones.
pub fn render(files: &[MapFile<'_>], ranked: &[RankedFile], budget_tokens: usize) -> Rendered {
    let mut left = budget_tokens.saturating_mul(TOKEN_CHARS);
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for one in ranked {
        if left < MIN_LINE_CHARS {
            break;
        }
        let mut entry = Entry::new(&files[one.file], &one.symbols);
        if take(&mut left, &entry.heading) {
            entry.add(FIRST_SYMBOLS, &mut left);
            entries.push(entry);
        }
    }
    for entry in &mut entries {
        entry.add(usize::MAX, &mut left);
    }
    let text: String = entries.iter_mut().map(Entry::text).collect();
    Rendered { n_files: entries.len(), n_tokens: count_tokens(&text), text }
}

/// Length of the shortest line: a character and the line break.
const MIN_LINE_CHARS: usize = 2;

/// Takes the characters of `text` from the budget, if they fit.
fn take(left: &mut usize, text: &str) -> bool {
    let n_chars = text.chars().count();
    let fits = n_chars <= *left;
    *left -= if fits { n_chars } else { 0 };
    fits
}

/// A file with its shown symbols.
struct Entry<'a> {
    file: &'a MapFile<'a>,
    heading: String,
    /// Remaining symbols, the most used first.
    rest: std::slice::Iter<'a, usize>,
    /// Line number and printed line.
    shown: Vec<(u32, String)>,
}

impl<'a> Entry<'a> {
    fn new(file: &'a MapFile<'a>, symbols: &'a [usize]) -> Self {
        let heading = format!("{}\n", escape(file.path));
        Self { file, heading, rest: symbols.iter(), shown: Vec::new() }
    }

    /// Shows up to `n_symbols` more symbols that fit.
    fn add(&mut self, n_symbols: usize, left: &mut usize) {
        let mut n_added = 0;
        while n_added < n_symbols && *left >= MIN_LINE_CHARS {
            let Some(symbol) = self.rest.next().map(|&nth| self.file.symbols[nth]) else { return };
            let line = format!("{:>5}: {}\n", symbol.line, signature(symbol.signature));
            let is_new = self.shown.iter().all(|(_, shown)| *shown != line);
            if is_new && take(left, &line) {
                self.shown.push((symbol.line, line));
                n_added += 1;
            }
        }
    }

    fn text(&mut self) -> String {
        self.shown.sort();
        let lines = self.shown.iter().map(|(_, line)| line.as_str());
        std::iter::once(self.heading.as_str()).chain(lines).collect()
    }
}

/// Returns a signature on one line of bounded length, without the bracket that opens the body.
fn signature(text: &str) -> String {
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
    escape(&line)
}
