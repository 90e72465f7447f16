//! Checks that uninstalling restores every byte of a hooks directory.

#![cfg(unix)] // modes and links

use std::os::unix::fs::PermissionsExt;

use memod_base::paths::Env;
use memod_proto::HookMethod;

use super::*;

#[test]
fn versions_of_git() {
    let cases = [
        ("git version 2.47.3", Some((2, 47))),
        ("git version 2.39.5 (Apple Git-154)", Some((2, 39))),
        ("git version 2.54.1.windows.1", Some((2, 54))),
        ("git version 2.55.GIT", Some((2, 55))),
        ("2.60", Some((2, 60))),
        ("git version 3.0.0-rc1", Some((3, 0))),
        ("git", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_version(text), expected, "{text}");
    }
}

/// A repository made by hand; no git program is needed.
struct Repo {
    dir: tempfile::TempDir,
    layout: RepoLayout,
}

impl Repo {
    fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for name in ["objects", "refs", "hooks"] {
            fs::create_dir_all(dir.path().join("w/.git").join(name)).expect("a directory");
        }
        fs::write(dir.path().join("w/.git/HEAD"), "ref: refs/heads/main\n").expect("HEAD");
        fs::write(dir.path().join("w/.git/config"), config).expect("config");
        let env = Env { uid: memod_base::paths::effective_uid(), ..Env::default() };
        let layout = RepoLayout::locate(&dir.path().join("w"), &env).expect("a repository");
        layout.create_state_dir().expect("a state dir"); // as a daemon has it
        Self { dir, layout }
    }

    fn hooks(&self, git: &str) -> Hooks<'_> {
        // `2.47 lfs`: and git-lfs is there.
        let params = HooksParams {
            git_version: Some(git.to_owned()),
            git_lfs: git.ends_with("lfs"),
            ..HooksParams::default()
        };
        Hooks::read(&self.layout, &UserDirs::default(), &params).expect("settings").expect("a repository")
    }

    fn put(&self, name: &str, text: &str, mode: u32) {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("a mode");
    }

    fn git(&self, name: &str) -> PathBuf {
        self.layout.root.join(".git").join(name)
    }

    /// Returns name, mode and text of all that is not a directory, but for the state.
    fn listing(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut left = vec![self.dir.path().to_owned()];
        while let Some(dir) = left.pop() {
            for entry in fs::read_dir(dir).expect("a directory").flatten() {
                let path = entry.path();
                let meta = fs::symlink_metadata(&path).expect("it was listed");
                if meta.is_dir() {
                    left.push(path);
                } else if meta.is_file() && !path.starts_with(&self.layout.state_dir) {
                    let text = fs::read(&path).expect("a file");
                    found.push((path, meta.permissions().mode(), text));
                }
            }
        }
        found.sort();
        found
    }

    /// Returns the method of each hook, shortened to its first letters.
    fn methods(result: &HooksResult) -> String {
        result.hooks.iter().map(|hook| &hook.method.as_str()[..2]).collect::<Vec<_>>().join(" ")
    }
}

/// Installs, looks at what each hook is, and takes everything out again.
fn check(what: &str, repo: &Repo, git: &str, chain: bool, expected: &str) {
    let before = repo.listing();
    let installed = repo.hooks(git).install(chain).expect("it installs");
    assert_eq!(Repo::methods(&installed), expected, "{what}: {installed:?}");
    let again = repo.hooks(git).install(chain).expect("it installs");
    assert_eq!(again.changed, Vec::<String>::new(), "{what}: a second time changes nothing");
    assert_eq!(repo.hooks(git).status(), again, "{what}");
    let gone = repo.hooks(git).uninstall().expect("it uninstalls");
    assert_eq!(gone.changed, installed.changed, "{what}");
    assert_eq!(repo.listing(), before, "{what}");
    assert!(!repo.layout.state_dir.join("hooks").exists(), "{what}: no backup is left");
}

const CONFIG: &str = "[core]\n\tbare = false";

