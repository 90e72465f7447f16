#!/usr/bin/env python3
"""Plays sessions of real coding agents with memod, against a model server that follows a script.

    tests/agent_sessions.py [--memo PATH] [--npm DIR] [--tokenizer DIR] [--only AGENT] [--keep]

Installs Claude Code, Codex, Gemini CLI and opencode from npm into a directory of its own (or uses --npm DIR, where they
are installed). No login is needed: each program is told the address of `tests/scripted_model.py`. Each agent gets a home
and a repository of its own, `memo setup` and three sessions: one in which the model calls our tool `search` and edits a
file, one whose prompt needs nothing, and one that is killed in the middle. What the agent sends to the model is checked:
the tools, the result of the call, and what the hooks of `memo hook` told. --tokenizer DIR holds the npm package
gpt-tokenizer; without it the definitions are not counted. --keep leaves the homes and the recorded requests.

Prints one line for each check; exits with 1 when one failed, and says which did not run.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from check_agents import PACKAGES
from scripted_model import Call, ScriptedModel, texts

TOP = Path(__file__).resolve().parent.parent
TOOLS = ["brief", "changed", "map", "memo", "recall", "remember", "search", "why"]
FILE = "src/session.rs"
CODE = """/// How long a token is good for, seconds.
pub const LIFETIME_S: u64 = 24 * 60 * 60;

