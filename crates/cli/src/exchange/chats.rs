//! Reads exported conversations of Claude and ChatGPT, and makes memories of conversations.
//!
//! Each conversation becomes one memory; a long one becomes several, so that nothing is cut off. A conversation that has
//! grown is recognised by its name, and `--merge` adds what is new.

use std::path::Path;

use jiff::Timestamp;
use memod_proto::exchange::Draft;
use serde_json::{Map, Value, json};

use super::files::text_of;
use super::send::Sender;
use crate::args::From;
use crate::error::CliError;

/// Largest file of an export, bytes.
pub(super) const MOST_BYTES: u64 = 1 << 30;
/// Longest part of a conversation, bytes: a quarter of what a memory may hold.
const PART_BYTES: usize = 16 << 10;

/// One conversation.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chat {
    /// Its name in the export.
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) messages: Vec<Message>,
}

/// A message as the export has it. Conversations are cut by these texts, so that the parts are the same whether or not the names
/// of people are known.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Message {
    pub(super) who: String,
    pub(super) text: String,
    pub(super) at: Option<Timestamp>,
}

/// Makes an export readable.
pub(super) trait Readable {
    /// Returns the name of a speaker.
    fn name(&self, who: &str) -> String;
    /// Returns a message, or a piece of it, as the system shows it.
    fn text(&self, text: &str) -> String;
}

/// Exports that are readable.
struct Plain;

impl Readable for Plain {
    fn name(&self, who: &str) -> String {
        who.to_owned()
    }

    fn text(&self, text: &str) -> String {
        text.to_owned()
    }
}

pub(super) fn read(from: From, path: &Path, sender: &mut Sender<'_>) -> Result<(), CliError> {
    let system = match from {
        From::Chatgpt => "chatgpt",
        _ => "claude",
    };
    let wrong = |why: String| CliError::Usage {
        message: format!("{}: {why}", path.display()),
        hint: "the export's conversations.json is needed; unpack the archive first",
    };
    let path = if path.is_dir() { path.join("conversations.json") } else { path.to_owned() };
    let text = text_of(&path, MOST_BYTES)?;
    sender.at(&path.display().to_string(), "conversation");
    for (value, number) in conversations(&text).map_err(wrong)?.iter().zip(1..) {
        match chat(value) {
            Ok(chat) => send(system, number, &chat, &Plain, sender)?,
            Err(why) => sender.refuse(number, why),
        }
    }
    Ok(())
}

/// An array of them, or one a line.
pub(super) fn conversations(text: &str) -> Result<Vec<Value>, String> {
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let values: Vec<Value> = values.collect::<Result<_, _>>().map_err(|error| format!("no JSON: {error}"))?;
    match <[Value; 1]>::try_from(values) {
        Ok([Value::Array(conversations)]) => Ok(conversations),
        Ok([Value::Object(mut whole)]) if whole.get("conversations").is_some_and(Value::is_array) => {
            match whole.remove("conversations") {
                Some(Value::Array(conversations)) => Ok(conversations),
                _ => Ok(Vec::new()),
            }
        }
        Ok([one @ Value::Object(_)]) => Ok(vec![one]),
        Ok([_]) => Err("neither an array nor an object".to_owned()),
        Err(lines) if lines.is_empty() => Err("empty".to_owned()),
        Err(lines) => Ok(lines),
    }
}

/// Claude lists messages. ChatGPT keeps a tree of messages, of which the branch shown last counts.
pub(super) fn chat(value: &Value) -> Result<Chat, String> {
    let Value::Object(chat) = value else { return Err("no object".to_owned()) };
    let text = |names: &[&str]| names.iter().find_map(|name| chat.get(*name)?.as_str()).map(str::to_owned);
    let name = text(&["uuid", "conversation_id", "id"]).ok_or("it has no uuid and no id")?;
    let messages = match (chat.get("chat_messages"), chat.get("mapping")) {
        (Some(Value::Array(messages)), _) => messages.iter().filter_map(of_list).collect(),
        (_, Some(Value::Object(nodes))) => branch(nodes, text(&["current_node"])),
        _ => return Err("it has neither chat_messages nor a mapping".to_owned()),
    };
    let title = text(&["name", "title"]).map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
    Ok(Chat { name, title: title.filter(|title| !title.is_empty()), messages })
}

fn of_list(value: &Value) -> Option<Message> {
    let who = value["sender"].as_str().or_else(|| value["role"].as_str()).unwrap_or("unknown");
    let text = said(&value["text"]).or_else(|| said(&value["content"]))?;
    Some(Message { who: speaker(who), text, at: time(&value["created_at"]) })
}

