//! Infers the type of an element of a list: of the result of `orders.first()`, of the variable of a loop.

use super::infer_types::TypeName;

/// Methods that return an element of a list, or the value in a map or in a holder.
const OF_ELEMENT: [&str; 36] = [
    "back",
    "borrow",
    "borrow_mut",
    "dequeue",
    "detect",
    "elementAt",
    "ElementAt",
    "find",
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
const OF_LIST: [&str; 34] = [
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
    "values",
    "Where",
];

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

    /// Returns the type of the result of a method of lists.
    pub(super) fn after_list_method(self, method: &str) -> Option<Self> {
        match method {
            _ if OF_ELEMENT.contains(&method) => self.into_element(),
            _ if OF_LIST.contains(&method) => Some(self),
            _ => None,
        }
    }
}
