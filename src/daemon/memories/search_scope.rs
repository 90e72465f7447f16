//! Decides where a search looks: what its params and the filters of its query demand, taken together.

use jiff::Zoned;
use memod_base::paths::CallerDir;
use memod_base::types::{ClassSet, FileClass, IdSet, Kind};
use memod_engine::clock::{local, now_ms};
use memod_engine::errors::RpcResult;
use memod_extract::lang;
use memod_memory::{fields, time};
use memod_memory_db::MemoryFilter;
use memod_proto::memory::Traits;
use memod_proto::{NO_FILE_MATCHES, OUTSIDE_REMEDY, RpcError, SearchParams};
use memod_search::filter::{Filter, Globs, glob_set};
use memod_search::memory_search::MemoryAsk;
use memod_search::query::{FilterKey, FilterTerm, Query, parse_with_filters};
use memod_search::restriction::{CommitConditions, Conditions};
use memod_search::view_chunks::ViewChunks;

use crate::daemon::memories::rules::traits;
use crate::daemon::request::error::bad_params;

/// Maximum total length of the globs of a request, bytes: they are compiled before anything else.
const MOST_GLOB_BYTES: usize = 16 << 10;
/// Kinds of hits in files, which have a path, a language and symbols.
const FILES: [Kind; 4] = [Kind::Doc, Kind::Map, Kind::Symbol, Kind::Text];
/// Kinds of hits with a date and an author.
const DATED: [Kind; 2] = [Kind::Commit, Kind::Memory];

/// Where a search looks.
#[derive(Clone)]
pub(in crate::daemon) struct Scope {
    pub(in crate::daemon) query: Query,
    /// Filter for the index; `None` leaves it out.
    pub(in crate::daemon) index: Option<Filter>,
    pub(in crate::daemon) conditions: Conditions,
    /// Filter for the memories; `None` leaves them out.
    pub(in crate::daemon) memories: Option<MemoryFilter>,
    /// What a user may not expect.
    pub(in crate::daemon) notes: Vec<String>,
    /// The globs that paths must match, each as it was typed.
    pub(in crate::daemon) globs: Vec<(String, Globs)>,
}

impl Scope {
    /// Takes params and query together: a hit must satisfy both.
    ///
    /// # Errors
    /// When a param is invalid, or the params leave no kind of hit. A filter in the query that is invalid is text.
    pub(in crate::daemon) fn of(params: &SearchParams, dir: &CallerDir) -> RpcResult<Self> {
        let now = local(now_ms());
        let check = |key, value: &str| {
            let is_of_files =
                matches!(key, FilterKey::Path | FilterKey::Lang | FilterKey::Only | FilterKey::Symbol);
            if is_of_files && params.kind == [Kind::Memory] {
                return Err("memories have none".to_owned());
            }
            let (value, is_negated) = (value.to_owned(), false);
            TypedFilters::default().add(&FilterTerm { key, value, is_negated }, &now, dir)
        };
        let query = parse_with_filters(&params.query, &check);
        let mut typed = TypedFilters::default();
        for term in query.filters() {
            typed.add(term, &now, dir).map_err(bad_params)?;
        }
        let paths = TypedPaths::of(params, dir).map_err(|why| bad_params(why).with_hint(OUTSIDE_REMEDY))?;
        let (kinds, notes) = kinds(params, &paths, &typed)?;
        let mut filters = Filters::of(params, paths, typed, &now)?;
        let in_index: Vec<Kind> = kinds.iter().copied().filter(|kind| *kind != Kind::Memory).collect();
        // Without any kind nothing is found, which is no error: the filters of the query say so.
        let index = (!in_index.is_empty() || kinds.is_empty()).then(|| {
            let are_all = in_index.len() + 1 == Kind::ALL.len();
            filters.index.kinds = if are_all { Vec::new() } else { in_index };
            if kinds.is_empty() {
                filters.index.only(IdSet::default());
            }
            filters.index
        });
        let memories = kinds.contains(&Kind::Memory).then_some(filters.memories);
        Ok(Self { query, index, conditions: filters.conditions, memories, notes, globs: filters.globs })
    }

