//! Finds the prefixes below which the text of a file puts its routers, and the routers that it mounts.
//!
//! Pure: takes text. The forms of Hono, Express, Koa, Fastify, Flask, FastAPI, Django, Spring, ASP.NET, chi and gin are read. A
//! prefix counts if it is a literal or a name to which the same file assigns one.

use std::sync::LazyLock;

use regex::Regex;

/// What a mount puts below its prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MountedRouter {
    /// A name, such as `users` or `users.router`.
    Name(String),
    /// A module as written: `./users`, `shop.urls`.
    Module(String),
    /// The routes on these lines, 1-based, inclusive: those of a function in the call, or of a class.
    Lines(u32, u32),
}

/// A declaration that puts a router below a prefix of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterMount {
    /// The name of the router that takes the other one; `None` if it is the file.
    pub parent: Option<String>,
    /// What is mounted.
    pub child: MountedRouter,
    /// The prefix; `None` if the text does not show it.
    pub prefix: Option<String>,
    /// Whether the prefix replaces that of the router, as with blueprints of Flask.
    pub replaces: bool,
    /// Line of the call, 1-based.
    pub line: u32,
}

/// The routers of a file.
#[derive(Debug, Default)]
pub struct FileRouters {
    /// Names of routers with the prefix that their constructor gets; `None` if the text does not show the prefix.
    pub prefixes: Vec<(String, Option<String>)>,
    /// The routers that the file mounts below others.
    pub mounts: Vec<RouterMount>,
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a test compiles each")
}

static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?<name>\w+)(?:\s*:[^=\n]*?)?\s*:?=\s*(?:await\s+)?(?:new\s+)?(?<call>\w+(?:\.\w+)*)(?:<[^\n]*?>)?\(",
    )
});
static MOUNTING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?:\b(?<parent>\w+)|\))\s*\.(?<call>route|use|register|register_blueprint|include_router|mount|Route|Mount)\(",
    )
});
static INCLUDED: LazyLock<Regex> = LazyLock::new(|| compile(r"\b(?:re_)?path\("));
static OF_CLASS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r#"(?m)^(?<indent>[ \t]*)(?:@RequestMapping\(\s*(?:(?:value|path)\s*=\s*)?[\[{]?\s*|\[Route\(\s*)"(?<prefix>[^"\n]*)"[^\n]*\n(?:[ \t]*[@\[][^\n]*\n)*[^\n(;]*\b(?:class|interface)\s"#,
    )
});
static CLASS: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?m)^(?<indent>[ \t]*)(?:@|\[|(?:\w+[ \t]+)*(?:class|interface)[ \t])"));
static KEYWORD: LazyLock<Regex> =
    LazyLock::new(|| compile(r"\b(?:url_prefix\s*=|prefix\s*[=:])\s*(?<value>[^,})\s]+)"));
static RECEIVER: LazyLock<Regex> = LazyLock::new(|| compile(r"(?<name>\w+)\s*\.\s*\w+\(\s*(?:\w+\s*=\s*)?$"));
static MODULE: LazyLock<Regex> =
    LazyLock::new(|| compile(r#"^(?:await\s+)?(?:require|import)\(\s*["'`](?<module>[^"'`]+)["'`]"#));
static NAME: LazyLock<Regex> =
    LazyLock::new(|| compile(r"^(?<name>[A-Za-z_$][\w$]*(?:\.[\w$]+)*)(?:\([^()]*\))?$"));

/// Returns the routers of a file with the prefixes that its text shows.
pub fn read_routers(path: &str, text: &str) -> FileRouters {
    let mut found = FileRouters::default();
    let mut assigned: Vec<(usize, String)> = Vec::new();
    for of in ASSIGNED.captures_iter(text) {
        let (whole, name) = (of.get(0).expect("the whole match is there"), of["name"].to_owned());
        let Some((arguments, end)) = split_arguments(text, whole.end()) else { continue };
        assigned.push((whole.start(), name.clone()));
        let first = arguments.first().copied().unwrap_or_default();
        if let Some((parent, "basePath" | "Group" | "MapGroup")) = of["call"].rsplit_once('.') {
            found.mounts.push(RouterMount {
                parent: Some(parent.to_owned()),
                child: MountedRouter::Name(name),
                prefix: read_value(text, first),
                replaces: false,
                line: line_at(text, whole.start()),
            });
            continue;
        }
        let after = text[end..].trim_start();
        let based = after.strip_prefix(".basePath(").and_then(|rest| split_arguments(rest, 0));
        if let Some((arguments, _)) = based {
            let value = arguments.first().copied().unwrap_or_default();
            found.prefixes.push((name, read_value(text, value)));
        } else if let Some(value) = find_keyword(text, &arguments) {
            found.prefixes.push((name, value));
        }
    }
    for of in MOUNTING.captures_iter(text) {
        let whole = of.get(0).expect("the whole match is there");
        let Some((arguments, _)) = split_arguments(text, whole.end()) else { continue };
        let before = |(at, _): &&(usize, String)| *at < whole.start();
        let parent = of.name("parent").map(|name| name.as_str().to_owned());
        let parent = parent.or_else(|| assigned.iter().rfind(before).map(|(_, name)| name.clone()));
        let is_python = path.ends_with(".py");
        for (child, prefix, replaces) in read_mount(text, &of["call"], &arguments, is_python) {
            let line = line_at(text, whole.start());
            found.mounts.push(RouterMount { parent: parent.clone(), child, prefix, replaces, line });
        }
    }
    found.mounts.extend(read_includes(path, text));
    found.mounts.extend(read_classes(text));
    found
}

/// Returns the name of the router that declares the route whose path is on a line, 1-based: `bp` in `@bp.get("/x")`.
pub fn find_router<'l>(lines: &[&'l str], line: u32) -> Option<&'l str> {
    let at = (line as usize).checked_sub(1)?;
    let text = lines.get(at)?;
    let before = text.find(['"', '\'', '`']).map_or(*text, |quote| &text[..quote]);
    let read = |before: &'l str| RECEIVER.captures(before).and_then(|found| found.name("name"));
    let above = |back: usize| at.checked_sub(back).and_then(|at| lines.get(at)).copied();
    let found = read(before).or_else(|| (1..=2).filter_map(above).find_map(|line| read(line.trim_end())));
    found.map(|name| name.as_str())
}

