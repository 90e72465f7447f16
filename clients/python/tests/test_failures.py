"""What happens where something fails?"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

from memod import Busy, ConnectionLost, DaemonUnreachable, Memo, MemoError, NoRepository

from . import PROGRAMS, ROOT, indexed, kill, listening, reply, repository


class DaemonTest(unittest.TestCase):
    def test_a_killed_daemon_is_started_again(self) -> None:
        path = indexed("killed")
        with Memo(path) as memo:
            id = memo.add("what was acknowledged stays").memory.id
            before = memo.status().daemon.pid
            self.assertEqual(kill(path), before)
            self.assertEqual(memo.get(id).content, "what was acknowledged stays")
            self.assertNotEqual(memo.status().daemon.pid, before)

    def test_all_idle_connections_may_be_lost(self) -> None:
        path = indexed("killed-idle")
        with Memo(path) as memo:
            together = threading.Barrier(8)

            def status(_: int) -> int:
                together.wait()
                return memo.status().daemon.pid

            with ThreadPoolExecutor(8) as pool:
                before = set(pool.map(status, range(8)))
                kill(path)
                after = {memo.status().daemon.pid, *pool.map(status, range(8))}
            self.assertEqual((len(before), len(after), before & after), (1, 1, set()))

    def test_a_stopped_daemon_is_started_again(self) -> None:
        path = repository("stopped")
        with Memo(path) as memo:
            before = memo.status().daemon.pid
            subprocess.run(["memo", "-C", str(path), "stop"], check=True, capture_output=True)
            self.assertNotEqual(memo.status().daemon.pid, before)

    def test_a_write_whose_answer_is_lost_is_carried_out_once(self) -> None:
        path = indexed("lost-answer")
        daemon = json.loads((path / ".git/memo/endpoint").read_text("utf-8"))["socket"]

        def serve(peer: socket.socket, n: int) -> None:
            with socket.socket(socket.AF_UNIX) as upstream:
                upstream.connect(daemon)
                answers = upstream.makefile("rb")
                for line in peer.makefile("rb"):
                    upstream.sendall(line)
                    answer = answers.readline()
                    if n < 2:
                        return  # it was carried out, and nobody hears of it
                    peer.sendall(answer)

        with listening(path, serve), Memo(path) as memo:
            added = memo.add("this is said once", force=True)
            self.assertTrue(added.created)
        with Memo(path) as memo:
            self.assertEqual([memory.id for memory in memo.list().memories], [added.memory.id])

    def test_busy_is_repeated_and_then_raised(self) -> None:
        path = repository("busy")
        calls: list[dict[str, Any]] = []

        def serve(peer: socket.socket, _: int) -> None:
            for line in peer.makefile("rb"):
                calls.append(json.loads(line))
                if calls[-1]["method"] == "memory.stats" and len(calls) == 4:
                    reply(peer, id=calls[-1]["id"], result={"living": 7})
                else:
                    error = {"code": -32000, "message": "too much to do", "data": {"retry_after_ms": 10}}
                    reply(peer, id=calls[-1]["id"], error=error)

        with listening(path, serve), Memo(path, timeout=0.3) as memo:
            self.assertEqual(memo.stats().living, 7)
            self.assertEqual(len({call["params"]["request"] for call in calls}), 1)
            with self.assertRaisesRegex(Busy, "too much to do"):
                memo.status()
            self.assertGreater(len(calls), 10)

    def test_a_daemon_that_ends_again_and_again_is_given_up(self) -> None:
        path = repository("ending")
        connections: list[int] = []

        def serve(peer: socket.socket, n: int) -> None:
            connections.append(n)
            peer.recv(1 << 16)

        with listening(path, serve), Memo(path) as memo:
            with self.assertRaisesRegex(
                ConnectionLost, r"scripted-ending: the daemon \(pid \d+\) closed the conn.*log"
            ):
                memo.status()
        self.assertEqual(connections, [0, 1, 2])

    def test_a_daemon_that_hangs_is_given_up_in_time(self) -> None:
        path = indexed("hanging")
        with Memo(path, timeout=0.5) as memo:
            pid = memo.status().daemon.pid
            os.kill(pid, signal.SIGSTOP)
            try:
                began = time.monotonic()
                with self.assertRaisesRegex(DaemonUnreachable, "did not answer within 0.5 s"):
                    memo.status()
                self.assertLess(time.monotonic() - began, 3)
            finally:
                os.kill(pid, signal.SIGCONT)
            # The answer that came late is not taken for that of the next call.
            self.assertEqual(memo.search("expiry", limit=1).query, "expiry")

    def test_what_is_not_an_answer_is_said(self) -> None:
        path = repository("garbage")

        def serve(peer: socket.socket, _: int) -> None:
            peer.recv(1 << 16)
            peer.sendall(b"[1]\n")

        with listening(path, serve), Memo(path) as memo:
            with self.assertRaisesRegex(MemoError, "scripted-garbage: not an answer"):
                memo.status()


class PlaceTest(unittest.TestCase):
    def test_a_directory_that_does_not_exist(self) -> None:
        path = ROOT / "nowhere"
        with self.assertRaisesRegex(NoRepository, f"{path}: No such file"):
            Memo(path).status()
        self.assertFalse(path.exists())

    def test_a_file(self) -> None:
        path = ROOT / "file"
        path.write_text("", "utf-8")
        with self.assertRaisesRegex(NoRepository, f"{path}: not a directory"):
            Memo(path).status()

    def test_a_directory_without_git(self) -> None:
        path = ROOT / "plain"
        path.mkdir()
        (path / "notes.md").write_text("# Harvest\n\nApples ripen in September.\n", "utf-8")
        with self.assertRaisesRegex(NoRepository, f"{path}: not in a git repository.*memo init"):
            Memo(path).search("apples")
        self.assertEqual(os.listdir(path), ["notes.md"])
        subprocess.run(["memo", "-C", str(path), "init"], check=True, capture_output=True)
        PROGRAMS.append(Memo(path))
        with Memo(path) as memo:
            self.assertEqual(memo.search("apples", sync="full").hits[0].path, "notes.md")

    def test_worktrees_and_links_lead_to_the_same_daemon(self) -> None:
        path, linked, link = indexed("main"), ROOT / "linked", ROOT / "link"
        subprocess.run(["git", "-C", str(path), "worktree", "add", "-q", str(linked)], check=True, capture_output=True)
        link.symlink_to(path / "src")
        with Memo(path) as main, Memo(linked) as other, Memo(link) as through_link:
            pids = {memo.status().daemon.pid for memo in (main, other, through_link)}
            self.assertEqual(len(pids), 1)
            (linked / "new.md").write_text("# Zeppelin\n", "utf-8")
            self.assertEqual(other.search("zeppelin", mode="keyword").total, 1)
            self.assertEqual(main.search("zeppelin", mode="keyword").total, 0)

    def test_the_address_of_a_copied_repository_is_not_used(self) -> None:
        path, other = indexed("original"), ROOT / "copied"
        shutil.copytree(path, other, ignore=shutil.ignore_patterns("*.db*"))
        PROGRAMS.append(Memo(other))
        with Memo(path) as memo, Memo(other) as copied:
            self.assertNotEqual(memo.status().daemon.pid, copied.status().daemon.pid)

    def test_a_missing_program(self) -> None:
        path = repository("no-program")
        with self.assertRaisesRegex(DaemonUnreachable, "/nowhere/memo: cannot start the daemon of .*no-program"):
            Memo(path, program="/nowhere/memo").status()
        with patch("memod._repository.sysconfig.get_path", return_value=str(ROOT)):
            with patch("memod._repository.sys.executable", str(ROOT / "python3")):
                with patch.dict(os.environ, {"PATH": str(ROOT / "empty")}):
                    with self.assertRaises(DaemonUnreachable) as caught:
                        Memo(path).status()
        self.assertIn("memo: no such program in", caught.exception.message)
        self.assertIn(str(path), caught.exception.message)
        self.assertIn("pip install memod", caught.exception.hint or "")
        with patch.dict(os.environ, {"MEMO_DAEMON": "/nowhere/memod"}):
            with self.assertRaisesRegex(DaemonUnreachable, "cannot start /nowhere/memod.*MEMO_DAEMON") as refused:
                Memo(path).status()
        self.assertEqual(refused.exception.code, "no-daemon")

    def test_the_program_is_found_beside_the_interpreter(self) -> None:
        path, scripts = repository("beside"), ROOT / "scripts"
        scripts.mkdir()
        memo = Path(shutil.which("memo") or "")
        for name in ("memo", "memod"):
            (scripts / name).symlink_to(os.path.realpath(memo.with_name(name)))
        with patch("memod._repository.sysconfig.get_path", return_value=str(scripts)):
            with patch.dict(os.environ, {"PATH": "/usr/bin:/bin"}):
                with Memo(path) as memo:
                    self.assertGreater(memo.status().daemon.pid, 0)

    @unittest.skipIf(sys.platform == "win32" or os.geteuid() != 0, "only root can give a socket away")
    def test_a_socket_of_another_user_is_refused(self) -> None:
        path = repository("foreign")
        with listening(path, lambda peer, _: None):
            os.chown(ROOT / "run/scripted-foreign", 12345, -1)
            with self.assertRaisesRegex(DaemonUnreachable, "scripted-foreign: the socket is owned by uid 12345"):
                Memo(path).status()


if __name__ == "__main__":
    unittest.main()
