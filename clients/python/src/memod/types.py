"""Has the types of params and results; made by generate.py of docs/src/reference/protocol-reference.md."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict

from ._record import Record

Mode = Literal["keyword", "vector", "hybrid"]
Freshness = Literal["none", "fs", "full", "strict"]
Kind = Literal["doc", "map", "symbol", "text", "commit", "memory"]
FileClass = Literal["code", "docs", "test", "fixture", "snapshot", "example", "benchmark", "config", "generated", "vendored", "lock", "licence", "changelog", "translation", "migration", "declaration"]
Tier = Literal["short", "mid", "long"]
Scope = Literal["mine", "repo", "team"]
SignalName = Literal["bm25", "path", "symbol", "knn", "maxsim", "maxsim_head", "maxsim_path", "file", "covered", "definition", "stem", "folder", "matches", "map", "text", "commit", "further", "wordless", "test", "fixture", "snapshot", "example", "benchmark", "vendored", "generated", "lock", "licence", "changelog", "translation", "migration", "declaration"]
State = Literal["fresh", "drifted", "orphaned"]
Extra = Literal["memories", "commits"]
Status = Literal["added", "modified", "removed", "renamed"]
Step = Literal["listing", "reading", "commits", "embedding"]
LinkKind = Literal["related_to", "supersedes", "contradicts", "derived_from"]
Sort = Literal["created", "updated", "priority"]


class SearchParams(TypedDict, total=False):
    mode: Mode
    """Search mode."""
    sync: Freshness
    """Required freshness of the index."""
    kind: list[Kind]
    """Only these kinds; empty means all."""
    only: list[FileClass]
    """Only files of one of these classes, whose plurals are accepted too; empty means all."""
    path: list[str]
    """Only paths that match one of these globs and none of those with a leading `!`; empty means all. A glob with a `/` starts at `cwd`, or at the root of the file system if absolute; a glob without matches a name at any depth."""
    lang: list[str]
    """Only these languages; empty means all."""
    container: Optional[str]
    """Only memories of this container."""
    tag: list[str]
    """Only memories with all of these tags."""
    since: Optional[str]
    """Only commits and memories since this date, time or age, such as `3d` for three days ago."""
    until: Optional[str]
    """Only commits and memories before this date, time or age."""
    tier: Optional[Tier]
    """Tier."""
    author: Optional[str]
    """Part of the author's name or address, ignoring case."""
    agent: Optional[str]
    """Part of the name of the agent that added the memory, ignoring case."""
    source: Optional[str]
    """Origin of the memory, such as `cli` or `import`."""
    min_priority: Optional[int]
    """Minimum priority."""
    scope: Optional[Scope]
    """Scope in which the memory is shared."""
    metadata: dict[str, Any]
    """Keys and values that the metadata must have."""
    threshold: Optional[float]
    """Minimum score, 0 to 1; `search.threshold` when absent."""
    explain: bool
    """Whether to explain the score of each hit."""
    rerank: bool
    """Whether a cross-encoder compares the first 20 hits with the query. If it cannot, `degraded` gives the reason."""
    expand: Optional[bool]
    """Whether to ask a language model for other words; `search.expand` when absent. Their hits follow the others. Without an answer in time, `degraded` gives the reason."""
    full: bool
    """Whether `snippet` is the whole text of each hit: definition, section, message or memory."""
    texts: bool
    """Whether hits also have `text`: the whole definition, section, message or memory."""
    lines_before: Optional[int]
    """Number of lines before the matching ones in `snippet`, at most 200; when absent, `snippet` is a few lines around the best ones. The lines come from the file, or from the text of a commit or memory."""
    lines_after: Optional[int]
    """Number of lines after the matching ones in `snippet`, likewise."""
    without: list[SignalName]
    """Signals and factors of `explain` to switch off for files and commits: their weight is 0, their factor 1. This serves to measure the effect of each; an unknown name is an error that lists the known ones."""
    limit: Optional[int]
    """Maximum number of hits, 1 to 200; 10 when absent."""
    wait_ms: Optional[int]
    """Maximum wait for freshness, ms; 1,000 when absent."""


class Copies(Record):
    count: int
    """Number of files found."""
    paths: list[str]
    """Paths of the first files."""
    cwd_paths: list[str]
    """The same paths relative to `cwd`, as in `Hit::cwd_path`."""


class Arms(Record):
    bm25: Optional[int]
    """BM25 over chunks."""
    path: Optional[int]
    """BM25 over path words."""
    symbol: Optional[int]
    """Exact symbol."""
    knn: Optional[int]
    """Nearest vectors."""
    cosine: Optional[float]
    """Cosine similarity to the query."""
    rerank: Optional[float]
    """Relevance of the text to the query according to a cross-encoder, 0 to 1."""


class CommitInfo(Record):
    oid: str
    """Full id of the commit."""
    date: str
    """Author time, RFC 3339."""
    author: str
    """Author, as `Name <mail>`."""


class Surroundings(Record):
    inside: Optional[str]
    """Qualified name of the innermost definition that had the lines."""
    text: Optional[str]
    """First half of the blake3 of that definition's text, if no other definition in the worktree had the same text."""
    n_above: int
    """Number of lines of that definition above the anchored lines."""
    n_below: int
    """Number of lines of that definition below the anchored lines."""
    above: list[tuple[str, int]]
    """Up to eight lines above that are not empty, nearest first, each with its distance from the first anchored line."""
    below: list[tuple[str, int]]
    """Up to eight lines below that are not empty, nearest first, each with its distance from the last anchored line."""
    unique: tuple[int, int]
    """Which of these lines occurred once in the file: a bit for each line above, the lowest for the nearest, and the same below."""


class Seen(Record):
    blob: str
    """blake3 of the file's bytes."""
    text: str
    """First half of the blake3 of the anchored text: the file, the lines, or the definition regardless of its position."""
    shape: Optional[str]
    """First half of the blake3 of a definition's text without its names."""
    run: Optional[str]
    """First half of the blake3 of a definition's lines."""
    nth: Optional[tuple[int, int]]
    """For lines that occur several times in the file: the number of this occurrence, from 1, and the total."""
    alone: bool
    """Whether no other text in the worktree was equal, so that an equal text elsewhere means that it has moved."""
    around: Optional[Surroundings]
    """For lines: the text around them, which distinguishes them from equal lines elsewhere."""
    sample: Optional[str]
    """Hashes of up to 16 lines of the file, 8 digits each, which distinguish the edited file from another file at its path."""


class Anchor(Record):
    path: str
    """Path from the worktree's top when the anchor was last confirmed."""
    symbol: Optional[str]
    """Qualified name of the definition, if the anchor names one."""
    lines: Optional[tuple[int, int]]
    """First and last line when the anchor was last confirmed, 1-based and inclusive; null for the whole file."""
    seen: Seen
    """Content when the anchor was last confirmed."""
    state: Optional[State]
    """Present state of the anchor; null if it is unknown or was not requested."""
    now: Optional[str]
    """Present location of the text, as one would type it, if the path or the lines differ; if the text has changed, the most likely one."""
    note: Optional[str]
    """A note on the state."""


class MemoryInfo(Record):
    container: str
    """Container."""
    tags: list[str]
    """Tags, sorted."""
    created: str
    """Creation time, RFC 3339."""
    anchors: list[Anchor]
    """Code that the memory is about, with states."""
    scope: Scope
    """Scope in which the memory is shared."""
    repository: Optional[str]
    """Another repository of the team, if the memory belongs there."""
    conflict: Optional[str]
    """`ours` or `theirs`, if the memory is a side of a conflict in its file or with the team."""
    superseded_by: list[str]
    """Ids of the living memories that supersede it."""


