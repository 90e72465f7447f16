"""Does an `AsyncMemo` do what it says?"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import socket
import threading
import unittest
import warnings

from memod import AsyncMemo, BadParams, DaemonUnreachable, MemoError, NotFound

from . import indexed, kill, listening, reply, repository


class AsyncMemoTest(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.path = indexed("aio")

    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)  # it tells of each step of more than 0.1 s

    async def test_the_methods_are_those_of_memo(self) -> None:
        async with AsyncMemo(self.path, agent="tester") as memo:
            id = (await memo.add("deploys go out on Tuesdays", tags=["ops"])).memory.id
            self.assertEqual((await memo.get(id)).agent, "tester")
            self.assertEqual((await memo.search("expiry", kind=["doc"])).hits[0].path, "docs/auth.md")
            with self.assertRaises(NotFound):
                await memo.get("mem_0000")
            with self.assertRaises(BadParams):
                await memo.call("search")
            self.assertEqual((await memo.forget(id)).memories[0].id, id)

    async def test_200_searches_at_once(self) -> None:
        async with AsyncMemo(self.path) as memo:
            found = await asyncio.gather(*(memo.search(f"token {n}", limit=1) for n in range(200)))
            self.assertEqual([result.query for result in found], [f"token {n}" for n in range(200)])
            self.assertTrue(all(result.hits for result in found))

    async def test_a_killed_daemon_is_started_again_once_for_all(self) -> None:
        path = indexed("aio-killed")
        async with AsyncMemo(path) as memo:
            before = (await memo.status()).daemon.pid
            self.assertEqual(kill(path), before)
            pids = {status.daemon.pid for status in await asyncio.gather(*(memo.status() for _ in range(100)))}
            self.assertEqual(len(pids), 1)
            self.assertNotIn(before, pids)

    async def test_a_daemon_that_is_killed_meanwhile_loses_and_repeats_nothing(self) -> None:
        path = indexed("aio-killed-meanwhile")
        async with AsyncMemo(path) as memo:

            async def add(n: int) -> str:
                words = f"{n:08b}".replace("0", "zebra ").replace("1", "apple ")
                return (await memo.add(f"{words}{n}", force=True)).memory.id

            adding = [asyncio.create_task(add(n)) for n in range(100)]
            await asyncio.sleep(0.05)
            kill(path)
            ids = await asyncio.gather(*adding)
            listed = await memo.list(limit=1000)
            self.assertEqual(sorted(memory.id for memory in listed.memories), sorted(ids))

    async def test_answers_are_known_by_their_ids_and_64_calls_are_in_flight(self) -> None:
        path = repository("aio-order")
        most = 0

        def serve(peer: socket.socket, _: int) -> None:
            nonlocal most
            peer.settimeout(0.1)
            received = b""
            while True:
                with contextlib.suppress(socket.timeout):
                    while part := peer.recv(1 << 16):
                        received += part
                    return
                calls = [json.loads(line) for line in received.splitlines()]  # all that come without an answer
                received = b""
                most = max(most, len(calls))
                for call in reversed(calls):
                    reply(peer, id=call["id"], result={"n": call["params"]["n"]})

        with listening(path, serve):
            async with AsyncMemo(path) as memo:
                found = await asyncio.gather(*(memo.call("echo", n=n) for n in range(100)))
        self.assertEqual([result["n"] for result in found], list(range(100)))
        self.assertEqual(most, 64)

    async def test_a_call_that_is_cancelled_or_late_takes_nothing_from_the_others(self) -> None:
        path = repository("aio-late")

        def serve(peer: socket.socket, _: int) -> None:
            for line in peer.makefile("rb"):
                call = json.loads(line)
                if call["method"] == "answer":
                    reply(peer, id=call["id"] - 1, result="late")
                    reply(peer, id=call["id"], result="in time")

        with listening(path, serve):
            async with AsyncMemo(path, timeout=0.2) as memo:
                never = asyncio.create_task(memo.call("never"))
                await asyncio.sleep(0.05)
                self.assertEqual(await memo.call("answer"), "in time")
                self.assertEqual(await never, "late")
                never = asyncio.create_task(memo.call("never"))
                await asyncio.sleep(0.05)
                never.cancel()
                self.assertEqual(await memo.call("answer"), "in time")
                with self.assertRaisesRegex(DaemonUnreachable, "did not answer within 0.2 s"):
                    await memo.call("never")
                self.assertEqual(await memo.call("answer"), "in time")

    async def test_a_daemon_that_reads_nothing_is_given_up_in_time(self) -> None:
        path = indexed("aio-hanging")
        async with AsyncMemo(path, timeout=0.5) as memo:
            pid = (await memo.status()).daemon.pid
            os.kill(pid, signal.SIGSTOP)
            try:
                calls = (memo.search("x" * 5_000_000) for _ in range(5))  # more than a socket holds
                failed = await asyncio.gather(*calls, return_exceptions=True)
                self.assertEqual({type(error) for error in failed}, {DaemonUnreachable})
            finally:
                os.kill(pid, signal.SIGCONT)

    async def test_a_call_that_is_cancelled_leaves_the_others_their_connection(self) -> None:
        async with AsyncMemo(self.path) as memo:
            first, second = (asyncio.create_task(memo.status()) for _ in range(2))
            await asyncio.sleep(0)
            first.cancel()
            self.assertGreater((await second).daemon.pid, 0)

    async def test_a_connection_over_the_limit_is_tried_again(self) -> None:
        path = repository("aio-busy")

        def serve(peer: socket.socket, n: int) -> None:
            if n < 3:
                reply(peer, id=None, error={"code": -32000, "message": "full", "data": {"retry_after_ms": 5}})
                return
            for line in peer.makefile("rb"):
                reply(peer, id=json.loads(line)["id"], result="at last")

        with listening(path, serve):
            async with AsyncMemo(path) as memo:
                self.assertEqual(await asyncio.gather(*(memo.call("any") for _ in range(10))), ["at last"] * 10)

    async def test_calls_in_progress_end_with_the_client(self) -> None:
        path = repository("aio-closed")
        asked, n_connections = threading.Semaphore(0), 0

        def serve(peer: socket.socket, n: int) -> None:
            nonlocal n_connections
            n_connections = n + 1
            for _ in peer.makefile("rb"):
                asked.release()

        with listening(path, serve):
            async with AsyncMemo(path) as memo:
                calls = [asyncio.create_task(memo.call("never")) for _ in range(3)]
                for _ in calls:
                    await asyncio.to_thread(asked.acquire)
            for ended in await asyncio.gather(*calls, return_exceptions=True):
                self.assertIsInstance(ended, MemoError)
                self.assertIn("the client was closed before the answer came", str(ended))
        self.assertEqual(n_connections, 1)

    async def test_what_is_not_an_answer_is_said(self) -> None:
        path = repository("aio-garbage")

        def serve(peer: socket.socket, _: int) -> None:
            peer.recv(1 << 16)
            peer.sendall(b"HTTP/1.1 400 Bad Request\r\n")
            peer.recv(1)

        with listening(path, serve):
            async with AsyncMemo(path) as memo:
                with self.assertRaisesRegex(MemoError, "scripted-aio-garbage: not an answer"):
                    await memo.call("any")

    def test_another_loop_has_another_connection(self) -> None:
        shared = [AsyncMemo(self.path)]

        async def search() -> str:
            return (await shared[0].search("expiry", limit=1)).query

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # the connection of the first loop ends with it
            self.assertEqual([asyncio.run(search()) for _ in range(2)], ["expiry"] * 2)
            shared.clear()
            gc.collect()


if __name__ == "__main__":
    unittest.main()
