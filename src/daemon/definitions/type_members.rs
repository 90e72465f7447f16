//! Finds the attributes, fields and variants in the text of a type, by its lines.
//!
//! The definitions of such members in the index have no text of their own in a chunk. A line of the body that begins with a name
//! starts a member, which ends where the next one begins.

/// Keywords before or after the name of a type.
const TYPE_WORDS: [&str; 10] =
    ["class", "struct", "enum", "interface", "trait", "object", "union", "record", "message", "protocol"];
/// Words that show that a line declares no attribute, field or variant.
const OTHER_WORDS: [&str; 19] = [
    "def", "defp", "fn", "func", "fun", "function", "class", "if", "elif", "else", "for", "while", "with",
    "try", "return", "raise", "import", "pass", "impl",
];
/// Access labels of C++, which are not the names of members.
const LABELS: [&str; 3] = ["private", "protected", "public"];

/// The text of a type, split into its members and the rest.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::daemon) struct TypeParts {
    /// Text outside all members.
    pub(in crate::daemon) rest: String,
    /// Name of each member, with its lines and the comments and attributes above them.
    pub(in crate::daemon) members: Vec<(String, String)>,
}

/// Returns the parts of a type with this name; `None` if the text is something else, such as a function.
pub(in crate::daemon) fn split_type(text: &str, name: &str) -> Option<TypeParts> {
    let named =
        text.lines().position(|line| !is_comment(line) && split_words(line).any(|word| word == name))?;
    if !split_words(text.lines().nth(named)?).any(|word| TYPE_WORDS.contains(&word)) {
        return None;
    }
    let n_head = named + n_head_lines(text.lines().skip(named));
    let head: Vec<&str> = text.lines().take(n_head).collect();
    let body = text.lines().skip(n_head);
    let indents =
        body.clone().filter(|line| !line.trim().is_empty()).map(indent_of).filter(|indent| *indent > 0);
    let mut cut = MemberSplitter { margin: indents.min()?, ..MemberSplitter::default() };
    cut.parts.rest = head.join("\n");
    body.for_each(|line| cut.add_line(line));
    cut.parts.rest += &cut.pending;
    Some(cut.parts)
}

/// Returns whether a line is a comment, or a part of one.
fn is_comment(line: &str) -> bool {
    let start = line.trim_start();
    ["//", "/*", "*", "# "].iter().any(|mark| start.starts_with(mark))
}

/// Returns the number of lines of a type's head, which ends where its brackets are closed, and includes the bounds after `where` in
/// Rust; 1 if the brackets are never closed. Base types on lines of their own, without brackets, count as members.
fn n_head_lines<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    let mut n_open = 0_usize;
    let mut lines = lines.enumerate().peekable();
    let mut has_bounds = false;
    while let Some((nth, line)) = lines.next() {
        let mut before = ' ';
        has_bounds |= lines.peek().is_some_and(|(_, next)| next.trim_start().starts_with("where"));
        for c in line.chars() {
            match c {
                '(' | '[' | '<' => n_open += 1,
                ')' | ']' => n_open = n_open.saturating_sub(1),
                '>' if !matches!(before, '-' | '=') => n_open = n_open.saturating_sub(1),
                '{' if n_open == 0 => return nth + 1,
                _ => {}
            }
            before = c;
        }
        if n_open == 0 && !has_bounds {
            return nth + 1;
        }
    }
    1
}

/// Splits the body of a type into members, line by line.
#[derive(Default)]
struct MemberSplitter {
    parts: TypeParts,
    /// Indentation of the members.
    margin: usize,
    /// Comments and attributes that belong to the next member.
    pending: String,
    is_in_member: bool,
    /// Whether a string or comment of several lines is open.
    is_quoted: bool,
}

impl MemberSplitter {
    fn add_line(&mut self, line: &str) {
        let (start, indent) = (line.trim_start(), indent_of(line));
        let is_at_margin = !start.is_empty() && indent == self.margin && !self.is_quoted;
        let n_marks = ["\"\"\"", "'''"].iter().map(|mark| line.matches(mark).count()).sum::<usize>();
        self.is_quoted ^= n_marks % 2 == 1;
        let is_above = ["#", "//", "/*", "* ", "*/", "@", "--"].iter().any(|mark| start.starts_with(mark));
        if is_at_margin && is_above && !is_private_member(start) {
            self.pending += line;
            return;
        }
        if is_at_margin && let Some(names) = list_of_names(start) {
            let members = names.into_iter().map(|name| (name.to_owned(), name.to_owned()));
            self.parts.members.extend(members);
            self.parts.rest += &std::mem::take(&mut self.pending);
            self.is_in_member = false;
            return;
        }
        if is_at_margin && let Some(name) = member_name(start) {
            self.parts.members.push((name.to_owned(), String::new()));
            self.is_in_member = true;
        } else if is_at_margin && !start.starts_with(['}', ')', ']'])
            || indent < self.margin && !start.is_empty()
        {
            self.is_in_member = false;
        }
        let part = match self.parts.members.last_mut() {
            Some((_, text)) if self.is_in_member => text,
            _ => &mut self.parts.rest,
        };
        *part += &std::mem::take(&mut self.pending);
        *part += line.trim_end();
    }
}

