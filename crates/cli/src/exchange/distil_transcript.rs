//! Runs `memo distil`: has a language model propose memories from the transcript of a session.

use std::path::Path;

use memod_memory::outgoing::{OutgoingText, clean_outgoing_text};
use memod_proto::{LlmDistilParams, LlmDistilResult, LlmRequest};
use memod_terminal::text::format_count;
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};
use serde_json::{Map, Value, json};

use super::import_chats::{content_text, parse_conversation, parse_conversations};
use super::limited_files::read_text_file;
use crate::args::DistilArgs;
use crate::llm::{call_llm, show_dry_run};

/// Largest transcript, bytes.
const MAX_TRANSCRIPT_BYTES: u64 = 64 << 20;
/// Longest part of a transcript that is sent in one request, bytes.
const MAX_PART_BYTES: usize = 12 << 10;
/// Longest message that is sent whole, bytes: a longer one is most likely a file or the output of a tool.
const MAX_MESSAGE_BYTES: usize = 4 << 10;
/// Confidence of a memory that a model proposes; half that of a memory from a person.
const CONFIDENCE: f64 = 0.5;

/// Prints the memories that the model proposes from a transcript, one JSON object per line, as `memo import` reads them. Exits with
/// 1 when there are none, or when the transcript was not read completely.
pub(crate) fn distil_transcript(
    typed: &DistilArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let text = read_text_file(&typed.path, MAX_TRANSCRIPT_BYTES)?;
    let parts = join_into_parts(&parse_messages(&text));
    if parts.is_empty() {
        let message = format!("{}: no messages in this file", typed.path.display());
        return Err(CliError::Usage {
            message,
            hint: "name a transcript of Claude Code or Codex, or a text",
        });
    }
    let (mut requests, mut n_found, mut problem) = (Vec::new(), 0, None);
    for (nth, part) in parts.into_iter().enumerate() {
        let params = LlmDistilParams { cwd: context.cwd.clone(), text: part.text, dry_run: typed.dry_run };
        let result: LlmDistilResult = call_llm("llm.distil", &params, context)?;
        let sent = result.requests.into_iter();
        requests.extend(sent.map(|request| LlmRequest { cut: request.cut + part.n_cut, ..request }));
        for memory in result.memories {
            let mut line = serde_json::to_value(memory).map_err(std::io::Error::from)?;
            line["confidence"] = json!(CONFIDENCE);
            line["metadata"] = json!({ "distilled": { "from": file_name_of(&typed.path), "part": nth + 1 } });
            output.write_line(&line.to_string())?;
            n_found += 1;
        }
        output.flush()?;
        problem = result.problem;
        if problem.is_some() {
            break; // the next part most likely has the same problem
        }
    }
    if typed.dry_run {
        return show_dry_run(&requests, problem.as_deref(), output);
    }
    if let Some(problem) = &problem {
        output.write_note(&format!("the transcript was not read completely: {problem}"));
    }
    if n_found > 0 {
        let found = format_count(n_found, "memory is proposed", "memories are proposed");
        output.write_note(&format!("{found}; check the lines, then import them with `memo import FILE`"));
    } else {
        output.write_note("nothing is proposed");
    }
    Ok(if n_found == 0 || problem.is_some() { EXIT_NOTHING_FOUND } else { 0 })
}

fn file_name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the messages of a transcript, each with its speaker: those of lines of JSON, those of exported conversations, or else
/// the paragraphs of the text, without a speaker.
///
/// Text that must not leave the machine is cut out before messages are shortened, because half of a credential is not recognised.
fn parse_messages(text: &str) -> Vec<OutgoingText> {
    let of_lines: Vec<OutgoingText> =
        text.lines().filter_map(|line| parse_message(&serde_json::from_str(line).ok()?)).collect();
    if !of_lines.is_empty() {
        return of_lines;
    }
    let chats = parse_conversations(text).unwrap_or_default();
    let of_chats =
        chats.iter().filter_map(|value| parse_conversation(value).ok()).flat_map(|chat| chat.messages);
    let of_chats: Vec<OutgoingText> =
        of_chats.map(|message| outgoing_message(&message.speaker, &message.text)).collect();
    if !of_chats.is_empty() || serde_json::from_str::<Value>(text).is_ok() {
        return of_chats;
    }
    let OutgoingText { text, n_cut } = clean_outgoing_text(text, None);
    let parts = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    let mut parts: Vec<_> =
        parts.map(|part| OutgoingText { text: shorten_message(part), n_cut: 0 }).collect();
    if let Some(first) = parts.first_mut() {
        first.n_cut = n_cut;
    }
    parts
}

fn outgoing_message(speaker: &str, text: &str) -> OutgoingText {
    let OutgoingText { text, n_cut } = clean_outgoing_text(text, None);
    OutgoingText { text: format!("{speaker}: {}", shorten_message(&text)), n_cut }
}

