//! Reads the definitions of SQL, and the names of tables, views, types and functions in statements.

use std::collections::HashSet;
use std::ops::Range;

use super::format_names::FormatNames;
use super::sql_tokens::{split_sql, split_statements};
use super::tokens::{FormatTokenKind, FormatTokens};
use crate::definitions::tags::TagKind;

/// Most words between `CREATE` and the kind of what it creates: `OR REPLACE DEFINER = 'a'@'b' SQL SECURITY INVOKER VIEW`.
const MOST_MODIFIERS: usize = 16;
/// Words between `CREATE` and the kind.
const MODIFIERS: [&str; 38] = [
    "or",
    "replace",
    "alter",
    "temp",
    "temporary",
    "unlogged",
    "unique",
    "materialized",
    "constraint",
    "foreign",
    "recursive",
    "global",
    "local",
    "virtual",
    "definer",
    "sql",
    "security",
    "invoker",
    "algorithm",
    "editionable",
    "noneditionable",
    "force",
    "no",
    "clustered",
    "nonclustered",
    "columnstore",
    "bitmap",
    "fulltext",
    "spatial",
    "external",
    "transient",
    "secure",
    "public",
    "private",
    "if",
    "not",
    "exists",
    "live",
];
/// Words between the kind and the name.
const NAME_MODIFIERS: [&str; 6] = ["if", "not", "exists", "concurrently", "body", "only"];
/// Words after which a table or view is named.
const TABLE_WORDS: [&str; 9] =
    ["from", "join", "into", "references", "table", "update", "truncate", "view", "using"];
/// Words before `UPDATE` that make it an event or a clause.
const BEFORE_EVENT: [&str; 9] = ["for", "on", "do", "or", "before", "after", "of", "key", "instead"];
/// Words that are followed by `(` and are no functions.
const NO_FUNCTIONS: [&str; 26] = [
    "in", "values", "and", "or", "not", "exists", "as", "on", "using", "key", "check", "unique", "over",
    "by", "where", "when", "then", "else", "select", "with", "all", "any", "set", "case", "if", "filter",
];

/// Returns the tables, views, routines, triggers, indexes and types that a file creates, and the names that its statements use.
pub(super) fn read_names<'a>(_path: &str, text: &'a str) -> FormatNames<'a> {
    let list = split_sql(text);
    let names = FormatNames { comments: list.comments.clone(), ..FormatNames::default() };
    let statements = split_statements(&list);
    let mut reader = SqlReader { list, names };
    for statement in statements {
        reader.read_statement(statement);
    }
    reader.names.found.sort_uses();
    reader.names
}

/// A name with its schema: the tokens of both, and the token after it.
struct QualifiedName<'a> {
    schema: Option<&'a str>,
    name: usize,
    after: usize,
}

struct SqlReader<'a> {
    list: FormatTokens<'a>,
    names: FormatNames<'a>,
}

impl<'a> SqlReader<'a> {
    fn read_statement(&mut self, span: Range<usize>) {
        let is_create = self.is_word(span.start, "create");
        let is_table = is_create && self.add_definition(&span) == Some("table");
        if is_table {
            self.read_column_types(&span);
        }
        self.read_uses(&span);
    }

    fn is_word(&self, at: usize, word: &str) -> bool {
        self.list.word_at(at).is_some_and(|own| own.eq_ignore_ascii_case(word))
    }

