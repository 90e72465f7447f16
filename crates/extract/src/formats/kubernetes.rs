//! Reads the Kubernetes resources in a YAML file.

use super::format_names::FormatNames;
use crate::definitions::tags::TagKind;

/// Returns the resources of a file, each named `Kind/name`; none in other YAML. Uses are not read.
pub(super) fn read_names<'a>(_path: &str, text: &'a str) -> FormatNames<'a> {
    let mut names = FormatNames::default();
    let mut document = Document::default();
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let (start, line) = (at, whole.trim_end());
        at += whole.len();
        let is_separator = line == "---" || line.starts_with("--- ");
        if is_separator || line == "..." {
            std::mem::take(&mut document).add_to(&mut names);
        } else if line.starts_with('#') {
            names.comments.push(start..start + line.len());
        } else if !line.trim_start().is_empty() {
            document.read_line(line, start);
        }
    }
    document.add_to(&mut names);
    names
}

/// The parts of one document.
#[derive(Default)]
struct Document<'a> {
    start: Option<usize>,
    end: usize,
    has_version: bool,
    kind: &'a str,
    name: &'a str,
    /// Whether the line before is inside of `metadata`.
    is_metadata: bool,
    /// Number of blanks before the fields of `metadata`.
    indent: usize,
}

impl<'a> Document<'a> {
    /// Reads a line that begins at a byte.
    fn read_line(&mut self, line: &'a str, start: usize) {
        self.start.get_or_insert(start);
        self.end = start + line.len();
        let own = line.trim_start();
        let indent = line.len() - own.len();
        let Some((key, value)) = own.split_once(':') else { return };
        let value = plain_value(value);
        if indent == 0 {
            self.is_metadata = key == "metadata";
            self.indent = 0;
            match key {
                "apiVersion" => self.has_version = true,
                "kind" => self.kind = value,
                _ => {}
            }
            return;
        }
        if self.is_metadata && self.indent == 0 {
            self.indent = indent;
        }
        if self.is_metadata && indent == self.indent && key == "name" {
            self.name = value;
        }
    }

    fn add_to(self, names: &mut FormatNames<'a>) {
        let Self { start: Some(start), end, has_version: true, kind, name, .. } = self else { return };
        let is_kind = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_kind && !name.contains('/') {
            names.add_item(TagKind::Struct, name, format!("{kind}/{name}"), start..end);
        }
    }
}

/// Returns a value without its quotes and without a comment after it.
fn plain_value(value: &str) -> &str {
    let value = value.split(" #").next().unwrap_or_default().trim();
    value.trim_matches(['"', '\''])
}
