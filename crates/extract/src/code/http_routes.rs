//! Finds the HTTP routes that source code declares for common frameworks.
//!
//! Only a declaration with a literal path counts. Matches in comments and strings are dropped. Calls of HTTP clients look
//! alike, so the pattern of a call requires a receiver that is named like a server or router, or a handler after the path.

use std::sync::LazyLock;

use memod_base::types::HttpRoute;
use regex::{Captures, Regex};
use tree_sitter::Node;

use crate::chunks::cut_text::LineIndex;

/// Most routes that are listed of one file; a file with more holds data.
const MAX_ROUTES: usize = 500;
/// Longest path of a route, in characters.
const MAX_PATH_CHARS: usize = 200;

/// A rule that recognizes the declarations of routes in one or more frameworks.
struct RouteRule {
    /// Languages, separated by spaces.
    languages: &'static str,
    /// Ending of the paths of files that can declare a route this way; empty for all files.
    ending: &'static str,
    /// Regular expression that captures `path`, and `method` if the declaration names one.
    pattern: &'static str,
}

const JS: &str = "javascript typescript tsx";
const RULES: &[RouteRule] = &[
    // Flask, FastAPI, Sanic, Litestar
    RouteRule {
        languages: "python",
        ending: "",
        pattern: r#"(?m)^[ \t]*@[\w.]+\.(?:route|(?<method>get|post|put|patch|delete|head|options|websocket))\(\s*(?:\w+\s*=\s*)?["'](?<path>/[^"'\n]*)["']"#,
    },
    // Django
    RouteRule {
        languages: "python",
        ending: "urls.py",
        pattern: r#"(?m)^[ \t]*(?:re_)?path\(\s*r?["'](?<path>[^"'\n]*)["']\s*,"#,
    },
    // Express, Fastify, Koa, Hono
    RouteRule {
        languages: JS,
        ending: "",
        pattern: r#"\b(?:\w*[rR]outer|\w*[aA]pp|fastify|server)\.(?<method>get|post|put|patch|delete|head|options|all)\(\s*["'`](?<path>/[^"'`\n]*)["'`]\s*,"#,
    },
    // net/http, gorilla
    RouteRule {
        languages: "go",
        ending: "",
        pattern: r#"\b\w+\.Handle(?:Func)?\(\s*"(?:(?<method>GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) +)?(?<path>/[^"\n]*)"\s*,"#,
    },
    // chi, gin, echo, fiber
    RouteRule {
        languages: "go",
        ending: "",
        pattern: r#"\b(?:[reg]|v\d|api|\w*(?:[mM]ux|[rR]outer|[aA]pp|[gG]roup))\.(?<method>Get|Post|Put|Patch|Delete|GET|POST|PUT|PATCH|DELETE)\(\s*"(?<path>/[^"\n]*)"\s*,"#,
    },
    // axum, actix
    RouteRule {
        languages: "rust",
        ending: "",
        pattern: r#"\.route\(\s*"(?<path>/[^"\n]*)"\s*,(?:\s*(?:\w+::)*(?<method>get|post|put|patch|delete|head|options|any)(?:_service)?\()?"#,
    },
    // actix, Rocket
    RouteRule {
        languages: "rust",
        ending: "",
        pattern: r#"#\[(?:\w+::)*(?<method>get|post|put|patch|delete|head|options)\(\s*"(?<path>/[^"\n]*)""#,
    },
    // Spring
    RouteRule {
        languages: "java kotlin",
        ending: "",
        pattern: r#"@(?:Request|(?<method>Get|Post|Put|Patch|Delete))Mapping\(\s*(?:(?:value|path)\s*=\s*)?[\[{]?\s*"(?<path>[^"\n]*)""#,
    },
    // Ktor
    RouteRule {
        languages: "kotlin",
        ending: "",
        pattern: r#"(?m)^[ \t]*(?<method>get|post|put|patch|delete)\(\s*"(?<path>/[^"\n]*)"\s*\)\s*\{"#,
    },
    // ASP.NET
    RouteRule {
        languages: "c-sharp",
        ending: "",
        pattern: r#"\.Map(?<method>Get|Post|Put|Patch|Delete)\(\s*"(?<path>[^"\n]*)"\s*,"#,
    },
    RouteRule {
        languages: "c-sharp",
        ending: "",
        pattern: r#"\[(?:Route|Http(?<method>Get|Post|Put|Patch|Delete))\(\s*"(?<path>[^"\n]*)""#,
    },
    // Rails
    RouteRule {
        languages: "ruby",
        ending: "routes.rb",
        pattern: r#"(?m)^[ \t]*(?<method>get|post|put|patch|delete|match|resources|resource)[ (]\s*[:"'](?<path>[^"'\s,)]+)"#,
    },
    // Sinatra
    RouteRule {
        languages: "ruby",
        ending: "",
        pattern: r#"(?m)^[ \t]*(?<method>get|post|put|patch|delete)[ (]\s*["'](?<path>/[^"'\n]*)["']\)?\s+do\b"#,
    },
    // Laravel
    RouteRule {
        languages: "php",
        ending: "",
        pattern: r#"\bRoute::(?<method>get|post|put|patch|delete|any|resource|apiResource)\(\s*["'](?<path>[^"'\n]*)["']\s*,"#,
    },
    // Slim, Lumen
    RouteRule {
        languages: "php",
        ending: "",
        pattern: r#"\$(?:app|router|group)->(?<method>get|post|put|patch|delete|any)\(\s*["'](?<path>/[^"'\n]*)["']\s*,"#,
    },
    // Symfony
    RouteRule {
        languages: "php",
        ending: "",
        pattern: r#"#\[Route\(\s*(?:path:\s*)?["'](?<path>/[^"'\n]*)["']"#,
    },
    // Phoenix
    RouteRule {
        languages: "elixir",
        ending: "router.ex",
        pattern: r#"(?m)^[ \t]*(?<method>get|post|put|patch|delete|resources|live)[ (]\s*"(?<path>/[^"\n]*)"\s*,"#,
    },
];

