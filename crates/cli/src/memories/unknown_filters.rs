//! Names the containers and tags of a filter that no memory has.

use memod_proto::memory::{TallyParams, TallyResult};
use memod_terminal::text::escape_for_display;
use memod_terminal::{CommandContext, Output};

use super::request::new_caller;

/// Most names that a hint lists.
const MOST_NAMES: usize = 8;

/// Writes a hint for each container and tag that no memory has. Writes none if the daemon cannot be asked.
pub(crate) fn explain_unknown_filters(
    container: Option<&str>,
    tags: &[String],
    context: &CommandContext,
    output: &Output,
) {
    if output.write_json {
        return;
    }
    let containers = container.map(|container| ("container", "memory.containers", container.to_owned()));
    let tags = tags.iter().map(|tag| ("tag", "memory.tags", tag.trim().to_lowercase()));
    for (kind, method, wanted) in containers.into_iter().chain(tags) {
        let Some(names) = fetch_names(method, context) else { return };
        if let Some(hint) = describe_unknown(kind, &wanted, &names) {
            output.write_hint(&hint);
        }
    }
}

/// Returns the containers or tags of the memories, the most frequent first.
fn fetch_names(method: &str, context: &CommandContext) -> Option<Vec<String>> {
    let params = TallyParams { caller: new_caller(context) };
    let result: TallyResult = context.connect().ok()?.call(method, &params).ok()?;
    Some(result.names.into_iter().map(|tally| tally.name).collect())
}

/// Returns a hint that a name does not exist, and which names do; `None` if the name exists.
fn describe_unknown(kind: &str, wanted: &str, names: &[String]) -> Option<String> {
    if names.iter().any(|name| name.to_lowercase() == wanted.to_lowercase()) {
        return None;
    }
    let wanted = escape_for_display(wanted);
    let first: Vec<_> = names.iter().take(MOST_NAMES).map(|name| escape_for_display(name)).collect();
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    Some(match (names.is_empty(), kind) {
        (true, "container") => "there is no memory yet".to_owned(), // each has a container
        (true, _) => format!("no memory has a {kind} yet"),
        (false, _) => format!("no memory has the {kind} {wanted}; there are: {}{more}", first.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_said_with_those_that_exist() {
        let names = ["auth", "Ops"].map(str::to_owned);
        let check = |wanted: &str, expected: Option<&str>| {
            assert_eq!(describe_unknown("tag", wanted, &names).as_deref(), expected, "{wanted}");
        };
        check("auth", None);
        check("ops", None);
        check("nope", Some("no memory has the tag nope; there are: auth, Ops"));
        let none = describe_unknown("tag", "nope", &[]);
        assert_eq!(none.as_deref(), Some("no memory has a tag yet"));
        let many: Vec<String> = (0..9).map(|nth| format!("t{nth}")).collect();
        let said = describe_unknown("tag", "nope", &many).unwrap_or_default();
        assert!(said.ends_with("t6, t7, …"), "{said}");
    }
}
