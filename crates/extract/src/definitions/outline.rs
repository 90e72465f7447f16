//! Nests the definitions of a file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::own_fields::{self, Declared};
use super::tags::{DefinitionTag, FileTags, LeadingNode, TagKind};

/// Deepest nesting of definitions; deeper definitions stay part of the definition around them.
pub(super) const MAX_NESTING: usize = 32;

/// Most names spelt out in the title of one definition.
const MAX_TITLE_NAMES: usize = 4;

/// The definitions of one file as a forest, in order of their first byte.
#[derive(Debug, Default)]
pub(crate) struct DefinitionOutline<'a> {
    /// Parents before children.
    pub(crate) items: Vec<DefinitionItem<'a>>,
    /// Indices of the items inside no other.
    pub(crate) roots: Vec<usize>,
    /// Documentation of the file itself.
    pub(crate) file_doc: Vec<Range<usize>>,
}

/// One definition or scope.
#[derive(Debug)]
pub(crate) struct DefinitionItem<'a> {
    pub(crate) kind: TagKind,
    /// Own names, without qualifiers; at least one.
    pub(crate) names: Vec<&'a str>,
    /// Enclosing names and own name, joined by the separator of the language.
    pub(crate) title: String,
    /// Bytes of everything that belongs to the definition: with the comments and attributes above it, and to the ends of
    /// lines that it does not share with another.
    pub(crate) span: Range<usize>,
    /// Bytes from the first keyword of the definition to its end.
    pub(crate) node: Range<usize>,
    /// Byte at which the body starts, if known.
    pub(crate) body: Option<usize>,
    /// Byte spans of the comments and strings that document it.
    pub(crate) docs: Vec<Range<usize>>,
    /// Indices of the items directly inside.
    pub(crate) children: Vec<usize>,
}

impl<'a> DefinitionOutline<'a> {
    /// Makes all items parts of a component, which is the whole text of `n_bytes` bytes; `join` goes between names in titles.
    pub(crate) fn enclose_in_component(&mut self, name: &'a str, n_bytes: usize, join: &str) {
        for item in &mut self.items {
            item.title = format!("{name}{join}{}", item.title);
            item.children.iter_mut().for_each(|child| *child += 1);
        }
        let component = DefinitionItem {
            kind: TagKind::Component,
            names: vec![name],
            title: name.to_owned(),
            span: 0..n_bytes,
            node: 0..n_bytes,
            body: None,
            docs: std::mem::take(&mut self.file_doc),
            children: self.roots.iter().map(|root| root + 1).collect(),
        };
        self.items.insert(0, component);
        self.roots = vec![0];
    }
}

impl DefinitionItem<'_> {
    /// Returns the own names, joined by spaces.
    pub(crate) fn joined_names(&self) -> String {
        self.names.join(" ")
    }
}

/// Nests the tags of `text`; `join` goes between names in titles.
pub(crate) fn nest_tags<'a>(text: &'a str, tags: &FileTags, join: &str) -> DefinitionOutline<'a> {
    let is_repeated =
        tags.definitions.iter().any(|tag| own_fields::judge_declaration(text, tag) < Declared::InBody);
    // Where a field may be declared several times, a first round finds which declaration counts.
    let declared = if is_repeated { add_tags(text, tags, join, None).fields } else { HashMap::new() };
    let OutlineBuilder { mut items, roots, .. } = add_tags(text, tags, join, Some(&declared));
    add_docstrings(&mut items, &tags.docstrings);
    widen_to_line_ends(text, &mut items, &roots, text.len());
    for id in 0..items.len() {
        let children = std::mem::take(&mut items[id].children);
        let limit = items[id].span.end;
        widen_to_line_ends(text, &mut items, &children, limit);
        items[id].children = children;
    }
    let first_span = roots.first().map_or(text.len(), |id| items[*id].span.start);
    let file_doc = find_file_doc(text, tags, first_span);
    DefinitionOutline { items, roots, file_doc }
}

