"""Searches a git repository by words and by meaning, and keeps memories about it.

This package speaks with `memod`, the background daemon of a repository, and starts it if none runs. It needs nothing
but the standard library.

>>> from memod import Memo
>>> with Memo(repo) as memo:
...     for hit in memo.search("how long does a token last", kind=["doc"], limit=1).hits:
...         print(hit.path, hit.lines, hit.title)
docs/auth.md (5, 7) Authentication > Expiry
"""

from typing import TYPE_CHECKING, Any

from . import types
from ._client import Memo, Watch
from ._errors import BadParams, Busy, ConnectionLost, DaemonUnreachable, MemoError, NoRepository, NotFound
from ._events import Event
from ._repository import VERSION as __version__
from .types import Hit, Memory

if TYPE_CHECKING:
    from ._aio import AsyncMemo, AsyncWatch

__all__ = [
    "AsyncMemo",
    "AsyncWatch",
    "BadParams",
    "Busy",
    "ConnectionLost",
    "DaemonUnreachable",
    "Event",
    "Hit",
    "MemoError",
    "Memo",
    "Memory",
    "NoRepository",
    "NotFound",
    "Watch",
    "__version__",
    "types",
]


def __getattr__(name: str) -> Any:
    """Imports the clients for asyncio when they are asked for: asyncio takes longer than everything else here."""
    if name in ("AsyncMemo", "AsyncWatch"):
        from . import _aio

        return getattr(_aio, name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
