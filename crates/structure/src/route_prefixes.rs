//! Finds the prefixes below which the text of a file puts its routers, and the routers that it mounts.
//!
//! Pure: takes text. The forms of Hono, Express, Koa, Fastify, Flask, FastAPI, Django, Spring, ASP.NET, chi and gin are read. A
//! prefix counts if it is a literal or a name to which the same file assigns one.

mod source_text;

use std::sync::LazyLock;

use regex::Regex;

use self::source_text::{SourceText, split_arguments};

/// Longest arguments of a call that makes a router, in bytes.
const MOST_CONSTRUCTOR_BYTES: usize = 4 << 10;
/// Longest arguments of a call that mounts a router, in bytes: they may hold the function that declares all its routes.
const MOST_MOUNT_BYTES: usize = 64 << 10;
/// Maximum number of calls of a file that are read as mounts.
const MOST_MOUNTS: usize = 1_000;

/// The router that a file mounts, as the text writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MountedRouter {
    /// A name, such as `users` or `users.router`.
    Name(String),
    /// A module as written: `./users`, `shop.urls`.
    Module(String),
    /// The routes on these lines, 1-based, inclusive: those of a function in the call, or of a class.
    Lines(u32, u32),
}

impl MountedRouter {
    /// Returns whether this is a function or class with the line.
    pub fn holds_line(&self, line: u32) -> bool {
        matches!(self, Self::Lines(first, last) if (*first..=*last).contains(&line))
    }
}

/// A call or annotation that mounts a router below a prefix of another router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterMount {
    /// The name of the router that takes the other one; `None` if it is the file.
    pub parent: Option<String>,
    /// The mounted router.
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

fn compile_pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a test compiles each")
}

static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"\b(?<name>\w+)(?:\s*:[^=\n]*?)?\s*:?=\s*(?:await\s+)?(?:new\s+)?(?<call>\w+(?:\.\w+)*)(?:<[^\n]*?>)?\(",
    )
});
static MOUNTING: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?:\b(?<parent>\w+)|\))\s*\.(?<call>route|use|register|register_blueprint|include_router|mount|Route|Mount)\(",
    )
});
static INCLUDED: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"\b(?:re_)?path\("));
static OF_CLASS: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?m)^(?<indent>[ \t]*)(?:@RequestMapping\(\s*(?:(?:value|path)\s*=\s*)?[\[{]?\s*|\[Route\(\s*)"(?<prefix>[^"\n]*)"[^\n]*\n(?:[ \t]*[@\[][^\n]*\n)*[^\n(;]*\b(?:class|interface)\s"#,
    )
});
static CLASS: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(r"(?m)^(?<indent>[ \t]*)(?:@|\[|(?:\w+[ \t]+)*(?:class|interface)[ \t])")
});
static KEYWORD: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"\b(?:url_prefix\s*=|prefix\s*[=:])\s*(?<value>[^,})\s]+)"));
static RECEIVER: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"(?<name>\w+)\s*\.\s*\w+\(\s*(?:\w+\s*=\s*)?$"));
static MODULE: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r#"^(?:await\s+)?(?:require|import)\(\s*["'`](?<module>[^"'`]+)["'`]"#));
static NAME: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"^(?<name>[A-Za-z_$][\w$]*(?:\.[\w$]+)*)(?:\([^()]*\))?$"));

