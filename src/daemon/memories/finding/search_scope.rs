//! Computes the scope of a search from its params and the filters in its query.

use jiff::Zoned;
use memod_base::clock::{now_ms, to_local_time};
use memod_base::paths::CallerDir;
use memod_base::types::{ChunkKind, ClassSet, FileClass, IdSet, SourceKey};
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_extract::lang;
use memod_memory::{fields, time};
use memod_memory_db::MemoryFilter;
use memod_proto::memory::Traits;
use memod_proto::{NO_FILE_MATCHES, OUTSIDE_REMEDY, RpcError, SearchParams};
use memod_search::filter::restriction::{CommitConditions, SearchConditions};
use memod_search::filter::{PathGlobs, SearchFilter, compile_globs};
use memod_search::memory_search::MemorySearchRequest;
use memod_search::query::{FilterKey, FilterTerm, Query, parse_with_filters};
use memod_search::worktree_chunks::WorktreeChunks;

use crate::daemon::memories::rules::memory_rules::validate_traits;
use crate::daemon::request::linked_paths::explain_link;
use crate::daemon::request::request_errors::bad_params_error;

/// Maximum total length of the globs of a request, bytes: they are compiled before anything else.
const MOST_GLOB_BYTES: usize = 16 << 10;
/// Kinds of hits in files, which have a path, a language and symbols.
const FILE_KINDS: [ChunkKind; 4] = [ChunkKind::Doc, ChunkKind::Map, ChunkKind::Symbol, ChunkKind::Text];
/// Kinds of hits with a date and an author.
const DATED_KINDS: [ChunkKind; 2] = [ChunkKind::Commit, ChunkKind::Memory];

/// The scope of a search: the filters for each kind of hit.
#[derive(Clone)]
pub(in crate::daemon) struct SearchScope {
    pub(in crate::daemon) query: Query,
    /// Filter for the index; `None` if the index is not searched.
    pub(in crate::daemon) index: Option<SearchFilter>,
    pub(in crate::daemon) conditions: SearchConditions,
    /// Filter for the memories; `None` if memories are not searched.
    pub(in crate::daemon) memories: Option<MemoryFilter>,
    /// Notes for the user on unexpected effects of the filters.
    pub(in crate::daemon) notes: Vec<String>,
    /// The globs that paths must match.
    pub(in crate::daemon) globs: Vec<ScopeGlob>,
    /// The directory from which the user gave them.
    pub(in crate::daemon) dir: CallerDir,
}

/// A glob that paths must match.
#[derive(Clone)]
pub(in crate::daemon) struct ScopeGlob {
    typed: GivenGlob,
    compiled: PathGlobs,
}

impl SearchScope {
    /// Combines the filters of the params and those in the query: a hit must satisfy both.
    ///
    /// # Errors
    /// When a param is invalid, or the params exclude every kind of hit. An invalid filter in the query is searched as text.
    pub(in crate::daemon) fn from_params(params: &SearchParams, dir: &CallerDir) -> RpcResult<Self> {
        let now = to_local_time(now_ms());
        let query = parse_with_filters(&params.query, &|key, value: &str| {
            let is_of_files =
                matches!(key, FilterKey::Path | FilterKey::Lang | FilterKey::Only | FilterKey::Symbol);
            if is_of_files && params.kind == [ChunkKind::Memory] {
                return Err("memories have no path, language, class or symbol".to_owned());
            }
            let (value, is_negated) = (value.to_owned(), false);
            QueryFilterValues::default().add_term(&FilterTerm { key, value, is_negated }, &now, dir)
        });
        let mut typed = QueryFilterValues::default();
        for term in query.filters() {
            typed.add_term(term, &now, dir).map_err(bad_params_error)?;
        }
        let paths = ParamGlobs::from_params(params, dir)
            .map_err(|why| bad_params_error(why).with_hint(OUTSIDE_REMEDY))?;
        let (kinds, notes) = find_kinds(params, &paths, &typed)?;
        let mut filters = ScopeFilters::from_params(params, paths, typed, &now)?;
        let in_index: Vec<ChunkKind> =
            kinds.iter().copied().filter(|kind| *kind != ChunkKind::Memory).collect();
        // Filters of the query that exclude every kind are no error; nothing is found.
        let index = (!in_index.is_empty() || kinds.is_empty()).then(|| {
            let are_all = in_index.len() + 1 == ChunkKind::ALL.len();
            filters.index.kinds = if are_all { Vec::new() } else { in_index };
            if kinds.is_empty() {
                filters.index.restrict_to_chunks(IdSet::default());
            }
            filters.index
        });
        let memories = kinds.contains(&ChunkKind::Memory).then_some(filters.memories);
        Ok(Self {
            query,
            index,
            conditions: filters.conditions,
            memories,
            notes,
            globs: filters.globs,
            dir: dir.clone(),
        })
    }

