//! What can a hostile or unlucky tree do to a scan? (Nothing.)
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use memod_base::types::{ReadRefusal, SourceKey};
use memod_scan::{AdmissionRules, ListedFile, ScanError, Verdict, Visit, lstat, walk};

use super::fixture::{Fixture, Seen, agree, os_path, walk_all};
use crate::live::ran_without_privileges;
use crate::sandbox::mkfifo;

#[test]
fn links_are_listed_and_never_followed() {
    let f = Fixture::new();
    f.files(&["d/x", "was/x", "was/y"]);
    f.commit_all();
    fs::rename(f.root.join("was"), f.top.join("outside")).unwrap();
    for (target, link) in [
        ("../outside", "was"),
        ("/", "slash"),
        (".", "d/loop"),
        ("x", "d/link"),
        ("nowhere", "dangling"),
        ("self", "self"),
    ] {
        symlink(target, f.root.join(link)).unwrap();
    }
    let seen = agree("links", &f, &f.root, &[]);
    let links =
        seen.files.iter().filter(|(_, why)| **why == Some(ReadRefusal::Symlink)).map(|(path, _)| &**path);
    assert_eq!(links.collect::<Vec<_>>(), ["d/link", "d/loop", "dangling", "self", "slash", "was"]);
    assert_eq!(seen.dirs, ["", "d"]);

    let mut admission = f.admission(&f.layout());
    for below_a_link in ["was/x", "d/loop/x", "slash/etc/passwd"] {
        let stat = lstat(&f.root.join("d/x")).unwrap();
        assert_eq!(
            admission.judge_path(&SourceKey::new(below_a_link), &stat),
            Verdict::Ignored,
            "{below_a_link}"
        );
    }
    for link in ["was", "d/loop", "slash", "self", "d/x", ".git", "missing"] {
        assert!(!admission.should_enter(&SourceKey::new(link)), "{link}");
    }
}

#[test]
fn fifos_and_sockets_block_nothing() {
    let f = Fixture::new();
    f.files(&["d/x", "tracked", "e/x"]);
    f.commit_all();
    fs::remove_file(f.root.join("tracked")).unwrap();
    for fifo in ["tracked", "untracked", "d/.gitignore", ".memoignore"] {
        mkfifo(&f.root.join(fifo));
    }
    let _socket = std::os::unix::net::UnixListener::bind(f.root.join("socket")).unwrap();
    let seen = walk_all(&f, &f.layout());
    let expected = [("d/x", None), ("e/x", None), ("tracked", Some(ReadRefusal::Special))];
    assert!(seen.files.iter().map(|(path, why)| (path.as_str(), *why)).eq(expected), "{:?}", seen.files);
}

#[test]
fn a_linked_ignore_file_is_not_followed() {
    let f = Fixture::new();
    f.files(&["a", "d/b"]).write("rules", "a\nb\n");
    symlink("rules", f.root.join(".gitignore")).unwrap();
    symlink("../rules", f.root.join("d/.gitignore")).unwrap();
    let seen = agree("linked ignore files", &f, &f.root, &[]);
    assert_eq!((seen.files["a"], seen.files["d/b"]), (None, None));
}

