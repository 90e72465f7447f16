//! Names the parts of a tag.

use std::ops::Range;

/// The value of an attribute, as a span of the file without its quotes or braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AttributeValue {
    None,
    Quoted(Range<usize>),
    Braces(Range<usize>),
    /// A string in backticks, as Astro has it; the span has the backticks.
    Template(Range<usize>),
    Bare(Range<usize>),
}

/// An attribute of a tag. `{name}` and `{...rest}` have an empty name.
#[derive(Clone, Debug)]
pub(super) struct Attribute {
    pub(super) name: Range<usize>,
    pub(super) value: AttributeValue,
}

/// A tag that was read to its end.
pub(super) struct ReadTag<'a> {
    pub(super) name: &'a str,
    pub(super) attributes: Vec<Attribute>,
    /// Whether the tag ends with `/>`.
    pub(super) is_closed: bool,
}

/// How the copy separates the expressions of a template.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Separation {
    /// Each expression is a statement.
    Statements,
    /// The expressions of an element inside of an expression are the items of a list.
    List,
}
