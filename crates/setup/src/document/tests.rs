use super::*;
use crate::json::config_value::ConfigValue;
use crate::json::our_command::OurCommand;

/// Texts as people have them, each of which is valid.
const TEXTS: [&str; 24] = [
    "",
    "\n",
    "\u{feff}",
    "// only a comment\n",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "{\n\n  // nothing yet\n}\n",
    "{ // why\n  \"theme\": \"One Dark\", // nice\n}\n",
    "\u{feff}{\r\n\t\"a\": 1,\r\n\t\"b\": [\r\n\t]\r\n}\r\n",
    "{\"a\":1,\"b\":{\"c\":[]}}",
    "{ \"a\": 1 }",
    "{\n    \"mcpServers\": {},\n    \"hooks\": {}\n}",
    "{\n  \"mcpServers\": {\n  },\n  \"hooks\": {\"SessionStart\": []}\n}\n",
    "{\"mcpServers\":{\"other\":{\"command\":\"x\"}},\"hooks\":{\"SessionStart\":[{\"hooks\":[]}]}}\n",
    "{\n  \"mcpServers\": {\n    // mine\n    \"other\": { \"command\": \"npx\", \"args\": [\"-y\", \"x\"] },\n  },\n}\n",
    "// head\n{\n/* a */ \"x\": 1 /* b */, // c\n\n\n   \"y\": \"}{][//\",\n}\n// tail\n",
    "{\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [{\"type\": \"command\", \"command\": \"echo hi\"}]\n\t\t\t}\n\t\t]\n\t}\n}",
    "{\n  \"version\": 1,\n  \"hooks\": {\n    \"SessionStart\": [{\n      \"command\": \"x\"\n    }]\n  }\n}\n",
    "{\"a\": \"\\u00e9\\\"\", \"mcpServers\" : { } }   \n\n",
    "{\n  \"a\": 1,\n\n  /* a\n     b */\n  \"mcpServers\": { /* c\n */ }\n}\n",
    "{\n  \"a\":\n    1\n  ,\n  \"mcpServers\":\n  {\n  }\n}\n",
    "{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}",
];

fn server(memo: &str) -> JsonPart {
    let args = ConfigValue::List(vec![ConfigValue::text("mcp")]);
    let value = ConfigValue::map([("command", ConfigValue::text(memo)), ("args", args)]);
    JsonPart::Server { path: &["mcpServers"], key: "memod", value }
}

fn hook(memo: &str, name: &'static str, event: &'static str) -> JsonPart {
    let run = ConfigValue::map([("command", ConfigValue::Text(format!("{memo} hook {event} --agent x")))]);
    let value =
        ConfigValue::map([("matcher", ConfigValue::text("*")), ("hooks", ConfigValue::List(vec![run]))]);
    JsonPart::Hook { path: ["hooks", name], value, command: OurCommand::Hook(event) }
}

fn contents(memo: &str) -> [FileContent; 3] {
    let hooks = || [hook(memo, "SessionStart", "session-start"), hook(memo, "BeforeTool", "before-edit")];
    let all = [server(memo)].into_iter().chain(hooks()).collect();
    [FileContent::Json(vec![server(memo)]), FileContent::Json(hooks().into()), FileContent::Json(all)]
}

fn parts(content: &FileContent) -> &[JsonPart] {
    let FileContent::Json(parts) = content else { panic!("these are of JSON") };
    parts
}

fn installed(content: &FileContent, text: &str, pieces: &[InsertedPiece]) -> InstalledText {
    install_content(content, Some(text), pieces).expect("it is valid").expect("it was not in it")
}

#[test]
fn entries_come_out_without_a_trace() {
    for text in TEXTS {
        for content in contents("memo") {
            let with = installed(&content, text, &[]);
            for part in parts(&content) {
                assert_eq!(plan_edit(&with.text, part).unwrap(), JsonEdit::Nothing, "{}", with.text);
            }
            assert_eq!(
                install_content(&content, Some(&with.text), &with.pieces).unwrap(),
                None,
                "{}",
                with.text
            );
            let left = uninstall_content(&content, &with.text, &with.pieces).unwrap();
            assert_eq!(left.as_deref(), Some(text), "{}", with.text);
        }
    }
}