    /// Returns a note on each glob that no file of the view matches.
    pub(in crate::daemon) fn unmatched_globs(&self, chunks: &ViewChunks) -> impl Iterator<Item = String> {
        let unmatched = self.globs.iter().filter(|(_, glob)| !chunks.has_path(glob));
        unmatched.map(|(typed, _)| format!("path {typed}: {NO_FILE_MATCHES}"))
    }

    /// Returns the query for the memories; `None` if the search leaves them out.
    pub(in crate::daemon) fn memory_ask(
        &self,
        params: &SearchParams,
        limit: usize,
        min_cosine: f64,
    ) -> Option<MemoryAsk> {
        let filter = self.memories.clone()?;
        Some(MemoryAsk {
            query: self.query.clone(),
            mode: params.mode,
            filter,
            limit,
            min_cosine,
            ..MemoryAsk::default()
        })
    }
}

/// The kinds of hits that may be found, and what to say about the others.
fn kinds(
    params: &SearchParams,
    paths: &TypedPaths,
    typed: &TypedFilters,
) -> RpcResult<(Vec<Kind>, Vec<String>)> {
    let mut kinds = Kind::ALL.to_vec();
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
    let mut keep = |is_limited: bool, few: &[Kind]| kinds.retain(|kind| !is_limited || few.contains(kind));
    keep(!params.kind.is_empty(), &params.kind);
    keep(is_of_files, &FILES);
    keep(is_of_memories, &[Kind::Memory]);
    let had_files = kinds.iter().any(|kind| FILES.contains(kind));
    kinds.retain(|kind| !is_dated || DATED.contains(kind));
    if kinds.is_empty() {
        let message = "container, tag, tier, agent, source, min_priority, scope, metadata: these are about memories, and since, until, \
             author about commits and memories, which kind, only, path or lang leave out";
        return Err(bad_params(message.to_owned()));
    }
    let mut keep = |is_limited: bool, few: &[Kind]| kinds.retain(|kind| !is_limited || few.contains(kind));
    keep(!typed.kinds.is_empty(), &typed.kinds);
    keep(typed.is_of_files(), &FILES);
    keep(!typed.tags.is_empty() || !typed.containers.is_empty(), &[Kind::Memory]);
    keep(typed.is_dated(), &DATED);
    kinds.retain(|kind| !typed.not_kinds.contains(kind));
    if kinds.is_empty() {
        notes.push("no kind of hit can satisfy all filters".to_owned());
    } else if had_files && (is_dated || typed.is_dated()) {
        notes.push("files have no date or author: only commits and memories are searched".to_owned());
    }
    Ok((kinds, notes))
}

/// A glob as it was typed, and as one over paths from the top of the worktree.
struct TypedGlob {
    typed: String,
    glob: String,
}

impl TypedGlob {
    fn new(typed: &str, dir: &CallerDir) -> Result<Self, String> {
        let glob = dir.glob(typed).map_err(|error| error.to_string())?;
        Ok(Self { typed: typed.to_owned(), glob })
    }
}

/// The globs of the params.
struct TypedPaths {
    wanted: Vec<TypedGlob>,
    /// Those with a `!` before them.
    unwanted: Vec<TypedGlob>,
}

impl TypedPaths {
    fn of(params: &SearchParams, dir: &CallerDir) -> Result<Self, String> {
        let mut paths = Self { wanted: Vec::new(), unwanted: Vec::new() };
        for typed in &params.path {
            let (glob, list) = match typed.strip_prefix('!') {
                Some(glob) => (glob, &mut paths.unwanted),
                None => (typed.as_str(), &mut paths.wanted),
            };
            list.push(TypedGlob::new(glob, dir).map_err(|error| format!("path: {error}"))?);
        }
        Ok(paths)
    }
}

