//! Finds the tests among what was reached, adds those that only a name points to, and orders them.

use std::collections::{HashMap, HashSet};

use memod_base::types::{ClassSet, DeclaredRole, FileClass, own_part};
use memod_structure::resolve::{Certainty, FileNumber, Structures as _};

use super::follow::{Reached, Step, nearest};
use super::joined::{Joined, Node};
use super::likeness::Likeness;

/// Classes of files that have no test in them, wherever they are.
const NO_TESTS: [FileClass; 5] =
    [FileClass::Config, FileClass::Docs, FileClass::Fixture, FileClass::Generated, FileClass::Snapshot];

/// What a name that says all of what has changed adds to the weight of a use, which is 0.7 of one that is sure and direct.
const NAME: f64 = 0.5;
/// Weight of such a name alone: below a sure and direct use, above all others.
const NAME_ALONE: f64 = 0.6;
/// `k` of reciprocal rank fusion, smaller than the paper's 60 because the first ranks matter most. Found on three repositories with
/// `benches/references/history.py`, and checked on twelve others.
const RRF_K: usize = 3;
/// Most files that are added because their words are similar.
const MOST_SIMILAR: usize = 10;

/// Whether a definition is a test: its file is one, or it is in a module of tests, as Rust has them.
pub(super) fn is_test(joined: &Joined<'_>, node: Node) -> bool {
    let path = joined.paths.path(node.file);
    if joined.chunks.classes(path).meets(ClassSet::of(&[FileClass::Test])) {
        return true;
    }
    let structure = joined.of(node.file);
    structure.declared_around(node.declared).any(|around| {
        around.role == DeclaredRole::Module && matches!(around.names.as_str(), "test" | "tests")
    })
}

/// Returns the outermost function around a node, which is what runs as one test.
pub(super) fn outermost(joined: &Joined<'_>, node: Node) -> Node {
    let structure = joined.of(node.file);
    let is_function = |id: &u32| {
        let role = structure.declared.get(*id as usize).map(|own| own.role);
        matches!(role, Some(DeclaredRole::Free | DeclaredRole::Member))
    };
    Node { declared: structure.around(node.declared).filter(is_function).last().or(node.declared), ..node }
}

/// Returns the numbers of the steps that are tests, the one to run first at the front.
///
/// Uses and names are two kinds of evidence, so the weight of a step and the likeness of its file are added. Frameworks call functions without
/// naming them, so files that no use leads to are added to the steps, if each word of their name says what has changed, or if they are
/// among the first of `similar`, the files with similar words.
pub(super) fn ordered(
    joined: &Joined<'_>,
    likeness: &Likeness,
    similar: &[Node],
    reached: &mut Reached,
) -> Vec<usize> {
    let mut tests: Vec<usize> =
        (0..reached.steps.len()).filter(|step| is_test(joined, reached.steps[*step].node)).collect();
    let files: HashSet<FileNumber> = tests.iter().map(|step| reached.steps[*step].node.file).collect();
    leave_out_helpers(joined, &mut tests, &mut reached.steps);
    let with_tests: HashSet<FileNumber> = tests.iter().map(|step| reached.steps[*step].node.file).collect();
    // A file of which only helpers are used is not to be run.
    let is_more = |node: &&Node| with_tests.contains(&node.file) || !files.contains(&node.file);
    let similar: Vec<Node> = similar.iter().filter(is_more).copied().collect();
    for file in named(joined, likeness) {
        if !files.contains(&file) {
            tests.push(reached.steps.len());
            reached.steps.push(by_name_alone(file));
        }
    }
    let mut of_files: HashMap<FileNumber, (f64, usize)> = HashMap::new();
    for step in &tests {
        let file = reached.steps[*step].node.file;
        let path = joined.paths.path(file);
        of_files.entry(file).or_insert_with(|| (likeness.of(path), likeness.distance(path)));
    }
    tests.sort_by(|one, other| {
        let (one, other) = (&reached.steps[*one], &reached.steps[*other]);
        let (own, others) = (of_files[&one.node.file], of_files[&other.node.file]);
        let by_weight = weight(other, others.0).total_cmp(&weight(one, own.0));
        by_weight.then(own.1.cmp(&others.1)).then_with(|| nearest(one, other))
    });
    let mut whole = HashSet::new();
    tests.retain(|step| whole.insert(outermost(joined, reached.steps[*step].node)));
    fused(joined, tests, &similar, reached)
}

