//! Brings what is ours into the text of one file, and takes it out again.

use std::collections::BTreeMap;

use super::Refusal;
use super::json_edit::{Put, put};
use super::json_insert::Piece;
use super::json_part::JsonPart;
use super::json_remove::take;
use super::json_tree::JsonNode;
use super::marked_section::{self, Marks};

/// What is ours in a file.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// Entries in JSON.
    Json(Vec<JsonPart>),
    /// A section of Markdown.
    Section(String),
    /// A section of TOML that defines this table.
    Toml {
        /// The lines.
        section: String,
        /// Names of the tables around it, and its own.
        table: [&'static str; 2],
    },
    /// All of it.
    Whole(String),
}

/// A text with what is ours.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Installed {
    /// The text.
    pub(super) text: String,
    /// What was inserted, in this order; empty where the text alone says it.
    pub(super) pieces: Vec<Piece>,
}

/// Returns the text with what is ours; `None` when it has all of it.
///
/// `before` is `None` for a file that does not exist, and `recorded` what was inserted earlier.
///
/// # Errors
/// When the text cannot be read as what it should be, or holds somebody else's entry of our name.
pub(super) fn install(
    content: &Content,
    before: Option<&str>,
    recorded: &[Piece],
) -> Result<Option<Installed>, Refusal> {
    let text = before.unwrap_or_default();
    let installed = match content {
        Content::Json(parts) => install_json(parts, text, recorded)?,
        Content::Section(lines) => Installed::bare(marked_section::insert(text, Marks::Html, lines)?),
        Content::Toml { section, table } => Installed::bare(install_toml(text, section, *table)?),
        Content::Whole(wanted) => match before {
            Some(text) if text != wanted && recorded.first().is_none_or(|whole| whole.text != text) => {
                return Err(Refusal::Foreign);
            }
            _ => {
                let whole = Piece { at: 0, text: wanted.clone(), inside: Vec::new() };
                Installed { text: wanted.clone(), pieces: vec![whole] }
            }
        },
    };
    Ok(if before == Some(&installed.text) { None } else { Some(installed) })
}

/// Returns the text without what is ours, empty when nothing but the frame of its format is left; `None` when nothing of
/// ours is in it.
///
/// # Errors
/// When the text cannot be read as what it should be, or a person has changed what was wholly ours.
pub(super) fn uninstall(
    content: &Content,
    text: &str,
    recorded: &[Piece],
) -> Result<Option<String>, Refusal> {
    match content {
        Content::Json(parts) => uninstall_json(parts, text, recorded),
        Content::Section(lines) => {
            let removed = marked_section::remove(text, Marks::Html, lines)?;
            Ok(removed.map(|removed| removed.with(removed.added)))
        }
        Content::Toml { section, table } => uninstall_toml(text, section, *table),
        Content::Whole(wanted) => {
            let is_ours = text == wanted || recorded.first().is_some_and(|whole| whole.text == text);
            if is_ours { Ok(Some(String::new())) } else { Err(Refusal::Foreign) }
        }
    }
}

/// Returns whether a text is only what a file of ours began with.
pub(super) fn is_bare(content: &Content, text: &str) -> bool {
    match content {
        // A comment is somebody's.
        Content::Json(_) if text.contains("//") || text.contains("/*") => false,
        Content::Json(parts) => match JsonNode::parse(text) {
            Ok(Some(root)) => root.is_object() && root.items().iter().all(|item| is_needed(parts, &item.key)),
            Ok(None) => text.trim_matches('\u{feff}').trim().is_empty(),
            Err(_) => false,
        },
        Content::Section(_) | Content::Toml { .. } | Content::Whole(_) => text.trim().is_empty(),
    }
}

fn is_needed(parts: &[JsonPart], key: &str) -> bool {
    parts.iter().any(|part| matches!(part, JsonPart::Needed { key: needed, .. } if *needed == key))
}

impl Installed {
    fn bare(text: String) -> Self {
        Self { text, pieces: Vec::new() }
    }
}

fn install_json(parts: &[JsonPart], text: &str, recorded: &[Piece]) -> Result<Installed, Refusal> {
    let mut is_whole = true;
    for part in parts {
        is_whole &= put(text, part)? == Put::Nothing;
    }
    if is_whole {
        return Ok(Installed { text: text.to_owned(), pieces: recorded.to_vec() });
    }
    // What an earlier version has inserted is inserted anew, as long as it stands there unchanged.
    let bare = without_pieces(text, recorded);
    let mut installed = Installed::bare(bare.unwrap_or_else(|| text.to_owned()));
    let theirs = JsonNode::parse(&installed.text)?;
    // Each goes first in its object, so the last one begins.
    for part in parts.iter().rev() {
        match put(&installed.text, part)? {
            Put::Nothing => {}
            Put::Update(text) => installed.text = text,
            Put::Insert(mut piece) => {
                installed.text.insert_str(piece.at, &piece.text);
                piece.inside.truncate(theirs.as_ref().map_or(0, |root| depth_of(root, &piece.inside)));
                installed.pieces.push(piece);
            }
        }
    }
    match JsonNode::parse(&installed.text)? {
        Some(_) => Ok(installed),
        None => Err(Refusal::Json("nothing is left".to_owned())),
    }
}

