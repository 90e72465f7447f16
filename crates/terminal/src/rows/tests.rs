//! Checks each format with a real parser of it.

use std::collections::BTreeMap;

use memod_base::types::FileClass;
use memod_proto::memory::{Change, Edge, MemoriesResult, Memory, Related, Tally};
use memod_proto::{
    ChangedFile, ChangedSymbols, CommitInfo, Copies, Explain, Hit, MemoryInfo, SearchResult, WhyCommit,
};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde::Deserialize;
use serde_json::json;

use super::*;

/// Texts that are easy to write wrongly.
const NASTY: &[&str] = &[
    "",
    " spaces around ",
    "a,b;c\td",
    "say \"hi\", she said",
    "'quoted' \"\"",
    "one\ntwo\r\nthree\n",
    "\r",
    "pipe | and \\| and \\",
    "\\n is no newline",
    "<b>&amp;</b> ]]> <!-- x --> <?y?>",
    "*bold* _em_ mem_01ABC `code` [x](y) ~~gone~~ # $1$ &lt;",
    "=1+2",
    "\u{1b}[2Jgone \u{7}\u{8}\u{b}\u{c}\u{1f}\u{7f}\u{85}\u{9b}",
    "\u{fffe}\u{ffff}\u{feff}bom",
    "\u{202e}rtl\u{2066} עברית العربية",
    "👩‍👩‍👧 漢字 é e\u{301} \u{e0041}",
    "{\"a\":[1,\"x\"]}",
    "null",
    "-- ---",
];

fn memory(nth: usize, text: &str) -> Memory {
    let tags = vec!["a".to_owned(), text.replace(',', ";")];
    let title = (!nth.is_multiple_of(2)).then(|| text.to_owned());
    let metadata = json!({ "key": text }).as_object().cloned().unwrap_or_default();
    let (id, content) = (format!("mem_{nth}"), text.to_owned());
    Memory { id, content, title, tags, metadata, confidence: 1.0, priority: 5, ..Memory::default() }
}

fn nasty() -> MemoriesResult {
    let memories: Vec<_> = NASTY.iter().enumerate().map(|(nth, text)| memory(nth, text)).collect();
    MemoriesResult { total: memories.len() as u64, memories, ..MemoriesResult::default() }
}

fn printed<L: RowListing>(list: &L, table: &'static RowSchema, format: RowFormat, fields: &str) -> String {
    let fields = fields.split_whitespace().map(str::to_owned).collect();
    let shape =
        RowsArgs { format: Some(format), fields }.output_shape(table, None).expect("the fields are known");
    let mut out = Vec::new();
    match shape {
        OutputShape::Rows(selection) => {
            print_rows(list, &selection, &mut out).expect("a Vec takes everything");
        }
        _ => panic!("{shape:?} is no rows"),
    }
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn csv_is_read_back() {
    let list = nasty();
    let text = printed(&list, &MEMORIES, RowFormat::Csv, "id content title tags metadata");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<_> = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    assert_eq!(names, ["id", "content", "title", "tags", "metadata"]);
    let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("every row is well-formed");
    assert_eq!(rows.len(), NASTY.len());
    for (row, memory) in rows.iter().zip(&list.memories) {
        let expected = [
            memory.id.clone(),
            memory.content.clone(),
            memory.title.clone().unwrap_or_default(),
            memory.tags.join(","),
            serde_json::to_string(&memory.metadata).expect("JSON"),
        ];
        assert_eq!(row.iter().collect::<Vec<_>>(), expected);
    }
    // RFC 4180: lines end with CRLF; a field is quoted where needed, and quotes in it are doubled.
    let one = MemoriesResult { memories: vec![memory(1, "a \"b\"")], ..MemoriesResult::default() };
    let text = printed(&one, &MEMORIES, RowFormat::Csv, "id content");
    assert_eq!(text, "id,content\r\nmem_1,\"a \"\"b\"\"\"\r\n");
}

#[test]
fn xml_is_read_back() {
    let list = nasty();
    let text = printed(&list, &MEMORIES, RowFormat::Xml, "");
    let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.attribute("total")), ("memories", Some("19")));
    let rows: Vec<_> = root.children().filter(roxmltree::Node::is_element).collect();
    assert_eq!(rows.len(), NASTY.len());
    for (row, memory) in rows.iter().zip(&list.memories) {
        let named = |name: &str| row.children().find(|child| child.has_tag_name(name));
        let text = |name: &str| named(name).map(|child| child.text().unwrap_or_default().to_owned());
        assert_eq!(text("content"), Some(without_forbidden(&memory.content)));
        assert_eq!(text("title"), memory.title.as_deref().map(without_forbidden), "null has no element");
        let tags: Vec<_> =
            named("tags").expect("tags").children().map(|tag| tag.text().unwrap_or_default()).collect();
        assert_eq!(tags.join(","), without_forbidden(&memory.tags.join(",")));
    }
}