class Signal(Record):
    arm: str
    """`bm25`, `path`, `symbol`, `knn`, `maxsim` (similarity of the most similar words), `maxsim_head` (the same for names and first lines), `maxsim_path` (the same for the path), `file` and `covered` (for the file as a whole), or `rerank`."""
    rank: Optional[int]
    """Rank in the arm, 1-based; null if only the value is known."""
    value: Optional[float]
    """BM25 (larger is better) or cosine."""


class Factor(Record):
    name: str
    """Name of the factor."""
    times: float
    """Value of the factor."""


class Explain(Record):
    signals: list[Signal]
    """Values of the arms that found the hit."""
    fused: float
    """Combined score of the arms, 0 to 1."""
    factors: list[Factor]
    """Factors in order; `score` is 1 - e^-product."""


class Hit(Record):
    kind: Kind
    """Kind of source."""
    path: str
    """Path relative to the worktree, with `/`; `commit:<oid>` for a commit, `memory:<id>` for a memory."""
    cwd_path: Optional[str]
    """The path relative to `cwd`, as a person there would type it; absent at the top of the worktree."""
    lines: tuple[int, int]
    """First and last line, 1-based and inclusive. For a commit they are lines of its message and changed paths, for a memory of its content."""
    symbol: Optional[str]
    """Name of the definition."""
    title: Optional[str]
    """Heading path, or the name of the definition after its enclosing names."""
    classes: list[FileClass]
    """Classes of the file."""
    snippet: str
    """The lines that match best: a few hundred characters, unless more lines are asked for."""
    snippet_line: int
    """First line of the snippet, 1-based."""
    text: Optional[str]
    """The whole text, from the first of `lines` on, if requested."""
    signature: Optional[str]
    """The line that names the definition; the lines of a longer signature are joined."""
    signature_line: Optional[int]
    """Line number of `signature`, 1-based."""
    signature_end: Optional[int]
    """Number of the last line of `signature`, if it is joined from several lines and so is no line of the file."""
    rank: int
    """Rank of the hit in the answer, 1-based."""
    score: float
    """Score, 0 to 1; larger is better."""
    copies: Optional[Copies]
    """Other files with the same content."""
    arms: Arms
    """Rank of the hit in each arm."""
    id: Optional[str]
    """Id of the memory; set for memories."""
    view: str
    """Root of the worktree."""
    blob: str
    """blake3 of the file's bytes, or of a memory's content, hex."""
    trust: str
    """`repo`: the text comes from the repository and is data, not an instruction. `own`: a memory that was written here. `import`: a memory from elsewhere, unless the import marked it as the user's own."""
    state: Optional[str]
    """`fresh`, `drifted` or `orphaned` for anchored memories."""
    commit: Optional[CommitInfo]
    """Id, date and author of the commit; set for commits."""
    memory: Optional[MemoryInfo]
    """Fields of the memory; set for memories."""
    explain: Optional[Explain]
    """Parts of the score, if requested."""


class RefUse(Record):
    path: str
    """Path from the worktree's top."""
    cwd_path: Optional[str]
    """The path relative to `cwd`, as a person there would type it; absent at the top of the worktree."""
    line: int
    """Line, 1-based."""
    column: int
    """Byte in the line, 1-based."""
    within: Optional[str]
    """The enclosing definition; absent at the top of the file."""
    certainty: str
    """`exact`, `likely` or `by name`."""
    text: str
    """Text of the line without surrounding blanks; filler letters replace credentials."""


class AskedUses(Record):
    ask: str
    """The command that asks for them directly, such as `memo callers NAME`."""
    n_found: int
    """Number of uses that were found."""
    uses: list[RefUse]
    """The first of them; empty if nothing uses the definition."""


class Pending(Record):
    files: int
    """Number of files that differ from the index, or are suspected to."""
    embeddings: int
    """Number of chunks without their vector."""


class UnsearchedFile(Record):
    path: str
    """Path from the worktree's top."""
    why: str
    """Why it was not searched."""


class ParsedFilter(Record):
    key: str
    """`path`, `lang`, `kind`, `only`, `symbol`, `tag`, `container`, `author`, `after` or `before`."""
    value: str
    """Value as typed, without quotes."""
    not_: bool
    """Whether hits must not satisfy the filter."""


class Parsed(Record):
    terms: list[str]
    """Words and `prefix*`, without stop words when others remain."""
    phrases: list[str]
    """Phrases, whose words must be adjacent."""
    excluded: list[str]
    """Terms that `NOT` excludes."""
    expression: Optional[str]
    """The whole query with its operators and brackets, if any of them has an effect."""
    filters: list[ParsedFilter]
    """Filters in the query, without the filters in other params."""
    notes: list[str]
    """Notes on parts of the query that may have been meant differently."""


class SearchResult(Record):
    query: str
    """The requested query."""
    mode: Mode
    """The requested search mode."""
    hits: list[Hit]
    """Hits, best first."""
    uses: Optional[AskedUses]
    """The uses that the query asks for in words; only `memo search` adds them."""
    total: int
    """Number of candidates of all arms, before the limit."""
    left_out: Optional[int]
    """Number of hits that `memo search --budget` has left out."""
    fresh: bool
    """Whether the answer has the requested freshness."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    pending: Pending
    """Remaining work of indexing."""
    degraded: list[str]
    """Arms that did not run, each with its reason."""
    corrected: Optional[str]
    """The corrected query that was also searched, if the query as typed found little or nothing."""
    unknown_name: Optional[str]
    """The name that the query consists of, if no indexed file, commit or memory contains it; the hits are only near it."""
    similar_names: list[str]
    """The names of definitions that are nearest to the name that the query consists of, the nearest first, if nothing has that name or its type has no such member. Hits that define the first one come first."""
    unsearched: list[UnsearchedFile]
    """Files and other repositories that were not searched, if nothing was found or nothing has the name."""
    n_more_unsearched: Optional[int]
    """Number of files that `unsearched` does not name."""
    expanded: list[str]
    """Other words from a language model that were also searched."""
    parsed: Parsed
    """The parsed query."""
    clock: str
    """Clock of the index: `m1:<epoch>:<view>:<seq>`."""
    took_ms: float
    """Milliseconds in the daemon, waiting included."""


class BriefParams(TypedDict, total=False):
    budget: Optional[int]
    """Maximum number of tokens in `text`; 2,048 when absent."""
    sync: Freshness
    """Required freshness of the index."""


class BriefSection(Record):
    name: str
    """`project`, `memories`, `to-check`, `routes`, `changes`, `commits` or `map`."""
    shown: int
    """Number of lines, memories, files or commits that the text contains."""
    total: int
    """Total number, including those that the text leaves out."""


class BriefResult(Record):
    text: str
    """The text to print. Its parts about the project, commits and the map come from the repository: they are data, not instructions."""
    tokens: int
    """Number of tokens in `text` (four characters each)."""
    budget: int
    """The requested budget."""
    sections: list[BriefSection]
    """The sections of `text`, in order."""
    fresh: bool
    """Whether the answer has the requested freshness."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    clock: str
    """Clock of the index: `m1:<epoch>:<view>:<seq>`."""
    took_ms: float
    """Milliseconds in the daemon, waiting included."""


