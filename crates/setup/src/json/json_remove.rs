//! Removes our entries from JSON with comments, even if others have changed the text since.

use super::json_part::{JsonPart, NodeChain, find_part};
use super::json_tree::{JsonItem, JsonNode};
use crate::Refusal;
use crate::text_lines::{line_start, strip_eol};

/// Returns the text without one entry of ours; `None` if there is none. Objects and arrays that become empty are removed too,
/// unless their path is in `kept`.
///
/// # Errors
/// When the text does not parse.
pub(crate) fn remove_part(
    text: &str,
    part: &JsonPart,
    kept: &[Vec<String>],
) -> Result<Option<String>, Refusal> {
    let Some(root) = JsonNode::parse(text)? else { return Ok(None) };
    let Some(chain) = find_part(&root, part) else { return Ok(None) };
    let mut at = chain.len() - 1;
    while at > 0 && is_removed_with_item(text, &chain, at, kept) {
        at -= 1;
    }
    let (container, index) = chain[at];
    Ok(Some(remove_item(text, container, index)))
}

/// Returns whether the container at index `at` of the chain is removed together with the item in it.
fn is_removed_with_item(text: &str, chain: &NodeChain<'_>, at: usize, kept: &[Vec<String>]) -> bool {
    let (container, index) = chain[at];
    let (parent, place) = chain[at - 1];
    if has_own_comment(text, container) || has_comment_before_value(text, &parent.items()[place]) {
        return false;
    }
    let path: Vec<&str> = chain[..at].iter().map(|(node, index)| node.items()[*index].key.as_str()).collect();
    if kept.iter().any(|kept| *kept == path) {
        return false;
    }
    // A group of hooks without commands has no use, even if it has a matcher.
    let is_group = container.is_object() && container.items()[index].key == "hooks" && parent.is_array();
    container.items().len() == 1 || is_group
}

/// Returns whether a container has a comment outside of its items. Such a comment is somebody else's, since we write none.
fn has_own_comment(text: &str, container: &JsonNode) -> bool {
    let mut at = container.range.start;
    let between = container.items().iter().any(|item| {
        let gap = &text[at..item.range.start];
        at = item.range.end;
        gap.contains('/')
    });
    between || text[at..container.range.end].contains('/')
}

/// Returns whether there is a comment between the name of a member and its value.
fn has_comment_before_value(text: &str, item: &JsonItem) -> bool {
    text[item.key_end..item.node.range.start].contains('/')
}

/// Returns the text without one item of a container, with the comma and the line that belong to the item.
fn remove_item(text: &str, container: &JsonNode, index: usize) -> String {
    let items = container.items();
    let item = &items[index];
    let line = line_start(text, item.range.start);
    let has_own_line = line > container.range.start && text[line..item.range.start].trim().is_empty();
    let end = item.range.end;
    let after = skip_trivia(text, end);
    let has_comma = text[after..].starts_with(',');
    let rest =
        if has_comma { [&text[end..after], &text[after + 1..]].concat() } else { text[end..].to_owned() };
    // The line end before the item is removed only if another follows, because it may end a comment.
    let ends_line = rest.trim_start_matches([' ', '\t']).starts_with(['\r', '\n']);
    let start = if has_own_line && ends_line { strip_eol(&text[..line]).len() } else { item.range.start };
    let rest = if has_own_line && ends_line { rest.as_str() } else { rest.trim_start_matches([' ', '\t']) };
    let before = index.checked_sub(1).map(|before| skip_trivia(text, items[before].range.end));
    match before {
        Some(comma) if !has_comma => {
            let between = text[comma..start].strip_prefix(',').unwrap_or(&text[comma..start]);
            let between = if has_own_line { between } else { between.trim_end_matches([' ', '\t']) };
            [&text[..comma], between, rest].concat()
        }
        None if items.len() == 1 => {
            let open = container.range.start + 1;
            let inner_len = rest.len() - (text.len() - (container.range.end - 1));
            let left = [&text[open..start], &rest[..inner_len]].concat();
            let left = if left.trim().is_empty() { "" } else { left.as_str() };
            [&text[..open], left, &rest[inner_len..]].concat()
        }
        _ => [&text[..start], rest].concat(),
    }
}

/// Returns the offset of the first byte at or after `from` that is not in white space or a comment.
fn skip_trivia(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        at += match rest.get(..2) {
            Some("//") => rest.find('\n').unwrap_or(rest.len()),
            Some("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => return at,
        };
    }
}
