//! Adds the tests that call the wanted definitions over HTTP: those that request the path of a route whose handler was reached.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use memod_base::types::{FileStructure, HttpRoute, WorktreeId};
use memod_engine::errors::RpcResult;
use memod_index_db::IndexReader;
use memod_structure::http_requests::{HttpRequest, fit_methods, list_methods, list_requests, longest_part};
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
/// Maximum number of lines between the path of a route and its function.
const MOST_LINES_ABOVE: usize = 3;
/// Factor from the weight of a handler to that of a test that requests its path.
const WEIGHT: f64 = 0.5;

/// A route whose handler was reached.
struct ReachedRoute {
    /// The step that reached it; `None` for a requested definition.
    via: Option<usize>,
    /// The methods that its declaration lists; none if only the name of a function shows the method.
    methods: Vec<&'static str>,
}

/// The reached routes by their numbers.
type ReachedRoutes = HashMap<usize, ReachedRoute>;

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
        let (first, last, methods) = match texts.read_lines(structures, *file)? {
            Some(lines) => {
                let first = first_line_of_call(lines, route.line);
                let last = last_line_of_call(lines, first).max(route.line);
                let n_lines = (last + 1 - first) as usize;
                let call: Vec<&str> = lines.raw_lines().skip(first as usize - 1).take(n_lines).collect();
                // The name of a function of axum shows only the first method.
                let is_shown = !route.method.is_empty() && !structures.paths.path_of(*file).ends_with(".rs");
                let methods = if is_shown { Vec::new() } else { list_methods(&call.join("\n")) };
                (first, last, methods)
            }
            None => (route.line, route.line, Vec::new()),
        };
        let leads_to = |(node, step): &&(CodeNode, Option<usize>)| {
            let is_call = |line: u32| first <= line && line <= last;
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
            meant.insert(number, ReachedRoute { via: *step, methods });
        }
    }
    Ok(meant)
}

/// Returns the first line of the call whose path is on a line, 1-based: the path may be below its function.
fn first_line_of_call(lines: &NumberedLines, of_path: u32) -> u32 {
    let above = of_path.saturating_sub(1) as usize;
    let all: Vec<&str> = lines.raw_lines().take(above + 1).collect();
    let Some(text) = all.get(above) else { return of_path };
    if text.split(['"', '\'', '`']).next().is_some_and(|before| before.contains('(')) {
        return of_path;
    }
    let nearest = all[..above].iter().enumerate().rev().filter(|(_, text)| !text.trim().is_empty());
    for (at, text) in nearest.take(MOST_LINES_ABOVE) {
        match text.trim_end().chars().last() {
            Some('(') => return at as u32 + 1,
            Some(',') => {}
            _ => break,
        }
    }
    of_path
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
        let listed = meant.get(&number).map(|reached| reached.methods.as_slice()).unwrap_or_default();
        let fit = fit_methods(route, listed, request)?;
        Some(((*own == file, fit), meant.contains_key(&number), Reverse(number)))
    });
    let ((is_own, (_, n_equal)), _, Reverse(best)) = fits.max()?;
    let certainty = if is_own || n_equal > 0 { Certainty::Likely } else { Certainty::ByName };
    meant.get(&best).map(|reached| (reached.via, certainty))
}

/// Returns the innermost definition around a line.
fn innermost_at(structure: &FileStructure, line: u32) -> Option<u32> {
    let around = (0..).zip(&structure.declared).filter(|(_, own)| own.lines.0 <= line && line <= own.lines.1);
    around.max_by_key(|(id, own)| (own.lines.0, *id)).map(|(id, _)| id)
}
