#!/usr/bin/env python3
"""Do the command line, the socket, MCP and the hook of agents give the same hits?

  doors.py WORKTREE... [--memo PATH] [--most N] [--questions FILE]

Works on a clone of each WORKTREE, with a home and a daemon of its own. Twenty questions are asked for each: ten of `doors.toml`,
by the name of the repository, and ten prompts of `silence/NAME.toml`, whose memories are added first. Each is asked through
`memo search --json`, the socket, and `memo mcp` as a client of 2025-11-25 and as one of 2026-07-28: the lists must be equal, place
by place. --questions FILE has others. Memories are asked for with `search --kind memory` and with `recall` through the same four doors. `memo hook prompt` may
say nothing; what it tells must be among the first N of those, in the same order.

Prints a line for each repository and one for each difference; exits with 1 when there is one.
"""
import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The doors show different numbers of hits when none is given.
N_HITS = 10
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "doors", "version": "0"}}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "doors", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def run(*command, env=None, cwd=None, text=None, allowed=(0,)):
    done = subprocess.run([str(word) for word in command], env=env, cwd=cwd, input=text, capture_output=True, encoding="utf-8")
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr.strip()}")
    return done.stdout


def questions_of(name, said):
    """Returns twenty questions and the memories that some of them are about; `said` is what the file of questions has."""
    if "memories" in said:
        return said["questions"], said["memories"]
    prompts = tomllib.loads((HERE / "silence" / f"{name}.toml").read_text())
    answered = [prompt for prompts in prompts["answered"].values() for prompt in prompts]
    step = len(answered) // 10
    return said["questions"] + answered[: 10 * step : step], list(prompts["memories"].values())


class Clone:
    """A clone with memories, in a home of its own."""

    def __init__(self, worktree, name, memo, home, memories):
        self.memo, self.tree = memo, home / name
        (home / "run").mkdir(parents=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "GIT_CONFIG_NOSYSTEM": "1"}
        run("git", "clone", "-q", "--shared", worktree, self.tree)
        self.run("init", "--no-hooks", "-q")
        for text in memories:
            self.run("add", "--force", "--", text)
        self.run("sync", "--sync", "full", "--wait-ms", "600000", "-q")

    def run(self, *words, text=None, allowed=(0,)):
        return run(self.memo, *words, env=self.env, cwd=self.tree, text=text, allowed=allowed)


class CommandLine:
    name = "command line"

    def __init__(self, clone):
        self.clone = clone

    def ask(self, what, query, **more):
        flags = [word for key, value in more.items() for word in (f"--{key}", str(value))]
        return json.loads(self.clone.run(what, "--json", *flags, "--", query, allowed=(0, 1)))

    def close(self):
        pass


class Socket:
    name = "socket"

    def __init__(self, clone):
        self.tree = str(clone.tree)
        address = json.loads((clone.tree / ".git/memo/endpoint").read_text())["socket"]
        self.peer = socket.socket(socket.AF_UNIX)
        self.peer.connect(address)
        self.lines = self.peer.makefile("rw", encoding="utf-8")

    def ask(self, what, query, **more):
        method = "memory.recall" if what == "recall" else what
        params = {"cwd": self.tree, "query": query, **more}
        if "kind" in params:
            params["kind"] = [params["kind"]]
        self.lines.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
        self.lines.flush()
        return answer(json.loads(self.lines.readline()))

    def close(self):
        self.lines.close()
        self.peer.close()


class Mcp:
    """A client of `memo mcp`; `meta` is what a client of 2026-07-28 sends with each request."""

    def __init__(self, clone, meta=None):
        self.meta, self.number = meta, 0
        self.name = "MCP 2026-07-28" if meta else "MCP 2025-11-25"
        pipe = subprocess.PIPE
        streams = {"stdin": pipe, "stdout": pipe, "encoding": "utf-8"}
        self.server = subprocess.Popen([clone.memo, "mcp"], cwd=clone.tree, env=clone.env, **streams)
        if meta:
            self.request("server/discover", {})
        else:
            self.request("initialize", HANDSHAKE)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()

    def request(self, method, params):
        self.number += 1
        if self.meta:
            params = {**params, "_meta": self.meta}
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            reply = json.loads(self.server.stdout.readline())
            if reply.get("id") == self.number:
                return answer(reply)

    def ask(self, what, query, **more):
        return self.request("tools/call", {"name": what, "arguments": {"query": query, **more}})["structuredContent"]

    def close(self):
        self.server.stdin.close()
        self.server.wait(timeout=20)
        self.server.stdout.close()


def answer(reply):
    if "result" not in reply:
        sys.exit(f"not answered: {json.dumps(reply)[:500]}")
    return reply["result"]


