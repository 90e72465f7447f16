"""Has the methods of both clients, each written once.

A method here only builds a call. Read from a `Memo`, it makes the call and returns the result; read from an
`AsyncMemo`, it returns a coroutine that does. Type checkers see the same.
"""

from __future__ import annotations

import functools
from types import MethodType
from typing import TYPE_CHECKING, Any, Callable, Generic, Optional, TypeVar, overload

from . import types
from ._record import Record
from ._rpc import Call

R = TypeVar("R")
T = TypeVar("T", bound=Record)
if TYPE_CHECKING:  # since Python 3.10 and 3.11, and only type checkers look at them
    from collections.abc import Coroutine

    from typing_extensions import Concatenate, ParamSpec, Unpack

    from ._aio import AsyncMemo
    from ._client import Memo

    P = ParamSpec("P")
else:
    P = TypeVar("P")


class method(Generic[P, R]):
    """A method of both clients."""

    def __init__(self, build: Callable[Concatenate[Any, P], Call[R]]) -> None:
        self.build = build
        functools.update_wrapper(self, build)  # type: ignore[arg-type] # sets the name and the docstring

    @overload
    def __get__(self, memo: None, owner: Any) -> Callable[Concatenate[Any, P], Call[R]]: ...
    @overload
    def __get__(self, memo: Memo, owner: Any) -> Callable[P, R]: ...
    @overload
    def __get__(self, memo: AsyncMemo, owner: Any) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(self, memo: Any, owner: Any = None) -> Any:
        if memo is None:
            return self.build
        build: Any = MethodType(self.build, memo)
        return functools.update_wrapper(lambda *args, **params: memo.make(build(*args, **params)), build)


def call(name: str, kind: type[T], /, **params: Any) -> Call[T]:
    """Builds a call whose result is of a type.

    The daemon ignores a param that it does not know, so it is refused here.
    """
    unknown = [param for param in params if param.rstrip("_") not in types.PARAMS[name]]
    if unknown:
        raise TypeError(f"{name} has no param {', '.join(unknown)}; it has {', '.join(types.PARAMS[name])}")
    return Call(name, kind.from_json, params)


