//! Finds the tests among the definitions that were reached, adds tests that only their names point to, and orders them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use memod_base::types::{ClassSet, DeclaredRole, FileClass, file_name, last_part};
use memod_structure::resolve::{Certainty, FileNumber, StructureStore as _};

use super::follow_uses::{FollowedSteps, UseStep, compare_by_distance};
use super::match_tests_by_name::{NameMatcher, split_words};
use super::worktree_structures::{CodeNode, WorktreeStructures};

/// Classes of files that contain no tests, even in a directory of tests.
const CLASSES_WITHOUT_TESTS: [FileClass; 5] =
    [FileClass::Config, FileClass::Docs, FileClass::Fixture, FileClass::Generated, FileClass::Snapshot];

/// Addition to the weight of a test whose file name matches a changed file in full; a certain and direct use weighs 0.7.
const NAME_WEIGHT: f64 = 0.5;
/// Weight of such a name alone: below a certain and direct use, above all other uses.
const NAME_ALONE_WEIGHT: f64 = 0.6;
/// `k` of reciprocal rank fusion, smaller than the paper's 60 because the first ranks matter most. Determined on three repositories
/// with `benches/references/history.py`, and checked on twelve others.
const RRF_K: usize = 3;
/// Maximum number of files that are added because their words are similar.
const MOST_SIMILAR: usize = 10;

/// The order of files with the same evidence: by directories between them and the targets, by words of the query in their names, then by
/// similar words.
type FileTies = (usize, Reverse<usize>, usize);

/// The evidence, beside uses, that a file has tests of the targets.
pub(super) struct TestEvidence<'a> {
    /// The names of the targets.
    pub(super) names: &'a NameMatcher,
    /// The most similar definition of each similar file, the most similar first.
    pub(super) similar: &'a [CodeNode],
    /// Functions that are marked as tests, though they are in no file or module of tests.
    pub(super) marked: &'a HashSet<CodeNode>,
    /// The change in words, as the request has it.
    pub(super) query: &'a str,
}

/// Returns whether a definition is a test: it is in a file of tests, or in a module of tests as Rust has them.
pub(super) fn is_test(structures: &WorktreeStructures<'_>, node: CodeNode) -> bool {
    let path = structures.paths.path_of(node.file);
    if structures.chunks.path_classes(path).intersects(ClassSet::from_classes(&[FileClass::Test])) {
        return true;
    }
    let structure = structures.structure_of(node.file);
    structure.enclosing_items(node.declared).any(|around| {
        around.role == DeclaredRole::Module && matches!(around.names.as_str(), "test" | "tests")
    })
}

/// Returns the outermost function around a node, which runs as one test.
pub(super) fn find_outermost_function(structures: &WorktreeStructures<'_>, node: CodeNode) -> CodeNode {
    let structure = structures.structure_of(node.file);
    CodeNode {
        declared: structure
            .enclosing_ids(node.declared)
            .filter(|id| {
                let role = structure.find_item(Some(*id)).map(|own| own.role);
                matches!(role, Some(DeclaredRole::Free | DeclaredRole::Member))
            })
            .last()
            .or(node.declared),
        ..node
    }
}