/// Returns the routers that a call mounts, each with its prefix and whether that replaces the router's own.
fn read_mount(
    text: &str,
    call: &str,
    arguments: &[&str],
    is_python: bool,
) -> Vec<(MountedRouter, Option<String>, bool)> {
    let Some((first, rest)) = arguments.split_first() else { return Vec::new() };
    let read_child = |argument: &str| read_child(text, argument);
    match call {
        "register" | "register_blueprint" | "include_router" => {
            let keyword = find_keyword(text, rest);
            let replaces = call == "register_blueprint" && keyword.is_some();
            let prefix = keyword.unwrap_or(Some(String::new()));
            read_child(first).map(|child| (child, prefix, replaces)).into_iter().collect()
        }
        "route" if is_python || rest.len() != 1 => Vec::new(),
        // Express and Koa: the first argument may be a router.
        "use" if !is_path(text, first) => {
            let with_path = |argument: &&str| {
                let inside = argument.strip_prefix("mount(")?;
                let (inside, _) = split_arguments(inside, 0)?;
                Some((read_child(inside.get(1)?)?, read_value(text, inside[0]), false))
            };
            let plain = |argument: &&str| Some((read_child(argument)?, Some(String::new()), false));
            let found = arguments.iter().filter_map(|one| with_path(one).or_else(|| plain(one)));
            let found = found.filter(|(child, ..)| !matches!(child, MountedRouter::Lines(..)));
            // A name before a router may be a path that the text does not show.
            let is_path = !rest.is_empty() && !first.ends_with([')', '}']);
            found.map(|(child, prefix, _)| (child, prefix.filter(|_| !is_path), false)).collect()
        }
        _ => {
            let prefix = read_value(text, first);
            let children = rest.iter().filter_map(|argument| read_child(argument));
            let is_mounted =
                |child: &MountedRouter| call == "Route" || !matches!(child, MountedRouter::Lines(..));
            children.filter(is_mounted).map(|child| (child, prefix.clone(), false)).collect()
        }
    }
}

/// Returns whether an argument is a path: a literal, or a name to which the text assigns one.
fn is_path(text: &str, argument: &str) -> bool {
    read_value(text, argument).is_some()
}

fn read_child(text: &str, argument: &str) -> Option<MountedRouter> {
    if let Some(found) = MODULE.captures(argument) {
        return Some(MountedRouter::Module(found["module"].to_owned()));
    }
    if argument.contains("=>")
        || ["function", "async ", "func("].iter().any(|word| argument.starts_with(word))
    {
        // An argument is a part of the text.
        let start = argument.as_ptr() as usize - text.as_ptr() as usize;
        return Some(MountedRouter::Lines(line_at(text, start), line_at(text, start + argument.len())));
    }
    let name = NAME.captures(argument)?.name("name")?.as_str();
    let name = name.strip_suffix(".routes").unwrap_or(name);
    Some(MountedRouter::Name(name.to_owned()))
}