/// A character that XML cannot represent is shown by its number.
fn without_forbidden(text: &str) -> String {
    let is_forbidden = |c: char| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    text.chars().fold(String::new(), |text, c| {
        if is_forbidden(c) { format!("{text}{}", c.escape_unicode()) } else { format!("{text}{c}") }
    })
}

#[test]
fn markdown_shows_the_text_itself() {
    let list = nasty();
    let text = printed(&list, &MEMORIES, RowFormat::Md, "id content");
    let mut cells = Vec::new();
    for event in
        Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH)
    {
        match event {
            Event::Start(Tag::TableCell) => cells.push(String::new()),
            Event::Text(text) => cells.last_mut().expect("only in cells").push_str(&text),
            Event::InlineHtml(html) if &*html == "<br>" => {
                cells.last_mut().expect("only in cells").push('\n');
            }
            Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableRow)
            | Event::End(TagEnd::Table | TagEnd::TableHead | TagEnd::TableRow | TagEnd::TableCell) => {}
            other => panic!("{other:?} in {text}"),
        }
    }
    let expected = list.memories.iter().flat_map(|memory| {
        let lines = memory.content.split('\n').map(|line| {
            crate::text::escape_for_display(line.strip_suffix('\r').unwrap_or(line)).replace('\t', " ")
        });
        [memory.id.clone(), lines.collect::<Vec<_>>().join("\n")]
    });
    let expected: Vec<_> = ["id".to_owned(), "content".to_owned()].into_iter().chain(expected).collect();
    let trimmed = |cells: &[String]| cells.iter().map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&cells), trimmed(&expected));
}

#[test]
fn json_and_its_lines_are_read_back() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Row {
        content: String,
        id: String,
        score: Option<f64>,
    }
    #[derive(Deserialize)]
    struct Answer {
        total: u64,
        memories: Vec<Row>,
    }
    let list = nasty();
    let expected = list.memories.iter().map(|memory| Row {
        content: memory.content.clone(),
        id: memory.id.clone(),
        score: None,
    });
    let expected: Vec<_> = expected.collect();
    let text = printed(&list, &MEMORIES, RowFormat::Jsonl, "content id score id");
    let rows: Vec<Row> = text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    assert_eq!(rows, expected);
    assert!(text.starts_with("{\"content\":\"\",\"id\":\"mem_0\",\"score\":null}\n"), "{text}");
    let answer: Answer =
        serde_json::from_str(&printed(&list, &MEMORIES, RowFormat::Json, "content id score"))
            .expect("an object");
    assert_eq!((answer.total, answer.memories), (19, expected));
}

#[test]
fn text_is_a_line_a_row() {
    let list = nasty();
    let text = printed(&list, &MEMORIES, RowFormat::Text, "id content");
    assert_eq!(text.lines().count(), NASTY.len());
    for (line, memory) in text.lines().zip(&list.memories) {
        let (id, content) = line.split_once('\t').expect("a tab between");
        assert_eq!(id, memory.id);
        assert!(!content.contains(char::is_control), "{content}");
    }
}

/// Splits a line as the definition of TOON requires.
fn toon_cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = cells.last_mut().expect("never empty");
        match (c, chars.peek()) {
            ('\\', Some('|')) => cell.extend(chars.next()),
            ('\\', Some('n')) => {
                chars.next();
                cell.push('\n');
            }
            ('|', _) => cells.push(String::new()),
            _ => cell.push(c),
        }
    }
    cells
}

