"""Runs a row of the table: in a place of its own, within its time, and judges what it printed."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import tools

TOP = tools.TOP
# How a program is started, by the end of its name.
STARTS = {".py": [sys.executable], ".sh": ["bash"], ".mjs": ["node"]}
# Longest wait for a daemon that was told to stop, s.
END_S = 10


class Wrong(Exception):
    """What is not as it should be, and the output up to there."""

    def __init__(self, why, said=""):
        super().__init__(why)
        self.said = said


@dataclass
class Each:
    """What must be in the output: `count` places that match, or some if there is no count, and hold what `holds` asks.

    `holds` gets the groups, those that are numbers as numbers.
    """
    pattern: str
    holds: object = None
    count: int = 0

    def judge(self, said):
        """Returns what is wrong."""
        found = [match.groups() for match in re.finditer(self.pattern, said, re.M)]
        if not found or self.count and len(found) != self.count:
            return f"/{self.pattern}/ is there {len(found)} times, not {self.count or 'once or more'}"
        for groups in found:
            if self.holds and not self.holds(*map(number, groups)):
                return f"/{self.pattern}/ does not hold for {', '.join(map(str, groups))}"
        return ""


def number(text):
    try:
        return float(text.replace(",", ""))
    except (ValueError, AttributeError):
        return text


@dataclass
class Row:
    """A program of the repository, the arguments of its run, and what must be in its output.

    Arguments may have `{…}` for what a `Place` has. `prepare` gets the place before. `after` gets the place and the output
    afterwards and returns what is wrong. `talk` gets the running program and returns its output, if it does not end by
    itself. `then` has the arguments of further runs in the same place. `forbidden` matches what a run that is right never prints.
    """
    program: str
    words: list
    expected: list
    needs: tuple = ()
    name: str = ""
    prepare: object = None
    after: object = None
    talk: object = None
    forbidden: str = ""
    env: dict = None
    then: tuple = ()
    cwd: str = str(TOP)
    limit_s: int = 180

    @property
    def title(self):
        return f"{self.program} {self.name}".rstrip()


class Place:
    """Where a row runs: `{home}`, `{tmp}`, `{shop}`, a repository, and `{tree}`, one with a daemon that has its index."""

    def __init__(self, row, memo, shop, top):
        self.row, self.memo, self.master = row, memo, shop
        self.top = top / re.sub(r"\W+", "-", row.title)
        self.bin, self.node, self.agents, self.browser = memo.parent, tools.NODE, tools.AGENTS, tools.BROWSER
        self.home, self.tmp, self.run_dir = self.top / "home", self.top / "tmp", self.top / "run"
        self.trees = []
        for folder in (self.home, self.tmp, self.run_dir):
            folder.mkdir(parents=True)
        self.run_dir.chmod(0o700)
        self.tmp.chmod(0o755)  # a server of PostgreSQL, which root may not run, has its files there
        (self.home / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "MEMO_", "XDG_"))}
        self.env = {**kept, "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.run_dir), "TMPDIR": str(self.tmp),
                    "GIT_CONFIG_NOSYSTEM": "1", "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "MEMO": str(memo),
                    "PYTHONPATH": str(tools.PYTHON), "PYTHONDONTWRITEBYTECODE": "1",
                    # The compiler's own files stay where they are.
                    "CARGO_HOME": os.environ.get("CARGO_HOME") or str(Path.home() / ".cargo"),
                    "RUSTUP_HOME": os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup")}

    def __getitem__(self, name):
        return getattr(self, name)

    @property
    def shop(self):
        """A repository without a daemon."""
        folder = self.top / "shop"
        if not folder.exists():
            shutil.copytree(self.master.root, folder, symlinks=True)
        return folder

    @property
    def tree(self):
        """The same repository with a daemon that has all files and vectors."""
        if not self.trees:
            self.trees.append(self.shop)
            self.call("init", "-q")
            self.call("sync", "--sync", "full", "--wait-ms", "60000", "-q")
        return self.shop

    def call(self, *words):
        done = subprocess.run([self.memo, *words], cwd=self.shop, env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise Wrong(f"memo {words[0]} exited with {done.returncode}", done.stdout + done.stderr)
        return done.stdout

    def run(self, program, *words):
        """Runs another program before that of the row."""
        done = subprocess.run(self.command(program, words), env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise Wrong(f"{program}, which is run before, exited with {done.returncode}", done.stdout + done.stderr)

    def command(self, program, words):
        path, words = TOP / program, [word.format_map(self) for word in words]
        if path.suffix == ".rs":
            return [*tools.BENCH, path.stem, "--", *words]
        return [*STARTS.get(path.suffix, [sys.executable]), str(path), *words]

    def environment(self):
        return {**self.env, **{name: value.format_map(self) for name, value in (self.row.env or {}).items()}}

    def processes(self):
        """Returns id and name of what still runs in this place."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(entry / "cwd").startswith(str(self.top)):
                    found.append((int(entry.name), (entry / "comm").read_text().strip()))
            except OSError:
                continue  # it has ended, or is somebody else's
        return found

    def clear(self):
        """Stops our daemon, ends what is left, and returns its names: a program has stopped what it started."""
        if self.trees:
            subprocess.run([self.memo, "stop", "-q"], cwd=self.shop, env=self.env, capture_output=True)
        deadline = time.monotonic() + END_S
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        for pid, _ in left:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.top, ignore_errors=True)
        return [name for _, name in left]



def run_row(row, place):
    """Runs a row; returns its output and what is wrong with it."""
    said, why = "", ""
    try:
        if row.prepare:
            row.prepare(place)
        for words in [row.words, *row.then]:
            more, why = run_program(row, words, place)
            said += more
            if why:
                break
        why = why or judge(row, said) or (row.after(place, said) if row.after else "")
    finally:
        left = place.clear()
    if left and not why:
        why = f"it leaves {', '.join(left)} running"
    return said, why


def run_program(row, words, place):
    """Returns what a program printed, and whether it failed; past its time it is ended with all that it started."""
    command, cwd = place.command(row.program, words), row.cwd.format_map(place)
    started = subprocess.Popen(command, cwd=cwd, env=place.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", start_new_session=True)
    try:
        if row.talk:
            return end_after(started, row.talk)
        said, _ = started.communicate(timeout=row.limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        said, _ = started.communicate()
        return said, f"it took over {row.limit_s} s"
    return said, f"exit status {started.returncode}" if started.returncode else ""


def end_after(started, talk):
    """Returns what a program without an end has answered, and why that failed."""
    try:
        return talk(started), ""
    except (OSError, ValueError, LookupError) as error:
        return "", f"{type(error).__name__}: {error}"
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()


def judge(row, said):
    """Returns what is wrong with an output."""
    bad = row.forbidden and re.search(row.forbidden, said, re.M)
    if bad:
        return f"it prints {bad.group()!r}"
    return next(filter(None, (expected.judge(said) for expected in row.expected)), "")
