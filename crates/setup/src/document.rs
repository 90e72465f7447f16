//! Inserts our content into the text of a settings file, and removes it.

use std::collections::BTreeMap;

use super::Refusal;
use super::marked_section::{self, MarkSyntax};
use crate::json::json_edit::{JsonEdit, plan_edit};
use crate::json::json_insert::InsertedPiece;
use crate::json::json_part::JsonPart;
use crate::json::json_remove::remove_part;
use crate::json::json_tree::JsonNode;

/// Our content in a settings file.
#[derive(Clone, Debug)]
pub(super) enum FileContent {
    /// Entries in JSON.
    Json(Vec<JsonPart>),
    /// A section of Markdown.
    Section(String),
    /// A section of TOML that defines this table.
    Toml {
        /// The lines of the section.
        section: String,
        /// Name of the parent table, and name of the table in it.
        table: [&'static str; 2],
    },
    /// The whole file.
    Whole(String),
}

/// The text of a file with our content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InstalledText {
    /// The text.
    pub(super) text: String,
    /// The inserted pieces, in the order of insertion; empty where the text alone shows what is ours.
    pub(super) pieces: Vec<InsertedPiece>,
}

/// Returns the text with our content inserted; `None` if the text already has all of the content.
///
/// `before` is `None` for a file that does not exist, and `recorded` lists the pieces that were inserted earlier.
///
/// # Errors
/// When the text does not parse in its format, or has an entry of our name that somebody else wrote.
pub(super) fn install_content(
    content: &FileContent,
    before: Option<&str>,
    recorded: &[InsertedPiece],
) -> Result<Option<InstalledText>, Refusal> {
    let text = before.unwrap_or_default();
    let installed = match content {
        FileContent::Json(parts) => install_json(parts, text, recorded)?,
        FileContent::Section(lines) => {
            InstalledText::from_text(marked_section::insert_section(text, MarkSyntax::Html, lines)?)
        }
        FileContent::Toml { section, table } => {
            InstalledText::from_text(install_toml(text, section, *table)?)
        }
        FileContent::Whole(wanted) => match before {
            Some(text) if text != wanted && recorded.first().is_none_or(|whole| whole.text != text) => {
                return Err(Refusal::WrittenByOthers);
            }
            _ => {
                let whole = InsertedPiece { at: 0, text: wanted.clone(), inside: Vec::new() };
                InstalledText { text: wanted.clone(), pieces: vec![whole] }
            }
        },
    };
    Ok(if before == Some(&installed.text) { None } else { Some(installed) })
}

/// Returns the text without our content; `None` if the text has nothing of ours.
///
/// # Errors
/// When the text does not parse in its format, or somebody has changed a section or file of ours.
pub(super) fn uninstall_content(
    content: &FileContent,
    text: &str,
    recorded: &[InsertedPiece],
) -> Result<Option<String>, Refusal> {
    match content {
        FileContent::Json(parts) => uninstall_json(parts, text, recorded),
        FileContent::Section(lines) => {
            let removed = marked_section::remove_section(text, MarkSyntax::Html, lines)?;
            Ok(removed.map(|removed| removed.join_with(removed.added)))
        }
        FileContent::Toml { section, table } => uninstall_toml(text, section, *table),
        FileContent::Whole(wanted) => {
            let is_ours = text == wanted || recorded.first().is_some_and(|whole| whole.text == text);
            if is_ours { Ok(Some(String::new())) } else { Err(Refusal::WrittenByOthers) }
        }
    }
}

/// Returns whether a text has no content of others, so that a file that we created can be deleted.
pub(super) fn has_only_frame(content: &FileContent, text: &str) -> bool {
    match content {
        // We write no comments, so a comment is somebody else's.
        FileContent::Json(_) if text.contains("//") || text.contains("/*") => false,
        FileContent::Json(parts) => match JsonNode::parse(text) {
            Ok(Some(root)) => {
                root.is_object() && root.items().iter().all(|item| is_required_member(parts, &item.key))
            }
            Ok(None) => text.trim_matches('\u{feff}').trim().is_empty(),
            Err(_) => false,
        },
        FileContent::Section(_) | FileContent::Toml { .. } | FileContent::Whole(_) => text.trim().is_empty(),
    }
}

/// Returns whether the format requires a member with this key.
fn is_required_member(parts: &[JsonPart], key: &str) -> bool {
    parts.iter().any(|part| matches!(part, JsonPart::RequiredMember { key: needed, .. } if *needed == key))
}

impl InstalledText {
    fn from_text(text: String) -> Self {
        Self { text, pieces: Vec::new() }
    }
}

