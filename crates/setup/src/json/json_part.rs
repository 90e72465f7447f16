//! Declares our entries in JSON, and finds them in a document.

use super::config_value::ConfigValue;
use super::json_tree::JsonNode;
use super::our_command::OurCommand;

/// An entry of ours in a JSON file.
#[derive(Clone, Debug)]
pub(crate) enum JsonPart {
    /// A member that starts our server.
    Server {
        /// The objects around it.
        path: &'static [&'static str],
        /// Its name.
        key: &'static str,
        /// Its value.
        value: ConfigValue,
    },
    /// A hook in an array.
    Hook {
        /// The objects around the array, and its own name.
        path: [&'static str; 2],
        /// The element.
        value: ConfigValue,
        /// The command in the element.
        command: OurCommand,
    },
    /// A member that the format requires; an existing one stays, whatever it holds.
    Needed {
        /// Its name.
        key: &'static str,
        /// Its value.
        value: ConfigValue,
    },
}

/// The containers on the way to an item, each with the index of the item in it; never empty.
pub(crate) type NodeChain<'a> = Vec<(&'a JsonNode, usize)>;

/// Finds an entry of ours. Members that the format requires never count as ours.
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
        JsonPart::Needed { .. } => None,
    }
}

/// Extends the chain to a member of an object.
fn step_into<'a>(chain: &mut NodeChain<'a>, node: &'a JsonNode, key: &str) -> Option<&'a JsonNode> {
    if !node.is_object() {
        return None;
    }
    let index = node.items().iter().rposition(|item| item.key == key)?;
    chain.push((node, index));
    Some(&node.items()[index].node)
}

/// Extends the chain to the object with our command, which may be in a group of hooks.
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