    /// Returns a note on each glob that no file of the worktree matches; that of a symbolic link says where it leads.
    pub(in crate::daemon) fn explain_unmatched_globs(
        &self,
        chunks: &WorktreeChunks,
        at: &Freshness,
    ) -> impl Iterator<Item = String> {
        let unmatched = self.globs.iter().filter(|glob| !chunks.has_matching_path(&glob.compiled));
        unmatched.map(|ScopeGlob { typed, .. }| {
            let path = self.dir.resolve_path(&typed.as_given).ok();
            let link = path.and_then(|path| explain_link(at, &SourceKey::new(path), &self.dir));
            match link.and_then(|error| Some((error.data?.hint?, error.message))) {
                Some((hint, message)) => format!("path {message}: {hint}"),
                None => format!("path {}: {NO_FILE_MATCHES}", typed.as_given),
            }
        })
    }

    /// Returns the request for the search of memories; `None` if memories are not searched.
    pub(in crate::daemon) fn build_memory_request(
        &self,
        params: &SearchParams,
        limit: usize,
        min_cosine: f64,
    ) -> Option<MemorySearchRequest> {
        let filter = self.memories.clone()?;
        Some(MemorySearchRequest {
            query: self.query.clone(),
            mode: params.mode,
            filter,
            limit,
            min_cosine,
            ..MemorySearchRequest::default()
        })
    }
}

/// Returns the kinds of hits that can satisfy all filters, and notes on the excluded kinds.
fn find_kinds(
    params: &SearchParams,
    paths: &ParamGlobs,
    typed: &QueryFilterValues,
) -> RpcResult<(Vec<ChunkKind>, Vec<String>)> {
    let mut kinds = ChunkKind::ALL.to_vec();
    let mut notes = Vec::new();
    let Traits { tier, author, agent, source, min_priority, scope, metadata } = &params.traits;
    let is_dated = params.since.is_some() || params.until.is_some() || author.is_some();
    let is_of_memories = params.container.is_some()
        || !params.tag.is_empty()
        || tier.is_some()
        || agent.is_some()
        || source.is_some()
        || min_priority.is_some()
        || scope.is_some()
        || !metadata.is_empty();
    let is_of_files = !paths.wanted.is_empty() || !params.lang.is_empty() || !params.only.is_empty();
    keep_only(&mut kinds, &params.kind, !params.kind.is_empty());
    keep_only(&mut kinds, &FILE_KINDS, is_of_files);
    keep_only(&mut kinds, &[ChunkKind::Memory], is_of_memories);
    let had_files = kinds.iter().any(|kind| FILE_KINDS.contains(kind));
    keep_only(&mut kinds, &DATED_KINDS, is_dated);
    if kinds.is_empty() {
        let message = "container, tag, tier, agent, source, min_priority, scope and metadata select memories; since, until and \
             author select commits and memories; but kind, only, path or lang exclude these kinds of hits";
        return Err(bad_params_error(message.to_owned()));
    }
    keep_only(&mut kinds, &typed.kinds, !typed.kinds.is_empty());
    keep_only(&mut kinds, &FILE_KINDS, typed.selects_files());
    keep_only(&mut kinds, &[ChunkKind::Memory], !typed.tags.is_empty() || !typed.containers.is_empty());
    keep_only(&mut kinds, &DATED_KINDS, typed.selects_dated());
    kinds.retain(|kind| !typed.not_kinds.contains(kind));
    if kinds.is_empty() {
        notes.push("no kind of hit can satisfy all filters".to_owned());
    } else if had_files && (is_dated || typed.selects_dated()) {
        notes.push("files have no date or author: only commits and memories are searched".to_owned());
    }
    Ok((kinds, notes))
}

