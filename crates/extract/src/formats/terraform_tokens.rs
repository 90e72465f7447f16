//! Splits Terraform and other HCL into tokens, with the expressions inside of its templates.

use super::tokens::{FormatToken, FormatTokenKind, FormatTokens, block_comment_end, line_end, word_end};

/// A template or text around the current position.
enum Nesting {
    /// `${ … }` with its number of open braces.
    Template(usize),
    /// A quoted text.
    Quoted,
    /// A heredoc with the word that ends it.
    Heredoc(String),
}

/// Splits a text into words, quoted texts, marks, and line ends outside of quoted texts. A text with templates becomes a mark `"`,
/// the tokens inside of its templates, and another mark `"`.
pub(super) fn split_hcl(text: &str) -> FormatTokens<'_> {
    let mut list = FormatTokens { text, ..FormatTokens::default() };
    let mut stack: Vec<Nesting> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at = match stack.last_mut() {
            Some(Nesting::Quoted) => read_quoted(&mut list, &mut stack, at),
            Some(Nesting::Heredoc(end)) => {
                let end = std::mem::take(end);
                read_heredoc(text, &mut stack, at, end)
            }
            Some(Nesting::Template(_)) | None => read_code(&mut list, &mut stack, at),
        };
    }
    list
}

/// Reads one token of code; returns the byte after it.
fn read_code(list: &mut FormatTokens<'_>, stack: &mut Vec<Nesting>, at: usize) -> usize {
    let text = list.text;
    let bytes = text.as_bytes();
    let rest = &bytes[at..];
    let mark = |list: &mut FormatTokens<'_>| {
        list.tokens.push(FormatToken::new(FormatTokenKind::Mark(bytes[at]), at..at + 1));
    };
    match bytes[at] {
        b'#' => add_comment(list, at, line_end(text, at)),
        b'/' if rest.starts_with(b"//") => add_comment(list, at, line_end(text, at)),
        b'/' if rest.starts_with(b"/*") => add_comment(list, at, block_comment_end(text, at)),
        b'\n' => {
            mark(list);
            at + 1
        }
        byte if byte.is_ascii_whitespace() => at + 1,
        b'"' => {
            let n_plain =
                rest[1..].iter().take_while(|byte| !matches!(byte, b'"' | b'\n' | b'\\' | b'$' | b'%'));
            let end = at + 1 + n_plain.count();
            if bytes.get(end) == Some(&b'"') {
                list.tokens.push(FormatToken::new(FormatTokenKind::Text, at + 1..end));
                return end + 1;
            }
            mark(list);
            stack.push(Nesting::Quoted);
            at + 1
        }
        b'<' if rest.starts_with(b"<<") => match heredoc_word(text, at) {
            Some(word) => {
                stack.push(Nesting::Heredoc(word.to_owned()));
                line_end(text, at)
            }
            None => at + 2,
        },
        byte => {
            if let Some(Nesting::Template(n_open)) = stack.last_mut() {
                match byte {
                    b'{' => *n_open += 1,
                    b'}' if *n_open == 0 => {
                        stack.pop();
                        return at + 1;
                    }
                    b'}' => *n_open -= 1,
                    _ => {}
                }
            }
            let end = if byte == b'-' { at } else { word_end(bytes, at, b"-") };
            if end > at {
                list.tokens.push(FormatToken::new(FormatTokenKind::Word, at..end));
                return end;
            }
            mark(list);
            at + 1
        }
    }
}

fn add_comment(list: &mut FormatTokens<'_>, start: usize, end: usize) -> usize {
    list.comments.push(start..end);
    end
}

/// Reads a quoted text up to its end or to a template in it; returns the byte after that. A line end ends it, too.
fn read_quoted(list: &mut FormatTokens<'_>, stack: &mut Vec<Nesting>, at: usize) -> usize {
    let bytes = list.text.as_bytes();
    let mut at = at;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        match byte {
            b'\\' => at += 2,
            b'"' | b'\n' => {
                stack.pop();
                let after = at + usize::from(byte == b'"');
                list.tokens.push(FormatToken::new(FormatTokenKind::Mark(b'"'), at..after));
                return after;
            }
            _ if rest.starts_with(b"$${") || rest.starts_with(b"%%{") => at += 3,
            _ if rest.starts_with(b"${") || rest.starts_with(b"%{") => {
                stack.push(Nesting::Template(0));
                return at + 2;
            }
            _ => at += 1,
        }
    }
    at
}

/// Returns the word that ends the heredoc which begins at a byte: `EOT` of `<<-EOT`.
fn heredoc_word(text: &str, at: usize) -> Option<&str> {
    let rest = &text[at + 2..];
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches(' ');
    let word = &rest[..word_end(rest.as_bytes(), 0, b"-.")];
    let is_last = rest[word.len()..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    (!word.is_empty() && is_last).then_some(word)
}

/// Reads a heredoc up to its end or to a template in it; returns the byte after that.
fn read_heredoc(text: &str, stack: &mut Vec<Nesting>, at: usize, end: String) -> usize {
    let bytes = text.as_bytes();
    let mut at = at;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest[0] == b'\n' {
            let line = &text[at + 1..line_end(text, at + 1)];
            if line.trim() == end {
                stack.pop();
                return at + 1 + line.len();
            }
        } else if rest.starts_with(b"${") && !text[..at].ends_with('$')
            || rest.starts_with(b"%{") && !text[..at].ends_with('%')
        {
            if let Some(Nesting::Heredoc(word)) = stack.last_mut() {
                *word = end;
            }
            stack.push(Nesting::Template(0));
            return at + 2;
        }
        at += 1;
    }
    at
}
