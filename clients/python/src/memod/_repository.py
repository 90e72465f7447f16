"""Finds the daemon of a repository, and lets `memo` start it.

The address of a running daemon is in the file `endpoint` of the state directory, which is in the git directory.
Everything else is left to `memo`, which knows it best: a daemon to start, an older one to replace, a repository that is
read-only, moved, broken or outside git. It takes some milliseconds more.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple, Optional, Protocol, Union

from ._errors import ConnectionLost, DaemonUnreachable, MemoError, NoRepository

VERSION = "0.1.0"
"""Version of this package, and of the daemon that comes with it."""
PROTOCOL = 1
"""Version of the protocol, which grows only when an older client cannot read a newer answer."""
START_WITHIN_S = 90.0
"""Longest time for `memo` to start a daemon: it may have to wait for one that ends, or for another client."""
StrPath = Union[str, "os.PathLike[str]"]
EXE = ".exe" if sys.platform == "win32" else ""
SYSCONFIG = threading.Lock()
"""Held while `sysconfig` is asked: before Python 3.12 a second thread sees variables that the first has not all set."""


class Endpoint(NamedTuple):
    """Where a daemon listens, as it says in its file."""

    socket: str
    state_dir: str
    pid: int
    version: str
    protocol: int

    def lost(self) -> ConnectionLost:
        """Returns the error of a daemon that closed the connection."""
        message = f"{self.socket}: the daemon (pid {self.pid}) closed the connection without an answer"
        return ConnectionLost(message, self._log(), "lost")

    def closed(self) -> MemoError:
        """Returns the error of a call whose client was closed meanwhile; it is not made again."""
        return MemoError(f"{self.socket}: the client was closed before the answer came", code="closed")

    def hung(self, waited_s: float) -> DaemonUnreachable:
        """Returns the error of a daemon that does not answer."""
        message = f"{self.socket}: the daemon (pid {self.pid}) did not answer within {waited_s:g} s"
        return DaemonUnreachable(message, self._log(), "hung")

    def _log(self) -> str:
        return f"{os.path.join(self.state_dir, 'memod.log')} may say why"


class Repository:
    """A directory in a repository, with the way to its daemon."""

    def __init__(self, path: Optional[StrPath], agent: Optional[str], program: Optional[StrPath]) -> None:
        self.cwd: str = os.path.abspath(path or os.curdir)
        self.caller = {"cwd": self.cwd, "agent_name": agent} if agent else {"cwd": self.cwd}
        self.program = program

    def connect(self, timeout_s: float) -> tuple[Endpoint, Peer]:
        """Connects to the daemon, which is started where none runs."""
        state_dir = self._state_dir()
        endpoint = published(state_dir) if state_dir else None
        if endpoint and endpoint.version == VERSION and endpoint.protocol == PROTOCOL:
            connected = open_peer(endpoint, timeout_s)
            if connected:
                return endpoint, connected
        endpoint = self._started()
        if endpoint.protocol != PROTOCOL:
            message = f"the daemon of {self.cwd} is version {endpoint.version} and speaks protocol {endpoint.protocol}"
            hint = f"this package is version {VERSION} and speaks protocol {PROTOCOL}; install that version of it"
            raise DaemonUnreachable(message, hint, "protocol")
        connected = open_peer(endpoint, timeout_s)
        if connected:
            return endpoint, connected
        raise endpoint.lost()  # it ended right after its start, so another one is tried

    def _state_dir(self) -> Optional[Path]:
        """Returns the state directory in the git directory; None where only `memo` knows whether there is one."""
        here = Path(os.path.realpath(self.cwd))
        for dot_git in (directory / ".git" for directory in (here, *here.parents)):
            try:
                if dot_git.is_file():  # of a linked worktree or a submodule, see gitrepository-layout(5)
                    dot_git = dot_git.parent / dot_git.read_text("utf-8").partition("gitdir: ")[2].rstrip("\r\n")
                common = dot_git / "commondir"
                if common.is_file():
                    dot_git /= common.read_text("utf-8").rstrip("\r\n")
                if (dot_git / "objects").is_dir():
                    return dot_git / "memo"
            except (OSError, ValueError):
                return None
        return None

    def _started(self) -> Endpoint:
        """Lets `memo` start the daemon, or find it where it is."""
        command = [self._memo(), "-C", self.cwd, "status", "--json"]
        try:
            ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=START_WITHIN_S)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            message = f"{command[0]}: cannot start the daemon of {self.cwd}: {error}"
            raise DaemonUnreachable(message, code="no-daemon") from error
        try:
            answer: dict[str, Any] = json.loads(ran.stdout)
        except ValueError:
            answer = {"error": {"code": "no-daemon", "message": ran.stderr.decode(errors="replace").strip()}}
        if refused := answer.get("error"):
            kind = NoRepository if ran.returncode == 2 else DaemonUnreachable
            message = refused["message"] or f"{command[0]} ended with {ran.returncode}"
            raise kind(message, refused.get("hint"), refused["code"])
        endpoint = published(Path(answer["state_dir"]))
        if endpoint is None:
            message = f"{answer['state_dir']}/endpoint: cannot be read, though the daemon runs"
            raise DaemonUnreachable(message, "`memo doctor` checks it", "no-endpoint")
        return endpoint

    def _memo(self) -> str:
        """Returns the program `memo`: the named one, or that of this package's wheel, or that in PATH."""
        if self.program is not None:
            return os.fspath(self.program)
        with SYSCONFIG:
            dirs = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
            schemes = {f"{os.name}_user", "osx_framework_user"} & {*sysconfig.get_scheme_names()}
            dirs += [sysconfig.get_path("scripts", scheme) for scheme in schemes]  # `pip install --user`
        dirs.append(str(Path(__file__).parents[1] / "bin"))  # `pip install --target`
        beside = (os.path.join(directory, f"memo{EXE}") for directory in dirs)
        found = next(filter(os.path.isfile, beside), None) or shutil.which("memo")
        if found is None:
            message = f"memo: no such program in {dirs[0]} or PATH, so the daemon of {self.cwd} cannot be started"
            raise DaemonUnreachable(
                message, "`pip install memod` brings memo and memod; program=… names one", "no-memo"
            )
        return found


