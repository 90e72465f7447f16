"""What goes wrong, from outside of the product: each fault begins, lasts for some steps, and is lifted."""

import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time

READS = "read,pread64"
OPENS = "openat,openat2"
STATS = "newfstatat,statx,lstat"
DAY = 86_400


class Fault:
    """Nothing: the base of all, and the fault of a calm time."""

    name = "none"
    n_steps = 6
    # A repository that is elsewhere, or a clock that is wrong, changes what may be asked and expected.
    moves, clock_is_wrong = False, False

    def __init__(self, sandbox):
        self.sandbox = sandbox

    def why_not(self):
        """Returns why this machine does not allow it, if so."""
        return None

    def begin(self, random):
        """Begins it; returns what exactly goes wrong, for the log."""
        return ""

    def lift(self):
        """Ends it; returns what is wrong by now, if anything."""


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Killed(Fault):
    """kill -9 of the daemon, or of the process that extracts for it."""

    n_steps = 3

    def __init__(self, sandbox, whom):
        super().__init__(sandbox)
        self.whom, self.name = whom, f"kill -9 {whom}"

    def pids(self):
        daemon = self.sandbox.daemon()
        return [daemon] if self.whom == "daemon" and daemon else self.sandbox.workers()

    def begin(self, random):
        pids = self.pids()
        signal_all(pids, signal.SIGKILL)
        return f"{len(pids)} killed"


class Stopped(Killed):
    """SIGSTOP, and SIGCONT some seconds later, whoever waits meanwhile."""

    def __init__(self, sandbox, whom):
        super().__init__(sandbox, whom)
        self.name = f"SIGSTOP {whom}"

    def begin(self, random):
        self.stopped, seconds = self.pids(), random.choice([0.1, 1, 4])
        signal_all(self.stopped, signal.SIGSTOP)
        self.timer = threading.Timer(seconds, signal_all, (self.stopped, signal.SIGCONT))
        self.timer.start()
        return f"for {seconds} s"

    def lift(self):
        self.timer.join()


class FullDisk(Fault):
    """A file that takes all the room there is."""

    name = "disk full"

    def __init__(self, sandbox, is_mounted):
        super().__init__(sandbox)
        self.is_mounted, self.filler = is_mounted, sandbox.top / "tmp/filler"

    def why_not(self):
        return None if self.is_mounted else "a file system of its own cannot be mounted here (not root?)"

    def begin(self, random):
        block, left = bytes(1 << 20), random.choice([0, 0, 16 << 10, 300 << 10])
        with open(self.filler, "wb", buffering=0) as file:
            while block:
                try:
                    file.write(block)
                except OSError:
                    block = block[: len(block) // 2] if len(block) > 4096 else b""
        size = self.filler.stat().st_size
        os.truncate(self.filler, max(0, size - left))
        return f"{left} bytes left"

    def lift(self):
        self.filler.unlink()


class Injected(Fault):
    """System calls of the daemon fail, by strace: all of them, or one of some, on the files of one place or on any."""

    def __init__(self, sandbox, place, calls, errors):
        super().__init__(sandbox)
        self.place, self.calls, self.errors = place, calls, errors
        self.name = f"{'|'.join(errors)} of {calls.split(',')[0]} ({place})"
        self.strace = None
        # A daemon that can open nothing answers nobody; each who asks waits as long as the client does.
        self.n_steps = 1 if place == "everything" else 6

    def why_not(self):
        return None if shutil.which("strace") else "strace is not installed"

    def begin(self, random):
        daemon = self.sandbox.daemon()
        if not daemon:
            return "no daemon"
        error, when = random.choice(self.errors), random.choice(["1+", "1+", "2+3", "5+7"])
        paths = self.paths(random)
        command = ["strace", "-f", "-qq", "-o", "/dev/null", "-p", str(daemon), "-e", f"trace={self.calls}"]
        command += ["-e", f"inject={self.calls}:error={error}:when={when}"]
        command += [part for path in paths for part in ("-P", str(path))]
        self.strace = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 10
        while not all_traced(daemon):
            if self.strace.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"strace cannot attach: {self.strace.communicate()[1]}")
            time.sleep(0.01)
        return f"{error}, each {when}, on {', '.join(path.name for path in paths) or 'anything'}"

    def paths(self, random):
        state, repo = self.sandbox.state, self.sandbox.repo
        if self.place == "sources":
            files = [path for path in sorted(repo.rglob("*")) if ".git" not in path.parts and path.is_file()]
            return random.sample(files, min(len(files), 8))
        if self.place == "directories":
            return [path for path in [repo, *sorted(repo.iterdir())] if path.is_dir() and path.name != ".git"]
        if self.place == "everything":
            return []
        return [state / f"{self.place}{ending}" for ending in ("", "-wal", "-shm", "-journal")]

    def lift(self):
        if self.strace:
            self.strace.send_signal(signal.SIGINT)  # it lets go of what it traces
            self.strace.communicate()
            self.strace = None