/// Returns the prefixes that files of Django include others below.
fn read_includes(path: &str, text: &str) -> Vec<RouterMount> {
    if !path.ends_with(".py") {
        return Vec::new();
    }
    let mounts = INCLUDED.find_iter(text).filter_map(|call| {
        let (arguments, _) = split_arguments(text, call.end())?;
        let inside = arguments.get(1)?.strip_prefix("include(")?;
        let (included, _) = split_arguments(inside, 0)?;
        let first = included.first()?.trim_start_matches(['(', '[']);
        let quoted = first.strip_prefix(['"', '\'']).and_then(|rest| rest.split(['"', '\'']).next());
        let child = match quoted {
            Some(module) => MountedRouter::Module(module.to_owned()),
            None => MountedRouter::Name(NAME.captures(first)?["name"].to_owned()),
        };
        let prefix = read_value(text, arguments[0].strip_prefix('r').unwrap_or(arguments[0]));
        Some(RouterMount { parent: None, child, prefix, replaces: false, line: line_at(text, call.start()) })
    });
    mounts.collect()
}

/// Returns the prefixes of classes. Each holds up to the next class that is indented as little.
fn read_classes(text: &str) -> Vec<RouterMount> {
    let classes = OF_CLASS.captures_iter(text).map(|of| {
        let (whole, indent) = (of.get(0).expect("the whole match is there"), of["indent"].len());
        let mut after = CLASS.captures_iter(&text[whole.end()..]);
        let next = after.find(|next| next["indent"].len() <= indent);
        let end = next.and_then(|next| next.get(0)).map_or(text.len(), |next| whole.end() + next.start());
        let line = line_at(text, whole.start());
        let child = MountedRouter::Lines(line + 1, line_at(text, end));
        RouterMount { parent: None, child, prefix: Some(of["prefix"].to_owned()), replaces: false, line }
    });
    classes.collect()
}

/// Returns the prefix among named arguments or options; `None` if there is none, `Some(None)` if the text does not show it.
fn find_keyword(text: &str, arguments: &[&str]) -> Option<Option<String>> {
    let found = arguments.iter().find_map(|argument| KEYWORD.captures(argument))?;
    Some(read_value(text, &found["value"]))
}

/// Returns the text that an expression is: a literal, or a name to which the file assigns one.
fn read_value(text: &str, expression: &str) -> Option<String> {
    let quote = expression.chars().next()?;
    if matches!(quote, '"' | '\'' | '`') {
        let inside = expression.strip_prefix(quote)?.strip_suffix(quote)?;
        return (!inside.contains(quote) && !inside.contains("${")).then(|| inside.to_owned());
    }
    if !expression.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let assigned = Regex::new(&format!(
        r#"(?m)^[ \t]*(?:export[ \t]+)?(?:(?:const|let|var|val)[ \t]+)?{expression}(?:[ \t]*:[ \t]*\w+)?[ \t]*:?=[ \t]*(?:"([^"\n]*)"|'([^'\n]*)')[ \t]*;?[ \t]*$"#
    ))
    .ok()?;
    let found = assigned.captures(text)?;
    found.get(1).or(found.get(2)).map(|value| value.as_str().to_owned())
}

