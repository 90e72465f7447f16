#!/usr/bin/env python3
"""How many calls and tokens does an agent need to work something out, with memod and without?

  sessions.py --clones DIR --node DIR [--memo PATH] [--rg PATH] [--only NAME] [--window LINES] [--show] [--tasks DIR]

`sessions/*.json`, or those of --tasks, hold tasks in repositories of others: a chain of questions, the facts that answer each (of a list one text will
do), and the calls by which somebody found them, played twice. `plain` is what an agent has anyway: `rg`, `git`, and reads of
a file's lines. `memod` are the tools of `memo mcp`, and reads where they were needed. This program replays the calls in a clone
at the commit of the task, checks that every fact of a question was shown by then (an agent does not ask again for what it has
seen), and counts calls and tokens (arguments and output, o200k_base). Outputs are cut as agents cut them: 250 lines of `rg` and
`git`. What the list of tools and the instructions of `memo mcp` cost a session is counted apart. --window makes every read, on
both sides, at least this long: many agents read 200 lines where these players read what they needed. --show prints the tokens
of each call.

Needs git, rg, and a folder with the npm package gpt-tokenizer (`npm install gpt-tokenizer`). DIR of --clones has the
repositories by name. Exits with 1 when a fact is not found.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MOST_LINES = 250
COUNT = """
const { createRequire } = require("node:module");
const { encode } = createRequire(process.cwd() + "/package.json")("gpt-tokenizer/encoding/o200k_base");
const texts = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => encode(text).length)));
"""
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "sessions", "version": "0"}}


def run(*command, env=None, cwd=None, text=None, allowed=(0,)):
    # A pipe in place of an input of its own is what rg would search.
    given = {"stdin": subprocess.DEVNULL} if text is None else {"input": text}
    words = [str(word) for word in command]
    done = subprocess.run(words, env=env, cwd=cwd, **given, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr.strip()}")
    return done.stdout


def cut(text):
    lines = text.splitlines()
    more = [f"({len(lines) - MOST_LINES} more lines)"] if len(lines) > MOST_LINES else []
    return "\n".join(lines[:MOST_LINES] + more)


class Plain:
    """What every agent has: rg, git, and reads of a file."""

    def __init__(self, tree, options):
        self.tree, self.rg, self.window = tree, options.rg, options.window

    def call(self, call):
        (name, words), = call.items()
        if name == "rg":  # sorted, because what is cut off must not depend on threads
            return cut(run(self.rg, "--sort", "path", *words, cwd=self.tree, allowed=(0, 1)))
        if name == "git":
            return cut(run("git", "--no-pager", *words, cwd=self.tree))
        path, first, last = words
        lines = (self.tree / path).read_text().splitlines()[first - 1 : max(last, first + self.window - 1)]
        return "\n".join(f"{first + nth:6}\t{line}" for nth, line in enumerate(lines))


class Memod(Plain):
    """The tools of `memo mcp`, beside what every agent has."""

    def __init__(self, tree, options, home):
        super().__init__(tree, options)
        self.memo, self.number = options.memo.resolve(), 0
        memo = self.memo
        (home / "run").mkdir(parents=True, exist_ok=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "GIT_CONFIG_NOSYSTEM": "1"}
        run(memo, "init", "--no-hooks", "-q", env=self.env, cwd=tree)
        run(memo, "sync", "--sync", "full", "--wait-ms", "600000", "-q", env=self.env, cwd=tree)
        pipe = subprocess.PIPE
        self.server = subprocess.Popen([memo, "mcp"], cwd=tree, env=self.env, stdin=pipe, stdout=pipe, encoding="utf-8")
        self.instructions = self.request("initialize", HANDSHAKE)["instructions"]
        tools = self.request("tools/list", {})["tools"]
        given = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]} for tool in tools]
        self.listing = json.dumps(given, separators=(",", ":"))

    def request(self, method, params):
        self.number += 1
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}) + "\n")
        self.server.stdin.flush()
        while True:
            reply = json.loads(self.server.stdout.readline())
            if reply.get("id") == self.number:
                return reply["result"]

    def call(self, call):
        (name, arguments), = call.items()
        if name in ("rg", "git", "read"):
            return super().call(call)
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        return "\n".join(part["text"] for part in result["content"])

    def close(self):
        self.server.stdin.close()
        self.server.wait(timeout=20)
        self.server.stdout.close()
        run(self.memo, "stop", "-q", env=self.env, cwd=self.tree)


def missing_facts(facts, outputs):
    """Returns the facts that are in none of the outputs; of a fact that is a list one text will do."""
    is_there = lambda text: any(text in output for output in outputs)
    return [fact for fact in facts if not any(is_there(text) for text in ([fact] if isinstance(fact, str) else fact))]


def count_tokens(node, texts):
    return json.loads(run("node", "-e", COUNT, cwd=node, text=json.dumps(texts)))


class Side:
    """One way to play a task: its calls so far, their tokens, and everything that they showed."""

    def __init__(self, name, door, options):
        self.name, self.door, self.options = name, door, options
        self.outputs, self.n_calls, self.tokens, self.missing = [], 0, 0, []

    def play(self, question):
        """Replays the calls of a question; returns how many there are and their tokens."""
        calls = [json.dumps(call) for call in question[self.name]]
        outputs = [self.door.call(call) for call in question[self.name]]
        self.outputs += outputs
        self.missing += missing_facts(question["facts"], self.outputs)
        counts = count_tokens(self.options.node, calls + outputs)
        counts = [counts[nth] + counts[nth + len(calls)] for nth in range(len(calls))]
        if self.options.show:
            for call, count in zip(calls, counts):
                print(f"    {self.name} {count:6} {call}")
        self.n_calls += len(calls)
        self.tokens += sum(counts)
        return f"{len(calls):3} {sum(counts):7}"


def play(task, tree, options, home):
    """Replays a task both ways; prints a line for each question. Returns whether a fact was missed."""
    memod = Memod(tree, options, home)
    sides = [Side("plain", Plain(tree, options), options), Side("memod", memod, options)]
    try:
        for question in task["questions"]:
            print("   ".join(side.play(question) for side in sides), f"  {question['question']}", flush=True)
        listing, instructions = count_tokens(options.node, [memod.listing, memod.instructions])
    finally:
        memod.close()
    print("   ".join(f"{side.n_calls:3} {side.tokens:7}" for side in sides), "  all questions")
    print(f"                  {listing + instructions:7}   tools ({listing}) and instructions ({instructions}), once a session")
    for side in sides:
        for fact in side.missing:
            print(f"  NOT FOUND by {side.name}: {fact!r}")
    return any(side.missing for side in sides)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--node", type=Path, required=True)
    parser.add_argument("--memo", type=Path, default=Path("target/release/memo"))
    parser.add_argument("--rg", default="rg")
    parser.add_argument("--tasks", type=Path, default=HERE / "sessions")
    parser.add_argument("--only", default="")
    parser.add_argument("--window", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    is_wrong = False
    for path in sorted(options.tasks.glob(f"{options.only or '*'}.json")):
        task = json.loads(path.read_text())
        with tempfile.TemporaryDirectory(prefix="sessions-") as home:
            tree = Path(home) / path.stem
            run("git", "clone", "-q", "--no-checkout", options.clones / path.stem, tree)
            run("git", "-c", "advice.detachedHead=false", "checkout", "-q", task["commit"], cwd=tree)
            print(f"\n{path.stem}: {task['task']}\n  plain         memod      (calls, tokens)")
            is_wrong = play(task, tree, options, Path(home) / "home") or is_wrong
    sys.exit(1 if is_wrong else 0)


if __name__ == "__main__":
    main()
