//! Declares the parts of a tool, and lists one.
//!
//! A tool is a row: the words of a verb, its arguments (named as the flags are) and the shape of the answer. One function
//! lists them all, and one runs them all.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as ListedTool, ToolAnnotations};
use serde_json::{Value, json};

/// One tool.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// A description; models read it in every session.
    pub(super) about: &'static str,
    /// The words of the command line that it runs; empty for the tool that takes them.
    pub(super) verb: &'static [&'static str],
    pub(super) args: &'static [Arg],
    pub(super) effect: ToolEffect,
    pub(super) view: AnswerView,
    /// The JSON schema of the structured content.
    pub(super) output: &'static str,
}

/// One argument of a tool.
#[derive(Debug)]
pub(super) struct Arg {
    pub(super) name: &'static str,
    pub(super) form: ArgForm,
    pub(super) position: ArgPosition,
    pub(super) is_required: bool,
    /// Empty where the name says it.
    pub(super) about: &'static str,
    /// The value of a flag that is not given, where it is not the verb's own.
    pub(super) default: Option<u32>,
}

/// The form of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgForm {
    /// A string; several are taken as well, where the flag may be repeated.
    Text,
    /// A list of strings; one is taken as well.
    Texts,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` gives the flag.
    Switch,
    /// `true` does it; without it, a dry run shows what would be done.
    Confirm,
    /// Words of a command line, in one string.
    Words,
}

/// The position of an argument in the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgPosition {
    /// `--NAME=VALUE`.
    Flag,
    /// After the flags.
    Word,
}

/// The effect of a call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolEffect {
    /// Nothing.
    Reads,
    /// Something is added, each time.
    Adds,
    /// Something is added; the second time it is there.
    AddsOnce,
    /// Something is replaced or archived; the second time it is so already.
    ChangesOnce,
    /// It depends.
    Any,
}

/// The way in which the text of an answer is shown to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerView {
    /// Hits of a search: shorter than for people.
    Hits,
    /// As for people, fenced as data.
    Data,
    /// As for people: ids and sentences of memo itself.
    Plain,
}

pub(super) const fn flag(name: &'static str, form: ArgForm) -> Arg {
    Arg { name, form, position: ArgPosition::Flag, is_required: false, about: "", default: None }
}

pub(super) const fn word(name: &'static str, form: ArgForm) -> Arg {
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

pub(super) const MEMORIES: &str = r#"{"type":"object","required":["memories"],"properties":{
    "memories":{"type":"array","items":{"type":"object","required":["id","content"],"properties":{
        "id":{"type":"string"},"content":{"type":"string"},"title":{"type":"string"},"container":{"type":"string"},
        "tags":{"type":"array","items":{"type":"string"}},"state":{"type":"string"}}}},
    "total":{"type":"integer"},"notice":{"type":"string"}}}"#;

pub(super) const ADDED: &str = r#"{"type":"object","required":["memory"],"properties":{
    "memory":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}},
    "created":{"type":"boolean"},"merged":{"type":"boolean"},"contradicted":{"type":"array"},
    "changed":{"type":"array","items":{"type":"string"}}}}"#;

pub(super) const ANY: &str = r#"{"type":"object"}"#;

impl Tool {
    /// Returns the tool as clients list it.
    pub(super) fn to_listed_tool(&self) -> ListedTool {
        let mut listed = ListedTool::new(self.name, self.about, self.input_schema());
        listed.output_schema = Some(Arc::new(parse_schema(self.output)));
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

/// Returns a schema of the tables as JSON.
fn parse_schema(schema: &str) -> JsonObject {
    serde_json::from_str(schema).expect("a test parses every schema")
}
