//! Finds the tests that replace what is asked about by a fake, so that they do not run it.

use std::collections::{BTreeSet, HashSet};

use memod_base::types::{ClassSet, DeclaredRole, FileClass, file_name, last_part};
use memod_engine::errors::RpcResult;
use memod_proto::NeighbourLine;
use memod_structure::resolve::{FileNumber, StructureStore as _};
use memod_structure::test_blocks::{Replaced, list_fakes};

use super::answer_texts::MOST_CHARS;
use super::question_targets::QuestionTargets;
use super::test_texts::TestTexts;
use super::worktree_structures::WorktreeStructures;

/// Each line that makes a fake has one of these words.
const FAKE_WORDS: [&str; 8] = ["mock", "patch", "setattr", "stub", "spyOn", "doMock", "replace", "mockk"];
/// Maximum numbers of requested names, of files that are read, and of lines that are listed.
const MOST_NAMES: usize = 20;
/// Maximum number of requested definitions whose files and types are looked for: each name of them is looked up.
const MOST_OWNERS: usize = 200;
const MOST_READ: usize = 60;
const MOST_LISTED: usize = 10;

/// The names that a fake may replace.
struct FakedNames<'a> {
    files: HashSet<FileNumber>,
    /// Own names of the requested definitions.
    names: HashSet<&'a str>,
    /// Own names of the requested types.
    types: Vec<&'a str>,
    /// Names of the files and types around the requested definitions, in lower case, which come before their names in a path.
    owners: HashSet<String>,
}

impl<'a> FakedNames<'a> {
    fn new(structures: &WorktreeStructures<'_>, targets: &'a QuestionTargets) -> Self {
        let (mut files, mut owners) = (HashSet::new(), HashSet::new());
        for (key, found) in targets.definitions.iter().take(MOST_OWNERS) {
            files.extend(structures.paths.number_of(key.as_str()));
            let stem = file_name(key.as_str()).split('.').next().unwrap_or_default();
            owners.insert(stem.to_lowercase());
            let around = found.title.strip_suffix(last_part(&found.title)).unwrap_or_default();
            let around = last_part(around.trim_end_matches(['.', ':'])).to_lowercase();
            owners.extend((!around.is_empty()).then_some(around));
        }
        let names = targets.definitions.iter().map(|(_, found)| last_part(&found.title)).take(MOST_NAMES);
        let is_type = |title: &str| {
            targets.declared.iter().any(|own| {
                let structure = structures.structure_of(own.file);
                let declared = own.declared_in(&structure);
                declared.role == DeclaredRole::Type && declared.title == title
            })
        };
        let titles = targets.definitions.iter().take(MOST_NAMES).map(|(_, found)| found.title.as_str());
        let types = titles.filter(|title| is_type(title)).map(last_part).collect();
        Self { files, names: names.collect(), types, owners }
    }

    /// Returns whether a fake in the file `importer` replaces one of the definitions.
    fn are_replaced_by(
        &self,
        structures: &WorktreeStructures<'_>,
        importer: FileNumber,
        replaced: &Replaced,
    ) -> bool {
        match replaced {
            Replaced::Name(name) => self.names.contains(name.as_str()),
            Replaced::Module(module) => structures
                .paths
                .files_of_module(importer, module)
                .iter()
                .any(|file| self.files.contains(file)),
            Replaced::Path(path) => {
                let Some((before, name)) = path.rsplit_once('.') else { return false };
                if !self.names.contains(name) {
                    return false;
                }
                let owner = before.rsplit('.').next().unwrap_or_default().to_lowercase();
                // Where a module uses what it imports, the name is replaced in that module.
                self.owners.contains(&owner)
                    || structures.paths.files_of_module(importer, before).iter().any(|file| {
                        let structure = structures.structure_of(*file);
                        self.files.contains(file)
                            || structure.imports.iter().any(|import| {
                                import.local == name && self.imports_own_file(structures, *file, import)
                            })
                    })
            }
        }
    }

    fn imports_own_file(
        &self,
        structures: &WorktreeStructures<'_>,
        importer: FileNumber,
        import: &memod_base::types::ImportedName,
    ) -> bool {
        self.files.iter().any(|exporter| structures.paths.imports_file(importer, import, *exporter))
    }
}

/// Returns the lines of tests that replace the targets by a fake; those of `listed` files first.
pub(super) fn find_fakes(
    structures: &WorktreeStructures<'_>,
    texts: &mut TestTexts<'_>,
    targets: &QuestionTargets,
    listed: &[FileNumber],
) -> RpcResult<Vec<NeighbourLine>> {
    let faked = FakedNames::new(structures, targets);
    let mut found = Vec::new();
    for file in list_files_with_fakes(structures, &faked, listed)?.into_iter().take(MOST_READ) {
        let path = structures.paths.path_of(file);
        let Some(lines) = texts.read_lines(structures, file)? else { continue };
        for (line, replaced) in list_fakes(path, lines.raw_lines(), &faked.types) {
            if found.len() < MOST_LISTED && faked.are_replaced_by(structures, file, &replaced) {
                let text = lines.line_at(line).chars().take(MOST_CHARS).collect();
                found.push(NeighbourLine { path: path.to_owned(), cwd_path: None, line, text });
            }
        }
    }
    Ok(found)
}

/// Returns the files of tests that have a word of fakes and one of the names, and those that name a fake after a type; the `listed`
/// ones first.
fn list_files_with_fakes(
    structures: &WorktreeStructures<'_>,
    faked: &FakedNames<'_>,
    listed: &[FileNumber],
) -> RpcResult<Vec<FileNumber>> {
    let (mut with_word, mut with_name) = (BTreeSet::new(), BTreeSet::new());
    for word in FAKE_WORDS {
        with_word.extend(structures.find_files_with_name(word)?);
    }
    let stems = faked.owners.iter().map(String::as_str);
    for name in faked.names.iter().copied().chain(stems) {
        with_name.extend(structures.find_files_with_name(name)?);
    }
    let mut files: BTreeSet<FileNumber> = with_word.intersection(&with_name).copied().collect();
    for name in &faked.types {
        for fake in ["Mock", "Fake", "Stub"] {
            for named in [format!("{fake}{name}"), format!("New{fake}{name}"), format!("{name}{fake}")] {
                files.extend(structures.find_files_with_name(&named)?);
            }
        }
    }
    let tests = ClassSet::from_classes(&[FileClass::Test, FileClass::Fixture]);
    files.retain(|file| structures.chunks.path_classes(structures.paths.path_of(*file)).intersects(tests));
    let first = listed.iter().copied().filter(|file| files.contains(file));
    let rest = files.iter().copied().filter(|file| !listed.contains(file));
    Ok(first.chain(rest).collect())
}
