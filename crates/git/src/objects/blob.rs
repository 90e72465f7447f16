//! Reads one blob, and computes the ids of blobs.

use std::path::Path;

use gix::ObjectId;
use gix::hash::Kind as ObjectHash;
use gix::prelude::FindExt as _;

use super::object_dirs::open_objects;
use crate::git_error::{GitError, find_system_error};

/// Returns the id that git gives to a file with these bytes, without filters.
pub fn blob_id(object_hash: ObjectHash, bytes: &[u8]) -> ObjectId {
    let id = gix::objs::compute_hash(object_hash, gix::objs::Kind::Blob, bytes);
    // Hashing fails only for bytes that are an attack on SHA-1; no object of git has such content.
    id.unwrap_or_else(|_| ObjectId::null(object_hash))
}

/// Returns the bytes of a blob; `None` if it is absent, as in a partial clone. Absent blobs are never fetched.
///
/// # Errors
/// When the blob cannot be read at the moment.
pub fn read_blob(
    objects: &Path,
    object_hash: ObjectHash,
    id: &gix::oid,
) -> Result<Option<Vec<u8>>, GitError> {
    let Some((odb, dirs)) = open_objects(objects, object_hash)? else { return Ok(None) };
    dirs.refuse_special_object(id)?;
    let mut bytes = Vec::new();
    match odb.find_blob(id, &mut bytes) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) => find_system_error(&error, objects).map_or(Ok(None), Err),
    }
}