static PATTERNS: LazyLock<Vec<(&RouteRule, Regex)>> = LazyLock::new(|| {
    RULES.iter().map(|rule| (rule, Regex::new(rule.pattern).expect("a test compiles each"))).collect()
});

/// Returns the routes that a source file declares, in the order of their lines. `root` is the root of the file's syntax tree.
pub(super) fn find_routes(
    language: &str,
    path: &str,
    text: &str,
    lines: &LineIndex,
    root: Node<'_>,
) -> Vec<HttpRoute> {
    let rules = PATTERNS.iter().filter(|(rule, _)| {
        rule.languages.split(' ').any(|known| known == language) && path.ends_with(rule.ending)
    });
    let found = rules.flat_map(|(_, pattern)| pattern.captures_iter(text));
    let mut routes: Vec<HttpRoute> = found.filter_map(|found| read_route(&found, lines, root)).collect();
    routes.sort_by(|left, right| (left.line, &left.path).cmp(&(right.line, &right.path)));
    routes.dedup_by(|later, first| (later.line, &later.path) == (first.line, &first.path));
    routes.truncate(MAX_ROUTES);
    routes
}

/// Returns the ending of a path that decides which routes are read of a file in this language.
pub(crate) fn find_route_ending(language: &str, path: &str) -> Option<&'static str> {
    let rules = RULES.iter().filter(|rule| rule.languages.split(' ').any(|known| known == language));
    rules.map(|rule| rule.ending).find(|ending| !ending.is_empty() && path.ends_with(ending))
}

fn read_route(found: &Captures<'_>, lines: &LineIndex, root: Node<'_>) -> Option<HttpRoute> {
    let whole = found.get(0)?;
    let start = whole.start() + (whole.len() - whole.as_str().trim_start().len());
    let path = found.name("path")?;
    let is_shown = path.as_str().chars().count() <= MAX_PATH_CHARS;
    let method = found.name("method").map_or(String::new(), |method| method.as_str().to_owned());
    let is_of_http =
        !matches!(method.as_str(), "resource" | "resources" | "apiResource" | "live" | "websocket");
    let method = if is_of_http { method.to_uppercase() } else { method };
    let line = lines.line_at(path.start());
    (is_shown && is_code(root, start)).then(|| HttpRoute { method, path: path.as_str().to_owned(), line })
}

