//! Removes a demo, unless it has anything that a person wrote.

use std::fs;
use std::path::Path;

use memod_base::paths::{
    IoContext, RepoLayout, canonicalize_path, find_files_to_keep, may_have_memories, remove_state_dir,
};
use memod_base::types::MEMORY_FILES_DIR;
use memod_client::{ClientOptions, StoppedMemories, lock_out_daemons};
use memod_memory::file::MemoryFile;
use memod_proto::memory::Memory;
use memod_terminal::text::format_count;
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};
use serde::Serialize;

use super::shop_repository::{
    AUTHOR_DOMAIN, count_own_commits, git_says_yes, is_demo, is_text_of_demo, run_git,
};
use super::walk_steps::NOTE;

/// Most files, branches and the like that a message names.
const MOST_NAMED: usize = 5;

/// Most bytes of a file of the demo; a larger file is not read.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// The names in `.git` of what git, memo and the demo write. A file with any other name is somebody's own.
const OWN_GIT_ENTRIES: [&str; 15] = [
    "COMMIT_EDITMSG",
    "FETCH_HEAD",
    "HEAD",
    "ORIG_HEAD",
    "branches",
    "config",
    "gc.log",
    "index",
    "logs",
    "memo",
    "memod-demo",
    "memod-demo-history",
    "objects",
    "packed-refs",
    "refs",
];

/// How the lines of a hook begin that has nothing but what `memo init` writes.
const HOOK_LINES: [&str; 6] = [
    "#!/bin/sh",
    "# Made by `memo hooks install`",
    "# >>> memo hooks >>>",
    "{ [ -f \"${GIT_DIR:-.git}/memo/cookies/",
    "if [ -f \"${GIT_DIR:-.git}/memo/cookies/",
    "# <<< memo hooks <<<",
];

/// The settings that `git init` writes.
const INIT_SETTINGS: [&str; 10] = [
    "core.bare",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.repositoryformatversion",
    "core.symlinks",
    "extensions.compatobjectformat",
    "extensions.objectformat",
    "extensions.refstorage",
];

/// The outcome of a removal.
#[derive(Serialize)]
struct RemovalReport {
    root: String,
    removed: bool,
    /// The additions to a demo, which is therefore kept.
    kept_for: Vec<String>,
}

/// Stops the daemon of a demo, and removes the demo with its state. Exits with 1, and removes nothing, if somebody has added
/// something to it.
pub(super) fn remove_demo(dir: &Path, output: &mut Output) -> CliResult {
    let dir = canonicalize_path(dir)?;
    if !is_demo(&dir) {
        return Err(CliError::Usage {
            message: format!("{}: not a demo that `memo demo` made; nothing was changed", dir.display()),
            hint: "name the directory of a demo: `memo demo --remove DIR`",
        });
    }
    let CommandContext { layout, env, .. } = CommandContext::find(Some(&dir))?;
    let state_dirs = layout.all_state_dirs(&env);
    // Until the end no client can start a daemon, which would use the state while it is removed.
    let has_state = state_dirs.contains(&layout.state_dir);
    let locks = has_state.then(|| lock_out_daemons(&layout, &env, &ClientOptions::read())).transpose()?;
    let mut kept_for = Vec::new();
    find_other_files(&dir, "", &mut kept_for)?;
    find_other_git_data(&dir, &mut kept_for)?;
    for state_dir in &state_dirs {
        kept_for.extend(find_files_to_keep(state_dir).iter().map(|path| path.display().to_string()));
    }
    if layout.config_file().exists() {
        kept_for.push("settings of the repository".to_owned());
    }
    if has_state {
        find_other_memories(&layout, &mut kept_for)?;
    }
    let removed = kept_for.is_empty();
    if removed {
        state_dirs.iter().try_for_each(|dir| remove_state_dir(dir))?;
        fs::remove_dir_all(&dir).at("remove", &dir)?;
    }
    drop(locks);
    let report = RemovalReport { root: dir.display().to_string(), removed, kept_for };
    output.write_result(&report, |output| {
        print_removal(&report, output);
        Ok(())
    })?;
    Ok(if removed { 0 } else { EXIT_NOTHING_FOUND })
}

fn print_removal(report: &RemovalReport, output: &Output) {
    if report.removed {
        output.write_note(&format!("removed {}", report.root));
        return;
    }
    let mut named = report.kept_for[..report.kept_for.len().min(MOST_NAMED)].join(", ");
    let n_more = report.kept_for.len().saturating_sub(MOST_NAMED);
    if n_more > 0 {
        named += &format!(" and {n_more} more");
    }
    output.write_warning(&format!(
        "{}: not removed, because it contains files that the demo did not create: {named}",
        report.root
    ));
    output.write_hint("move them elsewhere and run the command again, or delete the directory yourself");
}

