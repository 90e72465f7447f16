//! Writes the answer of a hook in the form that an agent expects. Pure.
//!
//! The forms, as the agents' types and documentation had them in November 2026:
//!
//! | agent | start of a session | prompt | edit |
//! |---|---|---|---|
//! | Claude Code, Codex | `additionalContext` | `additionalContext` | `additionalContext` of `PreToolUse` |
//! | VS Code | `additionalContext` | nothing | `additionalContext` of `PreToolUse` |
//! | Gemini CLI | `additionalContext` | `additionalContext` of `BeforeAgent` | only after it: `AfterTool` |
//! | Cursor | `additional_context` | `additional_context`, undocumented | only after it: `postToolUse` |
//! | any other | text | text | text |

use memod_proto::Occasion;
use serde_json::json;

use super::hook_input::HookInput;

/// The form of an answer that an agent expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyForm {
    /// `hookSpecificOutput`, with the names of events of Claude Code.
    Claude,
    /// As `Claude`, but VS Code passes on no answer to a prompt.
    VsCode,
    /// As `Claude`, with other names of events.
    Gemini,
    /// `additional_context`.
    Cursor,
    /// Only the text.
    Text,
}

impl ReplyForm {
    /// Returns the form that the named agent expects. If no agent is named, guesses the form from the input.
    pub(super) fn choose_for_agent(agent: Option<&str>, input: &HookInput) -> Self {
        match agent.map(str::to_lowercase).as_deref() {
            Some("claude-code" | "claude" | "codex") => Self::Claude,
            Some("vscode" | "copilot") => Self::VsCode,
            Some("gemini" | "gemini-cli") => Self::Gemini,
            Some("cursor") => Self::Cursor,
            Some(_) => Self::Text,
            None if input.is_cursor => Self::Cursor,
            None if is_gemini(input) => Self::Gemini,
            None if input.event.is_some() || input.is_codex => Self::Claude,
            None => Self::Text,
        }
    }

    /// Checks that the agent passes an answer to this event on to its model.
    ///
    /// # Errors
    /// When the agent does not pass the answer on; the error is the reason.
    pub(super) fn check_agent_passes_answer_on(
        self,
        occasion: Occasion,
        input: &HookInput,
    ) -> Result<(), &'static str> {
        let is_before = input.event.as_deref().is_none_or(|event| !event.to_lowercase().contains("after"));
        match (self, occasion) {
            (Self::VsCode, Occasion::Prompt) => {
                Err("VS Code does not show the model what a hook prints when a prompt is sent")
            }
            (Self::Gemini, Occasion::BeforeEdit) if is_before => Err(
                "Gemini CLI does not show the model what a hook prints before a tool runs; register the hook for AfterTool",
            ),
            (Self::Cursor, Occasion::BeforeEdit) if input.event.as_deref() != Some("postToolUse") => Err(
                "Cursor does not show the model what a hook prints before a tool runs; register the hook for postToolUse",
            ),
            _ => Ok(()),
        }
    }

    /// Returns the answer in this form: one line of JSON, or the text itself.
    pub(super) fn format_reply(self, occasion: Occasion, input: &HookInput, text: &str) -> String {
        match (self, occasion) {
            (Self::Text, _) => text.trim_end().to_owned(),
            (Self::Cursor, Occasion::Prompt) => {
                json!({ "continue": true, "additional_context": text }).to_string()
            }
            (Self::Cursor, _) => json!({ "additional_context": text }).to_string(),
            _ => {
                let event = input.event.as_deref().unwrap_or_else(|| self.default_event_name(occasion));
                json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
                    .to_string()
            }
        }
    }

    /// Returns the name of an event that is used if the agent's input does not name one.
    fn default_event_name(self, occasion: Occasion) -> &'static str {
        match (occasion, self == Self::Gemini) {
            (Occasion::SessionStart, _) => "SessionStart",
            (Occasion::Prompt, true) => "BeforeAgent",
            (Occasion::Prompt, false) => "UserPromptSubmit",
            (Occasion::BeforeEdit, true) => "AfterTool",
            (Occasion::BeforeEdit, false) => "PreToolUse",
        }
    }
}

fn is_gemini(input: &HookInput) -> bool {
    input.event.as_deref().is_some_and(|event| matches!(event, "BeforeAgent" | "BeforeTool" | "AfterTool"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_gets_its_form() {
        let check = |agent, occasion, event: Option<&str>, expected: &str| {
            let input = HookInput { event: event.map(str::to_owned), ..HookInput::default() };
            let form = ReplyForm::choose_for_agent(agent, &input);
            let reply = form
                .check_agent_passes_answer_on(occasion, &input)
                .map(|()| form.format_reply(occasion, &input, "note\n"));
            assert_eq!(reply.unwrap_or_default(), expected, "{agent:?} {occasion:?}");
        };
        use Occasion::{BeforeEdit, Prompt, SessionStart};
        let claude = |event: &str| {
            format!(r#"{{"hookSpecificOutput":{{"additionalContext":"note\n","hookEventName":"{event}"}}}}"#)
        };
        let cursor = r#"{"additional_context":"note\n"}"#;
        check(Some("claude-code"), SessionStart, None, &claude("SessionStart"));
        check(Some("claude-code"), BeforeEdit, Some("PreToolUse"), &claude("PreToolUse"));
        check(Some("codex"), Prompt, None, &claude("UserPromptSubmit"));
        check(Some("vscode"), Prompt, None, "");
        check(Some("gemini"), Prompt, None, &claude("BeforeAgent"));
        check(Some("gemini"), BeforeEdit, Some("BeforeTool"), "");
        check(Some("gemini"), BeforeEdit, Some("AfterTool"), &claude("AfterTool"));
        check(Some("cursor"), SessionStart, Some("sessionStart"), cursor);
        check(Some("cursor"), Prompt, None, r#"{"additional_context":"note\n","continue":true}"#);
        check(Some("cursor"), BeforeEdit, Some("preToolUse"), "");
        check(Some("cursor"), BeforeEdit, Some("postToolUse"), cursor);
        check(Some("a-new-agent"), Prompt, Some("x"), "note");
        check(None, Prompt, Some("UserPromptSubmit"), &claude("UserPromptSubmit"));
        check(None, Prompt, Some("BeforeAgent"), &claude("BeforeAgent"));
        check(None, Prompt, None, "note");
    }
}
