//! Reads the functions, macros and targets of CMake, and the commands and targets that are used.

use super::format_names::FormatNames;
use super::tokens::{FormatTokenKind, FormatTokens, TokenSyntax};
use crate::definitions::tags::TagKind;

const SYNTAX: TokenSyntax = TokenSyntax {
    line_comments: &["#"],
    has_block_comments: false,
    quotes: b"\"",
    in_words: b"-.:/+${}<>=@\\,;*&!?'|^%~",
    has_block_texts: false,
    has_bracket_texts: true,
};

/// Commands that define a target by their first argument.
const TARGET_COMMANDS: [&str; 3] = ["add_library", "add_executable", "add_custom_target"];
/// Commands whose arguments may be targets, beside those that begin with `target_`.
const COMMANDS_WITH_TARGETS: [&str; 8] = [
    "add_dependencies",
    "set_target_properties",
    "get_target_property",
    "install",
    "add_test",
    "add_library",
    "add_custom_command",
    "set_property",
];

/// Returns the functions, macros and targets of a file, and the commands and targets that it uses.
pub(super) fn read_names<'a>(_path: &str, text: &'a str) -> FormatNames<'a> {
    let list = FormatTokens::split_text(text, SYNTAX);
    let ends = list.match_brackets(&[(b'(', b')')]);
    let mut reader = CommandReader {
        names: FormatNames { comments: list.comments.clone(), ..FormatNames::default() },
        list,
        open: Vec::new(),
    };
    let mut at = 0;
    while at < reader.list.tokens.len() {
        let end = ends.get(at + 1).copied().filter(|end| *end < ends.len());
        let is_command = reader.list.word_at(at).is_some() && reader.list.is_mark(at + 1, b'(');
        match end.filter(|_| is_command) {
            Some(end) => {
                reader.read_command(at, end);
                at = end + 1;
            }
            None => at += 1,
        }
    }
    reader.names
}

struct CommandReader<'a> {
    list: FormatTokens<'a>,
    names: FormatNames<'a>,
    /// The functions and macros around the current command, outermost first; `None` for one without a name.
    open: Vec<Option<usize>>,
}

impl<'a> CommandReader<'a> {
    /// Reads a command whose arguments end at a token.
    fn read_command(&mut self, at: usize, end: usize) {
        let command = self.list.text_at(at).to_ascii_lowercase();
        let bytes = self.list.tokens[at].bytes.start..self.list.end_of(end);
        let first = at + 2;
        let own = if first < end { self.list.text_at(first) } else { "" };
        match command.as_str() {
            "function" | "macro" => {
                let kind = if command == "macro" { TagKind::Macro } else { TagKind::Function };
                let n_before = self.names.items.len();
                self.names.add_item(kind, own, own.to_owned(), bytes);
                self.open.push((self.names.items.len() > n_before).then_some(n_before));
                return;
            }
            "endfunction" | "endmacro" => {
                if let Some(item) = self.open.pop().flatten() {
                    self.names.items[item].node.end = bytes.end;
                }
                return;
            }
            _ => {}
        }
        if TARGET_COMMANDS.contains(&command.as_str()) && !own.is_empty() {
            // The own name of `Name::part` is `part`.
            let name = own.rsplit_once("::").map_or(own, |(_, name)| name);
            self.names.add_item(TagKind::Constant, name, own.to_owned(), bytes);
        }
        self.add_use(at, true);
        if command.starts_with("target_") || COMMANDS_WITH_TARGETS.contains(&command.as_str()) {
            (first..end).for_each(|argument| self.add_use(argument, false));
        }
    }

    fn add_use(&mut self, at: usize, is_call: bool) {
        let Some(token) = self.list.get(at).filter(|token| token.kind == FormatTokenKind::Word) else {
            return;
        };
        let bytes = token.bytes.clone();
        let word = self.list.text_at(at);
        let start = word.rfind("::").map_or(0, |colons| colons + 2);
        let receiver = (start > 0).then(|| word[..start - 2].replace("::", "."));
        if !word.contains(['$', '/', '<']) {
            let bytes = bytes.start + start..bytes.end;
            self.names.found.add_format_use(self.list.text, bytes, receiver, is_call);
        }
    }
}
