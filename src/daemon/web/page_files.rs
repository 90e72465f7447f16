//! Lists the files of the page that a browser shows. They are a part of this program.

/// One file of the page.
pub(super) struct PageFile {
    /// Its address.
    pub(super) path: &'static str,
    /// Its media type.
    pub(super) content_type: &'static str,
    /// Its content.
    pub(super) bytes: &'static [u8],
}

const fn file(path: &'static str, content_type: &'static str, bytes: &'static [u8]) -> PageFile {
    PageFile { path, content_type, bytes }
}

/// Every file. Their names say nothing secret, so they need no token.
pub(super) const FILES: &[PageFile] = &[
    file("/", "text/html; charset=utf-8", include_bytes!("page/index.html")),
    file("/app.css", "text/css; charset=utf-8", include_bytes!("page/app.css")),
    file("/app.js", "text/javascript; charset=utf-8", include_bytes!("page/app.js")),
];

/// Returns the file at an address. Addresses are compared as they are, so no `..` leads anywhere.
pub(super) fn find(path: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.path == path)
}
