//! Does every odd repository list as git lists it?

use std::fs;

use memod_base::types::{ReadRefusal, SourceKey};
use memod_git::GitError;
use memod_scan::{AdmissionRules, ScanError, walk};

use super::fixture::{Fixture, MAX_FILE_BYTES, Seen, agree, judge_all, walk_all, write};

type Build = fn(&Fixture);

/// Worktrees whose listing must equal git's to the last path.
const SAME_AS_GIT: &[(&str, Build)] = &[
    ("unborn, empty", |_| {}),
    ("unborn, untracked", |f| {
        f.files(&["a", "d/b"]);
    }),
    ("nested ignore files and negation", |f| {
        f.files(&["a.log", "keep.log", "d/a.log", "d/keep.log", "d/e/x.tmp", "d/e/y.tmp", "d/e/z"]);
        f.write(".gitignore", "*.log\n!keep.log\n").write("d/.gitignore", "keep.log\n!a.log\n");
        f.write("d/e/.gitignore", "*.tmp\n!y.tmp\n");
    }),
    ("tracked although ignored", |f| {
        f.files(&["out/kept", "out/deep/kept", "a.log"]);
        f.commit_all();
        f.write(".gitignore", "out/\n*.log\n").files(&["out/new", "out/deep/new", "out/other/new", "b.log"]);
    }),
    ("no way back into an ignored directory", |f| {
        f.files(&["a/keep", "b/keep", "b/c/keep", "d/sub/keep", "d/sub/x"]);
        f.write(".gitignore", "a/\n!a/keep\nb/*\n!b/c\nd/\n").write("d/.gitignore", "!sub\n!*\n");
    }),
    ("anchors, slashes and stars", |f| {
        f.files(&[
            "top", "x/top", "m/n", "x/m/n", "p/q/r", "p/r", "s/t/u/v", "s/v", "w/x/y/z", "k/abc", "abc",
        ]);
        f.write(".gitignore", "/top\nm/n\np/**/r\ns/**\n**/y\n/k/*\n*/abc\n");
    }),
    ("escapes and spaces", |f| {
        f.files(&[
            "#hash",
            "!bang",
            "space ",
            "space",
            "tab\t",
            "[x]",
            "x",
            "back\\slash",
            "star*",
            "starry",
            " lead",
        ]);
        f.write(".gitignore", "\\#hash\n\\!bang\nspace   \ntab\t\n\\[x]\nback\\\\slash\nstar\\*\n");
    }),
    ("an escaped trailing space", |f| {
        f.files(&["a ", "a", "b ", "b"]).write(".gitignore", "a\\ \nb\\  \n");
    }),
    ("carriage returns and a byte order mark", |f| {
        f.files(&["a", "b", "c"]).write(".gitignore", "\u{feff}a\r\nb\r\n\r\n# c\r\n");
    }),
    ("patterns only for directories", |f| {
        f.files(&["out/x", "d/out", "e/out/y", "lib"]).write(".gitignore", "out/\nlib/\n");
    }),
    ("brackets and classes", |f| {
        f.files(&["a1", "a9", "ab", "aB", "a-", "a]", "[", "[z"]);
        f.write(".gitignore", "a[0-5]\na[[:upper:]]\na[]-]\n[\n");
    }),
    ("a file that ignores itself and all", |f| {
        f.files(&["a", "d/b"]).write(".gitignore", "*\n").write("d/.gitignore", "!b\n");
    }),
    ("info/exclude", |f| {
        f.files(&["a.secretish", "d/b.secretish", "c", "own.txt"]);
        write(&f.root.join(".git/info/exclude"), "*.secretish\nown.txt\n");
        f.write("d/.gitignore", "!b.secretish\n");
    }),
    ("core.excludesFile with a tilde", |f| {
        f.write_home(".gitconfig", "[core]\n\texcludesFile = ~/my ignores\n");
        f.write_home("my ignores", "*.bak\n/root-only\n");
        f.files(&["a.bak", "d/b.bak", "root-only", "d/root-only"]);
    }),
    ("the default global file", |f| {
        f.write_home(".config/git/ignore", "*.bak\n");
        f.files(&["a.bak", "b"]);
    }),
    ("an empty excludesFile", |f| {
        f.write_home(".config/git/ignore", "*.bak\n");
        f.git(&["config", "core.excludesFile", ""]);
        f.files(&["a.bak", "b"]);
    }),
    ("a relative excludesFile", |f| {
        f.git(&["config", "core.excludesFile", "rules"]);
        f.files(&["a.bak", "b"]).write("rules", "*.bak\n");
    }),
    ("excludesFile from an include", |f| {
        f.write_home(".gitconfig", "[include]\n\tpath = more\n\tpath = missing\n");
        f.write_home("more", "[core]\n\texcludesFile = ~/x\n");
        f.write_home("x", "*.bak\n");
        f.files(&["a.bak", "b"]);
    }),
    ("excludesFile by branch", |f| {
        f.write_home(".gitconfig", "[includeIf \"onbranch:main\"]\n\tpath = more\n");
        f.write_home("more", "[core]\n\texcludesFile = ~/x\n");
        f.write_home("x", "*.bak\n");
        f.files(&["a.bak", "b"]);
    }),
    ("info/exclude is stronger than the global file", |f| {
        f.write_home(".config/git/ignore", "a\n!b\n");
        write(&f.root.join(".git/info/exclude"), "!a\nb\n");
        f.files(&["a", "b"]);
    }),
    ("core.ignoreCase", |f| {
        f.git(&["config", "core.ignoreCase", "true"]);
        f.files(&["README", "d/Tracked", "x.LOG"]);
        f.commit_all();
        f.write(".gitignore", "readme\n*.log\nD/\nnew\n").files(&["d/untracked", "NEW", "e/New"]);
    }),
    ("a conflict", |f| {
        f.write("both", "base\n").write(".gitignore", "both\n");
        f.git(&["add", "-f", "both"]);
        f.commit_all();
        f.git(&["checkout", "-q", "-b", "other"]);
        f.write("both", "theirs\n");
        f.git(&["commit", "-qam", "x"]);
        f.git(&["checkout", "-q", "main"]);
        f.write("both", "ours\n");
        f.git(&["commit", "-qam", "x"]);
        f.git_may_fail(&["merge", "-q", "other"]);
        assert!(!f.git(&["ls-files", "-u"]).is_empty());
    }),
    ("intent to add", |f| {
        f.files(&["a.log", "b"]).write(".gitignore", "*.log\n");
        f.git(&["add", "-N", "-f", "a.log"]);
    }),
    ("deleted, and directory for file", |f| {
        f.files(&["gone", "was-dir/x", "d/gone"]);
        f.commit_all();
        fs::remove_file(f.root.join("gone")).unwrap();
        fs::remove_dir_all(f.root.join("d")).unwrap();
        fs::remove_dir_all(f.root.join("was-dir")).unwrap();
        f.files(&["was-dir"]);
    }),
    ("assume-unchanged and index version 4", |f| {
        f.files(&["a", "abc", "abd/e", "abd/f"]);
        f.commit_all();
        f.git(&["update-index", "--index-version", "4", "--assume-unchanged", "a"]);
    }),
    ("a split index", |f| {
        f.files(&["a", "b", "c"]).write(".gitignore", "a\nd\n");
        f.git(&["add", "-f", "a", "b", "c"]);
        f.git(&["commit", "-qm", "x"]);
        f.git(&["update-index", "--split-index"]);
        f.files(&["d", "e"]);
        f.git(&["add", "-f", "d", "e"]);
        f.git(&["rm", "-q", "--cached", "b"]);
    }),
    ("a sparse checkout, its ignore files left out", |f| {
        f.write("out/.gitignore", "*.log\n").files(&["in/a", "out/b", "top"]);
        f.commit_all();
        f.git(&["sparse-checkout", "set", "--no-cone", "/in", "/top"]);
        f.files(&["out/new.log", "out/new", "in/new.log"]);
    }),
    ("a sparse index", |f| {
        f.files(&["in/a", "out/b", "out/deep/c", "top"]);
        f.commit_all();
        f.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
        f.files(&["out/new", "in/new"]);
    }),
    ("names", |f| {
        let long = "n".repeat(250);
        f.files(&[
            "with space",
            "new\nline",
            "tab\there",
            "emoji 🦀/ß é/日本",
            "-dash",
            "quote\"'",
            "~tilde",
            &long,
        ]);
        f.files(&[&format!("d{long}/{long}/{long}")])
            .write("n\n/.gitignore", "x\n")
            .files(&["n\n/x", "n\n/y"]);
    }),
    ("an empty .git directory and a .git file to nowhere", |f| {
        f.files(&["d/a", "e/a"]).write("e/.git", "gitdir: /nowhere/at/all\n");
        fs::create_dir(f.root.join("d/.git")).unwrap();
    }),
    ("a bare repository in the tree is files like any other", |f| {
        f.git(&["init", "-q", "--bare", "mirror.git"]);
    }),
    ("our own files became a repository of their own", |f| {
        f.files(&["d/a", "d/b"]);
        f.commit_all();
        f.files(&["d/new"]);
        f.git_in(&f.root.join("d"), &["init", "-q"]);
    }),
    ("objects named by SHA-256", |f| {
        fs::remove_dir_all(f.root.join(".git")).unwrap();
        f.git(&["init", "-q", "--object-format=sha256"]);
        f.files(&["a.log", "d/b"]);
        f.commit_all();
        f.write(".gitignore", "*.log\n").files(&["b.log", "c"]);
    }),
    ("an ignore file that is a directory", |f| {
        f.files(&["a", ".gitignore/b", "d/x"]).write("d/.gitignore", "y\n");
    }),
];