fn uninstall_json(parts: &[JsonPart], text: &str, recorded: &[Piece]) -> Result<Option<String>, Refusal> {
    JsonNode::parse(text)?;
    let kept: Vec<Vec<String>> = recorded.iter().map(|piece| piece.inside.clone()).collect();
    let exact = if recorded.is_empty() { None } else { without_pieces(text, recorded) };
    let mut left = exact.unwrap_or_else(|| text.to_owned());
    for part in parts {
        while let Some(less) = take(&left, part, &kept)? {
            left = less;
        }
    }
    JsonNode::parse(&left)?;
    Ok((left != text).then_some(left))
}

/// Returns how many names of a path lead to an object or an array.
fn depth_of(root: &JsonNode, path: &[String]) -> usize {
    let mut node = root;
    let found = path.iter().take_while(|key| node.get(key).inspect(|inner| node = inner).is_some());
    found.count()
}

/// Returns the text without the pieces, if each is in it once and the rest still parses.
fn without_pieces(text: &str, pieces: &[Piece]) -> Option<String> {
    let mut left = text.to_owned();
    for piece in pieces.iter().rev() {
        let is_at = |at: usize| left.get(at..).is_some_and(|rest| rest.starts_with(&piece.text));
        let at = if is_at(piece.at) {
            piece.at
        } else {
            let mut found = left.match_indices(&piece.text).map(|(at, _)| at);
            let only = found.next()?;
            if found.next().is_some() {
                return None;
            }
            only
        };
        left.replace_range(at..at + piece.text.len(), "");
    }
    JsonNode::parse(&left).is_ok().then_some(left)
}

fn install_toml(text: &str, section: &str, [parent, name]: [&'static str; 2]) -> Result<String, Refusal> {
    let bare = uninstall_toml(text, section, [parent, name])?;
    let others = parse_toml(bare.as_deref().unwrap_or(text))?;
    match others.get(parent) {
        Some(item) if item.as_table_like().is_some_and(|table| table.contains_key(name)) => {
            return Err(Refusal::Taken(name.to_owned()));
        }
        Some(item) if item.is_inline_table() || !item.is_table_like() => {
            return Err(Refusal::Shape { path: parent.to_owned(), expected: "a table with a header" });
        }
        _ => {}
    }
    let installed = marked_section::insert(text, Marks::Hash, section)?;
    let parsed = parse_toml(&installed)?;
    let is_in = parsed.get(parent).and_then(|item| item.as_table_like()?.get(name)).is_some();
    if is_in { Ok(installed) } else { Err(Refusal::Toml(format!("no place for a table {parent}.{name}"))) }
}

fn uninstall_toml(text: &str, section: &str, [parent, name]: [&str; 2]) -> Result<Option<String>, Refusal> {
    let Some(removed) = marked_section::remove(text, Marks::Hash, section)? else { return Ok(None) };
    let left = removed.with(&other_tables(removed.added, &format!("{parent}.{name}")));
    let mut others = parse_toml(text)?;
    if let Some(tables) = others.get_mut(parent).and_then(|item| item.as_table_like_mut()) {
        tables.remove(name);
    }
    // The lines were found by their beginnings; what they mean decides.
    let is_exact = values(parse_toml(&left)?.as_table()) == values(others.as_table());
    if is_exact { Ok(Some(left)) } else { Err(Refusal::Foreign) }
}

/// Returns lines of TOML without those that belong to a table, in which they begin. A comment goes with what follows it.
fn other_tables(lines: &str, table: &str) -> String {
    let (own, inner) = (format!("[{table}]"), format!("[{table}."));
    let (mut kept, mut comment, mut is_kept) = (String::new(), String::new(), false);
    for line in lines.split_inclusive('\n') {
        let start = line.trim_start();
        if start.is_empty() || start.starts_with('#') {
            comment += line;
            continue;
        }
        if start.starts_with('[') {
            is_kept = !start.starts_with(&own) && !start.starts_with(&inner);
        }
        let comment = std::mem::take(&mut comment);
        if is_kept {
            kept += &comment;
            kept += line;
        }
    }
    if comment.trim().is_empty() && kept.is_empty() { kept } else { kept + &comment }
}

/// Returns the values of TOML with the names that lead to them. Tables that hold none do not count.
fn values(table: &dyn toml_edit::TableLike) -> BTreeMap<Vec<String>, String> {
    let mut all = BTreeMap::new();
    for (key, item) in table.iter() {
        match item.as_table_like() {
            Some(inner) => {
                let inner = values(inner).into_iter();
                all.extend(inner.map(|(path, value)| ([vec![key.to_owned()], path].concat(), value)));
            }
            None => drop(all.insert(vec![key.to_owned()], item.to_string().trim().to_owned())),
        }
    }
    all
}

fn parse_toml(text: &str) -> Result<toml_edit::DocumentMut, Refusal> {
    text.parse().map_err(|error: toml_edit::TomlError| Refusal::Toml(error.message().to_owned()))
}

#[cfg(test)]
mod tests;
