//! Imports exported conversations of Claude and ChatGPT as memories.
//!
//! Each conversation becomes one memory; a long one becomes several, so that nothing is cut off. A conversation that has
//! grown since an earlier import is recognised by its id, and `--merge` adds the new messages.

use std::path::Path;

use jiff::Timestamp;
use memod_proto::exchange::Draft;
use memod_terminal::CliError;
use serde_json::{Map, Value, json};

use super::draft_sender::DraftSender;
use super::limited_files::read_text_file;
use crate::args::ImportFormat;

/// Largest file of an export, bytes.
pub(super) const MAX_EXPORT_BYTES: u64 = 1 << 30;
/// Longest part of a conversation, bytes: a quarter of the longest memory.
const MAX_PART_BYTES: usize = 16 << 10;

/// One conversation.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ChatConversation {
    /// Id of the conversation in the export; for Slack, the name of the channel.
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) messages: Vec<ChatMessage>,
}

/// A message with the text that the export has. Conversations are cut into parts by the lengths of these texts, so that the parts
/// are the same whether or not the names of people are known.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ChatMessage {
    pub(super) speaker: String,
    pub(super) text: String,
    pub(super) at: Option<Timestamp>,
}

/// Replaces the ids of people and channels in an export by the names that the chat system shows.
pub(super) trait ChatDisplay {
    /// Returns the name of a speaker.
    fn speaker_name(&self, speaker: &str) -> String;
    /// Returns a message, or a piece of a message, as the chat system shows it.
    fn display_text(&self, text: &str) -> String;
}

/// Leaves texts unchanged, for exports that have no ids.
struct PlainDisplay;

impl ChatDisplay for PlainDisplay {
    fn speaker_name(&self, speaker: &str) -> String {
        speaker.to_owned()
    }

    fn display_text(&self, text: &str) -> String {
        text.to_owned()
    }
}

/// Sends the conversations of an export.
pub(super) fn import_chats(
    source: ImportFormat,
    path: &Path,
    sender: &mut DraftSender<'_>,
) -> Result<(), CliError> {
    let system = match source {
        ImportFormat::Chatgpt => "chatgpt",
        _ => "claude",
    };
    let file = if path.is_dir() { path.join("conversations.json") } else { path.to_owned() };
    let text = read_text_file(&file, MAX_EXPORT_BYTES)?;
    sender.set_source(&file.display().to_string(), "conversation");
    let conversations = parse_conversations(&text).map_err(|why| CliError::Usage {
        message: format!("{}: {why}", path.display()),
        hint: "name the export's conversations.json; unpack the archive first",
    })?;
    for (value, number) in conversations.iter().zip(1..) {
        match parse_conversation(value) {
            Ok(chat) => send_conversation(system, number, &chat, &PlainDisplay, sender)?,
            Err(why) => sender.refuse_entry(number, why),
        }
    }
    Ok(())
}

/// Parses conversations: an array, an object with the key `conversations`, a single object, or one object per line.
pub(super) fn parse_conversations(text: &str) -> Result<Vec<Value>, String> {
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let values: Vec<Value> =
        values.collect::<Result<_, _>>().map_err(|error| format!("not JSON: {error}"))?;
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

/// Parses a conversation. Claude exports a list of messages. ChatGPT exports a tree of messages, of which the branch that was shown
/// last is taken.
pub(super) fn parse_conversation(value: &Value) -> Result<ChatConversation, String> {
    let Value::Object(chat) = value else { return Err("not an object".to_owned()) };
    let name = first_text(chat, &["uuid", "conversation_id", "id"])
        .ok_or("the conversation has no uuid and no id")?;
    let messages = match (chat.get("chat_messages"), chat.get("mapping")) {
        (Some(Value::Array(messages)), _) => messages.iter().filter_map(parse_listed_message).collect(),
        (_, Some(Value::Object(nodes))) => collect_branch(nodes, first_text(chat, &["current_node"])),
        _ => return Err("the conversation has neither chat_messages nor a mapping".to_owned()),
    };
    let title = first_text(chat, &["name", "title"])
        .map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
    Ok(ChatConversation { name, title: title.filter(|title| !title.is_empty()), messages })
}

/// Returns the text at the first of these keys whose value is a text.
fn first_text(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| object.get(*key)?.as_str()).map(str::to_owned)
}

/// Returns the message in an entry of a list, as in exports of Claude.
fn parse_listed_message(value: &Value) -> Option<ChatMessage> {
    let speaker = value["sender"].as_str().or_else(|| value["role"].as_str()).unwrap_or("unknown");
    let text = content_text(&value["text"]).or_else(|| content_text(&value["content"]))?;
    Some(ChatMessage { speaker: speaker_of_role(speaker), text, at: parse_time(&value["created_at"]) })
}

fn speaker_of_role(role: &str) -> String {
    if role == "human" { "user".to_owned() } else { role.to_owned() }
}

