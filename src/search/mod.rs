//! What answers this query?

mod names;
pub mod query;
pub mod tokens;

#[cfg(test)]
mod testing;