#[test]
fn entries_come_out_without_a_record() {
    for text in TEXTS {
        for content in contents("memo") {
            let with = installed(&content, text, &[]);
            let left = uninstall_content(&content, &with.text, &[]).unwrap().expect("ours was in it");
            let tree = |text: &str| {
                let root = JsonNode::parse(text).unwrap().map(|root| shape(&root));
                root.unwrap_or("{}".to_owned()).replace(",mcpServers:{}", "").replace("mcpServers:{}", "")
            };
            let bare = |text: &str| {
                let shown = tree(text).replace("SessionStart:[]", "").replace(",hooks:{}", "");
                shown.replace("hooks:{}", "").replace("{,", "{")
            };
            assert_eq!(bare(&left), bare(text), "{text:?}\n{}\n{left}", with.text);
            // Comments survive too.
            for comment in
                ["// why", "// nice", "// mine", "/* a */", "/* b */", "// c", "// head", "// tail"]
            {
                assert_eq!(left.contains(comment), text.contains(comment), "{comment}: {left}");
            }
        }
    }
}

/// Names and values, without places.
fn shape(node: &JsonNode) -> String {
    let inner = |item: &crate::json::json_tree::JsonItem| match item.key.as_str() {
        "" => shape(&item.node),
        key => format!("{key}:{}", shape(&item.node)),
    };
    let items: Vec<String> = node.items().iter().map(inner).collect();
    match &node.kind {
        crate::json::json_tree::JsonKind::Object(_) => format!("{{{}}}", items.join(",")),
        crate::json::json_tree::JsonKind::Array(_) => format!("[{}]", items.join(",")),
        kind => format!("{kind:?}"),
    }
}

#[test]
fn what_a_person_changed_since_stays() {
    let [_, _, content] = contents("memo");
    let text = "{\n  // theme\n  \"theme\": \"dark\"\n}\n";
    let with = installed(&content, text, &[]);
    let left =
        |edited: &str| uninstall_content(&content, edited, &with.pieces).unwrap().expect("ours was in it");

    let edited = with.text.replace("\"dark\"", "\"light\", // brighter\n  \"size\": 12");
    assert_eq!(left(&edited), "{\n  // theme\n  \"theme\": \"light\", // brighter\n  \"size\": 12\n}\n");
    // A server after ours, in the object that we made.
    let edited =
        with.text.replace("\"args\": [\"mcp\"]\n    }\n", "\"args\": [\"mcp\"]\n    },\n    \"b\": {}\n");
    assert_ne!(edited, with.text);
    assert_eq!(
        left(&edited),
        "{\n  \"mcpServers\": {\n    \"b\": {}\n  },\n  // theme\n  \"theme\": \"dark\"\n}\n"
    );
    // A command in our group of hooks.
    let edited = with.text.replacen("\"hooks\": [\n", "\"hooks\": [\n{\"command\": \"mine\"},\n", 1);
    assert!(left(&edited).contains("\"mine\"") && !left(&edited).contains("memo"), "{}", left(&edited));
    // Another tool has rewritten the file in its own layout.
    let value: serde_json::Value = serde_json::from_str(&with.text.replace("// theme", "")).unwrap();
    let anew = serde_json::to_string_pretty(&value).unwrap();
    assert_eq!(left(&anew), "{\n  \"theme\": \"dark\"\n}");
}

