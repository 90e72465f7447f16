"""A full disk, few descriptors, many connections, a wrong clock, another path."""

import os
import resource
import shutil
import socket

from injection.fault import Fault

DAY = 86_400


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


class FewDescriptors(Fault):
    """The daemon may open only a few files more than it has open."""

    name, n_steps = "few descriptors", 3

    def begin(self, random):
        self.daemon = self.sandbox.daemon()
        if not self.daemon:
            return "no daemon"
        n_open, left = len(os.listdir(f"/proc/{self.daemon}/fd")), random.choice([0, 1, 3, 8])
        self.before = resource.prlimit(self.daemon, resource.RLIMIT_NOFILE)
        resource.prlimit(self.daemon, resource.RLIMIT_NOFILE, (n_open + left, self.before[1]))
        return f"{left} left"

    def lift(self):
        try:
            if self.daemon:
                resource.prlimit(self.daemon, resource.RLIMIT_NOFILE, self.before)
        except ProcessLookupError:
            pass


class IdleConnections(Fault):
    """Clients that connect, ask nothing and stay."""

    # Who asks while there are too many waits as long as the client does.
    name, n_steps = "idle connections", 1

    def begin(self, random):
        self.sandbox.daemon()
        count, self.held = random.choice([200, 1000, 1000, 1100]), []
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
        self.sandbox.clock.set(seconds)
        return f"{seconds:+} s"

    def lift(self):
        self.sandbox.clock.set(0)


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


class WorktreeAway(Fault):
    """A linked worktree is not at its path for a while, as on a disk that is not mounted."""

    name, n_steps = "worktree away", 3

    def begin(self, random):
        self.home = random.choice(self.sandbox.worktrees) if self.sandbox.worktrees else None
        if not self.home:
            return "there is none"
        self.home.rename(self.home.with_name("away"))
        self.sandbox.worktrees = [root for root in self.sandbox.worktrees if root != self.home]
        return self.home.name

    def lift(self):
        if not self.home:
            return
        # Something may have been made at its path meanwhile.
        if self.home in self.sandbox.worktrees or self.home.exists():
            shutil.rmtree(self.home.with_name("away"))
            return
        self.home.with_name("away").rename(self.home)
        self.sandbox.worktrees = sorted([*self.sandbox.worktrees, self.home])