fn install_json(
    parts: &[JsonPart],
    text: &str,
    recorded: &[InsertedPiece],
) -> Result<InstalledText, Refusal> {
    let mut is_whole = true;
    for part in parts {
        is_whole &= plan_edit(text, part)? == JsonEdit::Nothing;
    }
    if is_whole {
        return Ok(InstalledText { text: text.to_owned(), pieces: recorded.to_vec() });
    }
    // If the pieces that an earlier version inserted are unchanged, new ones replace them.
    let bare = remove_pieces(text, recorded);
    let mut installed = InstalledText::from_text(bare.unwrap_or_else(|| text.to_owned()));
    let theirs = JsonNode::parse(&installed.text)?;
    // Each part is inserted at the start of its object, so the last part is inserted first.
    for part in parts.iter().rev() {
        match plan_edit(&installed.text, part)? {
            JsonEdit::Nothing => {}
            JsonEdit::Update(text) => installed.text = text,
            JsonEdit::Insert(mut piece) => {
                installed.text.insert_str(piece.at, &piece.text);
                piece
                    .inside
                    .truncate(theirs.as_ref().map_or(0, |root| count_existing_keys(root, &piece.inside)));
                installed.pieces.push(piece);
            }
        }
    }
    match JsonNode::parse(&installed.text)? {
        Some(_) => Ok(installed),
        None => Err(Refusal::Json("it would be empty".to_owned())),
    }
}

fn uninstall_json(
    parts: &[JsonPart],
    text: &str,
    recorded: &[InsertedPiece],
) -> Result<Option<String>, Refusal> {
    JsonNode::parse(text)?;
    let kept: Vec<Vec<String>> = recorded.iter().map(|piece| piece.inside.clone()).collect();
    let exact = if recorded.is_empty() { None } else { remove_pieces(text, recorded) };
    let mut left = exact.unwrap_or_else(|| text.to_owned());
    for part in parts {
        while let Some(less) = remove_part(&left, part, &kept)? {
            left = less;
        }
    }
    JsonNode::parse(&left)?;
    Ok((left != text).then_some(left))
}

/// Returns how many leading keys of a path exist in the document.
fn count_existing_keys(root: &JsonNode, path: &[String]) -> usize {
    let mut node = root;
    let found = path.iter().take_while(|key| node.get(key).inspect(|inner| node = inner).is_some());
    found.count()
}

/// Returns the text without the pieces. `None` if a piece is not at its place and not exactly once in the text, or if the rest
/// does not parse.
fn remove_pieces(text: &str, pieces: &[InsertedPiece]) -> Option<String> {
    let mut left = text.to_owned();
    for piece in pieces.iter().rev() {
        let at = if left.get(piece.at..).is_some_and(|rest| rest.starts_with(&piece.text)) {
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
            return Err(Refusal::NameTaken(name.to_owned()));
        }
        Some(item) if item.is_inline_table() || !item.is_table_like() => {
            return Err(Refusal::WrongType { path: parent.to_owned(), expected: "a table with a header" });
        }
        _ => {}
    }
    let installed = marked_section::insert_section(text, MarkSyntax::Hash, section)?;
    let parsed = parse_toml(&installed)?;
    let is_in = parsed.get(parent).and_then(|item| item.as_table_like()?.get(name)).is_some();
    if is_in {
        Ok(installed)
    } else {
        Err(Refusal::Toml(format!("a table {parent}.{name} cannot be inserted")))
    }
}

fn uninstall_toml(text: &str, section: &str, [parent, name]: [&str; 2]) -> Result<Option<String>, Refusal> {
    let Some(removed) = marked_section::remove_section(text, MarkSyntax::Hash, section)? else {
        return Ok(None);
    };
    let left = removed.join_with(&remove_table_lines(removed.added, &format!("{parent}.{name}")));
    let mut others = parse_toml(text)?;
    if let Some(tables) = others.get_mut(parent).and_then(|item| item.as_table_like_mut()) {
        tables.remove(name);
    }
    // The lines were chosen by how they begin. Compare the parsed values, to be sure that only our table is removed.
    let is_exact = collect_values(parse_toml(&left)?.as_table()) == collect_values(others.as_table());
    if is_exact { Ok(Some(left)) } else { Err(Refusal::WrittenByOthers) }
}

/// Returns lines of TOML without the lines of a table and its subtables. The first lines are taken to be in that table. A comment
/// belongs to the line after it.
fn remove_table_lines(lines: &str, table: &str) -> String {
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

/// Returns the values of a TOML table by the keys that lead to them. Tables without values are ignored.
fn collect_values(table: &dyn toml_edit::TableLike) -> BTreeMap<Vec<String>, String> {
    let mut all = BTreeMap::new();
    for (key, item) in table.iter() {
        match item.as_table_like() {
            Some(inner) => {
                let inner = collect_values(inner).into_iter();
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
