//! Judges files by their paths: splits paths into words, classifies files, and finds translations.

pub mod class_rules;
pub mod path_words;
pub mod translation;
pub(crate) mod word_likeness;
