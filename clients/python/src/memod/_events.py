"""Says what an event of the daemon is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, Optional

from ._errors import MemoError
from ._rpc import Call

Topic = Literal["progress", "views", "memories", "drift"]


class Event(NamedTuple):
    """Something that happened in the repository.

    - `progress`: what is being indexed; data `worktree`, `progress` (None at the end)
    - `views`: the index of a worktree changed; data `worktree`, `head`, `fresh`, `reason`
    - `memories`: memories changed; data `ids`, `change`
    - `drift`: code that memories are about changed; data `worktree`, `drifted`, `orphaned`
    - `lost`: the reader was too slow, so events are missing; data `n`. It comes whatever the topics are.
    """

    topic: str
    time: str
    data: dict[str, Any]


def subscribe(topics: Optional[Iterable[Topic]]) -> Call[list[str]]:
    """Builds the call after which events come on the same connection; the result are the topics."""
    params = {"topics": None if topics is None else [*topics]}
    return Call("subscribe", lambda subscribed: list(subscribed["topics"]), params)


def explained(error: MemoError, version: str) -> MemoError:
    """Returns the error of a subscription, said in other words where the daemon is too old for it."""
    if error.code != -32601:
        return error
    return MemoError(f"the daemon is version {version}, which sends no events", "install a newer memod", error.code)


def event(message: dict[str, Any]) -> Optional[Event]:
    """Returns the event in a message; None if it is something else."""
    if message.get("method") != "event":
        return None
    data = dict(message.get("params") or {})
    return Event(data.pop("topic", ""), data.pop("time", ""), data)