def hits(result):
    return [(hit["kind"], hit["path"], tuple(hit["lines"])) for hit in result["hits"]]


def hit_ids(result):
    return [hit["id"] for hit in result["hits"]]


def recalled_ids(result):
    return [memory["id"] for memory in result["memories"]]


def hook_ids(clone, nth, prompt):
    """Returns the memories that a new session is told for a prompt."""
    call = json.dumps({"session_id": f"doors-{nth}", "cwd": str(clone.tree), "prompt": prompt})
    said = clone.run("hook", "prompt", "--agent", "claude-code", "--within-ms", "60000", text=call)
    return re.findall(r"mem_\w{26}", json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else []


def equal(doors, asked, differences):
    """Returns what the first door answers, and whether all the others answer the same."""
    lists = [(door.name, asked(door)) for door in doors]
    first = lists[0][1]
    others = [(name, found) for name, found in lists[1:] if found != first]
    differences += [f"{name}: {len(found)} hits, command line: {len(first)}; first that differs: {first_difference(first, found)}"
                    for name, found in others]
    return first, not others


def first_difference(left, right):
    place = next((place for place, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))
    return f"place {place + 1}: {left[place : place + 1]} and {right[place : place + 1]}"


def recalls_what_search_finds(doors, question, differences):
    """Returns whether `recall` through each door gives what a search found just before: a recall changes what it finds."""
    is_equal = True
    for door in doors:
        memories = hit_ids(doors[0].ask("search", question, kind="memory", limit=N_HITS))
        recalled = recalled_ids(door.ask("recall", question))
        if recalled != memories:
            is_equal = False
            differences.append(f"recall, {door.name}: not what search --kind memory finds; {first_difference(memories, recalled)}")
    return is_equal


def hook_difference(told, memories):
    if missing := [memory for memory in told if memory not in memories]:
        return f"hook: tells {', '.join(missing)}, which search does not have among its first {len(memories)}"
    if told != sorted(told, key=memories.index):
        return f"hook: another order, places {[memories.index(memory) + 1 for memory in told]} of search"
    return None


def compare(clone, questions, most):
    """Asks every question through every door; returns counts and the differences."""
    doors = [CommandLine(clone), Socket(clone), Mcp(clone), Mcp(clone, META)]
    count, differences = dict(hits=0, equal=0, memories=0, recall=0, told=0, as_told=0), []
    for nth, question in enumerate(questions):
        wrong = []
        found, is_equal = equal(doors, lambda door: hits(door.ask("search", question, limit=N_HITS)), wrong)
        count["hits"] += len(found)
        count["equal"] += is_equal and bool(found)
        if not found:
            wrong.append("no hit")
        told = hook_ids(clone, nth, question)
        ask_memories = lambda door: hit_ids(door.ask("search", question, kind="memory", limit=most))
        memories, is_equal = equal(doors, ask_memories, wrong)
        count["memories"] += is_equal
        count["recall"] += recalls_what_search_finds(doors, question, wrong)
        count["told"] += bool(told)
        if difference := hook_difference(told, memories):
            wrong.append(difference)
        else:
            count["as_told"] += bool(told)
        differences += [f"{question.splitlines()[0][:70]!r} {line}" for line in wrong]
    for door in doors:
        door.close()
    return count, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worktrees", nargs="+", type=Path, metavar="WORKTREE")
    parser.add_argument("--memo", type=Path, default=Path("target/release/memo"))
    parser.add_argument("--most", type=int, default=12, help="how many memories of a search the hook may tell from")
    parser.add_argument("--questions", type=Path, default=HERE / "doors.toml", metavar="FILE")
    options = parser.parse_args()
    memo, failed = options.memo.resolve(), False
    known = tomllib.loads(options.questions.read_text())
    print(f"{'repository':12} questions   hits   equal: hits  memories  recall   hook: told, as search")
    for worktree in options.worktrees:
        url = run("git", "-C", worktree, "config", "--default", "", "remote.origin.url").strip()
        name = next((name for name in known if name in (worktree.resolve().name, Path(url).stem)), "memod")
        questions, memories = questions_of(name, known[name])
        with tempfile.TemporaryDirectory(prefix="doors-") as home:
            clone = Clone(worktree.resolve(), name, memo, Path(home), memories)
            try:
                count, differences = compare(clone, questions, options.most)
            finally:
                clone.run("stop", "-q", allowed=(0, 1, 2, 3))
        print(f"{name:12} {len(questions):9} {count['hits']:6} {count['equal']:13} {count['memories']:9} {count['recall']:7} "
              f"{count['told']:12} {count['as_told']:9}", flush=True)
        for line in differences:
            print(f"  DIFFERS {line}")
        failed = failed or bool(differences)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
