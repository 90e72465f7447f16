//! Provides what every part of memod uses: plain values, the paths and files of a repository's state, threads, the clock.

pub mod clock;
pub mod paths;
pub mod threads;
pub mod types;