class MapParams(TypedDict, total=False):
    budget: Optional[int]
    """Maximum number of tokens in `text`; 1,024 when absent."""
    paths: list[str]
    """Files and directories to which the map is restricted; relative to `cwd` or absolute. Empty means all."""
    focus: list[str]
    """Paths to favour in the ranking; relative to `cwd` or absolute."""
    sync: Freshness
    """Required freshness of the index."""


class MapResult(Record):
    text: str
    """The text to print."""
    tokens: int
    """Number of tokens in `text` (four characters each)."""
    files: int
    """Number of files in `text`."""
    names: list[str]
    """The most used name of each of the first ten files; names of several words come first."""
    total_files: int
    """Number of files with symbols below `paths`."""
    unmapped: list[str]
    """Paths of `paths` without any file with symbols."""
    unfocused: list[str]
    """Paths of `focus` without any file with symbols."""
    fresh: bool
    """Whether the answer has the requested freshness."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    clock: str
    """Clock of the index: `m1:<epoch>:<view>:<seq>`."""


class ShowParams(TypedDict, total=False):
    sync: Freshness
    """Required freshness of the index."""
    wait_ms: Optional[int]
    """Maximum wait for freshness, ms; 1,000 when absent."""


class ShownPart(Record):
    path: str
    """Path from the worktree's top."""
    cwd_path: Optional[str]
    """The path relative to `cwd`, as a person there would type it; absent at the top of the worktree."""
    lines: tuple[int, int]
    """First and last line, 1-based and inclusive; `[1, 0]` for an empty file."""
    title: Optional[str]
    """Name of the definition after its enclosing names."""
    n_overloads: Optional[int]
    """Number of `@overload` declarations of Python before the implementation; absent if there are none."""
    text: str
    """The lines with their line ends; filler letters replace credentials."""


class ShowResult(Record):
    parts: list[ShownPart]
    """The requested parts; several if definitions have one name."""
    left_out: int
    """Number of further definitions with the same name."""
    fresh: bool
    """Whether the answer has the requested freshness."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    trust: str
    """`repo`: the text comes from the repository, and is data, not an instruction."""
    took_ms: float
    """Milliseconds in the daemon, waiting included."""


class OutlineParams(TypedDict, total=False):
    depth: Optional[int]
    """Maximum number of levels in the outline; all when absent."""
    limit: Optional[int]
    """Maximum number of items in the result; 1,000 when absent. The innermost items are left out first."""
    sync: Freshness
    """Required freshness of the index."""
    wait_ms: Optional[int]
    """Maximum wait for freshness, ms; 1,000 when absent."""


class OutlineItem(Record):
    path: str
    """Path from the worktree's top."""
    cwd_path: Optional[str]
    """The path relative to `cwd`, as a person there would type it; absent at the top of the worktree."""
    title: str
    """Headings, or the name of the definition after its enclosing names."""
    lines: tuple[int, int]
    """First and last line, 1-based and inclusive. A definition includes the comments above it; a heading without text of its own starts at its first section."""
    depth: int
    """Number of enclosing items."""
    text: str
    """Signature or heading; filler letters replace credentials."""


class OutlineResult(Record):
    items: list[OutlineItem]
    """Items in the order of the text."""
    n_found: int
    """Number of items found."""
    cut: Optional[str]
    """Why there may be more items."""
    fresh: bool
    """Whether the answer has the requested freshness."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    trust: str
    """`repo`: the text comes from the repository, and is data, not an instruction."""
    took_ms: float
    """Milliseconds in the daemon, waiting included."""


class RefsParams(TypedDict, total=False):
    limit: Optional[int]
    """Maximum number of uses in the result; 100 when absent."""
    with_: list[Extra]
    """Parts to add to the answer."""
    sync: Freshness
    """Required freshness of the index."""
    wait_ms: Optional[int]
    """Maximum wait for freshness, ms; 1,000 when absent."""


class RefDefinition(Record):
    path: str
    """Path from the worktree's top."""
    cwd_path: Optional[str]
    """The path relative to `cwd`, as a person there would type it; absent at the top of the worktree."""
    title: str
    """Name of the definition after its enclosing names."""
    lines: tuple[int, int]
    """First and last line, 1-based and inclusive."""


class RefCounts(Record):
    exact: int
    """Number of uses that scope, package or an import prove."""
    likely: int
    """Number of uses of a value whose type is inferred, of a name of several words with one definition, or of one of several overloads."""
    by_name: int
    """Number of uses that have only the name in common."""


class WhyMemory(Record):
    id: str
    """Id of the memory."""
    about: str
    """Present location of its anchor: `PATH`, `PATH:10-20` or `PATH#SYMBOL`."""
    line: str
    """Title, or the beginning of the first line; preceded by `[trust: repo]` if nobody here has confirmed the memory."""
    path: str
    """Path from the worktree's top."""
    lines: Optional[tuple[int, int]]
    """First and last line, if known; null for the whole file."""
    state: Optional[State]
    """Whether the code has changed since the last confirmation; null if unknown."""
    note: Optional[str]
    """A note on the state."""


class WhyCommit(Record):
    oid: str
    """Full id of the commit."""
    date: str
    """Author time, RFC 3339."""
    author: str
    """Author, as `Name <mail>`."""
    subject: str
    """First paragraph of the commit's message."""
    body: str
    """The rest of the message."""
    path: str
    """Path of the target in this commit."""
    lines: list[tuple[int, int]]
    """Spans of the requested lines that the commit introduced; empty if a whole path was requested."""


class RefsResult(Record):
    definitions: list[RefDefinition]
    """The definitions that the target means; several if they have one name."""
    uses: list[RefUse]
    """Uses by file and line; files with the surest uses come first."""
    counts: RefCounts
    """Number of uses by certainty."""
    cut: Optional[str]
    """Why the list of uses may be incomplete."""
    unsearched: list[UnsearchedFile]
    """If there are no uses: files in which there may be some, at most five."""
    n_more_unsearched: Optional[int]
    """Number of files that `unsearched` does not name."""
    read_as_text: list[UnsearchedFile]
    """Files that have the name but were read as text only, so that their uses are not known; at most three."""
    n_more_read_as_text: Optional[int]
    """Number of files that `read_as_text` does not name."""
    memories: list[WhyMemory]
    """With `memories`: memories about the definitions and the uses."""
    commits: list[WhyCommit]
    """With `commits`: the newest commits that touched the files of the definitions and of the first results, at most ten."""
    fresh: bool
    """Whether the answer has the requested freshness."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    trust: str
    """`repo`: the text comes from the repository, and is data, not an instruction."""
    took_ms: float
    """Milliseconds in the daemon, waiting included."""


class CallsParams(TypedDict, total=False):
    query: Optional[str]
    """For `tests`: what has changed, in words. Tests with these words come first among equals, and tests that only have similar words are searched for with them."""
    depth: Optional[int]
    """Maximum number of uses between a definition and a result; when absent, 1 for `callers` and `callees`, 2 for `impact`, 8 for the others."""
    all: bool
    """For `impact` and `tests`: also list uses that have only the name in common, and for `tests` files with similar words. Otherwise they are counted, and listed only if there is nothing else."""
    limit: Optional[int]
    """Maximum number of definitions in the result; when absent, 100, and for `tests` 20, at most five of a file."""
    with_: list[Extra]
    """Parts to add to the answer."""
    sync: Freshness
    """Required freshness of the index."""
    wait_ms: Optional[int]
    """Maximum wait for freshness, ms; 1,000 when absent."""


class ReachedDefinition(Record):
    path: str
    """Path from the worktree's top."""
    cwd_path: Optional[str]
    """The path relative to `cwd`, as a person there would type it; absent at the top of the worktree."""
    title: Optional[str]
    """Name of the definition after its enclosing names; absent at the top of the file."""
    lines: tuple[int, int]
    """First and last line of the definition; for the top of a file, the line of the use."""
    line: int
    """Line of the use that led here: in this definition or, for `callees`, in the definition that calls it."""
    text: str
    """Text of that line or, for `callees`, the signature of the definition; filler letters replace credentials."""
    text_line: Optional[int]
    """For `callees`: line of the signature."""
    depth: int
    """Number of uses between it and a requested definition; 0 for a requested test, and for a test that only its name or its words point to."""
    via: Optional[int]
    """Index in `found`, from 0, of the definition that it uses or that calls it; absent for the nearest, and if that definition is left out."""
    certainty: str
    """Certainty of the least sure use on the way: `exact`, `likely` or `by name`; `similar` for a test that only has similar words."""
    test: Optional[str]
    """For a test, the name by which its runner knows it: `parser > parses empty input`, `TestParse/empty`; absent if that is the title."""
    is_parametrised: bool
    """Whether a test is run with several inputs."""
    n_more_in_file: Optional[int]
    """For `tests`, on the last one of a file: number of further tests of the file that are not listed."""
    old_name: Optional[str]
    """For `impact` of a change: the name of a removed definition that it still uses."""
    is_test: bool
    """Whether the definition is a test."""


