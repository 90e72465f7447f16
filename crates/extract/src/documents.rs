//! Splits documents into sections: Markdown, reStructuredText, AsciiDoc and notebooks.
//!
//! Each format reads its headings into an outline, and `sections` turns the outline into chunks.

pub(crate) mod asciidoc;
#[cfg(test)]
mod document_checks;
mod document_lines;
mod front_matter;
pub mod markdown;
mod markdown_outline;
pub(crate) mod notebook;
pub(crate) mod notebook_text;
pub(crate) mod rst;
pub(crate) mod sections;
