//! Reads the attributes and text expressions of Vue's templates.

use std::ops::Range;

use super::code_end::find_word;

use super::patterns::bound_names;
use super::reader::{MarkupReader, TemplateSyntax};
use super::tag_names::{camel_case, component_of_tag};
use super::tag_parts::{Attribute, AttributeValue};

/// Directives without a value that is code.
const PLAIN_DIRECTIVES: [&str; 3] = ["v-once", "v-cloak", "v-else"];
/// Directives of Vue itself whose value is an expression.
const OWN_DIRECTIVES: [&str; 10] =
    ["if", "else-if", "show", "html", "text", "model", "bind", "on", "memo", "is"];
/// Entities in values of attributes, with the character that the code has instead.
const ENTITIES: [(&str, u8); 5] =
    [("&quot;", b'"'), ("&amp;", b'&'), ("&lt;", b'<'), ("&gt;", b'>'), ("&#39;", b'\'')];

/// The templates of Vue.
pub(super) struct VueSyntax;

impl TemplateSyntax for VueSyntax {
    fn read_braces(&self, reader: &mut MarkupReader<'_>) -> Option<()> {
        read_text_expression(reader)
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

/// Reads `{{ … }}`; braces outside of a template are text.
fn read_text_expression(reader: &mut MarkupReader<'_>) -> Option<()> {
    let start = reader.at;
    reader.at += 1;
    if !reader.is_inside() || reader.byte_at(start + 1) != b'{' {
        return Some(());
    }
    let Some(end) = reader.find_text("}}", start + 2) else { return Some(()) };
    let inner = start + 2..end;
    reader.at = end + 2;
    if reader.text.get(inner.clone()).is_some_and(|code| !code.trim().is_empty()) {
        reader.copy.copy_span(inner);
        for (at, mark) in [(start, b'{'), (start + 1, b'('), (end, b')'), (end + 1, b'}')] {
            reader.copy.put_mark(at, mark);
        }
    }
    Some(())
}

/// Reads an attribute; adds the names that it binds inside of its element.
fn read_attribute(reader: &mut MarkupReader<'_>, attribute: &Attribute, bound: &mut Vec<Range<usize>>) {
    let start = attribute.name.start;
    let name = reader.text.get(attribute.name.clone()).unwrap_or_default();
    let value = match &attribute.value {
        AttributeValue::Quoted(value) | AttributeValue::Bare(value) => Some(value),
        _ => None,
    };
    let property = [":", "v-bind:", "."].iter().find_map(|prefix| name.strip_prefix(prefix));
    let is_handler = name.starts_with('@') || name.starts_with("v-on:");
    let is_slot =
        name.starts_with('#') || name == "v-slot" || name.starts_with("v-slot:") || name == "slot-scope";
    match (property, value) {
        (Some(_), Some(value)) => copy_expression(reader, value),
        (Some(property), None) => {
            // `:id` alone means `:id="id"`.
            let bare = property.split('.').next().unwrap_or_default();
            if !bare.starts_with('[') {
                reader.add_use(camel_case(bare), start + name.len() - property.len(), None, false);
            }
        }
        (None, Some(value)) if is_handler => copy_handler(reader, value),
        (None, Some(value)) if is_slot => {
            bound.extend(bound_names(reader.text.get(value.clone()).unwrap_or_default(), value.start));
        }
        (None, Some(value)) if name == "v-for" => copy_loop(reader, value, bound),
        (None, Some(value)) if name == "ref" => {
            reader.add_path_use(value, false);
        }
        (None, Some(value)) if name == "is" => {
            let component =
                component_of_tag(reader.format, reader.text.get(value.clone()).unwrap_or_default());
            component.into_iter().for_each(|name| reader.add_use(name, value.start, None, false));
        }
        _ if PLAIN_DIRECTIVES.contains(&name) || is_handler || is_slot => {}
        (None, value) => {
            let Some(directive) = name.strip_prefix("v-") else { return };
            let directive = directive.split([':', '.']).next().unwrap_or_default();
            if !OWN_DIRECTIVES.contains(&directive) {
                // `v-focus` is the variable `vFocus` of the script.
                reader.add_use(camel_case(&format!("v-{directive}")), start, None, false);
            }
            value.into_iter().for_each(|value| copy_expression(reader, value));
        }
    }
}

fn copy_expression(reader: &mut MarkupReader<'_>, value: &Range<usize>) {
    if copy_code(reader, value) {
        reader.mark_expression(value);
    }
}

/// Copies a handler, which is a name, an expression or statements.
fn copy_handler(reader: &mut MarkupReader<'_>, value: &Range<usize>) {
    let code = reader.text.get(value.clone()).unwrap_or_default().trim();
    if reader.add_path_use(value, true) || !copy_code(reader, value) {
        return;
    }
    reader.mark_expression(value);
    if !code.starts_with("function") && !code.starts_with("async function") {
        reader.mark_block(value);
    }
}

/// Copies the list of `item in items`.
fn copy_loop(reader: &mut MarkupReader<'_>, value: &Range<usize>, bound: &mut Vec<Range<usize>>) {
    let code = reader.text.get(value.clone()).unwrap_or_default();
    let Some(word) = find_word(code, "in", false).or_else(|| find_word(code, "of", false)) else { return };
    bound.extend(bound_names(&code[..word], value.start));
    let list = value.start + word + 2..value.end;
    if copy_code(reader, &list) {
        reader.mark_expression(&list);
    }
}

/// Copies code; returns whether there is any.
fn copy_code(reader: &mut MarkupReader<'_>, span: &Range<usize>) -> bool {
    let code = reader.text.get(span.clone()).unwrap_or_default();
    if code.trim().is_empty() {
        return false;
    }
    reader.copy.copy_span(span.clone());
    if code.contains('&') {
        let mut last_end = usize::MAX;
        for (at, entity, mark) in list_entities(code) {
            reader.copy.blank_span(span.start + at..span.start + at + entity.len());
            // Of `&amp;&amp;`, the second mark follows the first at once.
            let place = if last_end == at && mark == b'&' { at - entity.len() + 1 } else { at };
            reader.copy.put_mark(span.start + place, mark);
            last_end = at + entity.len();
        }
    }
    true
}

fn list_entities(code: &str) -> Vec<(usize, &'static str, u8)> {
    let found = code.match_indices('&').filter_map(|(at, _)| {
        let entity = ENTITIES.iter().find(|(entity, _)| code[at..].starts_with(entity));
        entity.map(|(entity, mark)| (at, *entity, *mark))
    });
    found.collect()
}
