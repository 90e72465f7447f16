//! Separates the names of scripts that run in the browser from those of the component around them.
//!
//! A `<script>` of Astro is a module of its own: it does not see the front matter, and the front matter does not see it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memod_base::types::ImportedName;

use super::{FoundReceiver, FoundUse, offset_in};
use crate::chunks::cut_text::LineIndex;
use crate::definitions::outline::DefinitionItem;
use crate::definitions::tags::TagKind;

/// The names at the top of each script, and of the code outside of all scripts.
#[derive(Default)]
pub(super) struct ClientScripts<'a> {
    /// Spans of the scripts, with the variables that `define:vars` gives them, ascending.
    scripts: &'a [(Range<usize>, String)],
    /// For each name, the scripts that define or import it; `None` for the code outside.
    homes: HashMap<String, HashSet<Option<usize>>>,
}

impl<'a> ClientScripts<'a> {
    /// Finds the names of scripts. An import in a script holds there alone from now on.
    pub(super) fn new(
        scripts: &'a [(Range<usize>, String)],
        items: &[DefinitionItem<'_>],
        imports: &mut [ImportedName],
        (lines, text): (&LineIndex, &str),
    ) -> Self {
        let mut found = Self { scripts, homes: HashMap::new() };
        if scripts.is_empty() {
            return found;
        }
        let spans: Vec<(u32, u32)> = scripts.iter().map(|(span, _)| lines.line_span(span)).collect();
        for import in imports {
            let home = spans.iter().position(|(first, last)| *first <= import.line && import.line <= *last);
            if let Some(home) = home {
                import.scope_lines = Some(import.scope_lines.unwrap_or(spans[home]));
            }
            found.homes.entry(import.local.clone()).or_default().insert(home);
        }
        for item in items.iter().filter(|item| item.kind != TagKind::Component) {
            for name in &item.names {
                let home = offset_in(name, text).and_then(|at| found.script_at(at));
                found.homes.entry((*name).to_owned()).or_default().insert(home);
            }
        }
        found
    }

    /// Returns whether the name with which a use begins is known only in another script, or only outside of the script of the use.
    pub(super) fn hides_name_of(&self, found: &FoundUse<'_>) -> bool {
        let first = match &found.receiver {
            FoundReceiver::None => &*found.name,
            FoundReceiver::Named(path) => path.split('.').next().unwrap_or_default(),
            _ => return false,
        };
        let Some(homes) = self.homes.get(first) else { return false };
        let home = self.script_at(found.at);
        let is_given = home.is_some_and(|script| has_word(&self.scripts[script].1, first));
        !homes.contains(&home) && !is_given
    }

    fn script_at(&self, at: usize) -> Option<usize> {
        self.scripts.iter().position(|(span, _)| span.contains(&at))
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').any(|part| part == word)
}
