//! Is each of the commonest typing mistakes told in one line, with what to do in another?

use crate::live::{Live, memo};

/// What is typed, the exit status, and what the two lines contain.
type Case = (&'static str, i32, &'static str, &'static str);

const CASES: &[Case] = &[
    // Directories.
    ("-C ../none search x", 2, "open ../none: No such file", "name an existing directory with -C"),
    ("-C ../home search x", 2, "too large to index", "name a smaller directory"),
    ("-C ../plain search x", 2, "not in a git repository, and not indexed", "`memo init` indexes"),
    ("-C a.rs search x", 2, "not a directory", "name the directory around it"),
    // Verbs.
    (
        "serach x",
        2,
        "\"serach x\" is no verb",
        "did you mean memo search x? to find the words: memo search \"serach x\"",
    ),
    ("serach", 2, "is no verb", "did you mean memo search?"),
    ("install", 2, "is no verb", "memo init sets up this repository, memo setup the agents"),
    ("graph a", 2, "is no verb", "memo callers NAME and memo callees NAME who calls whom"),
    ("rm mem_1", 1, "no memory begins with mem_1", "`memo list` shows the ids"),
    ("search -C 2 x", 2, "open 2: No such file", "`--context 2` prints 2 lines around"),
    ("search", 2, "`memo search` needs <QUERY>", "for example: memo search"),
    ("search -n 3 ", 2, "query: empty", "or only filters: then every match is listed"),
    ("list --limit 0", 2, "0 is not in 1..=1000", "`memo list --help` lists"),
    ("hooks instal", 2, "unrecognized subcommand 'instal'", "did you mean memo hooks install?"),
    ("hooks x", 2, "unrecognized subcommand 'x'", "there are: install, uninstall, status, agent"),
    ("status add", 2, "unexpected argument 'add'", "one command at a time: `memo status`, then `memo add`"),
    ("stop now", 2, "unexpected argument 'now'", "usage: memo daemon stop"),
    // Arguments.
    ("show", 2, "`memo show` needs <PATH", "for example: memo show src/session.rs#"),
    ("config get", 2, "`memo config get` needs <KEY>", "usage: memo config get <KEY>"),
    ("search --limit", 2, "a value is required for '--limit <N>'", "`memo search --help`"),
    // Flags.
    (
        "list --focus a",
        2,
        "unexpected argument '--focus'",
        "--focus is a flag of memo map; `memo list --help`",
    ),
    ("explain -l x", 2, "unexpected argument '-l'", "-l is a flag of memo search"),
    ("explain --files x", 2, "unexpected argument '--files'", "--files is a flag of memo search"),
    ("map --limt 3", 2, "unexpected argument '--limt'", "`memo map --help` lists its arguments"),
    ("search --limt 3 x", 2, "unexpected argument '--limt'", "did you mean --limit?"),
    (
        "search --mode keywrd x",
        2,
        "invalid value 'keywrd'",
        "did you mean keyword? there are: keyword, vector",
    ),
    ("search --full --files x", 2, "'--full' cannot be used with '--files'", "leave one of them out"),
    ("search -n 999 x", 2, "999 is not in 1..=200", "`memo search --help`"),
    ("add --priority 11 x", 2, "11 is not between 1 and 10", "--help"),
    ("list --fields nope", 2, "memories have no field \"nope\"", "there are: id, title, content"),
    // Values.
    ("search --path src/[ x", 2, "path: src/[: unclosed", "a glob is 'src/**/*.rs'"),
    ("search --path ../../x y", 2, "../../x: outside the worktree", "name paths of this worktree"),
    ("list --since 20x", 2, "\"20x\" is not a time", "write a duration (3d, 2h30m)"),
    ("changed 2026-13-45", 2, "2026-13-45: there is no such date", "write YEAR-MONTH-DAY, as in 2026-11-01"),
    ("changed nothing", 2, "nothing: no branch, tag or commit", "`git branch -a`"),
    ("get mem_zzz", 1, "no memory begins with mem_ZZZ", "`memo list` shows the ids"),
    ("config set search.limt 3", 2, "unknown key search.limt", "did you mean search.limit?"),
    ("config get nope", 2, "unknown key nope", "`memo config template` shows every key"),
    ("config set search.limit x", 2, "expected a whole number from 1 to 200", "`memo config template`"),
    ("model use nope", 2, "no model nope is installed", "`memo model list` shows the installed models"),
    // Paths.
    ("show ../../../etc/passwd", 2, "outside the worktree", "name paths of this worktree"),
    ("why /etc/passwd", 2, "outside the worktree", "name paths of this worktree"),
    ("map /etc", 2, "outside the worktree", "name paths of this worktree"),
    ("add --about nothing.rs x", 2, "nothing.rs: no indexed file", "paths start at the current directory"),
    ("show nothing.rs", 1, "nothing.rs: no indexed file", "`memo search` finds"),
];

#[test]
fn a_mistake_is_told_in_a_line_and_changes_nothing() {
    let live = Live::idle();
    live.write("a.rs", "pub fn alpha() {}\n");
    live.commit_all();
    std::fs::create_dir(live.sandbox.path("plain")).unwrap();
    for text in ["alpha is first", "beta is second"] {
        assert_eq!(memo(&live, &["add", text]).0, 0);
    }
    let all = || {
        let (_, memories) = memo(&live, &["list"]);
        (memories["memories"].to_string(), live.git(&["status", "--porcelain"]), memo(&live, &["config"]).1)
    };
    let before = all();
    let mut wrong = Vec::new();
    for (line, exit, what, hint) in CASES {
        let args: Vec<&str> = line.split(' ').collect();
        let shown = live.sandbox.show(&mut live.memo(&args));
        let lines: Vec<&str> = shown.lines().collect();
        let is_told = match lines[..] {
            [first, told, todo] => {
                first == format!("exit {exit}")
                    && told.starts_with("err: memo: ")
                    && told.contains(what)
                    && todo.starts_with("err: hint: ")
                    && todo.contains(hint)
            }
            _ => false,
        };
        if !is_told {
            wrong.push(format!("memo {line}\n{shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(all(), before);
    // What an ambiguous id can mean has a line each.
    let shown = live.sandbox.show(&mut live.memo(&["get", "mem_01"]));
    assert!(shown.starts_with("exit 2\nerr: memo: id: 2 ids begin with mem_01:\nerr:   mem_01"), "{shown}");
}