/// The filters of a query, with their values.
#[derive(Default)]
struct TypedFilters {
    kinds: Vec<Kind>,
    not_kinds: Vec<Kind>,
    only: ClassSet,
    not_only: ClassSet,
    langs: Vec<String>,
    not_langs: Vec<String>,
    paths: Vec<TypedGlob>,
    not_paths: Vec<TypedGlob>,
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

impl TypedFilters {
    /// Adds a filter; the error says why its value is none.
    fn add(&mut self, term: &FilterTerm, now: &Zoned, dir: &CallerDir) -> Result<(), String> {
        let value = term.value.as_str();
        let parts = || value.split(',').map(str::trim);
        let said = |error: memod_memory::Refused| error.to_string();
        let not = term.is_negated;
        match term.key {
            FilterKey::Path => {
                let glob = TypedGlob::new(value, dir)?;
                compiled([&glob])?;
                pick(not, &mut self.paths, &mut self.not_paths).push(glob);
            }
            FilterKey::Lang => {
                let langs = parts().map(|word| lang_of(word).ok_or_else(|| "no such language".to_owned()));
                let langs = langs.collect::<Result<Vec<_>, _>>()?;
                pick(not, &mut self.langs, &mut self.not_langs).extend(langs);
            }
            FilterKey::Kind => {
                let kinds = parts().map(kind_of).collect::<Result<Vec<_>, _>>()?;
                pick(not, &mut self.kinds, &mut self.not_kinds).extend(kinds);
            }
            FilterKey::Only => {
                let classes = parts().map(FileClass::parse).collect::<Result<ClassSet, _>>()?;
                let set = pick(not, &mut self.only, &mut self.not_only);
                *set = set.union(classes);
            }
            FilterKey::Symbol => pick(not, &mut self.symbols, &mut self.not_symbols).push(value.to_owned()),
            FilterKey::Tag => {
                let tags =
                    fields::validate_tags(&parts().map(str::to_owned).collect::<Vec<_>>()).map_err(said)?;
                pick(not, &mut self.tags, &mut self.not_tags).extend(tags);
            }
            FilterKey::Container => {
                let name = fields::validate_container(value).map_err(said)?;
                pick(not, &mut self.containers, &mut self.not_containers).push(name);
            }
            FilterKey::Author => pick(not, &mut self.authors, &mut self.not_authors).push(value.to_owned()),
            FilterKey::After | FilterKey::Before => {
                let at = time::parse_past(term.key.as_str(), value, now).map_err(said)?;
                if (term.key == FilterKey::After) == not {
                    self.before = earliest(self.before, Some(at));
                } else {
                    self.since = self.since.max(Some(at));
                }
            }
        }
        Ok(())
    }

    fn is_of_files(&self) -> bool {
        !(self.paths.is_empty() && self.langs.is_empty() && self.symbols.is_empty() && self.only.is_empty())
    }

