//! Inserts our entries into JSON with comments, as text at computed places, and removes them.
//!
//! An entry goes to the start of its object or array, so that one contiguous piece is inserted and no line of others is
//! touched: not even the one before, which would need a comma. Removing that piece again restores every byte.

use super::Refusal;
use super::config_value::{ConfigValue, Layout, quoted};
use super::json_tree::{JsonItem, JsonNode};
use super::our_command::{OurCommand, command_line};

/// An entry of ours in a JSON file.
#[derive(Clone, Debug)]
pub(super) enum JsonPart {
    /// A member that starts our server.
    Server {
        /// The objects around it.
        path: &'static [&'static str],
        /// Its name.
        key: &'static str,
        /// What it holds.
        value: ConfigValue,
    },
    /// A hook in an array.
    Hook {
        /// The objects around the array, and its own name.
        path: [&'static str; 2],
        /// The element.
        value: ConfigValue,
        /// The command in the element.
        command: OurCommand,
    },
    /// A member that the format asks for; one that is there stays, whatever it holds.
    Needed {
        /// Its name.
        key: &'static str,
        /// What it holds.
        value: ConfigValue,
    },
}

/// A text that was inserted.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub(super) struct Piece {
    /// First byte of it, once all pieces before it are in.
    pub(super) at: usize,
    /// The bytes.
    pub(super) text: String,
    /// The object or array that it was inserted into, which was there before.
    pub(super) inside: Vec<String>,
}

/// What [`put`] would do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// It is there already.
    Nothing,
    /// It is inserted.
    Insert(Piece),
    /// An entry of ours had other values, and this text has the new ones.
    Update(String),
}

/// Returns how an entry comes into a text.
///
/// # Errors
/// When the text does not parse, a value of another kind is in the way, or the entry is somebody else's.
pub(super) fn put(text: &str, part: &JsonPart) -> Result<Put, Refusal> {
    let Some(root) = parse(text)? else {
        return Ok(Put::Insert(whole(text, part)));
    };
    if !root.is_object() {
        return Err(Refusal::Shape { path: "the top level".to_owned(), expected: "an object" });
    }
    match part {
        JsonPart::Server { path, key, value } => put_server(text, &root, (path, key), value),
        JsonPart::Hook { path, value, command } => put_hook(text, &root, path, value, command),
        JsonPart::Needed { key, .. } if root.get(key).is_some() => Ok(Put::Nothing),
        JsonPart::Needed { key, value } => {
            Ok(Put::Insert(insertion(text, &root, &[], |layout| member(key, value, layout))))
        }
    }
}

/// Returns the text without one entry of ours; `None` when there is none. Objects and arrays that are empty then go too,
/// unless they are `kept`.
///
/// # Errors
/// When the text does not parse.
pub(super) fn take(text: &str, part: &JsonPart, kept: &[Vec<String>]) -> Result<Option<String>, Refusal> {
    let Some(root) = parse(text)? else { return Ok(None) };
    let chain = match part {
        JsonPart::Server { path, key, .. } => server_chain(&root, path, key),
        JsonPart::Hook { path, command, .. } => hook_chain(&root, path, command),
        JsonPart::Needed { .. } => None,
    };
    let Some(chain) = chain else { return Ok(None) };
    let mut at = chain.len() - 1;
    while at > 0 && goes_with_its_last(text, &chain, at, kept) {
        at -= 1;
    }
    let (container, index) = chain[at];
    Ok(Some(without(text, container, index)))
}

fn parse(text: &str) -> Result<Option<JsonNode>, Refusal> {
    JsonNode::parse(text).map_err(Refusal::Json)
}

fn put_server(
    text: &str,
    root: &JsonNode,
    (path, key): (&[&str], &str),
    value: &ConfigValue,
) -> Result<Put, Refusal> {
    let (container, left) = deepest(root, path, JsonNode::is_object, "an object")?;
    if left == 0
        && let Some(own) = container.get(key)
    {
        return if own.holds(value) {
            Ok(Put::Nothing)
        } else if OurCommand::Server.is_run_by(own) {
            let merged = merged(text, path, key, value)?;
            Ok(if merged == text { Put::Nothing } else { Put::Update(merged) })
        } else {
            Err(Refusal::Taken(key.to_owned()))
        };
    }
    let inside = &path[..path.len() - left];
    let rest: Vec<&str> = path[path.len() - left..].iter().copied().chain([key]).collect();
    let piece = insertion(text, container, inside, |layout| nested(&rest, value, layout));
    Ok(Put::Insert(piece))
}

