//! Do verbs work at a prompt and from a script, and do shells complete what is there?

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use crate::live::{Live, not_checked};
use crate::terminal::Terminal;

/// Returns `memo ARGS` that reads `input`.
fn fed(mut command: Command, input: &str) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn lines_of_a_script_are_obeyed() {
    let live = Live::new();
    let check = |args: &[&str], input: &str, code: i32, out: &str, err: &str| {
        let output = fed(live.memo(args), input);
        let shown = (output.status.code(), text(&output.stdout), text(&output.stderr));
        assert_eq!(shown.0, Some(code), "{input}: {shown:?}");
        assert!(shown.1.contains(out) && shown.2.contains(err), "{input}: {shown:?}");
    };
    check(
        &["shell"],
        "# a comment\n\nadd --tag zoo 'a zebra | \"striped\"'\nlist --fields content",
        0,
        "\na zebra | \"striped\"\n",
        "",
    );
    // What fails is said, and the next line is obeyed; a script notices all the same.
    check(&["shell"], "lits\ntags\n", 2, "1  zoo\n", "\"lits\" is no verb");
    check(&["shell"], "list --tag none\ntags\n", 1, "1  zoo\n", "no such memories");
    check(&["shell"], "tags 'x\ntags\n", 2, "1  zoo\n", "a quote is not closed");
    check(&["shell"], "shell\n", 2, "", "this is the shell");
    check(&["shell"], "add x --priority 11\n", 2, "", "hint: `memo add --help` lists the arguments");
    check(&["shell"], "exit\nlits\n", 0, "", "");
    check(&["shell"], "tags --help\nhelp\n", 0, "Count memories by tag", "");
    check(&["shell"], "help --all\n", 0, "  completions  ", "");
    check(&["shell"], "help tag\n", 0, "Usage: memo tag", "");
    check(
        &["shell", "--json"],
        "tags\nlits\n",
        2,
        "{\"names\":[{\"name\":\"zoo\",\"memories\":1}],\"fresh\":true}\n{\"error\":",
        "",
    );
    // `-` takes what is left.
    check(&["shell"], "add -\none\ntags\n", 0, "mem_", "");
    check(&["list"], "", 0, "one\n", "");
    assert!(!live.layout().state_dir.join("shell_history").exists(), "a script leaves no history");
}

/// What rustyline writes when it waits for a line.
const PROMPT: &str = "memo> \r\u{1b}[6C\u{1b}[?2026l";

#[test]
fn a_terminal_has_a_prompt_history_and_completion() {
    let live = Live::new();
    assert!(live.memo(&["add", "--tag", "zoological", "a zebra"]).output().unwrap().status.success());
    let mut terminal = match Terminal::open(&live, "shell") {
        Ok(terminal) => terminal,
        Err(error) => return not_checked(&format!("memo shell at a terminal: script: {error}")),
    };
    // Each word is completed with its space, so the next one can follow at once.
    terminal.after(PROMPT, "lis\t--ta\tzool\t");
    terminal.after("list --tag zoological ", "\n");
    terminal.after("a zebra", "");
    terminal.after(PROMPT, "sea\t\u{3}");
    terminal.after("search ", "");
    terminal.after(PROMPT, "nonsense\n");
    terminal.after("is no verb", "");
    terminal.after(PROMPT, "add 'for nobody else'\n");
    terminal.after("mem_", "");
    terminal.after(PROMPT, "given up\u{3}");
    terminal.after(PROMPT, " tags\n");
    terminal.after("zoological", "");
    terminal.after(PROMPT, "\u{4}");
    assert_eq!(terminal.end(), Some(0), "the end is no failure");
    let file = live.layout().state_dir.join("shell_history");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "list --tag zoological\n");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // What was typed in one shell is offered in the next.
    let mut terminal = Terminal::open(&live, "shell").unwrap();
    terminal.after(PROMPT, "\u{1b}[A");
    terminal.after("list --tag zoological", "\n");
    terminal.after("a zebra", "");
    terminal.after(PROMPT, "exit\n");
    assert_eq!(terminal.end(), Some(0));
}

