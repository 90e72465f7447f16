//! What answers this query?

pub mod tokens;

#[cfg(test)]
mod testing;
