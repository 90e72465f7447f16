//! Reads the blocks and attributes of Svelte.

use std::ops::Range;

use super::code_end::{find_mark, find_word};

use super::patterns::bound_names;
use super::reader::{MarkupReader, TemplateSyntax};
use super::tag_parts::{Attribute, AttributeValue};

/// Directives whose name is a function: `use:tooltip`, `transition:fade`.
const FUNCTION_DIRECTIVES: [&str; 5] = ["use", "transition", "in", "out", "animate"];
/// Directives whose name is a variable if they have no value: `bind:value`.
const VALUE_DIRECTIVES: [&str; 3] = ["bind", "class", "style"];

/// Blocks that have an end, which closes them.
const BLOCKS: [&str; 5] = ["#if", "#each", "#await", "#key", "#snippet"];

/// The templates of Svelte.
pub(super) struct SvelteSyntax;

impl TemplateSyntax for SvelteSyntax {
    fn read_braces(&self, reader: &mut MarkupReader<'_>) -> Option<()> {
        read_braces(reader)
    }

    fn read_attribute(
        &self,
        reader: &mut MarkupReader<'_>,
        attribute: &Attribute,
        bound: &mut Vec<Range<usize>>,
    ) {
        read_attribute(reader, attribute, bound);
    }
}

/// Reads an expression or the mark of a block at the current brace.
fn read_braces(reader: &mut MarkupReader<'_>) -> Option<()> {
    let open = reader.at;
    if reader.byte_at(open + 1) == b'/' && reader.byte_at(open + 2).is_ascii_alphabetic() {
        let end = reader.find_text("}", open)?;
        reader.at = end + 1;
        let name = reader.text.get(open + 2..end).unwrap_or_default().trim();
        let block = BLOCKS.into_iter().find(|block| block[1..] == *name);
        block.into_iter().for_each(|block| reader.close_scope(block));
        return Some(());
    }
    let inner = reader.read_code(open + 1)?;
    reader.mark_block(&inner);
    let code = reader.text.get(inner.clone()).unwrap_or_default();
    let start = inner.start + code.len() - code.trim_start().len();
    let code = &reader.text[start..inner.end];
    let word_end = code.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(code.len());
    let (word, rest) = (&code[..word_end], start + word_end..inner.end);
    if word.starts_with(['#', ':', '@']) {
        reader.copy.blank_span(start..start + word.len());
    } else {
        return Some(());
    }
    match word {
        "#each" => {
            let bound = read_each(reader, &rest);
            reader.open_scope(word, open, bound);
        }
        "#await" => {
            let bound = read_await(reader, &rest);
            reader.open_scope(word, open, bound);
        }
        "#snippet" => {
            let bound = read_snippet(reader, &inner, &rest);
            reader.open_scope(word, open, bound);
        }
        ":then" | ":catch" => {
            reader.copy.blank_span(rest.clone());
            let names = names_in(reader, rest);
            reader.bind_in_scope(names);
        }
        ":else" => {
            // `:else if a`
            let rest_code = reader.text.get(rest.clone()).unwrap_or_default();
            let blanks = rest_code.len() - rest_code.trim_start().len();
            if rest_code.trim_start().starts_with("if") {
                reader.copy.blank_span(rest.start..rest.start + blanks + 2);
            }
        }
        "@const" => read_constant(reader, &rest),
        _ if word.starts_with('#') => reader.open_scope(word, open, Vec::new()),
        _ => {}
    }
    Some(())
}

/// Reads `items as item, index (key)`; returns the names that it binds.
fn read_each(reader: &mut MarkupReader<'_>, span: &Range<usize>) -> Vec<Range<usize>> {
    let code = reader.text.get(span.clone()).unwrap_or_default();
    let word = find_word(code, "as", true);
    let pattern_start = match word {
        Some(word) => word + 2,
        // `{#each { length: 8 }, i}`
        None => match find_mark(code, |byte, _, _| byte == b',') {
            Some(comma) => comma + 1,
            None => return Vec::new(),
        },
    };
    let key = find_mark(&code[pattern_start..], |byte, _, _| byte == b'(').map(|key| pattern_start + key);
    let pattern = pattern_start..key.unwrap_or(code.len());
    reader.copy.blank_span(span.start + word.unwrap_or(pattern_start - 1)..span.start + pattern.end);
    reader.copy.put_mark(span.start + word.unwrap_or(pattern_start - 1), b';');
    bound_names(&code[pattern.clone()], span.start + pattern.start)
}