#[test]
fn lists_what_git_lists() {
    for (name, build) in SAME_AS_GIT {
        let fixture = Fixture::new();
        build(&fixture);
        let seen = agree(name, &fixture, &fixture.root, &[]);
        assert_eq!(seen.files.values().flatten().next(), None, "{name}: nothing is refused");
    }
}

#[test]
fn other_repositories_are_one_refusal() {
    let f = Fixture::new();
    f.files(&["a"]).write(".gitignore", "skipped/\n");
    let library = f.top.join("library");
    fs::create_dir(&library).unwrap();
    f.git_in(&library, &["init", "-q"]);
    f.git_in(&library, &["commit", "-q", "--allow-empty", "-m", "x"]);
    f.git(&["submodule", "--quiet", "add", "../library", "sub"]);
    f.commit_all();
    f.git(&["worktree", "add", "-q", "trees/one"]);
    for nested in ["nested", "deep/er/nested", "skipped/nested"] {
        f.git(&["init", "-q", nested]);
        f.files(&[&format!("{nested}/x")]);
    }
    f.files(&["sub/x", "trees/one/x", "trees/y"]);
    let seen = agree("nested", &f, &f.root, &[]);
    let refused: Vec<&str> =
        seen.files.iter().filter(|(_, why)| why.is_some()).map(|(path, _)| &**path).collect();
    assert_eq!(refused, ["deep/er/nested", "nested", "sub", "trees/one"]);
    assert!(!seen.dirs.iter().any(|dir| refused.contains(&dir.as_str())), "{:?}", seen.dirs);
    agree("the linked worktree itself", &f, &f.root.join("trees/one"), &[]);

    fs::remove_dir_all(f.root.join("sub")).unwrap();
    fs::create_dir(f.root.join("sub")).unwrap();
    agree("a submodule that is not checked out", &f, &f.root, &[]);
}

