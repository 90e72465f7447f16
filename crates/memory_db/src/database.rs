//! Opens, checks and copies one memory.db.

pub(crate) mod compare_lineages;
pub(crate) mod integrity_check;
pub(crate) mod open_database;
pub(crate) mod repair_words;
pub(crate) mod schema;
pub(crate) mod vector_changes;
