//! Finds the block in which an import holds, or a bound name is known.

use std::ops::Range;

use tree_sitter::Node;

use super::languages::ImportSyntax;
use super::node_text::{lines_of, named_children, text_of};
use super::walker::TreeWalker;

/// Blocks of JavaScript whose names are known inside of them alone.
const JAVASCRIPT_BLOCKS: [&str; 3] = ["statement_block", "switch_body", "class_static_block"];
/// Statements of JavaScript that declare variables.
const VARIABLE_STATEMENTS: [&str; 2] = ["lexical_declaration", "variable_declaration"];
/// Most statements of a block that are looked at for the declaration of a variable.
const MAX_STATEMENTS: usize = 1_000;

impl<'t> TreeWalker<'_, 't> {
    /// Returns the lines of the block in which an import statement holds; `None` for the whole file. In Rust, other files can name what
    /// a `pub use` brings into a module.
    pub(super) fn import_scope(&self, statement: Node<'t>) -> Option<(u32, u32)> {
        match self.nodes.import_syntax {
            ImportSyntax::Python => self.nodes_around().find(|node| node.kind() == "function_definition"),
            ImportSyntax::Rust => {
                let is_public =
                    named_children(statement).iter().any(|child| child.kind() == "visibility_modifier");
                let block =
                    |node: &Node<'_>| node.kind() == "block" || node.kind() == "mod_item" && !is_public;
                self.nodes_around().find(block).map(|block| self.with_head(block))
            }
            ImportSyntax::JavaScript => self.block_around(),
            ImportSyntax::C => self
                .nodes_around()
                .find(|node| node.kind() == "compound_statement")
                .map(|block| self.with_head(block)),
            ImportSyntax::Go | ImportSyntax::Java => None,
        }
        .map(lines_of)
    }

    /// Returns the lines of the block of JavaScript around the current node; `None` at the top of the file.
    pub(super) fn lines_of_block(&self) -> Option<(u32, u32)> {
        self.block_around().map(lines_of)
    }

    /// Returns the lines of the block that declares a variable which is set to a module at the current node; `None` if the variable is
    /// known in the whole file. The variable is an import then, and no bound name.
    pub(super) fn make_variable_import(&mut self, name: &str) -> Option<(u32, u32)> {
        let blocks = self.nodes_around().filter(|node| JAVASCRIPT_BLOCKS.contains(&node.kind()));
        let declared = blocks.filter_map(|block| Some((block, self.find_variable(block, name)?))).next();
        let (block, at) = declared?;
        let lines = lines_of(self.with_head(block));
        self.found.bound.retain(|bound| *bound != (name, at));
        self.found.bindings.retain(|binding| (binding.name, binding.at) != (name, at));
        self.found.in_blocks.retain(|bound| (bound.0, bound.1) != (name, at));
        Some(lines)
    }

    /// Returns the byte at which a statement of a block declares a variable.
    fn find_variable(&self, block: Node<'t>, name: &str) -> Option<usize> {
        let statements = named_children(block).into_iter().take(MAX_STATEMENTS);
        let declarations = statements.filter(|statement| VARIABLE_STATEMENTS.contains(&statement.kind()));
        let mut names =
            declarations.flat_map(named_children).filter_map(|one| one.child_by_field_name("name"));
        names.find(|one| text_of(*one, self.text) == name).map(|one| one.start_byte())
    }

    fn block_around(&self) -> Option<Node<'t>> {
        let block = self.nodes_around().find(|node| JAVASCRIPT_BLOCKS.contains(&node.kind()));
        block.map(|block| self.with_head(block))
    }

    /// Returns the function whose body a block is, because the function is named on a line before; other blocks stay as they are.
    fn with_head(&self, block: Node<'t>) -> Node<'t> {
        let around = self.nodes_around().skip_while(|node| *node != block).nth(1);
        around.filter(|around| around.child_by_field_name("body") == Some(block)).unwrap_or(block)
    }

    /// Returns the bytes in which a name is known that a node of JavaScript binds; `None` at the top of the file, and in other languages.
    pub(super) fn scope_of_binding(&self, node: Node<'t>) -> Option<Range<usize>> {
        if self.nodes.import_syntax != ImportSyntax::JavaScript {
            return None;
        }
        let scope = match node.kind() {
            "arrow_function" | "for_in_statement" | "catch_clause" => Some(node),
            "formal_parameters" => self.nodes_around().next(),
            "variable_declarator" => {
                let is_var =
                    self.nodes_around().next().is_some_and(|around| around.kind() == "variable_declaration");
                let is_scope = |around: &Node<'_>| match is_var {
                    true => around.kind() == "statement_block" && self.with_head(*around) != *around,
                    false => JAVASCRIPT_BLOCKS.contains(&around.kind()) || around.kind() == "for_statement",
                };
                self.nodes_around().find(is_scope)
            }
            _ => None,
        };
        scope.map(|scope| scope.byte_range())
    }

    /// Returns the nodes around the current one, innermost first.
    pub(super) fn nodes_around(&self) -> impl Iterator<Item = Node<'t>> {
        self.path.iter().rev().map(|(node, _)| *node)
    }
}