/// Returns whether the byte `at` is outside comments and strings.
fn is_code(root: Node<'_>, at: usize) -> bool {
    let mut node = root.descendant_for_byte_range(at, at + 1);
    while let Some(inner) = node {
        if ["comment", "string", "heredoc"].iter().any(|prose| inner.kind().contains(prose)) {
            return false;
        }
        node = inner.parent();
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::extract;

    /// Checks the routes of a file, one on each line: line, method and path.
    fn check(path: &str, text: &str, expected: &[&str]) {
        let routes = extract(path, text).routes;
        let shown: Vec<String> =
            routes.iter().map(|route| format!("{} {} {}", route.line, route.method, route.path)).collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn decorators_and_annotations_are_routes() {
        let flask = "@bp.route(\"/login\", methods=[\"POST\"])\ndef login(): ...\n\n@app.get('/x/{id}')\ndef x(): ...\n";
        check("a.py", flask, &["1  /login", "4 GET /x/{id}"]);
        check("a.py", "def f():\n    \"\"\"\n    @app.get('/x')\n    \"\"\"\n# @app.get('/y')\n", &[]);
        check("a.py", "path('x', 1)\nclient.get('/x', 1)\n", &[]);
        check(
            "app/urls.py",
            "urlpatterns = [\n    path('users/<int:id>', view),\n]\n",
            &["2  users/<int:id>"],
        );
        check(
            "a.java",
            "@RestController\nclass A {\n  @GetMapping(\"/a\")\n  void a() {}\n}\n",
            &["3 GET /a"],
        );
        check("a.rs", "#[get(\"/a\")]\nasync fn a() {}\n", &["1 GET /a"]);
        check(
            "A.cs",
            "class A {\n  [HttpPost(\"a\")]\n  void F() { app.MapGet(\"/b\", f); }\n}\n",
            &["2 POST a", "3 GET /b"],
        );
        check("a.php", "<?php\n#[Route('/a')]\nfunction a() {}\n", &["2  /a"]);
    }

    #[test]
    fn calls_of_servers_are_routes() {
        let express = "app.get(\"/a\", (req, res) => 1);\nusersRouter.post(\n  '/b',\n  f\n);\n\
                       axios.get(\"/c\", {});\nconst s = 'app.get(\"/d\", f)';\n// app.get('/e', f)\n";
        check("a.js", express, &["1 GET /a", "3 POST /b"]);
        check("a.ts", "app.get('/a', f);\nconst x = app.get('/setting');\n", &["1 GET /a"]);
        let go = "package a\nfunc main() {\n\thttp.HandleFunc(\"/a\", f)\n\tmux.Handle(\"GET /b\", f)\n\tr.Get(\"/c\", f)\n\
                  \tclient.Get(\"/d\", f)\n}\n";
        check("a.go", go, &["3  /a", "4 GET /b", "5 GET /c"]);
        let axum = "fn f() {\n    Router::new()\n        .route(\"/a\", get(a).post(b))\n        .route(\"/b\", axum::routing::put(c))\n\
                    }\n/// .route(\"/c\", get(a))\nfn g() {}\n";
        check("a.rs", axum, &["3 GET /a", "4 PUT /b"]);
        check(
            "config/routes.rb",
            "Rails.application.routes.draw do\n  get 'a', to: 'a#b'\n  resources :users\nend\n",
            &["2 GET a", "3 resources users"],
        );
        check("a.rb", "get '/a' do\n  1\nend\nget '/b'\n", &["1 GET /a"]);
        check("web.php", "<?php\nRoute::get('/a', f);\n$app->post('/b', f);\n", &["2 GET /a", "3 POST /b"]);
        check("a.kt", "fun a() {\n  get(\"/a\") { call.respond(1) }\n}\n", &["2 GET /a"]);
        check("router.ex", "defmodule R do\n  get \"/a\", A, :b\nend\n", &["2 GET /a"]);
    }
}
