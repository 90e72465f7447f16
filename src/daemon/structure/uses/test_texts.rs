//! Reads the tests in the files of an answer, each file once.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use memod_base::types::{ClassSet, DeclaredRole, FileClass, SourceKey, parent_dir};
use memod_engine::errors::RpcResult;
use memod_extract::format_name;
use memod_extract::lang::FormatGroup;
use memod_index_db::IndexReader;
use memod_search::paths::class_rules;
use memod_structure::map::NumberedLines;
use memod_structure::resolve::{Certainty, FileNumber, StructureStore as _};
use memod_structure::test_blocks::{TestBlock, knows_tests_of, list_test_blocks};

use super::answer_texts::AnswerTexts;
use super::follow_uses::FollowedSteps;
use super::worktree_structures::{CodeNode, WorktreeStructures};

/// Classes of directories whose files are input of tests, even if they are named as tests.
const INPUT_CLASSES: [FileClass; 3] = [FileClass::Fixture, FileClass::Snapshot, FileClass::Vendored];
/// Classes of files that hold no tests.
const OTHER_CLASSES: [FileClass; 4] =
    [FileClass::Config, FileClass::Docs, FileClass::Generated, FileClass::Snapshot];
/// Maximum number of files of Rust in which tests beside other code are looked for.
const MOST_MARKED_FILES: usize = 60;

/// The texts of the files of an answer, and the tests in them.
pub(super) struct TestTexts<'a> {
    reader: &'a IndexReader,
    texts: AnswerTexts<'a>,
    blocks: HashMap<FileNumber, Rc<[TestBlock]>>,
}

impl<'a> TestTexts<'a> {
    pub(super) fn new(reader: &'a IndexReader, texts: AnswerTexts<'a>) -> Self {
        Self { reader, texts, blocks: HashMap::new() }
    }

    /// Returns the lines of a file; `None` if the disk differs from the snapshot.
    pub(super) fn read_lines(
        &mut self,
        structures: &WorktreeStructures<'_>,
        file: FileNumber,
    ) -> RpcResult<Option<&NumberedLines>> {
        self.texts.read_lines_from(self.reader, &structures.source_key(file))
    }

    /// Returns the tests in a file; none if the disk differs from the snapshot.
    pub(super) fn list_blocks(
        &mut self,
        structures: &WorktreeStructures<'_>,
        file: FileNumber,
    ) -> RpcResult<Rc<[TestBlock]>> {
        if let Some(known) = self.blocks.get(&file) {
            return Ok(Rc::clone(known));
        }
        let path = structures.paths.path_of(file);
        let lines = self.texts.read_lines_from(self.reader, &SourceKey::new(path))?;
        let blocks: Rc<[TestBlock]> =
            lines.map(|lines| list_test_blocks(path, lines.raw_lines())).unwrap_or_default().into();
        self.blocks.insert(file, Rc::clone(&blocks));
        Ok(blocks)
    }

    /// Returns whether a file of tests has any to run: not if it only supports others, as fixtures, settings and helpers do.
    pub(super) fn has_tests(
        &mut self,
        structures: &WorktreeStructures<'_>,
        file: FileNumber,
    ) -> RpcResult<bool> {
        let path = structures.paths.path_of(file);
        if !may_have_tests(structures, path) {
            return Ok(false);
        }
        Ok(!knows_tests_of(path) || self.list_blocks(structures, file)?.iter().any(|block| block.is_test))
    }

    /// Returns the functions of Rust among the steps that are marked as tests, though they are in no file or module of tests.
    pub(super) fn find_marked_tests(
        &mut self,
        structures: &WorktreeStructures<'_>,
        reached: &FollowedSteps,
    ) -> RpcResult<HashSet<CodeNode>> {
        let (mut marked, mut files) = (HashSet::new(), HashSet::new());
        for step in reached.steps.iter().filter(|step| step.certainty < Certainty::ByName) {
            let path = structures.paths.path_of(step.node.file);
            let is_known = files.contains(&step.node.file);
            if !path.ends_with(".rs") || !is_known && files.len() >= MOST_MARKED_FILES {
                continue;
            }
            let structure = structures.structure_of(step.node.file);
            let Some(own) = structure.find_item(step.node.declared) else { continue };
            if own.role != DeclaredRole::Free {
                continue;
            }
            files.insert(step.node.file);
            let blocks = self.list_blocks(structures, step.node.file)?;
            let name_line = own.name_at.0;
            if blocks.iter().any(|block| block.is_test && block.lines.0 == name_line) {
                marked.insert(step.node);
            }
        }
        Ok(marked)
    }
}

/// Returns whether a file is code that may hold tests, by its path and classes.
pub(super) fn may_have_tests(structures: &WorktreeStructures<'_>, path: &str) -> bool {
    let of_dir = class_rules::classes_by_path(&format!("{}/x", parent_dir(path)));
    let classes = structures.chunks.path_classes(path);
    FormatGroup::from_format_name(format_name(path, "")) == FormatGroup::Code
        && !of_dir.intersects(ClassSet::from_classes(&INPUT_CLASSES))
        && !classes.intersects(ClassSet::from_classes(&OTHER_CLASSES))
}
