#!/usr/bin/env python3
"""How long after `git switch` is an answer fresh, when two branches differ in many files?

Makes a repository in a temporary directory, switches back and forth, and prints the time of each switch beside the
time from its end to the first fresh answer. Fails when anything is parsed or embedded after the first round.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # leaves no cache beside the sources
from search import connect  # noqa: E402

TEXT = """//! Module {number} on {branch}.

/// Returns the {branch} of `value`.
pub fn item_{number}_{branch}(value: u64) -> u64 {{
    let step = value.wrapping_mul({number});
    step ^ {number}
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memo", default="memo", help="the client; memod is looked for beside it")
    parser.add_argument("--files", type=int, default=5_000, help="files that differ")
    parser.add_argument("--lines", type=int, default=1, help="how often the text of a file is repeated")
    parser.add_argument("--rounds", type=int, default=20, help="switches that are measured")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memod-switch-") as top:
        measure(options, pathlib.Path(top))


def measure(options, top):
    root = top / "work"
    root.mkdir()
    home = {"HOME": str(top), "XDG_RUNTIME_DIR": str(top), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}

    def run(*command):
        return subprocess.run(command, cwd=root, env=home, check=True, capture_output=True, text=True).stdout

    def git(*args):
        return run("git", "-c", "user.name=b", "-c", "user.email=b@example.org", *args)

    git("init", "-q", "-b", "one")
    for branch in ("one", "two"):
        if branch == "two":
            git("switch", "-qc", "two")
        for number in range(options.files):
            path = root / f"src/d{number % 50}/f{number}.rs"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TEXT.format(number=number, branch=branch) * options.lines)
        (root / "branch.md").write_text(f"# {branch}branch\n")
        git("add", "-A")
        git("commit", "-qm", branch)
    run(options.memo, "init")
    try:
        ask = connect(str(root))
        rounds(options, git, ask)
    finally:
        run(options.memo, "stop")


def rounds(options, git, ask):
    switches, waits, cpu, counters = [], [], [], None
    pid = ask("status")["daemon"]["pid"]
    for number in range(options.rounds + 2):
        branch, other = ("one", "two") if number % 2 == 0 else ("two", "one")
        cpu_before, started = cpu_seconds(pid), time.perf_counter()
        git("switch", "-q", branch)
        switched = time.perf_counter()
        answer = ask("search", query=f"{branch}branch", mode="keyword", wait_ms=60_000)
        fresh, spent = time.perf_counter(), cpu_seconds(pid)
        assert answer["fresh"] and answer["hits"][0]["path"] == "branch.md", answer
        assert f"{other}branch" not in answer["hits"][0]["snippet"], answer
        ask("sync", sync="full", wait_ms=600_000)
        if number < 2:
            counters = ask("status")["counters"]
            continue
        switches.append((switched - started) * 1e3)
        waits.append((fresh - switched) * 1e3)
        cpu.append((spent - cpu_before) * 1e3)
    now = ask("status")["counters"]
    for name in ("parses", "embeds"):
        assert now[name] == counters[name], f"{name}: {counters[name]} before, {now[name]} after"
    for name, times in (("git switch", switches), ("then to fresh", waits), ("daemon's CPU", cpu)):
        print(f"{name:<14} p50 {statistics.median(times):7.1f} ms   max {max(times):7.1f} ms")
    print(f"{options.files} files, {options.rounds} switches; parses and embeds as after the first round")


def cpu_seconds(pid):
    """CPU time of the daemon so far; of its threads, not of what it started."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