    fn is_any_word(&self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(at, word))
    }

    /// Adds what a `CREATE` defines; returns the word for it.
    fn add_definition(&mut self, span: &Range<usize>) -> Option<&'static str> {
        // A routine is free, although its title may have a schema, as a macro is.
        const KINDS: [(&str, TagKind); 20] = [
            ("table", TagKind::Struct),
            ("view", TagKind::Struct),
            ("function", TagKind::Macro),
            ("procedure", TagKind::Macro),
            ("proc", TagKind::Macro),
            ("trigger", TagKind::Macro),
            ("event", TagKind::Macro),
            ("rule", TagKind::Macro),
            ("package", TagKind::Struct),
            ("aggregate", TagKind::Macro),
            ("macro", TagKind::Macro),
            ("index", TagKind::Constant),
            ("type", TagKind::Struct),
            ("domain", TagKind::Struct),
            ("sequence", TagKind::Constant),
            ("schema", TagKind::Constant),
            ("policy", TagKind::Constant),
            ("synonym", TagKind::Constant),
            ("dictionary", TagKind::Struct),
            ("stream", TagKind::Struct),
        ];
        let end = span.end.min(span.start + MOST_MODIFIERS);
        let kind_at = |at: usize| KINDS.iter().find(|(word, _)| self.is_word(at, word));
        let at = (span.start + 1..end).find(|at| kind_at(*at).is_some() || !self.is_modifier(*at))?;
        let (word, kind) = *kind_at(at)?;
        let mut first = at + 1;
        while first < span.end && self.is_any_word(first, &NAME_MODIFIERS) {
            first += 1;
        }
        // An index may have no name.
        if self.is_word(first, "on") && !self.is_word(first + 1, "on") {
            return Some(word);
        }
        let QualifiedName { schema, name, .. } = self.read_name(first, span.end)?;
        let own = self.list.text_at(name);
        let title = schema.map_or_else(|| own.to_owned(), |schema| format!("{schema}.{own}"));
        let has_end = self.list.is_mark(span.end, b';');
        let last = if has_end { span.end } else { span.end - 1 };
        let bytes = self.list.tokens[span.start].bytes.start..self.list.end_of(last);
        self.names.add_item(kind, own, title, bytes);
        Some(word)
    }

    /// Returns whether a token may be between `CREATE` and the kind of what it creates. `CREATE OPERATOR CLASS a FOR TYPE b` creates no
    /// type.
    fn is_modifier(&self, at: usize) -> bool {
        let is_value = self.list.is_mark(at - 1, b'=') || self.list.is_mark(at - 1, b'@');
        is_value || self.list.word_at(at).is_none() || self.is_any_word(at, &MODIFIERS)
    }

    /// Reads `a`, `a.b`, `"a"."b"`, `[a].[b]` or `:schema.b` at a token.
    fn read_name(&self, at: usize, end: usize) -> Option<QualifiedName<'a>> {
        let mut parts = Vec::new();
        let mut at = at;
        if self.list.is_mark(at, b':') {
            at += 1;
        }
        while at < end && parts.len() < 4 {
            if self.list.is_mark(at, b'[') && self.list.is_mark(at + 2, b']') {
                parts.push(at + 1);
                at += 3;
            } else if matches!(self.list.get(at)?.kind, FormatTokenKind::Word | FormatTokenKind::Text) {
                parts.push(at);
                at += 1;
            } else {
                break;
            }
            if !self.list.is_mark(at, b'.') {
                break;
            }
            at += 1;
        }
        let name = *parts.last()?;
        let schema = parts.len().checked_sub(2).map(|before| self.list.text_at(parts[before]));
        Some(QualifiedName { schema, name, after: at })
    }

    /// Records the types of the columns of a table.
    fn read_column_types(&mut self, span: &Range<usize>) {
        let mut depth = 0_usize;
        for at in span.clone() {
            let FormatTokenKind::Mark(mark) = self.list.tokens[at].kind else { continue };
            match mark {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            let begins_column = depth == 1 && matches!(mark, b'(' | b',');
            if !begins_column
                || self.is_any_word(at + 1, &["constraint", "primary", "foreign", "unique", "check"])
            {
                continue;
            }
            let column = self.read_name(at + 1, span.end);
            if let Some(of_type) = column.and_then(|column| self.read_name(column.after, span.end)) {
                self.add_use(&of_type, false);
            }
        }
    }

    /// Records the names of tables, views, types and functions in a statement.
    fn read_uses(&mut self, span: &Range<usize>) {
        let mut local: HashSet<&'a str> = HashSet::new();
        let mut at = span.start;
        while at < span.end {
            let is_previous = |words: &[&str]| at > span.start && self.is_any_word(at - 1, words);
            if self.list.word_at(at).is_none() {
                // `a::b` casts to the type `b`.
                let is_cast = self.list.is_mark(at, b':') && self.list.is_mark(at + 1, b':');
                if is_cast && let Some(name) = self.read_name(at + 2, span.end) {
                    self.add_use(&name, false);
                    at += 1;
                }
                at += 1;
                continue;
            }
            let is_event = self.is_word(at, "update") && is_previous(&BEFORE_EVENT);
            let is_own = self.is_any_word(at, &["table", "view"]) && self.is_word(span.start, "create");
            let names_table = self.is_any_word(at, &TABLE_WORDS) && !is_event && !is_own;
            let names_target = self.is_word(at, "on")
                && self.is_any_word(span.start, &["create", "comment", "grant", "revoke", "drop", "alter"])
                && !self.list.is_mark(at + 1, b'(');
            let is_local = self.is_word(at + 1, "as")
                && self.list.is_mark(at + 2, b'(')
                && (is_previous(&["with", "recursive"]) || at > 0 && self.list.is_mark(at - 1, b','));
            if is_local {
                local.insert(self.list.text_at(at));
            }
            if names_table || names_target {
                let may_be_list = self.is_any_word(at, &["from", "table", "truncate", "on"]);
                at = self.read_tables(at + 1, span.end, &local, may_be_list);
                continue;
            }
            at = self.read_call(at, span);
        }
    }

    /// Records the table at a token, and if `may_be_list` those after it in a list such as `a, b AS c`; returns the token after the
    /// last name.
    fn read_tables(&mut self, at: usize, end: usize, local: &HashSet<&'a str>, may_be_list: bool) -> usize {
        let mut at = at;
        while at < end && self.is_any_word(at, &["if", "exists", "only", "lateral", "table"]) {
            at += 1;
        }
        loop {
            let Some(name) = self.read_name(at, end) else { return at };
            let is_local = name.schema.is_none() && local.contains(self.list.text_at(name.name));
            if !is_local && !self.is_any_word(name.name, &["select", "set", "values", "on"]) {
                self.add_use(&name, false);
            }
            let mut after = name.after + usize::from(self.is_word(name.after, "as"));
            // An alias.
            after += usize::from(self.list.word_at(after).is_some() && self.list.is_mark(after + 1, b','));
            if !may_be_list || after >= end || !self.list.is_mark(after, b',') {
                return name.after;
            }
            at = after + 1;
        }
    }

    /// Records a call such as `a.f(1)`; returns the token after the name.
    fn read_call(&mut self, at: usize, span: &Range<usize>) -> usize {
        let Some(name) = self.read_name(at, span.end) else { return at + 1 };
        let is_called = self.list.is_mark(name.after, b'(') && name.after < span.end;
        // `CALL p`, `EXEC p` and `EXECUTE FUNCTION f` may have no parentheses.
        let is_named = at > span.start
            && self.is_any_word(at - 1, &["call", "exec", "execute", "perform"])
            && !self.is_any_word(at, &["function", "procedure"]);
        if (is_called && !self.is_any_word(name.name, &NO_FUNCTIONS)) || is_named {
            self.add_use(&name, true);
        }
        name.after.max(at + 1)
    }

    fn add_use(&mut self, name: &QualifiedName<'a>, is_call: bool) {
        let bytes = self.list.tokens[name.name].bytes.clone();
        let receiver = name.schema.map(str::to_owned);
        self.names.found.add_format_use(self.list.text, bytes, receiver, is_call);
    }
}
