//! Settings files as people have them.

use super::fixture::{Form, Server};

/// Instruction files as people have them.
pub(super) const INSTRUCTIONS: &[Option<&str>] = &[
    None,
    Some(""),
    Some("# Rules\n\nUse tabs.\n"),
    Some("# Rules\n\nNo line feed at the end"),
    Some("\u{feff}# Rules\r\n\r\nCRLF and a BOM.\r\n"),
    Some("# Rules\n\n\n\n"),
    Some("\n"),
    Some("# Rules\n\nA carriage return at the end\r"),
    Some("# Rules\r\n\r\nAnother one\r"),
    Some("<!-- a comment -->\n```sh\n# memod: begin is only mentioned here\n```\n"),
    Some("# Règles\n\nAccents, 日本語, 🦀.\n"),
    Some("@shared.md\n\n<!-- BEGIN other tool -->\nx\n<!-- END other tool -->\n"),
];

/// Returns at least ten files that the agent could have; `None` is a missing one.
pub(super) fn samples(server: &Server) -> Vec<Option<String>> {
    let mut samples: Vec<Option<String>> = vec![None];
    let texts: &[&str] = match server.form {
        Form::Strict => &[PLAIN],
        Form::Comments => &[PLAIN, COMMENTED],
        Form::Toml => {
            samples.extend(TOML.split("=====\n").map(|text| Some(text.to_owned())));
            samples.extend(["", "\n"].map(|text| Some(text.to_owned())));
            samples.push(Some("model = \"x\"\r\n\r\n[mcp_servers.a]\r\ncommand = \"x\"\r\n".to_owned()));
            samples.push(Some("\u{feff}model = \"x\"".to_owned()));
            return samples;
        }
    };
    let texts = texts.iter().flat_map(|texts| texts.split("=====\n"));
    let named = texts.map(|text| text.replace("SERVERS", server.key));
    samples.extend(named.map(Some));
    let with_servers = format!("{{\n\t\"{}\": {{\n\t\t\"a\": {{}}\n\t}}\n}}", server.key);
    samples.extend([String::new(), "{}".to_owned(), "{ }\n\n".to_owned()].map(Some));
    samples.push(Some(with_servers.replace('\n', "\r\n")));
    samples.push(Some(format!("\u{feff}{with_servers}\n")));
    samples.push(Some(with_servers));
    samples
}

/// Valid for every parser of JSON.
const PLAIN: &str = r#"{
  "theme": "dark",
  "SERVERS": {
    "other": {
      "command": "npx",
      "args": ["-y", "other-server"],
      "env": { "KEY": "a \"quoted\" }{][ value" }
    }
  },
  "last": [1, 2.50, null, true]
}
=====
{"numStartups":12,"SERVERS":{},"projects":{"/a b":{"allowedTools":[],"SERVERS":{}}},"tips":{"x":1}}
=====
{
    "SERVERS":
    {
    },

    "hooks": {
        "SessionStart": [
            {
                "hooks": [
                    {"type": "command", "command": "echo started"}
                ]
            }
        ],
        "AfterTool": []
    }
}
=====
{
"$schema": "https://example.com/schema.json",
"é": "\u00e9 and 日本語"   ,
      "odd"   :{ "SERVERS" :[ ] }
  }
=====
{"SERVERS": {"one": {"command": "a"}, "two": {"command": "b"}}}"#;

/// With comments and commas at the end.
const COMMENTED: &str = r#"// Settings
//
// see the documentation
{
  "theme": { // by hand
    "mode": "system", /* or "dark" */
    "light": "One Light",
  },
  /* "SERVERS": { "old": {} }, */
  "last": [
    "a", // first
    "b",
  ],
}
// the end
=====
{ // everything
	"SERVERS": { // mine
		// "off": { "command": "x" },
		"on": { "command": "https://example.com/*not a comment*/" }, // "}"
	}, // done
}
=====
/* head */ { /* nothing yet */ }
=====
{
  // "SERVERS": {},
}
"#;

const TOML: &str = r#"# Codex
model = "gpt-5"   # the usual
approval_policy="on-request"

[mcp_servers.docs]
command = "npx"
args = [
  "-y", # yes
  "docs-server",
]

[mcp_servers.docs.env]
KEY = 'literal \ text'

[projects."/home/a b"]
trust_level = "trusted"
=====
[[hooks.SessionStart]]
matcher = "startup"

[[hooks.SessionStart.hooks]]
type = "command"
command = "echo"
=====
mcp_servers.a.command = "x"
model = "y"
=====
# only comments

# and nothing else
=====
notes = """
[mcp_servers.memod]
is only mentioned here
"""
[mcp_servers]
=====
[tui]
theme = "dark"


"#;
