#!/usr/bin/env python3
"""Asks the agents' own programs whether they see what `memo setup` writes and what `plugin/` holds.

    tests/check_agents.py [--memo PATH] [--npm DIR] [--schemas DIR] [--only AGENT]...

Installs Claude Code, Codex, Gemini CLI and opencode from npm into a directory of its own (or uses --npm DIR, where they
are installed), gives each a home of its own, and runs only commands that need no login. With the Python package
jsonschema, and --schemas DIR that holds `server.schema.json` of the MCP registry and `plugin.schema.json` of Agent
Plugins 1.0, it validates these files too. Prints one line for each check; exits with 1 when one failed, and says which
did not run.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PACKAGES = ["@anthropic-ai/claude-code", "@openai/codex", "@google/gemini-cli", "opencode-ai"]
AGENTS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}
# Commands about our plugin, in this order, and what they say when they succeed.
PLUGIN = [
    ("claude-code", ["plugin", "validate", "--strict", "plugin"], "Validation passed"),
    ("claude-code", ["plugin", "validate", "--strict", "."], "Validation passed"),
    ("claude-code", ["plugin", "marketplace", "add", "./"], "Successfully added"),
    ("claude-code", ["plugin", "install", "memod@memod"], "Successfully installed"),
    ("claude-code", ["plugin", "details", "memod"], "Skills (4)"),
    ("codex", ["plugin", "marketplace", "add", str(TOP)], "Added marketplace"),
    ("codex", ["plugin", "add", "memod@memod"], "Added plugin"),
    ("codex", ["mcp", "list"], "memod  memo     mcp   -    -"),
    ("gemini", ["extensions", "validate", "plugin"], "successfully validated"),
]
CONNECTED = re.compile(r"✓ .*memod|[Cc]onnected")


class Checks:
    def __init__(self, npm, memo):
        self.bin = npm / "node_modules" / ".bin"
        self.memo = memo
        self.failed = []
        self.not_run = []

    def say(self, outcome, what, why=""):
        print(f"{outcome:8} {what}{': ' + why if why else ''}", flush=True)
        if outcome == "FAILED":
            self.failed.append(what)
        if outcome == "NOT RUN":
            self.not_run.append(what)

    def program(self, name, args, home, work, timeout=120):
        """Returns exit status and output, or None when the program does not start."""
        path = self.bin / name
        if not path.exists():
            return None
        dirs = [str(self.memo.parent), str(self.bin), os.environ.get("PATH", "")]
        env = {"PATH": os.pathsep.join(dirs), "HOME": str(home), "TERM": "dumb", "NO_COLOR": "1"}
        # Both ask for a model, and never for one that these commands use.
        env |= {"GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        try:
            done = subprocess.run(
                [path, *args], cwd=work, env=env, capture_output=True, text=True, timeout=timeout, input="y\ny\n"
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return (-1, str(error))
        return (done.returncode, done.stdout + done.stderr)

    def setup(self, args, home, work):
        env = {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run")}
        done = subprocess.run([self.memo, "setup", *args], cwd=work, env=env, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def listed(self, agent, scope):
        """Sets an agent up, asks its program for its servers, and undoes it."""
        name = AGENTS[agent]
        what = f"{name} mcp list, {scope} scope"
        with tempfile.TemporaryDirectory(prefix="memod-agents-") as top:
            home, work = Path(top) / "home", Path(top) / "work"
            home.mkdir()
            work.mkdir()
            subprocess.run(["git", "init", "-q", work], check=True)
            # The program leaves files at its first run.
            started = self.program(name, ["--version"], home, work)
            if started is None or started[0] != 0:
                return self.say("NOT RUN", what, started[1].strip()[-200:] if started else "not installed")
            if agent == "codex" and scope == "project":
                config = home / ".codex" / "config.toml"
                config.parent.mkdir(exist_ok=True)
                config.write_text(f'[projects."{work.resolve()}"]\ntrust_level = "trusted"\n')
            before = hashes(home, work)
            status, said = self.setup([agent, "--scope", scope], home, work)
            if status != 0:
                return self.say("FAILED", f"memo setup {agent} --scope {scope}", said)
            _, listing = self.program(name, ["mcp", "list"], home, work)
            lines = [line.strip() for line in listing.splitlines() if "memod" in line]
            if lines:
                state = "connected" if CONNECTED.search(lines[0]) and "Disconnected" not in lines[0] else "listed"
                self.say("ok", what, f"{state}: {lines[0]}")
            else:
                self.say("FAILED", what, listing.strip()[-300:])
            # What the program itself has written since is not ours.
            written = self.setup([agent, "--scope", scope, "--show"], home, work)[1]
            self.setup([agent, "--scope", scope, "--undo"], home, work)
            after = hashes(home, work)
            changed = sorted(path for path in before if after.get(path) != before[path])
            theirs = [path for path in changed if path.endswith((".claude.json", "settings.json"))]
            left = [path for path in after if "memod" in path or holds(path)]
            if left:
                self.say("FAILED", f"undo of {agent}, {scope} scope", f"{left} still hold memod; {written[-200:]}")
            elif [path for path in changed if path not in theirs]:
                self.say("FAILED", f"undo of {agent}, {scope} scope", f"changed: {changed}")
            else:
                note = f"written by {name} meanwhile: {theirs}" if theirs else ""
                self.say("ok", f"undo of {agent}, {scope} scope", note)

    def run(self, name, args, expected, home, work):
        what = f"{name} {' '.join(args)}"
        done = self.program(name, args, home, work)
        if done is None:
            return self.say("NOT RUN", what, "not installed")
        status, said = done
        if status == 0 and expected in said:
            self.say("ok", what)
        else:
            self.say("FAILED", what, f"exit {status}: {said.strip()[-400:]}")

    def validate(self, schemas, name, file):
        what = f"{file} against {name}"
        try:
            import jsonschema
        except ImportError:
            return self.say("NOT RUN", what, "the package jsonschema is not installed")
        if schemas is None or not (schemas / name).exists():
            return self.say("NOT RUN", what, "no --schemas")
        schema = json.loads((schemas / name).read_text())
        validator = jsonschema.validators.validator_for(schema)(schema)
        wrong = [error.message for error in validator.iter_errors(json.loads((TOP / file).read_text()))]
        self.say("FAILED" if wrong else "ok", what, "; ".join(wrong))


def hashes(*dirs):
    found = {}
    for top in dirs:
        for path in sorted(top.rglob("*")):
            if path.is_file() and not any(part in path.parts for part in (".git", "node_modules", "cache", "tmp")):
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def holds(path):
    """Returns whether a settings or instruction file names us."""
    names = (".claude.json", "settings.json", "config.toml", "hooks.json", ".mcp.json", "opencode.json", ".md")
    return path.endswith(names) and "backups" not in path and b"memod: begin" in Path(path).read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memo", type=Path, default=TOP / "target" / "debug" / "memo")
    parser.add_argument("--npm", type=Path)
    parser.add_argument("--schemas", type=Path)
    parser.add_argument("--only", choices=AGENTS, action="append")
    args = parser.parse_args()
    memo = args.memo.resolve()
    if not memo.exists():
        sys.exit(f"{memo} is not there: cargo build, or name it with --memo")
    own = None
    npm = args.npm
    if npm is None:
        if shutil.which("npm") is None:
            sys.exit("npm is not installed: nothing was checked")
        own = tempfile.TemporaryDirectory(prefix="memod-npm-")
        npm = Path(own.name)
        subprocess.run(["npm", "install", "--silent", "--prefix", npm, *PACKAGES], check=False)
    checks = Checks(npm.resolve(), memo)
    agents = args.only or AGENTS
    for agent in agents:
        for scope in ("user", "project"):
            checks.listed(agent, scope)
    with tempfile.TemporaryDirectory(prefix="memod-plugins-") as top:
        for agent, args_of_program, expected in PLUGIN:
            if agent in agents:
                checks.run(AGENTS[agent], args_of_program, expected, Path(top), TOP)
    checks.validate(args.schemas, "server.schema.json", "plugin/server.json")
    checks.validate(args.schemas, "plugin.schema.json", "plugin/portable/plugin.json")
    if own is not None:
        own.cleanup()
    print(f"{len(checks.failed)} failed, {len(checks.not_run)} not run")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
