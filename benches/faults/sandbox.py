"""A home, a repository and a daemon of their own, and what is asked of them."""

import json
import os
import pathlib
import re
import subprocess
import time

import clock

GIT_SETTINGS = """[user]
 name = {0}
 email = {0}@example.org
[init]
 defaultBranch = main
[gc]
 auto = 0
[advice]
 detachedHead = false
[pull]
 rebase = false
"""
ANSWER_WITHIN = 120
FORMS = {"lean": ["--json"], "full": ["--json=full"], "text": []}
INITIALIZE = {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "faults", "version": "1"},
}  # fmt: skip


class Reply:
    """What `memo` said: its exit status, what it printed, and how long it took."""

    def __init__(self, args, code, out, err, seconds, is_json=True):
        self.args, self.code, self.out, self.err, self.seconds = args, code, out, err, seconds
        self.is_json, self.json = is_json, None
        self.wrong = None  # what is wrong with it, where the one who asked knows
        try:
            self.json = json.loads(out) if is_json else None
        except ValueError:
            pass

    @property
    def error(self):
        """The error it printed, or why what it printed is no answer."""
        if not self.is_json:
            return {"code": "exit", "message": self.err.strip()[-400:]} if self.code > 1 or self.code < 0 else None
        if self.json is None:
            return {"code": "no-json", "message": self.err.strip()[-400:]}
        return self.json.get("error")

    @property
    def is_done(self):
        """Whether a verb that changes something says that it is done."""
        return self.code == 0 and not self.error

    def __str__(self):
        said = json.dumps(self.json) if self.json is not None else self.out
        cut = said if len(said) < 1500 else said[:1500] + "…"
        status = f"exit {self.code} after {self.seconds:.2f} s"
        return f"memo {' '.join(self.args)}\n  {status}: {cut}\n  {self.err.strip()}"


class Sandbox:
    """A repository in a directory of its own, and linked worktrees beside it."""

    def __init__(self, top, memo, user="t"):
        self.top, self.program, self.user = pathlib.Path(top), str(pathlib.Path(memo).absolute()), user
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
            "GIT_EDITOR": "true",
        }
        (self.top / "home/.gitconfig").write_text(GIT_SETTINGS.format(user))
        self.repo, self.worktrees, self.neighbours = self.top / "repo", [], {}
        self.unseen = {}  # files that were written without an event: path, and their metadata since
        self.repo.mkdir()
        self.clock = clock.make_clock(self.top / "tmp")
        self.env |= self.clock.env if self.clock else {}
        self.git("init", "-q")

    @property
    def state(self):
        return self.repo / ".git/memo"

    @property
    def roots(self):
        return [self.repo, *self.worktrees]

    def neighbour(self, user):
        """Returns the sandbox of somebody else on the same machine; makes it the first time."""
        if user not in self.neighbours:
            self.neighbours[user] = Sandbox(self.top / user, self.program, user)
        return self.neighbours[user]

    def settings(self, text):
        """Replaces the user's own settings."""
        file = self.top / "home/.config/memod/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def stop(self):
        """Stops all daemons; returns what the own one said."""
        for neighbour in self.neighbours.values():
            neighbour.stop()
        return self.memo("stop")

    def note_unseen(self, path):
        """Notes that nothing but a look at all files can tell that this one was written."""
        self.unseen[str(path)] = signature(path)

    def is_unseen(self, path):
        """Returns whether a file is as it was written without an event."""
        return self.unseen.get(str(path), ()) == signature(path)

    def run(self, *command, cwd=None, timeout=ANSWER_WITHIN, input=""):
        return subprocess.run(
            [str(part) for part in command], cwd=cwd or self.repo, env=self.env, input=input,
            capture_output=True, text=True, errors="surrogateescape", timeout=timeout,
        )  # fmt: skip

    def git(self, *args, cwd=None):
        """Runs git, which may fail; returns whether it did not."""
        return self.run("git", *args, cwd=cwd).returncode == 0

    def memo(self, *args, cwd=None, meanwhile=None, form="lean", stdin=None, timeout=ANSWER_WITHIN):
        """Runs `memo` and takes its JSON, lean or full, or its text; `meanwhile` is called once it has been started."""
        command, began = [self.program, *map(str, args), *FORMS[form]], time.monotonic()
        with subprocess.Popen(
            command, cwd=cwd or self.repo, env=self.env, text=True, errors="replace",
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            if meanwhile:
                meanwhile()
            try:
                out, err = process.communicate(stdin, timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = "", f"no answer in {timeout} s{process.communicate()[1]}"
        return Reply(command[1:], process.returncode, out, err, time.monotonic() - began, form != "text")

    def mcp(self, calls, cwd=None):
        """Calls tools of `memo mcp`; returns a result for each of them, or none where it ended before."""
        messages = [{"method": "initialize", "id": 0, "params": INITIALIZE}, {"method": "notifications/initialized"}]
        for number, (tool, arguments) in enumerate(calls, 1):
            messages.append({"method": "tools/call", "id": number, "params": {"name": tool, "arguments": arguments}})
        lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
        said = self.memo("mcp", cwd=cwd, stdin=lines, form="text").out
        answers = {}
        for line in said.splitlines():
            try:
                message = json.loads(line)
            except ValueError:
                continue
            answers[message.get("id")] = message.get("result") or {"error": message.get("error")}
        return [answers.get(number) for number in range(1, len(calls) + 1)]

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


def signature(path):
    """Returns what changes when a file is written; nothing where there is none."""
    try:
        entry = os.lstat(path)
    except OSError:
        return None
    return (entry.st_ino, entry.st_size, entry.st_mtime_ns)  # other names that come and go change the ctime


def mount(top, mib):
    """Mounts a file system of its own size on `top`, so that it can be filled; returns whether that is allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=700", "tmpfs", top]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def unmount(top):
    subprocess.run(["umount", "--lazy", top], check=True)
