"""Do events arrive? First from a script that stands in for the daemon, then from the daemon."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time
import unittest
from typing import Any

from memod import AsyncMemo, ConnectionLost, Event, Memo, MemoError

from . import indexed, listening, reply, repository


def events(peer: socket.socket, _: int) -> None:
    """Acts as the daemon: four events, two of which come at once, then silence until the other end closes."""
    call = json.loads(peer.makefile("rb").readline())
    topics = call["params"].get("topics") or ["progress", "views", "memories", "drift"]
    reply(peer, id=call["id"], result={"topics": topics, "worktree": call["params"]["cwd"]})

    def event(topic: str, **data: Any) -> None:
        if topic in topics or topic == "lost":
            reply(peer, method="event", params={"topic": topic, "time": "2026-11-25T03:00:00Z", **data})

    event("memories", ids=["mem_1"], change="add")
    event("lost", n=3)
    if "drift" in topics:
        peer.sendall(b'{"jsonrpc":"2.0","method":"event","params":{"topic":"drift","time":"","dri')
        time.sleep(0.05)
        peer.sendall(b'fted":1,"orphaned":0}}\n{"jsonrpc":"2.0","method":"other"}\n')
    event("views", worktree="/w", fresh=True)
    if call["params"].get("topics") != ["progress"]:
        peer.recv(1)


class ScriptTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.path = repository("events-script")

    def setUp(self) -> None:
        script = listening(self.path, events)
        script.__enter__()
        self.addCleanup(script.__exit__, None, None, None)

    def test_events_are_iterated(self) -> None:
        with Memo(self.path).watch(timeout=0.3) as watch:
            self.assertEqual(watch.topics, ["progress", "views", "memories", "drift"])
            found = list(watch)
        self.assertEqual(found[0], Event("memories", "2026-11-25T03:00:00Z", {"ids": ["mem_1"], "change": "add"}))
        self.assertEqual([event.topic for event in found], ["memories", "lost", "drift", "views"])
        self.assertEqual(found[2].data, {"drifted": 1, "orphaned": 0})
        self.assertEqual(list(watch), [])

    def test_topics_are_chosen(self) -> None:
        with Memo(self.path).watch(["views"], timeout=0.3) as watch:
            self.assertEqual([event.topic for event in watch], ["lost", "views"])

    def test_another_thread_closes_the_iterator(self) -> None:
        with Memo(self.path).watch() as watch:
            threading.Timer(0.2, watch.close).start()
            self.assertEqual(len(list(watch)), 4)

    def test_the_end_of_the_daemon_is_an_error(self) -> None:
        with Memo(self.path).watch(["progress"]) as watch, self.assertRaises(ConnectionLost):
            self.assertEqual(next(watch).topic, "lost")
            next(watch)

    def test_events_are_awaited(self) -> None:
        async def topics(**params: Any) -> list[str]:
            async with AsyncMemo(self.path).watch(**params) as watch:
                return [event.topic async for event in watch]

        self.assertEqual(asyncio.run(topics(timeout=0.3)), ["memories", "lost", "drift", "views"])
        self.assertEqual(asyncio.run(topics(topics=["views"], timeout=0.3)), ["lost", "views"])
        with self.assertRaises(ConnectionLost):
            asyncio.run(topics(topics=["progress"]))

    def test_an_iterator_that_is_not_entered_subscribes_by_itself(self) -> None:
        async def first() -> str:
            watch = AsyncMemo(self.path).watch()
            try:
                return (await watch.__anext__()).topic
            finally:
                watch.close()

        self.assertEqual(asyncio.run(first()), "memories")

    def test_a_task_that_waits_for_an_event_can_be_cancelled_and_goes_on(self) -> None:
        async def waited() -> list[str]:
            async with AsyncMemo(self.path).watch(["memories", "drift"]) as watch:
                found = [(await watch.__anext__()).topic for _ in range(2)]
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(watch.__anext__(), 0.01)  # while an event has come in part
                return [*found, (await watch.__anext__()).topic]

        self.assertEqual(asyncio.run(waited()), ["memories", "lost", "drift"])


class DaemonTest(unittest.TestCase):
    def test_the_daemon_tells_what_happens(self) -> None:
        path = indexed("events")
        with Memo(path) as memo:
            try:
                watch = memo.watch(timeout=10)
            except MemoError as error:
                if error.code != -32601:
                    raise
                print(f"\nNOT CHECKED: events of the daemon: {error}", file=sys.stderr)
                self.skipTest(str(error))
            with watch:
                id = memo.add("the daemon tells of this", about=["src/session.py#decode"]).memory.id
                told = next(event for event in watch if event.topic == "memories")
                self.assertIn(id, told.data["ids"])
                self.assertTrue(told.data["change"])
                session = path / "src/session.py"
                session.write_text(session.read_text("utf-8").replace('"."', '":"'), "utf-8")
                memo.sync(sync="full", wait_ms=60_000)
                waited = {"views", "drift"}
                for event in watch:
                    waited.discard(event.topic)
                    if not waited:
                        break
                self.assertEqual(waited, set())


if __name__ == "__main__":
    unittest.main()