/// Adds all tags. `declared` has the strongest declarations of fields, once they are known.
fn add_tags<'a, 't>(
    text: &'a str,
    tags: &'t FileTags,
    separator: &'t str,
    declared: Option<&'t HashMap<String, Declared>>,
) -> OutlineBuilder<'a, 't> {
    let mut builder = OutlineBuilder {
        text,
        tags,
        separator,
        open: Vec::new(),
        items: Vec::new(),
        roots: Vec::new(),
        declared,
        fields: HashMap::new(),
    };
    let mut wrappers = WrapperFinder { text, rest: &tags.wrappers, pending: None };
    for tag in &tags.definitions {
        if tag.kind == TagKind::Field {
            builder.add_tag(tag, tag.node.clone());
            continue;
        }
        let node = wrappers.widen_to_wrapper(&tag.node);
        let n_bytes = text.get(node.clone()).map_or(0, |text| text.trim_end().len());
        builder.add_tag(tag, node.start..node.start + n_bytes);
    }
    builder
}

struct OutlineBuilder<'a, 't> {
    text: &'a str,
    tags: &'t FileTags,
    separator: &'t str,
    /// Indices of the items around the current place, outermost first.
    open: Vec<usize>,
    items: Vec<DefinitionItem<'a>>,
    roots: Vec<usize>,
    /// The strongest declaration of each definition by its title, if it is known which count.
    declared: Option<&'t HashMap<String, Declared>>,
    /// The strongest declaration so far, by title.
    fields: HashMap<String, Declared>,
}

