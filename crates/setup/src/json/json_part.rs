//! Declares our entries in JSON settings, and finds them in a document.

use super::config_value::ConfigValue;
use super::json_tree::JsonNode;
use super::our_command::OurCommand;

/// An entry of ours in a JSON file.
#[derive(Clone, Debug)]
pub(crate) enum JsonPart {
    /// The member that starts our MCP server.
    Server {
        /// Keys of the objects around the member.
        path: &'static [&'static str],
        /// The key.
        key: &'static str,
        /// The value.
        value: ConfigValue,
    },
    /// A hook, as an element of an array.
    Hook {
        /// Key of the object around the array, and key of the array.
        path: [&'static str; 2],
        /// The value of the element.
        value: ConfigValue,
        /// The command in the element.
        command: OurCommand,
    },
    /// A member that the format requires. An existing member stays, whatever its value.
    RequiredMember {
        /// The key.
        key: &'static str,
        /// The value.
        value: ConfigValue,
    },
}

/// The objects and arrays that lead to an item, outermost first, each with the index of the next in it; never empty.
pub(crate) type NodeChain<'a> = Vec<(&'a JsonNode, usize)>;

/// Finds an entry of ours. `None` if it is missing; a member that the format requires never counts as ours.
pub(crate) fn find_part<'a>(root: &'a JsonNode, part: &JsonPart) -> Option<NodeChain<'a>> {
    let mut chain = NodeChain::new();
    match part {
        JsonPart::Server { path, key, .. } => {
            let mut path = path.iter().chain([key]);
            let entry = path.try_fold(root, |node, key| step_into(&mut chain, node, key))?;
            OurCommand::Server.is_run_by(entry).then_some(chain)
        }
        JsonPart::Hook { path, command, .. } => {
            let array = path.iter().try_fold(root, |node, key| step_into(&mut chain, node, key))?;
            find_command(array, command, &mut chain).then_some(chain)
        }
        JsonPart::RequiredMember { .. } => None,
    }
}

/// Adds a member of an object to the chain and returns it; `None` if there is no such member.
fn step_into<'a>(chain: &mut NodeChain<'a>, node: &'a JsonNode, key: &str) -> Option<&'a JsonNode> {
    if !node.is_object() {
        return None;
    }
    let index = node.items().iter().rposition(|item| item.key == key)?;
    chain.push((node, index));
    Some(&node.items()[index].node)
}

/// Adds the object with our command, which may be in a group of hooks, to the chain; returns whether there is one.
fn find_command<'a>(node: &'a JsonNode, command: &OurCommand, chain: &mut NodeChain<'a>) -> bool {
    if !node.is_array() {
        return false;
    }
    let depth = chain.len();
    for (index, item) in node.items().iter().enumerate() {
        chain.push((node, index));
        if command.is_run_by(&item.node) {
            return true;
        }
        if let Some(group) = step_into(chain, &item.node, "hooks")
            && find_command(group, command, chain)
        {
            return true;
        }
        chain.truncate(depth);
    }
    false
}