/// Removes the kinds that are not in `demanded`, if the params have a condition that only these kinds can satisfy.
fn keep_only(kinds: &mut Vec<ChunkKind>, demanded: &[ChunkKind], has_condition: bool) {
    kinds.retain(|kind| !has_condition || demanded.contains(kind));
}

/// A glob as the user gave it, and relative to the root of the worktree.
#[derive(Clone)]
struct GivenGlob {
    as_given: String,
    from_root: String,
}

impl GivenGlob {
    fn new(as_given: &str, dir: &CallerDir) -> Result<Self, String> {
        let from_root = dir.resolve_glob(as_given).map_err(|error| error.to_string())?;
        Ok(Self { as_given: as_given.to_owned(), from_root })
    }
}

/// The globs of the param `path`.
struct ParamGlobs {
    wanted: Vec<GivenGlob>,
    /// Globs with a `!` prefix.
    unwanted: Vec<GivenGlob>,
}

impl ParamGlobs {
    fn from_params(params: &SearchParams, dir: &CallerDir) -> Result<Self, String> {
        let mut paths = Self { wanted: Vec::new(), unwanted: Vec::new() };
        for typed in &params.path {
            let (glob, list) = match typed.strip_prefix('!') {
                Some(glob) => (glob, &mut paths.unwanted),
                None => (typed.as_str(), &mut paths.wanted),
            };
            list.push(GivenGlob::new(glob, dir).map_err(|error| format!("path: {error}"))?);
        }
        Ok(paths)
    }
}

/// The parsed values of all filters in a query.
#[derive(Default)]
struct QueryFilterValues {
    kinds: Vec<ChunkKind>,
    not_kinds: Vec<ChunkKind>,
    only: ClassSet,
    not_only: ClassSet,
    langs: Vec<String>,
    not_langs: Vec<String>,
    paths: Vec<GivenGlob>,
    not_paths: Vec<GivenGlob>,
    symbols: Vec<String>,
    not_symbols: Vec<String>,
    tags: Vec<String>,
    not_tags: Vec<String>,
    containers: Vec<String>,
    not_containers: Vec<String>,
    authors: Vec<String>,
    not_authors: Vec<String>,
    since: Option<i64>,
    before: Option<i64>,
}

