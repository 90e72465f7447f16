//! Finds candidates of a resolver without reading all of them for each use: members by the type around them, and fixtures.

use memod_base::types::last_part;

use super::fixtures::is_fixture;
use super::use_place::LanguageFamily;
use super::{DefinitionCandidate, MembersByOwner, Resolver};

impl Resolver<'_> {
    /// Returns the members of types that are named `owner`, in files of a language family. A name such as `close` has thousands of
    /// candidates and of uses, so they are grouped once.
    pub(super) fn members_with_owner(
        &self,
        family: LanguageFamily,
        owner: &str,
    ) -> impl Iterator<Item = DefinitionCandidate> {
        let members = self.members_by_owner.get_or_init(|| self.group_members()).get(owner);
        let of_family = members.into_iter().flatten().filter(move |(found, _)| *found == family);
        of_family.map(|(_, candidate)| *candidate)
    }

    fn group_members(&self) -> MembersByOwner {
        let mut members = MembersByOwner::new();
        for ((candidate, structure), family) in self.candidates.iter().zip(&self.families) {
            let declared = candidate.declared_in(structure);
            if declared.role.is_member() {
                let owner = last_part(declared.owner_title()).to_owned();
                members.entry(owner).or_default().push((*family, *candidate));
            }
        }
        members
    }

    /// Returns the candidates that are fixtures of pytest, as positions among all candidates.
    pub(super) fn fixture_positions(&self) -> &[usize] {
        self.fixture_positions.get_or_init(|| {
            let all = self.candidates.iter().enumerate();
            all.filter(|(_, (candidate, structure))| is_fixture(structure, candidate.declared))
                .map(|(position, _)| position)
                .collect()
        })
    }
}