/// Returns whether a line declares a private member of a JavaScript class: `#count = 0;`.
fn is_private_member(line: &str) -> bool {
    line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        && (line.ends_with(';') || line.contains(" = "))
}

/// Returns the names in a line that consists of several names: `RED, GREEN,`.
fn list_of_names(line: &str) -> Option<Vec<&str>> {
    let line = line.split(" //").next().unwrap_or(line).trim_end().trim_end_matches([',', ';']);
    let names: Vec<&str> = line.split(',').map(str::trim).collect();
    (names.len() > 1 && names.iter().all(|name| is_name(name))).then_some(names)
}

/// Returns the name that a line of a body declares: the last word before `=`, `:`, `;`, `,` or a bracket; in a line without these
/// signs, as in Go, the first word.
fn member_name(line: &str) -> Option<&str> {
    let line = line.split(" //").next().unwrap_or(line);
    // A function pointer in C: `int (*read)(void);`.
    if let Some((_, pointer)) = line.split_once("(*") {
        return pointer.split(')').next().filter(|name| is_name(name));
    }
    let end = line.find(['=', ':', ';', ',', '(', '{', '`']);
    let before = &line[..end.unwrap_or(line.len())];
    let mut words = before.split_whitespace();
    if words.clone().any(|word| OTHER_WORDS.contains(&word)) {
        return None;
    }
    let is_first = end.is_none_or(|end| line[end..].starts_with('`'));
    let is_call = end.is_some_and(|end| line[end..].starts_with('('));
    let (first, last) = (words.next()?, words.next_back());
    let name = if is_first { first } else { last.unwrap_or(first) };
    let is_member = is_name(name.strip_prefix('#').unwrap_or(name)) && !LABELS.contains(&name);
    (is_member && !(is_call && last.is_some())).then_some(name)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

fn split_words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_types() {
        let check = |text: &str, name: &str, expected: Option<&[&str]>| {
            let found = split_type(text, name).map(|parts| parts.members);
            let names: Option<Vec<_>> = found.map(|all| all.into_iter().map(|(name, _)| name).collect());
            assert_eq!(
                names.as_deref(),
                expected.map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>()).as_deref(),
                "{text}"
            );
        };
        let python = "class Flask(App):\n    \"\"\"An app.\n\n    name: of it\n    \"\"\"\n\n    #: Config.\n    default_config = dict(\n        {\n            \"DEBUG\": None,\n        }\n    )\n    cli: AppGroup\n\n    def run(self):\n        x = 1\n";
        check(python, "Flask", Some(&["default_config", "cli"]));
        check(
            "#[derive(Debug)]\npub struct Key {\n    /// Its id.\n    pub id: u64,\n    name: Vec<(u8, u8)>,\n}",
            "Key",
            Some(&["id", "name"]),
        );
        check(
            "enum Color {\n    Red,\n    Rgb(u8, u8, u8),\n    Named { name: String },\n}",
            "Color",
            Some(&["Red", "Rgb", "Named"]),
        );
        check(
            "type Command struct {\n\tUse string // one line\n\tAliases []string `json:\"a\"`\n\n\targs []string\n}",
            "Command",
            Some(&["Use", "Aliases", "args"]),
        );
        check(
            "public class A {\n    private static final int MAX = 3;\n    public:\n    String name;\n}",
            "A",
            Some(&["MAX", "name"]),
        );
        let typescript = "export class Pair<\n  Key extends Any = Any,\n  Value extends Any = Any\n> extends Base<Key> {\n  first: Key;\n  second: Value;\n}";
        check(typescript, "Pair", Some(&["first", "second"]));
        check(
            "enum Color {\n    RED, GREEN, // of light\n    BLUE\n}",
            "Color",
            Some(&["RED", "GREEN", "BLUE"]),
        );
        check(
            "/** A Bag class of things. */\nclass Bag {\n    #count = 0;\n    size;\n}",
            "Bag",
            Some(&["#count", "size"]),
        );
        check("struct ops {\n    int (*read)(void);\n    int flags;\n};", "ops", Some(&["read", "flags"]));
        let bounds = "pub struct Set<T>\nwhere\n    T: Ord,\n{\n    items: Vec<T>,\n}";
        check(bounds, "Set", Some(&["items"]));
        check("class Many(\n    One,\n    Two,\n):\n    name: str\n", "Many", Some(&["name"]));
        check("def run(self):\n    first = 1\n", "run", None);
        check("class Empty: ...", "Empty", None);
        let parts = split_type(python, "Flask").unwrap();
        assert!(parts.members[0].1.contains("Config.") && parts.members[0].1.contains("DEBUG"), "{parts:?}");
        assert!(parts.rest.contains("name: of it") && parts.rest.contains("x = 1"), "{parts:?}");
    }
}
