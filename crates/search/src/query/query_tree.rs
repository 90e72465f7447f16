//! Builds the tree of a query from its lexemes.

use std::fmt;

use super::lexer::Lexeme;
use super::stop_words;

/// Requirements joined by `OR`: any of them must be satisfied.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Alternatives(pub(super) Vec<Requirements>);

/// Items joined by `AND`: each of them must match.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Requirements(pub(super) Vec<WantedAndUnwanted>);

/// Items side by side. Unwanted items are those after `NOT`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WantedAndUnwanted {
    pub(super) wanted: Vec<QueryItem>,
    pub(super) unwanted: Vec<QueryItem>,
}

/// A word, prefix, phrase, or a group in brackets.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum QueryItem {
    Word(String),
    Prefix(String),
    Phrase(String),
    Group(Alternatives),
}

/// Builds the tree of some lexemes. Operators without operands are ignored.
pub(super) fn build_tree(lexemes: Vec<Lexeme>) -> Alternatives {
    TreeParser { rest: lexemes.into_iter().peekable() }.parse_alternatives()
}

/// Parses lexemes recursively. The depth is bounded, because the lexer limits the depth of brackets.
struct TreeParser {
    rest: std::iter::Peekable<std::vec::IntoIter<Lexeme>>,
}

impl TreeParser {
    fn parse_alternatives(&mut self) -> Alternatives {
        let mut any = vec![self.parse_requirements()];
        while self.rest.next_if_eq(&Lexeme::Or).is_some() {
            any.push(self.parse_requirements());
        }
        any.retain(|all| !all.0.is_empty());
        Alternatives(any)
    }

    /// Parses items joined by `AND`. Leaves out empty lists, so that operators without operands are ignored.
    fn parse_requirements(&mut self) -> Requirements {
        let mut all = vec![self.parse_items()];
        while self.rest.next_if_eq(&Lexeme::And).is_some() {
            all.push(self.parse_items());
        }
        all.retain(|items| !items.wanted.is_empty() || !items.unwanted.is_empty());
        Requirements(all)
    }

    fn parse_items(&mut self) -> WantedAndUnwanted {
        let mut items = WantedAndUnwanted::default();
        loop {
            let is_unwanted = self.rest.next_if_eq(&Lexeme::Not).is_some();
            match self.parse_item() {
                Some(item) if is_unwanted => items.unwanted.push(item),
                Some(QueryItem::Group(any)) => items.add_group(any),
                Some(item) => items.wanted.push(item),
                None if is_unwanted => {}
                None => return items,
            }
        }
    }

    fn parse_item(&mut self) -> Option<QueryItem> {
        match self.rest.next_if(|lexeme| matches!(lexeme, Lexeme::Item(_) | Lexeme::Open))? {
            Lexeme::Item(item) => Some(item),
            _ => {
                let group = self.parse_alternatives();
                self.rest.next_if_eq(&Lexeme::Close);
                Some(QueryItem::Group(group))
            }
        }
    }
}

impl WantedAndUnwanted {
    /// Adds a group in brackets. If the group has only wanted or only unwanted items side by side, adds the items instead.
    fn add_group(&mut self, mut any: Alternatives) {
        match any.0.as_mut_slice() {
            [] => {}
            [Requirements(lists)]
                if lists.len() == 1 && (lists[0].wanted.is_empty() || lists[0].unwanted.is_empty()) =>
            {
                self.wanted.append(&mut lists[0].wanted);
                self.unwanted.append(&mut lists[0].unwanted);
            }
            _ => self.wanted.push(QueryItem::Group(any)),
        }
    }

    /// Returns whether every hit must match this item: a phrase, or a group with operators.
    fn is_required(item: &QueryItem) -> bool {
        matches!(item, QueryItem::Phrase(_) | QueryItem::Group(_))
    }

    /// Returns the required wanted items, and the other wanted items.
    pub(super) fn split_by_requirement(&self) -> (Vec<&QueryItem>, Vec<&QueryItem>) {
        self.wanted.iter().partition(|item| Self::is_required(item))
    }
}

