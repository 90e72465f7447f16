//! Does a search see what was written a moment before it, and nothing of what was there earlier?

use std::fs;
use std::io::Write;

use serde_json::json;

use crate::live::{Live, word};
#[cfg(unix)]
use crate::live::{Mounted, not_checked};

/// One way to change `d/f.md`, which holds the old word.
pub(crate) struct Case {
    what: &'static str,
    /// Takes the old and the new word.
    change: fn(&Live, &str, &str),
    /// Paths that hold the old word afterwards, separated by spaces.
    old: &'static str,
    /// Paths that hold the new one.
    new: &'static str,
}

pub(crate) const fn case(
    what: &'static str,
    change: fn(&Live, &str, &str),
    old: &'static str,
    new: &'static str,
) -> Case {
    Case { what, change, old, new }
}

/// Runs each case several times against one daemon: a race need not show the first time.
pub(crate) fn check(cases: &[Case]) {
    let live = Live::new();
    let mut number = 0;
    for _ in 0..3 {
        for Case { what, change, old: old_paths, new: new_paths } in cases {
            let (old, new) = (word(number), word(number + 1));
            number += 2;
            live.write("d/f.md", &old);
            live.expect(&old, "d/f.md", what);
            change(&live, &old, &new);
            live.expect(&new, new_paths, what);
            live.expect(&old, old_paths, what);
            for name in ["d", "D", "e", ".gitignore", ".memoignore"] {
                if fs::symlink_metadata(live.root().join(name)).is_ok() {
                    live.remove(name);
                }
            }
            live.expect(&old, "", what);
            live.expect(&new, "", what);
        }
    }
    assert_eq!(live.call("status", json!({}))["degraded"], json!([]));
}

#[test]
fn files() {
    check(&[
        case("create", |live, _, new| live.write("d/g.md", new), "d/f.md", "d/g.md"),
        case("edit", |live, _, new| live.write("d/f.md", new), "", "d/f.md"),
        case(
            "append",
            |live, _, new| {
                let mut file = fs::File::options().append(true).open(live.root().join("d/f.md")).unwrap();
                write!(file, " {new}").unwrap();
            },
            "d/f.md",
            "d/f.md",
        ),
        case(
            "as vim does",
            |live, _, new| {
                live.rename("d/f.md", "d/f.md~");
                live.write("d/f.md", new);
                live.remove("d/f.md~");
            },
            "",
            "d/f.md",
        ),
        case(
            "as sed -i does",
            |live, _, new| {
                live.write("d/sedX1", new);
                live.rename("d/sedX1", "d/f.md");
            },
            "",
            "d/f.md",
        ),
        case(
            "truncate, then write",
            |live, old, new| {
                let mut file = fs::File::create(live.root().join("d/f.md")).unwrap();
                live.expect(old, "", "truncated");
                file.write_all(new.as_bytes()).unwrap();
            },
            "",
            "d/f.md",
        ),
        case(
            "same size, same time",
            |live, _, new| {
                let path = live.root().join("d/f.md");
                let time = fs::metadata(&path).unwrap().modified().unwrap();
                live.write("d/f.md", new);
                fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
            },
            "",
            "d/f.md",
        ),
        case("delete", |live, _, _| live.remove("d/f.md"), "", ""),
        case("rename", |live, _, _| live.rename("d/f.md", "d/g.txt"), "d/g.txt", ""),
        case(
            "rename to the other case",
            |live, _, _| {
                live.rename("d/f.md", "d/x"); // wine keeps the case of what is renamed at once
                live.rename("d/x", "d/F.md");
            },
            "d/F.md",
            "",
        ),
        case(
            "swap",
            |live, _, new| {
                live.write("d/g.md", new);
                live.expect(new, "d/g.md", "before the swap");
                live.rename("d/f.md", "d/x");
                live.rename("d/g.md", "d/f.md");
                live.rename("d/x", "d/g.md");
            },
            "d/g.md",
            "d/f.md",
        ),
        case("move out of the tree", |live, _, _| live.rename("d/f.md", "../f.md"), "", ""),
        case(
            "move into the tree",
            |live, _, new| {
                live.write("../in/a/b.md", new);
                live.rename("../in", "e");
            },
            "d/f.md",
            "e/a/b.md",
        ),
    ]);
}

