//! Reads the author's name and the repository's name from git's settings.

use gix::config::File;
use memod_base::paths::RepoLayout;

use super::{UserDirs, load_config};

/// The names of the author and of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `Name <address>` as git would sign a commit here, or the part that is set.
    pub author: Option<String>,
    /// Name of the repository: the one in the address of the remote `origin`, or else the name of its directory.
    pub repository: Option<String>,
    /// Address of the remote `origin`, the same for all spellings of one address: `github.com/acme/shop`. `None` if it is no
    /// address of another machine.
    pub remote: Option<String>,
}

/// Reads the identity from the git settings of a worktree. Values that are not set, or cannot be read, are `None`.
pub fn read_identity(layout: &RepoLayout, dirs: &UserDirs) -> Identity {
    let config = load_config(layout, dirs).ok().flatten();
    let config = config.as_ref();
    let author = match (read_setting(config, "user.name"), read_setting(config, "user.email")) {
        (Some(name), Some(email)) => Some(format!("{name} <{email}>")),
        (name, email) => name.or(email),
    };
    let url = read_setting(config, "remote.origin.url");
    let of_remote = url.as_deref().and_then(name_in_address).map(str::to_owned);
    let remote = url.as_deref().and_then(normalize_address);
    Identity { author, repository: of_remote.or_else(|| directory_name(layout)), remote }
}

/// Returns the text of a setting, unless it is empty.
fn read_setting(config: Option<&File>, key: &str) -> Option<String> {
    let value = config?.string(key).map(|value| value.to_string());
    value.filter(|value| !value.is_empty())
}

/// Returns the host and the path in an address of another machine: without scheme, user, the default port of the scheme and
/// `.git`, and with the host in lower case.
fn normalize_address(address: &str) -> Option<String> {
    let (host, path) = match address.split_once("://") {
        Some(("file", _)) => return None,
        Some((scheme, rest)) => {
            let (host, path) = rest.split(['?', '#']).next()?.split_once('/')?;
            let host = &host[host.rfind('@').map_or(0, |at| at + 1)..];
            let port = match scheme.trim_start_matches("git+") {
                "https" => ":443",
                "http" => ":80",
                "ssh" => ":22",
                "git" => ":9418",
                _ => "",
            };
            (host.strip_suffix(port).unwrap_or(host), path)
        }
        None if is_scp_like(address) && !address.contains("::") => {
            let (host, path) = address.split_once(':')?;
            (&host[host.rfind('@').map_or(0, |at| at + 1)..], path)
        }
        None => return None,
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!host.is_empty() && !path.is_empty()).then(|| format!("{}/{path}", host.to_lowercase()))
}

/// Returns the last part of the path in an address, without `.git`: `shop` of `git@host:team/shop.git`. `None` if it has no
/// path.
///
/// Invariant: the result contains no credentials, host, query or fragment. So everything up to the last `@` is removed, even
/// if it may be a part of the path.
fn name_in_address(address: &str) -> Option<&str> {
    if let Some((_, rest)) = address.split_once("://") {
        let rest = rest.split(['?', '#']).next()?;
        let (_, path) = rest[credentials_end(rest)..].split_once('/')?;
        return last_name(path);
    }
    if is_scp_like(address) {
        // The address of a remote helper, such as `ext::COMMAND`, has no known form unless it has a scheme.
        if address.split_once("::").is_some_and(|(helper, _)| helper.chars().all(char::is_alphanumeric)) {
            return None;
        }
        let (_, path) = address[credentials_end(address)..].split_once(':')?;
        return last_name(path);
    }
    last_name(address)
}

/// Returns the end of the part of an address that may have credentials.
fn credentials_end(part: &str) -> usize {
    part.rfind('@').map_or(0, |at| at + 1)
}

/// Returns whether an address has the form `user@host:path`, and is neither a path nor a Windows path (`C:\shop`).
fn is_scp_like(address: &str) -> bool {
    let Some(colon) = address.find(':') else { return false };
    let is_drive = colon == 1 && address[2..].starts_with(['/', '\\']);
    !is_drive && !address[..colon].contains(['/', '\\'])
}

/// Returns the last part of a path, without `.git`.
fn last_name(path: &str) -> Option<&str> {
    let path = path.trim_end_matches(['/', '\\']);
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
    fn an_address_is_the_same_whichever_way_it_is_written() {
        let same = [
            "https://github.com/Acme/shop.git",
            "https://ann:secret@GitHub.com:443/Acme/shop/",
            "ssh://git@github.com:22/Acme/shop.git",
            "git@github.com:Acme/shop.git",
            "github.com:/Acme/shop",
        ];
        for address in same {
            assert_eq!(normalize_address(address).as_deref(), Some("github.com/Acme/shop"), "{address}");
        }
        assert_eq!(normalize_address("https://host:8443/a").as_deref(), Some("host:8443/a"));
        for local in
            ["/srv/shop.git", "file:///srv/shop.git", "../shop", "C:\\shop", "ext::sh -c x", "https://host/"]
        {
            assert_eq!(normalize_address(local), None, "{local}");
        }
    }

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
            assert_eq!(name_in_address(url), expected, "{url}");
        }
    }

    #[test]
    fn nothing_secret_of_an_address_is_in_the_name() {
        let cases = [
            ("https://user:hunter2@example.org/team/shop.git", Some("shop")),
            ("https://hunter2@example.org/shop", Some("shop")),
            ("https://user:hunter2@example.org", None),
            ("https://user:hunter2@example.org/", None),
            ("https://user:hunter2@example.org:8443", None),
            ("https://user:hun/ter2@example.org", None),
            ("https://user:hun#ter2@example.org/shop", None),
            ("https://example.org/shop.git?token=hunter2", Some("shop")),
            ("https://example.org/shop?token=a/hunter2", Some("shop")),
            ("https://example.org/shop/#hunter2", Some("shop")),
            ("https://example.org/?token=hunter2", None),
            ("https://example.org/@team/shop", Some("shop")),
            ("https://example.org", None),
            ("ssh://user:hunter2@example.org:22/team/shop.git", Some("shop")),
            ("ssh://user:hunter2@example.org:22", None),
            ("ssh://git@[::1]:22/shop.git", Some("shop")),
            ("ext::https://user:hunter2@example.org/shop", Some("shop")),
            ("ext::ssh -p hunter2 example.org %S shop", None),
            ("git@[::1]:team/shop", Some("shop")),
            ("git@example.org:team/shop.git", Some("shop")),
            ("user:hunter2@example.org:team/shop", Some("shop")),
            ("user:hunter2@example.org:shop", Some("shop")),
            ("user:hunter2@example.org", None),
            ("u:hunter2@example.org", None),
            ("git@[example.org:22]:team/shop", Some("shop")),
            ("file:///srv/git/shop.git", Some("shop")),
            ("file:///C:/git/shop.git", Some("shop")),
            ("file://server/share/shop", Some("shop")),
            (r"C:\git\shop.git", Some("shop")),
            ("C:/git/shop/", Some("shop")),
            (r"\\server\share\shop", Some("shop")),
            ("/srv/a@b/shop@2.git", Some("shop@2")),
        ];
        for (address, expected) in cases {
            assert_eq!(name_in_address(address), expected, "{address}");
        }
    }
}
