//! Reads names of Python that strings and parameters hold: exports in `__all__`, and fixtures of pytest.

use std::borrow::Cow;

use memod_base::types::{ExportedName, UseRole, last_part};
use tree_sitter::Node;

use super::node_text::{create_import, field_text, named_children, text_of};
use super::walker::{MAX_RECEIVER_PARTS, TreeWalker};
use super::{FoundReceiver, FoundUse, FoundValue, MAX_NAME_BYTES};

/// Last name of the decorators that make a fixture.
const FIXTURE_DECORATORS: [&str; 2] = ["fixture", "yield_fixture"];
/// Last name of the calls whose strings name fixtures.
const NAMING_CALLS: [&str; 2] = ["usefixtures", "getfixturevalue"];
/// Ways in which a file extends its `__all__` by names that are not read.
const OPEN_EXPORTS: [&str; 3] = ["__all__ +=", "__all__.extend", "__all__.append"];

/// The tests and the fixtures of a file that every test uses, as far as they are read.
#[derive(Default)]
pub(super) struct PytestNames<'a> {
    /// First byte of each test, and of the class around it.
    tests: Vec<(usize, Option<usize>)>,
    /// Fixtures with `autouse=True`, each with the first byte of the class around it.
    automatic: Vec<(&'a str, Option<usize>)>,
}

impl<'a, 't> TreeWalker<'a, 't> {
    /// Records the names that a node of Python holds in strings and parameters.
    pub(super) fn add_python_names(&mut self, node: Node<'t>) {
        match node.kind() {
            "function_definition" => self.add_fixture_parameters(node),
            "assignment" => self.add_named_exports(node),
            "return_statement" => self.add_returned_value(node),
            "yield" if self.is_in_fixture() => self.add_returned_value(node),
            "as_pattern" => {
                self.add_context_value(node);
                self.add_caught_value(node);
                self.add_captured_name(node);
            }
            "dotted_name" | "splat_pattern" => self.add_captured_name(node),
            "global_statement" | "nonlocal_statement" => self.add_outer_names(node),
            "call" => {
                self.add_python_call(node);
                let called = field_text(node, "function", self.text).unwrap_or_default();
                if NAMING_CALLS.contains(&last_part(called)) {
                    let arguments = node.child_by_field_name("arguments");
                    let strings = arguments.into_iter().flat_map(named_children).filter_map(string_content);
                    strings.for_each(|name| self.add_fixture_use(name));
                }
            }
            _ => {}
        }
    }

    /// Adds the uses of automatic fixtures to the tests of their class or file, and sorts the uses.
    pub(super) fn finish_python_names(&mut self) {
        let PytestNames { tests, automatic } = std::mem::take(&mut self.pytest);
        for (at, class) in tests {
            for (name, scope) in &automatic {
                if scope.is_none() || *scope == class {
                    self.found.uses.push(fixture_use(name, at));
                }
            }
        }
        self.finish_called_values();
        self.found.uses.sort_by_key(|found| found.at);
        if OPEN_EXPORTS.iter().any(|way| self.text.contains(way)) {
            self.found.exports.retain(|export| export.name != export.local);
        }
    }

    /// Records the parameters of a test or fixture as uses of fixtures.
    fn add_fixture_parameters(&mut self, node: Node<'t>) {
        let Some(name) = field_text(node, "name", self.text) else { return };
        let decorators: Vec<Node<'t>> = self.decorators_around();
        let own = self.path.last().filter(|(around, _)| around.kind() == "decorated_definition");
        let own = own.map(|(around, _)| named_children(*around)).unwrap_or_default();
        let fixture = own.into_iter().filter(|child| child.kind() == "decorator").find(|decorator| {
            self.called_name(*decorator).is_some_and(|name| FIXTURE_DECORATORS.contains(&last_part(name)))
        });
        let class = self.path.iter().rev().find(|(around, _)| around.kind() == "class_definition");
        let class = class.map(|(class, _)| class.start_byte());
        if let Some(fixture) = fixture {
            self.add_fixture(name, fixture, class);
        } else if name.starts_with("test") {
            self.pytest.tests.push((node.start_byte(), class));
        } else {
            return;
        }
        let direct: Vec<&str> =
            decorators.iter().flat_map(|decorator| self.direct_parameters(*decorator)).collect();
        let parameters = node.child_by_field_name("parameters").into_iter().flat_map(named_children);
        for parameter in parameters {
            let named = match parameter.kind() {
                "identifier" => parameter,
                "typed_parameter" => match parameter.named_child(0) {
                    Some(first) if first.kind() == "identifier" => first,
                    _ => continue,
                },
                _ => continue,
            };
            let own_name = self.text_of(named);
            if !self.is_self_name(own_name) && !direct.contains(&own_name) {
                self.add_fixture_use(named);
                if parameter == named {
                    // Its type is what the fixture returns.
                    self.add_value(Cow::Borrowed(own_name), format!("{own_name}()"), named.start_byte());
                }
            }
        }
    }