fn speaker(role: &str) -> String {
    if role == "human" { "user".to_owned() } else { role.to_owned() }
}

/// Returns the content of a message: a text, or the texts among its parts.
pub(super) fn said(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.as_str().or_else(|| part["text"].as_str()))
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Object(content) => said(content.get("parts").or_else(|| content.get("text"))?)?,
        _ => return None,
    };
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// Follows the parents from the last node up, and stops at a node that was seen before.
fn branch(nodes: &Map<String, Value>, last: Option<String>) -> Vec<Message> {
    let is_leaf = |node: &Value| node["children"].as_array().is_none_or(Vec::is_empty);
    let leaf = || nodes.iter().rev().find(|(_, node)| is_leaf(node)).map(|(name, _)| name.clone());
    let mut next = last.filter(|name| nodes.contains_key(name)).or_else(leaf);
    let mut messages = Vec::new();
    for _ in 0..nodes.len() {
        let Some(node) = next.as_ref().and_then(|name| nodes.get(name)) else { break };
        messages.extend(of_node(&node["message"]));
        next = node["parent"].as_str().map(str::to_owned);
    }
    messages.reverse();
    messages
}

fn of_node(message: &Value) -> Option<Message> {
    let role = message["author"]["role"].as_str()?;
    let text = said(&message["content"]).filter(|_| matches!(role, "user" | "assistant"))?;
    Some(Message { who: role.to_owned(), text, at: time(&message["create_time"]) })
}

/// Parses RFC 3339, or seconds as a number or a string.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    let text = value.as_str();
    let of_seconds = || {
        let seconds = value.as_f64().or_else(|| text?.parse().ok())?;
        Timestamp::from_millisecond((seconds * 1_000.0).round() as i64).ok()
    };
    text.and_then(|text| text.parse().ok()).or_else(of_seconds)
}

/// Sends the parts of a conversation, the `number`th of its export.
pub(super) fn send(
    system: &str,
    number: u64,
    chat: &Chat,
    readable: &impl Readable,
    sender: &mut Sender<'_>,
) -> Result<(), CliError> {
    if chat.messages.is_empty() {
        sender.note("conversations without a word were left out".to_owned());
        return Ok(());
    }
    drafts(system, number, chat, readable).into_iter().try_for_each(|draft| sender.draft(draft, None))
}

fn drafts(system: &str, number: u64, chat: &Chat, readable: &impl Readable) -> Vec<Draft> {
    let parts = parts(&chat.messages, readable);
    let n_parts = parts.len();
    let draft = |(part, Part { text, times, .. }): (usize, Part)| {
        let title = chat.title.as_deref().map(|title| {
            let cut: String = title.chars().take(100).collect();
            if n_parts > 1 { format!("{cut} ({}/{n_parts})", part + 1) } else { cut }
        });
        let time = |at: Option<&Timestamp>| at.map(|at| format!("{at:.3}"));
        let imported = json!({ "from": system, "id": chat.name, "part": part + 1 });
        Draft {
            line: number,
            original: Some(format!("{system}:{}#{}", chat.name, part + 1)),
            content: text,
            title,
            tags: vec!["chat".to_owned(), system.to_owned()],
            created: time(times.iter().min()),
            updated: time(times.iter().max()),
            metadata: Map::from_iter([("imported".to_owned(), imported)]),
            ..Draft::default()
        }
    };
    parts.into_iter().enumerate().map(draft).collect()
}

/// A part of a conversation.
struct Part {
    text: String,
    /// Length in the export.
    n_bytes: usize,
    times: Vec<Timestamp>,
}

/// Cuts a conversation into parts of at most [`PART_BYTES`] of the export, between messages where possible.
fn parts(messages: &[Message], readable: &impl Readable) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for message in messages {
        let head = format!("{}: ", message.who);
        let mut rest = format!("{head}{}", message.text);
        let mut is_first = true;
        while !rest.is_empty() {
            let piece: String = rest.drain(..rest.floor_char_boundary(PART_BYTES)).collect();
            let text = match piece.strip_prefix(&head).filter(|_| is_first) {
                Some(text) => format!("{}: {}", readable.name(&message.who), readable.text(text)),
                None => readable.text(&piece),
            };
            is_first = false;
            match parts.last_mut().filter(|part| part.n_bytes + 2 + piece.len() <= PART_BYTES) {
                Some(part) => {
                    part.text += &format!("\n\n{text}");
                    part.n_bytes += 2 + piece.len();
                    part.times.extend(message.at);
                }
                None => {
                    let times = message.at.into_iter().collect();
                    parts.push(Part { text, n_bytes: piece.len(), times });
                }
            }
        }
    }
    parts
}
