"""Makes requests and reads answers; it opens no connection, so both clients share it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any, Callable, Generic, Optional, TypeVar, Union

from ._errors import BadParams, Busy, ConnectionLost, MemoError, of_daemon

R = TypeVar("R")

MAX_LINE = 8 << 20
"""Longest line that the daemon reads, bytes with its end."""
MAX_DEPTH = 64
"""Most levels of JSON that it reads."""
MAX_NUMBER = 1 << 64
"""Whole numbers from this size on are refused here: the daemon reads them as others, or not at all."""
MAX_ANSWER = 256 << 20
"""Longest line that is read, bytes."""
MAX_IN_FLIGHT = 64
"""Most calls that one connection may have in progress."""
RETRY_FOR_S = 30.0
"""Time for which a call is repeated that the daemon refuses for now, as `memo` does."""
MOST_RECONNECTS = 2


class Call(Generic[R]):
    """A call to be made: a method of the daemon with its params, and what reads the result."""

    def __init__(self, method: str, read: Callable[[dict[str, Any]], R], params: Mapping[str, Any]) -> None:
        if not isinstance(method, str):  # pyright: ignore[reportUnnecessaryIsInstance] # for callers without types
            raise BadParams(f"method: expected a string, got {method!r}", code=-32602)
        self.method, self.read = method, read
        # `from_` and `with_` are keywords of Python without the last character; what is None has its default.
        self.params = {key.rstrip("_"): value for key, value in params.items() if value is not None}

    def wait_s(self) -> float:
        """Returns how long the daemon may wait for freshness before it begins to answer."""
        wait_ms = self.params.get("wait_ms", 0)
        return min(wait_ms, MAX_NUMBER) / 1000 if isinstance(wait_ms, (int, float)) else 0.0


class Request:
    """A call as it is sent, the same each time it is sent again."""

    def __init__(self, call: Call[Any], caller: Mapping[str, Any]) -> None:
        self.method = call.method
        self.params = {**caller, **call.params}
        if call.method.startswith("memory."):
            # The daemon answers a request again that it has carried out, instead of carrying it out twice.
            self.params.setdefault("request", os.urandom(16).hex())

    def line(self, id: int) -> bytes:
        """Returns the line to send.

        Raises BadParams for what the daemon could not read: it would answer without an id, or not at all.
        """
        call = {"jsonrpc": "2.0", "id": id, "method": self.method, "params": self.params}
        try:
            if depth(call) > MAX_DEPTH:
                raise ValueError(f"nested deeper than {MAX_DEPTH}")
            # Separators without blanks; a lone surrogate is an error of `encode`.
            text = json.dumps(call, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            line = text.encode() + b"\n"
        except (TypeError, ValueError, RecursionError) as error:
            raise BadParams(f"{self.method}: the params cannot be sent as JSON: {error}", code=-32602) from error
        if len(line) > MAX_LINE:
            message = f"{self.method}: the params have {len(line):,} bytes, over {MAX_LINE:,}"
            raise BadParams(message, "send it in parts", -32602)
        return line


def depth(value: Any) -> int:
    """Returns the number of levels of a value of JSON; raises ValueError for a number that is too large to be read."""
    if isinstance(value, int) and abs(value) >= MAX_NUMBER:
        raise ValueError("a number of more than 64 bits")
    if isinstance(value, dict):
        value = value.values()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    elif not isinstance(value, (list, tuple)):
        return 0
    return 1 + max(map(depth, value), default=0)  # pyright: ignore[reportUnknownArgumentType]


def parse(line: Union[bytes, bytearray], socket: str) -> dict[str, Any]:
    """Reads an answer or an event."""
    try:
        message = json.loads(line)
    except ValueError as error:
        raise MemoError(f"{socket}: not an answer: {error}", code="garbage") from error
    if not isinstance(message, dict):
        raise MemoError(f"{socket}: not an answer: {line[:80]!r}", code="garbage")
    return message  # pyright: ignore[reportUnknownVariableType] # keys of JSON are strings


def result(answer: dict[str, Any]) -> Any:
    """Returns the result of an answer, or raises its error."""
    error: Optional[dict[str, Any]] = answer.get("error")
    if error is not None:
        raise of_daemon(error)
    return answer.get("result")


class Retries:
    """Decides whether a call is made again."""

    def __init__(self, timeout_s: float) -> None:
        self.give_up = time.monotonic() + min(RETRY_FOR_S, timeout_s)
        self.n_lost = 0

    def delay_s(self, error: MemoError) -> float:
        """Returns how long to wait before the call is made again, or raises the error if it is not."""
        if isinstance(error, Busy) and time.monotonic() < self.give_up:
            return error.retry_after_s
        if isinstance(error, ConnectionLost) and time.monotonic() < self.give_up:
            is_stopping = error.code == -32002  # which says nothing about the next daemon
            self.n_lost += not is_stopping
            if self.n_lost <= MOST_RECONNECTS:
                return 0.02 if is_stopping else 0.0
        raise error
