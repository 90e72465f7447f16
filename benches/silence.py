#!/usr/bin/env python3
"""Is an agent told something when it helps, and nothing when it does not?

  silence.py [--memo PATH] [--clones DIR] [--only NAME] [--errors] [--fit] [--trees DIR] [--sets DIR] [--starts N]

The sets in `silence/*.toml`, or in --sets, name a repository and a commit, 50 memories about it, prompts that one of them answers, and
prompts that need nothing. For each set: checks the commit out, adds the memories, and plays the prompts, shuffled with a
fixed seed, as sessions of ten through `memo hook prompt`, as an agent would. A prompt that needs a memory is right when
the session was told it, now or before. Prints for each set: right answers (recall), memories told that were labelled
(precision), empty prompts answered (false alarms), tokens a session, and the time of the whole process; then the time of
`memo hook session-start` with a warm daemon.

Sets with `use = "choose"` are for choosing weights and bounds; those with `use = "report"` only report, and their errors
are not looked at: --errors shows those of the first kind alone. --fit fits the weights of crates/search/src/memory_search/relevance.rs on
the first kind, by logistic regression. --clones has local clones by name, used instead of the network; --trees keeps
the checked out trees for the next run.
"""
import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

SESSION, SEED = 10, 7


def run(*command, env=None, cwd=None, text=None, may_fail=False):
    done = subprocess.run([str(word) for word in command], env=env, cwd=cwd, input=text, capture_output=True, encoding="utf-8")
    if done.returncode and not may_fail:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr.strip()}")
    return done.stdout


class Set:
    """One repository with its memories, in a home of its own."""

    def __init__(self, path, options, home):
        self.said = tomllib.loads(path.read_text())
        self.name, self.memo = path.stem, options.memo.resolve()
        self.tree = (options.trees or home) / self.name
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "GIT_CONFIG_NOSYSTEM": "1"}
        (home / "run").mkdir(parents=True, exist_ok=True)
        self.check_out(options.clones)
        run("rm", "-rf", self.tree / ".git/memo")
        run(self.memo, "init", "--no-hooks", "-q", env=self.env, cwd=self.tree)
        self.keys = {}
        for key, text in self.said["memories"].items():
            added = run(self.memo, "add", "--force", "--", text, env=self.env, cwd=self.tree)
            self.keys[re.search(r"mem_\w+", added)[0]] = key
        run(self.memo, "sync", "--sync", "full", "--wait-ms", "600000", "-q", env=self.env, cwd=self.tree)

    def check_out(self, clones):
        if (self.tree / ".git").exists():
            return
        url, commit = self.said["repository"], self.said["commit"]
        local = [path for path in (clones.iterdir() if clones else []) if path.name.removesuffix(".git") == self.name]
        run("git", "clone", "-q", "--no-checkout", local[0] if local else url, self.tree)
        run("git", "-c", "advice.detachedHead=false", "checkout", "-q", commit, cwd=self.tree)

    def prompts(self):
        """Returns each prompt with the keys that it needs, in the order of play."""
        answered = [(prompt, set(keys.split())) for keys, prompts in self.said["answered"].items() for prompt in prompts]
        prompts = answered + [(prompt, set()) for prompt in self.said["empty"]["prompts"]]
        random.Random(SEED).shuffle(prompts)
        return prompts

    def hook(self, event, **said):
        call = json.dumps({"session_id": "s", "cwd": str(self.tree), **said})
        began = time.perf_counter()
        text = run(self.memo, "hook", event, "--agent", "claude-code", env=self.env, text=call)
        took = (time.perf_counter() - began) * 1000
        context = json.loads(text)["hookSpecificOutput"]["additionalContext"] if text else ""
        return context, [self.keys[found] for found in re.findall(r"mem_\w{26}", context) if found in self.keys], took

    def explained(self, prompt):
        said = json.dumps({"cwd": str(self.tree), "prompt": prompt})
        text = run(self.memo, "hook", "prompt", "--json", "--within-ms", "60000", env=self.env, text=said, may_fail=True)
        return json.loads(text)["items"]

    def stop(self):
        run(self.memo, "stop", "-q", env=self.env, cwd=self.tree)


def play(one, shows_errors):
    """Plays the prompts as sessions; returns the counts."""
    count = dict(answered=0, right=0, empty=0, alarms=0, told=0, labelled=0, tokens=0, sessions=0)
    times, known = [], set()
    for nth, (prompt, needed) in enumerate(one.prompts()):
        if nth % SESSION == 0:
            count["sessions"] += 1
            known = set()
        context, told, took = one.hook("prompt", session_id=f"{one.name}-{nth // SESSION}", prompt=prompt)
        times.append(took)
        known.update(told)
        count["tokens"] += -(-len(context) // 4)
        count["told"] += len(told)
        count["labelled"] += len(needed & set(told))
        if needed:
            count["answered"] += 1
            count["right"] += bool(needed & known)
        else:
            count["empty"] += 1
            count["alarms"] += bool(told)
        is_wrong = bool(told) if not needed else not needed & known
        if is_wrong and shows_errors and one.said["use"] == "choose":
            print(f"  {'alarm ' if not needed else 'missed'} {prompt[:90]!r} needs {sorted(needed)}, told {told}")
    return count, times


def percentile(times, percent):
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]


