//! Reads uses among the tokens of text that the grammar does not parse: bodies of macros, and blanked macros.

use std::collections::HashSet;
use std::ops::Range;

use super::lexer::{Token, split_tokens};
use super::words;

/// Most parts of a receiver.
const MAX_RECEIVER_PARTS: usize = 12;
/// Longest body of a macro that is read, in bytes; longer ones are data.
const MAX_BODY_BYTES: usize = 16_384;

/// A use of a name that the syntax tree does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenUse {
    pub(crate) bytes: Range<usize>,
    pub(crate) receiver: TokenReceiver,
    pub(crate) is_call: bool,
}

/// The receiver of a name: the text before its `.`, `->` or `::`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenReceiver {
    None,
    /// A path with its parts joined by `.`.
    Path(String),
    /// An expression that is no path.
    Other,
}

/// Returns the uses among `tokens` of `text`, without keywords, members that are not called, and the names in `bound`.
pub(super) fn read_uses(text: &str, tokens: &[Token], bound: &HashSet<&str>) -> Vec<TokenUse> {
    let mut uses = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.is_word()) {
        let word = token.text(text);
        if words::is_keyword(word) || bound.contains(word) || is_pasted(tokens, at) {
            continue;
        }
        let is_call = tokens.get(at + 1).is_some_and(|next| next.is_mark(b'('));
        let separator = separator_before(tokens, at);
        if separator == Some(Separator::Member) && !is_call {
            continue;
        }
        let receiver = match separator {
            None => TokenReceiver::None,
            Some(_) => receiver_before(text, tokens, at),
        };
        uses.push(TokenUse { bytes: token.byte_range(), receiver, is_call });
    }
    uses
}

/// Returns the uses in the value of a `#define` line.
pub(super) fn read_macro_uses(text: &str, directive: &Token) -> Vec<TokenUse> {
    let line = directive.text(text);
    let Some(rest) = line.strip_prefix('#').map(|rest| rest.trim_start_matches([' ', '\t'])) else {
        return Vec::new();
    };
    let Some(rest) = rest.strip_prefix("define").filter(|rest| rest.starts_with([' ', '\t', '\\'])) else {
        return Vec::new();
    };
    if rest.len() > MAX_BODY_BYTES {
        return Vec::new();
    }
    let offset = directive.start as usize + line.len() - rest.len();
    let tokens = split_tokens(rest);
    let Some((name, more)) = tokens.split_first().filter(|(name, _)| name.is_word()) else {
        return Vec::new();
    };
    let (mut bound, mut body) = (HashSet::from([name.text(rest), "__VA_ARGS__", "__VA_OPT__"]), more);
    // The list of parameters follows the name without a blank.
    if more.first().is_some_and(|next| next.is_mark(b'(') && next.start == name.end) {
        let n_parameters = more.iter().position(|token| token.is_mark(b')')).unwrap_or(more.len() - 1);
        bound.extend(
            more[..n_parameters].iter().filter(|token| token.is_word()).map(|token| token.text(rest)),
        );
        body = &more[n_parameters + 1..];
    }
    let mut uses = read_uses(rest, body, &bound);
    for found in &mut uses {
        found.bytes = found.bytes.start + offset..found.bytes.end + offset;
    }
    uses
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Scope,
    Member,
}

fn separator_before(tokens: &[Token], at: usize) -> Option<Separator> {
    let before = |n: usize, mark: u8| at >= n && tokens[at - n].is_mark(mark);
    if before(1, b':') && before(2, b':') {
        Some(Separator::Scope)
    } else if before(1, b'.') || before(1, b'>') && before(2, b'-') {
        Some(Separator::Member)
    } else {
        None
    }
}

fn receiver_before(text: &str, tokens: &[Token], mut at: usize) -> TokenReceiver {
    let mut parts = Vec::new();
    for _ in 0..MAX_RECEIVER_PARTS {
        let n_marks = if tokens[at - 1].is_mark(b'.') { 1 } else { 2 };
        let Some(before) = at.checked_sub(n_marks + 1).filter(|before| tokens[*before].is_word()) else {
            break;
        };
        parts.push(tokens[before].text(text));
        if separator_before(tokens, before).is_none() {
            parts.reverse();
            return TokenReceiver::Path(parts.join("."));
        }
        at = before;
    }
    TokenReceiver::Other
}

/// Returns whether a word is joined with another by `##`, or made a string by `#`.
fn is_pasted(tokens: &[Token], at: usize) -> bool {
    let next = tokens.get(at + 1).is_some_and(|next| next.is_mark(b'#'));
    next || at > 0 && tokens[at - 1].is_mark(b'#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let tokens = split_tokens(line);
        let uses = read_macro_uses(line, &tokens[0]);
        let lines = uses.iter().map(|found| {
            let receiver = match &found.receiver {
                TokenReceiver::None => String::new(),
                TokenReceiver::Path(path) => format!("{path}:"),
                TokenReceiver::Other => "?:".to_owned(),
            };
            let call = if found.is_call { "()" } else { "" };
            format!("{receiver}{}{call}", &line[found.bytes.clone()])
        });
        assert_eq!(lines.collect::<Vec<_>>().join(" "), expected, "{line}");
    }

    #[test]
    fn a_macro_uses_what_its_value_names() {
        check("#define CALL(x) f(x)", "f()");
        check("#  define LIMIT (MAX_ROWS * 2)", "MAX_ROWS");
        check("#define A(p, ...) do { \\\n  log::write(p, __VA_ARGS__); \\\n} while (0)", "log log:write()");
        check("#define B(o) (o)->close(), o.size, self.a->b()", "?:close() self self.a:b()");
        check("#define NAME(x) prefix_##x(#x, y)", "y");
        check("#define S \"f(x)\" // g(x)", "");
        check("#define EMPTY", "");
        check("#define OPEN (f)(x)", "f x");
        check("#undef CALL", "");
        check("#define", "");
        check("#define X(", "");
    }
}