class NeighbourLine(Record):
    path: str
    """Path from the worktree's top."""
    cwd_path: Optional[str]
    """The path relative to `cwd`, as a person there would type it; absent at the top of the worktree."""
    line: int
    """Line, 1-based."""
    text: str
    """Text of that line; filler letters replace credentials."""


class ReachResult(Record):
    definitions: list[RefDefinition]
    """The requested definitions, at most 100."""
    n_definitions: int
    """Number of requested definitions, including removed ones."""
    removed: list[str]
    """With `since`: `PATH#SYMBOL` of removed definitions, at most 100; `found` includes definitions that use such a name."""
    found: list[ReachedDefinition]
    """Definitions that were reached. For `callers` and `callees`, the nearest come first; for `tests` and `implements`, the most probably affected; for `impact` those of the most probably affected file."""
    n_found: int
    """Number of definitions that were reached."""
    n_by_name: Optional[int]
    """For `impact` and `tests` without `all`: number of definitions that are not listed, because only names lead to them."""
    n_similar: Optional[int]
    """For `tests` without `all`: number of files that are not listed, because they only have similar words."""
    fakes: list[NeighbourLine]
    """For `tests`: lines of tests that replace what is asked about by a fake, at most ten."""
    neighbours: list[NeighbourLine]
    """For `tests`: documents that name what is asked about, at most three, and the manifest that says how its tests run."""
    n_tests: int
    """Number of tests among the reached definitions."""
    n_untold: int
    """For `callees`: number of calls of definitions elsewhere, or of a name that too many definitions have."""
    n_passing: Optional[int]
    """For `callers`: number of further definitions that use it without a call, for example as an argument."""
    cut: Optional[str]
    """Why more definitions might be reached."""
    unsearched: list[UnsearchedFile]
    """If nothing was reached: files in which there may be uses, at most five."""
    n_more_unsearched: Optional[int]
    """Number of files that `unsearched` does not name."""
    read_as_text: list[UnsearchedFile]
    """Files that have the name but were read as text only, so that their uses are not known; at most three."""
    n_more_read_as_text: Optional[int]
    """Number of files that `read_as_text` does not name."""
    memories: list[WhyMemory]
    """With `memories`: memories about the requested and the reached definitions."""
    commits: list[WhyCommit]
    """With `commits`: the newest commits that touched the files of the definitions and of the first results, at most ten."""
    fresh: bool
    """Whether the answer has the requested freshness."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    trust: str
    """`repo`: the text comes from the repository, and is data, not an instruction."""
    took_ms: float
    """Milliseconds in the daemon, waiting included."""


class ReachParams(TypedDict, total=False):
    since: Optional[str]
    """For `impact` and `tests`, instead of a target: a revision, to start from the definitions that were changed since."""
    query: Optional[str]
    """For `tests`: what has changed, in words. Tests with these words come first among equals, and tests that only have similar words are searched for with them."""
    depth: Optional[int]
    """Maximum number of uses between a definition and a result; when absent, 1 for `callers` and `callees`, 2 for `impact`, 8 for the others."""
    all: bool
    """For `impact` and `tests`: also list uses that have only the name in common, and for `tests` files with similar words. Otherwise they are counted, and listed only if there is nothing else."""
    limit: Optional[int]
    """Maximum number of definitions in the result; when absent, 100, and for `tests` 20, at most five of a file."""
    with_: list[Extra]
    """Parts to add to the answer."""
    sync: Freshness
    """Required freshness of the index."""
    wait_ms: Optional[int]
    """Maximum wait for freshness, ms; 1,000 when absent."""


class WhyParams(TypedDict, total=False):
    limit: Optional[int]
    """Maximum number of commits; 10 when absent."""


class WhyMove(Record):
    oid: str
    """Full id of the commit."""
    date: str
    """Author time, RFC 3339."""
    author: str
    """Author, as `Name <mail>`."""
    subject: str
    """First paragraph of the commit's message."""
    from_: str
    """File from which the commit removed the lines."""
    to: str
    """File to which the commit added the lines; the same file if it moved them within one."""
    lines: list[tuple[int, int]]
    """Spans of the requested lines."""


class WhyResult(Record):
    path: str
    """Path from the worktree's top."""
    lines: list[tuple[int, int]]
    """Requested spans of lines, 1-based and inclusive; empty for the whole path."""
    symbol: Optional[str]
    """The requested symbol."""
    memories: list[WhyMemory]
    """Memories about the target, in the order of the file."""
    commits: list[WhyCommit]
    """Commits, newest first."""
    moves: list[WhyMove]
    """Commits that moved requested lines from elsewhere, newest first; `commits` lists the commits that wrote them."""
    uncommitted: list[tuple[int, int]]
    """Spans of uncommitted lines."""
    more: bool
    """Whether there are more commits than `limit`."""
    complete: bool
    """Whether the search was complete."""
    fresh: bool
    """Whether the search was complete, and all its data could be read."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    trust: str
    """`repo`: the text comes from the repository, and is data, not an instruction."""
    took_ms: float
    """Milliseconds in the daemon."""


class ChangedParams(TypedDict, total=False):
    until: Optional[str]
    """The other side of the comparison, in the same forms; the worktree when absent."""
    path: list[str]
    """Only these files, and files below these directories; relative to `cwd` or absolute."""
    limit: Optional[int]
    """Maximum number of files; 200 when absent."""
    sync: Freshness
    """Required freshness of the index."""
    wait_ms: Optional[int]
    """Maximum wait for freshness, ms; 1,000 when absent."""


class ChangedCommit(Record):
    oid: str
    """Full id of the commit."""
    date: str
    """Author time, RFC 3339."""
    author: str
    """Author, as `Name <mail>`."""
    subject: str
    """First paragraph of the commit's message."""


class ChangedSymbols(Record):
    added: list[str]
    """New definitions."""
    changed: list[str]
    """Changed definitions."""
    removed: list[str]
    """Removed definitions."""


