//! Is a file that git converts ever said to be changed when it is not?

use serde_json::{Value, json};

use crate::live::Live;

/// Commits a file for each way in which git converts contents, and one that it stores as it is.
const FILES: &str = r#"
git config filter.rot.clean 'tr a-z n-za-m'; git config filter.rot.smudge 'tr a-z n-za-m'
git config filter.lfs.clean 'sha() { sha256sum | cut -d" " -f1; }; f=$(mktemp); cat > $f; printf "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %s\n" $(sha < $f) $(wc -c < $f); rm $f'
git config filter.lfs.smudge 'cat'
cat > .gitattributes <<'END'
[attr]large filter=lfs -text
*.f filter=rot
*.big large
*.u text working-tree-encoding=UTF-16LE
*.id ident
END
echo 'hello filters' > x.f; echo 'many bytes' > x.big; echo plain > plain.md
printf 'h\0i\0\n\0' > x.u; printf 'one\n$Id$\nthree\n' > x.id
git add -A; git commit -q -m first; rm x.id; git checkout -q x.id
"#;

fn changed(live: &Live) -> (Vec<String>, Value) {
    let answer = live.connect().call("changed", &json!({ "cwd": live.root() })).unwrap();
    let files = answer["files"].as_array().unwrap().iter();
    let files = files.map(|file| format!("{} {}", file["status"], file["path"]).replace('"', ""));
    (files.collect(), answer)
}

/// Checks that `memo changed` lists what `git diff` does since a commit, and the new files.
pub(crate) fn as_git(live: &Live, since: &str, what: &str) -> Vec<String> {
    let answer = live.connect().call("changed", &json!({ "cwd": live.root(), "since": since })).unwrap();
    let letter = |file: &Value| file["status"].as_str().unwrap()[..1].to_uppercase();
    let files = answer["files"].as_array().unwrap().iter();
    let files: Vec<String> =
        files.map(|file| format!("{} {}", letter(file), file["path"].as_str().unwrap())).collect();
    // A copy of git's index is looked at, because that updates it; of a repository in a directory git shows the directory.
    let script = format!(
        "cp -p .git/index .git/copy; export GIT_INDEX_FILE=.git/copy
        git diff --no-renames --name-status {since} | grep -v ^U || true
        git ls-files -o --exclude-standard | grep -v '/$' | sed 's/^/A\t/'"
    );
    let shown = live.sh(&script).replace('\t', " ").replace("T ", "M ").replace("D ", "R ");
    let mut expected: Vec<String> = shown.lines().map(str::to_owned).collect();
    expected.sort_by(|a, b| a[2..].cmp(&b[2..]));
    assert_eq!(files, expected, "{what}: {answer}");
    assert_eq!((&answer["fresh"], &answer["complete"]), (&json!(true), &json!(true)), "{what}: {answer}");
    files
}

#[test]
fn settings_and_attributes_outside_the_index_are_looked_at_anew() {
    let live = Live::new();
    live.sh(r"echo x > p.txt; printf '$Id$\n' > i.c; mkdir sub; printf '$Id$\n' > sub/i.c; git add -A; git commit -q -m first");
    let check = |script: &str, n_changed: usize| {
        live.sh(script);
        assert_eq!(as_git(&live, "HEAD", script).len(), n_changed, "{script}");
    };
    check("git config core.fileMode false; chmod +x p.txt", 0);
    check("git config core.fileMode true", 1);
    check("git config core.fileMode false", 0);
    check("git config --unset core.fileMode; git config include.path more", 1);
    check(r"printf '[core]\nfileMode = false\n' > .git/more", 0);
    check("rm .git/more", 1);
    check("chmod -x p.txt", 0);
    check(r"printf '$Id: 1234 $\n' | tee i.c > sub/i.c", 2);
    check("mkdir -p .git/info; echo '*.c ident' > .git/info/attributes", 0);
    check("rm .git/info/attributes", 2);
    check("echo '*.c ident' > .git/rules; git config core.attributesFile .git/rules", 0);
    check("echo '/*.c ident' > .git/rules", 1);
    check("git config --unset core.attributesFile", 2);
    check("echo .gitattributes > .git/info/exclude; echo '*.c ident' > sub/.gitattributes", 1);
    check("mv sub/.gitattributes .", 0);
    check("rm .gitattributes", 2);
}

