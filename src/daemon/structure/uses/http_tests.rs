//! Adds the tests that call the wanted definitions over HTTP: those that request the path of a route whose handler was reached.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use memod_base::types::{FileStructure, HttpRoute, WorktreeId};
use memod_engine::errors::RpcResult;
use memod_index_db::IndexReader;
use memod_structure::http_requests::{HttpRequest, fit_route, list_requests, longest_part};
use memod_structure::map::NumberedLines;
use memod_structure::resolve::{Certainty, DefinitionCandidate, FileNumber, StructureStore as _};

use super::follow_uses::{FollowedSteps, UseStep};
use super::test_order::is_test;
use super::test_texts::TestTexts;
use super::worktree_structures::{CodeNode, WorktreeStructures};

/// Maximum number of files of tests in which requests are looked for.
const MOST_FILES: usize = 200;
/// Maximum number of routes that are followed to tests.
const MOST_ROUTES: usize = 40;
/// Factor from the weight of a handler to that of a test that requests its path.
const WEIGHT: f64 = 0.5;

/// A route whose handler was reached, by the number of the route, with the step that reached it; `None` for a requested definition.
type ReachedRoutes = HashMap<usize, Option<usize>>;

/// Adds the tests that request the path of a route which leads to a definition in `start` or among the steps. Returns what was not
/// found, if a route leads there and no test requests it.
pub(super) fn add_http_tests(
    (reader, worktree): (&IndexReader, WorktreeId),
    structures: &WorktreeStructures<'_>,
    texts: &mut TestTexts<'_>,
    start: &[DefinitionCandidate],
    reached: &mut FollowedSteps,
) -> RpcResult<Option<String>> {
    let routes: Vec<(FileNumber, HttpRoute)> = reader
        .list_routes(worktree)?
        .into_iter()
        .filter_map(|(key, route)| Some((structures.paths.number_of(key.as_str())?, route)))
        .collect();
    let meant = find_reached_routes(structures, texts, (start, reached), &routes)?;
    if meant.is_empty() {
        return Ok(None);
    }
    let mut has_tests = false;
    for file in list_test_files(structures, &routes, &meant)? {
        let Some(lines) = texts.read_lines(structures, file)? else { continue };
        let requests = list_requests(lines.raw_lines());
        let structure = structures.structure_of(file);
        for request in requests {
            let Some((via, of_route)) = find_meant_route(&routes, &meant, (file, &request)) else { continue };
            has_tests = true;
            let (weight, certainty, depth) = via.map_or((1.0, Certainty::Exact, 0), |via| {
                let step = &reached.steps[via];
                (step.weight, step.certainty, step.depth)
            });
            reached.add_step(UseStep {
                node: CodeNode { file, declared: innermost_at(&structure, request.line) },
                depth: depth + 1,
                via,
                line: request.line,
                certainty: certainty.max(of_route),
                weight: weight * WEIGHT,
            });
        }
    }
    let first = meant.keys().min().filter(|_| !has_tests).map(|route| &routes[*route].1);
    Ok(first.map(|route| {
        let method = if route.method.is_empty() { String::new() } else { format!("{} ", route.method) };
        format!(
            "tests that call it over HTTP are not followed: none has the path of {method}{} as a text",
            route.path
        )
    }))
}