pub fn is_valid(age_s: u64) -> bool {
    age_s < LIFETIME_S
}
"""
DOC = "# Authentication\n\nA login gives a token. Tokens are stored hashed.\n"
NEEDS = "why does a token expire after a whole day?"
NEEDS_NOTHING = "run the tests, please"
FOR_PROMPT = "a token expires after 24 hours, because support asked for a whole day"
FOR_EDIT = "billing reads this constant as well"
NOTES = "Notes of this project, kept by memod"
COUNT = """
const { createRequire } = require("node:module");
const { encode } = createRequire(process.cwd() + "/package.json")("gpt-tokenizer/encoding/o200k_base");
console.log(encode(require("node:fs").readFileSync(0, "utf8")).length);
"""


def claude(session):
    path = str(session.work / FILE)
    change = {"file_path": path, "old_string": "24 * 60", "new_string": "12 * 60"}
    allowed = "mcp__memod__search,Read,Edit"
    return {
        "program": ["claude", "-p", "--allowedTools", allowed, "--"],
        "env": {"ANTHROPIC_BASE_URL": session.model.url, "ANTHROPIC_API_KEY": "none"},
        "edit": [Call("Read", {"file_path": path}), Call("Edit", change)],
        "hooks": ("start", "prompt", "edit"),
    }


def codex(session):
    provider = f'{{name="scripted",base_url="{session.model.url}/v1",env_key="SCRIPTED_KEY",wire_api="responses"}}'
    patch = f"*** Begin Patch\n*** Update File: {FILE}\n@@\n-pub const LIFETIME_S: u64 = 24 * 60 * 60;\n"
    patch += "+pub const LIFETIME_S: u64 = 12 * 60 * 60;\n*** End Patch\n"
    settings = ["-c", 'model_provider="scripted"', "-c", f"model_providers.scripted={provider}", "-m", "gpt-5.5"]
    # The hooks of a new home are trusted by a person, at /hooks; this flag stands for that.
    loose = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
    return {
        "program": ["codex", "exec", *loose, *settings],
        "env": {"SCRIPTED_KEY": "none"},
        "edit": [Call("apply_patch", {"input": patch})],
        "hooks": ("start", "prompt", "edit"),
    }


def gemini(session):
    # The program refuses to choose a way to log in from the environment when another server is named.
    settings = session.home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}\n')
    change = {"file_path": str(session.work / FILE), "old_string": "24 * 60 * 60", "new_string": "12 * 60 * 60"}
    return {
        # With a model of its own choice it first asks another model which to take.
        "program": ["gemini", "--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p"],
        "env": {
            "GOOGLE_GEMINI_BASE_URL": session.model.url,
            "GEMINI_API_KEY": "none",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        "edit": [Call("replace", change | {"instruction": "Halve the lifetime of a token."})],
        "hooks": ("start", "prompt", "edit"),
    }


def opencode(session):
    options = {"baseURL": f"{session.model.url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options, "models": {"m": {"name": "m"}}}
    config = {"provider": {"scripted": provider}, "model": "scripted/m"}
    return {
        "program": ["opencode", "run"],
        "env": {"OPENCODE_CONFIG_CONTENT": json.dumps(config)},
        "edit": [],
        "hooks": (),
    }


AGENTS = {"claude-code": claude, "codex": codex, "opencode": opencode, "gemini": gemini}


class Table:
    def __init__(self):
        self.failed, self.not_run = [], []

    def say(self, outcome, agent, what, why=""):
        print(f"{outcome:8} {agent:12} {what}{': ' + why if why else ''}", flush=True)
        if outcome == "FAILED":
            self.failed.append(f"{agent}: {what}")
        if outcome == "NOT RUN":
            self.not_run.append(f"{agent}: {what}")

    def check(self, agent, holds, what, why=""):
        self.say("ok" if holds else "FAILED", agent, what, why)


class Session:
    """An agent with a home and a repository of its own, and the model that it asks."""

    def __init__(self, agent, top, options, table):
        self.agent, self.top, self.options, self.table = agent, top, options, table
        self.home, self.work, self.run_dir = top / "home", top / "work", top / "run"
        self.bin = self.home / "bin"
        for directory in (self.home, self.work / "src", self.work / "docs", self.run_dir, self.bin):
            directory.mkdir(parents=True)
        self.run_dir.chmod(0o700)
        for name in ("memo", "memod"):
            shutil.copy(options.memo.parent / name, self.bin / name)
        self.memo = self.bin / "memo"
        dirs = [str(self.bin), str(options.npm / "node_modules" / ".bin"), os.environ.get("PATH", "")]
        self.env = {"PATH": os.pathsep.join(dirs), "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.run_dir)}
        self.env |= {"TERM": "dumb", "NO_COLOR": "1", "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1"}
        self.model = ScriptedModel()
        self.how = AGENTS[agent](self)

    def close(self):
        self.model.close()
        subprocess.run([self.memo, "stop", "-q"], cwd=self.work, env=self.env, capture_output=True)

    def check(self, holds, what, why=""):
        self.table.check(self.agent, holds, what, why)

    def must(self, *command):
        words = [str(word) for word in command]
        done = subprocess.run(words, cwd=self.work, env=self.env, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def prepare(self):
        (self.work / FILE).write_text(CODE)
        (self.work / "docs" / "auth.md").write_text(DOC)
        self.must("git", "init", "-q")
        self.must("git", "add", ".")
        self.must("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "keep tokens for a day")
        self.must(self.memo, "init", "-q")
        self.must(self.memo, "add", "-q", FOR_PROMPT)
        self.must(self.memo, "add", "-q", "--about", f"{FILE}#LIFETIME_S", FOR_EDIT)
        self.must(self.memo, "setup", "-q", self.agent)

    def start(self, prompt):
        return subprocess.Popen(
            [*self.how["program"], prompt],
            cwd=self.work,
            env=self.env | self.how["env"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def ask(self, prompt, script):
        """Plays a session, and returns what the program printed, or None when it did not end by itself."""
        self.model.play(script)
        program = self.start(prompt)
        try:
            said = program.communicate(timeout=self.options.timeout)[0]
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            said = None
        if self.options.keep:
            bodies = [request.body for request in self.model.requests]
            (self.top / f"requests-{len(script)}.json").write_text(json.dumps(bodies, indent=1))
        return said

    def servers(self):
        """Returns the processes of our copy of `memo`."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if (entry / "exe").readlink() == self.memo:
                    found.append((int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
            except OSError:
                continue  # it has ended, or is somebody else's
        return found

    def leaves_nothing(self, what):
        deadline = time.monotonic() + 10
        while self.servers() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.check(not self.servers(), what, str(self.servers() or ""))


def play(session):
    said = session.ask(NEEDS, [Call("search", {"query": "how long is a token valid"}), *session.how["edit"]])
    requests = session.model.requests
    if not requests:
        return session.check(False, "a session reaches the model", str(said)[-400:])
    first, last = requests[0], requests[-1]
    listed = next((request for request in requests if request.tool(["search"])), first)
    ours = [tool for tool in listed.tools if "memod" in tool["name"]]
    names = ", ".join(tool["name"] for tool in ours)
    when = "" if listed is first else ", once the model has looked for them"
    offered = [name for name in TOOLS if listed.tool([name])]
    session.check(offered == TOOLS, f"offers our eight tools{when}", names or str(said)[-300:])
    count_tokens(session, ours)
    found = next((result for result in last.results), "")
    session.check(FILE in found and "LIFETIME_S" in found, "the result of search reaches the model", shape(found))
    session.check(said is not None and f"The answer is in {FILE}" in said, "the program prints the answer", str(said)[-200:])
    told(session, first, last)
    session.leaves_nothing("no server is left after the end")


def told(session, first, last):
    """Checks what the hooks told in the session that needs something."""
    hooks = session.how["hooks"]
    if not hooks:
        session.check(NOTES not in first.text, "has no hooks, and is told nothing")
        return
    blocks = [text for text in texts(first.body) if NOTES in text]
    brief = [text for text in blocks if "## Last commits" in text and "keep tokens for a day" in text]
    session.check(bool(brief), "the brief is in the first request, marked as notes", f"{len(''.join(brief))} characters of text")
    memory = [text for text in blocks if FOR_PROMPT in text]
    session.check(bool(memory), "the memory for the prompt is in the first request, marked as notes")
    if "edit" in hooks:
        changed = "12 * 60" in (session.work / FILE).read_text()
        session.check(changed, "the scripted edit was made", last.results[-1][:200] if last.results and not changed else "")
        block = [text for text in texts(last.body) if NOTES in text and FOR_EDIT in text]
        session.check(bool(block), "the memory about the file comes with the edit, marked as notes")
        session.check(not any(FOR_EDIT in text for text in texts(first.body)), "it was not told before")


def play_silence(session):
    if not session.how["hooks"]:
        return
    session.ask(NEEDS_NOTHING, [])
    requests = session.model.requests
    if not requests:
        return session.check(False, "a second session reaches the model")
    text = requests[0].text
    session.check(FOR_PROMPT not in text and text.count(NOTES) <= 1, "a prompt that needs nothing is told nothing")


def play_killed(session):
    session.model.play([Call("search", {"query": "token"})], hold=1)
    program = session.start(NEEDS)
    reached = session.model.held.wait(session.options.timeout)
    had = session.servers()
    # Gemini CLI starts itself again, so the process that has our server is not the one that we started.
    for owner in [program.pid, *(parent(pid) for pid, _ in had)]:
        os.kill(owner, signal.SIGKILL)
    session.check(reached and bool(had), "our server runs while the model thinks", str(had or ""))
    session.leaves_nothing("no server is left after SIGKILL of the program")
    session.model.let_go.set()
    try:
        os.killpg(program.pid, signal.SIGKILL)  # what the program itself has left
    except ProcessLookupError:
        pass
    program.communicate()


def parent(pid):
    """Returns the id of the process that started this one."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def shape(result):
    """Says what a client made of the result: our text, or the structured content."""
    if not result:
        return "no result"
    if '"hits":' in result:
        return "as structured content (JSON)"
    return "as text" if "```" in result else result[:120]


def count_tokens(session, tools):
    directory = session.options.tokenizer
    if directory is None or not (directory / "node_modules" / "gpt-tokenizer").exists():
        return session.table.say("NOT RUN", session.agent, "tokens of the definitions", "no gpt-tokenizer (--tokenizer)")
    if not tools:
        return session.table.say("NOT RUN", session.agent, "tokens of the definitions", "no tools are offered")
    given = json.dumps(tools)
    done = subprocess.run(["node", "-e", COUNT], cwd=directory, input=given, capture_output=True, text=True)
    if done.returncode != 0:
        return session.check(False, "tokens of the definitions", done.stderr[-200:])
    session.table.say("ok", session.agent, "tokens of the definitions, as JSON in the request", f"{done.stdout.strip()} (o200k_base)")


def run(agent, options, table):
    name = AGENTS[agent].__name__
    if not (options.npm / "node_modules" / ".bin" / name).exists():
        return table.say("NOT RUN", agent, "all sessions", f"{name} is not installed")
    top = Path(tempfile.mkdtemp(prefix=f"memod-{agent}-"))
    session = Session(agent, top, options, table)
    try:
        session.prepare()
        play(session)
        play_silence(session)
        play_killed(session)
    finally:
        session.close()
        if options.keep:
            print(f"kept     {agent:12} {top}")
        else:
            shutil.rmtree(top, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memo", type=Path, default=TOP / "target" / "debug" / "memo")
    parser.add_argument("--npm", type=Path)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--only", choices=AGENTS, action="append")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each session")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    options.memo = options.memo.resolve()
    if not options.memo.exists():
        sys.exit(f"{options.memo} is not there: cargo build, or name it with --memo")
    if not Path("/proc/self/exe").exists():
        sys.exit("there is no /proc to find servers in: nothing was checked")
    own = None
    if options.npm is None:
        if shutil.which("npm") is None:
            sys.exit("npm is not installed: nothing was checked")
        own = tempfile.TemporaryDirectory(prefix="memod-npm-")
        options.npm = Path(own.name)
        subprocess.run(["npm", "install", "--silent", "--prefix", own.name, *PACKAGES, "gpt-tokenizer"], check=False)
    options.npm = options.npm.resolve()
    options.tokenizer = (options.tokenizer or options.npm).resolve()
    table = Table()
    for agent in options.only or AGENTS:
        run(agent, options, table)
    if own is not None:
        own.cleanup()
    print(f"{len(table.failed)} failed, {len(table.not_run)} not run")
    print("not checked: a model's own choice of tools, sessions with a login, agents with a window (Cursor, VS Code, Zed)")
    sys.exit(1 if table.failed else 0)


if __name__ == "__main__":
    main()