#[test]
fn attributes_that_only_the_index_has_apply() {
    let live = Live::new();
    live.sh(
        r"echo 'src/* ident' > .gitattributes; mkdir src; printf '$Id$\n' > src/id.c; git add -A; git commit -q -m first
        rm src/id.c; git checkout -q src/id.c; git sparse-checkout set --no-cone 'src/*' 2> /dev/null; touch src/id.c",
    );
    assert!(live.sh("cat src/id.c; ls -a").contains("$Id: "), "git has expanded it");
    assert!(!live.root().join(".gitattributes").exists());
    assert_eq!(as_git(&live, "HEAD", "a sparse checkout").len(), 0);
    let why = live.connect().call("why", &json!({ "cwd": live.root(), "target": "src/id.c:1" })).unwrap();
    assert!(why["uncommitted"].as_array().is_none_or(Vec::is_empty), "{why}");
    live.sh("git sparse-checkout disable; rm .gitattributes; touch src/id.c");
    assert_eq!(as_git(&live, "HEAD", "deleted").len(), 1);
    live.sh("echo 'src/* -ident' > rules; ln -s rules .gitattributes; touch src/id.c");
    assert_eq!(as_git(&live, "HEAD", "git does not follow a link").len(), 2);
}

#[test]
fn a_filter_without_a_program_converts_nothing() {
    let live = Live::new();
    live.sh("echo '*.x filter=none' > .gitattributes; echo one > a.x; git add -A; git commit -q -m first; touch a.x");
    assert_eq!(as_git(&live, "HEAD", "as it was").len(), 0);
    let why = |target: &str| live.connect().call("why", &json!({ "cwd": live.root(), "target": target }));
    assert_eq!(why("a.x:1").unwrap()["commits"][0]["subject"], "first");
    live.sh("echo two > a.x");
    assert_eq!(as_git(&live, "HEAD", "another text").len(), 1);
    live.sh("git config filter.none.smudge cat; git config filter.none.clean ''");
    assert_eq!(as_git(&live, "HEAD", "no program to store it").len(), 1);
    live.sh("git config filter.none.clean 'tr a-z b-za'");
    let (files, answer) = changed(&live);
    assert_eq!((files.len(), &answer["complete"]), (0, &json!(false)), "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains("a.x: not compared: a filter of git"), "{answer}");
    let pointer =
        r#"printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 1\n' 1 > big.bin"#;
    live.sh(&format!(
        "{pointer}; echo 'big.bin filter=lfs' >> .gitattributes; git add -A; git commit -q -m second; touch big.bin
        git config filter.lfs.clean 'git-lfs clean -- %f'"
    ));
    assert_eq!(why("big.bin:1").unwrap()["commits"][0]["subject"], "second", "a pointer is stored as it is");
}

#[test]
fn encodings_are_decoded_as_by_git_or_not_at_all() {
    let live = Live::new();
    let write = |sign: &str| {
        format!(
            r"printf '\377\376{sign}\0\n\0' > marked.a; printf '\376\377\0{sign}\0\n' > big.a; printf '{sign}\0\n\0' > little.b
            printf '\0{sign}\0\n' > big.c; printf '\377\376{sign}\0\n\0' > marked.d; printf '\377\376\0\0{sign}\0\0\0\n\0\0\0' > wide.e
            printf '{sign}\0\0\0\n\0\0\0' > wide.f"
        )
    };
    live.sh(&format!(
        "cat > .gitattributes <<'END'
*.a text working-tree-encoding=UTF-16
*.b text working-tree-encoding=UTF-16LE
*.c text working-tree-encoding=utf-16be
*.d text working-tree-encoding=UTF-16LE-BOM
*.e text working-tree-encoding=UTF-32
*.f text working-tree-encoding=UTF-32LE
*.latin text working-tree-encoding=ISO-8859-1
*.sj text working-tree-encoding=SHIFT-JIS
END
        {}; git add -A; git commit -q -m first; touch *",
        write("h")
    ));
    assert_eq!(as_git(&live, "HEAD", "as they were").len(), 0);
    live.sh(&write("i"));
    assert_eq!(as_git(&live, "HEAD", "others").len(), 7);
    live.sh(
        r"printf 'caf\351 \205 end\n' > a.latin; printf '\357\273\277x\n' > b.latin; printf '\223\372\226\173 \134\n' > c.sj
        git add -A; git commit -q -m second; touch *.latin *.sj",
    );
    let (files, answer) = changed(&live);
    assert_eq!(files, [""; 0], "{answer}");
    assert_eq!((&answer["fresh"], &answer["complete"]), (&json!(false), &json!(false)), "{answer}");
    let said = "a.latin and 2 more: not compared: git converts the file from ISO-8859-1 (.gitattributes)";
    assert!(answer["reason"].as_str().unwrap().contains(said), "{answer}");
    let why = live.connect().call("why", &json!({ "cwd": live.root(), "target": "c.sj:1" })).unwrap_err();
    assert!(why["message"].as_str().unwrap().contains("git converts the file"), "{why}");
}

#[cfg(unix)]
#[test]
fn what_git_converts_is_compared_as_git_stores_it() {
    let live = Live::new();
    live.sh(FILES);
    assert!(live.sh("cat x.id").contains("$Id: "), "git has expanded it");
    live.sh("touch x.big x.u x.id plain.md");
    let (files, answer) = changed(&live);
    assert_eq!(files, [""; 0], "{answer}");
    live.sh("touch x.f");
    let (files, answer) = changed(&live);
    assert_eq!(files, [""; 0], "{answer}");
    assert_eq!((&answer["fresh"], &answer["complete"]), (&json!(false), &json!(false)), "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains("x.f: not compared: a filter of git"), "{answer}");
    let brief = live.connect().call("brief", &json!({ "cwd": live.root() })).unwrap();
    assert!(!brief["text"].as_str().unwrap().contains("## Not committed"), "{brief}");
    assert!(brief["reason"].as_str().is_some_and(|why| why.contains("x.f: not compared")), "{brief}");

    live.sh("echo more >> x.big; printf 'o\\0n\\0\\n\\0' > x.u; echo four >> x.id; echo more >> plain.md");
    let (files, answer) = changed(&live);
    let expected = ["modified plain.md", "modified x.big", "modified x.id", "modified x.u"];
    assert_eq!(files, expected, "{answer}");
}

#[cfg(unix)]
#[test]
fn the_lines_of_what_git_converts_are_not_said_to_be_uncommitted() {
    let live = Live::new();
    live.sh(FILES);
    let why = |target: &str| live.connect().call("why", &json!({ "cwd": live.root(), "target": target }));
    let whole = why("x.f").unwrap();
    assert!(whole["uncommitted"].as_array().is_none_or(Vec::is_empty), "{whole}");
    assert_eq!(whole["commits"][0]["subject"], "first", "{whole}");
    let refused = why("x.f:1").unwrap_err();
    assert!(
        refused["message"].as_str().unwrap().contains("x.f: git converts the file (.gitattributes)"),
        "{refused}"
    );
    for target in ["x.id", "x.id:2", "x.u:1"] {
        let told = why(target).unwrap();
        assert!(told["uncommitted"].as_array().is_none_or(Vec::is_empty), "{target}: {told}");
        assert_eq!(told["commits"][0]["subject"], "first", "{target}: {told}");
    }
}

const SUBMODULE: &str = r"
git init -q $OTHER; cd $OTHER; git config user.name A; git config user.email a@b; git commit -q --allow-empty -m one; cd -
git -c protocol.file.allow=always submodule --quiet add $OTHER mod; echo 'echo hi' > x.sh; git add -A; git commit -q -m first
";

#[cfg(unix)]
#[test]
fn submodules_and_the_permission_to_execute_are_compared() {
    let live = Live::new();
    let other = tempfile::tempdir().unwrap();
    live.sh(&SUBMODULE.replace("$OTHER", &other.path().join("r").display().to_string()));
    assert_eq!(changed(&live).0, [""; 0]);
    live.sh("chmod +x x.sh");
    assert_eq!(changed(&live).0, ["modified x.sh"]);
    live.sh("cd mod; git -c user.name=A -c user.email=a@b commit -q --allow-empty -m two");
    assert_eq!(changed(&live).0, ["modified mod", "modified x.sh"], "no file of the worktree has changed");
    let brief = live.connect().call("brief", &json!({ "cwd": live.root() })).unwrap();
    assert!(brief["text"].as_str().unwrap().contains("M mod\nM x.sh\n"), "{brief}");
    live.sh("git commit -q -a -m second");
    assert_eq!(changed(&live).0, [""; 0]);
    let between = json!({ "cwd": live.root(), "since": "HEAD~1", "until": "HEAD" });
    let answer = live.connect().call("changed", &between).unwrap();
    let paths: Vec<&Value> = answer["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(paths, [&json!("mod"), &json!("x.sh")], "{answer}");
    live.sh("git submodule --quiet deinit -f mod");
    assert_eq!(changed(&live).0, [""; 0], "what is not checked out has not moved");
    live.sh("git rm -q -f mod");
    assert!(changed(&live).0.contains(&"removed mod".to_owned()));
    live.sh("git reset -q --hard; git config core.fileMode false; chmod -x x.sh");
    assert_eq!(changed(&live).0, [""; 0], "git is told not to look");
}
