//! Resolves names in components of Vue, Svelte and Astro, whose templates use what scripts define and what frameworks bring in.

use memod_base::types::{DeclaredRole, FileStructure, file_name};

use super::use_place::UsePlace;
use super::{Certainty, DefinitionCandidate, FileNumber, Resolver};

/// Endings of files that are components.
const COMPONENT_ENDINGS: [&str; 3] = [".vue", ".svelte", ".astro"];
/// Directories whose functions a component of Vue uses without an import, by the rules of Nuxt.
const AUTO_IMPORTED_DIRS: [&str; 2] = ["composables", "utils"];
/// The function of a component of Vue whose functions the template uses.
const SETUP: &str = "setup";
/// Index of the component among the declarations of its file.
const COMPONENT: u32 = 0;

/// Returns whether a path is that of a component, which defines itself.
fn is_component_path(path: &str) -> bool {
    COMPONENT_ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// Returns the tag with hyphens by which a template of Vue may use a component: `user-card` for `UserCard`. `None` for a name of one
/// word, and for a path of another format.
pub fn hyphenated_tag(path: &str, name: &str) -> Option<String> {
    if !path.ends_with(".vue") {
        return None;
    }
    let mut tag = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !tag.is_empty() {
            tag.push('-');
        }
        tag.extend(c.to_lowercase());
    }
    tag.contains('-').then_some(tag)
}

/// Returns the title of a definition in a file without that of the component around it.
pub(super) fn title_in_component<'t>(path: &str, structure: &FileStructure, title: &'t str) -> &'t str {
    let component = structure.declared.first().filter(|_| is_component_path(path));
    let inner = component.and_then(|component| title.strip_prefix(&component.title)?.strip_prefix('.'));
    inner.unwrap_or(title)
}

impl Resolver<'_> {
    pub(super) fn is_component(&self, file: FileNumber) -> bool {
        is_component_path(self.paths.path_of(file))
    }

    /// Returns the methods and computed values of the options of a component, which `this.save` and the name `save` in its template
    /// mean, and the functions inside of its `setup`, which only the template means.
    pub(super) fn find_in_options(
        &self,
        place: &UsePlace<'_>,
        is_template: bool,
    ) -> Vec<DefinitionCandidate> {
        if !self.is_component(place.file) {
            return Vec::new();
        }
        let own = self.candidates.in_file(place.file).filter(|(candidate, structure)| {
            let declared = candidate.declared_in(structure);
            let holder = structure.find_item(declared.parent);
            let is_option = declared.role == DeclaredRole::Member && declared.parent == Some(COMPONENT);
            let is_of_setup =
                || holder.is_some_and(|holder| holder.names == SETUP && holder.parent == Some(COMPONENT));
            is_option || is_template && is_of_setup()
        });
        own.map(|(candidate, _)| *candidate).collect()
    }

    /// Returns the components of the worktree that a tag of Vue means without an import, because they are registered for all, and the
    /// functions that Nuxt brings into every component.
    pub(super) fn find_registered(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        let is_vue = |file: FileNumber| self.paths.path_of(file).ends_with(".vue");
        if !is_vue(place.file) {
            return (Certainty::ByName, Vec::new());
        }
        let mut found = self.visible_non_members(place);
        found.retain(|found| {
            let is_top = found.declared_in(&self.structures.structure_of(found.file)).parent.is_none();
            let dir = file_name(self.paths.dir_of(found.file));
            found.file != place.file && is_top && (is_vue(found.file) || AUTO_IMPORTED_DIRS.contains(&dir))
        });
        (Certainty::from_name_alone(found.len(), self.name), found)
    }
}
