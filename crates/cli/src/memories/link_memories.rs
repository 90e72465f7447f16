//! Links memories and prints their links.

use std::collections::HashSet;

use memod_proto::memory::{
    Edge, IdsParams, LinkKind, LinkParams, LinkResult, LinksParams, LinksResult, MemoriesResult, Node,
    ResolveParams, ResolveResult,
};
use memod_terminal::text::paint;
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::print_memories::{format_memory_brief, format_relation};
use super::request::new_caller;
use super::share_files;
use crate::args::{LinkingArgs, LinksArgs, ResolveArgs};

pub(crate) fn link_memories(typed: LinkingArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    change_link("memory.link", "these memories are already linked in this way", typed, context, output)?;
    Ok(0)
}

/// Removes links between two memories. Exits with 1 when there is no such link.
pub(crate) fn unlink_memories(
    typed: LinkingArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let unlinked =
        change_link("memory.unlink", "these memories are not linked in this way", typed, context, output)?;
    Ok(if unlinked { 0 } else { EXIT_NOTHING_FOUND })
}

/// Adds or removes a link with a method of the daemon, and returns whether anything changed. `unchanged` is the message if nothing
/// did.
fn change_link(
    method: &str,
    unchanged: &str,
    typed: LinkingArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<bool, CliError> {
    let kind = typed.kind.map(LinkKind::from);
    let params = LinkParams { caller: new_caller(context), from: typed.from, to: typed.to, kind };
    let result: LinkResult = context.connect()?.call(method, &params)?;
    let (from, to) = (&result.from.id, &result.to.id);
    output.write_result(&result, |output| {
        result.changed.iter().try_for_each(|kind| print_link(from, *kind, to, output))?;
        output.flush()?;
        if result.changed.is_empty() {
            output.write_note(&format!("{unchanged}; nothing was changed"));
        }
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    Ok(!result.changed.is_empty())
}

fn print_link(from: &str, kind: LinkKind, to: &str, output: &mut Output) -> Result<(), CliError> {
    let [from, to] = [from, to].map(|id| paint(output.styles.path, id));
    output.write_line(&format!("{from} {} {to}", format_relation(kind.as_str())))
}

pub(crate) fn resolve_memories(
    typed: ResolveArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let is_chosen = typed.ours || typed.theirs || typed.both || typed.text.is_some();
    let Some(loser) = typed.loser else {
        return match is_chosen {
            true => share_files::resolve_file_conflict(typed, context, output),
            false => Err(nothing_chosen_error(typed.winner, context)?),
        };
    };
    let params = ResolveParams { caller: new_caller(context), winner: typed.winner, loser };
    let result: ResolveResult = context.connect()?.call("memory.resolve", &params)?;
    output.write_result(&result, |output| {
        print_link(&result.winner.id, LinkKind::Supersedes, &result.loser.id, output)?;
        output.flush()?;
        match result.changed.is_empty() && result.linked.is_empty() {
            true => output.write_note("this was resolved before; nothing was changed"),
            false => {
                output.write_note(
                    "the second memory now ranks below the first; `memo history` shows the change",
                );
            }
        }
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    Ok(0)
}

/// Returns the error for a command line with one memory and without a chosen side. If the memory is in conflict, the hint names the
/// sides.
fn nothing_chosen_error(id: String, context: &CommandContext) -> Result<CliError, CliError> {
    let params = IdsParams { caller: new_caller(context), ids: vec![id] };
    let found: MemoriesResult = context.connect()?.call("memory.get", &params)?;
    let (id, is_disputed) = match found.memories.first() {
        Some(memory) => (memory.id.as_str(), memory.conflict.is_some()),
        None => ("", false),
    };
    Ok(match is_disputed {
        true => CliError::Usage {
            message: format!("{id}: in conflict, and no side was chosen"),
            hint: "--ours keeps your side, --theirs the other side, --text TEXT this text, --both each side, with a new id for yours",
        },
        false => CliError::Usage {
            message: format!("{id}: not in conflict, and no second memory was given"),
            hint: "`memo resolve WINNER LOSER` decides between two memories",
        },
    })
}

/// Prints the links of a memory as a tree. Exits with 1 when there are none.
pub(crate) fn list_links(typed: LinksArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = LinksParams { caller: new_caller(context), id: typed.id, depth: Some(typed.depth) };
    let result: LinksResult = context.connect()?.call("memory.links", &params)?;
    output.write_list(&result, |output| {
        let mut tree = LinkTree { result: &result, shown: HashSet::new() };
        tree.write_subtree(0, output)?;
        for edge in tree.links_outside_tree() {
            print_link(&edge.from, edge.kind, &edge.to, output)?;
        }
        output.flush()?;
        match (result.links.is_empty(), result.more) {
            (true, _) => output.write_note("no links"),
            (false, true) => {
                output.write_note(&format!("more memories are linked than these {}", result.memories.len()));
            }
            (false, false) => {}
        }
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    Ok(if result.links.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

/// A tree of linked memories; each appears once, below the nearest memory that links to it.
struct LinkTree<'a> {
    result: &'a LinksResult,
    /// Indices of the links that the tree has shown so far.
    shown: HashSet<usize>,
}

impl<'a> LinkTree<'a> {
    /// Writes the memory with the index `at` in the result, and its subtree.
    fn write_subtree(&mut self, at: usize, output: &mut Output) -> Result<(), CliError> {
        let memories = &self.result.memories;
        let Some(node) = memories.get(at) else { return Ok(()) };
        let above =
            self.find_parent(node).map(|parent| self.describe_relations(&parent.memory.id, &node.memory.id));
        let relation = above.map_or(String::new(), |relations| {
            format!("{}{} ", "  ".repeat(node.depth as usize), paint(output.styles.title, &relations))
        });
        let archived = if node.archived { " (archived)" } else { "" };
        output.write_line(&format!("{relation}{}{archived}", format_memory_brief(&node.memory, output)))?;
        let further = memories.iter().enumerate().skip(at + 1);
        let children = further.filter(|(_, other)| {
            self.find_parent(other).is_some_and(|parent| parent.memory.id == node.memory.id)
        });
        let children: Vec<usize> = children.map(|(at, _)| at).collect();
        children.into_iter().try_for_each(|at| self.write_subtree(at, output))
    }

    /// Returns the parent of a memory in the tree: the first linked memory that is one link nearer to the root.
    fn find_parent(&self, node: &Node) -> Option<&'a Node> {
        let nearer = self.result.memories.iter().filter(|other| other.depth + 1 == node.depth);
        nearer.into_iter().find(|other| {
            self.result.links.iter().any(|edge| is_edge_between(edge, &other.memory.id, &node.memory.id))
        })
    }

    /// Returns all relations of the first memory to the second in words, and marks their links as shown.
    fn describe_relations(&mut self, first: &str, second: &str) -> String {
        let mut relations = Vec::new();
        for (at, edge) in self.result.links.iter().enumerate() {
            if is_edge_between(edge, first, second) {
                self.shown.insert(at);
                relations.push(format_relation(if edge.from == first {
                    edge.kind.as_str()
                } else {
                    edge.kind.inverse_name()
                }));
            }
        }
        relations.join(", ")
    }

    fn links_outside_tree(&self) -> impl Iterator<Item = &'a Edge> {
        let links = self.result.links.iter().enumerate();
        links.filter(|(at, _)| !self.shown.contains(at)).map(|(_, edge)| edge)
    }
}

fn is_edge_between(edge: &Edge, first: &str, second: &str) -> bool {
    (edge.from == first && edge.to == second) || (edge.from == second && edge.to == first)
}