#[test]
fn toon_is_read_back() {
    let list = nasty();
    let text = printed(&list, &MEMORIES, RowFormat::Toon, "id content priority");
    let mut lines = text.split('\n');
    assert_eq!(lines.next(), Some("count:19|total:19"));
    assert_eq!(lines.next(), Some("memories[id|content|priority]:"));
    for memory in &list.memories {
        let cells = toon_cells(lines.next().expect("a line a row"));
        // The definition has no escape for a backslash.
        let mut expected = memory.content.replace("\\n", "\n");
        if expected.ends_with('\\') {
            expected.push(' ');
        }
        assert_eq!(cells, [memory.id.clone(), expected, "5".to_owned()]);
    }
    assert_eq!((lines.next(), lines.next()), (Some(""), None));
}

#[test]
fn toon_is_what_its_definition_shows() {
    /// The example of the definition, in its words.
    #[derive(Serialize)]
    struct Recalled(Vec<Value>);
    impl RowListing for Recalled {
        type Row = Value;
        fn list_rows(&self) -> &[Value] {
            &self.0
        }
        fn scalar_fields(&self) -> Vec<ScalarField> {
            vec![("mode", json!("hybrid"))]
        }
    }
    let row = |id: &str, title: &str, tier: &str, priority: u8, score: f64, tags: &[&str]| {
        json!({ "id": id, "title": title, "tier": tier, "container": "infra", "priority": priority, "score": score,
            "tags": tags, "confidence": 1.0, "access_count": 2, "source": "cli", "created": "T1", "updated": "T2",
            "trust": if id == "abc-123" { "repo" } else { "own" } })
    };
    let list = Recalled(vec![
        row("abc-123", "PostgreSQL config", "long", 9, 0.763, &["postgres", "db"]),
        row("def-456", "Redis|cache", "long", 8, 0.541, &["redis"]),
        row("ghi-789", "Deploy notes", "mid", 5, 0.320, &[]),
    ]);
    assert_eq!(
        printed(&list, &MEMORIES, RowFormat::ToonCompact, ""),
        "count:3|mode:hybrid\nmemories[id|title|tier|namespace|priority|score|tags|trust]:\n\
         abc-123|PostgreSQL config|long|infra|9|0.763|postgres,db|repo\n\
         def-456|Redis\\|cache|long|infra|8|0.541|redis|own\nghi-789|Deploy notes|mid|infra|5|0.32||own\n"
    );
    let full = printed(&list, &MEMORIES, RowFormat::Toon, "");
    let mut lines = full.lines().skip(1);
    let header = "memories[id|title|tier|namespace|priority|confidence|score|access_count|tags|source|created_at|updated_at|trust]:";
    assert_eq!(lines.next(), Some(header));
    assert_eq!(
        lines.next(),
        Some("abc-123|PostgreSQL config|long|infra|9|1.0|0.763|2|postgres,db|cli|T1|T2|repo")
    );
}

#[test]
fn one_line_stands_in_for_a_missing_title_in_compact_toon() {
    let untitled = |content: String| Memory { id: "m".to_owned(), content, ..Memory::default() };
    let compact = |content: &str| {
        let list =
            MemoriesResult { memories: vec![untitled(content.to_owned())], ..MemoriesResult::default() };
        let text = printed(&list, &MEMORIES, RowFormat::ToonCompact, "");
        toon_cells(text.lines().last().expect("a row"))[1].clone()
    };
    assert_eq!(compact("\n  sessions | tokens\nand more"), "sessions | tokens");
    assert_eq!(compact(&"é".repeat(101)), format!("{}…", "é".repeat(100)));
    assert_eq!(compact("   "), "");

    let hit = |title: Option<&str>| {
        let hit = json!({ "kind": "memory", "path": "memory:m", "lines": [1, 2], "title": title,
            "snippet": "first\nsecond", "snippet_line": 1, "score": 1.0, "arms": {}, "view": "", "blob": "",
            "trust": "own" });
        serde_json::from_value::<Hit>(hit).expect("a hit")
    };
    let list = SearchResult { hits: vec![hit(None), hit(Some("titled"))], ..SearchResult::default() };
    let titles = |format| -> Vec<String> {
        let text = printed(&list, &HITS, format, "");
        text.lines().skip(2).map(|line| toon_cells(line)[4].clone()).collect()
    };
    assert_eq!(titles(RowFormat::ToonCompact), ["first", "titled"]);
    assert_eq!(titles(RowFormat::Toon), ["", "titled"], "the snippet is a field of its own");
}

