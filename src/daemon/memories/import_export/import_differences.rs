//! Compares imported memories with the stored memories that have the same ids.

use std::cmp::Ordering;

use memod_memory_db::MemoryRecord;
use memod_proto::exchange::Draft;
use serde_json::{Map, Value, json};

use crate::daemon::memories::rules::protocol_values;

/// Returns whether two records are equal for an import, which ignores times of changes, recalls and the scope.
pub(super) fn is_equal_for_import(known: &MemoryRecord, record: &MemoryRecord) -> bool {
    comparable_fields(known) == comparable_fields(record)
        && known.archived_at.is_some() == record.archived_at.is_some()
}

/// Returns the fields of a record that an import compares.
fn comparable_fields(record: &MemoryRecord) -> Map<String, Value> {
    const IGNORED: [&str; 8] =
        ["updated", "last_access", "access_count", "expires_at", "archived_at", "trust", "shared", "scope"];
    let mut fields = protocol_values::to_fields(record);
    for name in IGNORED {
        fields.remove(name);
    }
    fields
}

/// Returns `record` with the scope and the side of a conflict of `known`, which an import does not change.
pub(super) fn copy_scope(known: &MemoryRecord, record: &MemoryRecord) -> MemoryRecord {
    MemoryRecord {
        shared: known.shared,
        team: known.team,
        repository: known.repository.clone(),
        is_unconfirmed: known.is_unconfirmed,
        side: known.side,
        ..record.clone()
    }
}

/// Times of the last change of an imported memory, unix ms.
pub(super) struct ImportTimes {
    /// The time in the import.
    pub(super) imported_ms: i64,
    /// The time to store. It is later than `read` if the imported version wins over a stored version of the same time.
    pub(super) stored_ms: i64,
}

/// Returns why a draft that differs from a memory with its id is refused.
pub(super) fn explain_difference(
    known: &MemoryRecord,
    record: &MemoryRecord,
    draft: &Draft,
    age: &ImportTimes,
) -> String {
    let names: Vec<String> =
        protocol_values::diff_fields(known, record).into_iter().map(|(name, _)| name).collect();
    let newer = match known.updated.cmp(&age.imported_ms) {
        Ordering::Less => "the imported version is newer (--merge keeps the newer)",
        Ordering::Greater => "the stored version is newer (--merge keeps the newer)",
        Ordering::Equal if age.stored_ms > age.imported_ms => {
            "both versions are equally old (with --merge and the same other options, the imported version wins)"
        }
        Ordering::Equal => "both versions are equally old (with --merge, the stored version wins)",
    };
    let what = draft.original.as_ref().map_or(String::new(), |original| format!(" ({})", json!(original)));
    format!("{}{what} is already stored and differs in {}; {newer}", known.id, names.join(", "))
}
