//! Which keys do the types of `crates/proto` have?

use std::collections::BTreeMap;
use std::fs;

use memod_base::types::RankingPart;
use regex::Regex;

use super::top;

/// One key of an object.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) rust: String,
    pub(super) meaning: String,
    pub(super) is_optional: bool,
    is_flat: bool,
}

/// A type as its source declares it.
pub(super) enum Shape {
    /// Its keys, and whether all of them may be left out.
    Object(Vec<Field>, bool),
    Words(Vec<String>),
}

/// The type of a value, as its source writes it.
pub(super) enum Kind<'a> {
    Text,
    Boolean,
    Number,
    Integer,
    Unsigned,
    Any,
    Map,
    Words(&'a [String]),
    Object(&'a str),
    Array(Box<Kind<'a>>),
    Tuple(Vec<Kind<'a>>),
    OrNull(Box<Kind<'a>>),
}

#[derive(Default)]
pub(super) struct Types(BTreeMap<String, Shape>);

impl Types {
    /// Reads the declarations of `crates/proto`, and of the words in `crates/base/src/types.rs`.
    pub(super) fn read() -> Self {
        let mut types = Self::default();
        let parts = RankingPart::all().map(|part| part.as_str().to_owned());
        types.0.insert("RankingPart".to_owned(), Shape::Words(parts.collect()));
        let names = ["crates/proto/src", "crates/base/src/types.rs", "crates/base/src/types/file_class.rs"];
        let mut left: Vec<_> = names.map(|name| top().join(name)).into();
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                types.declare_all(&fs::read_to_string(&path).unwrap());
            }
        }
        types
    }

    fn declare_all(&mut self, source: &str) {
        let start = Regex::new(r"^pub (struct|enum) (\w+) \{$").unwrap();
        let mut lines = source.lines();
        let (mut case, mut has_defaults) = ("", false);
        while let Some(line) = lines.next() {
            if let Some((_, rule)) = line.split_once("rename_all = \"") {
                case = rule.split('"').next().unwrap();
            }
            has_defaults |= line == "#[serde(default)]";
            let Some(found) = start.captures(line) else { continue };
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").map(str::trim).collect();
            let shape = match &found[1] {
                "struct" => Shape::Object(object(&body), has_defaults),
                _ => Shape::Words(words(&body, case)),
            };
            has_defaults = false;
            self.0.insert(found[2].to_owned(), shape);
        }
    }

    /// Returns the keys of an object, those of flattened ones in their place.
    pub(super) fn fields(&self, name: &str) -> Vec<&Field> {
        let Some(Shape::Object(fields, _)) = self.0.get(name) else {
            panic!("{name} is no struct of crates/proto")
        };
        let own = |field| vec![field];
        fields
            .iter()
            .flat_map(|field| if field.is_flat { self.fields(&field.rust) } else { own(field) })
            .collect()
    }

    /// Returns whether each key of an object may be left out by who sends it.
    pub(super) fn has_defaults(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(Shape::Object(_, true)))
    }

    /// Returns what a field means. A draft of a memory has the fields of a memory, and says so once.
    pub(super) fn meaning<'a>(&'a self, field: &'a Field) -> &'a str {
        let same = || self.fields("Memory").into_iter().find(|known| known.name == field.name);
        match field.meaning.is_empty() {
            true => same().map_or("", |known| &known.meaning),
            false => &field.meaning,
        }
    }

    /// Returns the type that the source writes so.
    pub(super) fn kind<'a>(&'a self, rust: &'a str) -> Kind<'a> {
        let inside = |outer: &str| rust.strip_prefix(outer)?.strip_suffix('>');
        if let Some(inner) = inside("Option<") {
            return Kind::OrNull(Box::new(self.kind(inner)));
        }
        if let Some(inner) = inside("Vec<") {
            return Kind::Array(Box::new(self.kind(inner)));
        }
        if let Some(items) = rust.strip_prefix('(').and_then(|rust| rust.strip_suffix(')')) {
            return Kind::Tuple(items.split(", ").map(|item| self.kind(item)).collect());
        }
        match rust {
            "String" => Kind::Text,
            "bool" => Kind::Boolean,
            "f32" | "f64" => Kind::Number,
            "i8" | "i64" => Kind::Integer,
            "u8" | "u16" | "u32" | "u64" | "usize" => Kind::Unsigned,
            "Value" => Kind::Any,
            _ if rust.contains("Map<") => Kind::Map,
            _ => match self.0.get(rust) {
                Some(Shape::Words(words)) => Kind::Words(words),
                Some(Shape::Object(..)) => Kind::Object(rust),
                None => panic!("{rust} is no type of crates/proto"),
            },
        }
    }
}

fn object(body: &[&str]) -> Vec<Field> {
    let declared = Regex::new(r"^pub (?:r#)?(\w+): (.+),$").unwrap();
    let link = Regex::new(r"\[(`[^`]+`)\]").unwrap();
    let (mut fields, mut meaning, mut attributes) = (Vec::new(), String::new(), String::new());
    for line in body {
        if let Some(text) = line.strip_prefix("///") {
            meaning = format!("{meaning}{text}");
        } else if line.starts_with("#[") {
            attributes += line;
        } else {
            let found = declared.captures(line).unwrap_or_else(|| panic!("not read: {line}"));
            let renamed = attributes.split_once("rename = \"").and_then(|(_, rest)| rest.split('"').next());
            fields.push(Field {
                name: renamed.unwrap_or(&found[1]).to_owned(),
                rust: found[2].to_owned(),
                meaning: link.replace_all(meaning.trim(), "$1").into_owned(),
                is_optional: attributes.contains("skip_serializing_if"),
                is_flat: attributes.contains("flatten"),
            });
            (meaning, attributes) = Default::default();
        }
    }
    fields
}

fn words(body: &[&str], case: &str) -> Vec<String> {
    let separator = match case {
        "kebab-case" => "-",
        "snake_case" => "_",
        _ => "",
    };
    let capital = Regex::new(r"(\w)([A-Z])").unwrap();
    let names = body.iter().filter_map(|line| line.strip_suffix(','));
    let word = |name: &str| capital.replace_all(name, format!("${{1}}{separator}${{2}}")).to_lowercase();
    names.map(word).collect()
}
