//! Checks all commit messages and files that a push would send for content that others may not have.
//!
//! A push sends the whole history that the remote does not have. A credential that a later commit removed is still in that history,
//! so the whole history is checked, not only the last files.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use memod_base::types::MAX_MEMORY_FILE_BYTES;
use memod_proto::memory::{CheckFilesParams, CheckFilesResult};
use memod_terminal::text::shorten_head;
use memod_terminal::{CliError, CommandContext};

use super::notes_commits::parse_tree_differences;
use super::notes_files::{UnsendableItem, memory_id_from_path};
use crate::memories::notes_git::{GitObject, NotesGit};
use crate::memories::request::new_caller;

/// Bytes of text from which a request is sent to the daemon.
const MOST_REQUEST_BYTES: usize = 1 << 20;
/// Git's mode of a regular file.
const FILE_MODE: &str = "100644";

/// The objects that may not be sent to others.
#[derive(Debug, Default)]
pub(super) struct ScreeningResult {
    /// Current files.
    pub(super) current: Vec<UnsendableItem>,
    /// Objects of the history: commits, and former versions of files that were changed or removed later.
    pub(super) former: Vec<UnsendableItem>,
}

/// Checks everything that a push of `commit` would send to a remote that has `known`. `invalid` has the paths of files that are not
/// valid memories.
///
/// # Errors
/// When git or the daemon fails; nothing may be sent then.
pub(super) fn screen_push(
    git: &NotesGit<'_>,
    context: &CommandContext,
    commit: &str,
    known: Option<&str>,
    invalid: &[String],
) -> Result<ScreeningResult, CliError> {
    let range: Vec<&str> =
        [commit].into_iter().chain(known.iter().flat_map(|known| ["--not", known])).collect();
    let commits = git.run_git(&[&["rev-list"], &range[..]].concat())?;
    if commits.is_empty() {
        return Ok(ScreeningResult::default());
    }
    let objects = git.run_git(&[&["rev-list", "--objects"], &range[..]].concat())?;
    let sent: HashSet<&str> = objects.lines().filter_map(|line| line.split(' ').next()).collect();
    let listed = git.run_git_with_input(
        &["diff-tree", "--stdin", "-m", "--root", "-r", "-z", "--no-commit-id", "--no-renames"],
        &format!("{commits}\n"),
    )?;
    let current = git.run_git(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
    // `MODE TYPE OBJECT<tab>PATH`
    let current: BTreeSet<(&str, &str)> = current
        .split('\0')
        .filter_map(|entry| entry.split_once('\t'))
        .filter_map(|(form, path)| Some((path, form.split(' ').nth(2)?)))
        .collect();
    let mut screened = ScreeningResult::default();
    let mut blobs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in parse_tree_differences(&listed) {
        let (Some((blob, mode)), path) = (entry.after, entry.path) else { continue };
        if mode != FILE_MODE || memory_id_from_path(path).is_none() {
            screened
                .former
                .push(UnsendableItem { path: path.to_owned(), why: "not a file of a memory".to_owned() });
        } else if sent.contains(blob) {
            blobs.entry(blob).or_default().insert(path);
        }
    }
    let ids: Vec<&str> = blobs.keys().copied().collect();
    let refused = find_refused_files(git, context, &ids)?;
    for (blob, paths) in &blobs {
        let is_invalid = paths.iter().any(|path| invalid.iter().any(|invalid| invalid == path));
        let why = match refused.get(*blob) {
            Some(why) => why.as_str(),
            None if is_invalid => "not a valid memory: `memo doctor` says why",
            None => continue,
        };
        for path in paths {
            let object = UnsendableItem { path: (*path).to_owned(), why: why.to_owned() };
            match current.contains(&(*path, *blob)) {
                true => screened.current.push(object),
                false => screened.former.push(object),
            }
        }
    }
    let ids: Vec<&str> = commits.lines().collect();
    screened.former.extend(find_refused_commits(git, context, &ids)?);
    Ok(screened)
}

/// Returns the ids of files that may not be sent to others, each with the reason.
fn find_refused_files<'a>(
    git: &NotesGit<'_>,
    context: &CommandContext,
    ids: &[&'a str],
) -> Result<BTreeMap<&'a str, String>, CliError> {
    let mut refused = BTreeMap::new();
    let (mut texts, mut n_bytes) = (Vec::new(), 0);
    let mut unread = Vec::new();
    git.for_each_object(ids, MAX_MEMORY_FILE_BYTES, |id, object| {
        match object {
            GitObject::Bytes(bytes) => match String::from_utf8(bytes) {
                Ok(text) => {
                    n_bytes += text.len();
                    texts.push((id, text));
                }
                Err(_) => unread.push((id, "file: not UTF-8".to_owned())),
            },
            GitObject::TooLarge => unread.push((id, format!("file: over {MAX_MEMORY_FILE_BYTES} bytes"))),
        }
        if n_bytes >= MOST_REQUEST_BYTES {
            n_bytes = 0;
            refused.extend(find_refused_texts(context, std::mem::take(&mut texts))?);
        }
        Ok(())
    })?;
    refused.extend(find_refused_texts(context, texts)?);
    refused.extend(unread);
    Ok(refused)
}