fn put_hook(
    text: &str,
    root: &JsonNode,
    path: &[&'static str; 2],
    value: &ConfigValue,
    command: &OurCommand,
) -> Result<Put, Refusal> {
    if let Some(chain) = hook_chain(root, path, command) {
        let (container, index) = chain[chain.len() - 1];
        let leaf = &container.items()[index].node;
        let Some((key, own)) = command.value_in(leaf) else { return Ok(Put::Nothing) };
        let Some(wanted) = find_text(value, key) else { return Ok(Put::Nothing) };
        let line = own.as_text().unwrap_or_default();
        let wanted = command_line(line, wanted);
        if line == wanted {
            return Ok(Put::Nothing);
        }
        let (before, after) = (&text[..own.range.start], &text[own.range.end..]);
        return Ok(Put::Update([before, &quoted(&wanted), after].concat()));
    }
    let (object, left) = deepest(root, &path[..1], JsonNode::is_object, "an object")?;
    if left > 0 {
        let list = ConfigValue::List(vec![value.clone()]);
        return Ok(Put::Insert(insertion(text, root, &[], |layout| nested(path, &list, layout))));
    }
    match object.get(path[1]) {
        Some(array) if array.is_array() => {
            Ok(Put::Insert(insertion(text, array, path, |layout| value.render(layout))))
        }
        Some(_) => Err(Refusal::Shape { path: path.join("."), expected: "an array" }),
        None => {
            let list = ConfigValue::List(vec![value.clone()]);
            Ok(Put::Insert(insertion(text, object, &path[..1], |layout| member(path[1], &list, layout))))
        }
    }
}

/// Returns the innermost container of a path, and how many names of the path are not there.
fn deepest<'a>(
    root: &'a JsonNode,
    path: &[&str],
    fits: impl Fn(&JsonNode) -> bool,
    expected: &'static str,
) -> Result<(&'a JsonNode, usize), Refusal> {
    let mut node = root;
    for (depth, key) in path.iter().enumerate() {
        match node.get(key) {
            Some(inner) if fits(inner) => node = inner,
            Some(_) => return Err(Refusal::Shape { path: path[..=depth].join("."), expected }),
            None => return Ok((node, path.len() - depth)),
        }
    }
    Ok((node, 0))
}

/// Returns the text with our values in an entry that also holds others.
fn merged(text: &str, path: &[&str], key: &str, value: &ConfigValue) -> Result<String, Refusal> {
    let ConfigValue::Map(members) = value else { return Ok(text.to_owned()) };
    let mut text = text.to_owned();
    for (name, wanted) in members {
        let Some(root) = parse(&text)? else { break };
        let entry = path.iter().chain([&key]).try_fold(&root, |node, key| node.get(key));
        let Some(entry) = entry else { break };
        match entry.get(name) {
            Some(own) if own.holds(wanted) => {}
            Some(own) => replace(&mut text, own, wanted),
            None => {
                let piece = insertion(&text, entry, path, |layout| member(name, wanted, layout));
                text.insert_str(piece.at, &piece.text);
            }
        }
    }
    Ok(text)
}

/// Puts our value in the place of another one. What somebody has added to the end of a list stays.
fn replace(text: &mut String, own: &JsonNode, wanted: &ConfigValue) {
    let ConfigValue::List(items) = wanted else {
        return text.replace_range(own.range.clone(), &wanted.render(Layout::Compact));
    };
    if !own.is_array() || own.items().len() < items.len() {
        return text.replace_range(own.range.clone(), &wanted.render(Layout::Compact));
    }
    // From the end, because the places of those before stay valid.
    for (item, own) in items.iter().zip(own.items()).rev() {
        if !own.node.holds(item) {
            text.replace_range(own.range.clone(), &item.render(Layout::Compact));
        }
    }
}

