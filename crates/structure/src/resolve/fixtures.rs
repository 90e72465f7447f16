//! Resolves the names of fixtures that tests and fixtures of pytest take as parameters.

use std::collections::HashSet;

use memod_base::types::{FileStructure, UseReceiver};

use super::split_path::{join_path, split_path};
use super::use_place::UsePlace;
use super::{Certainty, DefinitionCandidate, FileNumber, Resolver};

/// Last name of the decorators that make a fixture: `pytest.fixture`, `pytest_asyncio.fixture`.
const DECORATORS: [&str; 2] = ["fixture", "yield_fixture"];
/// File whose fixtures all tests in its directory and below see.
const CONFTEST: &str = "conftest.py";

impl Resolver<'_> {
    /// Resolves the name of a fixture: in the class and file of the test, by the imports of the file, then in the nearest
    /// `conftest.py` upwards. A fixture with the name of the fixture that it takes means the one further out.
    pub(super) fn resolve_fixture(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        let fixtures: Vec<&(DefinitionCandidate, _)> = self
            .candidates
            .fixture_positions(is_fixture)
            .iter()
            .map(|position| &self.candidates.all[*position])
            .filter(|(candidate, structure)| self.is_fixture_named(*candidate, structure, place.written))
            .collect();
        let of_file = |file: FileNumber| {
            let own = fixtures.iter().filter(|(candidate, _)| {
                candidate.file == file && (file != place.file || Some(candidate.declared) != place.within)
            });
            own.map(|(candidate, structure)| (*candidate, candidate.declared_in(structure).parent))
                .collect::<Vec<_>>()
        };
        let own = of_file(place.file);
        let around = place.definitions_around().map(Some).chain([None]);
        for holder in around {
            let nearest: Vec<_> =
                own.iter().filter(|(_, parent)| *parent == holder).map(|(candidate, _)| *candidate).collect();
            // Of several fixtures of one name in one place, the last counts.
            if let Some(last) = nearest.last() {
                return (Certainty::Exact, vec![*last]);
            }
        }
        let (mut dir, mut open) = (self.paths.dir_of(place.file), vec![place.file]);
        loop {
            let conftest = self.paths.number_of(&join_path(dir, CONFTEST));
            open.extend(conftest.filter(|conftest| *conftest != place.file));
            for file in open.drain(..) {
                let found = self.find_exported_fixtures(file, place);
                if !found.is_empty() {
                    return (Certainty::Exact, found);
                }
            }
            if dir.is_empty() {
                break;
            }
            dir = split_path(dir).0;
        }
        // A plugin may be installed from anywhere in the repository.
        let found: Vec<DefinitionCandidate> = fixtures
            .iter()
            .map(|(candidate, _)| *candidate)
            .filter(|candidate| !(candidate.file == place.file && Some(candidate.declared) == place.within))
            .collect();
        let certainty = if found.len() == 1 { Certainty::Likely } else { Certainty::ByName };
        (certainty, found)
    }

    /// Returns the fixtures that a file defines outside of classes or imports under the name of a use.
    fn find_exported_fixtures(&self, file: FileNumber, place: &UsePlace<'_>) -> Vec<DefinitionCandidate> {
        let names: HashSet<&str> = HashSet::from([place.written, self.name]);
        let open = names.into_iter().map(|name| (file, name.to_owned())).collect();
        let mut found = self.resolve_exported(open);
        found.retain(|found| {
            let structure = self.structures.structure_of(found.file);
            let is_itself = found.file == place.file && Some(found.declared) == place.within;
            !is_itself && self.is_fixture_named(*found, &structure, place.written)
        });
        found
    }

    fn is_fixture_named(
        &self,
        candidate: DefinitionCandidate,
        structure: &FileStructure,
        name: &str,
    ) -> bool {
        let alias =
            structure.exports.iter().find(|export| export.local == self.name && export.name != export.local);
        let own_name = alias.map_or(self.name, |alias| &alias.name);
        own_name == name && is_fixture(structure, candidate.declared)
    }
}

/// Returns whether a decorator makes a function a fixture.
pub(super) fn is_fixture(structure: &FileStructure, id: u32) -> bool {
    decorators_of(structure, id).any(|(name, _)| DECORATORS.contains(&name))
}

/// Returns the names that decorate a definition, each with its receiver: those before its own name.
pub(super) fn decorators_of(
    structure: &FileStructure,
    id: u32,
) -> impl Iterator<Item = (&str, Option<&str>)> {
    list_decorators(structure).filter(move |(of, ..)| *of == id).map(|(_, name, receiver)| (name, receiver))
}

/// Returns the decorators of all definitions of a file: the definition, the name and its receiver.
pub fn list_decorators(structure: &FileStructure) -> impl Iterator<Item = (u32, &str, Option<&str>)> {
    structure.uses.iter().filter_map(|used| {
        let id = used.enclosing_id()?;
        let own = structure.find_item(Some(id))?;
        let receiver = match used.receiver {
            UseReceiver::Named(path) => Some(structure.name(path)),
            _ => None,
        };
        (used.line < own.name_at.0).then(|| (id, structure.name(used.name), receiver))
    })
}
