//! Does the reference of the protocol list what the types of `src/proto` have?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use memod::proto::METHODS;
use memod::types::RankingPart;
use regex::Regex;
use serde_json::{Value, json};

use super::{check_generated, top};
use crate::live::Live;

const PAGE: &str = "docs/src/protocol-reference.md";

/// Each method with the types of its params and of its result.
const TYPES: &[(&str, &str, &str)] = &[
    ("hello", "HelloParams", "HelloResult"),
    ("search", "SearchParams", "SearchResult"),
    ("brief", "BriefParams", "BriefResult"),
    ("advise", "AdviseParams", "AdviseResult"),
    ("map", "MapParams", "MapResult"),
    ("show", "ShowParams", "ShowResult"),
    ("outline", "OutlineParams", "OutlineResult"),
    ("refs", "RefsParams", "RefsResult"),
    ("callers", "ReachParams", "ReachResult"),
    ("callees", "ReachParams", "ReachResult"),
    ("impact", "ReachParams", "ReachResult"),
    ("tests", "ReachParams", "ReachResult"),
    ("implements", "ReachParams", "ReachResult"),
    ("why", "WhyParams", "WhyResult"),
    ("changed", "ChangedParams", "ChangedResult"),
    ("complete", "CompleteParams", "CompleteResult"),
    ("status", "StatusParams", "StatusResult"),
    ("sync", "SyncParams", "SyncResult"),
    ("subscribe", "SubscribeParams", "SubscribeResult"),
    ("unsubscribe", "", ""),
    ("reindex", "CwdParams", ""),
    ("doctor", "CwdParams", "DoctorResult"),
    ("doctor.acknowledge", "CwdParams", "AcknowledgeResult"),
    ("stop", "", ""),
    ("hooks.install", "HooksParams", "HooksResult"),
    ("hooks.uninstall", "HooksParams", "HooksResult"),
    ("hooks.status", "HooksParams", "HooksResult"),
    ("model.list", "CwdParams", "ModelsResult"),
    ("model.import", "ModelParams", "ModelsResult"),
    ("model.use", "ModelParams", "ModelsResult"),
    ("model.remove", "ModelParams", "ModelsResult"),
    ("memory.add", "AddParams", "AddResult"),
    ("memory.get", "IdsParams", "MemoriesResult"),
    ("memory.list", "ListParams", "MemoriesResult"),
    ("memory.update", "UpdateParams", "UpdateResult"),
    ("memory.confirm", "ConfirmParams", "UpdateResult"),
    ("memory.forget", "RemoveParams", "RemoveResult"),
    ("memory.restore", "IdsParams", "MemoriesResult"),
    ("memory.purge", "RemoveParams", "RemoveResult"),
    ("memory.reset", "RemoveParams", "RemoveResult"),
    ("memory.tags", "TallyParams", "TallyResult"),
    ("memory.containers", "TallyParams", "TallyResult"),
    ("memory.history", "IdsParams", "HistoryResult"),
    ("memory.stats", "TallyParams", "StatsResult"),
    ("memory.recall", "RecallParams", "RecallResult"),
    ("memory.promote", "PromoteParams", "UpdateResult"),
    ("memory.consolidate", "ConsolidateParams", "ConsolidateResult"),
    ("memory.auto_consolidate", "AutoConsolidateParams", "ConsolidateResult"),
    ("memory.link", "LinkParams", "LinkResult"),
    ("memory.unlink", "LinkParams", "LinkResult"),
    ("memory.links", "LinksParams", "LinksResult"),
    ("memory.resolve", "ResolveParams", "ResolveResult"),
    ("memory.related", "RelatedParams", "RelatedResult"),
    ("memory.dedupe", "DedupeParams", "DedupeResult"),
    ("memory.merge", "MergeParams", "MergeResult"),
    ("memory.import", "ImportParams", "ImportResult"),
    ("memory.import_markdown", "MarkdownParams", "ImportResult"),
    ("memory.import_keys", "KeysParams", "KeysResult"),
    ("memory.read_database", "DatabaseParams", "DatabaseResult"),
    ("memory.export", "ExportParams", "ExportResult"),
    ("memory.backup", "BackupParams", "BackupResult"),
    ("memory.restore_backup", "RestoreParams", "RestoreResult"),
];

/// Each topic with the type of its events.
const EVENTS: &[(&str, &str)] = &[
    ("progress", "ProgressEvent"),
    ("views", "ViewsEvent"),
    ("memories", "MemoriesEvent"),
    ("drift", "DriftEvent"),
    ("lost", "LostEvent"),
];