/// Returns the routers of a file with the prefixes that its text shows.
pub fn read_routers(path: &str, text: &str) -> FileRouters {
    let source = SourceText::new(text);
    let mut found = FileRouters::default();
    let mut assigned: Vec<(usize, String)> = Vec::new();
    for of in ASSIGNED.captures_iter(text) {
        let (whole, name) = (of.get(0).expect("the whole match is there"), of["name"].to_owned());
        let Some((arguments, end)) = split_arguments(text, whole.end(), MOST_CONSTRUCTOR_BYTES) else {
            continue;
        };
        assigned.push((whole.start(), name.clone()));
        let first = arguments.first().copied().unwrap_or_default();
        if let Some((parent, "basePath" | "Group" | "MapGroup")) = of["call"].rsplit_once('.') {
            found.mounts.push(RouterMount {
                parent: Some(parent.to_owned()),
                child: MountedRouter::Name(name),
                prefix: source.read_value(first),
                replaces: false,
                line: source.line_at(whole.start()),
            });
            continue;
        }
        let after = text[end..].trim_start();
        let based = after
            .strip_prefix(".basePath(")
            .and_then(|rest| split_arguments(rest, 0, MOST_CONSTRUCTOR_BYTES));
        if let Some((arguments, _)) = based {
            let value = arguments.first().copied().unwrap_or_default();
            found.prefixes.push((name, source.read_value(value)));
        } else if let Some(value) = find_keyword(&source, &arguments) {
            found.prefixes.push((name, value));
        }
    }
    for of in MOUNTING.captures_iter(text).take(MOST_MOUNTS) {
        let whole = of.get(0).expect("the whole match is there");
        let Some((arguments, _)) = split_arguments(text, whole.end(), MOST_MOUNT_BYTES) else { continue };
        let before = |(at, _): &&(usize, String)| *at < whole.start();
        let parent = of.name("parent").map(|name| name.as_str().to_owned());
        let parent = parent.or_else(|| assigned.iter().rfind(before).map(|(_, name)| name.clone()));
        let is_python = path.ends_with(".py");
        for MountedChild { router, prefix, replaces } in
            read_mount(&source, &of["call"], &arguments, is_python)
        {
            let line = source.line_at(whole.start());
            found.mounts.push(RouterMount { parent: parent.clone(), child: router, prefix, replaces, line });
        }
    }
    found.mounts.extend(read_includes(path, &source));
    found.mounts.extend(read_classes(&source));
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

/// A router in a call that mounts it.
struct MountedChild {
    router: MountedRouter,
    prefix: Option<String>,
    /// Whether the prefix replaces that of the router.
    replaces: bool,
}

impl MountedChild {
    fn below(prefix: Option<String>, router: MountedRouter) -> Self {
        Self { router, prefix, replaces: false }
    }
}

/// Returns the routers that a call mounts.
fn read_mount(source: &SourceText<'_>, call: &str, arguments: &[&str], is_python: bool) -> Vec<MountedChild> {
    let Some((first, rest)) = arguments.split_first() else { return Vec::new() };
    match call {
        "register" | "register_blueprint" | "include_router" => {
            let keyword = find_keyword(source, rest);
            let replaces = call == "register_blueprint" && keyword.is_some();
            let prefix = keyword.unwrap_or(Some(String::new()));
            let router = read_child(source, first);
            router.map(|router| MountedChild { router, prefix, replaces }).into_iter().collect()
        }
        "route" if is_python || rest.len() != 1 => Vec::new(),
        // Express and Koa: the first argument may be a router.
        "use" if source.read_value(first).is_none() => {
            let found = arguments.iter().filter_map(|argument| read_used_child(source, argument));
            let found = found.filter(|child| !matches!(child.router, MountedRouter::Lines(..)));
            // A name before a router may be a path that the text does not show.
            let may_be_path = !rest.is_empty() && !first.ends_with([')', '}']);
            found
                .map(|child| MountedChild { prefix: child.prefix.filter(|_| !may_be_path), ..child })
                .collect()
        }
        _ => {
            let prefix = source.read_value(first);
            let routers = rest.iter().filter_map(|argument| read_child(source, argument));
            routers
                .filter(|router| call == "Route" || !matches!(router, MountedRouter::Lines(..)))
                .map(|router| MountedChild::below(prefix.clone(), router))
                .collect()
        }
    }
}

/// Returns the router of an argument without a path before it: `router`, `mount('/api', router)`.
fn read_used_child(source: &SourceText<'_>, argument: &str) -> Option<MountedChild> {
    let inside = argument.strip_prefix("mount(");
    let inside = inside.and_then(|inside| split_arguments(inside, 0, MOST_CONSTRUCTOR_BYTES));
    if let Some(([path, router, ..], _)) = inside.as_ref().map(|(inside, end)| (&inside[..], end))
        && let Some(router) = read_child(source, router)
    {
        return Some(MountedChild::below(source.read_value(path), router));
    }
    read_child(source, argument).map(|router| MountedChild::below(Some(String::new()), router))
}

fn read_child(source: &SourceText<'_>, argument: &str) -> Option<MountedRouter> {
    if let Some(found) = MODULE.captures(argument) {
        return Some(MountedRouter::Module(found["module"].to_owned()));
    }
    if argument.contains("=>")
        || ["function", "async ", "func("].iter().any(|word| argument.starts_with(word))
    {
        // An argument is a part of the text.
        let start = argument.as_ptr() as usize - source.text.as_ptr() as usize;
        return Some(MountedRouter::Lines(source.line_at(start), source.line_at(start + argument.len())));
    }
    let name = NAME.captures(argument)?.name("name")?.as_str();
    let name = name.strip_suffix(".routes").unwrap_or(name);
    Some(MountedRouter::Name(name.to_owned()))
}

/// Returns the prefixes that files of Django include others below.
fn read_includes(path: &str, source: &SourceText<'_>) -> Vec<RouterMount> {
    let text = source.text;
    if !path.ends_with(".py") {
        return Vec::new();
    }
    let mounts = INCLUDED.find_iter(text).take(MOST_MOUNTS).filter_map(|call| {
        let (arguments, _) = split_arguments(text, call.end(), MOST_CONSTRUCTOR_BYTES)?;
        let inside = arguments.get(1)?.strip_prefix("include(")?;
        let (included, _) = split_arguments(inside, 0, MOST_CONSTRUCTOR_BYTES)?;
        let first = included.first()?.trim_start_matches(['(', '[']);
        let quoted = first.strip_prefix(['"', '\'']).and_then(|rest| rest.split(['"', '\'']).next());
        let child = match quoted {
            Some(module) => MountedRouter::Module(module.to_owned()),
            None => MountedRouter::Name(NAME.captures(first)?["name"].to_owned()),
        };
        let prefix = source.read_value(arguments[0].strip_prefix('r').unwrap_or(arguments[0]));
        Some(RouterMount { parent: None, child, prefix, replaces: false, line: source.line_at(call.start()) })
    });
    mounts.collect()
}

/// Returns the prefixes of classes. Each holds up to the next class that is indented as little.
fn read_classes(source: &SourceText<'_>) -> Vec<RouterMount> {
    let text = source.text;
    let classes = OF_CLASS.captures_iter(text).map(|of| {
        let (whole, indent) = (of.get(0).expect("the whole match is there"), of["indent"].len());
        let mut after = CLASS.captures_iter(&text[whole.end()..]);
        let next = after.find(|next| next["indent"].len() <= indent);
        let end = next.and_then(|next| next.get(0)).map_or(text.len(), |next| whole.end() + next.start());
        let line = source.line_at(whole.start());
        let child = MountedRouter::Lines(line + 1, source.line_at(end));
        RouterMount { parent: None, child, prefix: Some(of["prefix"].to_owned()), replaces: false, line }
    });
    classes.collect()
}

/// Returns the prefix among named arguments or options; `None` if there is none, `Some(None)` if the text does not show it.
fn find_keyword(source: &SourceText<'_>, arguments: &[&str]) -> Option<Option<String>> {
    let found = arguments.iter().find_map(|argument| KEYWORD.captures(argument))?;
    Some(source.read_value(&found["value"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the prefixes and mounts of a file, one on each line.
    fn check_routers(path: &str, text: &str, expected: &[&str]) {
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
        check_routers("a.ts", "const app = new Hono<{ A: B }>().basePath('/api')\n", &["app /api"]);
        check_routers(
            "a.ts",
            "const app = new Hono()\nconst v1 = app.basePath('/v1')\napp.route('/users', users)\n",
            &["app < v1 /v1", "app < users /users"],
        );
        check_routers(
            "a.ts",
            "export const app = new Hono()\n  .route('/a', a)\n  .route(`/b`, b)\n",
            &["app < a /a", "app < b /b"],
        );
        check_routers(
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
        check_routers(
            "a.js",
            "app.use(process.env.P, y)\napp.use(cors(), x)\napp.use(`/${z}`, y)\napp.use(x)\n",
            &["app < process.env.P ?", "app < y ?", "app < cors ", "app < x ", "app < y ?", "app < x "],
        );
        check_routers(
            "a.js",
            "const router = new Router({ prefix: '/k' })\napp.use(mount('/m', sub)).use(router.routes())\n",
            &["router /k", "app < sub /m", "router < router "],
        );
        check_routers(
            "a.js",
            "fastify.register(users, { prefix: '/u' })\nfastify.register(require('./x'))\nfastify.register(async (own) => {\n  \
             own.get('/it', f) // don't\n}, { prefix: prefix })\n",
            &["fastify < users /u", "fastify < './x' ", "fastify < 3-5 ?"],
        );
    }

    #[test]
    fn routers_of_python_are_read() {
        check_routers(
            "a.py",
            "bp = Blueprint(\n    'x', __name__, url_prefix=\"/x\"\n)\napp.register_blueprint(bp, url_prefix='/y')\napp.register_blueprint(users.bp)\n",
            &["bp /x", "app < bp =/y", "app < users.bp "],
        );
        check_routers(
            "a.py",
            "P = '/p'\nrouter = APIRouter(prefix=P)\napp.include_router(router, prefix=settings.X, tags=['a'])\n",
            &["router /p", "app < router ?"],
        );
        check_routers(
            "urls.py",
            "urlpatterns = [\n    path('api/', include('shop.urls')),\n    path(\"v/\", include(router.urls)),\n    path('x', view),\n]\n",
            &["file < 'shop.urls' api/", "file < router.urls v/"],
        );
    }

    #[test]
    fn prefixes_of_classes_and_groups_are_read() {
        let spring = "@RestController\n@RequestMapping(\"/api\")\npublic class A {\n  @GetMapping(\"/x\")\n  void x() {}\n}\n\
                      @RequestMapping(path = \"/b\")\nclass B {\n}\n";
        check_routers("A.java", spring, &["file < 3-7 /api", "file < 8-10 /b"]);
        check_routers("A.java", "class A {\n  @RequestMapping(\"/x\")\n  void x() {}\n}\n", &[]);
        check_routers(
            "A.cs",
            "[ApiController]\n[Route(\"api/x\")]\npublic class A\n{\n}\n",
            &["file < 3-6 api/x"],
        );
        let go = "func f() {\n\tapi := r.Group(\"/api\")\n\tr.Route(\"/v1\", func(r chi.Router) {\n\t\tr.Get(\"/x\", x)\n\t})\n\tr.Mount(\"/m\", sub())\n}\n";
        check_routers("a.go", go, &["r < api /api", "r < 3-5 /v1", "r < sub /m"]);
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

    /// Calls that are nested or repeated without end are read in time that grows with the text alone.
    #[test]
    fn hostile_texts_are_read_as_far_as_the_limits() {
        for text in ["a=f(", "a=f(b)\n", "r.Mount(p, sub())\n", "bp = B(url_prefix=P)\n", "a.use(", "path('"]
        {
            let found = read_routers("a.ts", &text.repeat(20_000));
            assert!(found.mounts.len() <= MOST_MOUNTS, "{text}: {}", found.mounts.len());
        }
        let long = format!("app.register(f(\n{}))\n", "x,".repeat(MOST_MOUNT_BYTES));
        assert_eq!(read_routers("a.ts", &long).mounts, []);
        check_routers("a.ts", "app.use(x)\n", &["app < x "]);
    }
}
