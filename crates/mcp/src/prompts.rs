//! Declares the prompts, and fills them in.
//!
//! Pure. A person chooses to send a prompt, so prompts may be longer than the instructions.

use rmcp::model::{
    ContentBlock, GetPromptResult, JsonObject, Prompt as ListedPrompt, PromptArgument, PromptMessage, Role,
};

/// One prompt.
#[derive(Debug)]
struct Prompt {
    name: &'static str,
    about: &'static str,
    /// Name and description of the argument, and whether it is required.
    argument: Option<(&'static str, &'static str, bool)>,
    /// The text, with `{}` in the place of the argument.
    text: &'static str,
    /// The text that is used if the argument is not given.
    default_argument: &'static str,
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "query",
        about: "Find out about a topic in this repository",
        argument: Some(("topic", "What to find out about", true)),
        text: "Find out about {} in this repository with the tools of memo.\n\
            1. search with a whole question first, then with the names that it brings up. Exact names and messages go in \
            \"quotes\"; kind=symbol finds definitions, kind=commit finds reasons, kind=memory finds notes.\n\
            2. why PATH#SYMBOL for each definition that matters: memories and commits say why it is so.\n\
            3. Read only the lines that the hits name. Say what you found, with path and line.",
        default_argument: "",
    },
    Prompt {
        name: "recall-first",
        about: "Look at what was remembered before starting",
        argument: Some(("task", "What is to be done", false)),
        text: "Before {}: call brief, then recall with the words of the task. Follow what memories say unless the code shows that \
            they no longer hold. A memory marked [drifted] is checked first: `memo confirm ID` if it still holds, `memo update ID` \
            if not. Say which memories you rely on.",
        default_argument: "doing anything else",
    },
    Prompt {
        name: "memory-workflow",
        about: "How memories are written, kept and resolved",
        argument: None,
        text: "How to keep memories with memo:\n\
            - remember what cost time to find out and is not plain from the code: decisions with their reason, causes of failures, \
            rules of the project. One sentence each; about=PATH#SYMBOL ties it to code, so that it is marked when the code changes.\n\
            - Do not remember what the code, a commit or a document already says, and nothing secret.\n\
            - If remember says that a memory exists or may be contradicted: `memo update ID`, or `memo resolve WINNER LOSER`.\n\
            - Short-lived notes: `memo add --tier short TEXT`. recall extends the life of what helps.\n\
            - Tidy up: `memo dedupe` shows near-duplicates, `memo list --state drifted` what to check, `memo forget ID` archives, \
            `memo restore ID` brings back.",
        default_argument: "",
    },
];

/// Returns the prompts as clients list them.
pub(super) fn list_prompts() -> Vec<ListedPrompt> {
    PROMPTS.iter().map(to_listed_prompt).collect()
}

/// Returns a prompt as clients list it.
fn to_listed_prompt(prompt: &Prompt) -> ListedPrompt {
    let arguments = prompt.argument.map(|argument| vec![to_listed_argument(argument)]);
    ListedPrompt::new(prompt.name, Some(prompt.about), arguments)
}

/// Returns an argument of a prompt as clients list it.
fn to_listed_argument((name, about, is_required): (&str, &str, bool)) -> PromptArgument {
    PromptArgument::new(name).with_description(about).with_required(is_required)
}

/// Returns the prompt with this name, with its argument inserted.
///
/// # Errors
/// When there is no such prompt, or its argument is missing.
pub(super) fn fill_prompt(name: &str, given: Option<&JsonObject>) -> Result<GetPromptResult, String> {
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| format!("unknown prompt; the prompts are: {}", prompt_names()))?;
    let value = prompt.argument.and_then(|(name, ..)| given?.get(name)?.as_str()).map(str::trim);
    let value = match (value.filter(|value| !value.is_empty()), prompt.argument) {
        (None, Some((name, _, true))) => return Err(format!("{name}: missing")),
        (value, _) => value.unwrap_or(prompt.default_argument),
    };
    let text = prompt.text.replacen("{}", value, 1);
    let message = PromptMessage::new(Role::User, ContentBlock::text(text));
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.about))
}

/// Returns the names of all prompts, with commas between them.
fn prompt_names() -> String {
    PROMPTS.iter().map(|prompt| prompt.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prompts_are_filled_in() {
        let text = |name: &str, given: serde_json::Value| {
            let got = fill_prompt(name, given.as_object())?;
            let shown = serde_json::to_value(&got).expect("a prompt is JSON");
            Ok::<_, String>(shown["messages"][0]["content"]["text"].as_str().expect("a text").to_owned())
        };
        assert!(
            text("query", json!({ "topic": "tokens" })).is_ok_and(|text| text.contains("about tokens in"))
        );
        assert!(
            text("recall-first", json!(null))
                .is_ok_and(|text| text.starts_with("Before doing anything else:"))
        );
        assert_eq!(text("query", json!({})), Err("topic: missing".to_owned()));
        let unknown = "unknown prompt; the prompts are: query, recall-first, memory-workflow";
        assert_eq!(text("x", json!({})), Err(unknown.to_owned()));
        assert_eq!(list_prompts().len(), PROMPTS.len());
    }
}
