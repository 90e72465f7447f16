//! Finds the signature of a definition: the line with its name, and the lines that end its parameters.

/// Most lines of code that are searched.
const MOST_LINES: usize = 60;
/// Most lines of a signature.
const MOST_SIGNATURE_LINES: usize = 20;
/// Prefixes of documentation and attribute lines in various languages.
const COMMENT_STARTS: [&str; 8] = ["//", "/*", "*", "# ", "#[", "--", "@", "\"\"\""];

/// A text whose lines are found by their numbers.
pub struct NumberedLines {
    text: String,
    /// Start of each line, bytes.
    starts: Vec<usize>,
}

impl NumberedLines {
    /// Splits a text.
    pub fn new(text: String) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after_breaks).collect();
        Self { text, starts }
    }

    /// Returns a line by its 1-based number, without blanks around it; an empty line after the end of the text.
    pub fn line_at(&self, number: u32) -> &str {
        let start = (number as usize).checked_sub(1).and_then(|nth| self.starts.get(nth));
        start.and_then(|start| self.text[*start..].lines().next()).map_or("", str::trim)
    }

    /// Returns all lines, with the blanks around them.
    pub fn raw_lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    /// Returns the first line, from a 1-based number on, that is neither blank, a comment nor an attribute; an empty text if
    /// there is none.
    pub fn first_code_line(&self, first: u32) -> &str {
        let mut lines = (first..).map(|number| self.line_at(number)).take(MOST_LINES);
        lines.find(|line| !line.is_empty() && !is_comment(line)).unwrap_or_default()
    }

    /// Returns the signature of a definition as one line, with its 1-based number: from the line with the name until its
    /// brackets are closed. `first` is the line of the name or, if that is not known, the first line of the definition, which may
    /// begin with documentation.
    pub fn find_signature(&self, name: &str, first: u32) -> Option<(u32, String)> {
        self.find_signature_lines(name, first).map(|((number, _), text)| (number, text))
    }

    /// Like [`Self::find_signature`], but returns the numbers of the first and the last joined line.
    pub fn find_signature_lines(&self, name: &str, first: u32) -> Option<((u32, u32), String)> {
        let rest = &self.text[*self.starts.get(usize::try_from(first.checked_sub(1)?).ok()?)?..];
        let lines = || (first..).zip(rest.lines().map(str::trim));
        // Number of open brackets of an annotation; while there are any, the annotation continues on the next line.
        let mut n_open = 0;
        let code: Vec<(u32, &str)> = lines()
            .filter(|(_, line)| {
                // A private method of JavaScript begins with its name: `#clone() {}`.
                let is_name = name.starts_with('#') && line.starts_with(name);
                let is_annotation = n_open > 0 || line.starts_with(['@', '#']) && !is_name;
                if is_annotation {
                    n_open += line.matches(['(', '[', '{']).count();
                    n_open = n_open.saturating_sub(line.matches([')', ']', '}']).count());
                }
                !is_annotation && !is_comment(line)
            })
            .take(MOST_LINES)
            .collect();
        let code = code
            .iter()
            .find(|(_, line)| find_declared_name(line, name).is_some() || is_quoted_head(line, name))
            .or_else(|| code.iter().find(|(_, line)| has_word(line, name)))
            .copied();
        // Some definitions begin like annotations: `@interface Stone`, `@max_size 100`.
        let (number, _) = code.or_else(|| {
            lines()
                .take(MOST_LINES)
                .filter(|(_, line)| line.starts_with('@'))
                .find(|(_, line)| has_word(line, name))
        })?;
        let rest = lines().skip_while(|(nth, _)| *nth < number).map(|(_, line)| line);
        let (n_joined, text) = join_until_closed(rest);
        Some(((number, number + n_joined - 1), text))
    }
}

fn is_comment(line: &str) -> bool {
    COMMENT_STARTS.iter().any(|start| line.starts_with(start))
}

/// Joins lines until all opened brackets are closed, and returns their number; only the first line if they are not closed. A `<` at
/// the end of a line opens a list of type parameters, which a line that begins with `>` closes.
fn join_until_closed<'a>(lines: impl Iterator<Item = &'a str>) -> (u32, String) {
    let mut all = String::new();
    let mut first_len = 0;
    let mut n_open_types = 0_usize;
    for (n_joined, line) in (1..).zip(lines.take(MOST_SIGNATURE_LINES)) {
        let is_closing = line.starts_with([')', ']', '}']) || n_open_types > 0 && line.starts_with('>');
        if is_closing {
            all.truncate(all.trim_end_matches(',').len());
        } else if !all.is_empty() && !all.ends_with(['(', '[', '{', '<']) {
            all.push(' ');
        }
        all.push_str(line);
        if first_len == 0 {
            first_len = all.len();
        }
        n_open_types = n_open_types.saturating_sub(usize::from(line.starts_with('>')));
        n_open_types +=
            usize::from(line.ends_with('<') && !line.ends_with("operator<") && !line.ends_with("<<"));
        let n_open = all.matches(['(', '[']).count();
        if n_open_types == 0 && n_open <= all.matches([')', ']']).count() {
            return (n_joined, all);
        }
    }
    all.truncate(first_len);
    (1, all)
}