fn of<R: Serialize>(row: &R) -> Value {
    serde_json::to_value(row).expect("JSON")
}

/// Every field of the protocol can be selected, and every name resolves or is known to belong to other rows.
#[test]
fn tables_have_every_field() {
    let check = |table: &RowSchema, row: Value, elsewhere: &[&str]| {
        let keys: Vec<_> = row.as_object().expect("an object").keys().map(|key| format!("/{key}")).collect();
        for key in &keys {
            let is_there = |column: &&Column| column.1 == key || column.1.starts_with(&format!("{key}/"));
            assert!(
                table.columns.iter().find(is_there).is_some(),
                "{} lack {key}: add it in rows/row_tables.rs",
                table.rows_name
            );
        }
        for (name, places) in table.columns.iter().chain(table.aliases).chain(table.compact_aliases) {
            let is_there = places.split(' ').all(|at| row.pointer(at).is_some());
            assert!(is_there || elsewhere.contains(name), "{}: {name} is nowhere", table.rows_name);
        }
        let columns = [table.columns, table.aliases];
        assert_eq!(pick_columns(table.md_fields, &columns).len(), table.md_fields.len());
        assert_eq!(pick_columns(table.toon_fields, &columns).len(), table.toon_fields.len());
        assert!(table.compact_fields.iter().all(|name| table.toon_fields.contains(name)));
        let unique: BTreeMap<_, _> = table.columns.iter().copied().collect();
        assert_eq!(unique.len(), table.columns.len());
    };
    check(&MEMORIES, of(&Memory { links: Some(Vec::new()), ..Memory::default() }), &["score", "state"]);
    check(&MEMORY_LINKS, of(&Edge::default()), &[]);
    let symbols = Some(ChangedSymbols::default());
    let (cwd_path, cwd_from) = (Some(String::new()), Some(String::new()));
    check(&CHANGED_FILES, of(&ChangedFile { symbols, cwd_path, cwd_from, ..ChangedFile::default() }), &[]);
    check(&COMMITS, of(&WhyCommit::default()), &[]);
    check(&MEMORY_CHANGES, of(&Change::default()), &[]);
    check(&NAME_COUNTS, of(&Tally::default()), &[]);
    let hit = json!({ "kind": "commit", "path": "p", "lines": [1, 2], "snippet": "", "snippet_line": 1, "score": 1.0,
        "arms": {}, "view": "", "blob": "", "trust": "repo" });
    let mut hit: Hit = serde_json::from_value(hit).expect("a hit");
    (hit.commit, hit.memory) = (Some(CommitInfo::default()), Some(MemoryInfo::default()));
    hit.explain = Some(Explain::default());
    hit.copies = Some(Copies::default());
    hit.classes = vec![FileClass::Code];
    hit.cwd_path = Some(String::new());
    (hit.signature, hit.signature_line) = (Some(String::new()), Some(1));
    check(&HITS, of(&hit), &[]);
    check(&RELATED_MEMORIES, of(&Related::default()), &[]);
}

#[test]
fn an_unknown_field_is_refused() {
    let typed = RowsArgs { format: None, fields: vec!["id".to_owned(), "colour".to_owned()] };
    let shown = typed.output_shape(&NAME_COUNTS, None).expect_err("there is no such field").to_report();
    assert_eq!(shown.message, "--fields: names have no field \"id\"");
    assert_eq!((shown.exit_status, shown.hint.as_deref()), (2, Some("there are: name, memories")));
}
