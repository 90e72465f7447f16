"""System calls of the daemon that fail."""

import pathlib
import shutil
import signal
import subprocess
import time

from injection.fault import Fault

READS = "read,pread64"
OPENS = "openat,openat2"
STATS = "newfstatat,statx,lstat"
LISTS = "getdents64"
RENAMES = "rename,renameat,renameat2,linkat"
SYNCS = "pwrite64,fdatasync,fsync"
MEMORIES = ".memod/memories"
# Longest time in which strace ends, seconds.
LET_GO_WITHIN = 5


class Injected(Fault):
    """System calls fail, by strace: all of them, or one of some, on the files of one place or on any."""

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
        daemon, paths = self.sandbox.daemon(), self.paths(random)
        if not daemon:
            return "no daemon"
        if not paths and self.place != "everything":
            return "there is no such file"
        error, when = random.choice(self.errors), random.choice(["1+", "1+", "2+3", "5+7"])
        command = ["strace", "-f", "-qq", "-o", "/dev/null", "-p", str(daemon), "-e", f"trace={self.calls}"]
        command += ["-e", f"inject={self.calls}:error={error}:when={when}"]
        command += [part for path in paths for part in ("-P", str(path))]
        self.strace = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 20
        while not all_traced(daemon):
            if self.strace.poll() is not None or time.monotonic() > deadline:
                self.strace.kill()
                raise RuntimeError(f"strace cannot attach: {self.strace.communicate()[1]}")
            time.sleep(0.01)
        return f"{error}, each {when}, on {', '.join(path.name for path in paths) or 'anything'}"

    def paths(self, random):
        state, repo = self.sandbox.state, self.sandbox.repo
        if self.place == "sources":
            files = [path for path in sorted(repo.rglob("*")) if is_source(path.relative_to(repo)) and path.is_file()]
            return random.sample(files, min(len(files), 8))
        if self.place == "directories":
            return [path for path in [repo, *sorted(repo.iterdir())] if path.is_dir() and path.name != ".git"]
        if self.place == "memory files":
            files = [path for root in self.sandbox.roots for path in sorted((root / MEMORIES).glob("*.md"))]
            return random.sample(files, min(len(files), random.choice([1, 20])))
        if self.place == "memory directories":
            return [root / MEMORIES for root in self.sandbox.roots if (root / MEMORIES).is_dir()]
        if self.place == "everything":
            return []
        return [state / f"{self.place}{ending}" for ending in ("", "-wal", "-shm", "-journal")]

    def lift(self):
        if self.strace:
            self.strace.send_signal(signal.SIGINT)  # it lets go of what it traces
            try:
                self.strace.communicate(timeout=LET_GO_WITHIN)
            except subprocess.TimeoutExpired:
                # It waits for a thread that waits for its child, which it holds itself: the kernel lets go of all then.
                self.strace.kill()
                self.strace.communicate()
            self.strace = None


def is_source(path):
    return path.parts[:1] not in ((".git",), (".memod",))


def all_traced(pid):
    """Returns whether every thread of a process has a tracer."""
    try:
        states = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/status")]
    except OSError:
        return False
    return bool(states) and all("TracerPid:\t0\n" not in state for state in states)