impl QueryFilterValues {
    /// Parses the value of a filter and adds it. The error is the reason why the value is invalid.
    fn add_term(&mut self, term: &FilterTerm, now: &Zoned, dir: &CallerDir) -> Result<(), String> {
        let value = term.value.as_str();
        let not = term.is_negated;
        match term.key {
            FilterKey::Path => {
                let glob = GivenGlob::new(value, dir)?;
                compile_given_globs([&glob])?;
                pick_list(not, &mut self.paths, &mut self.not_paths).push(glob);
            }
            FilterKey::Lang => {
                let langs = split_values(value)
                    .map(|word| parse_lang(word).ok_or_else(|| "no such language".to_owned()))
                    .collect::<Result<Vec<_>, _>>()?;
                pick_list(not, &mut self.langs, &mut self.not_langs).extend(langs);
            }
            FilterKey::Kind => {
                let kinds = split_values(value).map(parse_kind).collect::<Result<Vec<_>, _>>()?;
                pick_list(not, &mut self.kinds, &mut self.not_kinds).extend(kinds);
            }
            FilterKey::Only => {
                let classes = split_values(value).map(FileClass::parse).collect::<Result<ClassSet, _>>()?;
                let set = pick_list(not, &mut self.only, &mut self.not_only);
                *set = set.union(classes);
            }
            FilterKey::Symbol => {
                pick_list(not, &mut self.symbols, &mut self.not_symbols).push(value.to_owned());
            }
            FilterKey::Tag => {
                let tags: Vec<String> = split_values(value).map(str::to_owned).collect();
                let tags = fields::validate_tags(&tags).map_err(|error| error.to_string())?;
                pick_list(not, &mut self.tags, &mut self.not_tags).extend(tags);
            }
            FilterKey::Container => {
                let name = fields::validate_container(value).map_err(|error| error.to_string())?;
                pick_list(not, &mut self.containers, &mut self.not_containers).push(name);
            }
            FilterKey::Author => {
                pick_list(not, &mut self.authors, &mut self.not_authors).push(value.to_owned());
            }
            FilterKey::After | FilterKey::Before => {
                let at =
                    time::parse_past(term.key.as_str(), value, now).map_err(|error| error.to_string())?;
                if (term.key == FilterKey::After) == not {
                    self.before = min_time(self.before, Some(at));
                } else {
                    self.since = self.since.max(Some(at));
                }
            }
        }
        Ok(())
    }

    fn selects_files(&self) -> bool {
        !(self.paths.is_empty() && self.langs.is_empty() && self.symbols.is_empty() && self.only.is_empty())
    }

    fn selects_dated(&self) -> bool {
        self.since.is_some() || self.before.is_some() || !self.authors.is_empty()
    }
}

fn pick_list<T>(is_negated: bool, wanted: T, unwanted: T) -> T {
    if is_negated { unwanted } else { wanted }
}

fn min_time(left: Option<i64>, right: Option<i64>) -> Option<i64> {
    left.into_iter().chain(right).min()
}

/// The filters for the index and for the memories.
struct ScopeFilters {
    index: SearchFilter,
    conditions: SearchConditions,
    memories: MemoryFilter,
    /// The globs that paths must match.
    globs: Vec<ScopeGlob>,
}

/// Returns the error for a param that is invalid as a field of memories.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn param_error(refused: memod_memory::RefusedValue) -> RpcError {
    let error = bad_params_error(refused.to_string());
    match refused.hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

