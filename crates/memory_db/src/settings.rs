//! Stores what the database knows of itself: values by key, the time, its lineage, and answers.

pub(crate) mod answer_rows;
pub(crate) mod lineage_rows;
pub(crate) mod meta_rows;
pub(crate) mod wall_clock_rows;
