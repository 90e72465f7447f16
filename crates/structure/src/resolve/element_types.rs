//! Infers the type of an element of a list: of the result of `orders.first()`, of the variable of a loop.

use super::infer_types::TypeName;

/// Methods that return an element of a list, or the value in a map or in a holder.
const OF_ELEMENT: [&str; 44] = [
    "at",
    "lock",
    "read",
    "write",
    "try_lock",
    "unwrap",
    "back",
    "borrow",
    "borrow_mut",
    "dequeue",
    "detect",
    "elementAt",
    "ElementAt",
    "find",
    "findAny",
    "findFirst",
    "First",
    "first",
    "FirstOrDefault",
    "firstOrNull",
    "front",
    "get",
    "getFirst",
    "getLast",
    "getOrDefault",
    "getOrNull",
    "head",
    "Last",
    "last",
    "LastOrDefault",
    "lastOrNull",
    "max",
    "min",
    "next",
    "Peek",
    "peek",
    "poll",
    "Pop",
    "pop",
    "remove",
    "removeFirst",
    "removeLast",
    "Single",
    "SingleOrDefault",
];
/// Methods that return a list of the same elements.
const OF_LIST: [&str; 33] = [
    "AsEnumerable",
    "asSequence",
    "drop",
    "dropLast",
    "filter",
    "filterNot",
    "into_iter",
    "iter",
    "iter_mut",
    "iterator",
    "OrderBy",
    "OrderByDescending",
    "parallelStream",
    "reject",
    "reverse",
    "Reverse",
    "reversed",
    "select",
    "Skip",
    "slice",
    "sort",
    "sort_by",
    "sortBy",
    "sorted",
    "sortedBy",
    "stream",
    "take",
    "Take",
    "toArray",
    "ToArray",
    "ToList",
    "toList",
    "Where",
];

/// Ends of the names of types whose elements have keys.
const MAPS: [&str; 5] = ["Dict", "Dictionary", "Map", "dict", "map"];

impl TypeName {
    /// Returns the type of the elements; `None` if the text does not write it.
    pub(super) fn into_element(self) -> Option<Self> {
        let written = self.element.clone()?;
        let (name, element) = match written.split_once('<') {
            Some((name, element)) => (name, Some(element.to_owned())),
            None => (&*written, None),
        };
        let (module, name) = match name.rsplit_once('.') {
            Some((module, name)) => (Some(module.to_owned()), name),
            None => (None, name),
        };
        Some(Self { name: name.to_owned(), module, element, is_wrapped: false, ..self })
    }

    /// Returns the type of `value[0]`; a pointer of C is indexed as its type.
    pub(super) fn into_indexed(self, is_c: bool) -> Option<Self> {
        if is_c && self.element.is_none() { Some(self) } else { self.into_element() }
    }

    /// Returns the type of the variable of a loop, or of what an `Option` holds. Going through a map gives its keys or its entries.
    pub(super) fn into_iterated(self) -> Option<Self> {
        match self {
            Self { is_wrapped: true, .. } => Some(Self { is_wrapped: false, ..self }),
            _ if MAPS.iter().any(|map| self.name.ends_with(map)) => None,
            _ => self.into_element(),
        }
    }

    /// Returns the type of the result of a method of lists.
    pub(super) fn after_list_method(self, method: &str) -> Option<Self> {
        if self.is_wrapped {
            return None;
        }
        match method {
            _ if OF_ELEMENT.contains(&method) => {
                // The type may be of another library, whose method returns something else.
                Some(Self { is_written: false, ..self.into_element()? })
            }
            "values" => Some(Self { name: "[]".to_owned(), ..self }),
            _ if OF_LIST.contains(&method) => Some(self),
            _ => None,
        }
    }
}
