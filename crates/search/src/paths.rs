//! Judges files by their paths: their words, their classes, and which of them are translations.

pub mod class_rules;
pub mod path_words;
pub mod translation;
pub(crate) mod word_likeness;
