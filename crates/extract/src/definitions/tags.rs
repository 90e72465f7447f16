//! Runs a tag query on a syntax tree.
//!
//! A file is parsed once and queried once. Nothing recurses over the tree, and both steps stop when the time is up.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU16;
use std::ops::Range;

use tree_sitter::{
    Language, Node, ParseOptions, Parser, Query, QueryCursor, QueryCursorOptions, QueryMatch,
    StreamingIterator, Tree,
};
use tree_sitter_language::LanguageFn;

use super::mended_copy::{measure_errors, mend_text};
use super::parse_budget::{self, ParseBudget};

/// Most matches in progress inside the query cursor; beyond this number, the oldest are dropped.
const MATCH_LIMIT: u32 = 4_096;

/// Longest name that counts, in bytes: a longer one is a syntax error in disguise.
const MAX_NAME_BYTES: usize = 200;

/// Most names of one definition: `int a, b, c;`.
const MAX_NAMES: usize = 256;

/// Why a file was not parsed to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TagError {
    /// Brackets are nested too deeply. Deep trees cost time, and stack space in the scanners of some grammars.
    #[error("brackets are nested more than {} levels deep", parse_budget::MAX_BRACKET_DEPTH)]
    TooDeep,
    /// The time limit was reached.
    #[error("parsing took longer than {} s", parse_budget::TIME_LIMIT.as_secs())]
    TooSlow,
    /// The grammar or its query does not load.
    #[error("{0}")]
    Grammar(String),
}

/// The kind of definition that a tag marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagKind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    Interface,
    Trait,
    Module,
    Type,
    Constant,
    Macro,
    /// A field, attribute or variant of a type.
    Field,
    /// A file that is a component of the page, with all its definitions.
    Component,
    /// No definition of its own, but its name encloses others: an `impl` block, an extension.
    Scope,
    /// No definition, although a later pattern tags the node.
    Skipped,
}

impl TagKind {
    const ALL: [(Self, &'static str); 15] = [
        (Self::Function, "function"),
        (Self::Method, "method"),
        (Self::Class, "class"),
        (Self::Struct, "struct"),
        (Self::Enum, "enum"),
        (Self::Interface, "interface"),
        (Self::Trait, "trait"),
        (Self::Module, "module"),
        (Self::Type, "type"),
        (Self::Constant, "constant"),
        (Self::Macro, "macro"),
        (Self::Field, "field"),
        (Self::Component, "component"),
        (Self::Scope, "scope"),
        (Self::Skipped, "skipped"),
    ];

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| *known == word).map(|(kind, _)| kind)
    }

    /// Returns the word used in queries and fixtures.
    #[cfg(test)]
    pub(crate) fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// Returns whether people search for the definitions inside of it by name, because they are members and not inner
    /// workings.
    pub(crate) fn is_container(self) -> bool {
        !matches!(
            self,
            Self::Function
                | Self::Method
                | Self::Constant
                | Self::Macro
                | Self::Type
                | Self::Field
                | Self::Skipped
        )
    }

    /// Returns whether a definition of this kind can be called.
    pub(crate) fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Macro)
    }

    /// Returns whether a function directly inside is a method.
    pub(crate) fn has_methods(self) -> bool {
        self.is_container() && !matches!(self, Self::Module | Self::Component)
    }
}

/// One definition or scope.
#[derive(Clone, Debug)]
pub(crate) struct DefinitionTag {
    pub(crate) kind: TagKind,
    /// Spans of the names it defines; more than one for `int a, b;`.
    pub(crate) names: Vec<Range<usize>>,
    /// Span of an enclosing name in the definition itself: a method's receiver in Go.
    pub(crate) owner: Option<Range<usize>>,
    /// Bytes of the definition, without comments and attributes above it. A field has the bytes of its name, so that what its
    /// value uses is used by the type or function around it.
    pub(crate) node: Range<usize>,
    /// Bytes of the statement that declares a field.
    pub(crate) statement: Option<Range<usize>>,
    /// Byte at which the body starts, if the grammar shows it.
    pub(crate) body: Option<usize>,
    /// Whether a macro defines it as a test. The owner is its suite then, and the title is `Suite.name`.
    pub(crate) is_test: bool,
    /// Index of the pattern of the query that matched.
    pattern: usize,
}

