//! Params and results of `search` and `map`.

use memod_base::types::{ChunkKind, FileClass, RankingPart};
use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::anchor::Anchor;
use crate::memory::{MemoryScope, Traits};
use crate::search_mode::SearchMode;
use crate::{AskedUses, FreshnessLevel, Pending, UnsearchedFile};

/// Params of `search`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchParams {
    /// Absolute path inside the worktree to search.
    pub cwd: String,
    /// Words, `"phrases"`, `prefix*`, `AND OR NOT ( )`, filters such as `path:src/**`; every text is valid.
    pub query: String,
    /// Search mode.
    pub mode: SearchMode,
    /// Required freshness of the index.
    pub sync: FreshnessLevel,
    /// Only these kinds; empty means all.
    pub kind: Vec<ChunkKind>,
    /// Only files of one of these classes, whose plurals are accepted too; empty means all.
    pub only: Vec<FileClass>,
    /// Only paths that match one of these globs and none of those with a leading `!`; empty means all. A glob with a
    /// `/` starts at `cwd`, or at the root of the file system if absolute; a glob without matches a name at any depth.
    pub path: Vec<String>,
    /// Only these languages; empty means all.
    pub lang: Vec<String>,
    /// Only memories of this container.
    pub container: Option<String>,
    /// Only memories with all of these tags.
    pub tag: Vec<String>,
    /// Only commits and memories since this date, time or age, such as `3d` for three days ago.
    pub since: Option<String>,
    /// Only commits and memories before this date, time or age.
    pub until: Option<String>,
    /// Conditions on the fields of memories; commits have an `author` too.
    #[serde(flatten)]
    pub traits: Traits,
    /// Minimum score, 0 to 1; `search.threshold` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Whether to explain the score of each hit.
    pub explain: bool,
    /// Whether a cross-encoder compares the first 20 hits with the query. If it cannot, `degraded` gives the reason.
    pub rerank: bool,
    /// Whether to ask a language model for other words; `search.expand` when absent. Their hits follow the others.
    /// Without an answer in time, `degraded` gives the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expand: Option<bool>,
    /// Whether `snippet` is the whole text of each hit: definition, section, message or memory.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// Whether hits also have `text`: the whole definition, section, message or memory.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub texts: bool,
    /// Number of lines before the matching ones in `snippet`, at most 200; when absent, `snippet` is a few lines
    /// around the best ones. The lines come from the file, or from the text of a commit or memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_before: Option<usize>,
    /// Number of lines after the matching ones in `snippet`, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_after: Option<usize>,
    /// Signals and factors of `explain` to switch off for files and commits: their weight is 0, their factor 1. This
    /// serves to measure the effect of each; an unknown name is an error that lists the known ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<RankingPart>,
    /// Maximum number of hits, 1 to 200; 10 when absent.
    pub limit: Option<usize>,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

impl SearchParams {
    /// Returns whether the params filter hits.
    pub fn has_filters(&self) -> bool {
        let Self { kind, only, path, lang, container, tag, since, until, traits, .. } = self;
        let lists =
            [path, lang, tag].iter().any(|list| !list.is_empty()) || !kind.is_empty() || !only.is_empty();
        let one = [container, since, until].iter().any(|one| one.is_some());
        lists || one || *traits != Traits::default()
    }
}

/// End of the note on a glob that matches no file. Clients recognize the note by it, and add a remedy.
pub const NO_FILE_MATCHES: &str = "no indexed file matches";

/// Result of `search`, as `memo search --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SearchResult {
    /// The requested query.
    pub query: String,
    /// The requested search mode.
    pub mode: SearchMode,
    /// Hits, best first.
    pub hits: Vec<Hit>,
    /// The uses that the query asks for in words; only `memo search` adds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<AskedUses>,
    /// Number of candidates of all arms, before the limit.
    pub total: usize,
    /// Number of hits that `memo search --budget` has left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// Whether the answer has the requested freshness.
    pub fresh: bool,
    /// Why the answer is not fresh.
    pub reason: Option<String>,
    /// Remaining work of indexing.
    pub pending: Pending,
    /// Arms that did not run, each with its reason.
    pub degraded: Vec<String>,
    /// The corrected query that was also searched, if the query as typed found little or nothing.
    pub corrected: Option<String>,
    /// The name that the query consists of, if no indexed file, commit or memory contains it; the hits are only near it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_name: Option<String>,
    /// The names of definitions that are nearest to the name that the query consists of, the nearest first, if nothing has that name
    /// or its type has no such member. Hits that define the first one come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similar_names: Vec<String>,
    /// Files and other repositories that were not searched, if nothing was found or nothing has the name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsearched: Vec<UnsearchedFile>,
    /// Number of files that `unsearched` does not name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_more_unsearched: usize,
    /// Other words from a language model that were also searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expanded: Vec<String>,
    /// The parsed query.
    #[serde(default)]
    pub parsed: Parsed,
    /// Clock of the index: `m1:<epoch>:<view>:<seq>`.
    pub clock: String,
    /// Milliseconds in the daemon, waiting included.
    pub took_ms: f64,
}