/// Returns the numbers of the steps that are tests, the one to run first at the front.
///
/// Uses and names are two kinds of evidence, so the weight of a step and the likeness of its file's name are added. Frameworks call
/// functions without naming them, so steps are added for files that no use leads to, if a changed file has each word of their name,
/// or if they are among the first of the files with similar words. Among equals, those with the words of the query and the most similar
/// come first.
pub(super) fn order_tests(
    structures: &WorktreeStructures<'_>,
    evidence: &TestEvidence<'_>,
    reached: &mut FollowedSteps,
) -> Vec<usize> {
    let TestEvidence { names: likeness, similar, marked, query } = *evidence;
    let is_test_step = |step: &usize| {
        let node = reached.steps[*step].node;
        is_test(structures, node) || marked.contains(&node)
    };
    let mut tests: Vec<usize> = (0..reached.steps.len()).filter(is_test_step).collect();
    let files: HashSet<FileNumber> = tests.iter().map(|step| reached.steps[*step].node.file).collect();
    remove_helpers(structures, &mut tests, &mut reached.steps);
    let with_tests: HashSet<FileNumber> = tests.iter().map(|step| reached.steps[*step].node.file).collect();
    // A file of tests from which only helpers are used need not run.
    let similar: Vec<CodeNode> = similar
        .iter()
        .filter(|node| with_tests.contains(&node.file) || !files.contains(&node.file))
        .copied()
        .collect();
    for file in find_tests_by_name(structures, likeness) {
        if !files.contains(&file) {
            tests.push(reached.steps.len());
            reached.steps.push(build_file_step(file));
        }
    }
    let wanted = split_words(query);
    let by_words = rank_files(&similar);
    let mut of_files: HashMap<FileNumber, (f64, FileTies)> = HashMap::new();
    for step in &tests {
        let file = reached.steps[*step].node.file;
        let path = structures.paths.path_of(file);
        of_files.entry(file).or_insert_with(|| {
            let n_wanted = split_words(file_name(path)).intersection(&wanted).count();
            let rank = by_words.get(&file).copied().unwrap_or(usize::MAX);
            (likeness.matching_share(path), (likeness.count_dirs_between(path), Reverse(n_wanted), rank))
        });
    }
    tests.sort_by(|one, other| {
        let (one, other) = (&reached.steps[*one], &reached.steps[*other]);
        let (own, others) = (of_files[&one.node.file], of_files[&other.node.file]);
        let by_weight = weigh_test(other, others.0).total_cmp(&weigh_test(one, own.0));
        let by_distance = (one.depth, one.certainty).cmp(&(other.depth, other.certainty));
        by_weight.then(by_distance).then(own.1.cmp(&others.1)).then_with(|| compare_by_distance(one, other))
    });
    let mut whole = HashSet::new();
    tests.retain(|step| whole.insert(find_outermost_function(structures, reached.steps[*step].node)));
    fuse_orders(structures, tests, &similar, reached)
}

/// Returns whether a definition or the type around it is named as frameworks require of tests: `test_x`, `TestX`, `testX`, `xTest`.
fn is_named_test(structures: &WorktreeStructures<'_>, node: CodeNode) -> bool {
    let structure = structures.structure_of(node.file);
    structure
        .enclosing_items(node.declared)
        .any(|around| is_test_name(&around.names) || is_test_name(last_part(around.owner_title())))
}

fn is_test_name(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with("test") || name.ends_with("test") || name.ends_with("tests")
}

/// Removes tests that other tests use as helpers. A test in the same file takes over the weight of its helper if that is greater.
fn remove_helpers(structures: &WorktreeStructures<'_>, tests: &mut Vec<usize>, steps: &mut [UseStep]) {
    let all: HashSet<usize> = tests.iter().copied().collect();
    let mut helpers = HashSet::new();
    for &test in tests.iter() {
        let Some(helper) = steps[test].via.filter(|via| all.contains(via)) else { continue };
        let of_helper = find_outermost_function(structures, steps[helper].node);
        // A definition inside a test is part of the test. A test is no helper if the use is uncertain, or its name is that of a
        // test.
        if steps[test].certainty != Certainty::Exact
            || steps[test].node.declared.is_none()
            || find_outermost_function(structures, steps[test].node) == of_helper
            || is_named_test(structures, of_helper)
        {
            continue;
        }
        helpers.insert(helper);
        if steps[test].node.file == steps[helper].node.file {
            steps[test].weight = steps[test].weight.max(steps[helper].weight);
        }
    }
    tests.retain(|test| !helpers.contains(test));
}

