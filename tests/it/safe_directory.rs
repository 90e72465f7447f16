//! Is a repository of another user refused and trusted as git does?

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::live::{Live, not_checked};

/// A user who owns the repository of these tests.
const THEM: u32 = 12_345;

/// Returns a repository that belongs to another user; `None` if this user cannot give one away.
fn repository_of_them() -> Option<Live> {
    if memod_base::paths::effective_uid() != 0 {
        not_checked("repositories of other owners; only root can give one away");
        return None;
    }
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    fs::set_permissions(live.sandbox.path(""), Permissions::from_mode(0o755)).unwrap();
    let given = Command::new("chown").args(["-R", &THEM.to_string()]).arg(live.root()).status();
    assert!(given.unwrap().success());
    Some(live)
}

/// Runs git and memo with variables; returns whether each of them takes the repository.
fn is_taken(live: &Live, variables: &[(&str, &str)]) -> (bool, bool) {
    let git = live.sandbox.program("git", &["status"]).envs(variables.iter().copied()).output().unwrap();
    let memo = live.memo(&["search", "alpha", "--wait-ms=60000"]).envs(variables.iter().copied()).output();
    let memo = memo.unwrap();
    let is_found = String::from_utf8_lossy(&memo.stdout).contains("a.md");
    if is_found {
        live.memo(&["stop"]).envs(variables.iter().copied()).output().unwrap();
    }
    assert!(is_found || String::from_utf8_lossy(&memo.stderr).contains("owned by uid"), "{memo:?}");
    (git.status.success(), is_found)
}

#[test]
fn what_git_trusts_is_trusted() {
    let Some(live) = repository_of_them() else { return };
    let root = live.root().display().to_string();
    let top = live.sandbox.path("").display().to_string();
    let with = |value: &str| {
        let pairs = [("COUNT", "1"), ("KEY_0", "safe.directory"), ("VALUE_0", value)];
        pairs.map(|(name, value)| (format!("GIT_CONFIG_{name}"), value.to_owned()))
    };
    let check = |value: &str, expected: bool| {
        let variables = with(value);
        let variables: Vec<_> = variables.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(is_taken(&live, &variables), (expected, expected), "safe.directory={value}");
    };
    check("*", true);
    check(&root, true);
    check(&format!("{}/*", top.trim_end_matches('/')), true);
    check(&top, false);
    check("work", false);
    check("", false);
    assert_eq!(is_taken(&live, &[]), (false, false), "without a setting");
    assert_eq!(is_taken(&live, &[("SUDO_UID", &THEM.to_string())]), (true, true), "under sudo");
    assert_eq!(is_taken(&live, &[("SUDO_UID", "54321")]), (false, false), "under somebody's sudo");
    // Nothing is written where its owner could not read or remove it.
    assert!(!live.root().join(".git/memo").exists());
}

#[test]
fn the_advice_is_gits_and_works() {
    let Some(live) = repository_of_them() else { return };
    let said = live.sandbox.show(&mut live.memo(&["search", "alpha"]));
    let advice = "git config --global --add safe.directory [TOP]/work";
    assert!(said.contains(&format!("or trust it: {advice}\n")), "{said}");
    // A setting of the repository itself does not count.
    let config = live.root().join(".git/config");
    let own = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{own}[safe]\n directory = *\n")).unwrap();
    assert_eq!(is_taken(&live, &[]), (false, false), "by its own setting");
    let root = live.root().display().to_string();
    live.git_in(&live.sandbox.path("home"), &["config", "--global", "--add", "safe.directory", &root]);
    assert_eq!(is_taken(&live, &[]), (true, true), "after the advice");
    // An included file counts, and an empty value removes what is before it.
    let included = live.sandbox.path("home/more");
    fs::write(&included, "[safe]\n directory =\n").unwrap();
    let more = included.display().to_string();
    live.git_in(&live.sandbox.path("home"), &["config", "--global", "include.path", &more]);
    assert_eq!(is_taken(&live, &[]), (false, false), "after an included reset");
}