/// Returns whether a line contains an identifier as a whole word.
pub fn has_word(line: &str, word: &str) -> bool {
    self::find_word(line, word).is_some()
}

/// Returns the byte offset at which an identifier first occurs as a whole word. A private name of JavaScript is a word with its `#`, so
/// `clone` does not occur in `#clone`.
pub(super) fn find_word(line: &str, word: &str) -> Option<usize> {
    find_words(line, word).next()
}

fn find_words(line: &str, word: &str) -> impl Iterator<Item = usize> {
    let is_whole = |at: usize| {
        !line[..at].ends_with(is_word_char)
            && !line[..at].ends_with('#')
            && !line[at + word.len()..].starts_with(is_word_char)
    };
    line.match_indices(word).map(|(at, _)| at).filter(move |at| is_whole(*at))
}

/// Returns the byte offset at which a line may declare a name: where the name is no member of a value, and in no string.
pub(super) fn find_declared_name(line: &str, name: &str) -> Option<usize> {
    find_words(line, name).find(|at| {
        let (before, after) = (&line[..*at], &line[at + name.len()..]);
        let is_quoted = before.ends_with(['\'', '"', '`']) && after.starts_with(['\'', '"', '`'])
            || ends_in_string(before);
        let is_member = name.starts_with('#') && before.ends_with('.');
        !is_quoted && !is_member
    })
}

/// Returns whether a line begins a definition whose name is in quotes: `resource "aws_s3_bucket" "logs" {`, `CREATE TABLE "users" (`.
fn is_quoted_head(line: &str, name: &str) -> bool {
    let creates = line.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("create "));
    find_words(line, name).any(|at| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let after_quote = after.trim_start_matches(['"', '`']);
        let is_quoted = before.ends_with(['"', '`']) && after_quote.len() < after.len();
        let is_head =
            before.starts_with(|c: char| c.is_ascii_lowercase()) && after_quote.trim_start().starts_with('{');
        is_quoted && (creates || is_head && !before.contains(['=', '(']))
    })
}

/// Returns whether a text ends inside of a string with double quotes or backticks. A single quote may also be an apostrophe or a
/// lifetime.
fn ends_in_string(text: &str) -> bool {
    let mut quote = None;
    let mut is_escaped = false;
    for c in text.chars() {
        match (c, quote) {
            _ if is_escaped => is_escaped = false,
            ('\\', Some(_)) => is_escaped = true,
            (c, Some(open)) if c == open => quote = None,
            ('"' | '`', None) => quote = Some(c),
            _ => {}
        }
    }
    quote.is_some()
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::NumberedLines;

    /// Checks the signature of a name, which is searched for from the first line on.
    fn check(text: &str, name: &str, line: u32, expected: &str) {
        let lines = NumberedLines::new(text.to_owned());
        assert_eq!(lines.find_signature(name, 1), Some((line, expected.to_owned())), "{text}");
    }

    #[test]
    fn a_mention_of_the_name_is_no_signature() {
        check("clone() { return this.#clone(); }\n#clone() {}", "#clone", 2, "#clone() {}");
        check("#clone() {}\nclone() {}", "clone", 2, "clone() {}");
        check("json(): F extends \"text\" ? 1 : 2;\ntext(): string;", "text", 2, "text(): string;");
        check("json(): F extends 'text' ? 1 : 2;\ntext(): string;", "text", 2, "text(): string;");
        check("kind = `a text of ${b}`;\ntext() {}", "text", 2, "text() {}");
        check("@decorate('text')\n// the text\ntext() {}", "text", 3, "text() {}");
        check("@decorate({\n  text: 1,\n})\ntext() {}", "text", 4, "text() {}");
    }

    #[test]
    fn a_signature_ends_with_its_brackets() {
        check(
            "function pick<\n  T,\n  K,\n>(a: T, b = pick): K {",
            "pick",
            1,
            "function pick<T, K>(a: T, b = pick): K {",
        );
        check(
            "bool operator<(const A& a,\n  const A& b);",
            "operator<",
            1,
            "bool operator<(const A& a, const A& b);",
        );
        check("func (s *Stack[E]) Push(\n\te E,\n) {", "Push", 1, "func (s *Stack[E]) Push(e E) {");
        check("test \"it is a name\" {", "name", 1, "test \"it is a name\" {");
        check("resource \"a\" \"logs\" {\n  x = a.logs.id", "logs", 1, "resource \"a\" \"logs\" {");
        check("variable \"region\" {}\nregion = 1", "region", 1, "variable \"region\" {}");
        check("CREATE TABLE \"users\" (\n  a int,\nusers int", "users", 1, "CREATE TABLE \"users\" (");
    }
}