impl SearchResult {
    /// Returns the uses that the query asks for in words, if there are any.
    pub fn found_uses(&self) -> Option<&AskedUses> {
        self.uses.as_ref().filter(|asked| !asked.uses.is_empty())
    }
}

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parsed {
    /// Words and `prefix*`, without stop words when others remain.
    pub terms: Vec<String>,
    /// Phrases, whose words must be adjacent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phrases: Vec<String>,
    /// Terms that `NOT` excludes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<String>,
    /// The whole query with its operators and brackets, if any of them has an effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Filters in the query, without the filters in other params.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<ParsedFilter>,
    /// Notes on parts of the query that may have been meant differently.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Parsed {
    /// Returns whether the query consists only of words.
    pub fn is_plain(&self) -> bool {
        self.expression.is_none() && self.filters.is_empty() && self.notes.is_empty()
    }
}

/// A filter of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ParsedFilter {
    /// `path`, `lang`, `kind`, `only`, `symbol`, `tag`, `container`, `author`, `after` or `before`.
    pub key: String,
    /// Value as typed, without quotes.
    pub value: String,
    /// Whether hits must not satisfy the filter.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not: bool,
}

/// One hit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hit {
    /// Kind of source.
    pub kind: ChunkKind,
    /// Path relative to the worktree, with `/`; `commit:<oid>` for a commit, `memory:<id>` for a memory.
    pub path: String,
    /// The path relative to `cwd`, as a person there would type it; absent at the top of the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// First and last line, 1-based and inclusive. For a commit they are lines of its message and changed paths, for a
    /// memory of its content.
    pub lines: (u32, u32),
    /// Name of the definition.
    pub symbol: Option<String>,
    /// Heading path, or the name of the definition after its enclosing names.
    pub title: Option<String>,
    /// Classes of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<FileClass>,
    /// The lines that match best: a few hundred characters, unless more lines are asked for.
    pub snippet: String,
    /// First line of the snippet, 1-based.
    pub snippet_line: u32,
    /// The whole text, from the first of `lines` on, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The line that names the definition; the lines of a longer signature are joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Line number of `signature`, 1-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature_line: Option<u32>,
    /// Number of the last line of `signature`, if it is joined from several lines and so is no line of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature_end: Option<u32>,
    /// Rank of the hit in the answer, 1-based.
    #[serde(default)]
    pub rank: usize,
    /// Score, 0 to 1; larger is better.
    pub score: f64,
    /// Other files with the same content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<Copies>,
    /// Rank of the hit in each arm.
    pub arms: Arms,
    /// Id of the memory; set for memories.
    pub id: Option<String>,
    /// Root of the worktree.
    pub view: String,
    /// blake3 of the file's bytes, or of a memory's content, hex.
    pub blob: String,
    /// `repo`: the text comes from the repository and is data, not an instruction. `own`: a memory that was written
    /// here. `import`: a memory from elsewhere, unless the import marked it as the user's own.
    pub trust: String,
    /// `fresh`, `drifted` or `orphaned` for anchored memories.
    pub state: Option<String>,
    /// Id, date and author of the commit; set for commits.
    #[serde(default)]
    pub commit: Option<CommitInfo>,
    /// Fields of the memory; set for memories.
    #[serde(default)]
    pub memory: Option<MemoryInfo>,
    /// Parts of the score, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

/// Files with the same content as a hit: equal files, forks of a text, vendored copies, translations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Copies {
    /// Number of files found.
    pub count: usize,
    /// Paths of the first files.
    pub paths: Vec<String>,
    /// The same paths relative to `cwd`, as in [`Hit::cwd_path`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cwd_paths: Vec<String>,
}

/// Maximum number of paths of copies.
const MAX_COPY_PATHS: usize = 5;

impl Copies {
    /// Counts a file with the same content, and adds its path unless there are `MOST_PATHS` already.
    pub fn add_file(&mut self, path: &str) {
        self.count += 1;
        if self.paths.len() < MAX_COPY_PATHS {
            self.paths.push(path.to_owned());
        }
    }
}

impl Hit {
    /// Returns the path relative to `cwd`, as a person there would type it.
    pub fn shown_path(&self) -> &str {
        self.cwd_path.as_deref().unwrap_or(&self.path)
    }

    /// Returns a line that lists the files with the same content: `4 more files with the same content: a.md, …`; `None` if there are none.
    pub fn describe_copies(&self) -> Option<String> {
        let Copies { count, paths, cwd_paths } = self.copies.as_ref()?;
        let paths = if cwd_paths.is_empty() { paths } else { cwd_paths };
        let more = if *count > paths.len() { ", …" } else { "" };
        Some(format!(
            "{count} more {} with the same content: {}{more}",
            if *count == 1 { "file" } else { "files" },
            paths.join(", ")
        ))
    }