/// Returns the routes whose declaration or handler is a requested definition or a step.
fn find_reached_routes(
    structures: &WorktreeStructures<'_>,
    texts: &mut TestTexts<'_>,
    (start, reached): (&[DefinitionCandidate], &FollowedSteps),
    routes: &[(FileNumber, HttpRoute)],
) -> RpcResult<ReachedRoutes> {
    let mut steps: HashMap<FileNumber, Vec<(CodeNode, Option<usize>)>> = HashMap::new();
    for own in start {
        steps.entry(own.file).or_default().push((CodeNode::from(*own), None));
    }
    for (id, step) in reached.steps.iter().enumerate().filter(|(_, step)| step.certainty < Certainty::ByName)
    {
        steps.entry(step.node.file).or_default().push((step.node, Some(id)));
    }
    let mut meant = ReachedRoutes::new();
    for (number, (file, route)) in routes.iter().enumerate() {
        let Some(of_file) = steps.get(file).filter(|_| meant.len() < MOST_ROUTES) else { continue };
        let structure = structures.structure_of(*file);
        let last = match texts.read_lines(structures, *file)? {
            Some(lines) => last_line_of_call(lines, route.line),
            None => route.line,
        };
        let leads_to = |(node, step): &&(CodeNode, Option<usize>)| {
            let is_call = |line: u32| route.line <= line + 1 && line <= last;
            let is_used_in_call = step.is_some_and(|step| reached.lines_of(step).into_iter().any(is_call));
            let mut around = structure.enclosing_items(node.declared);
            let is_decorated = around.any(|own| own.lines.0 <= route.line && route.line < own.name_at.0);
            let is_inside = step.is_none()
                && structure.find_item(node.declared).is_some_and(|own| {
                    is_call(own.lines.0) || own.lines.0 <= route.line && route.line <= own.lines.1
                });
            is_used_in_call || is_decorated || is_inside
        };
        if let Some((_, step)) = of_file.iter().find(leads_to) {
            meant.insert(number, *step);
        }
    }
    Ok(meant)
}

/// Returns the last line of the call on a line, 1-based: the line that closes it, or the last one before the next line that is indented
/// as little.
fn last_line_of_call(lines: &NumberedLines, first: u32) -> u32 {
    let indent_of = |line: &str| line.len() - line.trim_start().len();
    let indent = lines.raw_lines().nth(first.saturating_sub(1) as usize).map_or(0, indent_of);
    let after = lines.raw_lines().enumerate().skip(first as usize);
    let mut last = first;
    for (at, line) in after.filter(|(_, line)| !line.trim().is_empty()) {
        if indent_of(line) < indent
            || indent_of(line) == indent && !line.trim_start().starts_with(['}', ')', ']'])
        {
            break;
        }
        last = at as u32 + 1;
        if indent_of(line) == indent {
            break;
        }
    }
    last
}

/// Returns the files of tests that have a part of the path of a route.
fn list_test_files(
    structures: &WorktreeStructures<'_>,
    routes: &[(FileNumber, HttpRoute)],
    meant: &ReachedRoutes,
) -> RpcResult<Vec<FileNumber>> {
    let mut parts: BTreeSet<Option<&str>> = BTreeSet::new();
    parts.extend(meant.keys().map(|route| longest_part(&routes[*route].1)));
    let mut files: BTreeSet<FileNumber> = BTreeSet::new();
    for part in parts {
        match part {
            Some(part) => files.extend(structures.find_files_with_name(part)?),
            None => files.extend(structures.paths.all_files().map(|(file, _)| file)),
        }
    }
    files.retain(|file| is_test(structures, CodeNode { file: *file, declared: None }));
    Ok(files.into_iter().take(MOST_FILES).collect())
}

/// Returns the step that leads to the route which a request means, if it was reached, and how certain it is: the route that fits best. A
/// route in the file of the request comes before all others, because tests of a framework declare their own. Many programs have a route
/// without a name, such as `/`, so elsewhere it is the same only by name.
fn find_meant_route(
    routes: &[(FileNumber, HttpRoute)],
    meant: &ReachedRoutes,
    (file, request): (FileNumber, &HttpRequest),
) -> Option<(Option<usize>, Certainty)> {
    let is_declaration = |(own, route): &(FileNumber, HttpRoute)| *own == file && route.line == request.line;
    if routes.iter().any(is_declaration) {
        return None;
    }
    let fits = routes.iter().enumerate().filter_map(|(number, (own, route))| {
        let fit = fit_route(route, request)?;
        Some(((*own == file, fit), meant.contains_key(&number), Reverse(number)))
    });
    let ((is_own, (_, n_equal)), _, Reverse(best)) = fits.max()?;
    let certainty = if is_own || n_equal > 0 { Certainty::Likely } else { Certainty::ByName };
    meant.get(&best).map(|step| (*step, certainty))
}

/// Returns the innermost definition around a line.
fn innermost_at(structure: &FileStructure, line: u32) -> Option<u32> {
    let around = (0..).zip(&structure.declared).filter(|(_, own)| own.lines.0 <= line && line <= own.lines.1);
    around.max_by_key(|(id, own)| (own.lines.0, *id)).map(|(id, _)| id)
}
