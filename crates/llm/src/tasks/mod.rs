//! Turns texts into prompts, and the answers of a model into checked proposals. Pure.

pub mod distil;
pub mod expand;
pub mod judge;
pub mod suggest;
pub mod summarise;