def published(state_dir: Path) -> Optional[Endpoint]:
    """Returns the endpoint of a state directory; None if there is none, or if it was copied from elsewhere."""
    try:
        text = (state_dir / "endpoint").read_bytes()
        published: dict[str, Any] = json.loads(text)
        endpoint = Endpoint(*(published[field] for field in Endpoint._fields))
        return endpoint if os.path.samefile(endpoint.state_dir, state_dir) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


class Peer(Protocol):
    """A connection: what is used of a socket."""

    def sendall(self, data: bytes, /) -> Any: ...
    def recv(self, size: int, /) -> Optional[bytes]: ...
    def settimeout(self, limit_s: Optional[float], /) -> None: ...
    def shutdown(self, how: int, /) -> None: ...
    def close(self) -> None: ...


if sys.platform == "win32":  # never run so far

    class Pipe:
        """A named pipe. Reads have no time limit, and nothing ends one that waits."""

        def __init__(self, path: str) -> None:
            file = open(path, "r+b", buffering=0)
            self.sendall, self.recv, self.close = file.write, file.read, file.close

        def settimeout(self, limit_s: Optional[float], /) -> None:
            """Does nothing."""

        def shutdown(self, how: int, /) -> None:
            """Does nothing."""

    def open_peer(endpoint: Endpoint, timeout_s: float) -> Optional[Peer]:
        """Connects to a daemon; None if nothing listens. The access list of the pipe keeps other users out."""
        try:
            return Pipe(endpoint.socket)
        except FileNotFoundError:
            return None

else:

    def open_peer(endpoint: Endpoint, timeout_s: float) -> Optional[Peer]:
        """Connects to a daemon; None if nothing listens."""
        give_up = time.monotonic() + timeout_s
        while True:
            peer = socket.socket(socket.AF_UNIX)
            try:
                owner = os.lstat(endpoint.socket).st_uid
                if owner != os.geteuid():
                    message = f"{endpoint.socket}: the socket is owned by uid {owner}, not by us"
                    raise DaemonUnreachable(message, "remove it if it is not meant to be there", "foreign-socket")
                peer.settimeout(timeout_s)
                peer.connect(endpoint.socket)
                return peer
            except (BlockingIOError, socket.timeout) as error:
                # A full backlog fails at once where there is a time limit: the daemon is stopped, or very busy.
                peer.close()
                if time.monotonic() >= give_up:
                    raise endpoint.hung(timeout_s) from error
                time.sleep(0.02)
            except (FileNotFoundError, ConnectionError):
                peer.close()
                return None
            except OSError as error:
                peer.close()
                raise DaemonUnreachable(f"connect to {endpoint.socket}: {error}", code="unreachable") from error
            except BaseException:
                peer.close()
                raise