/// A comment, attribute or decorator.
#[derive(Clone, Debug)]
pub(crate) struct LeadingNode {
    pub(crate) bytes: Range<usize>,
    /// Documentation, as opposed to an attribute.
    pub(crate) is_doc: bool,
}

/// The captures of a tag query in one text; each list is sorted by start.
#[derive(Debug, Default)]
pub(crate) struct FileTags {
    pub(crate) definitions: Vec<DefinitionTag>,
    pub(crate) leading: Vec<LeadingNode>,
    /// Strings inside a definition or at the top of the file that document it.
    pub(crate) docstrings: Vec<Range<usize>>,
    /// Statements that consist of a definition and its additions (`export`, decorators).
    pub(crate) wrappers: Vec<Range<usize>>,
    /// Names used, each with the number of uses, sorted by name.
    pub(crate) uses: Vec<(String, u32)>,
    /// Whether definitions were dropped.
    pub(crate) is_partial: bool,
    /// Reasons why tags were dropped or text did not parse.
    pub(crate) problems: Vec<String>,
}

/// The meaning of a capture of the query.
#[derive(Clone, Copy)]
enum CaptureRole {
    Name,
    Definition(TagKind),
    Owner,
    Body,
    Reference,
    Doc,
    Attribute,
    Docstring,
    Wrapper,
    /// A capture that only predicates use.
    PredicateOnly,
}

impl CaptureRole {
    fn parse(capture: &str) -> Option<Self> {
        let (role, kind) = capture.split_once('.').unwrap_or((capture, ""));
        Some(match role {
            "name" => Self::Name,
            "definition" => Self::Definition(TagKind::parse(kind)?),
            "scope" => Self::Definition(TagKind::Scope),
            "owner" => Self::Owner,
            "body" => Self::Body,
            "reference" if !kind.is_empty() => Self::Reference,
            "doc" => Self::Doc,
            "attribute" => Self::Attribute,
            "docstring" => Self::Docstring,
            "wrapper" => Self::Wrapper,
            "value" => Self::PredicateOnly,
            _ => return None,
        })
    }
}

/// A compiled tag query and its grammar.
pub(crate) struct TagQuery {
    /// Name of the language.
    language: String,
    grammar: Language,
    query: Query,
    /// Roles by capture index.
    roles: Vec<CaptureRole>,
    body_field: Option<NonZeroU16>,
}

impl TagQuery {
    /// Compiles the query `source` for `grammar`; an error message contains `name`.
    pub(crate) fn compile(name: &str, grammar: LanguageFn, source: &str) -> Result<Self, String> {
        let grammar = Language::new(grammar);
        let query = Query::new(&grammar, source).map_err(|e| format!("tag query of {name}: {e}"))?;
        let roles = query
            .capture_names()
            .iter()
            .map(|capture| {
                CaptureRole::parse(capture)
                    .ok_or_else(|| format!("tag query of {name}: unknown capture @{capture}"))
            })
            .collect::<Result<_, _>>()?;
        let body_field = grammar.field_id_for_name("body");
        Ok(Self { language: name.to_owned(), grammar, query, roles, body_field })
    }