/// Returns the arguments of a call without the spaces around them, and the byte after its parenthesis. `start` is the byte after the
/// opening one. `None` if the call does not end.
fn split_arguments(text: &str, start: usize) -> Option<(Vec<&str>, usize)> {
    let bytes = text.as_bytes();
    let (mut found, mut depth, mut from, mut at) = (Vec::new(), 0u32, start, start);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'' | b'`') => {
                let ends = |byte: &u8| *byte == quote || *byte == b'\n' && quote != b'`';
                at += 1 + bytes[at + 1..].iter().position(ends)?;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth > 0 => depth -= 1,
            byte @ (b',' | b')' | b']' | b'}') if depth == 0 => {
                let argument = text.get(from..at)?.trim();
                found.extend((!argument.is_empty()).then_some(argument));
                from = at + 1;
                if byte != b',' {
                    return Some((found, at + 1));
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the line of a byte, 1-based.
fn line_at(text: &str, at: usize) -> u32 {
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the prefixes and mounts of a file, one on each line.
    fn check(path: &str, text: &str, expected: &[&str]) {
        let found = read_routers(path, text);
        let shown = |prefix: &Option<String>| prefix.clone().unwrap_or_else(|| "?".to_owned());
        let mut lines: Vec<String> =
            found.prefixes.iter().map(|(name, prefix)| format!("{name} {}", shown(prefix))).collect();
        lines.extend(found.mounts.iter().map(|mount| {
            let parent = mount.parent.as_deref().unwrap_or("file");
            let child = match &mount.child {
                MountedRouter::Name(name) => name.clone(),
                MountedRouter::Module(module) => format!("'{module}'"),
                MountedRouter::Lines(first, last) => format!("{first}-{last}"),
            };
            let replaces = if mount.replaces { "=" } else { "" };
            format!("{parent} < {child} {replaces}{}", shown(&mount.prefix))
        }));
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn routers_of_javascript_are_read() {
        check("a.ts", "const app = new Hono<{ A: B }>().basePath('/api')\n", &["app /api"]);
        check(
            "a.ts",
            "const app = new Hono()\nconst v1 = app.basePath('/v1')\napp.route('/users', users)\n",
            &["app < v1 /v1", "app < users /users"],
        );
        check(
            "a.ts",
            "export const app = new Hono()\n  .route('/a', a)\n  .route(`/b`, b)\n",
            &["app < a /a", "app < b /b"],
        );
        check(
            "a.js",
            "const P = '/p'\napp.use(cors())\napp.use('/api', auth, router)\napp.use(P, require('./x'))\napp.use(PATH, y)\n",
            &[
                "app < cors ",
                "app < auth /api",
                "app < router /api",
                "app < './x' /p",
                "app < PATH ?",
                "app < y ?",
            ],
        );
        check(
            "a.js",
            "app.use(process.env.P, y)\napp.use(cors(), x)\napp.use(`/${z}`, y)\napp.use(x)\n",
            &["app < process.env.P ?", "app < y ?", "app < cors ", "app < x ", "app < y ?", "app < x "],
        );
        check(
            "a.js",
            "const router = new Router({ prefix: '/k' })\napp.use(mount('/m', sub)).use(router.routes())\n",
            &["router /k", "app < sub /m", "router < router "],
        );
        check(
            "a.js",
            "fastify.register(users, { prefix: '/u' })\nfastify.register(require('./x'))\nfastify.register(async (own) => {\n  \
             own.get('/it', f) // don't\n}, { prefix: prefix })\n",
            &["fastify < users /u", "fastify < './x' ", "fastify < 3-5 ?"],
        );
    }

    #[test]
    fn routers_of_python_are_read() {
        check(
            "a.py",
            "bp = Blueprint(\n    'x', __name__, url_prefix=\"/x\"\n)\napp.register_blueprint(bp, url_prefix='/y')\napp.register_blueprint(users.bp)\n",
            &["bp /x", "app < bp =/y", "app < users.bp "],
        );
        check(
            "a.py",
            "P = '/p'\nrouter = APIRouter(prefix=P)\napp.include_router(router, prefix=settings.X, tags=['a'])\n",
            &["router /p", "app < router ?"],
        );
        check(
            "urls.py",
            "urlpatterns = [\n    path('api/', include('shop.urls')),\n    path(\"v/\", include(router.urls)),\n    path('x', view),\n]\n",
            &["file < 'shop.urls' api/", "file < router.urls v/"],
        );
    }

    #[test]
    fn prefixes_of_classes_and_groups_are_read() {
        let spring = "@RestController\n@RequestMapping(\"/api\")\npublic class A {\n  @GetMapping(\"/x\")\n  void x() {}\n}\n\
                      @RequestMapping(path = \"/b\")\nclass B {\n}\n";
        check("A.java", spring, &["file < 3-7 /api", "file < 8-10 /b"]);
        check("A.java", "class A {\n  @RequestMapping(\"/x\")\n  void x() {}\n}\n", &[]);
        check("A.cs", "[ApiController]\n[Route(\"api/x\")]\npublic class A\n{\n}\n", &["file < 3-6 api/x"]);
        let go = "func f() {\n\tapi := r.Group(\"/api\")\n\tr.Route(\"/v1\", func(r chi.Router) {\n\t\tr.Get(\"/x\", x)\n\t})\n\tr.Mount(\"/m\", sub())\n}\n";
        check("a.go", go, &["r < api /api", "r < 3-5 /v1", "r < sub /m"]);
    }

    #[test]
    fn the_router_of_a_route_is_named() {
        let check = |text: &str, line: u32, expected: Option<&str>| {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(find_router(&lines, line), expected, "{text}");
        };
        check("@bp.route('/x')\ndef x(): ...\n", 1, Some("bp"));
        check("router.get(\n  '/x',\n  f)\n", 2, Some("router"));
        check("path('x', view)\n", 1, None);
        check("  @GetMapping(\"/x\")\n", 1, None);
        check("@users.router.get(path=\"/x\")\n", 1, Some("router"));
    }
}
