//! Compares files whose contents git converts when it stores them: by a filter, into UTF-8, or by removing the values of `$Id$`.
//!
//! No filter is run. A pointer of git-lfs contains the hash of the content. With any other filter, it is unknown whether a file has
//! changed.

use std::cell::RefCell;
use std::collections::BTreeMap;

use memod_base::paths::{IoContext as _, none_if_unreadable};
use memod_base::types::SourceKey;
use memod_git::{AttributeFile, Attributes, Conversion, ObjectId, is_lfs_pointer_to};

use super::version_texts::VersionTextReader;
use crate::daemon::shared::object_ids::ObjectIds;

/// Largest object that is read to check whether it is a pointer of git-lfs, bytes.
const MOST_POINTER: u64 = 4 << 10;

/// The conversions of a worktree, and the files that cannot be compared because of them.
pub(super) struct WorktreeConversions<'a> {
    texts: &'a VersionTextReader<'a>,
    attributes: Attributes<'a>,
    uncompared: RefCell<BTreeMap<String, String>>,
}

/// The path of a file that could not be compared, and the reason.
pub(super) type UncomparedFile = (String, String);

impl<'a> WorktreeConversions<'a> {
    pub(super) fn new(texts: &'a VersionTextReader<'a>, attributes: Attributes<'a>) -> Self {
        Self { texts, attributes, uncompared: RefCell::default() }
    }

    /// Returns whether `object` is what git stores for the content of a file. `None` if only git can tell, the file is larger than
    /// `most` bytes, or the file cannot be examined; each of these is recorded.
    pub(super) fn is_stored_as(&self, key: &SourceKey, object: ObjectId, most: u64) -> Option<bool> {
        // A file system that does not answer for the file does not answer for the attribute files beside it either.
        let path = key.path_in(&self.texts.at.layout.root);
        let stat =
            self.texts.record_error(none_if_unreadable(self.texts.at.disk.lstat(&path)).at("look at", &path));
        stat.flatten()?;
        let conversion = self.attributes.find_conversion(key.as_str());
        if conversion.stores_unchanged() {
            return Some(false);
        }
        let compared = self.compare_stored(&conversion, key, object, most);
        if compared.is_none() {
            self.uncompared.borrow_mut().insert(key.to_string(), conversion.why_unknown());
        }
        compared
    }

    fn compare_stored(
        &self,
        conversion: &Conversion,
        key: &SourceKey,
        object: ObjectId,
        most: u64,
    ) -> Option<bool> {
        let bytes = self.texts.at.disk.read_bytes(&self.texts.at.layout.root, key, most).ok().flatten()?;
        let Some(stored) = conversion.convert_for_storage(&bytes) else {
            let pointer =
                self.texts.history.objects.read_blob_at_most(object, MOST_POINTER).ok().flatten()?;
            return is_lfs_pointer_to(&pointer, &bytes);
        };
        let ids = ObjectIds::from_bytes(self.texts.history.object_hash, &stored);
        Some([ids.lf, ids.raw].contains(&object))
    }

    /// Returns the attribute files that were read.
    pub(super) fn attribute_files(&self) -> Vec<AttributeFile> {
        self.attributes.list_read_files()
    }

    /// Returns the files that could not be compared, ordered by path.
    pub(super) fn into_uncompared(self) -> Vec<UncomparedFile> {
        self.uncompared.into_inner().into_iter().collect()
    }
}
