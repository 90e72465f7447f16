//! Splits web addresses, and resolves links.

/// An address without credentials, and the credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WebAddress {
    /// The address without credentials.
    pub(super) url: String,
    /// `user:password`, percent-encoded, if the address had them.
    pub(super) credentials: Option<String>,
}

impl WebAddress {
    /// Splits an address into the address without credentials, and the credentials.
    pub(super) fn new(url: &str) -> Self {
        let parts = url.split_once("://").and_then(|(scheme, rest)| {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (credentials, host) = rest[..end].rsplit_once('@')?;
            Some((format!("{scheme}://{host}{}", &rest[end..]), credentials.to_owned()))
        });
        match parts {
            Some((url, credentials)) => Self { url, credentials: Some(credentials) },
            None => Self { url: url.to_owned(), credentials: None },
        }
    }
}

/// Returns scheme, host and port of an address: the part to which a secret may be sent.
pub(super) fn extract_origin(url: &str) -> String {
    let mut url = WebAddress::new(url).url;
    url.truncate(find_path_start(&url));
    url
}

/// Returns an address for display: without credentials, and without the query, which may be a secret signature.
pub(super) fn redact_url(url: &str) -> String {
    let mut url = WebAddress::new(url).url;
    url.truncate(url.find(['?', '#']).unwrap_or(url.len()));
    url
}

/// Returns the byte offset at which the path of an address begins.
fn find_path_start(url: &str) -> usize {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at)
}

/// Returns the absolute address of a link on the page with the address `page`.
pub(super) fn resolve_link(page: &str, link: &str) -> String {
    let is_absolute = link.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if is_absolute {
        return link.to_owned();
    }
    let (origin, path) = page.split_at(find_path_start(page));
    if let Some(host) = link.strip_prefix("//") {
        let scheme = origin.split_once("://").map_or("https", |(scheme, _)| scheme);
        return format!("{scheme}://{host}");
    }
    let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
    let dir = if link.starts_with('/') { "" } else { &path[..path.rfind('/').unwrap_or(0)] };
    let (link, query) = link.split_at(link.find(['?', '#']).unwrap_or(link.len()));
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.trim_start_matches('/').split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    format!("{origin}/{}{query}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_taken_out() {
        let address = WebAddress::new("https://me:s%40cret@mirror.example:8443/simple/?a=b@c");
        assert_eq!(address.url, "https://mirror.example:8443/simple/?a=b@c");
        assert_eq!(address.credentials.as_deref(), Some("me:s%40cret"));
        assert_eq!(extract_origin("https://me:s@mirror.example:8443/a@b"), "https://mirror.example:8443");
        assert_eq!(redact_url("https://me:s@mirror.example/a?signature=s"), "https://mirror.example/a");
        let plain = "https://pypi.org/simple/@x";
        assert_eq!(WebAddress::new(plain), WebAddress { url: plain.to_owned(), credentials: None });
    }

    #[test]
    fn links_are_joined() {
        let page = "https://mirror.example/api/simple/onnxruntime/";
        for (link, expected) in [
            ("https://files.example/a.whl", "https://files.example/a.whl"),
            ("//files.example/a.whl", "https://files.example/a.whl"),
            ("/packages/a.whl?x=1", "https://mirror.example/packages/a.whl?x=1"),
            ("a.whl", "https://mirror.example/api/simple/onnxruntime/a.whl"),
            ("../../packages/./a.whl", "https://mirror.example/api/packages/a.whl"),
            ("/next?to=https://elsewhere/", "https://mirror.example/next?to=https://elsewhere/"),
        ] {
            assert_eq!(resolve_link(page, link), expected, "{link}");
        }
        assert_eq!(resolve_link("https://host", "a"), "https://host/a");
    }
}