def row(name, count, times):
    share = lambda part, whole: f"{100 * part / whole:5.1f} %" if whole else "    -  "
    print(f"{name:12} {count['right']:3}/{count['answered']:<3} {share(count['right'], count['answered'])}   "
          f"{count['labelled']:3}/{count['told']:<3} {share(count['labelled'], count['told'])}   "
          f"{count['alarms']:3}/{count['empty']:<3} {share(count['alarms'], count['empty'])}   "
          f"{count['tokens'] / max(count['sessions'], 1):6.0f}   {percentile(times, 50):6.1f} {percentile(times, 99):6.1f}", flush=True)


def start_times(one, n_starts):
    """Returns the times of the start of a session, each in a session of its own, once the daemon has the map."""
    start = lambda nth: one.hook("session-start", session_id=f"start-{nth}", hook_event_name="SessionStart", source="startup")
    start("first")
    return [start(nth)[2] for nth in range(n_starts)]


def examples(one):
    """Returns a row for each memory that was weighed: its strengths by name, and whether it was needed."""
    rows = []
    for prompt, needed in one.prompts():
        items = one.explained(prompt)
        rows.append((bool(needed), [({part["name"]: part["value"] for part in item["evidence"]}, one.keys[item["id"]] in needed) for item in items]))
    return rows


def fit(prompts, costs=(1.0, 3.0), l2=0.02, rounds=4000, rate=0.5):
    """Prints weights: logistic regression, where telling what is not needed costs `costs[1]` and missing costs `costs[0]`."""
    flat = [(strengths, needed, asked) for asked, items in prompts for strengths, needed in items]
    names = [name for name in flat[0][0] if name not in ("superseded", "drifted", "orphaned")]
    weights = dict.fromkeys(names, 0.0)
    total = sum(costs[0] * 4 if needed else costs[1] if not asked else 1.0 for _, needed, asked in flat)
    for _ in range(rounds):
        slope = dict.fromkeys(names, 0.0)
        for strengths, needed, asked in flat:
            cost = costs[0] * 4 if needed else costs[1] if not asked else 1.0
            guess = 1 / (1 + math.exp(-sum(weights[name] * strengths[name] for name in names)))
            for name in names:
                slope[name] += cost * (guess - needed) * strengths[name]
        for name in names:
            decay = 0 if name == "silence" else l2 * weights[name]
            weights[name] -= rate * 10 * (slope[name] / total + decay / 10)
    print("weights", {name: round(weight, 2) for name, weight in weights.items()})
    score = lambda strengths: sum(weights[name] * strengths[name] for name in names)
    best = lambda items: max((score(strengths) for strengths, _ in items), default=-99)
    for shift in [x / 4 for x in range(-8, 13)]:
        alarms = sum(best(items) >= shift for asked, items in prompts if not asked)
        right = sum(any(needed and score(strengths) >= shift for strengths, needed in items) for asked, items in prompts if asked)
        told = [needed for _, items in prompts for strengths, needed in items if score(strengths) >= shift]
        print(f"  bound {shift:+.2f}: right {right}, alarms {alarms}, told {len(told)}, labelled {sum(told)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memo", type=Path, default=Path("target/release/memo"))
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--trees", type=Path)
    parser.add_argument("--sets", type=Path, default=Path(__file__).parent / "silence")
    parser.add_argument("--starts", type=int, default=200, help="how many starts of a session are timed")
    parser.add_argument("--only", default="")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    print("set          recall           precision        false alarms     tokens/session  p50, p99 ms")
    sums, all_prompts, starts = {}, [], {}
    with tempfile.TemporaryDirectory() as home:
        for path in sorted(options.sets.glob("*.toml")):
            if options.only and not re.search(options.only, path.stem):
                continue
            if options.fit and tomllib.loads(path.read_text())["use"] != "choose":
                continue
            one = Set(path, options, Path(home))
            if options.fit:
                all_prompts += examples(one)
            count, times = play(one, options.errors)
            row(one.name, count, times)
            use = sums.setdefault(one.said["use"], (dict.fromkeys(count, 0), []))
            for key, value in count.items():
                use[0][key] += value
            use[1].extend(times)
            starts[one.name] = start_times(one, options.starts)
            one.stop()
    for use, (count, times) in sums.items():
        row(f"({use})", count, times)
    for name, times in starts.items():
        print(f"session-start of {name}: p50 {percentile(times, 50):.1f} ms, p99 {percentile(times, 99):.1f} ms, whole process")
    if options.fit:
        fit(all_prompts)


if __name__ == "__main__":
    main()