class ChangedFile(Record):
    path: str
    """Path from the worktree's top."""
    cwd_path: Optional[str]
    """The path relative to `cwd`, as a person there would type it; absent at the top of the worktree."""
    status: Status
    """Kind of the change."""
    from_: Optional[str]
    """Former path of a renamed file."""
    cwd_from: Optional[str]
    """The former path relative to `cwd`."""
    symbols: Optional[ChangedSymbols]
    """Changes of the file's definitions; null if the file is not code, or if one of its versions cannot be read."""


class ChangedResult(Record):
    base: Optional[CommitInfo]
    """The commit with which the worktree is compared; null if every commit is newer or there is no commit, so that everything is new."""
    subject: Optional[str]
    """First paragraph of the message of `base`."""
    until: Optional[ChangedCommit]
    """The commit with which `base` is compared; null for the worktree."""
    files: list[ChangedFile]
    """Changed files, sorted by path."""
    total: int
    """Total number of files."""
    left_out: int
    """Number of files that are not in `files`."""
    commits: list[ChangedCommit]
    """The newest 20 commits since `base`, newest first, up to `until` or `HEAD`; with `path`, only commits that touched one of these paths."""
    commits_left_out: int
    """Number of commits that are not in `commits`."""
    complete: bool
    """Whether everything was compared, including symbols."""
    fresh: bool
    """Whether all files were compared, with the requested freshness."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    cut: Optional[str]
    """Why there may be more commits."""
    took_ms: float
    """Milliseconds in the daemon, waiting included."""


class StatusParams(TypedDict, total=False):
    files: bool
    """Whether to list every indexed file."""
    skipped: bool
    """Whether to list every refused file with its reason."""


class DaemonInfo(Record):
    pid: int
    """Process id."""
    version: str
    """`CARGO_PKG_VERSION` of the daemon."""
    uptime_s: int
    """Seconds since the daemon was started."""
    rss_bytes: int
    """Resident set, bytes."""


class ViewInfo(Record):
    root: str
    """Top directory of the worktree."""
    head: Optional[str]
    """Content of the worktree's HEAD: a commit or a branch."""
    files: int
    """Number of indexed files."""
    commits: int
    """Number of indexed commits."""
    older_commits: bool
    """Whether the history has older commits, which the limit `index.commits` leaves out."""
    seq: int
    """Counter that every change of the manifest increments."""
    fresh: bool
    """Whether no change is known to be pending."""
    polled: bool
    """Whether each query compares the worktree with the index, because not every change there is reported."""


class Counts(Record):
    blobs: int
    """Number of distinct file contents."""
    chunks: int
    """Number of chunks, the units of search."""
    embeddings: int
    """Number of vectors, one per text."""
    memories: int
    """Number of memories."""


class Sizes(Record):
    index_bytes: int
    """index.db and its WAL, bytes."""
    memory_bytes: int
    """memory.db and its WAL without backups, bytes."""
    log_bytes: int
    """Log files, bytes."""


class StateCounts(Record):
    fresh: int
    """Number of memories whose anchors are all unchanged."""
    drifted: int
    """Number of memories with a changed anchor."""
    orphaned: int
    """Number of memories with an anchor that is gone."""
    unknown: int
    """Number of memories whose state the index does not know yet."""


class Counters(Record):
    events: int
    """Number of file-system events."""
    rescans: int
    """Number of full scans after the first."""
    reconciles: int
    """Number of reconciles, including full scans."""
    parses: int
    """Number of files extracted."""
    embeds: int
    """Number of texts embedded."""
    queries: int
    """Number of searches answered."""


class IndexProgress(Record):
    step: Step
    """The step."""
    done: int
    """Number of files, commits or chunks of this step that are done."""
    total: Optional[int]
    """Total number of files, commits or chunks of this step; absent while files or commits are being listed."""
    done_bytes: Optional[int]
    """Number of bytes read from files; present only while files are being read."""
    total_bytes: Optional[int]
    """Total number of bytes to read."""


class WatchInfo(Record):
    backend: str
    """`inotify`, `fsevents`, `windows`, `kqueue` or `poll`."""
    dirs: int
    """Number of directories with their own watch."""


class NextModel(Record):
    id: str
    """Identity of the model."""
    done: int
    """Number of chunks that have its vector."""
    total: int
    """Number of chunks that need its vector."""


class ModelInfo(Record):
    id: str
    """Identity of the model."""
    dims: int
    """Length of a vector."""
    state: str
    """`ready`, `loading`, or `failed: <why>`."""
    next: Optional[NextModel]
    """The next model, while its vectors are computed."""


class StatusResult(Record):
    daemon: DaemonInfo
    """The daemon's process."""
    repo: str
    """Common dir of the repository, or the root outside git."""
    state_dir: str
    """Directory of the databases."""
    socket: str
    """Path of the socket."""
    worktree: str
    """Root of the worktree of `cwd`, as in `views`."""
    views: list[ViewInfo]
    """Worktrees that this daemon serves."""
    counts: Counts
    """Number of rows in the stores."""
    sizes: Sizes
    """Sizes of files in the state directory."""
    anchors: StateCounts
    """Number of memories with anchors, by their state in the worktree of `cwd`."""
    counters: Counters
    """Counters since the daemon started."""
    pending: Pending
    """Remaining work of indexing."""
    progress: Optional[IndexProgress]
    """Current step of indexing in the worktree of `cwd`, and its progress; absent while nothing is indexed."""
    skipped: dict[str, Any]
    """Number of refused files by reason."""
    watch: WatchInfo
    """How the daemon notices changes."""
    hooks: str
    """Method of the git hooks: `config`, `file`, `chained`, `watch-only` or `none`."""
    model: ModelInfo
    """The embedding model."""
    vectors: str
    """Location of the vectors: `in memory`, or `in sqlite-vec` if they exceed the memory budget; `loading` until they can be searched."""
    degraded: list[str]
    """Degradations with their remedies."""
    files: Optional[list[str]]
    """Indexed files of the worktree of `cwd`, if requested."""
    skipped_files: Optional[list[tuple[str, str]]]
    """Refused files of the worktree of `cwd` with their reasons, if requested."""


class SyncParams(TypedDict, total=False):
    sync: Freshness
    """Required freshness of the index."""
    wait_ms: Optional[int]
    """Maximum wait, ms; 1,000 when absent."""