    /// Records what a function without a written type returns, or what a fixture yields.
    fn add_returned_value(&mut self, node: Node<'t>) {
        let Some(value) = node.named_child(0).filter(|value| value.kind() != "none") else { return };
        let mut around = self.path.iter().rev().map(|(around, _)| *around);
        let function = around.find(|around| matches!(around.kind(), "function_definition" | "lambda"));
        let is_open = function.is_some_and(|function| {
            function.kind() == "function_definition" && function.child_by_field_name("return_type").is_none()
        });
        if is_open {
            // A value that is no path has no type here, but differs from the others.
            let path = self.expression_path(value, MAX_RECEIVER_PARTS).unwrap_or_default();
            let path = self.root_at_self(path);
            self.add_value(Cow::Borrowed("()"), path, node.start_byte());
        }
    }

    /// Records the value that a `with` statement binds.
    fn add_context_value(&mut self, node: Node<'t>) {
        let Some(target) = node.child_by_field_name("alias").and_then(|alias| alias.named_child(0)) else {
            return;
        };
        let is_with = self.path.last().is_some_and(|(around, _)| around.kind() == "with_item");
        if !is_with || target.kind() != "identifier" {
            return;
        }
        let path = node.named_child(0).and_then(|value| self.expression_path(value, MAX_RECEIVER_PARTS));
        if let Some(path) = path {
            let path = self.root_at_self(path);
            self.add_value(
                Cow::Borrowed(self.text_of(target)),
                format!("{path}.__enter__()"),
                target.start_byte(),
            );
        }
    }

    pub(super) fn add_value(&mut self, name: Cow<'a, str>, path: String, at: usize) {
        if path.len() <= MAX_NAME_BYTES {
            self.push_value(FoundValue::set_to_expression(name, Cow::Owned(path), at));
        }
    }

    /// Returns whether the innermost function around the current node is a fixture.
    fn is_in_fixture(&self) -> bool {
        let at = self.path.iter().rposition(|(around, _)| around.kind() == "function_definition");
        let decorated = at.and_then(|at| self.path.get(at.checked_sub(1)?));
        decorated.is_some_and(|(around, _)| {
            named_children(*around).into_iter().filter(|child| child.kind() == "decorator").any(|decorator| {
                self.called_name(decorator).is_some_and(|name| FIXTURE_DECORATORS.contains(&last_part(name)))
            })
        })
    }

    fn add_fixture_use(&mut self, name: Node<'t>) {
        let written = self.text_of(name);
        if !written.is_empty() && written.len() <= MAX_NAME_BYTES {
            self.found.uses.push(fixture_use(written, name.start_byte()));
        }
    }

    /// Records a fixture that has another name than its function, or that every test uses.
    fn add_fixture(&mut self, function: &'a str, decorator: Node<'t>, class: Option<usize>) {
        let call = decorator.named_child(0).filter(|call| call.kind() == "call");
        let arguments = call.and_then(|call| call.child_by_field_name("arguments"));
        let mut name = function;
        let mut is_automatic = false;
        for argument in arguments.into_iter().flat_map(named_children) {
            let value = argument.child_by_field_name("value");
            match (field_text(argument, "name", self.text), value) {
                (Some("name"), Some(value)) => {
                    name = string_content(value).map_or(name, |content| self.text_of(content));
                }
                (Some("autouse"), Some(value)) => is_automatic = text_of(value, self.text) == "True",
                _ => {}
            }
        }
        if name != function {
            self.found.exports.push(ExportedName { name: name.to_owned(), local: function.to_owned() });
        }
        if is_automatic {
            self.pytest.automatic.push((name, class));
        }
    }

    /// Returns the decorators of the definitions around the current node, innermost last.
    fn decorators_around(&self) -> Vec<Node<'t>> {
        let around = self.path.iter().filter(|(around, _)| around.kind() == "decorated_definition");
        let children = around.flat_map(|(around, _)| named_children(*around));
        children.filter(|child| child.kind() == "decorator").collect()
    }

    fn called_name(&self, decorator: Node<'_>) -> Option<&'a str> {
        let named = decorator.named_child(0)?;
        let called = named.child_by_field_name("function").filter(|_| named.kind() == "call");
        Some(self.text_of(called.unwrap_or(named)))
    }

    /// Returns the parameters whose values a decorator `parametrize` gives, so that they are no fixtures.
    fn direct_parameters(&self, decorator: Node<'t>) -> Vec<&'a str> {
        let is_it = self.called_name(decorator).is_some_and(|name| last_part(name) == "parametrize");
        let indirect = self.indirect_names(decorator);
        if !is_it || indirect.as_ref().is_some_and(Vec::is_empty) {
            return Vec::new();
        }
        let call = decorator.named_child(0);
        let arguments = call.and_then(|call| call.child_by_field_name("arguments"));
        let Some(first) = arguments.and_then(|arguments| arguments.named_child(0)) else { return Vec::new() };
        let named =
            if first.kind() == "keyword_argument" { first.child_by_field_name("value") } else { Some(first) };
        let strings = named.into_iter().flat_map(|named| match named.kind() {
            "list" | "tuple" => named_children(named),
            _ => vec![named],
        });
        let names = strings.filter_map(string_content).flat_map(|content| self.text_of(content).split(','));
        let names = names.map(str::trim);
        names.filter(|name| !indirect.iter().flatten().any(|passed| passed == name)).collect()
    }

    /// Records the names in `__all__`, and the plugins of pytest, which bring in their fixtures.
    fn add_named_exports(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) =
            (field_text(node, "left", self.text), node.child_by_field_name("right"))
        else {
            return;
        };
        if !matches!(left, "__all__" | "pytest_plugins") {
            return;
        }
        let parts = if right.kind() == "string" { vec![right] } else { named_children(right) };
        for content in parts.into_iter().filter_map(string_content) {
            let name = self.text_of(content);
            if left == "__all__" {
                self.found.exports.push(ExportedName { name: name.to_owned(), local: name.to_owned() });
                self.add_string_use(content, FoundReceiver::None);
            } else {
                self.found.imports.push(create_import("", name, ""));
            }
        }
    }
}