/// One key of an object.
struct Field {
    name: String,
    rust: String,
    meaning: String,
    is_optional: bool,
    is_flat: bool,
}

/// A type as its source declares it.
enum Shape {
    Object(Vec<Field>),
    Words(Vec<String>),
}

#[derive(Default)]
struct Types(BTreeMap<String, Shape>);

impl Types {
    /// Reads the declarations of `src/proto`, and of the words in `src/types.rs`.
    fn read() -> Self {
        let mut types = Self::default();
        let parts = RankingPart::all().map(|part| format!("`\"{}\"`", part.as_str()));
        types.0.insert("RankingPart".to_owned(), Shape::Words(parts.collect()));
        let names = ["src/proto.rs", "src/proto", "src/types.rs", "src/types/file_class.rs"];
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
        let mut case = "";
        while let Some(line) = lines.next() {
            if let Some((_, rule)) = line.split_once("rename_all = \"") {
                case = rule.split('"').next().unwrap();
            }
            let Some(found) = start.captures(line) else { continue };
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").map(str::trim).collect();
            let shape = if &found[1] == "struct" { object(&body) } else { words(&body, case) };
            self.0.insert(found[2].to_owned(), shape);
        }
    }

    /// Returns the keys of an object, those of flattened ones in their place.
    fn fields(&self, name: &str) -> Vec<&Field> {
        let Some(Shape::Object(fields)) = self.0.get(name) else {
            panic!("{name} is no struct of src/proto")
        };
        let own = |field| vec![field];
        fields
            .iter()
            .flat_map(|field| if field.is_flat { self.fields(&field.rust) } else { own(field) })
            .collect()
    }

    /// Returns how JSON has a type, and adds the objects in it to `seen`.
    fn json(&self, rust: &str, seen: &mut Vec<String>) -> String {
        let inside = |outer: &str| rust.strip_prefix(outer)?.strip_suffix('>');
        if let Some(inner) = inside("Option<") {
            return format!("{} or null", self.json(inner, seen));
        }
        if let Some(inner) = inside("Vec<") {
            return format!("array of {}", self.json(inner, seen));
        }
        if let Some(items) = rust.strip_prefix('(').and_then(|rust| rust.strip_suffix(')')) {
            let items: Vec<_> = items.split(", ").map(|item| self.json(item, seen)).collect();
            return format!("[{}]", items.join(", "));
        }
        match rust {
            "String" => "string".to_owned(),
            "bool" => "boolean".to_owned(),
            "f32" | "f64" => "number".to_owned(),
            "i8" | "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => "integer".to_owned(),
            "Value" => "any".to_owned(),
            _ if rust.contains("Map<") => "object".to_owned(),
            _ => match self.0.get(rust) {
                Some(Shape::Words(words)) => words.join(" or "),
                Some(Shape::Object(_)) => {
                    seen.push(rust.to_owned());
                    format!("[{rust}](#type-{})", rust.to_lowercase())
                }
                None => panic!("{rust} is no type of src/proto"),
            },
        }
    }

    fn table(&self, name: &str, head: &str, seen: &mut Vec<String>) -> String {
        let mut table = format!("| {head} | type | meaning |\n|---|---|---|\n");
        for field in self.fields(name) {
            // A draft of a memory has the fields of a memory, and says so once.
            let same = || self.fields("Memory").into_iter().find(|known| known.name == field.name);
            let meaning = if field.meaning.is_empty() {
                same().map_or("", |known| &known.meaning)
            } else {
                &field.meaning
            };
            let kind = self.json(&field.rust, seen);
            let absent = if field.is_optional && head != "param" { " or absent" } else { "" };
            writeln!(table, "| `{}` | {kind}{absent} | {} |", field.name, meaning).unwrap();
        }
        table
    }
}

fn object(body: &[&str]) -> Shape {
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
                meaning: link.replace_all(meaning.trim(), "$1").replace('|', "\\|"),
                is_optional: attributes.contains("skip_serializing_if"),
                is_flat: attributes.contains("flatten"),
            });
            (meaning, attributes) = Default::default();
        }
    }
    Shape::Object(fields)
}

fn words(body: &[&str], case: &str) -> Shape {
    let separator = match case {
        "kebab-case" => "-",
        "snake_case" => "_",
        _ => "",
    };
    let capital = Regex::new(r"(\w)([A-Z])").unwrap();
    let names = body.iter().filter_map(|line| line.strip_suffix(','));
    let word = |name: &str| capital.replace_all(name, format!("${{1}}{separator}${{2}}")).to_lowercase();
    Shape::Words(names.map(|name| format!("`\"{}\"`", word(name))).collect())
}

