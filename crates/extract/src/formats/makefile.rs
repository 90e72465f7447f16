//! Reads the targets of a makefile, and the targets that they depend on.

use std::ops::Range;

use super::format_names::{FormatNames, bytes_of};
use crate::definitions::nest_items::NamedItem;
use crate::definitions::tags::TagKind;

/// Returns the targets, each with its recipe, and their prerequisites. Special targets, patterns and targets with variables are left
/// out.
pub(super) fn read_names<'a>(_path: &str, text: &'a str) -> FormatNames<'a> {
    let mut names = FormatNames::default();
    let mut rule: Option<(Vec<&'a str>, Range<usize>)> = None;
    let mut at = 0;
    let mut is_continued = false;
    for whole in text.split_inclusive('\n') {
        let (start, line) = (at, whole.trim_end());
        at += whole.len();
        let was_continued = std::mem::replace(&mut is_continued, line.ends_with('\\'));
        if line.starts_with('\t') || was_continued {
            if let Some((_, bytes)) = &mut rule {
                bytes.end = start + line.len();
            }
            continue;
        }
        if line.starts_with('#') {
            names.comments.push(start..start + line.len());
            continue;
        }
        if line.is_empty() || line.starts_with(' ') {
            continue;
        }
        end_rule(&mut names, rule.take());
        if let Some((targets, prerequisites)) = split_rule(line) {
            for name in prerequisites.split_whitespace().filter(|name| is_plain(name)) {
                names.found.add_format_use(text, bytes_of(text, name), None, false);
            }
            let targets: Vec<_> = targets.split_whitespace().filter(|name| is_plain(name)).collect();
            rule = Some((targets, start..start + line.len())).filter(|(targets, _)| !targets.is_empty());
        }
    }
    end_rule(&mut names, rule);
    names
}

fn end_rule<'a>(names: &mut FormatNames<'a>, rule: Option<(Vec<&'a str>, Range<usize>)>) {
    if let Some((targets, node)) = rule {
        let title = targets.iter().take(MOST_TITLE_NAMES).copied().collect::<Vec<_>>().join(", ");
        names.items.push(NamedItem { kind: TagKind::Function, names: targets, title, node });
    }
}

/// Most names in the title of a rule.
const MOST_TITLE_NAMES: usize = 4;

/// Returns the targets and the prerequisites in the first line of a rule; `None` for an assignment and any other line.
fn split_rule(line: &str) -> Option<(&str, &str)> {
    let line = line.split(" #").next().unwrap_or_default();
    let (targets, rest) = line.split_once(':')?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    if targets.contains('=') || rest.starts_with('=') || rest.starts_with(":=") {
        return None;
    }
    // `target: VARIABLE = value`
    let rest = rest.split(';').next().unwrap_or_default();
    Some((targets, if rest.contains('=') { "" } else { rest.trim_end_matches('\\') }))
}

/// Returns whether a word is a name: no special target, pattern, variable or option.
fn is_plain(name: &str) -> bool {
    !name.starts_with(['.', '-', '|', '&']) && !name.contains(['$', '%', '(', ')', '*', '"', '\''])
}