    /// Parses `readable`, a copy of `text` in which the grammar's obstacles are blank, and collects the tags of `text`. Calls
    /// `see` with the root of the syntax tree.
    ///
    /// # Errors
    /// When brackets are nested too deeply, the time limit is reached, or the grammar does not load. Nothing is known about
    /// the text then.
    pub(crate) fn collect_tags(
        &self,
        text: &str,
        readable: &str,
        see: impl FnOnce(Node<'_>),
    ) -> Result<FileTags, TagError> {
        if parse_budget::is_too_deep(readable) {
            return Err(TagError::TooDeep);
        }
        let budget = ParseBudget::start();
        PARSER.with_borrow_mut(|(parser, cursor)| {
            let tree = self.parse_tree(parser, readable, &budget)?;
            let tree = self.parse_mended(parser, readable, &tree).unwrap_or(tree);
            let tags = self.collect_matches(cursor, &tree, text, &budget)?;
            see(tree.root_node());
            Ok(tags)
        })
    }

    fn parse_tree(&self, parser: &mut Parser, text: &str, budget: &ParseBudget) -> Result<Tree, TagError> {
        parser.set_language(&self.grammar).map_err(|e| TagError::Grammar(e.to_string()))?;
        let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
        let mut check = |_: &_| budget.check_time();
        let options = ParseOptions::new().progress_callback(&mut check);
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        // A parser that was stopped would go on with the old text next time.
        parser.reset();
        tree.ok_or(TagError::TooSlow)
    }

    /// Parses a mended copy of a text whose tree has errors; `None` unless the tree of the copy has fewer of them.
    fn parse_mended(&self, parser: &mut Parser, text: &str, tree: &Tree) -> Option<Tree> {
        if !tree.root_node().has_error() {
            return None;
        }
        let copy = mend_text(&self.language, text)?;
        let mended = self.parse_tree(parser, &copy, &ParseBudget::start_second_try()).ok()?;
        (measure_errors(&mended) < measure_errors(tree)).then_some(mended)
    }

    fn collect_matches(
        &self,
        cursor: &mut QueryCursor,
        tree: &Tree,
        text: &str,
        budget: &ParseBudget,
    ) -> Result<FileTags, TagError> {
        cursor.set_match_limit(MATCH_LIMIT);
        let mut collector = TagCollector::new(text);
        let mut check = |_: &_| budget.check_time();
        let options = QueryCursorOptions::new().progress_callback(&mut check);
        let root = tree.root_node();
        let mut matches = cursor.matches_with_options(&self.query, root, text.as_bytes(), options);
        while let Some(found) = matches.next() {
            collector.add_match(self, found);
        }
        drop(matches);
        if budget.ran_out() {
            return Err(TagError::TooSlow);
        }
        let mut tags = collector.into_tags();
        if cursor.did_exceed_match_limit() {
            tags.is_partial = true;
            tags.problems.push("too many partial matches; some definitions may be missing".to_owned());
        }
        if root.has_error() {
            tags.problems.push("the text has syntax errors; some definitions may be missing".to_owned());
        }
        Ok(tags)
    }
}

thread_local! {
    /// The parser and the query cursor of this thread, which keep their allocations from file to file.
    static PARSER: RefCell<(Parser, QueryCursor)> = RefCell::new((Parser::new(), QueryCursor::new()));
}

struct TagCollector<'a> {
    text: &'a str,
    tags: FileTags,
    /// Name and start of each use; a definition's own name is among them until the end.
    uses: Vec<(&'a str, usize)>,
}

impl<'a> TagCollector<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, tags: FileTags::default(), uses: Vec::new() }
    }

    fn add_match(&mut self, query: &TagQuery, found: &QueryMatch<'_, '_>) {
        let (mut definition, mut name, mut owner, mut body) = (None, None, None, None);
        for capture in found.captures() {
            let node = capture.node;
            let bytes = node.byte_range();
            match query.roles[capture.index as usize] {
                CaptureRole::Name => name = Some(bytes),
                CaptureRole::Owner => owner = Some(bytes),
                CaptureRole::Body => body = Some(bytes.start),
                CaptureRole::Definition(kind) => definition = Some((kind, node)),
                CaptureRole::Reference => self.add_use(bytes),
                CaptureRole::Doc => self.add_leading(bytes, true),
                CaptureRole::Attribute => self.add_leading(bytes, false),
                CaptureRole::Docstring => self.tags.docstrings.push(bytes),
                CaptureRole::Wrapper => self.tags.wrappers.push(bytes),
                CaptureRole::PredicateOnly => {}
            }
        }
        let (Some((kind, node)), Some(name)) = (definition, name) else { return };
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            return;
        }
        let body = body.or_else(|| body_start(node, query.body_field));
        let node = node.byte_range();
        let names = if kind == TagKind::Field { self.split_names(name) } else { vec![name] };
        for name in names {
            let (node, statement) = match kind {
                TagKind::Field => (name.clone(), Some(node.clone())),
                _ => (node.clone(), None),
            };
            self.tags.definitions.push(DefinitionTag {
                kind,
                names: vec![name],
                owner: owner.clone(),
                node,
                statement,
                body,
                is_test: false,
                pattern: found.pattern_index,
            });
        }
    }

    /// Returns the names in the bytes of a name: a string of Python may name several fields, as in `namedtuple("Point", "x, y")`.
    fn split_names(&self, bytes: Range<usize>) -> Vec<Range<usize>> {
        let text = self.text.get(bytes.clone()).unwrap_or_default();
        let words = text.split([' ', ',', '\n', '\t']).filter(|word| !word.is_empty());
        let start_of = |word: &str| bytes.start + (word.as_ptr() as usize - text.as_ptr() as usize);
        words.map(|word| start_of(word)..start_of(word) + word.len()).take(MAX_NAMES).collect()
    }

    fn add_leading(&mut self, bytes: Range<usize>, is_doc: bool) {
        // In some grammars, a comment includes its line end.
        let n_bytes = self.text.get(bytes.clone()).map_or(0, |text| text.trim_end().len());
        self.tags.leading.push(LeadingNode { bytes: bytes.start..bytes.start + n_bytes, is_doc });
    }

    fn add_use(&mut self, bytes: Range<usize>) {
        let start = bytes.start;
        let name = self.text.get(bytes).unwrap_or_default();
        if !name.is_empty() && name.len() <= MAX_NAME_BYTES {
            self.uses.push((name, start));
        }
    }

    fn into_tags(mut self) -> FileTags {
        self.tags.uses = self.count_uses();
        let tags = &mut self.tags;
        tags.leading.sort_by_key(|leading| (leading.bytes.start, Reverse(leading.bytes.end)));
        // A comment inside an attribute is part of it.
        tags.leading.dedup_by(|later, first| later.bytes.end <= first.bytes.end);
        tags.docstrings.sort_by_key(|bytes| bytes.start);
        tags.wrappers.sort_by_key(|bytes| (bytes.start, Reverse(bytes.end)));
        tags.definitions.sort_by_key(|tag| (tag.node.start, Reverse(tag.node.end), tag.pattern));
        tags.definitions.dedup_by(|later, first| unite_tags(self.text, first, later));
        tags.definitions.retain(|tag| tag.kind != TagKind::Skipped);
        self.tags
    }

    fn count_uses(&mut self) -> Vec<(String, u32)> {
        let defined: HashSet<usize> =
            self.tags.definitions.iter().flat_map(|tag| &tag.names).map(|name| name.start).collect();
        // Two patterns may match one use.
        self.uses.sort_unstable_by_key(|(_, start)| *start);
        self.uses.dedup_by_key(|(_, start)| *start);
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for (name, start) in &self.uses {
            if !defined.contains(start) {
                *counts.entry(name).or_default() += 1;
            }
        }
        let mut uses: Vec<_> = counts.into_iter().map(|(name, n)| (name.to_owned(), n)).collect();
        uses.sort_unstable();
        uses
    }
}

fn body_start(node: Node<'_>, body_field: Option<NonZeroU16>) -> Option<usize> {
    Some(node.child_by_field_id(body_field?.get())?.start_byte())
}

/// Merges two tags of one node: the first pattern decides the kind, names of both are kept. Returns whether they are of one
/// node.
fn unite_tags(text: &str, first: &mut DefinitionTag, later: &mut DefinitionTag) -> bool {
    if first.node != later.node {
        return false;
    }
    if first.names.len() < MAX_NAMES
        && !later
            .names
            .iter()
            .all(|name| first.names.iter().any(|known| text.get(known.clone()) == text.get(name.clone())))
    {
        first.names.append(&mut later.names);
    }
    first.owner = first.owner.take().or(later.owner.take());
    true
}
