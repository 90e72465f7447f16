//! Which files count, and what is in them?
