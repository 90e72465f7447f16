//! Checks everything that a push would send for what others may not have: the messages of commits, and every file of them.
//!
//! What the remote had may have been taken out of it, as a credential is. A push sends the whole history that the remote does not
//! have, so that is looked at, not only what differs.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use memod_base::types::MAX_MEMORY_FILE;
use memod_proto::memory::{CheckFilesParams, CheckFilesResult};

use super::notes_commits::entries;
use super::notes_files::{Unfit, id_of_path};
use super::notes_git::{NotesGit, Object};
use super::request::caller;
use crate::context::CommandContext;
use crate::error::CliError;
use crate::text::short_head;

/// Most bytes of text that the daemon is asked about at once.
const AT_ONCE: usize = 1 << 20;
/// The mode of a file.
const FILE: &str = "100644";

/// What others may not have.
#[derive(Debug, Default)]
pub(super) struct Screened {
    /// Files as they are now.
    pub(super) now: Vec<Unfit>,
    /// What was there before: messages, and files that were changed or removed.
    pub(super) before: Vec<Unfit>,
}

/// Looks at everything that a push of a commit would send to one who has another one; `bad` are paths of files that the daemon takes
/// for no memories.
///
/// # Errors
/// When git or the daemon fails; nothing may be sent then.
pub(super) fn screen(
    git: &NotesGit<'_>,
    context: &CommandContext,
    commit: &str,
    known: Option<&str>,
    bad: &[String],
) -> Result<Screened, CliError> {
    let range: Vec<&str> =
        [commit].into_iter().chain(known.iter().flat_map(|known| ["--not", known])).collect();
    let commits = git.run(&[&["rev-list"], &range[..]].concat())?;
    if commits.is_empty() {
        return Ok(Screened::default());
    }
    let objects = git.run(&[&["rev-list", "--objects"], &range[..]].concat())?;
    let sent: HashSet<&str> = objects.lines().filter_map(|line| line.split(' ').next()).collect();
    let listed = git.run_fed(
        &["diff-tree", "--stdin", "-m", "--root", "-r", "-z", "--no-commit-id", "--no-renames"],
        &format!("{commits}\n"),
    )?;
    let now = git.run(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
    // `MODE TYPE OBJECT<tab>PATH`
    let now: BTreeSet<(&str, &str)> = now
        .split('\0')
        .filter_map(|entry| entry.split_once('\t'))
        .filter_map(|(form, path)| Some((path, form.split(' ').nth(2)?)))
        .collect();
    let mut screened = Screened::default();
    let mut blobs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in entries(&listed) {
        let (Some((blob, mode)), path) = (entry.after, entry.path) else { continue };
        if mode != FILE || id_of_path(path).is_none() {
            screened.before.push(Unfit { path: path.to_owned(), why: "no file of a memory".to_owned() });
        } else if sent.contains(blob) {
            blobs.entry(blob).or_default().insert(path);
        }
    }
    let mut note = |blob: &str, why: &str| {
        for path in blobs.get(blob).into_iter().flatten() {
            let unfit = Unfit { path: (*path).to_owned(), why: why.to_owned() };
            match now.contains(&(path, blob)) {
                true => screened.now.push(unfit),
                false => screened.before.push(unfit),
            }
        }
    };
    let ids: Vec<&str> = blobs.keys().copied().collect();
    let refused = refused_files(git, context, &ids)?;
    for (blob, paths) in &blobs {
        let is_bad = || paths.iter().any(|path| bad.iter().any(|bad| bad == path));
        match refused.get(*blob) {
            Some(why) => note(blob, why),
            None if is_bad() => note(blob, "no memory here: `memo doctor` says why"),
            None => {}
        }
    }
    let ids: Vec<&str> = commits.lines().collect();
    screened.before.extend(refused_commits(git, context, &ids)?);
    Ok(screened)
}

/// Returns for which files others may not have them, and why.
fn refused_files<'a>(
    git: &NotesGit<'_>,
    context: &CommandContext,
    ids: &[&'a str],
) -> Result<BTreeMap<&'a str, String>, CliError> {
    let mut refused = BTreeMap::new();
    let (mut texts, mut n_bytes) = (Vec::new(), 0);
    let mut check = |texts: &mut Vec<(&'a str, String)>| -> Result<(), CliError> {
        let (ids, files): (Vec<&str>, Vec<String>) = std::mem::take(texts).into_iter().unzip();
        let params = CheckFilesParams { caller: caller(context), files, texts: Vec::new() };
        let answer: CheckFilesResult = context.connect()?.call("memory.check_files", &params)?;
        for (nth, id) in ids.into_iter().enumerate() {
            // What was not answered is not sent.
            match answer.files.get(nth) {
                Some(None) => {}
                Some(Some(why)) => drop(refused.insert(id, why.clone())),
                None => drop(refused.insert(id, "memod did not answer about it".to_owned())),
            }
        }
        Ok(())
    };
    let mut unread = Vec::new();
    git.each_object(ids, MAX_MEMORY_FILE, |id, object| {
        match object {
            Object::Bytes(bytes) => match String::from_utf8(bytes) {
                Ok(text) => {
                    n_bytes += text.len();
                    texts.push((id, text));
                }
                Err(_) => unread.push((id, "file: not UTF-8".to_owned())),
            },
            Object::TooLarge => unread.push((id, format!("file: over {MAX_MEMORY_FILE} bytes"))),
        }
        if n_bytes >= AT_ONCE {
            n_bytes = 0;
            check(&mut texts)?;
        }
        Ok(())
    })?;
    check(&mut texts)?;
    refused.extend(unread);
    Ok(refused)
}

/// Returns the commits that others may not have: by their messages, or the names of who made them.
fn refused_commits(
    git: &NotesGit<'_>,
    context: &CommandContext,
    ids: &[&str],
) -> Result<Vec<Unfit>, CliError> {
    let mut refused = Vec::new();
    for ids in ids.chunks(AT_ONCE / (8 << 10)) {
        let mut texts = Vec::new();
        git.each_object(ids, MAX_MEMORY_FILE, |_, object| {
            texts.push(match object {
                Object::Bytes(bytes) => said_of_commit(&String::from_utf8_lossy(&bytes)).to_owned(),
                Object::TooLarge => String::new(), // told below
            });
            Ok(())
        })?;
        let is_empty: Vec<bool> = texts.iter().map(String::is_empty).collect();
        let params = CheckFilesParams { caller: caller(context), files: Vec::new(), texts };
        let answer: CheckFilesResult = context.connect()?.call("memory.check_files", &params)?;
        for (nth, id) in ids.iter().enumerate() {
            let why = match answer.texts.get(nth) {
                _ if is_empty[nth] => "its message is too long".to_owned(),
                Some(None) => continue,
                Some(Some(why)) => why.clone(),
                None => "memod did not answer about it".to_owned(),
            };
            refused.push(Unfit { path: format!("commit {}", short_head(id)), why });
        }
    }
    Ok(refused)
}

/// Returns what people have written into a commit: who made it, and the message.
fn said_of_commit(raw: &str) -> &str {
    raw.find("\nauthor ").map_or(raw, |at| &raw[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_people_wrote_into_a_commit_is_looked_at() {
        let raw = "tree 0123\nparent 4567\nauthor A <a@x> 1 +0000\ncommitter B <b@x> 2 +0000\n\nmemories\n";
        assert!(said_of_commit(raw).starts_with("author A") && said_of_commit(raw).ends_with("memories\n"));
        assert_eq!(said_of_commit("odd"), "odd");
    }
}
