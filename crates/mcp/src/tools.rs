//! Declares the tools of the default profile.

use super::more_tools::FULL_PROFILE_TOOLS;
use super::tool::{
    ADDED_SCHEMA, ANY_SCHEMA, AnswerFormat, ArgForm, MEMORIES_SCHEMA, Tool, ToolEffect, flag_arg, word_arg,
};
use super::verbs::ToolProfile;

/// Number of hits that a search shows. In simulated sessions, agents rarely use a later hit, and each costs about 80 tokens.
const N_DEFAULT_HITS: u32 = 5;

/// The tools of every profile.
const DEFAULT_PROFILE_TOOLS: &[Tool] = &[
    Tool {
        name: "search",
        about: "Find code, docs, commits and memories by words or meaning. Use before grep or reading files.",
        verb: &["search"],
        args: &[
            word_arg("query", ArgForm::Text),
            flag_arg("kind", ArgForm::Text).about("symbol, doc, text, commit, memory"),
            flag_arg("only", ArgForm::Text).about("e.g. tests"),
            flag_arg("path", ArgForm::Text).about("glob"),
            flag_arg("limit", ArgForm::Integer).with_default(N_DEFAULT_HITS),
        ],
        effect: ToolEffect::Reads,
        format: AnswerFormat::Hits,
        output_schema: HITS_SCHEMA,
    },
    Tool {
        name: "map",
        about: "The main files and signatures, around focus.",
        verb: &["map"],
        args: &[
            flag_arg("focus", ArgForm::Text).about("path"),
            flag_arg("budget", ArgForm::Integer).about("tokens"),
        ],
        effect: ToolEffect::Reads,
        format: AnswerFormat::Data,
        output_schema: TEXT_SCHEMA,
    },
    Tool {
        name: "brief",
        about: "What to know before starting work here.",
        verb: &["brief"],
        args: &[flag_arg("budget", ArgForm::Integer)],
        effect: ToolEffect::Reads,
        format: AnswerFormat::Data,
        output_schema: TEXT_SCHEMA,
    },
    Tool {
        name: "remember",
        about: "Keep a decision or fact for later sessions.",
        verb: &["add"],
        args: &[
            word_arg("text", ArgForm::Text),
            flag_arg("about", ArgForm::Text).about("PATH#SYMBOL it is about"),
            flag_arg("tag", ArgForm::Text),
        ],
        effect: ToolEffect::AddsOnce,
        format: AnswerFormat::Plain,
        output_schema: ADDED_SCHEMA,
    },
    Tool {
        name: "recall",
        about: "Find memories; those that help live longer.",
        verb: &["recall"],
        args: &[word_arg("query", ArgForm::Text)],
        effect: ToolEffect::Adds,
        format: AnswerFormat::Data,
        output_schema: MEMORIES_SCHEMA,
    },
    Tool {
        name: "why",
        about: "Memories and commits behind a piece of code.",
        verb: &["why"],
        args: &[word_arg("target", ArgForm::Text).about("PATH, PATH:LINE, PATH#SYMBOL or NAME")],
        effect: ToolEffect::Reads,
        format: AnswerFormat::Data,
        output_schema: COMMITS_SCHEMA,
    },
    Tool {
        name: "changed",
        about: "Files and definitions changed since.",
        verb: &["changed"],
        args: &[flag_arg("since", ArgForm::Text).about("revision, date or 3d; else HEAD")],
        effect: ToolEffect::Reads,
        format: AnswerFormat::Data,
        output_schema: FILES_SCHEMA,
    },
    Tool {
        name: "memo",
        about: "Run another verb: callers, impact, tests, show, get, update, … or help.",
        verb: &[],
        args: &[word_arg("command", ArgForm::Words).about("as in a shell")],
        effect: ToolEffect::Any,
        format: AnswerFormat::Data,
        output_schema: ANY_SCHEMA,
    },
];

const HITS_SCHEMA: &str = r#"{"type":"object","required":["hits"],"properties":{
    "hits":{"type":"array","items":{"type":"object","required":["kind","path","lines","snippet"],"properties":{
        "kind":{"type":"string"},"path":{"type":"string"},"lines":{"type":"array","items":{"type":"integer"}},
        "symbol":{"type":"string"},"title":{"type":"string"},"snippet":{"type":"string"},"id":{"type":"string"},
        "state":{"type":"string"},"commit":{"type":"object"},"memory":{"type":"object"}}}},
    "total":{"type":"integer"},"fresh":{"type":"boolean"},"reason":{"type":"string"}}}"#;

const TEXT_SCHEMA: &str = r#"{"type":"object","required":["text"],"properties":{
    "text":{"type":"string"},"tokens":{"type":"integer"},"fresh":{"type":"boolean"},"reason":{"type":"string"}}}"#;

const COMMITS_SCHEMA: &str = r#"{"type":"object","required":["path","commits","memories"],"properties":{
    "path":{"type":"string"},"symbol":{"type":"string"},
    "commits":{"type":"array","items":{"type":"object","required":["oid","date","author","subject"],"properties":{
        "oid":{"type":"string"},"date":{"type":"string"},"author":{"type":"string"},"subject":{"type":"string"},
        "body":{"type":"string"}}}},
    "memories":{"type":"array","items":{"type":"object","required":["id","about","line"]}},
    "uncommitted":{"type":"array"},"more":{"type":"boolean"},"complete":{"type":"boolean"},"reason":{"type":"string"}}}"#;

const FILES_SCHEMA: &str = r#"{"type":"object","required":["files","total"],"properties":{
    "files":{"type":"array","items":{"type":"object","required":["path","status"],"properties":{
        "path":{"type":"string"},"status":{"type":"string"},"from":{"type":"string"},"symbols":{"type":"object"}}}},
    "base":{"type":"object"},"total":{"type":"integer"},"left_out":{"type":"integer"},"complete":{"type":"boolean"},
    "fresh":{"type":"boolean"},"reason":{"type":"string"}}}"#;

/// Returns the tools of a profile.
pub(super) fn tools_of_profile(profile: ToolProfile) -> impl Iterator<Item = &'static Tool> {
    let more = if profile == ToolProfile::Full { FULL_PROFILE_TOOLS } else { &[] };
    DEFAULT_PROFILE_TOOLS.iter().chain(more)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_row_can_be_listed() {
        let mut names: Vec<_> = tools_of_profile(ToolProfile::Full).map(|tool| tool.name).collect();
        for tool in tools_of_profile(ToolProfile::Full) {
            let listed = tool.to_listed_tool();
            assert_eq!(listed.output_schema.expect("every tool has one")["type"], "object", "{}", tool.name);
            assert!(
                !tool.verb.is_empty() || tool.args.iter().all(|arg| arg.form == ArgForm::Words),
                "{}",
                tool.name
            );
        }
        names.sort_unstable();
        let n_names = names.len();
        names.dedup();
        assert_eq!(names.len(), n_names, "two tools have one name");
    }

    /// The bound of 500 tokens is held with real tokenizers by `benches/mcp_tokens.mjs`; there a token of this JSON is at
    /// least 3.9 characters.
    #[test]
    fn the_default_list_is_small() {
        let given = |tool: &Tool| {
            let listed = tool.to_listed_tool();
            json!({ "name": listed.name, "description": listed.description, "input_schema": listed.input_schema })
        };
        let list: Vec<_> = tools_of_profile(ToolProfile::Default).map(given).collect();
        let characters = serde_json::to_string(&list).expect("a list is JSON").len();
        assert!(characters <= 1_900, "{characters} characters");
    }
}
