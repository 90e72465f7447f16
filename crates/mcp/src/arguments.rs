//! Converts the arguments of a tool call into the words of a command line.
//!
//! Pure. Arguments are checked here and not by the SDK, so that a model gets a message that names the argument and can correct it.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::tool::{Arg, ArgForm, ArgPosition, Tool};
use super::verbs::VerbFailure;

/// Largest size of an argument, bytes. A memory has at most 64 KiB.
const MAX_ARG_BYTES: usize = 1 << 20;

/// Returns the words of the command line after `memo`.
///
/// # Errors
/// When an argument is missing, unknown, of the wrong type or too long.
pub(super) fn build_words(tool: &Tool, given: &JsonObject) -> Result<Vec<String>, VerbFailure> {
    if let Some(name) = given.keys().find(|name| tool.args.iter().all(|arg| arg.name != name.as_str())) {
        return Err(argument_error(
            format!("unknown argument: {}", shorten_name(name)),
            &describe_arguments(tool),
        ));
    }
    let mut words: Vec<String> = tool.verb.iter().map(ToString::to_string).collect();
    let mut after = Vec::new();
    for arg in tool.args {
        let value = given.get(arg.name).filter(|value| !value.is_null());
        if value.is_none() && arg.is_required {
            return Err(argument_error(format!("{}: missing", arg.name), arg.form.needed_type_hint()));
        }
        match (arg.form, value) {
            (ArgForm::Confirm, value) => words.push(choose_confirmation_flag(arg, value)?),
            (_, None) => words.extend(arg.default.map(|value| format!("--{}={value}", arg.name))),
            (ArgForm::Words, Some(value)) => return split_command(arg, value),
            (ArgForm::Switch, Some(value)) => match value.as_bool() {
                Some(is_given) => words.extend(is_given.then(|| format!("--{}", arg.name))),
                None => return Err(wrong_type_error(arg, value)),
            },
            (_, Some(value)) => {
                let texts = parse_texts(arg, value)?;
                match arg.position {
                    ArgPosition::Flag => {
                        words.extend(texts.iter().map(|text| format!("--{}={text}", arg.name)));
                    }
                    ArgPosition::Word => after.extend(texts),
                }
            }
        }
    }
    if !after.is_empty() {
        words.push("--".to_owned()); // a text may begin with a dash
        words.append(&mut after);
    }
    Ok(words)
}

/// Returns the failure of a command line that [`build_words`] built, with the names of arguments instead of flags: `kind` and not
/// `--kind <KIND>`.
pub(super) fn rephrase_failure(tool: &Tool, failure: VerbFailure) -> VerbFailure {
    match tool.args.iter().find_map(|arg| replace_flag_with_name(&failure.message, arg)) {
        Some(message) => argument_error(message, &describe_arguments(tool)),
        None => failure,
    }
}

/// Returns a message with the name of an argument in place of its quoted flag; `None` if the message does not have the flag.
fn replace_flag_with_name(message: &str, arg: &Arg) -> Option<String> {
    let (before, rest) = message.split_once(&format!("'--{} ", arg.name))?;
    Some(format!("{before}{}{}", arg.name, rest.split_once('\'')?.1))
}

/// Returns a sentence that lists the arguments of a tool.
fn describe_arguments(tool: &Tool) -> String {
    let names: Vec<_> = tool.args.iter().map(|arg| arg.name).collect();
    match names.as_slice() {
        [] => format!("{} takes no arguments", tool.name),
        names => format!("{} takes: {}", tool.name, names.join(", ")),
    }
}

/// Returns the flag that runs a verb (`--yes`) or only shows what it would do (`--dry-run`).
fn choose_confirmation_flag(arg: &Arg, value: Option<&Value>) -> Result<String, VerbFailure> {
    let is_given = value.map_or(Some(false), Value::as_bool);
    let is_given = is_given.ok_or_else(|| wrong_type_error(arg, value.unwrap_or(&Value::Null)))?;
    Ok(if is_given { "--yes" } else { "--dry-run" }.to_owned())
}

/// Returns the words of a command line, which is a string in the syntax of a shell or a list of words.
fn split_command(arg: &Arg, value: &Value) -> Result<Vec<String>, VerbFailure> {
    let mut words = match value {
        Value::String(line) if line.len() > MAX_ARG_BYTES => return Err(too_long_error(arg)),
        Value::String(line) => shlex::split(line).ok_or_else(|| {
            argument_error(format!("{}: a quote is not closed", arg.name), "use quotes as in a shell")
        })?,
        _ => parse_texts(arg, value)?,
    };
    if words.first().is_some_and(|first| first == "memo") {
        words.remove(0);
    }
    if words.is_empty() {
        words.push("help".to_owned());
    }
    Ok(words)
}

fn parse_texts(arg: &Arg, value: &Value) -> Result<Vec<String>, VerbFailure> {
    let values = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    if values.len() > 1
        && arg.form != ArgForm::Texts
        && arg.form != ArgForm::Words
        && arg.position == ArgPosition::Word
    {
        return Err(wrong_type_error(arg, value));
    }
    values.iter().map(|value| parse_text(arg, value)).collect()
}