def all_traced(pid):
    """Returns whether every thread of a process has a tracer."""
    try:
        states = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/status")]
    except OSError:
        return False
    return bool(states) and all("TracerPid:\t0\n" not in state for state in states)


class FewDescriptors(Fault):
    """The daemon may open only a few files more than it has open."""

    name, n_steps = "few descriptors", 3

    def begin(self, random):
        self.daemon = self.sandbox.daemon()
        n_open, left = len(os.listdir(f"/proc/{self.daemon}/fd")), random.choice([0, 1, 3, 8])
        self.before = resource.prlimit(self.daemon, resource.RLIMIT_NOFILE)
        resource.prlimit(self.daemon, resource.RLIMIT_NOFILE, (n_open + left, self.before[1]))
        return f"{left} left"

    def lift(self):
        try:
            resource.prlimit(self.daemon, resource.RLIMIT_NOFILE, self.before)
        except ProcessLookupError:
            pass


class IdleConnections(Fault):
    """Clients that connect, ask nothing and stay."""

    name, n_steps = "idle connections", 2

    def begin(self, random):
        self.sandbox.daemon()
        count, self.held = random.choice([200, 1000, 1024, 1100]), []
        for _ in range(count):
            peer = socket.socket(socket.AF_UNIX)
            peer.settimeout(1)
            try:
                peer.connect(self.sandbox.endpoint()[1])
            except (OSError, TypeError):
                peer.close()
                break
            self.held.append(peer)
        return f"{len(self.held)} of {count}"

    def lift(self):
        for peer in self.held:
            peer.close()


class ClockJump(Fault):
    """The wall clock of the programs is wrong for a while; what the file system writes is not."""

    name, clock_is_wrong = "clock jump", True

    def why_not(self):
        return None if self.sandbox.clock else "there is no C compiler to make a clock that jumps"

    def begin(self, random):
        seconds = random.choice([30, 3600, 40 * DAY, -30, -3600, -400 * DAY])
        self.sandbox.set_clock(seconds)
        return f"{seconds:+} s"

    def lift(self):
        self.sandbox.set_clock(0)


class Moved(Fault):
    """The whole repository has another path, under a daemon that runs."""

    name, moves = "repository moved", True

    def begin(self, random):
        self.home, self.worktrees = self.sandbox.repo, self.sandbox.worktrees
        away = self.home.with_name("moved")
        self.made_before = self._clear(away)
        self.home.rename(away)
        # A linked worktree knows its repository by path.
        self.sandbox.repo, self.sandbox.worktrees = away, []
        return ""

    def lift(self):
        made = self.made_before + self._clear(self.home)
        self.sandbox.repo.rename(self.home)
        self.sandbox.repo, self.sandbox.worktrees = self.home, self.worktrees
        return f"nothing is made where the repository was: {made}" if made else None

    def _clear(self, directory):
        """Removes what was made at a path that the repository has left; returns what it was."""
        made = [str(path) for path in sorted(directory.rglob("*"))]
        shutil.rmtree(directory, ignore_errors=True)
        return made


def all_faults(sandbox, is_mounted):
    transient = ["EIO", "EMFILE", "ENFILE", "ENOMEM"]
    return [
        Killed(sandbox, "daemon"), Killed(sandbox, "worker"), Stopped(sandbox, "daemon"), Stopped(sandbox, "worker"),
        FullDisk(sandbox, is_mounted), FewDescriptors(sandbox), IdleConnections(sandbox),
        ClockJump(sandbox), Moved(sandbox),
        Injected(sandbox, "sources", READS, ["EIO"]),
        Injected(sandbox, "sources", OPENS, transient),
        Injected(sandbox, "sources", STATS, ["EIO", "ENOMEM"]),
        Injected(sandbox, "directories", f"getdents64,{OPENS}", transient),
        Injected(sandbox, "index.db", READS, ["EIO"]),
        Injected(sandbox, "index.db", "pwrite64,fdatasync,fsync", ["EIO", "ENOSPC"]),
        Injected(sandbox, "memory.db", READS, ["EIO"]),
        Injected(sandbox, "memory.db", "pwrite64,fdatasync,fsync", ["EIO", "ENOSPC"]),
        Injected(sandbox, "everything", OPENS, transient),
    ]  # fmt: skip