    fn is_dated(&self) -> bool {
        self.since.is_some() || self.before.is_some() || !self.authors.is_empty()
    }
}

fn pick<T>(is_negated: bool, wanted: T, unwanted: T) -> T {
    if is_negated { unwanted } else { wanted }
}

fn earliest(left: Option<i64>, right: Option<i64>) -> Option<i64> {
    left.into_iter().chain(right).min()
}

/// What params and filters demand of the index and of the memories.
struct Filters {
    index: Filter,
    conditions: Conditions,
    memories: MemoryFilter,
    /// The globs that paths must match, each as it was typed.
    globs: Vec<(String, Globs)>,
}

/// Returns the error for a param that the rules of memories refuse.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn refuse_param(refused: memod_memory::Refused) -> RpcError {
    let error = bad_params(refused.to_string());
    match refused.hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

impl Filters {
    fn of(params: &SearchParams, paths: TypedPaths, typed: TypedFilters, now: &Zoned) -> RpcResult<Self> {
        let (since, until) = time::parse_period(params.since.as_deref(), params.until.as_deref(), now)
            .map_err(refuse_param)?;
        let since = since.max(typed.since);
        let before = earliest(until, typed.before);
        let lists = |lists: [Vec<String>; 2]| lists.into_iter().filter(|list| !list.is_empty()).collect();
        let author: Vec<String> = params.traits.author.iter().cloned().collect();
        let authors: Vec<Vec<String>> = lists([author, typed.authors.clone()]);
        let is_dated = since.is_some() || before.is_some() || !authors.is_empty();
        let mut tags = fields::validate_tags(&params.tag).map_err(refuse_param)?;
        tags.extend(typed.tags);
        let lang_of = |word: &String| lang_of(word).ok_or_else(|| no_language(word));
        let langs = params.lang.iter().map(lang_of).collect::<Result<Vec<_>, _>>();
        let mut index = Filter {
            langs: langs?,
            not_langs: typed.not_langs,
            only: [ClassSet::of(&params.only), typed.only]
                .into_iter()
                .filter(|set| !set.is_empty())
                .collect(),
            not_only: typed.not_only,
            ..Filter::default()
        };
        let bad_path = |error| {
            bad_params(format!("path: {error}"))
                .with_hint("a glob is 'src/**/*.rs', '*.{md,txt}' or '!target'; a backslash before [ or { makes it a letter")
        };
        for globs in [&paths.wanted, &typed.paths].into_iter().filter(|globs| !globs.is_empty()) {
            index.paths.push(compiled(globs).map_err(bad_path)?);
        }
        index.not_paths = compiled(paths.unwanted.iter().chain(&typed.not_paths)).map_err(bad_path)?;
        let globs = paths.wanted.into_iter().chain(typed.paths);
        let globs = globs.map(|glob| {
            let set = compiled([&glob]).map_err(bad_path)?;
            Ok((glob.typed, set))
        });
        let globs = globs.collect::<RpcResult<_>>()?;
        match (index.langs.is_empty(), typed.langs.is_empty()) {
            (_, true) => {}
            (true, _) => index.langs = typed.langs,
            (false, false) => {
                index.langs.retain(|lang| typed.langs.contains(lang));
                if index.langs.is_empty() {
                    index.only(IdSet::default());
                }
            }
        }
        Ok(Self {
            globs,
            index,
            conditions: Conditions {
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
                    .map_err(refuse_param)?,
                containers: typed.containers,
                not_containers: typed.not_containers,
                tags,
                not_tags: typed.not_tags,
                authors,
                not_authors: typed.not_authors,
                since,
                before,
                traits: Traits { author: None, ..traits(&params.traits).map_err(refuse_param)? },
                followed: true,
                ..MemoryFilter::default()
            },
        })
    }
}

fn compiled<'a>(globs: impl IntoIterator<Item = &'a TypedGlob>) -> Result<Globs, String> {
    let typed: Vec<&TypedGlob> = globs.into_iter().collect();
    let globs: Vec<String> = typed.iter().map(|glob| glob.glob.clone()).collect();
    let glob_bytes: usize = globs.iter().map(String::len).sum();
    if glob_bytes > MOST_GLOB_BYTES {
        return Err(format!("{glob_bytes} bytes of globs, over {MOST_GLOB_BYTES}"));
    }
    // The glob is shown as it was typed.
    let as_typed = || typed.iter().find_map(|glob| glob_set(std::slice::from_ref(&glob.typed)).err());
    glob_set(&globs).map_err(|error| as_typed().unwrap_or(error).to_string())
}

/// Returns the format with the name of a word.
fn lang_of(word: &str) -> Option<String> {
    lang::canonical(word).map(str::to_owned)
}

/// Returns the error for a word that names no language.
fn no_language(word: &str) -> RpcError {
    let hint = match lang::most_similar(word) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("there are: {}", lang::names().join(", ")),
    };
    bad_params(format!("lang: {word} is no language")).with_hint(hint)
}

fn kind_of(word: &str) -> Result<Kind, String> {
    let known = || format!("a kind is one of {}", Kind::ALL.map(Kind::as_str).join(", "));
    Kind::parse(word).ok_or_else(known)
}