#[test]
fn what_was_there_is_there_again() {
    check("git-lfs may come", &Repo::new(CONFIG), "2.47 lfs", false, "wa wa wa fi fi");
    check("git-lfs may come, but it is asked for", &Repo::new(CONFIG), "2.47 lfs", true, "fi fi fi fi fi");
    check("git-lfs may come", &Repo::new(CONFIG), "2.54 lfs", false, "co co co co co");
    for (git, files, config) in
        [("2.53.0", "fi fi fi fi fi", "wa wa wa wa wa"), ("2.54.0", "co co co co co", "co co co co co")]
    {
        check("nothing there", &Repo::new(CONFIG), git, false, files);
        let repo = Repo::new(&format!("{CONFIG}\n\thooksPath = theirs\n"));
        check("core.hooksPath", &repo, git, false, config);
    }
}

#[test]
fn foreign_hooks_are_left_alone_unless_asked() {
    let repo = Repo::new(CONFIG);
    repo.put("w/.git/hooks/post-commit", "#!/bin/sh\necho theirs\nexit 3\n", 0o750);
    repo.put("w/.git/hooks/post-merge", "#!/usr/bin/env python3\nprint()\n", 0o755);
    repo.put("w/.git/hooks/post-rewrite", "echo no interpreter", 0o711);
    repo.put("w/.git/hooks/post-checkout", "#!/bin/sh\r\necho crlf\r\n", 0o755);
    check("unasked", &repo, "2.47", false, "wa wa wa wa fi");
    check("asked", &repo, "2.47", true, "ch wa wa ch fi");
    repo.put("w/.git/hooks/post-applypatch", "#!/bin/sh\n", 0o644);
    check("not executable", &repo, "2.47", true, "ch wa wa ch wa");
    check("of the configuration", &repo, "2.54", true, "co co co co co");
}