#[test]
fn names_that_are_not_utf8() {
    let f = Fixture::new();
    for name in [&b"bad\xff"[..], b"bad\xfe", b"dir\xff/x", b"dir\xff/y", b"skip\xff.log"] {
        let path = f.root.join(os_path(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    f.files(&["good"]).write(".gitignore", "*.log\n");
    let seen = agree_by_walk(&f);
    let refused: Vec<&str> = seen
        .files
        .iter()
        .filter(|(_, why)| **why == Some(ReadRefusal::NameNotUtf8))
        .map(|(path, _)| &**path)
        .collect();
    assert_eq!(refused, ["bad\u{fffd}", "dir\u{fffd}/x", "dir\u{fffd}/y"]);

    f.files(&["bad\u{fffd}"]);
    assert_eq!(agree_by_walk(&f).files["bad\u{fffd}"], None, "a file that has the lossy name keeps it");
}

fn agree_by_walk(f: &Fixture) -> Seen {
    let seen = walk_all(f, &f.layout());
    assert!(seen.files.keys().eq(f.listed(&f.root).iter()), "{:?}", seen.files);
    seen
}

#[test]
fn what_cannot_be_read_is_counted() {
    if ran_without_privileges("scan::hostile::what_cannot_be_read_is_counted") {
        return;
    }
    let f = Fixture::new();
    f.files(&["closed/x", "a", "d/x", "d/y"]).write("d/.gitignore", "y\n");
    let set =
        |path: &str, mode| fs::set_permissions(f.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    set("closed", 0o000);
    set("d/.gitignore", 0o000);
    set("a", 0o000);
    let seen = walk_all(&f, &f.layout());
    let read = memod_scan::read(&f.root, &SourceKey::new("a"), 10);
    set("closed", 0o755);
    assert_eq!(seen.files["closed"], Some(ReadRefusal::Unreadable));
    assert_eq!(seen.problems.len(), 1, "{:?}", seen.problems);
    assert_eq!(seen.files["d/y"], None, "as git: an ignore file that cannot be read ignores nothing");
    assert_eq!(read.unwrap_err().refusal(), Some(ReadRefusal::Unreadable));
}

/// A path that is too long for the system can be made all the same, piece by piece.
#[cfg(target_os = "linux")]
#[test]
fn a_path_too_long_is_told() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let f = Fixture::new();
    f.write("a.md", "a");
    let name = "d".repeat(200);
    let mut dir = openat(CWD, &f.root, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..4096 / name.len() + 1 {
        mkdirat(&dir, &name, Mode::RWXU).unwrap();
        dir = openat(&dir, &name, OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let seen = walk_all(&f, &f.layout());
    assert_eq!(seen.files.len(), 1);
    let [problem] = &seen.problems[..] else { panic!("{:?}", seen.problems) };
    assert!(problem.contains("File name too long"), "{problem}");
}

#[test]
fn deep_trees_end() {
    let f = Fixture::new();
    let mut dir = f.root.clone();
    for _ in 0..300 {
        dir.push("deeper");
        fs::create_dir(&dir).unwrap();
    }
    fs::write(dir.join("x"), "x").unwrap();
    let seen = walk_all(&f, &f.layout());
    assert_eq!((seen.files.len(), seen.dirs.len(), seen.problems.len()), (1, 301, 0));
}

/// Changes the tree under the walk, in `dir`, which is called before the directory is listed.
struct Vandal<'a> {
    seen: Seen,
    act: &'a dyn Fn(&Path, &str),
    stop_after: usize,
}

impl Visit for Vandal<'_> {
    fn before_listing(&mut self, abs: &Path, key: Option<&SourceKey>) {
        (self.act)(abs, key.map_or("", SourceKey::as_str));
        self.seen.before_listing(abs, key);
    }

    fn visit_file(&mut self, found: ListedFile) {
        self.seen.visit_file(found);
    }

    fn report_problem(&mut self, _: Option<SourceKey>, problem: ScanError) {
        self.seen.report_problem(None, problem);
    }

    fn report_unread(&mut self, key: Option<SourceKey>, why: String) {
        self.seen.report_unread(key, why);
    }

    fn should_stop(&self) -> bool {
        self.seen.dirs.len() >= self.stop_after
    }
}

fn walk_with(f: &Fixture, stop_after: usize, act: &dyn Fn(&Path, &str)) -> Seen {
    let place = f.layout();
    let mut vandal = Vandal { seen: Seen::default(), act, stop_after };
    let mut admission: AdmissionRules = f.admission(&place);
    walk(&place, &mut admission, None, &mut vandal).unwrap();
    vandal.seen
}

#[test]
fn a_tree_that_changes_under_the_walk() {
    let check = |replace: &dyn Fn(&Path), expected: &[&str], problems: usize| {
        let f = Fixture::new();
        f.files(&["a", "d/x", "e"]);
        let act = |abs: &Path, key: &str| {
            if key == "d" {
                fs::remove_dir_all(abs).unwrap();
                replace(abs);
            }
        };
        let seen = walk_with(&f, usize::MAX, &act);
        assert_eq!(seen.files.into_keys().collect::<Vec<_>>(), expected);
        assert_eq!(seen.problems.len(), problems, "{:?}", seen.problems);
    };
    check(&|_| {}, &["a", "e"], 0);
    check(&|abs| fs::write(abs, "file").unwrap(), &["a", "e"], 1);
    check(&|abs| symlink("..", abs).unwrap(), &["a", "e"], 1);
    check(&|abs| mkfifo(abs), &["a", "e"], 1);
}

#[test]
fn files_and_rules_made_before_the_listing_are_seen() {
    let f = Fixture::new();
    f.files(&["d/x", "d/y"]);
    let act = |abs: &Path, key: &str| {
        if key == "d" {
            fs::write(abs.join("new"), "x").unwrap();
            fs::write(abs.join(".gitignore"), "y\n").unwrap();
        }
    };
    let seen = walk_with(&f, usize::MAX, &act);
    assert_eq!(seen.files.into_keys().collect::<Vec<_>>(), ["d/.gitignore", "d/new", "d/x"]);
}

#[test]
fn a_walk_can_be_stopped() {
    let f = Fixture::new();
    f.files(&["a", "d/x", "e/x"]);
    assert_eq!(walk_with(&f, 2, &|_, _| {}).dirs, ["", "d"]);
}

#[test]
fn a_missing_root_is_an_error() {
    let f = Fixture::new();
    let place = f.layout();
    let mut admission = f.admission(&place);
    fs::remove_dir_all(&f.root).unwrap();
    let error = walk(&place, &mut admission, None, &mut Seen::default()).unwrap_err().to_string();
    assert!(error.contains("tree"), "{error}");
}