impl Alternatives {
    fn item_lists_mut(&mut self) -> impl Iterator<Item = &mut WantedAndUnwanted> {
        self.0.iter_mut().flat_map(|all| all.0.iter_mut())
    }

    pub(super) fn item_lists(&self) -> impl Iterator<Item = &WantedAndUnwanted> {
        self.0.iter().flat_map(|all| all.0.iter())
    }

    /// Returns whether the query has operators, phrases or prefixes, and is not only words side by side.
    pub(super) fn has_operators(&self) -> bool {
        self.item_lists().count() > 1
            || !self.item_lists().all(|items| {
                items.unwanted.is_empty()
                    && items.wanted.iter().all(|item| matches!(item, QueryItem::Word(_)))
            })
    }

    /// Returns all wanted items in order. Groups are replaced by their items.
    pub(super) fn wanted_items(&self) -> Vec<&QueryItem> {
        let mut wanted = Vec::new();
        for item in self.item_lists().flat_map(|items| &items.wanted) {
            match item {
                QueryItem::Group(any) => wanted.extend(any.wanted_items()),
                _ => wanted.push(item),
            }
        }
        wanted
    }

    /// Returns all items after `NOT`, in order.
    pub(super) fn unwanted_items(&self) -> Vec<&QueryItem> {
        let mut unwanted = Vec::new();
        for items in self.item_lists() {
            let groups = items.wanted.iter().filter_map(|item| match item {
                QueryItem::Group(any) => Some(any.unwanted_items()),
                _ => None,
            });
            unwanted.extend(groups.flatten());
            unwanted.extend(&items.unwanted);
        }
        unwanted
    }

    /// Drops stop words beside other items. A items of only stop words stays, because it may be an operand.
    pub(super) fn drop_stop_words(&mut self) {
        for items in self.item_lists_mut() {
            if !items.wanted.iter().all(QueryItem::is_stop_word) {
                items.wanted.retain(|item| !item.is_stop_word());
            }
            for item in &mut items.wanted {
                if let QueryItem::Group(any) = item {
                    any.drop_stop_words();
                }
            }
        }
    }

    /// Replaces the texts of wanted words and phrases for which `replace` returns another text.
    pub(super) fn replace_wanted(&mut self, replace: &mut dyn FnMut(&str) -> Option<String>) {
        for item in self.item_lists_mut().flat_map(|items| items.wanted.iter_mut()) {
            match item {
                QueryItem::Group(any) => any.replace_wanted(replace),
                QueryItem::Prefix(_) => {}
                QueryItem::Word(text) | QueryItem::Phrase(text) => {
                    if let Some(other) = replace(text) {
                        *text = other;
                    }
                }
            }
        }
    }
}

impl QueryItem {
    /// Returns the text of the item; `None` for a group.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Prefix(text) | Self::Phrase(text) => Some(text),
            Self::Group(_) => None,
        }
    }

    fn is_stop_word(&self) -> bool {
        matches!(self, Self::Word(text) if stop_words::is_stop_text(text))
    }
}

/// Writes items, with `between` between them.
fn write_joined<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
    between: &str,
) -> fmt::Result {
    for (nth, item) in items.enumerate() {
        f.write_str(if nth > 0 { between } else { "" })?;
        write!(f, "{item}")?;
    }
    Ok(())
}

impl fmt::Display for Alternatives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(f, self.0.iter(), " OR ")
    }
}

impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(f, self.0.iter(), " AND ")
    }
}

impl fmt::Display for WantedAndUnwanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unwanted = self.unwanted.iter().map(|item| format!("NOT {item}"));
        write_joined(f, self.wanted.iter().map(ToString::to_string).chain(unwanted), " ")
    }
}

impl fmt::Display for QueryItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) => f.write_str(text),
            Self::Prefix(text) => write!(f, "{text}*"),
            Self::Phrase(text) => write!(f, "\"{text}\""),
            Self::Group(any) => write!(f, "({any})"),
        }
    }
}
