//! Finds the lines of a test that replace a definition or a module by a fake.

use memod_base::types::file_name;

use super::titles::read_text;

/// Calls of JavaScript that replace a module.
const MODULE_CALLS: [&str; 9] = [
    "vi.mock(",
    "vi.doMock(",
    "jest.mock(",
    "jest.doMock(",
    "jest.unstable_mockModule(",
    "mock.module(",
    "td.replace(",
    "td.replaceEsm(",
    "proxyquire(",
];
/// Calls of JavaScript that replace a member of an object, its name being the second argument.
const MEMBER_CALLS: [&str; 5] = ["vi.spyOn(", "jest.spyOn(", "sinon.stub(", "sandbox.stub(", "mock.method("];
/// Calls of Python that replace what a dotted path names, or, after an object, a name.
const PATCH_CALLS: [&str; 5] =
    ["patch(", "patch.object(", "patch.dict(", "monkeypatch.setattr(", "patch.multiple("];
/// Words before or after the name of a type in the name of its fake.
const FAKE_WORDS: [&str; 4] = ["Mock", "Fake", "Stub", "Dummy"];

/// The thing that a line of a test replaces by a fake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// The module with this import path: `./parser`.
    Module(String),
    /// The definition with this dotted path: `app.store.load`.
    Path(String),
    /// A definition by its name alone.
    Name(String),
}

/// Returns the lines (1-based) that replace something, each with what it replaces. `types` are names of types: those that a fake is
/// named after, such as `MockStore`, are found too.
pub fn list_fakes<'l>(
    path: &str,
    lines: impl Iterator<Item = &'l str>,
    types: &[&str],
) -> Vec<(u32, Replaced)> {
    let lines: Vec<&str> = lines.collect();
    let ending = file_name(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        if text.starts_with(['/', '*']) || text.starts_with("# ") {
            continue;
        }
        let next = lines.get(at + 1).map_or("", |next| next.trim_start());
        let replaced = match ending {
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => read_javascript(text, next),
            "py" => read_python(text, next),
            "java" | "kt" => read_java(text, next),
            _ => None,
        };
        let replaced = replaced.or_else(|| find_fake_type(text, types));
        found.extend(replaced.map(|replaced| (at as u32 + 1, replaced)));
    }
    found
}

/// Returns the text after a call at the start of a word, or the next line where the call ends its line.
fn arguments_of<'t>(text: &'t str, next: &'t str, calls: &[&str]) -> Option<&'t str> {
    calls.iter().find_map(|call| {
        let at = text.find(call)?;
        let is_start = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let arguments = text[at + call.len()..].trim_start();
        is_start.then_some(if arguments.is_empty() { next } else { arguments })
    })
}

fn read_javascript(text: &str, next: &str) -> Option<Replaced> {
    if let Some(arguments) = arguments_of(text, next, &MODULE_CALLS) {
        let module = arguments.strip_prefix("import(").unwrap_or(arguments);
        return read_text(module).map(Replaced::Module);
    }
    let arguments = arguments_of(text, next, &MEMBER_CALLS)?;
    // A spy alone calls what it observes.
    let is_fake = !text.contains("spyOn(") || text.contains(".mock") || next.starts_with(".mock");
    let (_, name) = arguments.split_once(',').filter(|_| is_fake)?;
    read_text(name.trim_start()).map(Replaced::Name)
}

fn read_python(text: &str, next: &str) -> Option<Replaced> {
    let arguments = arguments_of(text, next, &PATCH_CALLS)?;
    if let Some(path) = read_text(arguments) {
        return Some(Replaced::Path(path));
    }
    let (of, name) = arguments.split_once(',')?;
    let name = read_text(name.trim_start())?;
    let is_path = of.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    Some(if is_path { Replaced::Path(format!("{of}.{name}")) } else { Replaced::Name(name) })
}

/// Reads `mock(Store.class)` and `@Mock Store store;`, also on two lines.
fn read_java(text: &str, next: &str) -> Option<Replaced> {
    if let Some(arguments) = arguments_of(text, next, &["mock(", "createMock(", "mockk<"]) {
        let end = arguments.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(arguments.len());
        let is_type = arguments[end..].starts_with(".class") || arguments[end..].starts_with('>');
        return is_type.then(|| Replaced::Name(arguments[..end].to_owned()));
    }
    let rest = text.strip_prefix("@Mock")?;
    let rest = rest.strip_prefix("Bean").unwrap_or(rest);
    let field = if rest.trim().is_empty() { next } else { rest.strip_prefix(' ')? };
    let words =
        field.split([' ', '<']).filter(|word| !matches!(*word, "private" | "protected" | "public" | "final"));
    let of_type = words.into_iter().next()?;
    of_type.starts_with(char::is_uppercase).then(|| Replaced::Name(of_type.to_owned()))
}