/// Returns the string that a member of this name has, at any depth.
fn find_text<'a>(value: &'a ConfigValue, key: &str) -> Option<&'a str> {
    match value {
        ConfigValue::Map(members) => members.iter().find_map(|(name, value)| match value {
            ConfigValue::Text(text) if name == key => Some(text.as_str()),
            value => find_text(value, key),
        }),
        ConfigValue::List(items) => items.iter().find_map(|item| find_text(item, key)),
        _ => None,
    }
}

fn member(key: &str, value: &ConfigValue, layout: Layout<'_>) -> String {
    format!("{}: {}", quoted(key), value.render(layout))
}

/// Returns a member, with the objects around it that are not there.
fn nested(path: &[&str], value: &ConfigValue, layout: Layout<'_>) -> String {
    let wrap = |value: ConfigValue, key: &&str| ConfigValue::Map(vec![((*key).to_owned(), value)]);
    let inner = path[1..].iter().rev().fold(value.clone(), wrap);
    member(path[0], &inner, layout)
}

/// Returns a document for a text that holds no value.
fn whole(text: &str, part: &JsonPart) -> Piece {
    let (path, value): (Vec<&str>, _) = match part {
        JsonPart::Server { path, key, value } => {
            (path.iter().copied().chain([*key]).collect(), value.clone())
        }
        JsonPart::Hook { path, value, .. } => (path.to_vec(), ConfigValue::List(vec![value.clone()])),
        JsonPart::Needed { key, value } => (vec![*key], value.clone()),
    };
    let eol = eol(text);
    let inner = nested(&path, &value, Layout::Lines { indent: "  ", unit: "  ", eol });
    let gap = if text.is_empty() || text.ends_with('\n') || text == "\u{feff}" { "" } else { eol };
    Piece { at: text.len(), text: format!("{gap}{{{eol}  {inner}{eol}}}{eol}"), inside: Vec::new() }
}

/// Returns the piece that puts an item first into an object or an array.
fn insertion(
    text: &str,
    container: &JsonNode,
    inside: &[&str],
    item: impl Fn(Layout<'_>) -> String,
) -> Piece {
    let (open, close) = (container.range.start + 1, container.range.end - 1);
    let (eol, unit) = (eol(text), indent_unit(text));
    let first = container.items().first().map(|item| item.range.start);
    let base = line_indent(text, container.range.start);
    let lines = |indent: &str| item(Layout::Lines { indent, unit: &unit, eol });
    let is_broken = text[open..first.unwrap_or(close)].contains('\n');
    let (at, piece) = match first {
        Some(first) if is_broken => {
            let indent = line_indent(text, first);
            (past_comment(text, open), format!("{eol}{indent}{},", lines(indent)))
        }
        Some(first) => (first, format!("{}, ", item(Layout::Compact))),
        None => {
            let indent = format!("{base}{unit}");
            let line = format!("{eol}{indent}{}", lines(&indent));
            if is_broken {
                (past_comment(text, open), line)
            } else if inside.is_empty() || text.trim_end().contains('\n') {
                (open, format!("{line}{eol}{base}"))
            } else {
                (open, item(Layout::Compact))
            }
        }
    };
    Piece { at, text: piece, inside: inside.iter().map(|&key| key.to_owned()).collect() }
}

/// The containers on the way to an item, each with the index of the item in it.
type Chain<'a> = Vec<(&'a JsonNode, usize)>;

fn step<'a>(chain: &mut Chain<'a>, node: &'a JsonNode, key: &str) -> Option<&'a JsonNode> {
    if !node.is_object() {
        return None;
    }
    let index = node.items().iter().rposition(|item| item.key == key)?;
    chain.push((node, index));
    Some(&node.items()[index].node)
}

fn server_chain<'a>(root: &'a JsonNode, path: &[&str], key: &str) -> Option<Chain<'a>> {
    let mut chain = Chain::new();
    let mut node = root;
    for key in path.iter().chain([&key]) {
        node = step(&mut chain, node, key)?;
    }
    OurCommand::Server.is_run_by(node).then_some(chain)
}

fn hook_chain<'a>(root: &'a JsonNode, path: &[&str; 2], command: &OurCommand) -> Option<Chain<'a>> {
    let mut chain = Chain::new();
    let object = step(&mut chain, root, path[0])?;
    let array = step(&mut chain, object, path[1])?;
    find_command(array, command, &mut chain).then_some(chain)
}