/// Asks the daemon which files, each an id and a text, may be sent to others. Returns the ids of the others, with the reasons.
fn find_refused_texts<'a>(
    context: &CommandContext,
    texts: Vec<(&'a str, String)>,
) -> Result<Vec<(&'a str, String)>, CliError> {
    let (ids, files): (Vec<&str>, Vec<String>) = texts.into_iter().unzip();
    let params = CheckFilesParams { caller: new_caller(context), files, texts: Vec::new() };
    let answer: CheckFilesResult = context.connect()?.call("memory.check_files", &params)?;
    let mut refused = Vec::new();
    for (nth, id) in ids.into_iter().enumerate() {
        // A file without an answer is not sent.
        match answer.files.get(nth) {
            Some(None) => {}
            Some(Some(why)) => refused.push((id, why.clone())),
            None => refused.push((id, "memod did not check it".to_owned())),
        }
    }
    Ok(refused)
}

/// Returns the commits that may not be sent to others, because of their messages or the names of their authors.
fn find_refused_commits(
    git: &NotesGit<'_>,
    context: &CommandContext,
    ids: &[&str],
) -> Result<Vec<UnsendableItem>, CliError> {
    let mut refused = Vec::new();
    for ids in ids.chunks(MOST_REQUEST_BYTES / (8 << 10)) {
        let mut texts = Vec::new();
        git.for_each_object(ids, MAX_MEMORY_FILE_BYTES, |_, object| {
            texts.push(match object {
                GitObject::Bytes(bytes) => text_of_commit(&String::from_utf8_lossy(&bytes)).to_owned(),
                GitObject::TooLarge => String::new(), // refused below as too long
            });
            Ok(())
        })?;
        let is_empty: Vec<bool> = texts.iter().map(String::is_empty).collect();
        let params = CheckFilesParams { caller: new_caller(context), files: Vec::new(), texts };
        let answer: CheckFilesResult = context.connect()?.call("memory.check_files", &params)?;
        for (nth, id) in ids.iter().enumerate() {
            let why = match answer.texts.get(nth) {
                _ if is_empty[nth] => "its message is too long".to_owned(),
                Some(None) => continue,
                Some(Some(why)) => why.clone(),
                None => "memod did not check it".to_owned(),
            };
            refused.push(UnsendableItem { path: format!("commit {}", shorten_head(id)), why });
        }
    }
    Ok(refused)
}

/// Returns the part of a raw commit that people wrote: author, committer and message.
fn text_of_commit(raw: &str) -> &str {
    raw.find("\nauthor ").map_or(raw, |at| &raw[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_people_wrote_into_a_commit_is_looked_at() {
        let raw = "tree 0123\nparent 4567\nauthor A <a@x> 1 +0000\ncommitter B <b@x> 2 +0000\n\nmemories\n";
        assert!(text_of_commit(raw).starts_with("author A") && text_of_commit(raw).ends_with("memories\n"));
        assert_eq!(text_of_commit("odd"), "odd");
    }
}