/// Returns the type after which a fake on this line is named: `NewMockStore(`, `fakeStore{`, `StoreStub::new()`.
fn find_fake_type(text: &str, types: &[&str]) -> Option<Replaced> {
    // `mock` and `Mock`
    if types.is_empty() || !FAKE_WORDS.iter().any(|fake| text.contains(&fake[1..])) {
        return None;
    }
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.find_map(|word| {
        let named = types.iter().find(|name| {
            let Some(at) = word.to_lowercase().find(&name.to_lowercase()) else { return false };
            let (Some(before), Some(after)) = (word.get(..at), word.get(at + name.len()..)) else {
                return false;
            };
            let before = before.strip_prefix("New").or_else(|| before.strip_prefix("new")).unwrap_or(before);
            let is_fake =
                |part: &str| FAKE_WORDS.iter().any(|fake| fake.eq_ignore_ascii_case(part.trim_matches('_')));
            is_fake(before) && after.is_empty() || before.is_empty() && is_fake(after)
        });
        named.map(|name| Replaced::Name((*name).to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, types: &[&str], expected: &[(u32, Replaced)]) {
        assert_eq!(list_fakes(path, text.lines(), types), expected, "{path}\n{text}");
    }

    fn fake_module(name: &str) -> Replaced {
        Replaced::Module(name.to_owned())
    }

    fn fake_path(name: &str) -> Replaced {
        Replaced::Path(name.to_owned())
    }

    fn fake_name(name: &str) -> Replaced {
        Replaced::Name(name.to_owned())
    }

    #[test]
    fn javascript_replaces_modules_and_members() {
        let text = "vi.mock('./parser', () => ({ parse: vi.fn() }))\njest.mock(\n  \"../store\",\n)\nvi.mock(import('./lazy'))\n// vi.mock('./no')\n\
                    vi.spyOn(store, 'load').mockReturnValue(1)\njest.spyOn(store, 'seen')\nsinon.stub(fs, 'readFile')\nconst mock = parse('x')\n";
        let expected = [
            (1, fake_module("./parser")),
            (2, fake_module("../store")),
            (5, fake_module("./lazy")),
            (7, fake_name("load")),
            (9, fake_name("readFile")),
        ];
        check("a.test.ts", text, &[], &expected);
    }

    #[test]
    fn python_replaces_what_a_path_names() {
        let text = "@patch('app.store.load')\ndef test_a(load):\n    with mock.patch(\"app.views.Store\"):\n        pass\n    monkeypatch.setattr(\"app.store.save\", \
                    None)\n    monkeypatch.setattr(store, 'close', print)\n    mocker.patch.object(Store, 'open')\n    dispatch('x')\n    # patch('app.no')\n";
        let expected = [
            (1, fake_path("app.store.load")),
            (3, fake_path("app.views.Store")),
            (5, fake_path("app.store.save")),
            (6, fake_path("store.close")),
            (7, fake_path("Store.open")),
        ];
        check("test_a.py", text, &[], &expected);
    }

    #[test]
    fn java_go_and_rust_replace_types() {
        let java = "  @Mock\n  private Store store;\n  @Mock Clock clock;\n  Log log = mock(Log.class);\n  mock(x);\n";
        check(
            "ATest.java",
            java,
            &[],
            &[(1, fake_name("Store")), (3, fake_name("Clock")), (4, fake_name("Log"))],
        );
        let go = "s := NewMockStore(ctrl)\ntype fakeStore struct{}\nstore := Store{}\nmockStoreKeeper := 1\n";
        check("a_test.go", go, &["Store"], &[(1, fake_name("Store")), (2, fake_name("Store"))]);
        check(
            "tests/a.rs",
            "let s = StoreStub::new();\nlet t = MockClock::default();\n",
            &["Store"],
            &[(1, fake_name("Store"))],
        );
        check("a_test.cc", "class MockStore : public Store {\n", &["Store"], &[(1, fake_name("Store"))]);
    }
}