/// Returns the message in a line of Claude Code (`message`), of Codex (`payload`), or of a plain list; `None` if the line has no
/// message of a person or model. Calls of tools and their output are left out.
fn parse_message(line: &Value) -> Option<OutgoingText> {
    let objects = [line.get("message"), line.get("payload"), Some(line)].into_iter().flatten();
    let message = objects.filter_map(Value::as_object).find(|object| object.contains_key("role"))?;
    let role = message["role"].as_str().filter(|role| matches!(*role, "user" | "assistant" | "human"))?;
    let text = content_text(&keep_text_parts(message)?)?;
    Some(outgoing_message(role, &text))
}

/// Returns the content of a message with only those parts that are text, without calls of tools and their output.
fn keep_text_parts(message: &Map<String, Value>) -> Option<Value> {
    match message.get("content")? {
        Value::Array(parts) => {
            Some(Value::Array(parts.iter().filter(|part| is_text_part(part)).cloned().collect()))
        }
        content => Some(content.clone()),
    }
}

fn is_text_part(part: &Value) -> bool {
    part.is_string() || matches!(part["type"].as_str(), Some("text" | "input_text" | "output_text"))
}

/// Returns a message without its middle if it is longer than [`MAX_MESSAGE_BYTES`]. Cuts only between words, so that
/// no part of the server's key is left: the daemon cuts out the key later, and recognises only the whole key.
fn shorten_message(text: &str) -> String {
    if text.len() <= MAX_MESSAGE_BYTES {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(MAX_MESSAGE_BYTES / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - MAX_MESSAGE_BYTES / 2)..];
    let head = head.rfind(char::is_whitespace).map_or("", |end| &head[..end]);
    let tail = tail.find(char::is_whitespace).map_or("", |start| &tail[start..]);
    format!("{head}\n[…]\n{}", tail.trim_start())
}

/// Joins messages into parts of at most [`MAX_PART_BYTES`].
fn join_into_parts(messages: &[OutgoingText]) -> Vec<OutgoingText> {
    let mut parts: Vec<OutgoingText> = Vec::new();
    for message in messages {
        match parts.last_mut().filter(|part| part.text.len() + 2 + message.text.len() <= MAX_PART_BYTES) {
            Some(part) => {
                part.text.push_str("\n\n");
                part.append(message);
            }
            None => parts.push(message.clone()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_read_and_nothing_else() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<_> = parse_messages(text).into_iter().map(|message| message.text).collect();
            assert_eq!(found, expected, "{text}");
        };
        check(
            concat!(
                r#"{"type":"user","message":{"role":"user","content":"fix it"}}"#,
                "\n",
                r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"done"},{"type":"tool_use","name":"Bash","input":{}}]}}"#,
                "\n",
                r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"secret output"}]}}"#,
                "\n{\"type\":\"summary\"}\nbroken {\n",
                r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}}"#,
                "\n",
                r#"{"role":"system","content":"be good"}"#,
            ),
            &["user: fix it", "assistant: done", "assistant: ok"],
        );
        check(
            r#"[{"uuid":"a","chat_messages":[{"sender":"human","text":"hi"},{"sender":"assistant","text":"ho"}]}]"#,
            &["user: hi", "assistant: ho"],
        );
        check("one\n\ntwo\n", &["one", "two"]);
        check("", &[]);
        check("[1,2]", &[]);
    }

    #[test]
    fn parts_are_short() {
        let long = format!("a{}z", " é".repeat(100_000));
        let text = shorten_message(&long);
        assert!(text.len() <= MAX_MESSAGE_BYTES + 10 && text.starts_with('a') && text.ends_with('z'));
        let parts = join_into_parts(&vec![OutgoingText { text, n_cut: 1 }; 7]);
        assert!(
            parts.iter().all(|part| part.text.len() <= MAX_PART_BYTES) && parts.len() == 4,
            "{}",
            parts.len()
        );
        assert_eq!(parts.iter().map(|part| part.n_cut).sum::<usize>(), 7);
        assert_eq!(shorten_message(&"x".repeat(100_000)), "\n[…]\n");
    }

    #[test]
    fn what_is_private_is_cut_before_a_transcript_is_taken_apart() {
        let check = |text: &str| {
            let found = parse_messages(text);
            let shown = format!("{found:?}");
            assert!(!["Ann", "Bob", "Eve"].iter().any(|name| shown.contains(name)), "{shown}");
            assert_eq!(found.iter().map(|message| message.n_cut).sum::<usize>(), 1, "{text}");
        };
        check("one\n\n<private>Ann\n\nBob\n\nEve</private>\n\ntwo");
        let long = "Ann Bob Eve ".repeat(1_000);
        check(&json!({ "role": "user", "content": format!("a <private>{long}</private> b") }).to_string());
        let lines = "Ann+Bob+Eve\n".repeat(1_000);
        let key = format!("-----BEGIN PRIVATE KEY-----\n{lines}-----END PRIVATE KEY-----");
        check(&json!({ "role": "user", "content": key }).to_string());
    }
}