impl<'a> OutlineBuilder<'a, '_> {
    /// Adds the next tag, whose wrapper spans `node`.
    fn add_tag(&mut self, tag: &DefinitionTag, node: Range<usize>) {
        while self.open.last().is_some_and(|id| self.items[*id].node.end <= node.start) {
            self.open.pop();
        }
        let own_name = if tag.is_test { whole_name } else { own_name };
        let names = tag.names.iter().filter_map(|name| own_name(self.text.get(name.clone())?));
        let names: Vec<_> = names.collect();
        if names.is_empty() || self.open.len() >= MAX_NESTING || self.add_to_parent(tag, &names) {
            return;
        }
        let parent = self.open.last().map(|id| &self.items[*id]);
        let title = match tag.kind {
            TagKind::Field if self.is_defined_around(tag, &names) => None,
            TagKind::Field => self.build_field_title(tag, &names),
            _ => Some(self.build_title(tag, parent)),
        };
        let Some(title) = title.filter(|title| self.is_declared_here(title, tag)) else { return };
        let parent = self.open.last().map(|id| &self.items[*id]);
        let siblings = parent.map_or(&self.roots, |parent| &parent.children);
        let last_sibling = siblings.last().map(|id| self.items[*id].node.end);
        let floor = last_sibling.or(parent.map(|parent| parent.node.start + 1)).unwrap_or(0);
        let statement = tag.statement.as_ref().unwrap_or(&node);
        let end = statement.end;
        let (start, docs) = find_leading_nodes(self.text, &self.tags.leading, statement.start, floor);
        let is_method =
            tag.kind == TagKind::Function && parent.is_some_and(|parent| parent.kind.has_methods());
        let kind = if is_method { TagKind::Method } else { tag.kind };
        let span = line_start(self.text, start, floor)..end;
        let item =
            DefinitionItem { kind, names, title, span, node, body: tag.body, docs, children: Vec::new() };
        let id = self.items.len();
        match self.open.last() {
            Some(parent) => self.items[*parent].children.push(id),
            None => self.roots.push(id),
        }
        self.open.push(id);
        self.items.push(item);
    }

    /// Adds the names of a tag to the type definition around it, because `typedef struct a { … } b;` is one definition.
    /// Returns whether there is such a type.
    fn add_to_parent(&mut self, tag: &DefinitionTag, names: &[&'a str]) -> bool {
        let parent = self.open.last().map(|id| &mut self.items[*id]);
        let Some(parent) = parent.filter(|parent| parent.kind == TagKind::Type && tag.body.is_some()) else {
            return false;
        };
        let new = names.iter().filter(|name| !parent.names.contains(name)).copied().collect::<Vec<_>>();
        parent.names.extend(new);
        true
    }

    /// Returns the title of a field, which begins with the type that has it; `None` if the tag declares no field of a type.
    fn build_field_title(&self, tag: &DefinitionTag, names: &[&str]) -> Option<String> {
        let around = self.open.iter().rev().map(|id| &self.items[*id]);
        let around: Vec<(TagKind, &str)> = around.map(|item| (item.kind, item.title.as_str())).collect();
        let owner = tag.owner.clone().and_then(|owner| self.text.get(owner));
        let parts = own_fields::owner_titles(&around, owner)?;
        Some([parts.as_slice(), &[names.join(", ").as_str()]].concat().join(self.separator))
    }

    /// Returns whether the statement of a field is another kind of definition already, such as a constant.
    fn is_defined_around(&self, tag: &DefinitionTag, names: &[&str]) -> bool {
        let around = self.open.last().map(|id| &self.items[*id]);
        around.is_some_and(|around| {
            !around.kind.is_container()
                && around.names.iter().any(|name| names.contains(name))
                && tag
                    .statement
                    .as_ref()
                    .is_some_and(|own| around.node.start <= own.start && own.end <= around.node.end)
        })
    }

    /// Returns whether the definition with this title is declared by this tag, and by no stronger or earlier one.
    fn is_declared_here(&mut self, title: &str, tag: &DefinitionTag) -> bool {
        let Some(declared) = self.declared.filter(|declared| !declared.is_empty()) else {
            let strength = own_fields::judge_declaration(self.text, tag);
            self.fields
                .entry(title.to_owned())
                .and_modify(|known| *known = strength.max(*known))
                .or_insert(strength);
            return true;
        };
        let strength = own_fields::judge_declaration(self.text, tag);
        let is_strongest = declared.get(title).is_none_or(|strongest| *strongest <= strength);
        // A weaker declaration, such as a name in `__slots__`, may come first, and does not count.
        is_strongest
            && (strength == Declared::InBody || self.fields.insert(title.to_owned(), strength).is_none())
    }

    fn build_title(&self, tag: &DefinitionTag, parent: Option<&DefinitionItem<'_>>) -> String {
        let enclosing = parent.map(|parent| parent.title.as_str());
        let owner = tag.owner.clone().and_then(|owner| self.text.get(owner));
        if tag.is_test {
            let name = tag.names.first().and_then(|name| whole_name(self.text.get(name.clone())?));
            let own: Vec<_> = owner.into_iter().chain(name).collect();
            let own = own.join(".");
            return enclosing.into_iter().chain([own.as_str()]).collect::<Vec<_>>().join(self.separator);
        }
        let names = tag.names.iter().take(MAX_TITLE_NAMES);
        let names: Vec<_> = names.filter_map(|name| Some(full_name(self.text.get(name.clone())?))).collect();
        let own = names.join(", ");
        let parts = enclosing.into_iter().chain(owner).chain([own.as_str()]);
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(self.separator)
    }
}

/// Finds the statement around each definition, in one pass over the statements and the definitions.
struct WrapperFinder<'a> {
    text: &'a str,
    rest: &'a [Range<usize>],
    /// The wrapper entered last; taken by the first definition inside.
    pending: Option<Range<usize>>,
}