/// Whether a definition, or the type that it is in, is named as frameworks demand of tests: `test_x`, `TestX`, `testX`, `xTest`.
fn is_named_test(joined: &Joined<'_>, node: Node) -> bool {
    let structure = joined.of(node.file);
    let is_test = |name: &str| {
        let name = name.to_lowercase();
        name.starts_with("test") || name.ends_with("test") || name.ends_with("tests")
    };
    structure
        .declared_around(node.declared)
        .any(|around| is_test(&around.names) || is_test(own_part(around.owner())))
}

/// Leaves out tests that other tests use. A test in the same file takes over the greater weight of its helper.
fn leave_out_helpers(joined: &Joined<'_>, tests: &mut Vec<usize>, steps: &mut [Step]) {
    let all: HashSet<usize> = tests.iter().copied().collect();
    let mut helpers = HashSet::new();
    for &test in tests.iter() {
        let Some(helper) = steps[test].via.filter(|via| all.contains(via)) else { continue };
        let of_helper = outermost(joined, steps[helper].node);
        // What is inside of a test is a part of it. A guess does not make a helper of a test, nor does the name of a test.
        if steps[test].certainty != Certainty::Exact
            || steps[test].node.declared.is_none()
            || outermost(joined, steps[test].node) == of_helper
            || is_named_test(joined, of_helper)
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

/// Returns the numbers of steps in the order of uses and of similar words together, those of changed tests first; adds steps to the most
/// similar files that no use leads to.
///
/// Both orders are of files and are fused by rank (Cormack et al., "Reciprocal rank fusion", SIGIR 2009). Each further test of a
/// file counts one rank lower, so that one file does not fill the front.
fn fused(joined: &Joined<'_>, mut tests: Vec<usize>, similar: &[Node], reached: &mut Reached) -> Vec<usize> {
    let by_uses: HashSet<FileNumber> = tests.iter().map(|step| reached.steps[*step].node.file).collect();
    for node in similar.iter().take(MOST_SIMILAR).filter(|node| !by_uses.contains(&node.file)) {
        tests.push(reached.steps.len());
        let line = node.declared.map_or(1, |id| joined.of(node.file).declared[id as usize].lines.0);
        let step = Step { node: *node, line, certainty: Certainty::Similar, ..by_name_alone(node.file) };
        reached.steps.push(step);
    }
    let by_words: HashMap<FileNumber, usize> =
        similar.iter().enumerate().map(|(rank, node)| (node.file, rank)).collect();
    let share = |rank: usize| 1.0 / (RRF_K + 1 + rank) as f64;
    // Of each file its rank, and how many of its tests are placed.
    let mut by_rank: HashMap<FileNumber, (usize, usize)> = HashMap::new();
    let mut scored: Vec<(f64, usize)> = Vec::new();
    for id in tests {
        let step = &reached.steps[id];
        let file = step.node.file;
        let n_files = by_rank.len();
        let (rank, n_placed) = by_rank.entry(file).or_insert((n_files, 0));
        let of_uses = if step.certainty == Certainty::Similar { 0.0 } else { share(*rank + *n_placed) };
        let of_words = by_words.get(&file).map_or(0.0, |rank| share(*rank + *n_placed));
        *n_placed += 1;
        let is_start = step.depth == 0 && step.certainty == Certainty::Exact;
        scored.push((if is_start { f64::INFINITY } else { of_uses + of_words }, id));
    }
    scored.sort_by(|one, other| other.0.total_cmp(&one.0)); // stable
    scored.into_iter().map(|(_, id)| id).collect()
}

/// Returns the weight of a test whose file has this likeness.
fn weight(step: &Step, likeness: f64) -> f64 {
    let of_both = step.weight + NAME * likeness;
    if likeness < 1.0 { of_both } else { of_both.max(NAME_ALONE) }
}

/// Returns the files of tests that are named after what has changed: of all of them the nearest, since in another part of the
/// worktree a name means something else.
fn named(joined: &Joined<'_>, likeness: &Likeness) -> Vec<FileNumber> {
    let is_named = |path: &str| {
        let classes = joined.chunks.classes(path);
        classes.has(FileClass::Test) && !classes.meets(ClassSet::of(&NO_TESTS)) && likeness.of(path) == 1.0
    };
    let all = joined.paths.all().filter(|(_, path)| is_named(path));
    let all: Vec<(FileNumber, usize)> = all.map(|(file, path)| (file, likeness.distance(path))).collect();
    let nearest = all.iter().map(|(_, distance)| *distance).min();
    all.iter().filter(|(_, distance)| Some(*distance) == nearest).map(|(file, _)| *file).collect()
}

/// Returns the step to a file that no use leads to.
fn by_name_alone(file: FileNumber) -> Step {
    let node = Node { file, declared: None };
    Step { node, depth: 0, via: None, line: 1, certainty: Certainty::ByName, weight: 0.0 }
}