#[test]
fn worktrees_are_found_wherever_their_git_dir_is() {
    let f = Fixture::plain();
    let bare = f.top.join("bare.git");
    let seed = f.top.join("seed");
    fs::create_dir(&seed).unwrap();
    f.git_in(&seed, &["init", "-q"]);
    write(&seed.join("a.log"), "x");
    f.git_in(&seed, &["add", "-A"]);
    f.git_in(&seed, &["commit", "-qm", "x"]);
    f.git_in(&f.top, &["clone", "-q", "--bare", "seed", "bare.git"]);
    write(&bare.join("info/exclude"), "*.log\n");
    f.git_in(&bare, &["worktree", "add", "-q", "../linked", "main"]);
    let linked = f.top.join("linked");
    write(&linked.join("b.log"), "x");
    write(&linked.join("c"), "x");
    let seen = agree("a worktree of a bare repository", &f, &linked, &[]);
    assert_eq!(seen.files.into_keys().collect::<Vec<_>>(), ["a.log", "c"]);

    f.git(&["init", "-q", "--separate-git-dir", "../elsewhere.git"]);
    f.files(&["a", "d/b"]).write(".gitignore", "a\n");
    agree("a separate git dir", &f, &f.root, &[]);
}

#[test]
fn a_git_dir_inside_the_tree_is_left_out() {
    let f = Fixture::plain();
    f.git(&["init", "-q", "--separate-git-dir", "store"]);
    f.files(&["a"]);
    assert_eq!(walk_all(&f, &f.layout()).files.into_keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(judge_all(&f, &f.layout()).into_keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_worktree_has_its_own_settings() {
    let f = Fixture::new();
    f.files(&["x"]);
    f.commit_all();
    f.git(&["worktree", "add", "-q", "../linked"]);
    let linked = f.top.join("linked");
    f.git(&["config", "extensions.worktreeConfig", "true"]);
    write(&f.top.join("rules"), "*.bak\n");
    f.git_in(&linked, &["config", "--worktree", "core.excludesFile", "../rules"]);
    write(&linked.join("a.bak"), "x");
    f.files(&["a.bak"]);
    assert!(!agree("linked", &f, &linked, &[]).files.contains_key("a.bak"));
    assert!(agree("main", &f, &f.root, &[]).files.contains_key("a.bak"));
}

#[test]
fn memoignore_leaves_out_tracked_files_too() {
    let f = Fixture::new();
    f.files(&["a.gen", "d/a.gen", "vendor/x/y", "keep.gen", "vendor/keep", "b"]);
    f.commit_all();
    f.write(".memoignore", "*.gen\n!keep.gen\nvendor/\n!vendor/keep\n").files(&["new.gen"]);
    let gits_only = ["a.gen", "d/a.gen", "new.gen", "vendor/keep", "vendor/x/y"];
    let seen = agree("memoignore", &f, &f.root, &gits_only);
    assert!(!seen.dirs.contains(&"vendor".to_owned()));
}

#[test]
fn secrets_and_state_are_never_admitted() {
    let f = Fixture::new();
    f.files(&[".env", "a/.env.local", "keys/id_rsa", ".ssh/config", ".env.example", "keys/id_rsa.pub"]);
    f.commit_all();
    f.files(&[".npmrc", ".memo/memory.db", "d/.memo/x"]);
    let seen = agree("secrets", &f, &f.root, &[".memo/memory.db", "d/.memo/x"]);
    let secret = Some(ReadRefusal::SecretName);
    for path in [".env", "a/.env.local", "keys/id_rsa", ".ssh/config", ".npmrc"] {
        assert_eq!(seen.files[path], secret, "{path}");
    }
    assert_eq!((seen.files[".env.example"], seen.files["keys/id_rsa.pub"]), (None, None));
}

#[test]
fn big_files_are_refused_without_reading() {
    let f = Fixture::new();
    f.files(&["small"]);
    fs::File::create(f.root.join("big")).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    fs::File::create(f.root.join("just")).unwrap().set_len(MAX_FILE_BYTES).unwrap();
    let seen = agree("big", &f, &f.root, &[]);
    assert_eq!((seen.files["big"], seen.files["just"]), (Some(ReadRefusal::TooBig), None));
}

#[test]
fn outside_git_ignore_files_hold_all_the_same() {
    let f = Fixture::plain();
    f.files(&["a.log", "b", "d/c.log", "d/e", "out/x", ".hidden", ".memo/memory.db", "sub/x", "f"]);
    f.write(".gitignore", "*.log\nout/\n").write("d/.gitignore", "!c.log\n").write(".memoignore", "f\n");
    f.git(&["init", "-q", "sub"]);
    let place = f.layout();
    assert_eq!(place.git_dir, None);
    let seen = walk_all(&f, &place);
    let expected = [".gitignore", ".hidden", ".memoignore", "b", "d/.gitignore", "d/c.log", "d/e", "sub"];
    assert_eq!(seen.files.keys().collect::<Vec<_>>(), expected);
    assert_eq!(judge_all(&f, &place), seen.files);
}

#[test]
fn part_of_a_tree_is_walked_by_the_same_rule() {
    let f = Fixture::new();
    f.files(&["a/b/c", "a/b/x.log", "a/d", "e"]).write(".gitignore", "*.log\n");
    f.git(&["init", "-q", "nested"]);
    let place = f.layout();
    let check = |below: &str, expected: &[&str]| {
        let mut seen = Seen::default();
        walk(&place, &mut f.admission(&place), Some(&SourceKey::new(below)), &mut seen).unwrap();
        assert_eq!(seen.files.into_keys().collect::<Vec<_>>(), expected, "{below}");
    };
    check("a", &["a/b/c", "a/d"]);
    check("a/b", &["a/b/c"]);
    check("e", &["e"]);
    check("nested", &["nested"]);
    check(".git", &[]);
    check("nested/.git", &[]);
    check("missing", &[]);
    check("a/b/x.log", &[]);
    check("../home", &[]);
}

#[test]
fn directories_are_announced_before_what_is_in_them() {
    let f = Fixture::new();
    f.files(&["b/c/x", "a/y", "out/z"]).write(".gitignore", "out/\n");
    assert_eq!(walk_all(&f, &f.layout()).dirs, ["", "a", "b", "b/c"]);
}

#[test]
fn a_damaged_index_is_named_and_can_be_done_without() {
    let f = Fixture::new();
    f.files(&["a"]);
    f.commit_all();
    let place = f.layout();
    let index = f.root.join(".git/index");
    let bytes = fs::read(&index).unwrap();
    for damaged in [&b"DIRC"[..], b"nonsense", &bytes[..bytes.len() / 2], &[]] {
        fs::write(&index, damaged).unwrap();
        match AdmissionRules::open_with_user_dirs(&place, &f.dirs(), MAX_FILE_BYTES) {
            Err(ScanError::Git(GitError::Index { path, .. })) => assert_eq!(path, index),
            Err(other) => panic!("another error: {other}"),
            Ok(_) => panic!("{} bytes are taken for an index", damaged.len()),
        }
        let mut seen = Seen::default();
        let mut admission = AdmissionRules::open_untracked(&place, &f.dirs(), MAX_FILE_BYTES).unwrap();
        walk(&place, &mut admission, None, &mut seen).unwrap();
        assert_eq!(seen.files.into_keys().collect::<Vec<_>>(), ["a"]);
    }
}

#[test]
fn a_damaged_configuration_is_named() {
    let f = Fixture::new();
    f.write_home(".gitconfig", "[core\nnonsense");
    let error = AdmissionRules::open_with_user_dirs(&f.layout(), &f.dirs(), MAX_FILE_BYTES)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains(".gitconfig"), "{error}");
}

#[test]
fn the_lock_of_git_is_left_alone() {
    let f = Fixture::new();
    f.files(&["a"]);
    f.commit_all();
    let place = f.layout();
    f.write(".git/index.lock", "half an index");
    assert_eq!(walk_all(&f, &place).files.into_keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(fs::read_to_string(f.root.join(".git/index.lock")).unwrap(), "half an index");
}

#[test]
fn head_is_a_branch_or_an_object() {
    let f = Fixture::new();
    assert_eq!(memod_git::read_head(&f.layout()).as_deref(), Some("refs/heads/main"));
    f.commit_all();
    f.git(&["worktree", "add", "-q", "-b", "topic/x", "../linked"]);
    let linked = f.place_at(&f.top.join("linked"));
    assert_eq!(memod_git::read_head(&linked).as_deref(), Some("refs/heads/topic/x"));
    f.git(&["checkout", "-q", "--detach"]);
    assert_eq!(memod_git::read_head(&f.layout()).map(|head| head.len()), Some(40));
    assert_eq!(memod_git::read_head(&f.place_at(&f.top.join("linked"))), memod_git::read_head(&linked));
}
