//! Lists the tests that were reached: only what runs, by the names that runners know, grouped by file, the surest first.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use memod_base::types::last_part;
use memod_engine::errors::RpcResult;
use memod_proto::ReachedDefinition;
use memod_structure::resolve::{Certainty, FileNumber, StructureStore as _};
use memod_structure::test_blocks::{TestBlock, find_block_at};

use super::follow_uses::{FollowedSteps, UseStep};
use super::match_tests_by_name::split_words;
use super::test_order::find_outermost_function;
use super::test_texts::{TestTexts, may_have_tests};
use super::worktree_structures::WorktreeStructures;

/// Default maximum numbers of tests in an answer, and of tests of one file.
const LIMIT: usize = 20;
const MOST_OF_FILE: usize = 5;

/// Which tests an answer lists.
pub(super) struct TestListOptions<'a> {
    /// Maximum number of tests; when absent, the default, and a maximum for each file.
    pub(super) limit: Option<usize>,
    /// Whether tests are listed that only names and similar words lead to.
    pub(super) all: bool,
    /// The words of the request.
    pub(super) query: &'a str,
}

/// The tests of an answer.
#[derive(Default)]
pub(super) struct TestList {
    pub(super) found: Vec<ReachedDefinition>,
    /// The files of the listed tests.
    pub(super) files: Vec<FileNumber>,
    /// Number of tests, listed or not.
    pub(super) n_found: usize,
    /// Numbers of tests that only a name leads to, and of files that only have similar words, if they are not listed.
    pub(super) n_by_name: usize,
    pub(super) n_similar: usize,
}

/// Returns the tests among steps, which `order` orders.
pub(super) fn list_tests(
    structures: &WorktreeStructures<'_>,
    texts: &mut TestTexts<'_>,
    (mut order, reached): (Vec<usize>, &FollowedSteps),
    options: &TestListOptions<'_>,
) -> RpcResult<TestList> {
    order.retain(|step| may_have_tests(structures, structures.paths.path_of(reached.steps[*step].node.file)));
    let mut list = TestList::default();
    // Tests that are sure come first. If a file proves to hold none, what is less sure may be all there is.
    let mut rest = order;
    for least_sure in [Certainty::Likely, Certainty::Similar] {
        let is_chosen = |step: &usize| options.all || reached.steps[*step].certainty <= least_sure;
        let (chosen, other): (Vec<usize>, Vec<usize>) = rest.iter().partition(|step| is_chosen(step));
        add_files(structures, texts, (&chosen, reached), options, &mut list)?;
        rest = other;
        if list.n_found > 0 {
            break;
        }
    }
    let hidden = rest.iter().map(|step| &reached.steps[*step]);
    let (similar, by_name): (Vec<&UseStep>, Vec<&UseStep>) =
        hidden.partition(|step| step.certainty == Certainty::Similar);
    list.n_by_name = by_name.len();
    list.n_similar = similar.iter().map(|step| step.node.file).collect::<HashSet<_>>().len();
    Ok(list)
}

/// Adds the tests of files in the order in which each file comes first, up to the limit, and counts the others.
fn add_files(
    structures: &WorktreeStructures<'_>,
    texts: &mut TestTexts<'_>,
    (order, reached): (&[usize], &FollowedSteps),
    options: &TestListOptions<'_>,
    list: &mut TestList,
) -> RpcResult<()> {
    let mut places: HashMap<FileNumber, usize> = HashMap::new();
    let mut files: Vec<(FileNumber, Vec<usize>)> = Vec::new();
    for step in order {
        let file = reached.steps[*step].node.file;
        let place = *places.entry(file).or_insert_with(|| {
            files.push((file, Vec::new()));
            files.len() - 1
        });
        files[place].1.push(*step);
    }
    // Proved tests come first.
    files.sort_by_key(|(_, steps)| steps.iter().map(|step| reached.steps[*step].certainty).min());
    let most = options.limit.unwrap_or(LIMIT);
    let most_of_file = if options.limit.is_some() { usize::MAX } else { MOST_OF_FILE };
    for (file, steps) in files {
        let n_left = most.saturating_sub(list.found.len());
        if n_left == 0 {
            list.n_found += steps.len();
            continue;
        }
        if !texts.has_tests(structures, file)? {
            continue;
        }
        let blocks = texts.list_blocks(structures, file)?;
        let mut of_file = list_file_tests(structures, &blocks, (&steps, reached));
        order_by_words(&mut of_file, options.query);
        list.n_found += of_file.len();
        let n_more = of_file.len().saturating_sub(n_left.min(most_of_file));
        of_file.truncate(n_left.min(most_of_file));
        if let Some(last) = of_file.last_mut() {
            last.n_more_in_file = n_more;
        }
        list.files.push(file);
        list.found.extend(of_file);
    }
    Ok(())
}