/// Returns the numbers of steps in an order that combines that of uses and that of similar words, changed tests first. Adds steps
/// to the most similar files that no use leads to.
///
/// Both are orders of files, and are fused by rank (Cormack et al., "Reciprocal rank fusion", SIGIR 2009). Each further test of a
/// file counts one rank lower, so that the tests of one file do not fill the front.
fn fuse_orders(
    structures: &WorktreeStructures<'_>,
    mut tests: Vec<usize>,
    similar: &[CodeNode],
    reached: &mut FollowedSteps,
) -> Vec<usize> {
    let by_uses: HashSet<FileNumber> = tests.iter().map(|step| reached.steps[*step].node.file).collect();
    for node in similar.iter().take(MOST_SIMILAR).filter(|node| !by_uses.contains(&node.file)) {
        tests.push(reached.steps.len());
        let line = structures.structure_of(node.file).find_item(node.declared).map_or(1, |own| own.lines.0);
        let step = UseStep { node: *node, line, certainty: Certainty::Similar, ..build_file_step(node.file) };
        reached.steps.push(step);
    }
    let by_words = rank_files(similar);
    // For each file, its rank, and the number of its tests that have a place.
    let mut by_rank: HashMap<FileNumber, (usize, usize)> = HashMap::new();
    let mut scored: Vec<(f64, usize)> = Vec::new();
    for id in tests {
        let step = &reached.steps[id];
        let file = step.node.file;
        let n_files = by_rank.len();
        let (rank, n_placed) = by_rank.entry(file).or_insert((n_files, 0));
        let of_uses = if step.certainty == Certainty::Similar { 0.0 } else { rank_score(*rank + *n_placed) };
        let of_words = by_words.get(&file).map_or(0.0, |rank| rank_score(*rank + *n_placed));
        *n_placed += 1;
        let is_start = step.depth == 0 && step.certainty == Certainty::Exact;
        scored.push((if is_start { f64::INFINITY } else { of_uses + of_words }, id));
    }
    scored.sort_by(|one, other| other.0.total_cmp(&one.0)); // stable
    scored.into_iter().map(|(_, id)| id).collect()
}

/// Returns the 0-based rank of the file of each node.
fn rank_files(similar: &[CodeNode]) -> HashMap<FileNumber, usize> {
    similar.iter().enumerate().map(|(rank, node)| (node.file, rank)).collect()
}

/// Returns the score of a 0-based rank.
fn rank_score(rank: usize) -> f64 {
    1.0 / (RRF_K + 1 + rank) as f64
}

/// Returns the weight of a test whose file name has this likeness with a changed file.
fn weigh_test(step: &UseStep, likeness: f64) -> f64 {
    let of_both = step.weight + NAME_WEIGHT * likeness;
    if likeness < 1.0 { of_both } else { of_both.max(NAME_ALONE_WEIGHT) }
}

/// Returns the files of tests that are named after a changed file: only those in the nearest directories, because a name means
/// something else in another part of the worktree.
fn find_tests_by_name(structures: &WorktreeStructures<'_>, likeness: &NameMatcher) -> Vec<FileNumber> {
    let all_files = structures.paths.all_files().filter(|(_, path)| {
        let path_classes = structures.chunks.path_classes(path);
        path_classes.contains(FileClass::Test)
            && !path_classes.intersects(ClassSet::from_classes(&CLASSES_WITHOUT_TESTS))
            && likeness.matching_share(path) == 1.0
    });
    let all_files: Vec<(FileNumber, usize)> =
        all_files.map(|(file, path)| (file, likeness.count_dirs_between(path))).collect();
    let nearest = all_files.iter().map(|(_, distance)| *distance).min();
    all_files.iter().filter(|(_, distance)| Some(*distance) == nearest).map(|(file, _)| *file).collect()
}

/// Returns a step without weight to a file that no use leads to.
fn build_file_step(file: FileNumber) -> UseStep {
    let node = CodeNode { file, declared: None };
    UseStep { node, depth: 0, via: None, line: 1, certainty: Certainty::Likely, weight: 0.0 }
}