impl WrapperFinder<'_> {
    /// Returns `node` widened to its wrapper; calls come in order of the nodes' starts.
    fn widen_to_wrapper(&mut self, node: &Range<usize>) -> Range<usize> {
        while let Some((next, rest)) = self.rest.split_first().filter(|(next, _)| next.start <= node.start) {
            let goes_on = self.pending.as_ref().is_some_and(|outer| self.is_rest_empty(next.end, outer.end));
            if !goes_on {
                self.pending = Some(next.clone());
            }
            self.rest = rest;
        }
        let Some(wrapper) = self.pending.take().filter(|wrapper| wrapper.end >= node.end) else {
            return node.clone();
        };
        let is_whole = self.is_rest_empty(node.end, wrapper.end);
        let before = self.text.get(wrapper.start..node.start).unwrap_or_default();
        if is_whole {
            wrapper
        } else if before.len() < 40 && before.chars().all(|c| c.is_alphanumeric() || c == ' ') {
            wrapper.start..node.end
        } else {
            node.clone()
        }
    }

    fn is_rest_empty(&self, inner_end: usize, outer_end: usize) -> bool {
        let rest = self.text.get(inner_end..outer_end);
        rest.is_some_and(|rest| {
            rest.len() < 40 && rest.trim_end_matches([';', ' ', '\t', '\r', '\n']).is_empty()
        })
    }
}

/// Returns the start of the comments and attributes directly above `start`, not before `floor`, and the
/// documentation among them.
pub(super) fn find_leading_nodes(
    text: &str,
    leading: &[LeadingNode],
    start: usize,
    floor: usize,
) -> (usize, Vec<Range<usize>>) {
    let (mut first, mut docs) = (start, Vec::new());
    let n_before = leading.partition_point(|leading| leading.bytes.start < start);
    for LeadingNode { bytes, is_doc } in leading[..n_before].iter().rev() {
        let gap = text.get(bytes.end..first).unwrap_or("?");
        let touches = gap.trim().is_empty() && gap.matches('\n').count() <= 1;
        if bytes.start < floor || !touches || documents_file(&text[bytes.clone()]) {
            break;
        }
        if gap.contains('\n')
            && line_start(text, bytes.start, floor) == bytes.start
            && !at_line_start(text, bytes.start)
        {
            break;
        }
        first = bytes.start;
        if *is_doc {
            docs.push(bytes.clone());
        }
    }
    docs.reverse();
    (first, docs)
}

