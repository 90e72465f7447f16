//! Declares the type of a tool, and converts a tool into the form in which clients list it.
//!
//! A tool is a row of a table: the words of a verb, its arguments (with the names of the flags), and the form of the answer.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as ListedTool, ToolAnnotations};
use serde_json::{Value, json};

/// One tool.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// The description, which models read in every session.
    pub(super) about: &'static str,
    /// The first words of the command line that the tool runs; empty for the tool whose argument is a whole command line.
    pub(super) verb: &'static [&'static str],
    pub(super) args: &'static [Arg],
    pub(super) effect: ToolEffect,
    pub(super) format: AnswerFormat,
    /// The JSON schema of the structured content.
    pub(super) output_schema: &'static str,
}

/// One argument of a tool.
#[derive(Debug)]
pub(super) struct Arg {
    pub(super) name: &'static str,
    pub(super) form: ArgForm,
    pub(super) position: ArgPosition,
    pub(super) is_required: bool,
    /// The description; empty if the name suffices.
    pub(super) about: &'static str,
    /// The value if the argument is not given; `None` leaves the default to the verb.
    pub(super) default: Option<u32>,
}

/// The form of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgForm {
    /// A string. For a flag, a list of strings is accepted too, and repeats the flag.
    Text,
    /// A list of strings; a single string is accepted too.
    Texts,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A boolean; `true` adds the flag.
    Switch,
    /// A boolean; `true` runs the verb with `--yes`, otherwise `--dry-run` shows what would be done.
    Confirm,
    /// A command line, as one string.
    Words,
}

/// The position of an argument in the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgPosition {
    /// As a flag, `--NAME=VALUE`.
    Flag,
    /// As a word after the flags.
    Word,
}

/// The effect of calling a tool, for the annotations of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolEffect {
    /// The call changes nothing.
    Reads,
    /// Each call adds something.
    Adds,
    /// The call adds something; repeating it has no effect.
    AddsOnce,
    /// The call replaces or archives something; repeating it has no effect.
    ChangesOnce,
    /// The effect depends on the arguments.
    Any,
}

/// How the text of an answer is rendered for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerFormat {
    /// The hits of a search, in a shorter form than for people.
    Hits,
    /// The text for people between fences, because it quotes the repository or memories.
    Data,
    /// The text for people without fences, because it has only ids and sentences of memo.
    Plain,
}

/// Creates an optional argument that becomes a flag.
pub(super) const fn flag_arg(name: &'static str, form: ArgForm) -> Arg {
    Arg { name, form, position: ArgPosition::Flag, is_required: false, about: "", default: None }
}

/// Creates a required argument that becomes a word after the flags.
pub(super) const fn word_arg(name: &'static str, form: ArgForm) -> Arg {
    Arg { name, form, position: ArgPosition::Word, is_required: true, about: "", default: None }
}

impl Arg {
    pub(super) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(super) const fn with_default(self, default: u32) -> Self {
        Self { default: Some(default), ..self }
    }

    pub(super) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    pub(super) const fn optional(self) -> Self {
        Self { is_required: false, ..self }
    }
}

/// Schema of a list of memories.
pub(super) const MEMORIES_SCHEMA: &str = r#"{"type":"object","required":["memories"],"properties":{
    "memories":{"type":"array","items":{"type":"object","required":["id","content"],"properties":{
        "id":{"type":"string"},"content":{"type":"string"},"title":{"type":"string"},"container":{"type":"string"},
        "tags":{"type":"array","items":{"type":"string"}},"state":{"type":"string"}}}},
    "total":{"type":"integer"},"notice":{"type":"string"}}}"#;

/// Schema of a memory that was added or changed.
pub(super) const ADDED_SCHEMA: &str = r#"{"type":"object","required":["memory"],"properties":{
    "memory":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}},
    "created":{"type":"boolean"},"merged":{"type":"boolean"},"contradicted":{"type":"array"},
    "changed":{"type":"array","items":{"type":"string"}}}}"#;

/// Schema of any object.
pub(super) const ANY_SCHEMA: &str = r#"{"type":"object"}"#;

impl Tool {
    /// Returns the tool as clients list it.
    pub(super) fn to_listed_tool(&self) -> ListedTool {
        let mut listed = ListedTool::new(self.name, self.about, self.input_schema());
        listed.output_schema = Some(Arc::new(parse_schema(self.output_schema)));
        listed.with_annotations(self.effect.to_annotations())
    }

    fn input_schema(&self) -> Arc<JsonObject> {
        let properties = self.args.iter().map(|arg| (arg.name.to_owned(), arg.build_schema()));
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties.collect()));
        let required: Vec<_> = self.args.iter().filter(|arg| arg.is_required).map(|arg| arg.name).collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        Arc::new(schema)
    }
}

impl Arg {
    fn build_schema(&self) -> Value {
        let mut schema = match self.form {
            ArgForm::Text | ArgForm::Words => json!({ "type": "string" }),
            ArgForm::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            ArgForm::Integer => json!({ "type": "integer" }),
            ArgForm::Number => json!({ "type": "number" }),
            ArgForm::Switch | ArgForm::Confirm => json!({ "type": "boolean" }),
        };
        if !self.about.is_empty() {
            schema["description"] = json!(self.about);
        }
        if let Some(default) = self.default {
            schema["default"] = json!(default);
        }
        schema
    }
}

impl ToolEffect {
    fn to_annotations(self) -> ToolAnnotations {
        let (is_read_only, is_destructive, is_idempotent) = match self {
            Self::Reads => (true, false, true),
            Self::Adds => (false, false, false),
            Self::AddsOnce => (false, false, true),
            Self::ChangesOnce => (false, true, true),
            Self::Any => (false, true, false),
        };
        ToolAnnotations::new()
            .read_only(is_read_only)
            .destructive(is_destructive)
            .idempotent(is_idempotent)
            .open_world(false)
    }
}

/// Parses a schema of the tables of tools.
fn parse_schema(schema: &str) -> JsonObject {
    serde_json::from_str(schema).expect("a test parses every schema")
}