/// Adds the files below a directory that differ from those of the demo.
fn find_other_files(root: &Path, below: &str, found: &mut Vec<String>) -> Result<(), CliError> {
    let dir = root.join(below);
    let mut names: Vec<_> =
        fs::read_dir(&dir).at("list", &dir)?.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names {
        let path = format!("{below}{}", name.to_string_lossy());
        let file = dir.join(&name);
        let kind = fs::symlink_metadata(&file).at("look at", &file)?.file_type();
        if path == ".git" {
            continue;
        }
        if name.to_str().is_none() {
            found.push(path);
            continue;
        }
        if kind.is_dir() {
            find_other_files(root, &format!("{path}/"), found)?;
        } else if !kind.is_file() || is_large(&file) {
            found.push(path);
        } else {
            let text = fs::read(&file).at("read", &file)?;
            let is_own = is_text_of_demo(&path, &text) || is_shared_note(&path, &text);
            found.extend((!is_own).then_some(path));
        }
    }
    Ok(())
}

/// Returns whether a file is that of the demo's note, which the user's settings may share.
fn is_shared_note(path: &str, text: &[u8]) -> bool {
    let file = str::from_utf8(text).ok().and_then(|text| MemoryFile::parse(text).ok());
    path.starts_with(MEMORY_FILES_DIR)
        && file.is_some_and(|file| {
            file.content == NOTE
                && file.updated == file.created
                && file.title.is_none()
                && (file.tags.len(), file.links.len(), file.metadata.len()) == (0, 0, 0)
                && (file.others.len(), file.comments.len()) == (0, 0)
        })
}

fn is_large(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|meta| meta.len() > MAX_FILE_BYTES)
}

/// Adds the commits, branches, settings and files of the git dir that are not those of the demo, and whether changes are staged.
fn find_other_git_data(root: &Path, found: &mut Vec<String>) -> Result<(), CliError> {
    // With reflogs, the commits that somebody has made and dropped count too.
    let emails = run_git(root, &["rev-list", "--all", "--reflog", "--format=%ce"])?;
    let committers: Vec<&str> = emails.lines().filter(|line| !line.starts_with("commit ")).collect();
    // Somebody may have set the address of the demo, or have dropped a commit of the demo.
    let n_foreign = committers.iter().filter(|email| !email.ends_with(AUTHOR_DOMAIN)).count();
    let n_commits = n_foreign.max(committers.len().saturating_sub(count_own_commits())) as u64;
    if n_commits > 0 {
        found.push(format_count(n_commits, "commit", "commits"));
    }
    let refs = run_git(root, &["for-each-ref", "--format=%(refname)"])?;
    found.extend(refs.lines().filter(|name| *name != "refs/heads/main").map(str::to_owned));
    let is_staged = if git_says_yes(root, &["rev-parse", "--quiet", "--verify", "HEAD"])? {
        !git_says_yes(root, &["diff-index", "--cached", "--quiet", "HEAD"])?
    } else {
        root.join(".git/index").exists() // a demo that was interrupted has neither
    };
    if is_staged {
        found.push("staged changes".to_owned());
    }
    let git_dir = root.join(".git");
    let entries = fs::read_dir(&git_dir).at("list", &git_dir)?.flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    // git leaves empty directories and its lists of refs behind.
    let others = names.filter(|name| {
        let is_own_hooks = name == "hooks" && has_only_own_hooks(&git_dir.join(name));
        !OWN_GIT_ENTRIES.contains(&&**name) && !is_own_hooks && !has_no_file_but(&git_dir.join(name), "refs")
    });
    found.extend(others.map(|name| format!(".git/{name}")));
    let settings = run_git(root, &["config", "--local", "--list", "--name-only"])?;
    let others = settings.lines().filter(|name| !INIT_SETTINGS.contains(name));
    found.extend(others.map(|name| format!("git config {name}")));
    Ok(())
}

/// Returns whether all files of a directory are hooks as `memo init` writes them.
fn has_only_own_hooks(dir: &Path) -> bool {
    let is_own = |file: &Path| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let is_own = |line: &str| line == ":" || HOOK_LINES.iter().any(|start| line.starts_with(start));
        text.contains(HOOK_LINES[2]) && text.lines().all(is_own)
    };
    fs::read_dir(dir)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_own(&entry.path()))))
}

/// Returns whether a path is a directory that has at most a file of this name.
fn has_no_file_but(dir: &Path, name: &str) -> bool {
    fs::read_dir(dir)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == name)))
}

/// Returns whether a memory is not as the demo has written it.
fn is_changed(memory: &Memory) -> bool {
    memory.content != NOTE
        || memory.title.is_some()
        || !memory.tags.is_empty()
        || memory.updated != memory.created
}

/// Adds the number of memories that are not those of the demo. The caller has locked out daemons.
fn find_other_memories(layout: &RepoLayout, found: &mut Vec<String>) -> Result<(), CliError> {
    if !may_have_memories(&layout.state_dir) {
        return Ok(());
    }
    let mut pages = StoppedMemories::open(layout, &ClientOptions::read())?;
    let (mut n_memories, mut n_ends) = (0, 0);
    while n_ends < 2 {
        let page = pages.next_page()?; // the living memories, then those of the archive
        n_memories += page.memories.iter().filter(|memory| is_changed(memory)).count() as u64;
        n_ends += u32::from(page.next.is_none());
    }
    if n_memories > 0 {
        found.push(format_count(n_memories, "memory", "memories"));
    }
    Ok(())
}
