"""Calls the daemon and lets other tasks run meanwhile."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable
from typing import Any, Optional, TypeVar

from ._errors import ConnectionLost, MemoError
from ._events import Event, Topic, event, explained, subscribe
from ._methods import Methods
from ._repository import Endpoint, Repository, StrPath
from ._rpc import MAX_ANSWER, MAX_IN_FLIGHT, Call, Request, Retries, parse, result

R = TypeVar("R")


class AsyncMemo(Methods):
    """A client for asyncio with the methods of `Memo`, each of which is awaited. The params are those of `Memo`.

    Any number of calls may be in progress. They share one connection, on which the daemon takes 64 at a time; the
    others wait for their turn, and the time that an answer may take begins with it. A client belongs to one thread; in
    another event loop it opens another connection.
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
        self._opening: Optional[asyncio.Task[Connection]] = None

    @property
    def repo(self) -> str:
        """The directory, as an absolute path."""
        return self._repository.cwd

    def watch(self, topics: Optional[Iterable[Topic]] = None, *, timeout: Optional[float] = None) -> AsyncWatch:
        """Returns an asynchronous iterator over what happens from now on: see `Memo.watch`.

        Events come once it is entered (`async with`), or else with the first step of the iteration.
        """
        return AsyncWatch(self._repository, self.timeout, topics, timeout)

    async def make(self, call: Call[R]) -> R:
        """Makes a call, and makes it again where that may help; the methods do this."""
        request = Request(call, self._repository.caller)
        timeout_s = self.timeout + call.wait_s()
        retries = Retries(timeout_s)
        while True:
            try:
                connection = await self._connection()
                return call.read(await connection.ask(request, timeout_s))
            except MemoError as error:
                await asyncio.sleep(retries.delay_s(error))

    async def _connection(self) -> Connection:
        """Returns the open connection. Calls that need one at the same time open it once."""
        loop = asyncio.get_running_loop()
        opening = self._opening
        if opening is None or opening.get_loop() is not loop or is_over(opening):
            opening = self._opening = loop.create_task(connected(self._repository, self.timeout))
        # A call that is cancelled must not take the connection from the others.
        return await asyncio.shield(opening)

    async def close(self) -> None:
        """Closes the connection. A later call opens one again."""
        opening, self._opening = self._opening, None
        if opening is not None and opening.get_loop() is asyncio.get_running_loop() and not is_over(opening):
            (await opening).close()

    async def __aenter__(self) -> AsyncMemo:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncWatch(AsyncIterator[Event]):
    """The events of a repository, one after the other. They have their own connection: a slow reader slows no call."""

    def __init__(
        self,
        repository: Repository,
        timeout_s: float,
        topics: Optional[Iterable[Topic]],
        timeout: Optional[float],
    ) -> None:
        self.timeout = timeout
        self.topics: list[str] = []
        self._repository, self._timeout_s, self._call = repository, timeout_s, subscribe(topics)
        self._stream: Optional[Stream] = None
        self._is_closed = False

    async def __anext__(self) -> Event:
        stream = self._stream or await self._subscribe()
        while not self._is_closed:
            try:
                message = await asyncio.wait_for(stream.receive(), self.timeout)
            except asyncio.TimeoutError:
                break
            except ConnectionLost:
                if self._is_closed:
                    break
                self.close()
                raise
            if found := event(message):
                return found
        self.close()
        raise StopAsyncIteration

    async def _subscribe(self) -> Stream:
        retries = Retries(self._timeout_s)
        while True:
            try:
                stream = await opened(self._repository, self._timeout_s)
                try:
                    await stream.send(Request(self._call, self._repository.caller).line(1))
                    answer = await asyncio.wait_for(stream.receive(), self._timeout_s)
                    self.topics = self._call.read(result(answer))
                    self._stream = stream
                    return stream
                except asyncio.TimeoutError:
                    hung = stream.endpoint.hung(self._timeout_s)
                except MemoError as error:
                    raise explained(error, stream.endpoint.version) from None
                finally:
                    if not self._stream:
                        stream.close()
            except MemoError as error:
                await asyncio.sleep(retries.delay_s(error))
            else:
                raise hung

    def close(self) -> None:
        """Ends the iteration."""
        self._is_closed = True
        if self._stream:
            self._stream.close()

    async def __aenter__(self) -> AsyncWatch:
        await self._subscribe()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class Connection:
    """A connection on which many calls are made at a time; the answers are known by their ids."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._places = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._last_id = 0
        self._failure: Optional[MemoError] = None
        self._reader = asyncio.get_running_loop().create_task(self._read())

    @property
    def is_closed(self) -> bool:
        """Whether no further call can be made."""
        return self._failure is not None

    async def ask(self, request: Request, timeout_s: float) -> Any:
        """Sends a request and returns the result."""
        async with self._places:
            if self._failure:
                raise self._failure
            self._last_id += 1
            id = self._last_id
            line = request.line(id)
            answer = self._waiting[id] = asyncio.get_running_loop().create_future()
            try:
                return result(await asyncio.wait_for(self._exchange(line, answer), timeout_s))
            except asyncio.TimeoutError:
                raise self._stream.endpoint.hung(timeout_s) from None
            finally:
                del self._waiting[id]

    async def _exchange(self, line: bytes, answer: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
        await self._stream.send(line)
        return await answer

    async def _read(self) -> None:
        try:
            while True:
                message = await self._stream.receive()
                id = message.get("id")
                if id is None and "method" not in message:
                    result(message)  # raises why the daemon closes the connection
                answer = self._waiting.get(id) if isinstance(id, int) else None
                if answer and not answer.done():  # otherwise the caller has given up
                    answer.set_result(message)
        except MemoError as error:
            self._fail(error)

    def _fail(self, error: MemoError) -> None:
        self._failure = self._failure or error
        self._stream.close()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)

    def close(self) -> None:
        """Closes the connection; calls in progress fail."""
        self._fail(self._stream.endpoint.closed())
        self._reader.cancel()


class Stream:
    """Lines to and from the daemon."""

    def __init__(self, endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.endpoint, self._reader, self._writer = endpoint, reader, writer
        self._sending = asyncio.Lock()

    async def send(self, line: bytes) -> None:
        """Sends a line. It is sent as a whole, even if the caller is cancelled."""
        async with self._sending:  # before Python 3.11 only one task at a time may drain
            if not self._writer.is_closing():
                self._writer.write(line)
            try:
                await self._writer.drain()
            except ConnectionError:
                pass  # it is closed, but the reason may still be there to read

    async def receive(self) -> dict[str, Any]:
        """Returns the next message; raises `ConnectionLost` at the end."""
        try:
            line = await self._reader.readline()
        except ValueError as error:
            message = f"{self.endpoint.socket}: a line of more than {MAX_ANSWER:,} bytes"
            raise MemoError(message, code="garbage") from error
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise self.endpoint.lost()
        return parse(line, self.endpoint.socket)

    def close(self) -> None:
        """Closes the connection at once: what a hanging daemon does not read is not waited for."""
        self._writer.transport.abort()


async def connected(repository: Repository, timeout_s: float) -> Connection:
    """Opens a connection for calls."""
    return Connection(await opened(repository, timeout_s))


async def opened(repository: Repository, timeout_s: float) -> Stream:
    """Connects to the daemon, which is started where none runs. A thread does it, as it may take a while."""
    loop = asyncio.get_running_loop()
    endpoint, peer = await loop.run_in_executor(None, repository.connect, timeout_s)
    if sys.platform == "win32":  # never run so far
        peer.close()
        reader = asyncio.StreamReader(limit=MAX_ANSWER)
        protocol = asyncio.StreamReaderProtocol(reader)
        pipes: Any = loop  # only the loop of Windows has them
        transport, _ = await pipes.create_pipe_connection(lambda: protocol, endpoint.socket)
        return Stream(endpoint, reader, asyncio.StreamWriter(transport, protocol, reader, loop))
    return Stream(endpoint, *await asyncio.open_unix_connection(sock=peer, limit=MAX_ANSWER))


def is_over(opening: asyncio.Task[Connection]) -> bool:
    """Returns whether a connection cannot be used, because it was not opened or is closed."""
    if not opening.done():
        return False
    return opening.cancelled() or opening.exception() is not None or opening.result().is_closed
