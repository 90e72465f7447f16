"""Calls the daemon and waits."""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Optional, TypeVar

from ._errors import ConnectionLost, MemoError
from ._events import Event, Topic, event, explained, subscribe
from ._methods import Methods
from ._repository import Repository, StrPath
from ._rpc import Call, Request, Retries, parse, result

R = TypeVar("R")


class Memo(Methods):
    """A client of the daemon of one repository.

    `repo` is a directory in it, by default the current one. Nothing is opened or started before the first call.
    `timeout` is the time that one answer may take, in seconds, without the `wait_ms` of the call. `agent` is the name
    of the agent that asks, if one does; it is stored with what it adds. `program` is the path of `memo`, which starts
    the daemon; by default it is that of this package, or else that in `PATH`.

    Threads may share a client. A call takes an idle connection or opens one, so calls of several threads run at the
    same time. A process that was forked opens connections of its own.

    >>> with Memo(repo) as client:
    ...     client.search("token", kind=["doc"]).hits[0].path
    'docs/auth.md'
    """

    def __init__(
        self,
        repo: Optional[StrPath] = None,
        *,
        timeout: float = 30.0,
        agent: Optional[str] = None,
        program: Optional[StrPath] = None,
    ) -> None:
        self.timeout = timeout
        self._repository = Repository(repo, agent, program)
        self._idle: deque[Connection] = deque()
        self._pid = os.getpid()

    @property
    def repo(self) -> str:
        """The directory, as an absolute path."""
        return self._repository.cwd

    def watch(self, topics: Optional[Iterable[Topic]] = None, *, timeout: Optional[float] = None) -> Watch:
        """Returns an iterator over what happens from now on, of all topics or the given ones: see `Event`.

        It ends when it is closed, and after `timeout` seconds without an event. It raises `ConnectionLost` when the
        daemon ends, which only the next call starts again.
        """
        call = subscribe(topics)
        request = Request(call, self._repository.caller)
        retries = Retries(self.timeout)
        while True:
            try:
                connection = Connection(self._repository, self.timeout)
                try:
                    return Watch(connection, call.read(connection.ask(request, self.timeout)), timeout)
                except MemoError as error:
                    connection.close()
                    raise explained(error, connection.endpoint.version) from None
            except MemoError as error:
                time.sleep(retries.delay_s(error))

    def make(self, call: Call[R]) -> R:
        """Makes a call, and makes it again where that may help; the methods do this."""
        request = Request(call, self._repository.caller)
        timeout_s = self.timeout + call.wait_s()
        retries = Retries(timeout_s)
        while True:
            try:
                return call.read(self._ask(request, timeout_s))
            except MemoError as error:
                time.sleep(retries.delay_s(error))

    def _ask(self, request: Request, timeout_s: float) -> Any:
        if self._pid != os.getpid():  # this process was forked, and the other one uses the connections
            self._pid = os.getpid()
            self.close()
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = Connection(self._repository, self.timeout)
        try:
            return connection.ask(request, timeout_s)
        except ConnectionLost:
            self.close()  # the other idle ones are lost too
            raise
        finally:
            if not connection.is_closed:
                self._idle.append(connection)

    def close(self) -> None:
        """Closes the idle connections. A later call opens one again."""
        while True:
            try:
                self._idle.pop().close()
            except IndexError:
                return

    def __enter__(self) -> Memo:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Watch(Iterator[Event]):
    """The events of a repository, one after the other. Another thread may close it."""

    def __init__(self, connection: Connection, topics: list[str], timeout: Optional[float]) -> None:
        self.topics, self.timeout = topics, timeout
        self._connection = connection

    def __next__(self) -> Event:
        deadline = None if self.timeout is None else time.monotonic() + self.timeout
        while not self._connection.is_closed:
            try:
                found = event(self._connection.receive(deadline))
            except (socket.timeout, ConnectionLost) as error:
                if isinstance(error, ConnectionLost) and not self._connection.is_closed:
                    self.close()
                    raise
                break
            if found:
                return found
        self.close()
        raise StopIteration

    def close(self) -> None:
        """Ends the iteration."""
        self._connection.shut_down()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Connection:
    """A connection on which one call at a time is made."""

    def __init__(self, repository: Repository, timeout_s: float) -> None:
        self.endpoint, self._peer = repository.connect(timeout_s)
        self._received = bytearray()
        self._last_id = 0
        self.is_closed = False

    def ask(self, request: Request, timeout_s: float) -> Any:
        """Sends a request and returns the result.

        The connection is closed unless it was answered: what comes late would be taken for the next answer.
        """
        self._last_id += 1
        line = request.line(self._last_id)
        is_answered = False
        try:
            self._send(line, timeout_s)
            answer = self.receive(time.monotonic() + timeout_s)
            is_answered = answer.get("id") == self._last_id
            return result(answer)
        except socket.timeout:
            raise self.endpoint.hung(timeout_s) from None
        finally:
            if not is_answered:
                self.close()

    def _send(self, line: bytes, timeout_s: float) -> None:
        self._peer.settimeout(timeout_s)
        try:
            self._peer.sendall(line)
        except ConnectionError:
            pass  # it is closed, but the reason may still be there to read

    def receive(self, deadline: Optional[float]) -> dict[str, Any]:
        """Returns the next message.

        Raises `socket.timeout` after the deadline, and `ConnectionLost` at the end.
        """
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            left_s = None if deadline is None else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                raise socket.timeout
            try:
                self._peer.settimeout(left_s)
                received = self._peer.recv(1 << 18)
            except socket.timeout:
                raise
            except OSError:
                received = b""
            if not received:
                raise self.endpoint.lost()
            self._received += received
        line = self._received[:end]
        del self._received[: end + 1]
        return parse(line, self.endpoint.socket)

    def close(self) -> None:
        """Closes the connection in this process."""
        self.is_closed = True
        self._peer.close()

    def shut_down(self) -> None:
        """Closes the connection, and ends a `receive` of another thread."""
        if not self.is_closed:
            self.is_closed = True
            try:
                self._peer.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the daemon has closed it
            self._peer.close()
