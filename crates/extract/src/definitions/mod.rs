//! Finds the definitions of a source file.
//!
//! [`tags`] parses the file, or a copy that [`mended_copy`] makes if the grammar fails on it, and runs the tag query of its language, within the limits of [`parse_budget`]; [`outline`] nests
//! the definitions. [`nest_items`] nests those that are found without a grammar. From the outline, [`skeleton`] renders the signatures and [`hash_definitions`] hashes the texts.

pub(crate) mod hash_definitions;
mod mended_copy;
pub(crate) mod nest_items;
pub(crate) mod outline;
mod own_fields;
mod parse_budget;
pub(crate) mod skeleton;
pub(crate) mod tags;
