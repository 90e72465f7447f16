//! Turns texts into prompts, and answers into checked proposals. Pure.

pub mod expand;