/// Returns the text of a message's content, which is a text or has texts among its parts; `None` if there is no text.
pub(super) fn content_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.as_str().or_else(|| part["text"].as_str()))
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Object(content) => content_text(content.get("parts").or_else(|| content.get("text"))?)?,
        _ => return None,
    };
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// Returns the messages from the root to the last node. Visits at most as many nodes as there are, because parents may form a
/// circle.
fn collect_branch(nodes: &Map<String, Value>, last: Option<String>) -> Vec<ChatMessage> {
    let mut next = last.filter(|name| nodes.contains_key(name)).or_else(|| find_last_leaf(nodes));
    let mut messages = Vec::new();
    for _ in 0..nodes.len() {
        let Some(node) = next.as_ref().and_then(|name| nodes.get(name)) else { break };
        messages.extend(parse_node_message(&node["message"]));
        next = node["parent"].as_str().map(str::to_owned);
    }
    messages.reverse();
    messages
}

fn find_last_leaf(nodes: &Map<String, Value>) -> Option<String> {
    let mut from_last = nodes.iter().rev();
    let leaf = from_last.find(|(_, node)| node["children"].as_array().is_none_or(Vec::is_empty));
    leaf.map(|(name, _)| name.clone())
}

/// Returns the message in a node of a tree, as in exports of ChatGPT.
fn parse_node_message(message: &Value) -> Option<ChatMessage> {
    let role = message["author"]["role"].as_str()?;
    let text = content_text(&message["content"]).filter(|_| matches!(role, "user" | "assistant"))?;
    Some(ChatMessage { speaker: role.to_owned(), text, at: parse_time(&message["create_time"]) })
}

/// Parses RFC 3339, or seconds as a number or a string.
pub(super) fn parse_time(value: &Value) -> Option<Timestamp> {
    let text = value.as_str();
    text.and_then(|text| text.parse().ok()).or_else(|| {
        let seconds = value.as_f64().or_else(|| text?.parse().ok())?;
        Timestamp::from_millisecond((seconds * 1_000.0).round() as i64).ok()
    })
}

/// Sends the parts of a conversation, which is the `number`th of its export, 1-based.
pub(super) fn send_conversation(
    system: &str,
    number: u64,
    chat: &ChatConversation,
    display: &impl ChatDisplay,
    sender: &mut DraftSender<'_>,
) -> Result<(), CliError> {
    if chat.messages.is_empty() {
        sender.add_note("conversations without messages were left out".to_owned());
        return Ok(());
    }
    build_drafts(system, number, chat, display)
        .into_iter()
        .try_for_each(|draft| sender.add_draft(draft, None))
}

fn build_drafts(
    system: &str,
    number: u64,
    chat: &ChatConversation,
    display: &impl ChatDisplay,
) -> Vec<Draft> {
    let parts = split_into_parts(&chat.messages, display);
    let n_parts = parts.len();
    let numbered = parts.into_iter().zip(1..);
    let drafts = numbered.map(|(ChatPart { text, times, .. }, part)| {
        let title = chat.title.as_deref().map(|title| {
            let cut: String = title.chars().take(100).collect();
            if n_parts > 1 { format!("{cut} ({part}/{n_parts})") } else { cut }
        });
        let imported = json!({ "from": system, "id": chat.name, "part": part });
        Draft {
            line: number,
            original: Some(format!("{system}:{}#{part}", chat.name)),
            content: text,
            title,
            tags: vec!["chat".to_owned(), system.to_owned()],
            created: times.iter().min().map(format_time),
            updated: times.iter().max().map(format_time),
            metadata: Map::from_iter([("imported".to_owned(), imported)]),
            ..Draft::default()
        }
    });
    drafts.collect()
}

fn format_time(time: &Timestamp) -> String {
    format!("{time:.3}")
}

/// A part of a conversation.
struct ChatPart {
    text: String,
    /// Length of the part's text in the export, bytes.
    n_bytes: usize,
    times: Vec<Timestamp>,
}

/// Cuts a conversation into parts of at most [`MAX_PART_BYTES`] of the export, between messages where possible.
fn split_into_parts(messages: &[ChatMessage], display: &impl ChatDisplay) -> Vec<ChatPart> {
    let mut parts: Vec<ChatPart> = Vec::new();
    for message in messages {
        let head = format!("{}: ", message.speaker);
        let mut rest = format!("{head}{}", message.text);
        let mut is_first = true;
        while !rest.is_empty() {
            let piece: String = rest.drain(..rest.floor_char_boundary(MAX_PART_BYTES)).collect();
            let text = match piece.strip_prefix(&head).filter(|_| is_first) {
                Some(text) => {
                    format!("{}: {}", display.speaker_name(&message.speaker), display.display_text(text))
                }
                None => display.display_text(&piece),
            };
            is_first = false;
            match parts.last_mut().filter(|part| part.n_bytes + 2 + piece.len() <= MAX_PART_BYTES) {
                Some(part) => {
                    part.text += &format!("\n\n{text}");
                    part.n_bytes += 2 + piece.len();
                    part.times.extend(message.at);
                }
                None => {
                    let times = message.at.into_iter().collect();
                    parts.push(ChatPart { text, n_bytes: piece.len(), times });
                }
            }
        }
    }
    parts
}