#[test]
fn a_later_version_replaces_its_entries() {
    for text in TEXTS {
        let [_, _, old] = contents("/old/memo");
        let [_, _, new] = contents("/new/bin/memo");
        let with = installed(&old, text, &[]);
        let again = installed(&new, &with.text, &with.pieces);
        assert!(!again.text.contains("/old/memo"), "{}", again.text);
        assert_eq!(uninstall_content(&new, &again.text, &again.pieces).unwrap().as_deref(), Some(text));
        // Without the record the values change in place, and what a person added to the entry stays.
        let edited = with.text.replace("\"mcp\"]", "\"mcp\"], \"env\": {\"A\": \"1\"}");
        let again = installed(&new, &edited, &[]);
        assert!(!again.text.contains("/old/memo") && again.text.contains("\"env\""), "{}", again.text);
        assert_eq!(again.text.matches("/new/bin/memo").count(), 3, "{}", again.text);
    }
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let [content, hooks, _] = contents("memo");
    let refused = |content: &FileContent, text: &str| {
        install_content(content, Some(text), &[]).unwrap_err().to_string()
    };
    let foreign = r#"{"mcpServers": {"memod": {"command": "npx", "args": ["memod"]}}}"#;
    assert!(refused(&content, foreign).contains("did not write"));
    assert_eq!(uninstall_content(&content, foreign, &[]).unwrap(), None);
    assert!(refused(&content, r#"{"mcpServers": []}"#).contains("mcpServers is not an object"));
    assert!(
        refused(&hooks, r#"{"hooks": {"SessionStart": {}}}"#).contains("hooks.SessionStart is not an array")
    );
    assert!(refused(&content, "[]").contains("the top level is not an object"));
    for broken in ["{", "{\"a\": }", "{\"a\" 1}", "{} {}", "{'a': 1}", "\0", "{\"a\": 1,,}"] {
        assert!(refused(&content, broken).contains("not valid JSON"), "{broken:?}");
        assert!(uninstall_content(&content, broken, &[]).is_err(), "{broken:?}");
    }
    let deep = "[".repeat(100_000);
    assert!(refused(&content, &deep).contains("not valid JSON"));
}

fn toml() -> FileContent {
    FileContent::Toml {
        section: "[mcp_servers.memod]\ncommand = \"memo\"".to_owned(),
        table: ["mcp_servers", "memod"],
    }
}

#[test]
fn a_table_comes_out_without_a_trace() {
    let texts = [
        "",
        "model = \"o\"\n",
        "# only a comment",
        "model = \"o\" # why\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n",
        "[mcp_servers]\n",
        "mcp_servers.other.command = \"x\"\n",
        "[[hooks.SessionStart]]\nmatcher = \"*\"",
        "\u{feff}a = 1\n",
        "[projects.\"/a b\"]\ntrust_level = \"trusted\"\n\n\n",
        "text = \"\"\"\n[mcp_servers.memod]\n\"\"\"\n",
    ];
    for text in texts {
        let with = installed(&toml(), text, &[]).text;
        assert_eq!(install_content(&toml(), Some(&with), &[]).unwrap(), None, "{with}");
        assert_eq!(uninstall_content(&toml(), &with, &[]).unwrap().as_deref(), Some(text), "{with}");
        if text.starts_with('\u{feff}') {
            continue; // only the first bytes of a file can be one
        }
        let edited = format!("# first\n{with}\n[last]\n");
        let left = uninstall_content(&toml(), &edited, &[]).unwrap().expect("ours was in it");
        assert!(left.starts_with("# first\n") && left.ends_with("\n[last]\n") && !left.contains("# memod"));
    }
}

#[test]
fn a_table_of_somebody_else_is_left_alone() {
    let refused = |text: &str| install_content(&toml(), Some(text), &[]).unwrap_err().to_string();
    assert!(refused("[mcp_servers.memod]\ncommand = \"x\"\n").contains("did not write"));
    assert!(refused("mcp_servers = { other = {} }\n").contains("not a table with a header"));
    assert!(refused("mcp_servers = 1\n").contains("not a table with a header"));
    assert!(refused("a = \n").contains("not valid TOML"));
    assert!(refused("[a\n").contains("not valid TOML"));
    assert_eq!(uninstall_content(&toml(), "[mcp_servers.memod]\ncommand = \"x\"\n", &[]).unwrap(), None);
}

#[test]
fn a_file_of_our_own() {
    let content = FileContent::Whole("ours\n".to_owned());
    let with = install_content(&content, None, &[]).unwrap().expect("it is not there");
    assert_eq!(with.text, "ours\n");
    assert_eq!(install_content(&content, Some("ours\n"), &with.pieces).unwrap(), None);
    assert_eq!(uninstall_content(&content, "ours\n", &[]).unwrap().as_deref(), Some(""));
    // As an earlier version wrote it.
    let newer = FileContent::Whole("newer\n".to_owned());
    assert_eq!(installed(&newer, "ours\n", &with.pieces).text, "newer\n");
    assert_eq!(uninstall_content(&newer, "ours\n", &with.pieces).unwrap().as_deref(), Some(""));
    // As a person has changed it.
    assert!(matches!(
        install_content(&content, Some("ours, edited\n"), &with.pieces),
        Err(Refusal::WrittenByOthers)
    ));
    assert!(matches!(
        uninstall_content(&content, "ours, edited\n", &with.pieces),
        Err(Refusal::WrittenByOthers)
    ));
}

/// Makes texts that are valid, and laid out as no person would.
struct Scribe(u64);

impl Scribe {
    /// A number below `n` (xorshift64, Marsaglia 2003).
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }

    fn gap(&mut self) -> &'static str {
        self.one_of(&[
            "",
            "",
            "",
            " ",
            "\n",
            "\n  ",
            "\t",
            "\r\n\t",
            " // c\n",
            "/* c */",
            "\n/* c\n*/ ",
            "//\r\n",
            "\n\n",
        ])
    }

    fn value(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0 => self.one_of(&["1", "-2.5e3", "true", "null"]).to_owned(),
            1 => self.one_of(&["\"\"", "\"}{][,//\"", "\"a\\\"b\\\\\"", "\"é🦀\""]).to_owned(),
            2 => self.one_of(&["{}", "[]", "{ }", "[\n]"]).to_owned(),
            3 => self.container('[', ']', depth - 1, false),
            _ => self.container('{', '}', depth - 1, true),
        }
    }

    fn container(&mut self, open: char, close: char, depth: usize, has_keys: bool) -> String {
        let mut text = format!("{open}{}", self.gap());
        let n_items = self.below(4);
        for at in 0..n_items {
            if has_keys {
                let key = self.one_of(&["a", "mcpServers", "hooks", "SessionStart", "BeforeTool", "version"]);
                text += &format!("\"{key}\"{}:{}", self.gap(), self.gap());
            }
            text += &self.value(depth);
            text += self.gap();
            if at + 1 < n_items || self.below(5) == 0 {
                text.push(',');
            }
            text += self.gap();
        }
        text.push(close);
        text
    }
}