#[test]
fn the_reference_lists_every_key() {
    let types = Types::read();
    let mut page = String::new();
    let mut left = Vec::new();
    for (method, params, result) in TYPES {
        writeln!(page, "### `{method}`\n").unwrap();
        if params.is_empty() {
            page += "No params.\n\n";
        } else {
            writeln!(page, "{}", types.table(params, "param", &mut left)).unwrap();
        }
        if result.is_empty() {
            page += "The result is an empty object.\n\n";
        } else {
            writeln!(page, "{}", types.table(result, "key of the result", &mut left)).unwrap();
        }
    }
    page += "## Events\n\nThe params of the notification `event`, each with its `topic`.\n\n";
    for (topic, event) in EVENTS {
        writeln!(page, "### Event `{topic}`\n\n{}", types.table(event, "key", &mut left)).unwrap();
    }
    page += "## Objects\n\n";
    let mut done = BTreeSet::new();
    let mut objects = BTreeMap::new();
    while let Some(name) = left.pop() {
        if done.insert(name.clone()) {
            objects.insert(name.clone(), types.table(&name, "key", &mut left));
        }
    }
    for (name, table) in objects {
        writeln!(page, "### Type `{name}`\n\n{table}").unwrap();
    }
    check_generated(PAGE, "reference", &page);
}

#[test]
fn the_reference_lists_every_method() {
    let listed: Vec<_> = TYPES.iter().map(|(method, ..)| *method).collect();
    let known: Vec<_> = METHODS.iter().map(|method| method.name).collect();
    assert_eq!(listed, known);
}

/// A documented param is one that the daemon reads: it refuses a value of another type.
#[test]
fn every_param_of_the_reference_is_read() {
    let live = Live::new();
    let types = Types::read();
    for (method, params, _) in TYPES.iter().filter(|(_, params, _)| !params.is_empty()) {
        for field in types.fields(params) {
            let kind = types.json(&field.rust, &mut Vec::new());
            let is_object = kind.starts_with("object") || kind.starts_with('[');
            let wrong = if is_object { json!(true) } else { json!({ "no": "such type" }) };
            let mut call = json!({ "cwd": live.root(), "version": "0", "protocol": 1 });
            call[&field.name] = wrong;
            let error = live.rpc().call(method, &call).expect_err("a param of a wrong type");
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with("params: "), "{method} does not read {}: {error}", field.name);
        }
    }
}

/// A result has the keys that are documented, and no others.
#[test]
fn results_have_the_keys_of_the_reference() {
    let live = Live::new();
    live.write("a.md", "# One\n\nwords of a section\n");
    live.git(&["add", "."]);
    live.git(&["commit", "-qm", "one"]);
    let types = Types::read();
    let id = |content: &str| live.call("memory.add", json!({ "content": content }))["memory"]["id"].clone();
    let (one, two) = (id("the first thing to remember"), id("entirely different: lunch is at noon"));
    let sample = |method: &str| match method {
        "hello" => json!({ "version": "0.1.0", "protocol": 1 }),
        "search" | "memory.recall" => json!({ "query": "words" }),
        "why" => json!({ "target": "a.md" }),
        "changed" => json!({ "since": "HEAD" }),
        "memory.get" | "memory.history" => json!({ "ids": [one] }),
        "memory.add" => json!({ "content": "a third one, about the weather in March" }),
        "memory.update" => json!({ "id": one, "priority": 7 }),
        "memory.promote" | "memory.links" | "memory.related" => json!({ "id": one }),
        "memory.link" | "memory.unlink" => json!({ "from": one, "to": two }),
        "memory.reset" => json!({ "dry_run": true }),
        "memory.forget" | "memory.purge" => json!({ "words": "first", "dry_run": true }),
        _ => json!({}),
    };
    let mut n_checked = 0;
    for (method, _, result) in TYPES.iter().filter(|(_, _, result)| !result.is_empty()) {
        let mut params = sample(method);
        params["cwd"] = json!(live.root());
        // Some need more than this sample.
        let Ok(Value::Object(keys)) = live.rpc().call(method, &params) else { continue };
        let fields = types.fields(result);
        let known: BTreeSet<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let always = fields.iter().filter(|field| !field.is_optional).map(|field| field.name.as_str());
        let there: BTreeSet<&str> = keys.keys().map(String::as_str).collect();
        assert!(there.is_subset(&known), "{method}: {there:?} of {known:?}");
        let missing: Vec<_> = always.filter(|name| !there.contains(name)).collect();
        assert!(missing.is_empty(), "{method} has no {missing:?}: {there:?}");
        n_checked += 1;
    }
    assert!(n_checked >= 30, "only {n_checked} methods answered");
}
