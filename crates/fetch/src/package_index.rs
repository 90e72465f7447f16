//! Chooses the wheel with ONNX Runtime from a package index, as pip does.
//!
//! The format is JSON, or a page of links on older mirrors. It is specified in
//! <https://packaging.python.org/specifications/simple-repository-api/>.

use std::sync::LazyLock;

use regex::Regex;
use semver::Version;
use serde::Deserialize;

use super::web_address::resolve_link;

/// Value of the `accept` header: the formats of a page that can be parsed.
pub(super) const ACCEPT_HEADER: &str =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

/// Oldest usable version of ONNX Runtime, because fastembed 7.5 needs its interface.
const OLDEST_VERSION: Version = Version::new(1, 24, 0);

/// A wheel in a package index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wheel {
    pub(super) name: String,
    pub(super) version: Version,
    pub(super) url: String,
    pub(super) sha256: Option<String>,
    pub(super) bytes: Option<u64>,
}

/// A platform, as the beginning and the possible endings of its tags, such as `manylinux_2_28_x86_64`.
#[derive(Clone, Copy, Debug)]
pub(super) struct WheelPlatform {
    tag_start: &'static str,
    tag_endings: &'static [&'static str],
}

impl WheelPlatform {
    /// Returns the platform of this program; `None` where there are no wheels.
    pub(super) fn current() -> Option<Self> {
        let (starts, ends): (_, &[&str]) = match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", _) if cfg!(target_env = "musl") => return None,
            ("linux", "x86_64") => ("manylinux", &["_x86_64"]),
            ("linux", "aarch64") => ("manylinux", &["_aarch64"]),
            ("macos", "x86_64") => ("macosx", &["_x86_64", "_universal2"]),
            ("macos", "aarch64") => ("macosx", &["_arm64", "_universal2"]),
            ("windows", "x86_64") => ("win", &["_amd64"]),
            ("windows", "aarch64") => ("win", &["_arm64"]),
            _ => return None,
        };
        Some(Self { tag_start: starts, tag_endings: ends })
    }

    /// Returns whether one of the tags, which are separated by dots, is a tag of the platform.
    fn matches_tags(&self, tags: &str) -> bool {
        let is_own = |tag: &str| {
            tag.starts_with(self.tag_start) && self.tag_endings.iter().any(|end| tag.ends_with(end))
        };
        tags.split('.').any(is_own)
    }
}

#[derive(Deserialize)]
struct Page {
    files: Vec<PackageFile>,
}

#[derive(Deserialize)]
struct PackageFile {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: Hashes,
    #[serde(default)]
    yanked: serde_json::Value,
    size: Option<u64>,
}

#[derive(Default, Deserialize)]
struct Hashes {
    sha256: Option<String>,
}

/// Returns the wheel with the newest version for a platform; `None` if there is no usable wheel. Among wheels for several versions
/// of Python, which all have the same library, returns the first by name.
///
/// # Errors
/// When a page in JSON does not parse.
pub(super) fn find_newest_wheel(
    page: &str,
    page_url: &str,
    platform: WheelPlatform,
) -> Result<Option<Wheel>, String> {
    let listed = match page.trim_start().starts_with('{') {
        true => serde_json::from_str::<Page>(page).map_err(|error| error.to_string())?.files,
        false => parse_links(page),
    };
    let wheels = listed.into_iter().filter_map(|listed| listed.into_wheel(page_url, platform));
    Ok(wheels.min_by(|left, right| right.version.cmp(&left.version).then_with(|| left.name.cmp(&right.name))))
}

/// Returns the files that an HTML page links to.
fn parse_links(page: &str) -> Vec<PackageFile> {
    static LINK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)<a\s([^>]*?)href\s*=\s*["']([^"'#]+)(?:#sha256=([0-9a-f]{64}))?[^"']*["']([^>]*)>"#)
            .expect("the pattern is a constant")
    });
    let listed = LINK.captures_iter(page).map(|link| {
        let url = link[2].replace("&amp;", "&");
        let name = url.split(['?']).next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        let is_yanked = [&link[1], &link[4]].iter().any(|attributes| attributes.contains("data-yanked"));
        PackageFile {
            filename: percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned(),
            hashes: Hashes { sha256: link.get(3).map(|hash| hash.as_str().to_ascii_lowercase()) },
            yanked: is_yanked.into(),
            size: None,
            url,
        }
    });
    listed.collect()
}

