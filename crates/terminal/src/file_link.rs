//! Turns paths into links, for terminals that open them.
//!
//! OSC 8: <https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda>.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// Characters that are escaped in a path of a URL: those of RFC 3986, section 3.3, and others.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns whether stdout is a terminal that supports links.
pub(crate) fn stdout_supports_links() -> bool {
    cfg!(unix) && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout)
}

/// Returns `text`, which the caller has escaped, as a link to a file. The link names the host, so that a terminal on another
/// machine does not look for the file there.
pub(crate) fn link_to_file(text: &str, file: &Path) -> String {
    let path = percent_encode(file.as_os_str().as_encoded_bytes(), ESCAPED);
    let host = host_name();
    let host = percent_encode(host.as_bytes(), ESCAPED);
    format!("\u{1b}]8;;file://{host}{path}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
}

fn host_name() -> String {
    #[cfg(unix)]
    return rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_no_link() {
        let link = link_to_file("a", Path::new("/r/ü b\u{1b}\\;.rs"));
        assert!(link.contains("/r/%C3%BC%20b%1B%5C%3B.rs\u{1b}\\a\u{1b}]8;;\u{1b}\\"), "{link:?}");
    }
}