/// Extends the chain to the object with our command.
fn find_command<'a>(node: &'a JsonNode, command: &OurCommand, chain: &mut Chain<'a>) -> bool {
    if !node.is_array() {
        return false;
    }
    for (index, item) in node.items().iter().enumerate() {
        chain.push((node, index));
        if command.is_run_by(&item.node) {
            return true;
        }
        let depth = chain.len();
        if let Some(group) = step(chain, &item.node, "hooks")
            && find_command(group, command, chain)
        {
            return true;
        }
        chain.truncate(depth - 1);
    }
    false
}

/// Returns whether the container at this place of the chain is removed together with its only item.
fn goes_with_its_last(text: &str, chain: &Chain<'_>, at: usize, kept: &[Vec<String>]) -> bool {
    let (container, index) = chain[at];
    let (parent, place) = chain[at - 1];
    if has_own_comment(text, container) || has_comment_before_value(text, &parent.items()[place]) {
        return false;
    }
    let path: Vec<&str> = chain[..at].iter().map(|(node, index)| node.items()[*index].key.as_str()).collect();
    if kept.iter().any(|kept| *kept == path) {
        return false;
    }
    // A group of hooks is its commands: without them a matcher is nothing.
    let is_group = container.is_object() && container.items()[index].key == "hooks" && parent.is_array();
    container.items().len() == 1 || is_group
}

/// Returns whether a comment stands in a container, outside of its items. We write none.
fn has_own_comment(text: &str, container: &JsonNode) -> bool {
    let mut at = container.range.start;
    let between = container.items().iter().any(|item| {
        let gap = &text[at..item.range.start];
        at = item.range.end;
        gap.contains('/')
    });
    between || text[at..container.range.end].contains('/')
}

/// Returns whether a comment stands between the name of a member and its value.
fn has_comment_before_value(text: &str, item: &JsonItem) -> bool {
    let head = &text[item.range.start..item.node.range.start];
    let mut is_escaped = false;
    let name_end = head.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    name_end.is_some_and(|(end, _)| head[end..].contains('/'))
}

/// Returns the text without an item of a container.
fn without(text: &str, container: &JsonNode, index: usize) -> String {
    let items = container.items();
    let item = &items[index];
    let line = line_start(text, item.range.start);
    let has_own_line = line > container.range.start && text[line..item.range.start].trim().is_empty();
    let end = item.range.end;
    let after = past_trivia(text, end);
    let has_comma = text[after..].starts_with(',');
    let rest =
        if has_comma { [&text[end..after], &text[after + 1..]].concat() } else { text[end..].to_owned() };
    // The line end before the item goes too, if one follows: it may end a comment.
    let ends_line = rest.trim_start_matches([' ', '\t']).starts_with(['\r', '\n']);
    let start = if has_own_line && ends_line { eol_before(text, line) } else { item.range.start };
    let rest = if has_own_line && ends_line { rest.as_str() } else { rest.trim_start_matches([' ', '\t']) };
    let before = index.checked_sub(1).map(|before| past_trivia(text, items[before].range.end));
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

/// Returns the first byte after white space and comments.
fn past_trivia(text: &str, from: usize) -> usize {
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

/// Returns the end of a comment that follows on the same line and ends it, or the place itself.
fn past_comment(text: &str, at: usize) -> usize {
    let line = text[at..].lines().next().unwrap_or_default();
    let rest = line.trim();
    let closes = rest.find("*/").is_some_and(|end| end + 2 == rest.len());
    let is_comment = rest.starts_with("//") || (rest.starts_with("/*") && closes);
    if is_comment { at + line.len() } else { at }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the start of the line end before a line.
fn eol_before(text: &str, line: usize) -> usize {
    let before = &text[..line];
    before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).unwrap_or(before).len()
}

/// Returns the white space that the line of a place begins with.
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns what one level of the text is indented by.
fn indent_unit(text: &str) -> String {
    let indents = text.lines().map(|line| line_indent(line, 0));
    let first = indents.filter(|indent| !indent.is_empty()).min_by_key(|indent| indent.len());
    match first {
        Some(indent) if indent.len() <= 8 => indent.to_owned(),
        _ => "  ".to_owned(),
    }
}

/// Returns the line end of a text.
pub(super) fn eol(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
