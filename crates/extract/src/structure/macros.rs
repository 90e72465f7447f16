//! Reads the uses in the arguments of a macro, which the grammar parses only into tokens.

use std::borrow::Cow;

use memod_base::types::UseRole;
use tree_sitter::Node;

use super::walker::{MAX_RECEIVER_PARTS, TreeWalker};
use super::{FoundReceiver, FoundUse, MAX_NAME_BYTES, bindings};

/// Most tokens of a macro's arguments that are read; longer arguments are data.
const MAX_TOKENS: u32 = 2_000;
/// Most bars before a name between which parameters of closures are looked for.
const MAX_CLOSURES: usize = 8;
/// Longest parameters of a closure, in bytes.
const MAX_PARAMETERS_BYTES: usize = 100;

impl<'t> TreeWalker<'_, 't> {
    /// Records the names in a string of a macro of Rust: `"{total}"`, `"{total:>5}"`. In `"{{"`, there is none.
    pub(super) fn add_format_arguments(&mut self, content: Node<'t>) {
        if !self.path.iter().rev().take(4).any(|(around, _)| around.kind() == "token_tree") {
            return;
        }
        let text = self.text_of(content);
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('{') {
            rest = after;
            if let Some(escaped) = after.strip_prefix('{') {
                rest = escaped;
                continue;
            }
            let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
            let name = &after[..end];
            let is_argument = after[end..].starts_with(['}', ':']) && name.len() <= MAX_NAME_BYTES;
            if is_argument && name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                self.found.uses.push(FoundUse {
                    name: Cow::Borrowed(name),
                    at: content.start_byte() + text.len() - after.len(),
                    receiver: FoundReceiver::None,
                    role: UseRole::Mention,
                    n_arguments: None,
                    is_value: true,
                });
            }
        }
    }
}

/// Returns the receiver of a name among the tokens of `around`, and whether the name is called.
pub(super) fn receiver_among_tokens(
    walker: &TreeWalker<'_, '_>,
    around: Node<'_>,
    name: Node<'_>,
) -> (FoundReceiver, bool) {
    if around.child_count() > MAX_TOKENS {
        return (FoundReceiver::Other, false);
    }
    let is_call = name.next_sibling().is_some_and(|next| is_arguments(walker, next));
    let receiver = match name.prev_sibling().filter(is_separator) {
        Some(separator) => path_before(walker, separator)
            .filter(|path| !is_of_closure(walker, name, path))
            .map_or(FoundReceiver::Other, |path| match separator.kind() {
                "::" if !path.contains('.') => walker.receiver_of_scoped(path),
                _ => walker.receiver_of_path(path),
            }),
        None => FoundReceiver::None,
    };
    (receiver, is_call)
}

/// Returns whether a path before a name begins with a parameter of a closure of the same macro: `o` in `assert!(all.any(|o| o.is_paid()))`.
fn is_of_closure(walker: &TreeWalker<'_, '_>, name: Node<'_>, path: &str) -> bool {
    let first = bindings::first_name(path);
    let Some((arguments, _)) = walker.path.iter().find(|(around, _)| around.kind() == "token_tree") else {
        return false;
    };
    let before = walker.text.get(arguments.start_byte()..name.start_byte()).unwrap_or_default();
    let mut parts = before.rsplit('|').skip(1).step_by(2).take(MAX_CLOSURES);
    parts.any(|part| {
        let mut words = part.split(|c: char| !c.is_alphanumeric() && c != '_');
        part.len() <= MAX_PARAMETERS_BYTES
            && !part.contains([';', '{', '='])
            && words.any(|word| word == first)
    })
}

/// Returns the type of the literal or pattern among whose tokens, in `around`, a name is a key, as the path of the type, and whether
/// the name is nothing else: a key without a value is also the name of a variable.
pub(super) fn literal_type_among_tokens(
    walker: &TreeWalker<'_, '_>,
    around: Node<'_>,
    name: Node<'_>,
) -> Option<(String, bool)> {
    let (before, after) = (name.prev_sibling()?.kind(), name.next_sibling()?.kind());
    let is_key = after == ":";
    let is_place = matches!(before, "{" | "," | "ref" | "mut" | "mutable_specifier")
        && (is_key || matches!(after, "," | "}"));
    if !is_place || around.child_count() > MAX_TOKENS || !walker.text_of(around).starts_with('{') {
        return None;
    }
    let of_type =
        around.prev_sibling().filter(|of_type| walker.text_of(*of_type).starts_with(char::is_uppercase))?;
    Some((path_ending_at(walker, of_type)?, is_key))
}

/// Returns the path that ends before a separator.
fn path_before(walker: &TreeWalker<'_, '_>, separator: Node<'_>) -> Option<String> {
    path_ending_at(walker, separator.prev_sibling()?)
}

fn path_ending_at(walker: &TreeWalker<'_, '_>, last: Node<'_>) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut before = last;
    for _ in 0..MAX_RECEIVER_PARTS {
        let mut end = String::new();
        if before.kind() == "?" {
            end.push('?');
            before = before.prev_sibling()?;
        }
        if is_arguments(walker, before) {
            end.insert_str(0, "()");
            before = before.prev_sibling()?;
        }
        let text = walker.text_of(before);
        let kinds = [walker.nodes.names, walker.nodes.path_roots];
        if !kinds.iter().any(|kinds| kinds.contains(&before.kind()))
            && !walker.nodes.self_names.contains(&text)
        {
            return None;
        }
        parts.push(format!("{text}{end}"));
        match before.prev_sibling().filter(is_separator) {
            Some(separator) => before = separator.prev_sibling()?,
            None => {
                parts.reverse();
                return Some(parts.join("."));
            }
        }
    }
    None
}

fn is_separator(token: &Node<'_>) -> bool {
    matches!(token.kind(), "." | "::")
}

fn is_arguments(walker: &TreeWalker<'_, '_>, token: Node<'_>) -> bool {
    token.kind() == "token_tree" && walker.text_of(token).starts_with('(')
}