/// Returns the tests of one file that steps lead to: the blocks around the uses. For code outside of tests, such as a helper or an
/// import, the whole file is listed if no test of it is reached.
fn list_file_tests(
    structures: &WorktreeStructures<'_>,
    blocks: &Rc<[TestBlock]>,
    (steps, reached): (&[usize], &FollowedSteps),
) -> Vec<ReachedDefinition> {
    let mut found: Vec<ReachedDefinition> = Vec::new();
    let mut outside = None;
    let mut known = HashSet::new();
    for &id in steps {
        let step = &reached.steps[id];
        for line in reached.lines_of(id) {
            let entry = describe_step(structures, step, line);
            // A decorator is above the test.
            let around = [Some(line), entry.text_line].into_iter().flatten();
            let around: Vec<&TestBlock> = around.filter_map(|line| find_block_at(blocks, line)).collect();
            let test = around.iter().find(|block| block.is_test);
            let Some(block) = test.or(around.first()) else {
                let is_kept = blocks.is_empty() && known.insert(entry.lines);
                if is_kept {
                    found.push(entry);
                } else {
                    outside = outside.or(Some(entry));
                }
                continue;
            };
            if known.insert(block.lines) {
                found.push(name_by_block(entry, block));
            }
        }
    }
    if found.is_empty() {
        let whole = outside.map(|entry| ReachedDefinition {
            title: None,
            lines: (entry.line, entry.line),
            text_line: None,
            ..entry
        });
        found.extend(whole);
    }
    found
}

/// Returns a step as an answer has it, without texts. `line` is one of the lines of its use.
fn describe_step(structures: &WorktreeStructures<'_>, step: &UseStep, line: u32) -> ReachedDefinition {
    let structure = structures.structure_of(step.node.file);
    let node = find_outermost_function(structures, step.node);
    let own = structure.find_item(node.declared);
    ReachedDefinition {
        path: structures.source_key(step.node.file).to_string(),
        title: own.map(|own| own.title.clone()),
        lines: own.map_or((line, line), |own| own.lines),
        line,
        text_line: own.map(|own| own.name_at.0),
        depth: step.depth,
        certainty: step.certainty.as_str().to_owned(),
        is_test: true,
        ..ReachedDefinition::default()
    }
}

/// Returns an entry with the lines and the name of the test around it. The title of its definition stays if the test is one, or is
/// inside of it.
fn name_by_block(entry: ReachedDefinition, block: &TestBlock) -> ReachedDefinition {
    let title = entry.title.filter(|_| entry.lines.0 <= block.lines.1 && block.lines.0 <= entry.lines.1);
    let is_title =
        title.as_deref().is_some_and(|title| title == block.name || last_part(title) == block.name);
    let own = block.name.rsplit(['>', ':', '/']).next().unwrap_or_default().trim();
    let is_same = title.as_deref().is_some_and(|title| last_part(title) == own);
    let is_inside = title.is_none() || !is_same && entry.lines.0 < block.lines.0;
    ReachedDefinition {
        test: (!is_title).then(|| block.name.clone()),
        lines: if is_inside { block.lines } else { entry.lines },
        text_line: entry.text_line.filter(|_| !is_inside),
        is_parametrised: block.is_parametrised,
        title,
        ..entry
    }
}

/// Puts the tests whose names have most of the words of a query first, among those of one certainty.
fn order_by_words(found: &mut [ReachedDefinition], query: &str) {
    let wanted = split_words(query);
    if wanted.is_empty() {
        return;
    }
    found.sort_by_cached_key(|entry| {
        let name = entry.test.as_deref().or(entry.title.as_deref()).unwrap_or_default();
        let n_same = split_words(name).intersection(&wanted).count();
        (entry.certainty != Certainty::Exact.as_str(), std::cmp::Reverse(n_same))
    });
}
