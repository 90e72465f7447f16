//! Holds what a row says of the file of its memory.

/// The columns of that.
pub(super) struct FileCells {
    /// blake3 of the file as memod writes it.
    pub(super) version: Option<[u8; 32]>,
    pub(super) file_links: Option<String>,
    pub(super) remarks: Option<String>,
}
