//! Reads the components of Vue, Svelte and Astro: their scripts, and the expressions and tags of their templates.
//!
//! The grammar of TypeScript reads a copy of the text that has the same length, in which all but scripts and expressions is blank.
//! [`markup`] reads scripts, elements and texts, [`tag_reader`] tags, [`code_end`] finds the end of an expression, [`vue`], [`svelte`]
//! and [`astro`] know the attributes and blocks of their format, and [`patterns`] the names that a template binds. [`reader`] holds
//! what is read, [`tag_names`] says what is a component, and [`component_name`] what a file defines.

mod astro;
mod blank_copy;
mod code_end;
mod component_code;
pub(crate) mod component_name;
mod markup;
mod patterns;
mod reader;
mod svelte;
mod tag_names;
mod tag_parts;
mod tag_reader;
#[cfg(test)]
mod tests;
mod vue;

pub(crate) use self::component_code::{ComponentCode, ComponentFormat};
use self::reader::{MarkupReader, TemplateSyntax};

/// Reads a component.
pub(crate) fn read_component(format: ComponentFormat, text: &str) -> ComponentCode {
    let syntax: &dyn TemplateSyntax = match format {
        ComponentFormat::Vue => &vue::VueSyntax,
        ComponentFormat::Svelte => &svelte::SvelteSyntax,
        ComponentFormat::Astro => &astro::AstroSyntax,
    };
    let mut reader = MarkupReader::new(format, syntax, text);
    reader.read_file();
    reader.into_code()
}
