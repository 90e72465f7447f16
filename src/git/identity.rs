//! Reads from git's settings who writes, and what the repository is called.

use super::UserDirs;
use super::settings::load;
use crate::paths::RepoLayout;

/// Who writes, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `Name <address>` as git would sign a commit here, or the part that is set.
    pub author: Option<String>,
    /// Name of the repository: that of the remote `origin`, else that of its directory.
    pub repository: Option<String>,
}

/// Reads the settings of a worktree. What they do not say, or cannot be read of them, is absent.
pub fn identity(layout: &RepoLayout, dirs: &UserDirs) -> Identity {
    let config = load(layout, dirs).ok().flatten();
    let of = |key: &str| {
        let value = config.as_ref()?.string(key).map(|value| value.to_string());
        value.filter(|value| !value.is_empty())
    };
    let author = match (of("user.name"), of("user.email")) {
        (Some(name), Some(email)) => Some(format!("{name} <{email}>")),
        (name, email) => name.or(email),
    };
    let of_remote = of("remote.origin.url").and_then(|url| last_name(&url).map(str::to_owned));
    Identity { author, repository: of_remote.or_else(|| directory_name(layout)) }
}

/// Returns the last part of an address, without `.git`: `shop` of `git@host:team/shop.git`.
fn last_name(url: &str) -> Option<&str> {
    let path = url.trim_end_matches(['/', '\\']);
    let name = path.rsplit(['/', '\\', ':']).next()?;
    Some(name.strip_suffix(".git").unwrap_or(name)).filter(|name| !name.is_empty())
}

/// Returns the name of the directory that all worktrees share: of `shop/.git` and `shop.git` it is `shop`.
fn directory_name(layout: &RepoLayout) -> Option<String> {
    let dir = match &layout.common_dir {
        Some(common_dir) if common_dir.ends_with(".git") => common_dir.parent()?,
        Some(common_dir) => common_dir,
        None => &layout.root,
    };
    last_name(dir.file_name()?.to_str()?).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_called_as_its_address_ends() {
        let cases = [
            ("https://example.org/team/shop.git", Some("shop")),
            ("git@example.org:shop", Some("shop")),
            ("ssh://git@example.org:22/team/My_Shop/", Some("My_Shop")),
            ("/srv/git/shop.git/", Some("shop")),
            ("../shop", Some("shop")),
            ("/", None),
            (".git", None),
        ];
        for (url, expected) in cases {
            assert_eq!(last_name(url), expected, "{url}");
        }
    }
}