/// Adds each docstring to the last definition that begins before it.
fn add_docstrings(items: &mut [DefinitionItem<'_>], docstrings: &[Range<usize>]) {
    for docstring in docstrings {
        let n_before = items.partition_point(|item| item.node.start <= docstring.start);
        let holder = items[..n_before].last_mut().filter(|item| docstring.end <= item.node.end);
        if let Some(holder) = holder {
            holder.docs.push(docstring.clone());
        }
    }
}

/// Returns the spans of the comments at the top of the file, or of the docstring there, if they end before `first_span`.
fn find_file_doc(text: &str, tags: &FileTags, first_span: usize) -> Vec<Range<usize>> {
    let docstring = tags.docstrings.first().filter(|bytes| bytes.start < first_span);
    if let Some(docstring) = docstring {
        return vec![docstring.clone()];
    }
    let mut docs: Vec<Range<usize>> = Vec::new();
    let mut at = text.len() - text.trim_start_matches('\u{feff}').trim_start().len();
    for LeadingNode { bytes, .. } in tags.leading.iter().filter(|leading| leading.is_doc) {
        let gap = text.get(at..bytes.start).unwrap_or("?");
        let is_next = gap.trim().is_empty() && (docs.is_empty() || gap.matches('\n').count() <= 1);
        if bytes.end > first_span || !is_next {
            break;
        }
        at = bytes.end;
        if !is_for_tools(&text[bytes.clone()]) {
            docs.push(bytes.clone());
        }
    }
    docs
}

/// Returns whether a comment is for an interpreter or editor: `#!/bin/sh`, `# -*- coding: utf-8 -*-`.
fn is_for_tools(comment: &str) -> bool {
    comment.starts_with("#!")
        || ["frozen_string_literal", "-*-", "coding"].iter().any(|word| {
            let words = comment.trim_start_matches(['#', '/', ';', ' ']);
            words.starts_with(word)
        })
}

/// Returns whether a comment documents its file (`//!`), or is its `#!` line.
fn documents_file(comment: &str) -> bool {
    ["//!", "/*!", "#!/"].iter().any(|start| comment.starts_with(start))
}

/// Moves the ends of siblings to the ends of their lines, unless another definition begins on the same line.
pub(super) fn widen_to_line_ends(
    text: &str,
    items: &mut [DefinitionItem<'_>],
    siblings: &[usize],
    limit: usize,
) {
    for (at, id) in siblings.iter().enumerate() {
        let next_start = siblings.get(at + 1).map_or(limit, |next| items[*next].span.start);
        let end = items[*id].span.end.min(limit);
        let rest = text.get(end..).unwrap_or_default();
        let line_end = end + rest.find('\n').unwrap_or(rest.len());
        items[*id].span.end = if line_end <= next_start { line_end } else { end.min(next_start) };
    }
}

/// Returns the start of the line of `start` if only blanks lie between, else `start`; never below `floor`.
pub(super) fn line_start(text: &str, start: usize, floor: usize) -> usize {
    let blanks = text[..start].len() - text[..start].trim_end_matches([' ', '\t']).len();
    if at_line_start(text, start) { (start - blanks).max(floor) } else { start }
}

/// Returns whether only blanks are between the start of the line and `start`.
fn at_line_start(text: &str, start: usize) -> bool {
    let before = text[..start].trim_end_matches([' ', '\t', '\u{feff}']);
    before.is_empty() || before.ends_with('\n')
}

/// Returns the name of a test, which may be a sentence.
fn whole_name(name: &str) -> Option<&str> {
    name.lines().next().map(str::trim).filter(|name| !name.is_empty())
}

/// Returns the name without its qualifiers and type parameters: `login` of `Session<T>::login`.
fn own_name(name: &str) -> Option<&str> {
    let name = bare_name(name);
    if !has_generic_parameters(name) && !name.ends_with(is_word_char) {
        return Some(name).filter(|name| !name.is_empty());
    }
    let (mut depth, mut start, mut end) = (0_usize, 0, name.len());
    for (at, c) in name.char_indices() {
        match c {
            '<' if depth == 0 => (depth, end) = (1, at),
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '.' | ':' | '\\' if depth == 0 => (start, end) = (at + 1, name.len()),
            _ => {}
        }
    }
    Some(&name[start..end]).filter(|own| !own.is_empty())
}

/// Returns the qualified name without type parameters.
fn full_name(name: &str) -> Cow<'_, str> {
    let name = bare_name(name);
    if !has_generic_parameters(name) {
        return Cow::Borrowed(name);
    }
    let mut depth = 0_usize;
    let outside = name.chars().filter(|c| {
        depth += usize::from(*c == '<');
        let is_outside = depth == 0;
        depth = depth.saturating_sub(usize::from(*c == '>'));
        is_outside
    });
    Cow::Owned(outside.collect())
}

/// Returns the first line of the name without quotes, reference marks and parentheses. The `#` of a private name of JavaScript is
/// part of it, because a class may have `#clone` and `clone`.
fn bare_name(name: &str) -> &str {
    let name = name.lines().next().unwrap_or_default();
    let name = name.trim_matches(['"', '\'', '`', '&', ' ', '(', ')']);
    name.strip_prefix("mut ").or_else(|| name.strip_prefix("dyn ")).unwrap_or(name)
}

/// Returns whether a name has generic parameters, as in `Name<T>`; an `operator<` has none.
fn has_generic_parameters(name: &str) -> bool {
    name.starts_with(is_word_char) && name.contains('<') && !name.contains("operator")
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
