//! Lists the files of the page that a browser shows. The files are a part of this program.

/// One file of the page.
pub(super) struct PageFile {
    /// Path of the file in the address.
    pub(super) path: &'static str,
    /// Media type of the file.
    pub(super) content_type: &'static str,
    /// Content of the file.
    pub(super) bytes: &'static [u8],
}

const fn page_file(path: &'static str, content_type: &'static str, bytes: &'static [u8]) -> PageFile {
    PageFile { path, content_type, bytes }
}

const fn page_script(path: &'static str, bytes: &'static [u8]) -> PageFile {
    page_file(path, "text/javascript; charset=utf-8", bytes)
}

/// All files of the page. They contain no secrets, so requests for them need no token.
pub(super) const FILES: &[PageFile] = &[
    page_file("/", "text/html; charset=utf-8", include_bytes!("page/index.html")),
    page_file("/app.css", "text/css; charset=utf-8", include_bytes!("page/app.css")),
    page_file("/icon.svg", "image/svg+xml", include_bytes!("page/icon.svg")),
    page_script("/app.js", include_bytes!("page/app.js")),
    page_script("/api.js", include_bytes!("page/api.js")),
    page_script("/code.js", include_bytes!("page/code.js")),
    page_script("/confirm.js", include_bytes!("page/confirm.js")),
    page_script("/dom.js", include_bytes!("page/dom.js")),
    page_script("/drift.js", include_bytes!("page/drift.js")),
    page_script("/edit.js", include_bytes!("page/edit.js")),
    page_script("/events.js", include_bytes!("page/events.js")),
    page_script("/format.js", include_bytes!("page/format.js")),
    page_script("/history.js", include_bytes!("page/history.js")),
    page_script("/keys.js", include_bytes!("page/keys.js")),
    page_script("/map.js", include_bytes!("page/map.js")),
    page_script("/memories.js", include_bytes!("page/memories.js")),
    page_script("/memory.js", include_bytes!("page/memory.js")),
    page_script("/pairs.js", include_bytes!("page/pairs.js")),
    page_script("/parts.js", include_bytes!("page/parts.js")),
    page_script("/relations.js", include_bytes!("page/relations.js")),
    page_script("/search.js", include_bytes!("page/search.js")),
    page_script("/status.js", include_bytes!("page/status.js")),
    page_script("/timeline.js", include_bytes!("page/timeline.js")),
    page_script("/treemap.js", include_bytes!("page/treemap.js")),
];

/// Returns the file at a path. Paths are compared as they are, so `..` in a path leads nowhere.
pub(super) fn find_file(path: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most bytes of all files together, which a browser loads before it shows anything.
    const MAX_BYTES: usize = 152_000;

    #[test]
    fn the_page_is_small() {
        let n_bytes: usize = FILES.iter().map(|file| file.bytes.len()).sum();
        assert!(n_bytes <= MAX_BYTES, "{n_bytes} bytes");
    }

    #[test]
    fn each_import_is_a_file_and_each_file_is_imported() {
        let text = |file: &PageFile| std::str::from_utf8(file.bytes).expect("a page is text");
        let all: String = FILES.iter().map(text).collect();
        for file in FILES {
            for (_, rest) in text(file).split("\n").filter_map(|line| line.split_once("from \"./")) {
                let name = rest.split('"').next().unwrap_or_default();
                assert!(find_file(&format!("/{name}")).is_some(), "{}: {name}", file.path);
            }
            let is_named =
                all.contains(&format!("\".{}\"", file.path)) || all.contains(&format!("\"{}\"", file.path));
            assert!(file.path == "/" || is_named, "{}: nothing loads it", file.path);
        }
    }

    #[test]
    fn nothing_is_read_as_html_or_as_code() {
        for file in FILES.iter().filter(|file| file.content_type.starts_with("text/javascript")) {
            let text = std::str::from_utf8(file.bytes).expect("a page is text");
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
                "DOMParser",
            ] {
                assert!(!text.contains(word), "{}: {word}", file.path);
            }
        }
    }
}
