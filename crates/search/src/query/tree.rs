//! Builds the tree of a query.

use std::fmt;

use super::lexer::Lexeme;
use super::stop;

/// Alternatives: any of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Any(pub(super) Vec<All>);

/// Requirements: each of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct All(pub(super) Vec<Bag>);

/// Words side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bag {
    pub(super) wanted: Vec<Item>,
    pub(super) unwanted: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Word(String),
    Prefix(String),
    Phrase(String),
    Group(Any),
}

/// Builds the tree of all lexemes.
pub(super) fn tree_of(lexemes: Vec<Lexeme>) -> Any {
    Parser { rest: lexemes.into_iter().peekable() }.any()
}

/// Recursion is bounded by the lexer, which opens only so many brackets.
struct Parser {
    rest: std::iter::Peekable<std::vec::IntoIter<Lexeme>>,
}

impl Parser {
    fn any(&mut self) -> Any {
        let mut any = vec![self.all()];
        while self.rest.next_if_eq(&Lexeme::Or).is_some() {
            any.push(self.all());
        }
        any.retain(|all| !all.0.is_empty());
        Any(any)
    }

    /// Leaves out bags without items, beside which an operator has no operand.
    fn all(&mut self) -> All {
        let mut all = vec![self.bag()];
        while self.rest.next_if_eq(&Lexeme::And).is_some() {
            all.push(self.bag());
        }
        all.retain(|bag| !bag.wanted.is_empty() || !bag.unwanted.is_empty());
        All(all)
    }

    fn bag(&mut self) -> Bag {
        let mut bag = Bag::default();
        loop {
            let is_unwanted = self.rest.next_if_eq(&Lexeme::Not).is_some();
            match self.item() {
                Some(item) if is_unwanted => bag.unwanted.push(item),
                Some(Item::Group(any)) => bag.add_group(any),
                Some(item) => bag.wanted.push(item),
                None if is_unwanted => {}
                None => return bag,
            }
        }
    }

    fn item(&mut self) -> Option<Item> {
        match self.rest.next_if(|lexeme| matches!(lexeme, Lexeme::Item(_) | Lexeme::Open))? {
            Lexeme::Item(item) => Some(item),
            _ => {
                let group = self.any();
                self.rest.next_if_eq(&Lexeme::Close);
                Some(Item::Group(group))
            }
        }
    }
}

impl Bag {
    /// Adds what is in brackets: as if it had none when no operator binds its items.
    fn add_group(&mut self, mut any: Any) {
        let is_plain = |bag: &Bag| bag.wanted.is_empty() || bag.unwanted.is_empty();
        match any.0.as_mut_slice() {
            [] => {}
            [All(bags)] if bags.len() == 1 && is_plain(&bags[0]) => {
                self.wanted.append(&mut bags[0].wanted);
                self.unwanted.append(&mut bags[0].unwanted);
            }
            _ => self.wanted.push(Item::Group(any)),
        }
    }

    /// Returns whether a hit must have this item whatever else it has: a phrase, or a group with operators.
    fn is_required(item: &Item) -> bool {
        matches!(item, Item::Phrase(_) | Item::Group(_))
    }

    /// Returns the required items, and the others.
    pub(super) fn by_requirement(&self) -> (Vec<&Item>, Vec<&Item>) {
        self.wanted.iter().partition(|item| Self::is_required(item))
    }
}

impl Any {
    fn bags_mut(&mut self) -> impl Iterator<Item = &mut Bag> {
        self.0.iter_mut().flat_map(|all| all.0.iter_mut())
    }

    pub(super) fn bags(&self) -> impl Iterator<Item = &Bag> {
        self.0.iter().flat_map(|all| all.0.iter())
    }

    /// Returns whether an operator binds: the query is not only words side by side.
    pub(super) fn is_binding(&self) -> bool {
        let is_word = |item: &Item| matches!(item, Item::Word(_));
        let is_plain = |bag: &Bag| bag.unwanted.is_empty() && bag.wanted.iter().all(is_word);
        self.bags().count() > 1 || !self.bags().all(is_plain)
    }

    /// Returns the wanted items that are no groups, in order.
    pub(super) fn wanted(&self) -> Vec<&Item> {
        let mut wanted = Vec::new();
        for item in self.bags().flat_map(|bag| &bag.wanted) {
            match item {
                Item::Group(any) => wanted.extend(any.wanted()),
                _ => wanted.push(item),
            }
        }
        wanted
    }

    /// Returns what `NOT` stands before, in order.
    pub(super) fn unwanted(&self) -> Vec<&Item> {
        let mut unwanted = Vec::new();
        for bag in self.bags() {
            let groups = bag.wanted.iter().filter_map(|item| match item {
                Item::Group(any) => Some(any.unwanted()),
                _ => None,
            });
            unwanted.extend(groups.flatten());
            unwanted.extend(&bag.unwanted);
        }
        unwanted
    }

    /// Drops stop words beside other items; an operand of an operator stays whatever it is.
    pub(super) fn drop_stop_words(&mut self) {
        let is_stop = |item: &Item| matches!(item, Item::Word(text) if stop::is_stop_text(text));
        for bag in self.bags_mut() {
            if !bag.wanted.iter().all(is_stop) {
                bag.wanted.retain(|item| !is_stop(item));
            }
            for item in &mut bag.wanted {
                if let Item::Group(any) = item {
                    any.drop_stop_words();
                }
            }
        }
    }

    /// Replaces texts of wanted words and phrases.
    pub(super) fn replace_wanted(&mut self, replace: &mut dyn FnMut(&str) -> Option<String>) {
        for item in self.bags_mut().flat_map(|bag| bag.wanted.iter_mut()) {
            match item {
                Item::Group(any) => any.replace_wanted(replace),
                Item::Prefix(_) => {}
                Item::Word(text) | Item::Phrase(text) => {
                    if let Some(other) = replace(text) {
                        *text = other;
                    }
                }
            }
        }
    }
}

impl Item {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Prefix(text) | Self::Phrase(text) => Some(text),
            Self::Group(_) => None,
        }
    }
}

/// Writes the items of an iterator with something between them.
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

impl fmt::Display for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(f, self.0.iter(), " OR ")
    }
}

impl fmt::Display for All {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(f, self.0.iter(), " AND ")
    }
}

impl fmt::Display for Bag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unwanted = self.unwanted.iter().map(|item| format!("NOT {item}"));
        write_joined(f, self.wanted.iter().map(ToString::to_string).chain(unwanted), " ")
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) => f.write_str(text),
            Self::Prefix(text) => write!(f, "{text}*"),
            Self::Phrase(text) => write!(f, "\"{text}\""),
            Self::Group(any) => write!(f, "({any})"),
        }
    }
}
