//! Answers `tests` from the definitions that were reached.

use memod_base::paths::CallerDir;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_index_db::IndexReader;
use memod_proto::{NeighbourLine, ReachParams, ReachResult};

use super::answer_texts::{AnswerTexts, StoredEntries};
use super::find_fakes::find_fakes;
use super::follow_uses::FollowedSteps;
use super::http_tests::add_http_tests;
use super::listed_tests::{TestListOptions, list_tests};
use super::question_targets::QuestionTargets;
use super::similar_tests::find_similar_tests;
use super::test_neighbours::find_neighbours;
use super::test_order::{TestEvidence, order_tests};
use super::test_texts::TestTexts;
use super::worktree_structures::WorktreeStructures;
use crate::daemon::shared::Shared;

/// Returns the tests among the definitions that were reached from `targets`, with what replaces the targets and what names them.
/// `removed` are the qualified names of removed definitions. The texts of the tests are left out.
pub(super) fn answer_tests(
    (shared, reader): (&Shared, &IndexReader),
    structures: &WorktreeStructures<'_>,
    (at, dir): (&Freshness, &CallerDir),
    (targets, removed): (&QuestionTargets, &[String]),
    (mut reached, params): (FollowedSteps, &ReachParams),
) -> RpcResult<ReachResult> {
    let query = params.query.as_deref().unwrap_or_default();
    let (similar, why_not_similar) =
        find_similar_tests((shared, reader), structures, (at, dir), (targets, removed, query))?;
    let mut texts = TestTexts::new(reader, AnswerTexts::new((shared, at), dir, StoredEntries::new()));
    let lacks_http =
        add_http_tests((reader, at.worktree), structures, &mut texts, &targets.declared, &mut reached)?;
    let marked = texts.find_marked_tests(structures, &reached)?;
    let names = targets.build_name_matcher();
    let evidence = TestEvidence { names: &names, similar: &similar, marked: &marked, query };
    let order = order_tests(structures, &evidence, &mut reached);
    let options = TestListOptions { limit: params.limit, all: params.all, query };
    let list = list_tests(structures, &mut texts, (order, &reached), &options)?;
    let mut fakes = find_fakes(structures, &mut texts, targets, &list.files)?;
    let mut neighbours = find_neighbours(structures, &mut texts, targets, &names)?;
    fakes.iter_mut().chain(&mut neighbours).for_each(|line: &mut NeighbourLine| {
        line.cwd_path = dir.relative_path(&line.path);
    });
    let lacks_farther = reached.last_step.map(|depth| {
        format!("tests that are more than {depth} uses away are not followed; ask about a definition between them and this one")
    });
    Ok(ReachResult {
        n_found: list.n_found,
        n_tests: list.n_found,
        n_by_name: list.n_by_name,
        n_similar: list.n_similar,
        found: list.found,
        fakes,
        neighbours,
        cut: reached.cut.map(str::to_owned).or(lacks_http).or(why_not_similar).or(lacks_farther),
        ..ReachResult::default()
    })
}