#[test]
fn any_layout_comes_back() {
    let mut scribe = Scribe(0x9e37_79b9_7f4a_7c15);
    let mut n_written = 0;
    for _ in 0..3_000 {
        let text = [scribe.gap(), &scribe.container('{', '}', 3, true), scribe.gap()].concat();
        JsonNode::parse(&text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        for content in contents("memo") {
            let with = match install_content(&content, Some(&text), &[]) {
                Err(Refusal::WrongType { .. }) => continue,
                with => with.unwrap_or_else(|error| panic!("{text:?}: {error}")).expect("it was not in it"),
            };
            n_written += 1;
            assert_eq!(install_content(&content, Some(&with.text), &with.pieces).unwrap(), None, "{text:?}");
            let left = uninstall_content(&content, &with.text, &with.pieces).unwrap();
            assert_eq!(left.as_deref(), Some(text.as_str()), "{with:?}");
            let left = uninstall_content(&content, &with.text, &[]).unwrap().expect("ours was in it");
            assert!(JsonNode::parse(&left).is_ok() && !left.contains("memo"), "{text:?} became {left:?}");
            assert_eq!(
                left.matches("c */").count(),
                text.matches("c */").count(),
                "{text:?} became {left:?}"
            );
        }
    }
    assert!(n_written > 3_000, "{n_written}");
}
