//! Imports exports of Slack workspaces: a folder for each channel with a file for each day.
//!
//! Messages name people by ids. Their names are in `users.json` at the top of the export.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use memod_base::paths::IoContext;
use memod_terminal::CliError;
use serde_json::Value;

use super::draft_sender::DraftSender;
use super::import_chats::{
    ChatConversation, ChatDisplay, ChatMessage, MAX_EXPORT_BYTES, content_text, parse_time, send_conversation,
};
use super::limited_files::read_text_file;

/// Most characters of a person's name that are kept.
const MAX_NAME_CHARS: usize = 80;

/// The names of people, by their ids.
struct SlackNames(HashMap<String, String>);

impl ChatDisplay for SlackNames {
    fn speaker_name(&self, speaker: &str) -> String {
        self.0.get(speaker).cloned().unwrap_or_else(|| speaker.to_owned())
    }

    /// Returns the text of a message as Slack shows it, with names in place of ids, labels in place of channel ids, and characters
    /// in place of entities.
    fn display_text(&self, text: &str) -> String {
        let (mut shown, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('<') {
            shown.push_str(before);
            let markup =
                after.split_once('>').filter(|(markup, _)| !markup.is_empty() && !markup.contains('<'));
            rest = match markup {
                Some((markup, next)) => {
                    shown.push_str(&self.show_markup(markup));
                    next
                }
                None => {
                    shown.push('<');
                    after
                }
            };
        }
        shown.push_str(rest);
        shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    }
}

impl SlackNames {
    /// Returns the text that Slack shows for markup: a person (`@`), a channel (`#`), a group (`!`) or an address, each perhaps
    /// with a label after `|`.
    fn show_markup(&self, markup: &str) -> String {
        let (target, label) = markup.split_once('|').unwrap_or((markup, ""));
        if let Some(id) = target.strip_prefix('@') {
            return format!("@{}", self.0.get(id).cloned().unwrap_or_else(|| label_or_id(label, id)));
        }
        if let Some(id) = target.strip_prefix('#') {
            return format!("#{}", label_or_id(label, id));
        }
        match target.strip_prefix('!') {
            Some(id) => label_or_id(label, &format!("@{id}")),
            None if label.is_empty() || label == target => target.to_owned(),
            None => format!("{label} ({target})"),
        }
    }
}

fn label_or_id(label: &str, id: &str) -> String {
    if label.is_empty() { id.to_owned() } else { label.to_owned() }
}

/// Sends the messages of each channel as a conversation.
pub(super) fn import_slack(path: &Path, sender: &mut DraftSender<'_>) -> Result<(), CliError> {
    if !path.is_dir() {
        let message = format!("{}: not a folder", path.display());
        return Err(CliError::Usage { message, hint: "unpack the export, and name the folder" });
    }
    let names = read_user_names(&path.join("users.json"), sender)?;
    for (channel, number) in list_entries(path, |kind| kind.is_dir())?.into_iter().zip(1..) {
        let name = channel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut chat =
            ChatConversation { name: name.clone(), title: Some(format!("#{name}")), messages: Vec::new() };
        for day in list_entries(&channel, |kind| kind.is_file())? {
            sender.set_source(&day.display().to_string(), "message");
            if day.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            match serde_json::from_str::<Vec<Value>>(&read_text_file(&day, MAX_EXPORT_BYTES)?) {
                Ok(messages) => {
                    chat.messages.extend(messages.iter().filter_map(parse_message));
                }
                Err(error) => sender.refuse_entry(0, format!("not a list of messages: {error}")),
            }
        }
        sender.set_source(&channel.display().to_string(), "conversation");
        send_conversation("slack", number, &chat, &names, sender)?;
    }
    Ok(())
}

/// Reads the names of people from `users.json`. If the file is missing or wrong, people keep their ids.
fn read_user_names(path: &Path, sender: &mut DraftSender<'_>) -> Result<SlackNames, CliError> {
    if !path.is_file() {
        sender.add_note("the export has no users.json, so people are named by their ids".to_owned());
        return Ok(SlackNames(HashMap::new()));
    }
    sender.set_source(&path.display().to_string(), "user");
    Ok(match serde_json::from_str::<Vec<Value>>(&read_text_file(path, MAX_EXPORT_BYTES)?) {
        Ok(users) => SlackNames(users.iter().filter_map(parse_user).collect()),
        Err(error) => {
            sender.refuse_entry(0, format!("not a list of users: {error}"));
            SlackNames(HashMap::new())
        }
    })
}

/// Returns the id of a person, and the name that the workspace shows.
fn parse_user(user: &Value) -> Option<(String, String)> {
    let profile = &user["profile"];
    let names = [&profile["real_name"], &user["real_name"], &profile["display_name"], &user["name"]];
    let name = names.into_iter().find_map(|name| name.as_str().filter(|name| !name.trim().is_empty()))?;
    Some((user["id"].as_str()?.to_owned(), shorten_name(name)))
}

/// Returns a name on one line and cut to [`MAX_NAME_CHARS`], so that it cannot be taken for a message.
fn shorten_name(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join(" ").chars().take(MAX_NAME_CHARS).collect()
}

fn list_entries(dir: &Path, wanted: fn(fs::FileType) -> bool) -> Result<Vec<PathBuf>, CliError> {
    let entries = fs::read_dir(dir).at("list", dir)?.flatten();
    let mut paths: Vec<_> =
        entries.filter(|entry| entry.file_type().is_ok_and(wanted)).map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn parse_message(value: &Value) -> Option<ChatMessage> {
    let real_name = value["user_profile"]["real_name"].as_str().map(shorten_name);
    let id = value["user"].as_str().or_else(|| value["username"].as_str());
    let speaker = real_name.or_else(|| id.map(str::to_owned)).unwrap_or("unknown".to_owned());
    Some(ChatMessage { speaker, text: content_text(&value["text"])?, at: parse_time(&value["ts"]) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_become_names() {
        let users = json!([
            { "id": "U1", "name": "ann", "profile": { "real_name": "Ann Lee", "display_name": "annie" } },
            { "id": "U2", "name": "bob", "real_name": "", "profile": {} },
            { "name": "nobody" },
        ]);
        let names = SlackNames(users.as_array().unwrap().iter().filter_map(parse_user).collect());
        assert_eq!(names.0.len(), 2);
        let speaker = |value: Value| names.speaker_name(&parse_message(&value).unwrap().speaker);
        assert_eq!(speaker(json!({ "user": "U1", "text": "x" })), "Ann Lee");
        assert_eq!(speaker(json!({ "user": "U2", "text": "x" })), "bob");
        assert_eq!(speaker(json!({ "user": "U3", "text": "x" })), "U3");
        assert_eq!(
            speaker(json!({ "user": "U1", "text": "x", "user_profile": { "real_name": "Then" } })),
            "Then"
        );
        let cases = [
            ("<@U1>: ask <@U9|zoe> in <#C1|general>", "@Ann Lee: ask @zoe in #general"),
            ("<!here> see <https://a.example/b>", "@here see https://a.example/b"),
            ("<https://a.example|the page> &amp; 1 &lt; 2", "the page (https://a.example) & 1 < 2"),
            ("&lt;@U1&gt; and 1 < 2", "<@U1> and 1 < 2"),
        ];
        for (text, expected) in cases {
            assert_eq!(names.display_text(text), expected);
        }
    }
}