class Methods:
    """The methods of the daemon. Each takes the params of docs/src/reference/protocol-reference.md by their names.

    `sync` says how fresh an answer must be, and `wait_ms` how long to wait for that: see docs/src/reference/freshness.md.
    """

    @method
    def call(self, method: str, /, **params: Any) -> Call[Any]:
        """Calls any method of the daemon and returns its result as JSON has it. `cwd` need not be given.

        >>> memo.call("complete", what="lang", begins="py")["words"]
        ['python']
        """
        return Call(method, lambda result: result, params)

    # Search

    @method
    def search(self, query: str, **params: Unpack[types.SearchParams]) -> Call[types.SearchResult]:
        """Searches documents, definitions, commits and memories by words and by meaning.

        >>> found = memo.search("when does a token expire", kind=["doc"], limit=1)
        >>> [(hit.path, hit.lines, hit.title) for hit in found.hits]
        [('docs/auth.md', (5, 7), 'Authentication > Expiry')]
        """
        return call("search", types.SearchResult, query=query, **params)

    @method
    def show(self, target: str, **params: Unpack[types.ShowParams]) -> Call[types.ShowResult]:
        """Returns a file, lines of it, or a definition: `PATH`, `PATH:10-20`, `PATH#NAME` or a name.

        >>> memo.show("src/session.py#decode").parts[0].lines
        (10, 12)
        """
        return call("show", types.ShowResult, target=target, **params)

    @method
    def outline(self, target: str, **params: Unpack[types.OutlineParams]) -> Call[types.OutlineResult]:
        """Lists what a file defines, or the sections of a document.

        >>> [item.text for item in memo.outline("docs/auth.md").items]
        ['Authentication', 'Expiry']
        """
        return call("outline", types.OutlineResult, target=target, **params)

    @method
    def map(self, **params: Unpack[types.MapParams]) -> Call[types.MapResult]:
        """Returns the most important signatures of the code within a budget of tokens.

        >>> memo.map(budget=200).files
        2
        """
        return call("map", types.MapResult, **params)

    @method
    def brief(self, **params: Unpack[types.BriefParams]) -> Call[types.BriefResult]:
        """Returns what to know before work begins, within a budget of tokens."""
        return call("brief", types.BriefResult, **params)

    # Uses

    @method
    def refs(self, target: str, **params: Unpack[types.RefsParams]) -> Call[types.RefsResult]:
        """Lists the uses of a definition, and says how sure each is.

        >>> [(use.path, use.line, use.certainty) for use in memo.refs("decode").uses]
        [('src/session.py', 7, 'exact')]
        """
        return call("refs", types.RefsResult, target=target, **params)

    @method
    def callers(self, target: str, **params: Unpack[types.CallsParams]) -> Call[types.ReachResult]:
        """Lists the definitions that call a function or use a type.

        >>> [caller.title for caller in memo.callers("decode").found]
        ['verify']
        """
        return call("callers", types.ReachResult, target=target, **params)

    @method
    def callees(self, target: str, **params: Unpack[types.CallsParams]) -> Call[types.ReachResult]:
        """Lists the definitions that a function calls.

        >>> [callee.title for callee in memo.callees("verify").found]
        ['decode']
        """
        return call("callees", types.ReachResult, target=target, **params)

    @method
    def impact(self, target: Optional[str] = None, **params: Unpack[types.ReachParams]) -> Call[types.ReachResult]:
        """Lists what depends on a definition, a file, or a change: `since` a revision.

        >>> [reached.title for reached in memo.impact("decode").found]
        ['verify', 'test_verify']
        """
        return call("impact", types.ReachResult, target=target, **params)

    @method
    def tests(self, target: Optional[str] = None, **params: Unpack[types.ReachParams]) -> Call[types.ReachResult]:
        """Lists the tests that reach a definition, a file, or a change: `since` a revision.

        >>> [test.path for test in memo.tests("decode").found]
        ['tests/test_session.py']
        """
        return call("tests", types.ReachResult, target=target, **params)

    @method
    def implements(self, target: str, **params: Unpack[types.CallsParams]) -> Call[types.ReachResult]:
        """Lists the types that extend or implement a class, an interface or a trait."""
        return call("implements", types.ReachResult, target=target, **params)

    # History

    @method
    def changed(self, since: Optional[str] = None, **params: Unpack[types.ChangedParams]) -> Call[types.ChangedResult]:
        """Lists the files and definitions that changed since a revision or a time; since `HEAD` when absent.

        >>> memo.changed().files
        []
        """
        return call("changed", types.ChangedResult, since=since, **params)

    @method
    def why(self, target: str, **params: Unpack[types.WhyParams]) -> Call[types.WhyResult]:
        """Returns the memories about a piece of code and the commits that shaped it.

        >>> [commit.subject for commit in memo.why("src/session.py#decode").commits]
        ['add sessions']
        """
        return call("why", types.WhyResult, target=target, **params)

    # The daemon

    @method
    def status(self, **params: Unpack[types.StatusParams]) -> Call[types.StatusResult]:
        """Returns the state of the daemon and the index.

        >>> memo.status(files=True).files
        ['docs/auth.md', 'src/session.py', 'tests/test_session.py']
        """
        return call("status", types.StatusResult, **params)

    @method
    def sync(self, **params: Unpack[types.SyncParams]) -> Call[types.SyncResult]:
        """Brings the index up to date, and waits for that for at most `wait_ms`.

        >>> memo.sync(sync="full", wait_ms=60_000).fresh
        True
        """
        return call("sync", types.SyncResult, **params)

    # Memories

    @method
    def add(self, content: str, **params: Unpack[types.AddParams]) -> Call[types.AddResult]:
        """Adds a memory, which is on disk when this returns.

        A text that says nearly the same as another one is `BadParams`, unless `force` or `merge` is given.

        >>> added = memo.add("tokens are signed; the server keeps none", tags=["auth"], about=["src/session.py#verify"])
        >>> added.created, added.memory.tier, added.memory.anchors[0].symbol
        (True, 'long', 'verify')
        """
        return call("memory.add", types.AddResult, content=content, **params)

    @method
    def get(self, id: str) -> Call[types.Memory]:
        """Returns a memory with its links. An id may be shortened to a prefix that no other memory has.

        >>> memo.get(memo.add("deploys go out on Tuesdays").memory.id).content
        'deploys go out on Tuesdays'
        """
        return Call("memory.get", lambda found: types.Memory.from_json(found["memories"][0]), {"ids": [id]})

    @method
    def list(self, **params: Unpack[types.ListParams]) -> Call[types.ListResult]:
        """Lists memories, the newest first.

        >>> [memory.content for memory in memo.list(tags=["auth"]).memories]
        ['tokens are signed; the server keeps none']
        """
        return call("memory.list", types.ListResult, **params)

    @method
    def update(self, id: str, **params: Unpack[types.UpdateParams]) -> Call[types.UpdateResult]:
        """Changes the given fields of a memory.

        >>> memo.update(memo.list(limit=1).memories[0].id, priority=8, add_tags=["ops"]).changed
        ['priority', 'tags']
        """
        return call("memory.update", types.UpdateResult, id=id, **params)

    @method
    def confirm(self, id: str) -> Call[types.UpdateResult]:
        """Confirms that a memory still holds for the code that it is about."""
        return call("memory.confirm", types.UpdateResult, id=id)

    @method
    def recall(self, query: str, **params: Unpack[types.RecallParams]) -> Call[types.RecallResult]:
        """Searches memories, and extends the lifetime of what was found.

        >>> memo.recall("where are tokens kept", limit=1).memories[0].access_count
        1
        """
        return call("memory.recall", types.RecallResult, query=query, **params)

    @method
    def forget(self, *ids: str, **params: Unpack[types.ForgetParams]) -> Call[types.ForgetResult]:
        """Moves memories into the archive; `restore` brings them back.

        >>> forgotten = memo.forget(memo.add("the build takes four minutes").memory.id)
        >>> [memory.line for memory in forgotten.memories]
        ['the build takes four minutes']
        >>> memo.restore(forgotten.memories[0].id).total
        1
        """
        return call("memory.forget", types.ForgetResult, ids=[*ids], **params)

    @method
    def restore(self, *ids: str) -> Call[types.ListResult]:
        """Brings memories back from the archive."""
        return call("memory.restore", types.ListResult, ids=[*ids])

    @method
    def purge(self, *ids: str, **params: Unpack[types.ForgetParams]) -> Call[types.ForgetResult]:
        """Deletes archived memories for good."""
        return call("memory.purge", types.ForgetResult, ids=[*ids], **params)

    @method
    def promote(self, id: str, to: Optional[types.Tier] = None) -> Call[types.UpdateResult]:
        """Moves a memory up a tier, from `short` to `mid` to `long`, or to the given one."""
        return call("memory.promote", types.UpdateResult, id=id, to=to)

    @method
    def consolidate(
        self, *ids: str, summary: str, **params: Unpack[types.ConsolidateParams]
    ) -> Call[types.ConsolidateResult]:
        """Combines several memories into one, and archives the originals."""
        return call("memory.consolidate", types.ConsolidateResult, ids=[*ids], summary=summary, **params)

    @method
    def dedupe(self, **params: Unpack[types.DedupeParams]) -> Call[types.DedupeResult]:
        """Lists near-duplicate memories, as groups that `merge` takes."""
        return call("memory.dedupe", types.DedupeResult, **params)

    @method
    def merge(self, keep: str, *ids: str, expect: Optional[str] = None) -> Call[types.MergeResult]:
        """Merges memories into one that stays, and archives them."""
        return call("memory.merge", types.MergeResult, keep=keep, ids=[*ids], expect=expect)

    @method
    def link(self, from_: str, to: str, kind: types.LinkKind = "related_to") -> Call[types.LinkResult]:
        """Links a memory to another one.

        >>> one, other = (memory.id for memory in memo.list(limit=2).memories)
        >>> memo.link(one, other, "supersedes").changed
        ['supersedes']
        >>> [edge.kind for edge in memo.links(one).links]
        ['supersedes']
        >>> memo.unlink(one, other).changed
        ['supersedes']
        """
        return call("memory.link", types.LinkResult, from_=from_, to=to, kind=kind)

    @method
    def unlink(self, from_: str, to: str, kind: Optional[types.LinkKind] = None) -> Call[types.LinkResult]:
        """Removes the links from a memory to another one, of one kind or of any."""
        return call("memory.unlink", types.LinkResult, from_=from_, to=to, kind=kind)

    @method
    def links(self, id: str, depth: Optional[int] = None) -> Call[types.LinksResult]:
        """Lists the memories that are linked to one, over at most `depth` links."""
        return call("memory.links", types.LinksResult, id=id, depth=depth)

    @method
    def resolve(self, winner: str, loser: str) -> Call[types.ResolveResult]:
        """Decides which of two contradicting memories holds; the other one ranks below it from now on."""
        return call("memory.resolve", types.ResolveResult, winner=winner, loser=loser)

    @method
    def related(self, id: str, limit: Optional[int] = None) -> Call[types.RelatedResult]:
        """Lists the memories that are linked to one, then those that are near it in meaning."""
        return call("memory.related", types.RelatedResult, id=id, limit=limit)

    @method
    def tags(self) -> Call[types.TallyResult]:
        """Counts memories by tag."""
        return call("memory.tags", types.TallyResult)

    @method
    def containers(self) -> Call[types.TallyResult]:
        """Counts memories by container."""
        return call("memory.containers", types.TallyResult)

    @method
    def history(self, id: str) -> Call[types.HistoryResult]:
        """Lists every change of a memory, oldest first."""
        return call("memory.history", types.HistoryResult, ids=[id])

    @method
    def stats(self) -> Call[types.StatsResult]:
        """Counts memories, and says where they and their backups are."""
        return call("memory.stats", types.StatsResult)

    @method
    def backup(self, path: Optional[str] = None) -> Call[types.BackupResult]:
        """Copies all memories with their history into one new file, or next to the daemon's own backups."""
        return call("memory.backup", types.BackupResult, path=path)
