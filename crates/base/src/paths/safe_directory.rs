//! Decides as git does whether a repository that belongs to another user may be used: by `safe.directory`.
//!
//! Git itself reads the setting, because its files can include others. It reads no repository for that, so nothing of the other user
//! has an effect.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Time limit for git to list a setting. A FIFO in the place of a settings file blocks git.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Variables with settings of git, which a program that is started needs to trust the same directories. They name no worktree.
/// A name that ends with `_` means that name with any number after it.
const SETTINGS_VARIABLES: [&str; 7] = [
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// Returns whether a variable of the environment has settings of git, and names no worktree.
pub fn is_git_settings_variable(name: &str) -> bool {
    SETTINGS_VARIABLES.iter().any(|known| match known.strip_suffix('_') {
        Some(_) => name.starts_with(known),
        None => name == *known,
    })
}

/// Returns whether the user's settings of git name `root` in `safe.directory`. Without git, none do.
pub(super) fn is_safe_directory(root: &Path, home: Option<&Path>) -> bool {
    is_listed(&list_safe_directories(home).unwrap_or_default(), root)
}

/// Returns the values of `safe.directory` in the settings of the system, the user and the environment, in git's order; `None` if git
/// cannot list them.
fn list_safe_directories(home: Option<&Path>) -> Option<Vec<String>> {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        let is_git = name.as_encoded_bytes().starts_with(b"GIT_");
        if is_git && !name.to_str().is_some_and(is_git_settings_variable) {
            command.env_remove(name);
        }
    }
    // The settings of a repository do not count. This git dir keeps git from looking for one.
    command.args(["config", "-z", "--show-scope", "--path", "--get-all", "safe.directory"]);
    command.env("GIT_DIR", "/dev/null").current_dir("/");
    if let Some(home) = home {
        command.env("HOME", home);
    }
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped()).spawn().ok()?;
    let mut stdout = child.stdout.take()?;
    let (send, receive) = mpsc::sync_channel(1);
    let reader = thread::Builder::new().name("safe-directory".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    let bytes = reader.ok().and_then(|_| receive.recv_timeout(MAX_WAIT).ok());
    if bytes.is_none() {
        let _ = child.kill();
    }
    let _ = child.wait();
    let text = String::from_utf8_lossy(&bytes?).into_owned();
    let mut fields = text.split('\0');
    let mut values = Vec::new();
    while let (Some(scope), Some(value)) = (fields.next(), fields.next()) {
        if matches!(scope, "system" | "global" | "command") {
            values.push(value.to_owned());
        }
    }
    Some(values)
}

/// Returns whether values of `safe.directory` name a directory, as `safe_directory_cb` of git decides: an empty value removes those
/// before it, `*` is every directory, and `DIR/*` every directory below `DIR`.
fn is_listed(values: &[String], root: &Path) -> bool {
    let mut is_safe = false;
    for value in values {
        is_safe = match value.as_str() {
            "" => false,
            "*" => true,
            _ => is_safe || names_directory(value, root),
        };
    }
    is_safe
}

/// Returns whether one value names a directory. A relative path names none.
fn names_directory(value: &str, root: &Path) -> bool {
    let resolve = |path: &str| {
        let path = PathBuf::from(path);
        path.is_absolute().then(|| dunce::canonicalize(&path).unwrap_or(path))
    };
    match value.strip_suffix("/*") {
        Some(above) => resolve(above).is_some_and(|above| root != above && root.starts_with(above)),
        None => resolve(value).is_some_and(|path| path == root),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_safe_as_git_says() {
        let check = |values: &[&str], expected: bool| {
            // A path of Windows is absolute only with its drive.
            let top = if cfg!(windows) { "C:" } else { "" };
            let add_top =
                |path: &str| if path.starts_with('/') { format!("{top}{path}") } else { path.to_owned() };
            let values: Vec<String> = values.iter().map(|value| add_top(value)).collect();
            let root = add_top("/srv/of-them/work");
            assert_eq!(is_listed(&values, Path::new(&root)), expected, "{values:?}");
        };
        check(&[], false);
        check(&["*"], true);
        check(&["*", ""], false);
        check(&["", "*"], true);
        check(&["/srv/of-them/work"], true);
        check(&["/srv/of-them/work/"], true);
        check(&["/srv/of-them"], false);
        check(&["/srv/of-them/*"], true);
        check(&["/srv/*"], true);
        check(&["/srv/of-them/work/*"], false);
        check(&["of-them/work", "."], false);
        check(&["/srv/of-them/work", "/other"], true);
    }

    #[test]
    fn settings_of_git_are_told_from_places() {
        for name in ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_12", "GIT_CONFIG_VALUE_0", "GIT_CONFIG_PARAMETERS"] {
            assert!(is_git_settings_variable(name), "{name}");
        }
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG", "GIT_CONFIG_COUNTED", "PATH"]
        {
            assert!(!is_git_settings_variable(name), "{name}");
        }
    }
}