/// Completes in a real shell what is typed after `memo `; returns the candidates.
fn completed(live: &Live, shell: &str, words: &[&str]) -> Option<Vec<String>> {
    let script = text(&live.memo(&["completions", shell]).output().unwrap().stdout);
    let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    let (quoted, last) = (quoted.join(" "), words.last().unwrap());
    let (args, script) = match shell {
        "bash" => (
            vec!["--norc", "-c"],
            format!(
                "compopt() {{ :; }}\n{script}\nCOMP_WORDS=(memo {quoted}); COMP_CWORD={}; COMP_TYPE=9\n\
                 _clap_complete_memo memo '{last}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
                words.len()
            ),
        ),
        "zsh" => (
            vec!["-fc"],
            format!(
                "compdef() {{ :; }}\n_describe() {{ local end= all=(\"${{(@P)3}}\"); [[ $4 == -S ]] && end=/; print -l -- \"${{(@)^all}}$end\"; }}\n{script}\n\
                 words=(memo {quoted}); CURRENT={}; _clap_dynamic_completer_memo",
                words.len() + 1
            ),
        ),
        _ => (vec!["--no-config", "-c"], format!("{script}\ncomplete -C 'memo {}'", words.join(" "))),
    };
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_memo")).parent().unwrap();
    let mut command = live.sandbox.program(shell, &[args.as_slice(), &[script.as_str()]].concat());
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
    let output = command.output().ok()?;
    assert_eq!(text(&output.stderr), "", "{shell}: a completion says nothing");
    let lines = text(&output.stdout);
    Some(lines.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

#[test]
fn shells_complete_what_is_there() {
    let live = Live::new();
    for path in ["docs/guide.md", "src/alpha.rs", "src/deep/beta.rs", "src/$(touch owned).rs"] {
        live.write(path, "fn alpha() {}");
    }
    live.listed();
    let id =
        text(&live.memo(&["add", "-t", "zoo,zebra", "-c", "animals", "striped"]).output().unwrap().stdout);
    assert!(live.memo(&["tag", id.trim(), "$(touch owned)", "a;b"]).output().unwrap().status.success());
    for shell in ["bash", "zsh", "fish"] {
        let check = |words: &[&str], expected: &[&str]| {
            let Some(found) = completed(&live, shell, words) else { return false };
            let is_word = |line: &str, word: &str| {
                line == word
                    || line.starts_with(&format!("{word}\t"))
                    || line.starts_with(&format!("{word}:"))
            };
            let all = found.len() == expected.len()
                && expected.iter().all(|word| found.iter().any(|line| is_word(line, word)));
            assert!(all, "{shell} {words:?}: {found:?}");
            true
        };
        if !check(&["hist"], &["history"]) {
            not_checked(&format!("completion in {shell}: it is not installed"));
            continue;
        }
        check(&["get", "mem_"], &[id.trim()]);
        check(&["list", "--tag", "z"], &["zebra", "zoo"]);
        check(&["list", "--container", "an"], &["animals"]);
        check(&["list", "--format", "toon"], &["toon", "toon-compact"]);
        check(&["model", "use", "minilm"], &["minilm-l12", "minilm-l6"]);
        check(&["history", id.trim().get(..20).unwrap()], &[id.trim()]);
        // Paths from where the caller is, one level at a time; nothing that a shell would run.
        check(&["search", "alpha", "--path", "s"], &["src/"]);
        check(&["map", "src/"], &["src/alpha.rs", "src/deep/"]);
        check(&["why", "./docs/g"], &["./docs/guide.md"]);
        check(&["-C", "src", "show", "../do"], &["../docs/"]);
        check(&["-C", "src", "show", "d"], &["deep/"]);
        check(&["show", "../"], &[]);
        check(&["search", "--lang", "r"], &["rust"]);
        check(&["search", "--only", "test,sn"], &["test,snapshot"]);
        check(&["search", "--kind", "sy"], &["symbol"]);
        check(&["list", "--fields", "id,conf"], &["id,confidence"]);
        check(&["config", "get", "search.l"], &["search.limit"]);
        check(&["man", "sea"], &["search"]);
        // Nobody's tag becomes a command of the shell's; `$` fish completes itself.
        assert!(shell == "fish" || check(&["list", "--tag", "$"], &[]));
        check(&["list", "--tag", "a"], &[]);
    }
    assert!(!live.root().join("owned").exists());
}

#[test]
fn a_completion_starts_no_daemon_and_is_silent() {
    let live = Live::idle();
    let nowhere = &["-C", "/nowhere", "get", "mem_"];
    for words in [&["get", "mem_"][..], &["list", "--tag", "z"], &["map", "s"], nowhere] {
        let mut command = live.memo(&[&["--", "memo"], words].concat());
        command.env("MEMO_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", words.len().to_string());
        let output = command.output().unwrap();
        assert_eq!((text(&output.stdout).as_str(), text(&output.stderr).as_str()), ("", ""), "{words:?}");
    }
    assert!(!live.sandbox.path("work/.git/memo/endpoint").exists(), "no daemon ran");
}