impl PackageFile {
    /// Converts a listed file into a wheel; `None` unless it is a usable wheel of ONNX Runtime for the platform.
    fn into_wheel(self, page_url: &str, platform: WheelPlatform) -> Option<Wheel> {
        let tags: Vec<&str> = self.filename.strip_suffix(".whl")?.split('-').collect();
        let (["onnxruntime", version, ..], Some(platforms)) = (tags.as_slice(), tags.last()) else {
            return None;
        };
        let version = Version::parse(version).ok()?; // fails for a pre-release in the syntax of Python
        let is_usable =
            version >= OLDEST_VERSION && version.major == OLDEST_VERSION.major && version.pre.is_empty();
        let is_yanked = !matches!(self.yanked, serde_json::Value::Bool(false) | serde_json::Value::Null);
        (is_usable && !is_yanked && platform.matches_tags(platforms)).then(|| Wheel {
            url: resolve_link(page_url, &self.url),
            version,
            sha256: self.hashes.sha256,
            bytes: self.size,
            name: self.filename,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: WheelPlatform = WheelPlatform { tag_start: "manylinux", tag_endings: &["_x86_64"] };
    const MAC: WheelPlatform = WheelPlatform { tag_start: "macosx", tag_endings: &["_arm64", "_universal2"] };
    const URL: &str = "https://mirror.example/simple/onnxruntime/";

    #[test]
    fn the_newest_wheel_of_the_platform_is_chosen() {
        let file = |name: &str, yanked: &str| {
            format!(
                r#"{{"filename":"onnxruntime-{name}.whl","url":"../../p/{name}.whl","hashes":{{"sha256":"ab"}},"size":7,"yanked":{yanked}}}"#
            )
        };
        let files = [
            file("1.9.0-cp39-cp39-manylinux_2_17_x86_64.manylinux2014_x86_64", "false"),
            file("1.24.1-cp312-cp312-manylinux_2_28_x86_64", "false"),
            file("1.32.0-cp313-cp313-manylinux_2_28_aarch64", "false"),
            file("1.32.0-cp313-cp313-manylinux_2_28_x86_64", "false"),
            file("1.32.0-cp311-cp311-manylinux_2_28_x86_64", "false"),
            file("1.31.0-cp313-cp313-macosx_14_0_arm64", "false"),
            file("1.33.0-cp311-cp311-manylinux_2_28_x86_64", "\"broken\""),
            file("1.34.0rc1-cp311-cp311-manylinux_2_28_x86_64", "false"),
            file("2.0.0-cp311-cp311-manylinux_2_28_x86_64", "false"),
        ];
        let page = format!(
            r#"{{"files":[{}],"meta":{{"api-version":"1.1"}},"name":"onnxruntime"}}"#,
            files.join(",")
        );
        let wheel = find_newest_wheel(&page, URL, LINUX).unwrap().unwrap();
        assert_eq!(wheel.name, "onnxruntime-1.32.0-cp311-cp311-manylinux_2_28_x86_64.whl");
        assert_eq!(wheel.url, "https://mirror.example/p/1.32.0-cp311-cp311-manylinux_2_28_x86_64.whl");
        assert_eq!((wheel.sha256.as_deref(), wheel.bytes), (Some("ab"), Some(7)));
        assert_eq!(find_newest_wheel(&page, URL, MAC).unwrap().unwrap().version, Version::new(1, 31, 0));
        assert_eq!(find_newest_wheel(r#"{"files":[]}"#, URL, MAC).unwrap(), None);
        assert!(find_newest_wheel("{\"files\":", URL, MAC).is_err());
    }

    #[test]
    fn a_page_of_links_will_do() {
        let hash = "0A".repeat(32);
        let page = format!(
            "<!DOCTYPE html><html><body>\n\
             <a href=\"../../p/onnxruntime-1.30.0-cp311-cp311-manylinux_2_28_x86_64.whl?a=1&amp;b=2#sha256={hash}\" \
             data-requires-python=\"&gt;=3.11\">onnxruntime-1.30.0</a>\n\
             <a data-yanked=\"\" href='/p/onnxruntime-1.31.0-cp311-cp311-manylinux_2_28_x86_64.whl'>x</a>\n\
             <a href=\"onnxruntime_gpu-1.40.0-cp311-cp311-manylinux_2_28_x86_64.whl\">x</a></body></html>"
        );
        let wheel = find_newest_wheel(&page, URL, LINUX).unwrap().unwrap();
        let name = "onnxruntime-1.30.0-cp311-cp311-manylinux_2_28_x86_64.whl";
        assert_eq!(wheel.url, format!("https://mirror.example/p/{name}?a=1&b=2"));
        assert_eq!((wheel.name.as_str(), wheel.sha256), (name, Some(hash.to_lowercase())));
        assert_eq!(find_newest_wheel("<html>Sign in</html>", URL, LINUX).unwrap(), None);
    }
}