impl ScopeFilters {
    fn from_params(
        params: &SearchParams,
        paths: ParamGlobs,
        typed: QueryFilterValues,
        now: &Zoned,
    ) -> RpcResult<Self> {
        let (since, until) =
            time::parse_period(params.since.as_deref(), params.until.as_deref(), now).map_err(param_error)?;
        let since = since.max(typed.since);
        let before = min_time(until, typed.before);
        let author: Vec<String> = params.traits.author.iter().cloned().collect();
        let mut authors = vec![author, typed.authors.clone()];
        authors.retain(|names| !names.is_empty());
        let is_dated = since.is_some() || before.is_some() || !authors.is_empty();
        let mut tags = fields::validate_tags(&params.tag).map_err(param_error)?;
        tags.extend(typed.tags);
        let langs = params
            .lang
            .iter()
            .map(|word| parse_lang(word).ok_or_else(|| unknown_language_error(word)))
            .collect::<Result<Vec<_>, _>>();
        let mut index = SearchFilter {
            langs: langs?,
            not_langs: typed.not_langs,
            required_classes: [ClassSet::from_classes(&params.only), typed.only]
                .into_iter()
                .filter(|set| !set.is_empty())
                .collect(),
            excluded_classes: typed.not_only,
            ..SearchFilter::default()
        };
        for globs in [&paths.wanted, &typed.paths].into_iter().filter(|globs| !globs.is_empty()) {
            index.paths.push(compile_given_globs(globs).map_err(path_error)?);
        }
        index.not_paths =
            compile_given_globs(paths.unwanted.iter().chain(&typed.not_paths)).map_err(path_error)?;
        let globs = paths.wanted.into_iter().chain(typed.paths);
        let globs = globs.map(|glob| {
            let compiled = compile_given_globs([&glob]).map_err(path_error)?;
            Ok(ScopeGlob { typed: glob, compiled })
        });
        let globs = globs.collect::<RpcResult<_>>()?;
        restrict_langs(&mut index, typed.langs);
        Ok(Self {
            globs,
            index,
            conditions: SearchConditions {
                symbols: typed.symbols,
                not_symbols: typed.not_symbols,
                commits: is_dated.then(|| CommitConditions { since, before, authors: authors.clone() }),
                not_authors: typed.not_authors.clone(),
            },
            memories: MemoryFilter {
                container: params
                    .container
                    .as_deref()
                    .map(fields::validate_container)
                    .transpose()
                    .map_err(param_error)?,
                containers: typed.containers,
                not_containers: typed.not_containers,
                tags,
                not_tags: typed.not_tags,
                authors,
                not_authors: typed.not_authors,
                since,
                before,
                traits: Traits { author: None, ..validate_traits(&params.traits).map_err(param_error)? },
                followed: true,
                ..MemoryFilter::default()
            },
        })
    }
}

/// Restricts a filter to the languages that a query names, if it names any.
fn restrict_langs(index: &mut SearchFilter, langs: Vec<String>) {
    match (index.langs.is_empty(), langs.is_empty()) {
        (_, true) => {}
        (true, _) => index.langs = langs,
        (false, false) => {
            index.langs.retain(|lang| langs.contains(lang));
            if index.langs.is_empty() {
                index.restrict_to_chunks(IdSet::default());
            }
        }
    }
}

fn compile_given_globs<'a>(globs: impl IntoIterator<Item = &'a GivenGlob>) -> Result<PathGlobs, String> {
    let given: Vec<&GivenGlob> = globs.into_iter().collect();
    let globs: Vec<String> = given.iter().map(|glob| glob.from_root.clone()).collect();
    let glob_bytes: usize = globs.iter().map(String::len).sum();
    if glob_bytes > MOST_GLOB_BYTES {
        return Err(format!("the globs have {glob_bytes} bytes, over {MOST_GLOB_BYTES}"));
    }
    compile_globs(&globs).map_err(|error| {
        // The error shows the glob as the user gave it.
        let as_given =
            given.iter().find_map(|glob| compile_globs(std::slice::from_ref(&glob.as_given)).err());
        as_given.unwrap_or(error).to_string()
    })
}

/// Returns the error for invalid globs.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn path_error(error: String) -> RpcError {
    bad_params_error(format!("path: {error}")).with_hint(
        "a glob is 'src/**/*.rs', '*.{md,txt}' or '!target'; a backslash before [ or { makes it a letter",
    )
}

/// Returns the values of a filter, which are separated by commas.
fn split_values(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim)
}

/// Returns the canonical name of a language; `None` if the word names none.
fn parse_lang(word: &str) -> Option<String> {
    lang::canonical_format_name(word).map(str::to_owned)
}

/// Returns the error for a word that names no language.
fn unknown_language_error(word: &str) -> RpcError {
    let hint = match lang::suggest_format_name(word) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("there are: {}", lang::list_format_names().join(", ")),
    };
    bad_params_error(format!("lang: {word} is not a language")).with_hint(hint)
}

fn parse_kind(word: &str) -> Result<ChunkKind, String> {
    ChunkKind::parse(word)
        .ok_or_else(|| format!("a kind is one of {}", ChunkKind::ALL.map(ChunkKind::as_str).join(", ")))
}