#[test]
fn directories() {
    check(&[
        case(
            "rename a directory to the other case",
            |live, _, _| {
                live.rename("d", "x"); // wine refuses to do it at once
                live.rename("x", "D");
            },
            "D/f.md",
            "",
        ),
        case(
            "rename, then write inside",
            |live, _, new| {
                live.rename("d", "e");
                live.write("e/g.md", new);
            },
            "e/f.md",
            "e/g.md",
        ),
        case(
            "rename twice, then write inside",
            |live, _, new| {
                live.rename("d", "d2");
                live.rename("d2", "e");
                live.write("e/f.md", new);
            },
            "",
            "e/f.md",
        ),
        case(
            "rename a parent of a directory",
            |live, _, new| {
                live.write("d/a/b/c.md", "seen");
                live.expect("seen", "d/a/b/c.md", "before");
                live.rename("d", "e");
                live.expect("seen", "e/a/b/c.md", "after");
                live.write("e/a/b/c.md", new);
            },
            "e/f.md",
            "e/a/b/c.md",
        ),
        case(
            "remove and make again",
            |live, _, new| {
                live.remove("d");
                live.write("d/g.md", new);
            },
            "",
            "d/g.md",
        ),
        case(
            "remove, look, and make again",
            |live, old, new| {
                live.remove("d");
                live.expect(old, "", "gone");
                live.write("d/f.md", new);
            },
            "",
            "d/f.md",
        ),
        case(
            "another takes its place",
            |live, _, new| {
                live.write("e/f.md", new);
                live.expect(new, "e/f.md", "before");
                live.remove("d");
                live.rename("e", "d");
            },
            "",
            "d/f.md",
        ),
        case("move out of the tree", |live, old, _| live.rename("d", &format!("../{old}")), "", ""),
        case(
            "out, changed, and in again",
            |live, _, new| {
                live.rename("d", "../away");
                live.write("../away/f.md", new);
                live.rename("../away", "d");
            },
            "",
            "d/f.md",
        ),
    ]);
}

#[test]
fn a_write_through_one_name_of_a_file_is_seen_under_all() {
    let live = Live::new();
    let counted = ["d/f.md", "d/g.md", "e/a/h.md"];
    let names = ["d/f.md", "d/g.md", "e/a/h.md", "d/i.log"];
    live.write(".gitignore", "*.log");
    live.write("e/a/i.md", "");
    live.write("d/f.md", "");
    for name in names.iter().skip(1).chain(&["../outside.md"]) {
        fs::hard_link(live.root().join("d/f.md"), live.root().join(name)).unwrap();
    }
    let check = |word: &str, level: &str, through: &str| {
        // Of equal contents one path stands for all, so each is asked for alone; and by nothing but its words.
        for name in counted {
            let only = json!({ "mode": "keyword", "path": [name], "sync": level, "wait_ms": 60_000 });
            let found = live.search_with(&live.root(), word, only);
            assert!(
                found.fresh && found.paths.contains(name),
                "{name}, written through {through}: {found:?}"
            );
        }
    };
    for number in 0..20 {
        let through = names[number % names.len()];
        live.write(through, word(number));
        check(&word(number), "fs", through);
    }
    live.write("../outside.md", word(20));
    check(&word(20), "strict", "a name outside of the worktree");
}

#[cfg(unix)] // what is mounted
#[test]
fn a_mount_that_does_not_report_every_change_is_polled() {
    let live = Live::new();
    live.write("dir/a.md", "alpha");
    let polled = || live.call("status", json!({}))["views"][0]["polled"].clone();
    live.expect("alpha", "dir/a.md", "before");
    assert_eq!(polled(), false);
    let dir = live.root().join("dir");
    let [lower, upper, work] = ["lower", "upper", "temp"].map(|name| {
        let dir = live.sandbox.path(name);
        fs::create_dir(&dir).unwrap();
        dir.display().to_string()
    });
    fs::write(format!("{lower}/b.md"), "beta").unwrap();
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    let Some(mounted) = Mounted::at(&dir, &["-t", "overlay", "overlay", "-o", &options]) else {
        return not_checked("an overlay in a worktree: this user may not mount");
    };
    live.expect("beta", "dir/b.md", "mounted while it runs");
    assert_eq!(polled(), true);
    live.kill();
    live.start();
    live.expect("beta", "dir/b.md", "mounted before it started");
    assert_eq!(polled(), true);
    drop(mounted);
    live.expect("alpha", "dir/a.md", "unmounted");
}

#[cfg(unix)] // what is mounted
#[test]
fn what_is_mounted_over_a_directory() {
    let live = Live::new();
    live.write("d e/a.md", "alpha");
    assert_eq!(live.search("alpha").paths.len(), 1, "before");
    let (dir, other) = (live.root().join("d e"), live.sandbox.path("other"));
    fs::create_dir(&other).unwrap();
    fs::write(other.join("b.md"), "beta").unwrap();
    for number in 0..3 {
        let Some(mounted) = Mounted::at(&dir, &["--bind", other.to_str().unwrap()]) else {
            return not_checked("what is mounted over a directory: this user may not mount");
        };
        assert!(live.search("alpha").paths.is_empty(), "it is covered");
        assert_eq!(live.search("beta").paths.len(), 1, "mounted");
        fs::write(other.join("c.md"), word(number)).unwrap();
        assert_eq!(live.search(&word(number)).paths.len(), 1, "written there");
        drop(mounted);
        assert_eq!(live.search("alpha").paths.len(), 1, "unmounted");
        assert!(live.search(&word(number)).paths.is_empty(), "unmounted");
    }
}