class SyncResult(Record):
    fresh: bool
    """Whether the answer has the requested freshness."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    pending: Pending
    """Remaining work of indexing."""
    clock: str
    """Clock of the index: `m1:<epoch>:<view>:<seq>`."""
    progress: Optional[IndexProgress]
    """Current step of indexing and its progress; absent while nothing is indexed."""
    failed: Optional[str]
    """Failure of the last attempt, such as a full disk; the attempt is repeated. Absent while nothing fails."""


class AddParams(TypedDict, total=False):
    title: Optional[str]
    """Title, at most 512 bytes; an empty one removes the title."""
    container: Optional[str]
    """Container of the memory, or `auto` for the name of the repository; for a new memory, the setting `memory.container` when absent."""
    tier: Optional[Tier]
    """Tier, which sets the lifetime from now on; `long` for a new memory when absent."""
    ttl: Optional[str]
    """Expiry: `3d`, `2h30m`, RFC 3339, a date, or `never` in an update; the tier decides when absent."""
    priority: Optional[int]
    """Priority, 1 to 10; 5 for a new memory when absent."""
    confidence: Optional[float]
    """Confidence, 0 to 1; 1 for a new memory when absent."""
    metadata: dict[str, Any]
    """An object. An update merges it into the old metadata key by key, and null removes a key."""
    allow_secret: bool
    """Whether to store a text that looks like a credential."""
    tags: list[str]
    """Tags, at most 50, each at most 128 bytes."""
    source: Optional[str]
    """Origin of the memory, if it is not the caller: `user`, `agent`, `hook` or `import`."""
    about: list[str]
    """Code that the memory is about: `PATH`, `PATH:10-20` or `PATH#SYMBOL`, with the path relative to `cwd` or absolute."""
    force: bool
    """Whether to store a near-duplicate of another memory in the container, as with `memory.refuse_near` off."""
    merge: bool
    """Whether to merge a near-duplicate into that other memory instead."""


class Contradicted(Record):
    id: str
    """Id of the memory."""
    container: str
    """Container."""
    created: str
    """Creation time."""
    line: str
    """Title, or the beginning of the first line, preceded by `[trust: repo]`, `[team]` and `[conflict: ours]` where they apply."""
    by: str
    """`numbers`, `negation` or `opposite` (a word such as `before` for `after`) if the texts are nearly the same except for these; `title` if the titles are similar."""
    cosine: Optional[float]
    """Cosine of the two memories, if it is the reason."""


class StoredVector(Record):
    model: str
    """Identity of the model."""
    text_hash: str
    """Hash of the title and content from which the vector was computed."""
    int8: list[int]
    """Values of the vector, times 127 and rounded."""


class Link(Record):
    kind: LinkKind
    """Kind of the link."""
    relation: str
    """Relation of the requested memory to this one: the word of `kind`, `superseded_by` or `source_of`."""
    id: str
    """Id of the memory."""
    container: str
    """Container."""
    created: str
    """Creation time."""
    line: str
    """Title, or the beginning of the first line, preceded by `[trust: repo]`, `[team]` and `[conflict: ours]` where they apply."""
    archived: bool
    """Whether the other end is archived."""
    linked: str
    """Creation time."""


class Memory(Record):
    id: str
    """Id: `mem_` and a ULID."""
    content: str
    """Text."""
    title: Optional[str]
    """Title."""
    container: str
    """Container."""
    tags: list[str]
    """Tags, sorted."""
    anchors: list[Anchor]
    """Code that the memory is about."""
    state: Optional[State]
    """State of that code in the caller's worktree."""
    tier: Tier
    """Lifetime."""
    expires_at: Optional[str]
    """Time of expiry."""
    priority: int
    """Priority, 1 to 10."""
    confidence: float
    """Confidence, 0 to 1."""
    source: str
    """Origin of the memory: `cli`, `api`, `agent`, `hook`, `user`, `import`, `consolidation`, or the word that an import gave."""
    author: str
    """Author, from git's settings."""
    agent: Optional[str]
    """Name of the agent that added the memory, as given by the agent."""
    created: str
    """Creation time."""
    updated: str
    """Time of the last change."""
    last_access: Optional[str]
    """Time of the last recall."""
    access_count: int
    """Number of recalls."""
    metadata: dict[str, Any]
    """Data that the author attached."""
    archived_at: Optional[str]
    """Time of archiving."""
    archived_why: Optional[str]
    """Reason for archiving: `forgotten`, `expired`, `consolidated`, `replaced` by an import, `file` (no worktree has its file any more), or `unreadable` (its file is no longer a memory)."""
    key: Optional[str]
    """Source of an import, such as `import:/docs/a.md` or `repo-map:/map.json`."""
    shared: bool
    """Whether a file in the worktree is authoritative."""
    scope: Scope
    """Scope in which the memory is shared."""
    repository: Optional[str]
    """Another repository of the team, if the memory belongs there; it can be changed only there."""
    trust: str
    """`own`, `import`, or, for a memory that this user has neither written nor confirmed, `repo` if it came with a file and `team` if it came from the team."""
    conflict: Optional[str]
    """`ours` or `theirs`, if the memory is a side of a conflict in its file or with the team."""
    superseded_by: list[str]
    """Ids of the living memories that supersede it; only for `memory.recall`."""
    vector: Optional[StoredVector]
    """Vector of the memory; only for `memory.export` with `include_vectors`."""
    links: Optional[list[Link]]
    """Links, oldest first; only for `memory.get`."""


class AddResult(Record):
    created: bool
    """Whether a memory was created. If not, the same text existed already, and nothing was changed unless `merged`."""
    merged: bool
    """Whether the text was merged into a memory that says nearly the same."""
    contradicted: list[Contradicted]
    """Memories that the new text may contradict."""
    redacted: int
    """Number of private parts that were removed."""
    doubt: Optional[str]
    """Warning that the stored text may be a credential, although it does not look like one."""
    memory: Memory
    """The stored memory."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class ListResult(Record):
    memories: list[Memory]
    """Memories, in the requested order."""
    total: int
    """Total number of memories, shown or not."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class ListParams(TypedDict, total=False):
    ids: list[str]
    """Ids; empty for any."""
    container: Optional[str]
    """Container."""
    tags: list[str]
    """Tags that must all be present."""
    tier: Optional[Tier]
    """Tier."""
    author: Optional[str]
    """Part of the author's name or address, ignoring case."""
    agent: Optional[str]
    """Part of the name of the agent that added the memory, ignoring case."""
    source: Optional[str]
    """Origin of the memory, such as `cli` or `import`."""
    min_priority: Optional[int]
    """Minimum priority."""
    scope: Optional[Scope]
    """Scope in which the memory is shared."""
    metadata: dict[str, Any]
    """Keys and values that the metadata must have."""
    since: Optional[str]
    """Only memories added (in the archive: archived) since this date, time or age, such as `3d` for three days ago."""
    until: Optional[str]
    """Only memories added (in the archive: archived) before this date, time or age; `before` is an alias."""
    match: Optional[str]
    """Words that must all occur in title, tags or content."""
    archived: bool
    """Whether to list archived instead of living memories."""
    state: list[State]
    """Only memories with anchors in one of these states; empty for any."""
    about: list[str]
    """Only memories about one of these: `PATH` (a directory includes everything below it), `PATH:FIRST-LAST`, `PATH#SYMBOL`, with the path relative to `cwd`, or the name of a definition; empty for any."""
    sort: Sort
    """Sort order."""
    limit: Optional[int]
    """Maximum number, 1 to 1,000; 20 when absent."""
    offset: int
    """Number of memories to skip."""


class UpdateParams(TypedDict, total=False):
    content: Optional[str]
    """New text."""
    append: Optional[str]
    """A paragraph to append to the text."""
    title: Optional[str]
    """Title, at most 512 bytes; an empty one removes the title."""
    container: Optional[str]
    """Container of the memory, or `auto` for the name of the repository; for a new memory, the setting `memory.container` when absent."""
    tier: Optional[Tier]
    """Tier, which sets the lifetime from now on; `long` for a new memory when absent."""
    ttl: Optional[str]
    """Expiry: `3d`, `2h30m`, RFC 3339, a date, or `never` in an update; the tier decides when absent."""
    priority: Optional[int]
    """Priority, 1 to 10; 5 for a new memory when absent."""
    confidence: Optional[float]
    """Confidence, 0 to 1; 1 for a new memory when absent."""
    metadata: dict[str, Any]
    """An object. An update merges it into the old metadata key by key, and null removes a key."""
    allow_secret: bool
    """Whether to store a text that looks like a credential."""
    replace_metadata: bool
    """Whether `metadata` replaces all former metadata."""
    add_tags: list[str]
    """Tags to add."""
    remove_tags: list[str]
    """Tags to remove."""
    add_about: list[str]
    """Code to add to the anchors, as in `about` of `memory.add`."""
    remove_about: list[str]
    """Code to remove from the anchors."""


