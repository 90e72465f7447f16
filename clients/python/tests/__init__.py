"""Tests of the package with real daemons: `python3 -m unittest` in clients/python, with `memo` in PATH.

Home, runtime directory and repositories are in a temporary directory, so nothing of this machine is seen or changed.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any, Callable

HERE = Path(__file__).parent
TOP = HERE.parents[2]
if not os.environ.get("MEMOD_INSTALLED"):  # set it to test the package of an installed wheel
    sys.path.insert(0, str(HERE.parent / "src"))

from memod import Memo  # noqa: E402

ROOT = Path(os.path.realpath(tempfile.mkdtemp(prefix="memod-py-")))
PROGRAMS: "list[Memo]" = []

FILES = {
    "docs/auth.md": """\
# Authentication

Sessions are signed tokens; nothing is kept on the server.

## Expiry

A token expires after 24 hours. The web client renews it silently.
""",
    "src/session.py": '''\
"""Signed session tokens."""


def verify(token: str) -> bool:
    """Returns whether a token may be used."""
    # Only the signature counts.
    return decode(token) is not None


def decode(token: str) -> "str | None":
    """Returns the user of a token."""
    return token.partition(".")[0] or None
''',
    "tests/test_session.py": """\
from src.session import verify


def test_verify():
    assert verify("ann.a5f3")
""",
}


def isolate() -> None:
    """Gives this process, and what it starts, an environment of its own."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "MEMO_", "XDG_"))]:
        del os.environ[name]
    for name, part in {"HOME": "home", "XDG_RUNTIME_DIR": "run", "XDG_STATE_HOME": "state", "TMPDIR": "tmp"}.items():
        (ROOT / part).mkdir()
        os.environ[name] = str(ROOT / part)
    who = {"NAME": "Ann", "EMAIL": "ann@example.com"}
    os.environ.update({f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()})
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"


def leave() -> None:
    """Stops the daemons and removes everything."""
    for memo in PROGRAMS:
        with contextlib.suppress(Exception):
            memo.call("stop")
            memo.close()
    shutil.rmtree(ROOT, ignore_errors=True)


isolate()
atexit.register(leave)


def repository(name: str) -> Path:
    """Returns a new git repository with one commit, whose daemon is stopped at the end."""
    path = ROOT / name
    for file, text in FILES.items():
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_text(text, "utf-8")
    for args in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "add sessions"]):
        subprocess.run(["git", "-C", str(path), *args], check=True)
    PROGRAMS.append(Memo(path))
    return path


def indexed(name: str) -> Path:
    """Returns a new repository, once it is indexed."""
    path = repository(name)
    with Memo(path) as memo:
        assert memo.sync(sync="full", wait_ms=60_000).fresh
    return path


def kill(path: Path) -> int:
    """Kills the daemon of a repository as if the machine had run out of memory; returns its pid."""
    pid = int(json.loads((path / ".git/memo/endpoint").read_text("utf-8"))["pid"])
    os.kill(pid, signal.SIGKILL)
    return pid


@contextlib.contextmanager
def listening(path: Path, serve: "Callable[[socket.socket, int], None]") -> Generator[None, None, None]:
    """Publishes a server in the place of the daemon. It is called for each connection with its number, from 0."""
    endpoint = path / ".git/memo/endpoint"
    address = ROOT / "run" / f"scripted-{path.name}"
    before = endpoint.read_bytes() if endpoint.exists() else None
    endpoint.parent.mkdir(exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(address))
    listener.listen()
    known: "dict[str, Any]" = {"pid": os.getpid(), "version": "0.1.0", "protocol": 1}
    known.update(json.loads(before) if before else {}, socket=str(address), state_dir=str(endpoint.parent))
    endpoint.write_text(json.dumps(known), "utf-8")

    def accept() -> None:
        n = 0
        with contextlib.suppress(OSError):
            while True:
                peer, _ = listener.accept()
                threading.Thread(target=serve_one, args=(peer, n), daemon=True).start()
                n += 1

    def serve_one(peer: socket.socket, n: int) -> None:
        with contextlib.suppress(OSError), peer:
            serve(peer, n)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        address.unlink()
        if before:
            endpoint.write_bytes(before)
        else:
            endpoint.unlink()


def reply(peer: socket.socket, **message: Any) -> None:
    """Sends a message as the daemon does."""
    peer.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
