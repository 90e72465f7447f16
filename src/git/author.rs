//! Reads the author's name and address from git's settings.

use super::settings::load;
use super::{GitError, UserDirs};
use crate::paths::RepoLayout;

/// Returns `Name <address>` as git would sign a commit here, or the part that is set; `None` outside git.
///
/// # Errors
/// When a file of settings does not parse, or the repository's own cannot be read.
pub fn author(layout: &RepoLayout, dirs: &UserDirs) -> Result<Option<String>, GitError> {
    let Some(config) = load(layout, dirs)? else { return Ok(None) };
    let of = |key: &str| config.string(key).map(|value| value.to_string()).filter(|value| !value.is_empty());
    Ok(match (of("user.name"), of("user.email")) {
        (Some(name), Some(email)) => Some(format!("{name} <{email}>")),
        (name, email) => name.or(email),
    })
}