/// Reads `promise then value`; returns the names that it binds.
fn read_await(reader: &mut MarkupReader<'_>, span: &Range<usize>) -> Vec<Range<usize>> {
    let code = reader.text.get(span.clone()).unwrap_or_default();
    let words =
        ["then", "catch"].into_iter().find_map(|word| Some((find_word(code, word, false)?, word.len())));
    let Some((word, len)) = words else { return Vec::new() };
    reader.copy.blank_span(span.start + word..span.end);
    bound_names(&code[word + len..], span.start + word + len)
}

/// Reads `name(parameters)` of a snippet as the signature of a function; returns the names of the parameters.
fn read_snippet(
    reader: &mut MarkupReader<'_>,
    inner: &Range<usize>,
    span: &Range<usize>,
) -> Vec<Range<usize>> {
    let code = reader.text.get(span.clone()).unwrap_or_default();
    let Some(list) = code.find('(') else { return Vec::new() };
    let keyword = span.start - "function".len();
    for (at, mark) in (keyword..).zip(*b"function") {
        reader.copy.put_mark(at, mark);
    }
    reader.copy.put_mark(inner.start - 1, b';');
    reader.copy.put_mark(inner.end, b';');
    let parameters = code[list..].trim_end();
    let parameters = parameters.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or_default();
    bound_names(parameters, span.start + list + 1)
}

/// Reads `pattern = value`, which binds names in the block around it.
fn read_constant(reader: &mut MarkupReader<'_>, span: &Range<usize>) {
    let code = reader.text.get(span.clone()).unwrap_or_default();
    let is_assignment = |byte: u8, before: u8, after: u8| {
        byte == b'=' && !b"=<>!".contains(&before) && !b"=>".contains(&after)
    };
    let Some(mark) = find_mark(code, is_assignment) else { return };
    reader.copy.blank_span(span.start..span.start + mark + 1);
    let names = bound_names(&code[..mark], span.start);
    reader.bind_in_scope(names);
    // `[]=value`: an object is a value here, and no block.
    for (at, mark) in [(span.start - 2, b'['), (span.start - 1, b']'), (span.start + mark, b'=')] {
        reader.copy.put_mark(at, mark);
    }
}

fn names_in(reader: &MarkupReader<'_>, span: Range<usize>) -> Vec<Range<usize>> {
    bound_names(reader.text.get(span.clone()).unwrap_or_default(), span.start)
}

/// Reads an attribute; adds the names that it binds inside of its element.
fn read_attribute(reader: &mut MarkupReader<'_>, attribute: &Attribute, bound: &mut Vec<Range<usize>>) {
    let name = reader.text.get(attribute.name.clone()).unwrap_or_default();
    let braces = match &attribute.value {
        AttributeValue::Braces(inner) => Some(inner),
        _ => None,
    };
    if name.is_empty() {
        braces.into_iter().for_each(|inner| mark_shorthand(reader, inner));
        return;
    }
    let (directive, argument) = name.split_once(':').unwrap_or(("", name));
    let argument = argument.split('|').next().unwrap_or_default();
    let start = attribute.name.start + name.find(':').map_or(0, |colon| colon + 1);
    let argument = start..start + argument.len();
    if directive == "let" {
        match braces {
            Some(inner) => {
                reader.copy.blank_span(inner.clone());
                bound.extend(names_in(reader, inner.clone()));
            }
            None => bound.push(argument),
        }
        return;
    }
    if FUNCTION_DIRECTIVES.contains(&directive) {
        reader.add_path_use(&argument, true);
    } else if VALUE_DIRECTIVES.contains(&directive) && attribute.value == AttributeValue::None {
        reader.add_path_use(&argument, false);
    }
    let Some(inner) = braces else { return };
    let is_handler = directive == "on" || is_handler_name(name);
    if is_handler && reader.add_path_use(inner, true) {
        reader.copy.blank_span(inner.clone());
    } else if !is_blank_code(reader, inner) {
        reader.mark_expression(inner);
    }
}

/// Makes `{name}`, `{...rest}` and `{@attach f}` a block.
fn mark_shorthand(reader: &mut MarkupReader<'_>, inner: &Range<usize>) {
    let code = reader.text.get(inner.clone()).unwrap_or_default();
    let start = inner.start + code.len() - code.trim_start().len();
    let mark = ["...", "@attach"].into_iter().find(|mark| code.trim_start().starts_with(mark));
    reader.copy.blank_span(start..start + mark.map_or(0, str::len));
    reader.copy.put_separator(inner.start.saturating_sub(2), b';');
    reader.mark_block(inner);
}

fn is_handler_name(name: &str) -> bool {
    name.strip_prefix("on").is_some_and(|event| event.starts_with(|c: char| c.is_ascii_lowercase()))
}

fn is_blank_code(reader: &MarkupReader<'_>, span: &Range<usize>) -> bool {
    reader.text.get(span.clone()).is_none_or(|code| code.trim().is_empty())
}
