//! Reads quoted texts, such as the titles of tests.

/// Returns the content of the quoted text at the start of `text`, as a runner prints it, and what follows. An escape for a control
/// character stays as it is written, because nobody can type the character.
pub(super) fn read_string(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let mut rest = text[1..].chars();
    let mut content = String::new();
    while let Some(c) = rest.next() {
        match c {
            '\\' => read_escape(&mut rest, &mut content),
            c if c == quote => return Some((content, rest.as_str())),
            c => content.push(c),
        }
    }
    None
}

/// Returns the content of the quoted text at the start of `text`, as a runner prints it.
pub(super) fn read_text(text: &str) -> Option<String> {
    read_string(text).map(|(content, _)| content)
}

/// Reads what follows a backslash.
fn read_escape(rest: &mut std::str::Chars<'_>, content: &mut String) {
    let text = rest.as_str();
    let Some(c) = rest.next() else { return };
    let digits = match c {
        'x' => text.get(1..3),
        'u' => match text[1..].strip_prefix('{') {
            Some(inside) => inside.split('}').next(),
            None => text.get(1..5),
        },
        _ => None,
    };
    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
    match (digits, code.filter(|code| !code.is_control())) {
        (Some(digits), Some(code)) => {
            content.push(code);
            let n_braces = if text[1..].starts_with('{') { 2 } else { 0 };
            *rest = rest.as_str()[digits.len() + n_braces..].chars();
        }
        _ if matches!(c, 'n' | 't' | 'r' | 'b' | 'f' | 'v' | '0' | 'x' | 'u') => content.extend(['\\', c]),
        _ => content.push(c),
    }
}

/// Returns the byte after the quoted text that begins at a byte of a line; `None` if it does not end there.
pub(super) fn skip_string(line: &str, start: usize) -> Option<usize> {
    let (_, rest) = read_string(line.get(start..)?)?;
    Some(line.len() - rest.len())
}
