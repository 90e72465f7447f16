//! What answers this query?
