//! Reads exports of Slack workspaces: a folder for each channel with a file for each day.
//!
//! Messages name people by ids. Their names are in `users.json` at the top of the export.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use memod_base::paths::IoContext;
use serde_json::Value;

use super::chats::{Chat, MOST_BYTES, Message, Readable, said, send, time};
use super::files::text_of;
use super::send::Sender;
use crate::error::CliError;

/// Characters of a name that are kept.
const MOST_OF_A_NAME: usize = 80;

/// Names by the ids of people.
struct Names(HashMap<String, String>);

impl Readable for Names {
    fn name(&self, who: &str) -> String {
        self.0.get(who).cloned().unwrap_or_else(|| who.to_owned())
    }

    /// Returns the text of a message as Slack shows it: names for ids, labels for channels, characters for entities.
    fn text(&self, text: &str) -> String {
        let (mut shown, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('<') {
            shown.push_str(before);
            let markup =
                after.split_once('>').filter(|(markup, _)| !markup.is_empty() && !markup.contains('<'));
            rest = match markup {
                Some((markup, next)) => {
                    shown.push_str(&self.label(markup));
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

impl Names {
    /// Returns what is shown for a person (`@`), a channel (`#`), a group (`!`) or an address, which may have a label after `|`.
    fn label(&self, markup: &str) -> String {
        let (target, label) = markup.split_once('|').unwrap_or((markup, ""));
        let or_label = |id: &str| if label.is_empty() { id.to_owned() } else { label.to_owned() };
        if let Some(id) = target.strip_prefix('@') {
            return format!("@{}", self.0.get(id).cloned().unwrap_or_else(|| or_label(id)));
        }
        if let Some(id) = target.strip_prefix('#') {
            return format!("#{}", or_label(id));
        }
        match target.strip_prefix('!') {
            Some(id) => or_label(&format!("@{id}")),
            None if label.is_empty() || label == target => target.to_owned(),
            None => format!("{label} ({target})"),
        }
    }
}

pub(super) fn read(path: &Path, sender: &mut Sender<'_>) -> Result<(), CliError> {
    if !path.is_dir() {
        let message = format!("{}: not a folder", path.display());
        return Err(CliError::Usage { message, hint: "unpack the export, and name its folder" });
    }
    let names = names(&path.join("users.json"), sender)?;
    for (channel, number) in entries(path, |kind| kind.is_dir())?.into_iter().zip(1..) {
        let name = channel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut chat = Chat { name: name.clone(), title: Some(format!("#{name}")), messages: Vec::new() };
        for day in entries(&channel, |kind| kind.is_file())? {
            sender.at(&day.display().to_string(), "message");
            if day.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            match serde_json::from_str::<Vec<Value>>(&text_of(&day, MOST_BYTES)?) {
                Ok(messages) => {
                    chat.messages.extend(messages.iter().filter_map(message));
                }
                Err(error) => sender.refuse(0, format!("no list of messages: {error}")),
            }
        }
        sender.at(&channel.display().to_string(), "conversation");
        send("slack", number, &chat, &names, sender)?;
    }
    Ok(())
}

/// Reads the names of people. Without them, ids stay.
fn names(path: &Path, sender: &mut Sender<'_>) -> Result<Names, CliError> {
    if !path.is_file() {
        sender.note("the export has no users.json: people keep their ids".to_owned());
        return Ok(Names(HashMap::new()));
    }
    sender.at(&path.display().to_string(), "user");
    Ok(match serde_json::from_str::<Vec<Value>>(&text_of(path, MOST_BYTES)?) {
        Ok(users) => Names(users.iter().filter_map(named).collect()),
        Err(error) => {
            sender.refuse(0, format!("no list of users: {error}"));
            Names(HashMap::new())
        }
    })
}

/// Returns the id of a person, and the name that the workspace shows.
fn named(user: &Value) -> Option<(String, String)> {
    let profile = &user["profile"];
    let names = [&profile["real_name"], &user["real_name"], &profile["display_name"], &user["name"]];
    let name = names.into_iter().find_map(|name| name.as_str().filter(|name| !name.trim().is_empty()))?;
    Some((user["id"].as_str()?.to_owned(), one_line(name)))
}

/// Returns a name that cannot pass for what somebody said: on one line, and not long.
fn one_line(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join(" ").chars().take(MOST_OF_A_NAME).collect()
}

fn entries(dir: &Path, wanted: fn(fs::FileType) -> bool) -> Result<Vec<PathBuf>, CliError> {
    let found = fs::read_dir(dir).at("list", dir)?.flatten();
    let mut found: Vec<_> =
        found.filter(|entry| entry.file_type().is_ok_and(wanted)).map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}

fn message(value: &Value) -> Option<Message> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let who = value["user_profile"]["real_name"]
        .as_str()
        .map(one_line)
        .or_else(|| text(&value["user"]))
        .or_else(|| text(&value["username"]));
    let (who, said) = (who.unwrap_or("unknown".to_owned()), said(&value["text"])?);
    Some(Message { who, text: said, at: time(&value["ts"]) })
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
        let names = Names(users.as_array().unwrap().iter().filter_map(named).collect());
        assert_eq!(names.0.len(), 2);
        let who = |value: Value| names.name(&message(&value).unwrap().who);
        assert_eq!(who(json!({ "user": "U1", "text": "x" })), "Ann Lee");
        assert_eq!(who(json!({ "user": "U2", "text": "x" })), "bob");
        assert_eq!(who(json!({ "user": "U3", "text": "x" })), "U3");
        assert_eq!(
            who(json!({ "user": "U1", "text": "x", "user_profile": { "real_name": "Then" } })),
            "Then"
        );
        let cases = [
            ("<@U1>: ask <@U9|zoe> in <#C1|general>", "@Ann Lee: ask @zoe in #general"),
            ("<!here> see <https://a.example/b>", "@here see https://a.example/b"),
            ("<https://a.example|the page> &amp; 1 &lt; 2", "the page (https://a.example) & 1 < 2"),
            ("&lt;@U1&gt; and 1 < 2", "<@U1> and 1 < 2"),
        ];
        for (text, expected) in cases {
            assert_eq!(names.text(text), expected);
        }
    }
}
