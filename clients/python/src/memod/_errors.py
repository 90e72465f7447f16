"""Lists the reasons for which a call has no result."""

from __future__ import annotations

from typing import Any, Optional, Union


class MemoError(Exception):
    """A call has failed.

    The subclasses say what a program can do about it; what none of them covers (a full disk, a damaged database) is
    this class itself.
    """

    code: Union[int, str]
    """The number that the daemon returned (docs/src/reference/protocol.md), or a word for what happened before."""
    message: str
    """What happened, to which path or param, and why."""
    hint: Optional[str]
    """What to do about it, if that is known."""

    def __init__(self, message: str, hint: Optional[str] = None, code: Union[int, str] = -32603) -> None:
        super().__init__(message, hint, code)
        self.message, self.hint, self.code = message, hint, code

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class NotFound(MemoError):
    """The named memory, definition or file does not exist."""


class BadParams(MemoError):
    """A param is missing or wrong, or was refused: a near-duplicate, a credential, a text that is too long."""


class NoRepository(MemoError):
    """The directory is missing, or is neither in a git repository nor indexed by `memo init`."""


class Busy(MemoError):
    """The daemon has too much to do, and the call was repeated in vain until its time was over."""

    retry_after_s: float = 0.02


class DaemonUnreachable(MemoError):
    """The daemon cannot be found, started or connected to, or does not answer in time."""


class ConnectionLost(DaemonUnreachable):
    """The daemon closed the connection before it answered, more than twice in a row; a `watch` raises it at once."""


CODES: dict[int, type[MemoError]] = {
    -32000: Busy,
    -32001: NoRepository,
    -32002: ConnectionLost,  # it is stopping, and closes the connection
    -32003: NotFound,
    -32602: BadParams,
}


def of_daemon(error: dict[str, Any]) -> MemoError:
    """Returns the exception of an error that the daemon returned."""
    data: dict[str, Any] = error.get("data") or {}
    code = int(error.get("code", -32603))
    found = CODES.get(code, MemoError)(str(error.get("message")), data.get("hint"), code)
    if isinstance(found, Busy) and "retry_after_ms" in data:
        found.retry_after_s = min(max(data["retry_after_ms"], 1), 5000) / 1000
    return found