class UpdateResult(Record):
    changed: list[str]
    """Names of changed fields."""
    redacted: int
    """Number of private parts that were removed."""
    doubt: Optional[str]
    """Warning that the stored text may be a credential, although it does not look like one."""
    memory: Memory
    """The stored memory."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class ForgetParams(TypedDict, total=False):
    container: Optional[str]
    """Container."""
    tags: list[str]
    """Tags that must all be present."""
    tier: Optional[Tier]
    """Tier."""
    author: Optional[str]
    """Part of the author's name or address, ignoring case."""
    agent: Optional[str]
    """Part of the name of the agent that added the memory, ignoring case."""
    source: Optional[str]
    """Origin of the memory, such as `cli` or `import`."""
    min_priority: Optional[int]
    """Minimum priority."""
    scope: Optional[Scope]
    """Scope in which the memory is shared."""
    metadata: dict[str, Any]
    """Keys and values that the metadata must have."""
    since: Optional[str]
    """Only memories added (in the archive: archived) since this date, time or age, such as `3d` for three days ago."""
    until: Optional[str]
    """Only memories added (in the archive: archived) before this date, time or age; `before` is an alias."""
    match: Optional[str]
    """Words that must all occur in title, tags or content."""
    dry_run: bool
    """Whether to report the memories, and change nothing."""
    expect: Optional[str]
    """The `digest` of a dry run, to remove exactly the memories that it showed, or none. `memory.reset` requires it unless `dry_run` is set, and so does a `memory.purge` without `ids`."""


class Brief(Record):
    id: str
    """Id of the memory."""
    container: str
    """Container."""
    created: str
    """Creation time."""
    line: str
    """Title, or the beginning of the first line, preceded by `[trust: repo]`, `[team]` and `[conflict: ours]` where they apply."""


class ForgetResult(Record):
    dry_run: bool
    """Whether this was a dry run."""
    memories: list[Brief]
    """The removed memories, newest first."""
    digest: str
    """Digest that identifies exactly these memories."""
    backup: Optional[str]
    """Path of the backup that `memory.reset` made before it deleted them."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class Tally(Record):
    name: str
    """Name of the tag, container or tier."""
    memories: int
    """Number of living memories."""


class TallyResult(Record):
    names: list[Tally]
    """Names, sorted by number of memories, then alphabetically."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class Change(Record):
    at: str
    """Time of the change."""
    action: str
    """`add`, `update`, `forget`, `expire`, `restore`, `salvage`, `unite`, `link`, `unlink`, `resolve`, `recall`, `promote` or `consolidate`."""
    author: str
    """Author."""
    source: str
    """Source: `cli` or `api`."""
    fields: dict[str, Any]
    """Changed fields, each with `[before, after]`."""


class HistoryResult(Record):
    id: str
    """Full id of the memory."""
    changes: list[Change]
    """Changes, oldest first."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class BackupInfo(Record):
    path: str
    """Path of the backup."""
    bytes: int
    """Size of the backup, bytes."""


class StatsResult(Record):
    living: int
    """Number of living memories."""
    archived: int
    """Number of forgotten and expired memories."""
    tiers: list[Tally]
    """Number of living memories by tier."""
    containers: list[Tally]
    """Number of living memories by container."""
    expiring: int
    """Number of living memories that expire within 24 hours."""
    next_end: Optional[str]
    """Time of the next expiry."""
    links: int
    """Number of links between living memories."""
    links_archived: int
    """Number of links with an archived end."""
    content_bytes: int
    """Size of all contents, including archived ones, bytes."""
    oldest: Optional[str]
    """Creation time of the oldest living memory."""
    newest: Optional[str]
    """Creation time of the newest living memory."""
    path: str
    """Path of the database."""
    bytes: int
    """Size of the database, including the write-ahead log, bytes."""
    elsewhere: list[str]
    """Other databases of this repository, from former locations of its state; their memories are merged."""
    backups: list[BackupInfo]
    """Backups, newest first."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class RecallParams(TypedDict, total=False):
    mode: Mode
    """Search mode."""
    container: Optional[str]
    """Only memories of this container."""
    tags: list[str]
    """Only memories with all of these tags."""
    since: Optional[str]
    """Only memories added since this date, time or age, such as `3d` for three days ago."""
    until: Optional[str]
    """Only memories added before this date, time or age."""
    tier: Optional[Tier]
    """Tier."""
    author: Optional[str]
    """Part of the author's name or address, ignoring case."""
    agent: Optional[str]
    """Part of the name of the agent that added the memory, ignoring case."""
    source: Optional[str]
    """Origin of the memory, such as `cli` or `import`."""
    min_priority: Optional[int]
    """Minimum priority."""
    scope: Optional[Scope]
    """Scope in which the memory is shared."""
    metadata: dict[str, Any]
    """Keys and values that the metadata must have."""
    limit: Optional[int]
    """Maximum number of memories, 1 to 200; 10 when absent."""


class Recalled(Record):
    id: str
    """Id: `mem_` and a ULID."""
    content: str
    """Text."""
    title: Optional[str]
    """Title."""
    container: str
    """Container."""
    tags: list[str]
    """Tags, sorted."""
    anchors: list[Anchor]
    """Code that the memory is about."""
    state: Optional[State]
    """State of that code in the caller's worktree."""
    tier: Tier
    """Lifetime."""
    expires_at: Optional[str]
    """Time of expiry."""
    priority: int
    """Priority, 1 to 10."""
    confidence: float
    """Confidence, 0 to 1."""
    source: str
    """Origin of the memory: `cli`, `api`, `agent`, `hook`, `user`, `import`, `consolidation`, or the word that an import gave."""
    author: str
    """Author, from git's settings."""
    agent: Optional[str]
    """Name of the agent that added the memory, as given by the agent."""
    created: str
    """Creation time."""
    updated: str
    """Time of the last change."""
    last_access: Optional[str]
    """Time of the last recall."""
    access_count: int
    """Number of recalls."""
    metadata: dict[str, Any]
    """Data that the author attached."""
    archived_at: Optional[str]
    """Time of archiving."""
    archived_why: Optional[str]
    """Reason for archiving: `forgotten`, `expired`, `consolidated`, `replaced` by an import, `file` (no worktree has its file any more), or `unreadable` (its file is no longer a memory)."""
    key: Optional[str]
    """Source of an import, such as `import:/docs/a.md` or `repo-map:/map.json`."""
    shared: bool
    """Whether a file in the worktree is authoritative."""
    scope: Scope
    """Scope in which the memory is shared."""
    repository: Optional[str]
    """Another repository of the team, if the memory belongs there; it can be changed only there."""
    trust: str
    """`own`, `import`, or, for a memory that this user has neither written nor confirmed, `repo` if it came with a file and `team` if it came from the team."""
    conflict: Optional[str]
    """`ours` or `theirs`, if the memory is a side of a conflict in its file or with the team."""
    superseded_by: list[str]
    """Ids of the living memories that supersede it; only for `memory.recall`."""
    vector: Optional[StoredVector]
    """Vector of the memory; only for `memory.export` with `include_vectors`."""
    links: Optional[list[Link]]
    """Links, oldest first; only for `memory.get`."""
    score: float
    """Score, 0 to 1."""
    changed: dict[str, Any]
    """Fields that the recall changed: `{field: [before, after]}`; empty if the memory is only remotely similar to the query."""


