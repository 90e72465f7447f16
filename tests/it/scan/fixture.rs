//! How do tests make a worktree, and what does git list in it?

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memod_base::paths::{Env, RepoLayout, canonicalize_path, effective_uid};
use memod_base::types::{ReadRefusal, SourceKey};
use memod_git::UserDirs;
use memod_scan::{AdmissionRules, ListedFile, ScanError, Verdict, Visit, lstat, walk};

pub(crate) const MAX_FILE_BYTES: u64 = 1 << 20;

/// A worktree in a directory of its own, with a home directory of its own beside it.
pub(crate) struct Fixture {
    pub(crate) root: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) top: PathBuf,
    _temp: tempfile::TempDir,
}

impl Fixture {
    /// Makes an empty directory that is not a repository.
    pub(crate) fn plain() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let top = canonicalize_path(temp.path()).unwrap();
        let (root, home) = (top.join("tree"), top.join("home"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&home).unwrap();
        Self { root, home, top, _temp: temp }
    }

    /// Makes an empty repository.
    pub(crate) fn new() -> Self {
        let fixture = Self::plain();
        fixture.git(&["init", "-q"]);
        fixture
    }

    pub(crate) fn git(&self, args: &[&str]) -> Vec<u8> {
        self.git_in(&self.root, args)
    }

    pub(crate) fn git_in(&self, dir: &Path, args: &[&str]) -> Vec<u8> {
        let output = self.command(dir, args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        output.stdout
    }

    /// Runs git without caring how it ends, as a merge with conflicts ends badly.
    pub(crate) fn git_may_fail(&self, args: &[&str]) {
        self.command(&self.root, args).output().unwrap();
    }

    fn command(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        let settings =
            ["user.name=t", "user.email=t@example.org", "init.defaultBranch=main", "commit.gpgSign=false"];
        for setting in settings.iter().chain(&["protocol.file.allow=always", "advice.addEmbeddedRepo=false"])
        {
            command.args(["-c", setting]);
        }
        command.args(args).current_dir(dir).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command.env("HOME", &self.home).env("GIT_CONFIG_NOSYSTEM", "1").env_remove("XDG_CONFIG_HOME");
        command
    }

    /// Writes a file of the worktree, with the directories above it.
    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        write(&self.root.join(path), text);
        self
    }

    /// Writes several files that each hold their own path.
    pub(crate) fn files(&self, paths: &[&str]) -> &Self {
        for path in paths {
            self.write(path, path);
        }
        self
    }

    pub(crate) fn write_home(&self, path: &str, text: &str) {
        write(&self.home.join(path), text);
    }

    pub(crate) fn commit_all(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    pub(crate) fn dirs(&self) -> UserDirs {
        UserDirs { home: Some(self.home.clone()), config_home: None, system_config: None }
    }

    pub(crate) fn layout(&self) -> RepoLayout {
        self.place_at(&self.root)
    }

    pub(crate) fn place_at(&self, root: &Path) -> RepoLayout {
        let env = Env { home: Some(self.home.clone()), uid: effective_uid(), ..Env::default() };
        RepoLayout::locate_or_assume_root(root, &env).unwrap()
    }

    pub(crate) fn admission(&self, layout: &RepoLayout) -> AdmissionRules {
        AdmissionRules::open_with_user_dirs(layout, &self.dirs(), MAX_FILE_BYTES).unwrap()
    }

    /// Returns what git lists and is on the disk, without the slash that git puts after other repositories.
    pub(crate) fn listed(&self, root: &Path) -> BTreeSet<String> {
        let stdout = self.git_in(root, &["ls-files", "-z", "-co", "--exclude-standard"]);
        let listed = stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let listed = listed.map(|path| path.strip_suffix(b"/").unwrap_or(path));
        let existing = listed.filter(|path| is_there(root, path));
        existing.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
    }
}

/// Whether `path` is there without a link on the way.
fn is_there(root: &Path, path: &[u8]) -> bool {
    let path = root.join(os_path(path));
    let mut parents = path.ancestors().skip(1).take_while(|dir| *dir != root);
    fs::symlink_metadata(&path).is_ok() && parents.all(|dir| fs::symlink_metadata(dir).unwrap().is_dir())
}

#[cfg(unix)]
pub(crate) fn os_path(path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(path))
}

#[cfg(not(unix))]
pub(crate) fn os_path(path: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(path).into_owned())
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What a walk met.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) dirs: Vec<String>,
    pub(crate) files: BTreeMap<String, Option<ReadRefusal>>,
    pub(crate) problems: Vec<String>,
}

impl Visit for Seen {
    fn before_listing(&mut self, abs: &Path, key: Option<&SourceKey>) {
        assert!(abs.is_absolute());
        self.dirs.push(key.map_or_else(String::new, ToString::to_string));
    }

    fn visit_file(&mut self, found: ListedFile) {
        let key = found.key.as_str().to_owned();
        assert!(self.files.insert(key.clone(), found.refusal).is_none(), "{key} was met twice");
    }

    fn report_problem(&mut self, _: Option<SourceKey>, problem: ScanError) {
        self.problems.push(problem.to_string());
    }

    fn report_unread(&mut self, key: Option<SourceKey>, why: String) {
        panic!("{key:?} cannot be read now: {why}");
    }
}

pub(crate) fn walk_all(fixture: &Fixture, layout: &RepoLayout) -> Seen {
    let mut seen = Seen::default();
    walk(layout, &mut fixture.admission(layout), None, &mut seen).unwrap();
    seen
}

/// Judges, one by one, every path that is on the disk, as a watcher would.
pub(crate) fn judge_all(fixture: &Fixture, layout: &RepoLayout) -> BTreeMap<String, Option<ReadRefusal>> {
    let mut admission = fixture.admission(layout);
    let mut paths = Vec::new();
    everything_below(&layout.root, &layout.root, &mut paths);
    paths.reverse(); // deepest and last first: the order must not matter
    let mut verdicts = BTreeMap::new();
    for path in paths {
        let key = SourceKey::new(path.clone());
        match admission.judge_path(&key, &lstat(&layout.root.join(&path)).unwrap()) {
            Verdict::Ignored => {}
            Verdict::Admitted => drop(verdicts.insert(path, None)),
            Verdict::Refused(reason) => drop(verdicts.insert(path, Some(reason))),
        }
    }
    verdicts
}

fn everything_below(root: &Path, dir: &Path, paths: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if let Some(relative) = path.strip_prefix(root).unwrap().to_str() {
            paths.push(if cfg!(windows) { relative.replace('\\', "/") } else { relative.to_owned() });
        }
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            everything_below(root, &path, paths);
        }
    }
}

/// Checks that walk, judge and git agree on one worktree, apart from `gits_only`, which git alone lists.
pub(crate) fn agree(name: &str, fixture: &Fixture, root: &Path, gits_only: &[&str]) -> Seen {
    let layout = fixture.place_at(root);
    let seen = walk_all(fixture, &layout);
    let mut listed = fixture.listed(root);
    for path in gits_only {
        assert!(listed.remove(*path), "{name}: git does not list {path}: {listed:#?}");
    }
    let walked: BTreeSet<String> = seen.files.keys().cloned().collect();
    assert_eq!(walked, listed, "{name}: walk on the left, git on the right");
    assert_eq!(judge_all(fixture, &layout), seen.files, "{name}: judge on the left, walk on the right");
    assert_eq!(seen.problems, [""; 0], "{name}");
    seen
}