fn fixture_use(name: &str, at: usize) -> FoundUse<'_> {
    let (receiver, role) = (FoundReceiver::Fixture, UseRole::Call);
    FoundUse { name: Cow::Borrowed(name), at, receiver, role, n_arguments: None, is_value: false }
}

/// Returns the node with the text of a string; `None` for another node and for an empty string.
pub(super) fn string_content(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() != "string" {
        return None;
    }
    named_children(node).into_iter().find(|child| child.kind() == "string_content")
}

#[cfg(test)]
mod tests {
    use memod_base::types::UseReceiver;

    use crate::extract;

    /// Checks the fixtures that a file uses, each with its line.
    fn check(text: &str, expected: &[&str]) {
        let structure = extract("test_a.py", text).structure;
        let used = structure.uses.iter().filter(|used| used.receiver == UseReceiver::Fixture);
        let used: Vec<String> =
            used.map(|used| format!("{} {}", used.line, structure.name(used.name))).collect();
        assert_eq!(used, expected, "{text}");
    }

    #[test]
    fn parameters_of_tests_and_fixtures_are_fixtures() {
        check("def test_a(db, tmp_path=None, *args, **kw): pass\n", &["1 db"]);
        check("def load(db): pass\n", &[]);
        check("class TestA:\n    async def test_a(self, db: Db, client): pass\n", &["2 db", "2 client"]);
        check("@pytest.fixture\ndef user(db): pass\n", &["2 db"]);
        check(
            "@pytest_asyncio.fixture(scope='session')\nasync def user(db, app): pass\n",
            &["2 db", "2 app"],
        );
        check("@pytest.mark.parametrize('a, b', [])\ndef test_a(a, db, b): pass\n", &["2 db"]);
        check(
            "@pytest.mark.parametrize(['a'], [])\nclass TestA:\n    def test_a(self, a, db): pass\n",
            &["3 db"],
        );
        check("@pytest.mark.parametrize('a', [], indirect=True)\ndef test_a(a): pass\n", &["2 a"]);
    }

    #[test]
    fn strings_name_fixtures() {
        check("@pytest.mark.usefixtures('db', \"app\")\ndef test_a(): pass\n", &["1 db", "1 app"]);
        check("pytestmark = pytest.mark.usefixtures('db')\n", &["1 db"]);
        check("def test_a(request):\n    request.getfixturevalue('db')\n", &["1 request", "2 db"]);
    }

    #[test]
    fn an_automatic_fixture_is_used_by_each_test_of_its_file_or_class() {
        let file =
            "@pytest.fixture(autouse=True)\ndef db(): pass\n\ndef test_a(): pass\ndef test_b(): pass\n";
        check(file, &["4 db", "5 db"]);
        let class = "class TestA:\n    @fixture(autouse=True)\n    def db(self): pass\n    def test_a(self): pass\n\ndef test_b(): pass\n";
        check(class, &["4 db"]);
    }

    #[test]
    fn names_of_fixtures_and_exports() {
        let check = |text: &str, expected: &[&str]| {
            let structure = extract("conftest.py", text).structure;
            let exports: Vec<String> =
                structure.exports.iter().map(|export| format!("{} {}", export.name, export.local)).collect();
            assert_eq!(exports, expected, "{text}");
        };
        check("@pytest.fixture(name='db')\ndef make_db(): pass\n", &["db make_db"]);
        check("__all__ = ['a', 'b']\n", &["a a", "b b"]);
        check("__all__ = ('a',)\n__all__ += other.__all__\n", &[]);
        let plugins = extract("conftest.py", "pytest_plugins = ['a.b', 'c']\n").structure.imports;
        assert_eq!(plugins.iter().map(|import| import.module.as_str()).collect::<Vec<_>>(), ["a.b", "c"]);
    }
}
