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
use super::route_mounts::{MountState, RouteMounts, RoutePrefix, join_prefixes};
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
    let mut prefixes = RoutePrefixes { mounts: RouteMounts::new(structures), known: HashMap::new() };
    for number in meant.keys() {
        prefixes.find_prefixes(texts, &routes, *number)?;
    }
    let (mut has_tests, mut by_end) = (false, BTreeSet::new());
    for file in list_test_files(structures, &routes, &meant, &prefixes)? {
        let Some(lines) = texts.read_lines(structures, file)? else { continue };
        let requests = list_requests(lines.raw_lines());
        let structure = structures.structure_of(file);
        for request in requests {
            let own_texts = &mut *texts;
            let fits = find_meant_route((own_texts, &mut prefixes), &routes, &meant, (file, &request))?;
            let Some(MeantRoute { number, certainty: of_route, is_by_end }) = fits else { continue };
            has_tests = true;
            by_end.extend(is_by_end.then_some(number));
            let via = meant[&number].via;
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
    let shown = |number: usize| {
        let (route, prefix) = (&routes[number].1, prefixes.find_known(number));
        let method = if route.method.is_empty() { String::new() } else { format!("{} ", route.method) };
        format!("{method}{}", join_path(prefix, &route.path))
    };
    if let Some(number) = by_end.first() {
        return Ok(Some(format!(
            "tests of {} are found by the end of the path: the prefix of its router is not followed",
            shown(*number)
        )));
    }
    let first = meant.keys().min().filter(|_| !has_tests);
    Ok(first.map(|number| {
        let is_unknown =
            prefixes.find_known(*number).is_some_and(|prefix| prefix.state == MountState::Unknown);
        let why = if is_unknown { "; the prefix of its router is not followed" } else { "" };
        format!(
            "tests that call it over HTTP are not followed: none has the path of {} as a text{why}",
            shown(*number)
        )
    }))
}

/// The prefixes of routes by the numbers of the routes, each found once.
struct RoutePrefixes<'a, 's> {
    mounts: RouteMounts<'a, 's>,
    known: HashMap<usize, Vec<RoutePrefix>>,
}

impl RoutePrefixes<'_, '_> {
    fn find_prefixes(
        &mut self,
        texts: &mut TestTexts<'_>,
        routes: &[(FileNumber, HttpRoute)],
        number: usize,
    ) -> RpcResult<&[RoutePrefix]> {
        if !self.known.contains_key(&number) {
            let (file, route) = &routes[number];
            let found = self.mounts.find_prefixes(texts, (*file, route.line))?;
            self.known.insert(number, found);
        }
        Ok(&self.known[&number])
    }

    /// Returns the first prefix of a route whose prefixes were found.
    fn find_known(&self, number: usize) -> Option<&RoutePrefix> {
        self.known.get(&number).and_then(|found| found.first())
    }
}

/// Returns the path of a route below a prefix; as written without one.
fn join_path(prefix: Option<&RoutePrefix>, path: &str) -> String {
    match prefix.map(|prefix| prefix.path.as_str()) {
        None | Some("") => path.to_owned(),
        Some(prefix) => join_prefixes(&[prefix, path]),
    }
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

/// Returns the files of tests that have a part of the path of a route. Those with a part of its prefix come first.
fn list_test_files(
    structures: &WorktreeStructures<'_>,
    routes: &[(FileNumber, HttpRoute)],
    meant: &ReachedRoutes,
    prefixes: &RoutePrefixes<'_, '_>,
) -> RpcResult<Vec<FileNumber>> {
    let mut parts: BTreeSet<Option<String>> = BTreeSet::new();
    for number in meant.keys() {
        let route = &routes[*number].1;
        let own = longest_part(route).map(str::to_owned);
        for prefix in prefixes.known[number].iter().filter(|_| own.is_none()) {
            let prefix = HttpRoute { path: prefix.path.clone(), ..route.clone() };
            parts.extend(longest_part(&prefix).map(|part| Some(part.to_owned())));
        }
        parts.insert(own);
    }
    let mut files: Vec<FileNumber> = Vec::new();
    // The routes without a name of their own come last: any file may request them.
    for part in parts.iter().flatten() {
        files.extend(structures.find_files_with_name(part)?);
    }
    if parts.contains(&None) {
        files.extend(structures.paths.all_files().map(|(file, _)| file));
    }
    let mut known = BTreeSet::new();
    files.retain(|file| is_test(structures, CodeNode { file: *file, declared: None }) && known.insert(*file));
    files.truncate(MOST_FILES);
    files.sort();
    Ok(files)
}

/// How a request fits a route; the greater, the better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FitRank {
    /// The request ends with the path; no text shows what is before.
    ByEnd,
    /// The request ends with the path below all its prefixes.
    BelowPrefix,
    /// The request has the path alone, as tests of one router do, though a prefix is known.
    WithoutPrefix,
    /// The request has the whole path.
    Whole,
}

/// The route that a request means.
struct MeantRoute {
    number: usize,
    certainty: Certainty,
    /// Whether only the end of the path is the same, and its prefix is not known.
    is_by_end: bool,
}

/// Returns the route that a request means, if it was reached: the one that fits best. A route in the file of the request comes before
/// all others, because tests of a framework declare their own. Many programs have a route without a name, such as `/`, so elsewhere it
/// is the same only by name.
fn find_meant_route(
    (texts, prefixes): (&mut TestTexts<'_>, &mut RoutePrefixes<'_, '_>),
    routes: &[(FileNumber, HttpRoute)],
    meant: &ReachedRoutes,
    (file, request): (FileNumber, &HttpRequest),
) -> RpcResult<Option<MeantRoute>> {
    let is_declaration = |(own, route): &(FileNumber, HttpRoute)| *own == file && route.line == request.line;
    if routes.iter().any(is_declaration) {
        return Ok(None);
    }
    let mut fits = Vec::new();
    for (number, (own, route)) in routes.iter().enumerate() {
        let reached = meant.get(&number);
        let listed = reached.map(|reached| reached.methods.as_slice()).unwrap_or_default();
        // The prefixes of another route matter only if its own path fits.
        if reached.is_none() && fit_methods(route, listed, request).is_none() {
            continue;
        }
        let below = prefixes.find_prefixes(texts, routes, number)?;
        let Some((rank, n_equal)) = fit_prefixes(route, below, listed, request) else { continue };
        fits.push(((*own == file, rank, n_equal), reached.is_some(), Reverse(number)));
    }
    let Some(((is_own, rank, n_equal), is_meant, Reverse(number))) = fits.into_iter().max() else {
        return Ok(None);
    };
    let certainty = if is_own || n_equal > 0 { Certainty::Likely } else { Certainty::ByName };
    Ok(is_meant.then_some(MeantRoute { number, certainty, is_by_end: !is_own && rank == FitRank::ByEnd }))
}

/// Returns how well a request fits a route below its prefixes, and the number of equal parts; `None` if it does not.
fn fit_prefixes(
    route: &HttpRoute,
    prefixes: &[RoutePrefix],
    methods: &[&str],
    request: &HttpRequest,
) -> Option<(FitRank, usize)> {
    let fits = prefixes.iter().filter_map(|prefix| {
        let below = HttpRoute { path: join_path(Some(prefix), &route.path), ..route.clone() };
        let (is_whole, n_equal) = fit_methods(&below, methods, request)?;
        let rank = match prefix.state {
            _ if is_whole => FitRank::Whole,
            MountState::Followed => FitRank::BelowPrefix,
            MountState::Unmounted | MountState::Unknown => FitRank::ByEnd,
        };
        Some((rank, n_equal))
    });
    let alone = fit_methods(route, methods, request).filter(|(is_whole, n_equal)| *is_whole && *n_equal > 0);
    fits.chain(alone.map(|(_, n_equal)| (FitRank::WithoutPrefix, n_equal))).max()
}

/// Returns the innermost definition around a line.
fn innermost_at(structure: &FileStructure, line: u32) -> Option<u32> {
    let around = (0..).zip(&structure.declared).filter(|(_, own)| own.lines.0 <= line && line <= own.lines.1);
    around.max_by_key(|(id, own)| (own.lines.0, *id)).map(|(id, _)| id)
}