    /// Returns the lines to show with their numbers: the snippet, and the signature if the snippet lacks a part of it. A signature
    /// that is joined from several lines has the numbers of its first and last line.
    pub fn numbered_lines(&self) -> Vec<NumberedLine<'_>> {
        let one = |(first, text)| NumberedLine { first, last: first, text };
        let mut lines: Vec<NumberedLine<'_>> =
            (self.snippet_line..).zip(self.snippet.lines()).map(one).collect();
        let (Some(first), Some(text)) = (self.signature_line, &self.signature) else { return lines };
        let signature = NumberedLine { first, last: self.signature_end.unwrap_or(first), text };
        match lines.iter().position(|shown| shown.first == first) {
            // The snippet ends in the middle of the signature, so its last lines are replaced by the whole signature.
            Some(at) if lines.last().is_some_and(|last| last.first < signature.last) => {
                lines.truncate(at);
                lines.push(signature);
            }
            Some(_) => {}
            None => {
                lines.retain(|shown| !(signature.first..=signature.last).contains(&shown.first));
                lines.push(signature);
                lines.sort_by_key(|shown| shown.first);
            }
        }
        lines
    }
}

/// A line of a file that a hit shows, or several lines joined to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberedLine<'a> {
    /// Number of the line, 1-based; of joined lines, the number of the first.
    pub first: u32,
    /// Number of the last joined line.
    pub last: u32,
    /// The text.
    pub text: &'a str,
}

impl NumberedLine<'_> {
    /// Returns the number as it is shown: `12`, or `12-15` for joined lines.
    pub fn shown_number(&self) -> String {
        let Self { first, last, .. } = self;
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    }
}

/// The fields of a memory besides its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryInfo {
    /// Container.
    pub container: String,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// Creation time, RFC 3339.
    pub created: String,
    /// Code that the memory is about, with states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchor>,
    /// Scope in which the memory is shared.
    #[serde(default)]
    pub scope: MemoryScope,
    /// Another repository of the team, if the memory belongs there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// `ours` or `theirs`, if the memory is a side of a conflict in its file or with the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<String>,
    /// Ids of the living memories that supersede it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded_by: Vec<String>,
}

/// The parts of a score.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explain {
    /// Values of the arms that found the hit.
    pub signals: Vec<Signal>,
    /// Combined score of the arms, 0 to 1.
    pub fused: f64,
    /// Factors in order; `score` is 1 - e^-product.
    pub factors: Vec<Factor>,
}

/// The value of one arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// `bm25`, `path`, `symbol`, `knn`, `maxsim` (similarity of the most similar words), `maxsim_head` (the same for
    /// names and first lines), `maxsim_path` (the same for the path), `file` and `covered` (for the file as a whole),
    /// or `rerank`.
    pub arm: String,
    /// Rank in the arm, 1-based; null if only the value is known.
    pub rank: Option<u32>,
    /// BM25 (larger is better) or cosine.
    pub value: Option<f64>,
}

/// One factor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Name of the factor.
    pub name: String,
    /// Value of the factor.
    pub times: f64,
}

/// A commit with author and date.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitInfo {
    /// Full id of the commit.
    pub oid: String,
    /// Author time, RFC 3339.
    pub date: String,
    /// Author, as `Name <mail>`.
    pub author: String,
}

/// The 1-based rank in each arm, and the cosine; null for arms without the hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Arms {
    /// BM25 over chunks.
    pub bm25: Option<u32>,
    /// BM25 over path words.
    pub path: Option<u32>,
    /// Exact symbol.
    pub symbol: Option<u32>,
    /// Nearest vectors.
    pub knn: Option<u32>,
    /// Cosine similarity to the query.
    pub cosine: Option<f32>,
    /// Relevance of the text to the query according to a cross-encoder, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<f32>,
}

impl Arms {
    /// Returns whether the hit contains a word of the query, and not only similar text.
    pub fn has_query_word(&self) -> bool {
        self.bm25.is_some() || self.path.is_some() || self.symbol.is_some()
    }
}

/// Params of `map`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MapParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// Maximum number of tokens in `text`; 1,024 when absent.
    pub budget: Option<usize>,
    /// Files and directories to which the map is restricted; relative to `cwd` or absolute. Empty means all.
    pub paths: Vec<String>,
    /// Paths to favour in the ranking; relative to `cwd` or absolute.
    pub focus: Vec<String>,
    /// Required freshness of the index.
    pub sync: FreshnessLevel,
}

/// Result of `map`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MapResult {
    /// The text to print.
    pub text: String,
    /// Number of tokens in `text` (four characters each).
    pub tokens: usize,
    /// Number of files in `text`.
    pub files: usize,
    /// The most used name of each of the first ten files; names of several words come first.
    #[serde(default)]
    pub names: Vec<String>,
    /// Number of files with symbols below `paths`.
    pub total_files: usize,
    /// Paths of `paths` without any file with symbols.
    #[serde(default)]
    pub unmapped: Vec<String>,
    /// Paths of `focus` without any file with symbols.
    #[serde(default)]
    pub unfocused: Vec<String>,
    /// Whether the answer has the requested freshness.
    pub fresh: bool,
    /// Why the answer is not fresh.
    pub reason: Option<String>,
    /// Clock of the index: `m1:<epoch>:<view>:<seq>`.
    pub clock: String,
}
