//! Makes the repository of the demo with git, independent of the user's settings.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use memod_base::paths::IoContext;
use memod_client::child::clear_git_env;
use memod_terminal::CliError;

/// The commits of the shop, as `git fast-import` reads them.
const HISTORY: &str = include_str!("shop.fast-import");

/// The domain in the addresses of the shop's authors, which nobody owns (RFC 2606).
pub(super) const AUTHOR_DOMAIN: &str = "@shop.example";

/// The file in the git dir by which a demo is recognised.
const MARKER_FILE: &str = "memod-demo";
const MARKER_TEXT: &str = "`memo demo` made this repository, and `memo demo --remove` removes it.\n";

/// The file that the demo edits.
pub(super) const EDITED_FILE: &str = "src/session.rs";
/// The line before and after the edit.
pub(super) const OLD_LINE: &str = "pub const LIFETIME_S: u64 = 24 * 60 * 60;";
pub(super) const NEW_LINE: &str = "pub const LIFETIME_S: u64 = 12 * 60 * 60;";

/// Settings that the user may have changed and that would change the commits or their files, or run programs.
const SETTINGS: [&str; 10] = [
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "init.defaultBranch=main",
    "safe.directory=*",
    "user.name=memo",
    "user.email=memo@shop.example",
];

/// Creates the repository with its commits and files. The directory is new or empty.
///
/// # Errors
/// When git cannot be started or fails, or a file cannot be written. If git cannot be started, nothing was created.
pub(super) fn make_repository(dir: &Path) -> Result<(), CliError> {
    // Without a template, no hooks or other files of the user are copied.
    let mut init = new_git_command();
    init.args(["init", "--quiet", "--template=", "--"]).arg(dir);
    run_git_command(&mut init, "init")?;
    let marker = dir.join(".git").join(MARKER_FILE);
    fs::write(&marker, MARKER_TEXT).at("write", &marker)?;
    import_history(dir)?;
    run_git(dir, &["checkout", "--quiet", "--force", "main"])?;
    Ok(())
}

/// Returns whether `memo demo` has made the repository of this directory.
pub(super) fn is_demo(dir: &Path) -> bool {
    let git_dir = dir.join(".git");
    let is_real_dir = fs::symlink_metadata(&git_dir).is_ok_and(|meta| meta.is_dir());
    is_real_dir && fs::read(git_dir.join(MARKER_FILE)).is_ok_and(|text| text == MARKER_TEXT.as_bytes())
}

/// Returns the number of commits that `memo demo` makes.
pub(super) fn count_own_commits() -> usize {
    HISTORY.lines().filter(|line| line.starts_with("commit refs/")).count()
}

/// Replaces [`OLD_LINE`] by [`NEW_LINE`], as an editor would.
pub(super) fn edit_file(dir: &Path) -> Result<(), CliError> {
    let path = dir.join(EDITED_FILE);
    let text = fs::read_to_string(&path).at("read", &path)?;
    Ok(fs::write(&path, text.replace(OLD_LINE, NEW_LINE)).at("write", &path)?)
}

/// Returns whether the demo has written this text into the file of this path, in a commit or by its edit. Line ends do not count,
/// because git converts them if the user's settings say so.
pub(super) fn is_text_of_demo(path: &str, text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n");
    let mut versions = file_versions().filter(|version| version.0 == path);
    versions.any(|(_, version)| {
        text == version || (path == EDITED_FILE && text == version.replace(OLD_LINE, NEW_LINE))
    })
}

/// Returns the path and the text of each file in each commit.
fn file_versions() -> impl Iterator<Item = (&'static str, &'static str)> {
    HISTORY.split("\nM 100644 inline ").skip(1).filter_map(|part| {
        let (path, text) = part.split_once("\ndata <<END\n")?;
        Some((path, &text[..=text.find("\nEND")?]))
    })
}

/// Runs git in the repository of the demo, and returns its output.
///
/// # Errors
/// When git cannot be started or fails.
pub(super) fn run_git(dir: &Path, args: &[&str]) -> Result<String, CliError> {
    let output = run_git_command(&mut command_in(dir, args), args[0])?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns whether git exits with 0.
///
/// # Errors
/// When git cannot be started.
pub(super) fn git_says_yes(dir: &Path, args: &[&str]) -> Result<bool, CliError> {
    command_in(dir, args)
        .output()
        .map(|output| output.status.success())
        .map_err(|error| not_started_error(&error))
}

/// Makes all commits with one process, which runs no hooks and signs nothing.
fn import_history(dir: &Path) -> Result<(), CliError> {
    let input = dir.join(".git/memod-demo-history");
    // A pipe is not used, because it could block both processes.
    File::create(&input).and_then(|mut file| file.write_all(HISTORY.as_bytes())).at("write", &input)?;
    let mut command = command_in(dir, &["fast-import", "--quiet", "--done"]);
    command.stdin(File::open(&input).at("open", &input)?);
    run_git_command(&mut command, "fast-import")?;
    Ok(fs::remove_file(&input).at("remove", &input)?)
}

fn command_in(dir: &Path, args: &[&str]) -> Command {
    let mut command = new_git_command();
    // git must not look for a repository around the demo.
    command.current_dir(dir).args(["--git-dir=.git", "--work-tree=."]).args(args);
    command
}

fn new_git_command() -> Command {
    let mut command = Command::new("git");
    clear_git_env(&mut command);
    command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1");
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).stdin(Stdio::null());
    command
}

fn run_git_command(command: &mut Command, verb: &str) -> Result<Output, CliError> {
    let output = command.output().map_err(|error| not_started_error(&error))?;
    if output.status.success() {
        return Ok(output);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let reason = stderr.lines().next_back().unwrap_or("failed without a message");
    Err(CliError::Git {
        message: format!("git {verb}: {reason}"),
        hint: "correct the cause, or name another directory: `memo demo DIR`".to_owned(),
    })
}

fn not_started_error(error: &std::io::Error) -> CliError {
    CliError::Git {
        message: format!("git cannot be started: {error}"),
        hint: "install git, or put it into PATH".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_each_commit_are_known() {
        let paths: Vec<&str> = file_versions().map(|(path, _)| path).collect();
        assert_eq!(
            paths,
            [
                "docs/auth.md",
                "src/keys.rs",
                "src/session.rs",
                "src/lib.rs",
                "src/renewal.rs",
                "web/renew.ts",
                "src/lib.rs",
                "docs/auth.md",
                "src/session.rs",
                "src/account.rs",
                "src/lib.rs",
            ]
        );
        let (_, newest) =
            file_versions().filter(|(path, _)| *path == EDITED_FILE).last().expect("it is there");
        assert_eq!(newest.matches(OLD_LINE).count(), 1);
        assert!(newest.starts_with("//! ") && newest.ends_with("}\n"));
        assert!(is_text_of_demo(EDITED_FILE, newest.replace(OLD_LINE, NEW_LINE).as_bytes()));
        assert!(!is_text_of_demo(EDITED_FILE, newest.replace("24", "36").as_bytes()));
        assert!(is_text_of_demo(EDITED_FILE, newest.replace('\n', "\r\n").as_bytes()));
        assert!(!is_text_of_demo("src/other.rs", newest.as_bytes()));
    }
}
