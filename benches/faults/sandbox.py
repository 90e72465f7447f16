"""A home, a repository and a daemon of their own, and what is asked of them."""

import json
import mmap
import os
import pathlib
import re
import shutil
import struct
import subprocess
import time

GIT_SETTINGS = """[user]
 name = t
 email = t@example.org
[init]
 defaultBranch = main
[gc]
 auto = 0
[advice]
 detachedHead = false
"""

# A clock for the programs of the sandbox alone: the real one plus the seconds that the file $FAULTS_CLOCK holds.
CLOCK = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead;

__attribute__((constructor)) static void begin(void) {
    int fd = open(getenv("FAULTS_CLOCK"), O_RDONLY | O_CLOEXEC);
    void *map = fd < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
    ahead = map == MAP_FAILED ? 0 : map;
    if (fd >= 0) close(fd);
}

int clock_gettime(clockid_t id, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, id, now);
    if (!failed && ahead && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += *ahead;
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
"""


class Reply:
    """What `memo` said: its exit status, the JSON it printed, and how long it took."""

    def __init__(self, args, code, out, err, seconds):
        self.args, self.code, self.err, self.seconds = args, code, err, seconds
        try:
            self.json = json.loads(out)
        except ValueError:
            self.json = None

    @property
    def error(self):
        """The error it printed, or why what it printed is no answer."""
        if self.json is None:
            return {"code": "no-json", "message": self.err.strip()[-400:]}
        return self.json.get("error")

    def __str__(self):
        said = json.dumps(self.json)
        cut = said if len(said) < 1500 else said[:1500] + "…"
        status = f"exit {self.code} after {self.seconds:.2f} s"
        return f"memo {' '.join(self.args)}\n  {status}: {cut}\n  {self.err.strip()}"


class Sandbox:
    """A repository in a directory of its own, and linked worktrees beside it."""

    def __init__(self, top, memo):
        self.top, self.program = pathlib.Path(top), str(pathlib.Path(memo).resolve())
        for name in ("home", "run", "tmp"):
            (self.top / name).mkdir(parents=True)
        (self.top / "run").chmod(0o700)
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.top / "home"),
            "XDG_RUNTIME_DIR": str(self.top / "run"),
            "TMPDIR": str(self.top / "tmp"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_OPTIONAL_LOCKS": "0",
        }
        (self.top / "home/.gitconfig").write_text(GIT_SETTINGS)
        self.repo, self.worktrees = self.top / "repo", []
        self.repo.mkdir()
        self.clock = self._clock()
        self.git("init", "-q")

    def _clock(self):
        """Makes a clock that can jump, where there is a compiler; the sandbox's programs get it."""
        source, library, file = (self.top / "tmp" / name for name in ("clock.c", "clock.so", "clock"))
        source.write_text(CLOCK)
        build = ["cc", "-shared", "-fPIC", "-O1", "-o", library, source]
        if not shutil.which("cc") or subprocess.run(build).returncode:
            return None
        file.write_bytes(bytes(8))
        self.env |= {"LD_PRELOAD": str(library), "FAULTS_CLOCK": str(file)}
        with open(file, "r+b") as opened:
            return mmap.mmap(opened.fileno(), 8)

    def set_clock(self, seconds_ahead):
        self.clock[:] = struct.pack("q", seconds_ahead)

    @property
    def state(self):
        return self.repo / ".git/memo"

    @property
    def roots(self):
        return [self.repo, *self.worktrees]

    def run(self, *command, cwd=None, timeout=120):
        return subprocess.run(
            [str(part) for part in command], cwd=cwd or self.repo, env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="surrogateescape", timeout=timeout,
        )

    def git(self, *args, cwd=None):
        """Runs git, which may fail; returns whether it did not."""
        return self.run("git", *args, cwd=cwd).returncode == 0

    def memo(self, *args, cwd=None, meanwhile=None):
        """Runs `memo … --json`; `meanwhile` is called once it has been started."""
        command = [self.program, *map(str, args), "--json"]
        began = time.monotonic()
        with subprocess.Popen(
            command, cwd=cwd or self.repo, env=self.env, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:
            if meanwhile:
                meanwhile()
            try:
                out, err = process.communicate(timeout=120)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = "", f"no answer in 120 s{process.communicate()[1]}"
        return Reply(command[1:], process.returncode, out, err, time.monotonic() - began)

    def endpoint(self):
        """Returns the daemon's pid and socket, where one runs."""
        try:
            endpoint = json.loads((self.state / "endpoint").read_text())
            stat = pathlib.Path(f"/proc/{endpoint['pid']}/stat").read_text()
        except (OSError, ValueError):
            return None
        name, rest = re.match(r"\d+ \((.*)\) (\S)", stat, re.S).groups()
        return None if name != "memod" or rest == "Z" else (endpoint["pid"], endpoint["socket"])

    def daemon(self):
        """Returns the daemon's pid; starts one where none runs. None when that fails."""
        if not self.endpoint():
            self.memo("status")
        running = self.endpoint()
        return running and running[0]

    def workers(self):
        """Returns the pids of the processes that extract for the daemon."""
        running = self.endpoint()
        tasks = pathlib.Path(f"/proc/{running[0]}/task").glob("*/children") if running else []
        children = []
        for task in tasks:
            try:
                children += task.read_text().split()
            except OSError:
                pass  # a thread that has just ended
        return sorted(map(int, children))


def mount(top, mib):
    """Mounts a file system of its own size on `top`, so that it can be filled; returns whether that is allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=700", "tmpfs", top]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def unmount(top):
    subprocess.run(["umount", "--lazy", top], check=True)