class RecallResult(Record):
    memories: list[Recalled]
    """Memories, best first."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class ConsolidateParams(TypedDict, total=False):
    title: Optional[str]
    """Title of the new memory."""
    container: Optional[str]
    """Container of the new memory; the common container of all originals when absent."""
    allow_secret: bool
    """Whether to store a text that looks like a credential."""


class ConsolidatedGroup(Record):
    memory: Brief
    """The new memory; its id is empty in a dry run."""
    tag: Optional[str]
    """The common tag, if the memories were grouped by it."""
    sources: list[Brief]
    """The originals, which are archived, oldest first."""
    refused: Optional[str]
    """Why the memories were not combined."""


class ConsolidateResult(Record):
    dry_run: bool
    """Whether this was a dry run."""
    redacted: int
    """Number of private parts that were removed from the summary."""
    groups: list[ConsolidatedGroup]
    """The groups; exactly one for `memory.consolidate`."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class LinkResult(Record):
    from_: Brief
    """The first memory."""
    to: Brief
    """The second memory."""
    changed: list[LinkKind]
    """Kinds of links that were added or removed; empty if nothing changed."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class Node(Record):
    id: str
    """Id of the memory."""
    container: str
    """Container."""
    created: str
    """Creation time."""
    line: str
    """Title, or the beginning of the first line, preceded by `[trust: repo]`, `[team]` and `[conflict: ours]` where they apply."""
    archived: bool
    """Whether the memory is archived."""
    depth: int
    """Minimum number of links from the requested memory; 0 for that memory."""


class Edge(Record):
    from_: str
    """Id of the first memory."""
    to: str
    """Id of the second memory."""
    kind: LinkKind
    """Relation of the first to the second."""
    linked: str
    """Creation time."""


class LinksResult(Record):
    memories: list[Node]
    """Memories, nearest first, beginning with the requested one."""
    links: list[Edge]
    """Links between these memories, oldest first."""
    more: bool
    """Whether more memories are within this depth than are listed."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class ResolveResult(Record):
    winner: Brief
    """The memory that holds."""
    loser: Brief
    """The memory that no longer holds."""
    linked: list[LinkKind]
    """Kinds of the new links."""
    changed: list[str]
    """Names of the changed fields of the memory that no longer holds."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class Related(Record):
    id: str
    """Id of the memory."""
    container: str
    """Container."""
    created: str
    """Creation time."""
    line: str
    """Title, or the beginning of the first line, preceded by `[trust: repo]`, `[team]` and `[conflict: ours]` where they apply."""
    cosine: Optional[float]
    """Cosine of the two memories; null if one has no vector."""
    relations: list[str]
    """Relations of the requested memory to this one."""


class RelatedResult(Record):
    id: str
    """Id of the requested memory."""
    memories: list[Related]
    """Linked memories, then others, nearest first."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class DedupeParams(TypedDict, total=False):
    container: Optional[str]
    """Only this container."""
    threshold: Optional[float]
    """Minimum cosine, 0.5 to 1; `memory.near_cosine` when absent."""


class Group(Record):
    keep: Brief
    """The memory that is proposed to stay."""
    merge: list[Brief]
    """Memories that are proposed to be merged into it."""
    cosine: float
    """Lowest cosine between neighbours in the group."""
    digest: str
    """Digest that identifies exactly these memories in their present versions."""


class DifferingPair(Record):
    older: Brief
    """The older memory."""
    newer: Brief
    """The newer memory."""
    by: str
    """`numbers`, `negation` or `opposite`, as in `Contradicted`."""
    cosine: float
    """Cosine of the two memories."""


class DedupeResult(Record):
    groups: list[Group]
    """Groups, largest first."""
    differing: list[DifferingPair]
    """The first pairs that are no near-duplicates, because their texts are nearly the same but differ in what they say. Linked memories are left out."""
    threshold: float
    """The minimum cosine that applied."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class MergeResult(Record):
    memory: Memory
    """The merged memory."""
    merged: list[Brief]
    """The archived memories."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


class BackupResult(Record):
    path: str
    """Path of the backup."""
    bytes: int
    """Size of the backup, bytes."""
    memories: int
    """Number of memories in the backup, including archived ones."""
    fresh: bool
    """Whether the answer includes everything that was written before the request; false if a file could not be read, or if the code that a memory is about is unknown."""
    reason: Optional[str]
    """Why the answer is not fresh."""
    notice: Optional[str]
    """A notice for the user."""


PARAMS: dict[str, list[str]] = {
    "search": ["query", "mode", "sync", "kind", "only", "path", "lang", "container", "tag", "since", "until", "tier", "author", "agent", "source", "min_priority", "scope", "metadata", "threshold", "explain", "rerank", "expand", "full", "texts", "lines_before", "lines_after", "without", "limit", "wait_ms"],
    "brief": ["budget", "sync"],
    "map": ["budget", "paths", "focus", "sync"],
    "show": ["target", "sync", "wait_ms"],
    "outline": ["target", "depth", "limit", "sync", "wait_ms"],
    "refs": ["target", "limit", "with", "sync", "wait_ms"],
    "callers": ["target", "since", "query", "depth", "all", "limit", "with", "sync", "wait_ms"],
    "callees": ["target", "since", "query", "depth", "all", "limit", "with", "sync", "wait_ms"],
    "impact": ["target", "since", "query", "depth", "all", "limit", "with", "sync", "wait_ms"],
    "tests": ["target", "since", "query", "depth", "all", "limit", "with", "sync", "wait_ms"],
    "implements": ["target", "since", "query", "depth", "all", "limit", "with", "sync", "wait_ms"],
    "why": ["target", "limit"],
    "changed": ["since", "until", "path", "limit", "sync", "wait_ms"],
    "status": ["files", "skipped"],
    "sync": ["sync", "wait_ms"],
    "memory.add": ["content", "title", "container", "tier", "ttl", "priority", "confidence", "metadata", "allow_secret", "tags", "source", "about", "force", "merge"],
    "memory.get": ["ids"],
    "memory.list": ["ids", "container", "tags", "tier", "author", "agent", "source", "min_priority", "scope", "metadata", "since", "until", "match", "archived", "state", "about", "sort", "limit", "offset"],
    "memory.update": ["id", "content", "append", "title", "container", "tier", "ttl", "priority", "confidence", "metadata", "allow_secret", "replace_metadata", "add_tags", "remove_tags", "add_about", "remove_about"],
    "memory.confirm": ["id"],
    "memory.forget": ["ids", "container", "tags", "tier", "author", "agent", "source", "min_priority", "scope", "metadata", "since", "until", "match", "dry_run", "expect"],
    "memory.restore": ["ids"],
    "memory.purge": ["ids", "container", "tags", "tier", "author", "agent", "source", "min_priority", "scope", "metadata", "since", "until", "match", "dry_run", "expect"],
    "memory.tags": [],
    "memory.containers": [],
    "memory.history": ["ids"],
    "memory.stats": [],
    "memory.recall": ["query", "mode", "container", "tags", "since", "until", "tier", "author", "agent", "source", "min_priority", "scope", "metadata", "limit"],
    "memory.promote": ["id", "to"],
    "memory.consolidate": ["ids", "title", "summary", "container", "allow_secret"],
    "memory.link": ["from", "to", "kind"],
    "memory.unlink": ["from", "to", "kind"],
    "memory.links": ["id", "depth"],
    "memory.resolve": ["winner", "loser"],
    "memory.related": ["id", "limit"],
    "memory.dedupe": ["container", "threshold"],
    "memory.merge": ["keep", "ids", "expect"],
    "memory.backup": ["path"],
}
"""The params of each method of `Memo`."""
