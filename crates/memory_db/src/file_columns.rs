//! Holds the columns of a row that describe the file of its memory.

/// The columns that describe the file of a memory.
pub(super) struct FileColumns {
    /// blake3 of the file as memod writes it.
    pub(super) version: Option<[u8; 32]>,
    pub(super) file_links: Option<String>,
    pub(super) remarks: Option<String>,
}
