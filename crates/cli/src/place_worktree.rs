//! Finds the worktree that contains the paths in a command, in this repository or in another.

use std::path::{Path, PathBuf};

use memod_base::paths::{RepoLayout, canonicalize_path};
use memod_base::types::parse_target;
use memod_terminal::text::{escape_for_display, shell_word};
use memod_terminal::{CliError, CommandContext};

use crate::args::MemoVerb;

/// Characters with which the pattern in a glob begins.
const GLOB_MARKS: [char; 4] = ['*', '?', '[', '{'];

/// Returns the root of another worktree of the repository in which the places of a verb lie, and makes these places absolute; `None` if
/// they lie in this worktree, or do not exist.
///
/// # Errors
/// When a place lies in another repository, as in a submodule, or when places lie in several worktrees.
pub(crate) fn find_other_worktree(
    verb: &mut MemoVerb,
    verb_name: &str,
    context: &CommandContext,
) -> Result<Option<PathBuf>, CliError> {
    // A commit of this repository may change which commit of a submodule it has.
    let is_own_entry = matches!(verb, MemoVerb::Why(_) | MemoVerb::Changed(_));
    let has_target =
        !matches!(verb, MemoVerb::Search(_) | MemoVerb::Add(_) | MemoVerb::List(_) | MemoVerb::Update(_));
    let mut places = verb.worktree_paths_mut();
    let is_only_word = has_target && places.len() == 1;
    let mut other: Option<PathBuf> = None;
    let (mut elsewhere, mut own) = (Vec::new(), None);
    for (nth, place) in places.iter().enumerate() {
        let Some(path) = find_existing_path(place, Path::new(&context.cwd)) else { continue };
        let Some(layout) = locate_outside(&path, is_own_entry, context) else {
            own = Some(nth);
            continue;
        };
        let is_same_repository =
            layout.common_dir.is_some() && layout.common_dir == context.layout.common_dir;
        if !is_same_repository {
            let asked = is_only_word.then(|| place_in(&layout.root, place, &path)).flatten();
            return Err(other_repository_error(place, &layout.root, (verb_name, asked), context));
        }
        if other.as_ref().is_some_and(|root| *root != layout.root) {
            return Err(several_worktrees_error(place, &layout.root));
        }
        other = Some(layout.root);
        elsewhere.push(nth);
    }
    let Some(root) = other else { return Ok(None) };
    if own.is_some() {
        return Err(several_worktrees_error(places[elsewhere[0]], &root));
    }
    for nth in elsewhere {
        let place = &mut *places[nth];
        let typed = place.trim_start_matches('!');
        if !typed.starts_with("file:") && Path::new(typed).is_relative() {
            let n_marks = place.len() - typed.len();
            *place = format!("{}{}/{typed}", &place[..n_marks], context.cwd);
        }
    }
    Ok(Some(root))
}

/// Returns the existing path that a place names. For a path that does not exist, and for a glob, this is the nearest directory above;
/// `None` if there is none.
fn find_existing_path(place: &str, cwd: &Path) -> Option<PathBuf> {
    let place = place.trim_start_matches('!');
    let place = place.strip_prefix("file://").unwrap_or(place);
    let exists = |path: &str| {
        let path = cwd.join(path);
        (path != cwd && path.symlink_metadata().is_ok()).then_some(path)
    };
    let named = parse_target(place).into_iter().find_map(|(path, _)| exists(path));
    named.or_else(|| {
        let before = place.split(GLOB_MARKS).next().unwrap_or_default();
        before.rmatch_indices('/').find_map(|(end, _)| exists(&before[..end]))
    })
}

/// Returns the worktree around a path if that is not the worktree of the command. With `is_own_entry`, the top of a repository below
/// the worktree is a file of the worktree.
fn locate_outside(path: &Path, is_own_entry: bool, context: &CommandContext) -> Option<RepoLayout> {
    let is_dir = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let dir = canonicalize_path(if is_dir { path } else { path.parent()? }).ok()?;
    let root = &context.layout.root;
    let is_inside = |dir: &Path| dir.starts_with(root) && dir != root;
    let is_top = |dir: &&Path| dir.join(".git").symlink_metadata().is_ok();
    if dir.starts_with(root) {
        let nested = dir.ancestors().take_while(|dir| is_inside(dir)).find(is_top)?;
        if is_own_entry && is_dir && nested == dir {
            return None;
        }
    }
    let layout = RepoLayout::locate(&dir, &context.env).ok()?;
    (layout.root != *root).then_some(layout)
}

/// Returns a place as it is typed at the root of its repository. `path` is the existing path that it names.
fn place_in(root: &Path, place: &str, path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let dir = canonicalize_path(path.parent()?).ok()?;
    let rest = &place[place.rfind(name)? + name.len()..];
    let in_root = dir.join(name);
    let in_root = in_root.strip_prefix(root).ok()?.to_str()?;
    let in_root = if cfg!(windows) { in_root.replace('\\', "/") } else { in_root.to_owned() };
    (!in_root.is_empty()).then(|| in_root + rest)
}

fn other_repository_error(
    place: &str,
    root: &Path,
    (verb_name, asked): (&str, Option<String>),
    context: &CommandContext,
) -> CliError {
    let below = root.strip_prefix(&context.cwd).ok().filter(|_| context.memo_command == "memo");
    let shown = escape_for_display(&below.unwrap_or(root).display().to_string());
    let asked = asked.map_or("…".to_owned(), |asked| shell_word(&escape_for_display(&asked)));
    CliError::OtherRepository {
        message: format!("{}: in another repository: {shown}", escape_for_display(place)),
        hint: format!("ask there: memo -C {} {verb_name} {asked}", shell_word(&shown)),
    }
}

fn several_worktrees_error(place: &str, root: &Path) -> CliError {
    CliError::Usage {
        message: format!(
            "{}: in another worktree than the other paths: {}",
            escape_for_display(place),
            escape_for_display(&root.display().to_string())
        ),
        hint: "name paths of one worktree",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_place_is_found_without_its_line_or_pattern() {
        let top = tempfile::tempdir().expect("a directory");
        let cwd = top.path();
        fs::create_dir(cwd.join("lib")).expect("a directory");
        fs::write(cwd.join("lib/a.rs"), "").expect("a file");
        let check = |place: &str, expected: Option<&str>| {
            assert_eq!(find_existing_path(place, cwd), expected.map(|path| cwd.join(path)), "{place}");
        };
        check("lib", Some("lib"));
        check("lib/a.rs", Some("lib/a.rs"));
        check("lib/a.rs:3", Some("lib/a.rs"));
        check("!lib/a.rs#load", Some("lib/a.rs"));
        check("lib/*.rs", Some("lib"));
        check("lib/{a,b}.rs", Some("lib"));
        check("*.rs", None);
        check("load", None);
        check("lib/none.rs", Some("lib"));
        check("lib/none/none.rs:3", Some("lib"));
        check("none/none.rs", None);
        check("", None);
        let absolute = cwd.join("lib/a.rs").display().to_string();
        check(&absolute, Some("lib/a.rs"));
        check(&format!("{absolute}:3"), Some("lib/a.rs"));
        assert_eq!(place_in(cwd, "lib/a.rs:3", &cwd.join("lib/a.rs")), Some("lib/a.rs:3".to_owned()));
        assert_eq!(
            place_in(&cwd.join("lib"), "lib/a.rs#load", &cwd.join("lib/a.rs")),
            Some("a.rs#load".to_owned())
        );
        assert_eq!(place_in(&cwd.join("lib"), "lib", &cwd.join("lib")), None);
    }
}