fn parse_text(arg: &Arg, value: &Value) -> Result<String, VerbFailure> {
    let text = match (arg.form, value) {
        (ArgForm::Text | ArgForm::Texts | ArgForm::Words, Value::String(text)) => text.clone(),
        (ArgForm::Integer, Value::Number(number)) if !number.is_f64() => number.to_string(),
        // JSON has one type of numbers, and some clients write 5 as 5.0.
        (ArgForm::Integer, Value::Number(number)) => match number.as_f64() {
            Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
            _ => return Err(wrong_type_error(arg, value)),
        },
        (ArgForm::Number, Value::Number(number)) => number.to_string(),
        _ => return Err(wrong_type_error(arg, value)),
    };
    if text.len() > MAX_ARG_BYTES {
        return Err(too_long_error(arg));
    }
    Ok(text)
}

impl ArgForm {
    /// Returns a hint that names the needed type.
    fn needed_type_hint(self) -> &'static str {
        match self {
            Self::Text | Self::Words => "a string is needed",
            Self::Texts => "a list of strings is needed",
            Self::Integer => "a whole number is needed",
            Self::Number => "a number is needed",
            Self::Switch | Self::Confirm => "true or false is needed",
        }
    }
}

fn wrong_type_error(arg: &Arg, value: &Value) -> VerbFailure {
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    argument_error(format!("{}: {is}", arg.name), arg.form.needed_type_hint())
}

fn too_long_error(arg: &Arg) -> VerbFailure {
    argument_error(format!("{}: longer than {} MiB", arg.name, MAX_ARG_BYTES >> 20), "shorten it")
}

fn argument_error(message: String, hint: &str) -> VerbFailure {
    VerbFailure { message, hint: Some(hint.to_owned()), may_quote_data: false }
}

fn shorten_name(name: &str) -> String {
    name.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::tools_of_profile;
    use crate::verbs::ToolProfile;

    fn shown(name: &str, given: Value) -> String {
        let tool = tools_of_profile(ToolProfile::Full).find(|tool| tool.name == name).expect("a tool");
        let Value::Object(given) = given else { panic!("arguments are an object") };
        match build_words(tool, &given) {
            Ok(words) => words.join(" "),
            Err(failure) => failure.to_string().replace('\n', "; "),
        }
    }

    #[test]
    fn arguments_become_words() {
        let cases = [
            ("search", json!({ "query": "-x y" }), "search --limit=5 -- -x y"),
            (
                "search",
                json!({ "query": "x", "limit": 3, "path": ["a", "b"] }),
                "search --path=a --path=b --limit=3 -- x",
            ),
            ("search", json!({ "query": "x", "limit": 3.0 }), "search --limit=3 -- x"),
            ("search", json!({ "query": "x", "limit": null }), "search --limit=5 -- x"),
            ("brief", json!({}), "brief"),
            ("memo", json!({ "command": "memo list --tag 'a b'" }), "list --tag a b"),
            ("memo", json!({ "command": ["list", "-n", "1"] }), "list -n 1"),
            ("memo", json!({ "command": "" }), "help"),
            ("delete", json!({ "ids": "m" }), "forget --yes -- m"),
            ("forget", json!({ "tag": "x" }), "forget --tag=x --dry-run"),
            ("forget", json!({ "tag": "x", "yes": true }), "forget --tag=x --yes"),
            ("add", json!({ "text": "x", "force": false, "merge": true }), "add --merge -- x"),
        ];
        for (name, given, expected) in cases {
            assert_eq!(shown(name, given.clone()), expected, "{given}");
        }
    }

    #[test]
    fn a_wrong_argument_is_named() {
        let long = "x".repeat(MAX_ARG_BYTES + 1);
        let cases = [
            ("search", json!({}), "query: missing; hint: a string is needed"),
            ("search", json!({ "query": 7 }), "query: a number; hint: a string is needed"),
            ("search", json!({ "query": ["a", "b"] }), "query: a list; hint: a string is needed"),
            (
                "search",
                json!({ "query": "x", "limit": "3" }),
                "limit: a string; hint: a whole number is needed",
            ),
            (
                "search",
                json!({ "query": "x", "limit": 0.5 }),
                "limit: a number; hint: a whole number is needed",
            ),
            (
                "search",
                json!({ "qery": "x" }),
                "unknown argument: qery; hint: search takes: query, kind, only, path, limit",
            ),
            ("stats", json!({ "x": 1 }), "unknown argument: x; hint: stats takes no arguments"),
            ("search", json!({ "query": long }), "query: longer than 1 MiB; hint: shorten it"),
            (
                "memo",
                json!({ "command": "add 'x" }),
                "command: a quote is not closed; hint: use quotes as in a shell",
            ),
            ("memo", json!({ "command": {} }), "command: an object; hint: a string is needed"),
            ("forget", json!({ "yes": 1 }), "yes: a number; hint: true or false is needed"),
        ];
        for (name, given, expected) in cases {
            assert_eq!(shown(name, given), expected);
        }
    }
}
