//! Holds what is read of a component.

use std::ops::Range;

use crate::definitions::tags::{FileTags, TagKind};

/// The format of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComponentFormat {
    Vue,
    Svelte,
    Astro,
}

impl ComponentFormat {
    /// Returns the format by the name of a language; `None` if its files are no components.
    pub(crate) fn from_language(name: &str) -> Option<Self> {
        match name {
            "vue" => Some(Self::Vue),
            "svelte" => Some(Self::Svelte),
            "astro" => Some(Self::Astro),
            _ => None,
        }
    }
}

/// A component as the grammar reads it.
#[derive(Debug, Default)]
pub(crate) struct ComponentCode {
    /// The text to parse, as long as the text of the file.
    pub(crate) text: String,
    /// Names that the template uses and that are not in `text`, by position.
    pub(crate) uses: Vec<TemplateUse>,
    /// Names that the template binds, as spans of the file, with the bytes in which each is known.
    pub(crate) bound: Vec<(Range<usize>, Range<usize>)>,
    /// Spans of scripts that run in the browser and do not see the rest of the file, with the variables that are given to each.
    pub(crate) client_scripts: Vec<(Range<usize>, String)>,
    /// Whether a script has JSX, which the grammar of TypeScript does not read.
    pub(crate) has_jsx: bool,
    /// Parts of the file that are not read.
    pub(crate) unread: Vec<String>,
}

/// A name that a template uses as a tag, as a directive or as a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TemplateUse {
    pub(crate) name: String,
    /// Byte of the name in the file.
    pub(crate) at: usize,
    /// The names before it, joined by `.`.
    pub(crate) receiver: Option<String>,
    pub(crate) is_call: bool,
}

impl ComponentCode {
    /// Corrects the tags of the parsed text: what the file exports as `default` is the component itself, and names in the template
    /// are uses.
    pub(crate) fn complete_tags(&self, text: &str, tags: &mut FileTags) {
        for tag in tags.definitions.iter_mut().filter(|tag| tag.kind != TagKind::Scope) {
            tag.names.retain(|name| text.get(name.clone()) != Some("default"));
        }
        tags.definitions.retain(|tag| !tag.names.is_empty());
        for used in &self.uses {
            match tags.uses.binary_search_by(|(known, _)| known.as_str().cmp(&used.name)) {
                Ok(at) => tags.uses[at].1 += 1,
                Err(at) => tags.uses.insert(at, (used.name.clone(), 1)),
            }
        }
        tags.problems.extend(self.unread.iter().cloned());
    }
}