#[test]
fn a_foreign_directory_is_left_alone_unless_asked() {
    for config in ["hooksPath = theirs", "hooksPath = /nowhere/at/all/../../../tmp/none"] {
        check(config, &Repo::new(&format!("{CONFIG}\n\t{config}\n")), "2.47", false, "wa wa wa wa wa");
    }
    let repo = Repo::new(&format!("{CONFIG}\n\thooksPath = none\n"));
    fs::remove_dir(repo.git("hooks")).expect("it is empty");
    check("neither is there", &repo, "2.47", false, "wa wa wa wa wa");
    let repo = Repo::new(&format!("{CONFIG}\n\thooksPath = .git/hooks\n"));
    check("git's own, by name", &repo, "2.47", false, "fi fi fi fi fi");
    let repo = Repo::new(&format!("{CONFIG}\n\thooksPath = theirs\n"));
    repo.put("w/theirs/post-commit", "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"", 0o755);
    check("relative", &repo, "2.47", true, "ch ch ch ch ch");

    let repo = Repo::new(CONFIG);
    repo.put("theirs/post-commit", "#!/bin/sh\n", 0o755);
    fs::remove_dir(repo.git("hooks")).expect("it is empty");
    std::os::unix::fs::symlink(repo.dir.path().join("theirs"), repo.git("hooks")).expect("a link");
    check("a link", &repo, "2.47", false, "wa wa wa wa wa");
    check("a link", &repo, "2.47", true, "ch ch ch ch ch");

    let repo = Repo::new(CONFIG);
    repo.put("theirs", "#!/bin/sh\n", 0o755);
    std::os::unix::fs::symlink(repo.dir.path().join("theirs"), repo.git("hooks/post-commit"))
        .expect("a link");
    check("a hook that is a link", &repo, "2.47", true, "wa fi fi fi fi");
}

#[test]
fn a_hook_is_found_where_neighbours_put_it() {
    let repo = Repo::new(CONFIG);
    let before = repo.listing();
    repo.hooks("2.47").install(false).expect("it installs");
    fs::rename(repo.git("hooks/post-commit"), repo.git("hooks/post-commit.old")).expect("lefthook renames");
    repo.put("w/.git/hooks/post-commit", "#!/bin/sh\n# lefthook\n", 0o755);
    fs::rename(repo.git("hooks/post-merge"), repo.git("hooks/post-merge.legacy"))
        .expect("pre-commit renames");
    repo.put("w/.git/hooks/post-merge", "#!/bin/sh\n# File generated by pre-commit: \n", 0o755);
    repo.put("w/.git/hooks/post-rewrite", "#!/bin/sh\n# overwritten\n", 0o755);
    let status = repo.hooks("2.47").status();
    assert_eq!(Repo::methods(&status), "wa fi ch wa fi", "{status:?}");
    let chained = repo.hooks("2.47").install(true).expect("it installs");
    assert_eq!(Repo::methods(&chained), "ch fi ch ch fi", "{chained:?}");
    let names = chained.changed.iter().filter_map(|path| path.rsplit('/').next());
    assert_eq!(names.collect::<Vec<_>>(), ["post-commit", "post-rewrite"], "what rings already is left");
    let note = status.hooks[0].note.clone().expect("it says why");
    assert!(note.contains("post-commit.old"), "{note}");

    repo.hooks("2.47").uninstall().expect("it uninstalls");
    for theirs in ["post-commit", "post-merge", "post-rewrite"] {
        assert!(
            file::read_if_exists(&repo.git("hooks").join(theirs)).expect("readable").is_some(),
            "{theirs}"
        );
        fs::remove_file(repo.git("hooks").join(theirs)).expect("it is there");
    }
    assert_eq!(repo.listing(), before);
}

#[test]
fn chained_hooks_are_found_when_the_path_has_changed() {
    let repo = Repo::new(&format!("{CONFIG}\n\thooksPath = theirs\n"));
    repo.put("w/theirs/post-commit", "#!/bin/sh\necho theirs\n", 0o755);
    let before = repo.listing();
    repo.hooks("2.47").install(true).expect("it installs");
    fs::write(repo.git("config"), format!("{CONFIG}\n")).expect("config");
    repo.hooks("2.47").uninstall().expect("it uninstalls");
    fs::write(repo.git("config"), format!("{CONFIG}\n\thooksPath = theirs\n")).expect("config");
    assert_eq!(repo.listing(), before);
}

#[test]
fn the_configuration_is_left_alone_while_git_holds_it() {
    let repo = Repo::new(CONFIG);
    fs::write(repo.git("config.lock"), "").expect("a lock");
    let before = repo.listing();
    let refused = repo.hooks("2.54").install(false).expect_err("it is locked").to_string();
    assert!(refused.contains("config.lock"), "{refused}");
    assert_eq!(repo.listing(), before);
}

#[test]
fn a_configuration_that_is_a_link_stays_one() {
    let repo = Repo::new(CONFIG);
    fs::rename(repo.git("config"), repo.dir.path().join("theirs")).expect("it moves");
    std::os::unix::fs::symlink(repo.dir.path().join("theirs"), repo.git("config")).expect("a link");
    check("a link", &repo, "2.54", false, "co co co co co");
    assert!(fs::read_link(repo.git("config")).is_ok());
}

#[test]
fn a_hook_that_was_switched_off_stays_off() {
    let repo = Repo::new(CONFIG);
    repo.hooks("2.54").install(false).expect("it installs");
    let text = fs::read_to_string(repo.git("config")).expect("config");
    fs::write(repo.git("config"), text + "\n\tenabled = false\n").expect("config");
    let again = repo.hooks("2.54").install(false).expect("it installs");
    assert_eq!((Repo::methods(&again).as_str(), again.changed.len()), ("no no no no no", 0), "{again:?}");
    assert!(again.notes.concat().contains("hook.memo.enabled"), "{again:?}");
}

#[test]
fn a_hook_of_that_name_that_is_somebody_elses_stays() {
    let repo = Repo::new("[hook \"memo\"]\n\tcommand = theirs\n\tevent = post-commit\n");
    check("somebody else's", &repo, "2.54", false, "fi fi fi fi fi");
}

#[test]
fn a_newer_git_moves_from_files_to_the_configuration() {
    let repo = Repo::new(CONFIG);
    let before = repo.listing();
    repo.hooks("2.47").install(false).expect("it installs");
    let moved = repo.hooks("2.54").install(false).expect("it installs");
    assert_eq!(moved.method, HookMethod::Config);
    assert!(file::read_if_exists(&repo.git("hooks/post-commit")).expect("readable").is_none());
    repo.hooks("2.47").uninstall().expect("it uninstalls");
    assert_eq!(repo.listing(), before);
}
