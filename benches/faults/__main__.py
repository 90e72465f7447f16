#!/usr/bin/env python3
"""Is an answer ever silently stale, or a memory lost, whatever goes wrong?

Does random things to a repository and to memories, in calm times and while something is broken, and compares every
answer with what is on the disk. The order of what is done depends on the seed alone. Exits with 1 when anything is
wrong.
"""

import argparse
import collections
import functools
import pathlib
import random as randomness
import re
import resource
import shutil
import sys
import tempfile
import time

import injection
import operations
import oracle
import sandbox as sandboxes
import soundness

CALM_STEPS = 8
# Longest time from the end of a fault to the first fresh answer, seconds.
HEAL_WITHIN = 20
# Least share of fresh answers while nothing is broken.
FRESH_SHARE = 0.9
# Longest time an answer may take beyond what it may wait for freshness, seconds.
ANSWER_WITHIN = 35
FILE_SYSTEM_MIB = 192


class Wrong(Exception):
    """What was expected and did not hold."""


class Run:
    def __init__(self, options, top, is_mounted):
        self.options, self.sandbox = options, sandboxes.Sandbox(top, options.memo)
        self.words, self.memories = oracle.Words(), oracle.Memories()
        self.disk = oracle.Disk(self.sandbox)
        self.operations = operations.Operations(self.sandbox, self.words)
        self.verbs = operations.MemoryVerbs(self.sandbox, self.words, self.memories)
        self.calm = injection.Fault(self.sandbox)
        self.faults = [fault for fault in injection.all_faults(self.sandbox, is_mounted) if self._allowed(fault)]
        self.fault, self.is_healing = self.calm, False
        self.secrets, self.failures, self.told = [], 0, set()
        self.tally = collections.Counter()
        self.by_fault = collections.defaultdict(collections.Counter)
        self.heal_times = collections.defaultdict(list)
        self.reasons, self.refusals = collections.Counter(), collections.Counter()
        self.round, self.step, self.began = 0, 0, time.monotonic()
        self.log = open(pathlib.Path(options.log or f"{top}.log"), "w", buffering=1)

    def _allowed(self, fault):
        if self.options.fault and self.options.fault not in fault.name:
            return False
        why_not = fault.why_not()
        if why_not:
            print(f"NOT CHECKED: {fault.name}: {why_not}", file=sys.stderr)
        return not why_not

    def note(self, text):
        line = f"{time.monotonic() - self.began:8.2f} step {self.step} [{self.fault.name}] {text}"
        self.log.write(line + "\n")
        if self.options.verbose:
            print(line)

    def wrong(self, expected, answer=""):
        """Says what did not hold, each thing once, and ends the run unless it shall go on."""
        self.failures += 1
        if expected in self.told:
            return
        self.told.add(expected)
        self.tally["wrong"] += 1
        self.note(f"WRONG: {expected}\n{answer}")
        state = self.sandbox.state
        print(
            f"\nWRONG in step {self.step} of seed {self.options.seed}, fault: {self.fault.name}\n"
            f"  expected: {expected}\n  answer: {answer}\n  look at: {self.sandbox.repo}, {state}/memod.log, {self.log.name}\n"
            f"  again: --seed {self.options.seed} --rounds {self.round + 1}",
            file=sys.stderr,
        )
        if not self.options.keep_going:
            raise Wrong

    # --- steps

    def run(self):
        self.operations.begin(randomness.Random(self.options.seed))
        while not self._is_over():
            random = randomness.Random(f"{self.options.seed}/{self.round}")
            for _ in range(CALM_STEPS):
                self.do(random)
            self.break_and_heal(random)
            self.round += 1
            if self.round % 40 == 0:
                self.check_all()
        self.check_all()

    def _is_over(self):
        if self.options.rounds:
            return self.round >= self.options.rounds
        return time.monotonic() - self.began > self.options.seconds

    def break_and_heal(self, random):
        if not self.faults:
            return
        # All in turn, so that a short run has them all.
        if self.round % len(self.faults) == 0:
            randomness.Random(f"{self.options.seed}/faults/{self.round}").shuffle(self.faults)
        self.fault = self.faults[self.round % len(self.faults)]
        self.by_fault[self.fault.name]["times"] += 1
        self.note(f"begins: {self.fault.begin(random)}")
        try:
            for _ in range(self.fault.n_steps):
                self.do(random)
        finally:
            left = self.fault.lift()
        if left:
            self.wrong(left)
        self.is_healing = True
        self.heal(random)
        self.fault, self.is_healing = self.calm, False

    def heal(self, random):
        """Waits for the first fresh answer after a fault was lifted."""
        lifted = time.monotonic()
        self.note("lifted")
        while True:
            reply = self.ask(random, self.sandbox.repo, level="fs", wait_ms=None)
            took = time.monotonic() - lifted
            if not reply.error and reply.json["fresh"]:
                break
            if took > HEAL_WITHIN:
                self.wrong(f"a fresh answer within {HEAL_WITHIN} s of the end of the fault", reply)
                break
            time.sleep(0.05)
        self.heal_times[self.fault.name].append(took)

    def do(self, random):
        """Does one thing and asks, mostly for what was just written."""
        self.step += 1
        kind, root = random.random(), random.choice(self.sandbox.roots)
        if kind < 0.62:
            self.note(self.operations.any(random, root))
        elif kind < 0.66 and root == self.sandbox.repo:
            self.become_secret(random, root)
        elif kind < 0.86:
            self.change_memory(random)
        else:
            return self.ask(random, root, meanwhile=lambda: self.note(self.operations.quick(random, root)))
        if random.random() < 0.75:
            self.ask(random, random.choice(self.sandbox.roots))

    def ask(self, random, root, level=None, wait_ms="any", meanwhile=None):
        before = self.disk.files(root)
        word = self.words.pick(random, before)
        level = level or random.choices(["fs", "none", "strict", "full"], [6, 1, 2, 1])[0]
        mode = random.choices(["keyword", "hybrid", "vector"], [6, 3, 1])[0]
        if wait_ms == "any":
            wait_ms = random.choices([None, 0, 30, 8000], [8, 1, 1, 2])[0]
        wait = [] if wait_ms is None else ["--wait-ms", wait_ms]
        asked = ["search", "-n", 200, "--sync", level, "--mode", mode, *wait, word]
        reply = self.sandbox.memo(*asked, cwd=root, meanwhile=meanwhile)
        after = self.disk.files(root)
        self.note(f"{root.name}: {' '.join(map(str, asked))}: {summary(reply)}")
        self.count(reply, level, wait_ms)
        if reply.seconds > (wait_ms or 1000) / 1000 + ANSWER_WITHIN:
            self.wrong(f"an answer, or an error, within {ANSWER_WITHIN} s", reply)
        if not reply.error and before is not None and after is not None:
            on_disk = functools.partial(self.disk.read, root)
            for what in oracle.judge(word, reply, before, after, level != "none", on_disk):
                self.tally["stale" if "STALE" in what else "false"] += 1
                self.wrong(f"not that it {what}", reply)
        return reply

    def count(self, reply, level, wait_ms):
        fault = self.by_fault[self.fault.name]
        if reply.error:
            fault["errors"] += 1
            self.refusals[f"{self.fault.name}: {plain(str(reply.error.get('message')))}"] += 1
            if self.fault is self.calm:
                self.wrong("an answer while nothing is broken", reply)
            return
        self.tally["answers"] += 1
        fault["answers"] += 1
        fault["fresh"] += reply.json["fresh"]
        if not reply.json["fresh"]:
            self.reasons[plain(str(reply.json["reason"]))] += 1
        if self.fault is self.calm and (wait_ms is None or wait_ms >= 1000):
            self.tally["calm"] += 1
            self.tally["calm fresh"] += reply.json["fresh"]

    def change_memory(self, random):
        reply = self.verbs.any(random, self.clock_is_right())
        if not reply:
            return
        self.note(f"{' '.join(map(str, reply.args[:2]))}: {summary(reply)}")
        self.tally["memory verbs"] += 1
        self.tally["memory verbs done"] += reply.code == 0
        if reply.code == 3 and self.fault is self.calm:
            self.wrong("a memory verb works while nothing is broken", reply)
        if random.random() < 0.3:
            self.check_memories()

    def clock_is_right(self):
        return self.is_healing or not self.fault.clock_is_wrong

    def check_memories(self):
        """Compares all memories with what was acknowledged; an error is no lie while something is broken."""
        reply = self.sandbox.memo("list", "--all")
        if reply.error:
            if self.fault is self.calm:
                self.wrong("a list of memories while nothing is broken", reply)
            return
        self.tally["memory lists"] += 1
        for what in self.memories.judge(reply.json["memories"], self.clock_is_right()):
            self.tally["lost"] += what.startswith("LOST")
            ids = re.findall("mem_[0-9A-Z]+", what)
            known = [str(self.sandbox.memo(verb, id)) for id in ids[:1] for verb in ("get", "history")]
            self.wrong(f"not {what}", "\n  ".join([f"{len(reply.json['memories'])} memories are listed", *known]))

    def become_secret(self, random, root):
        """Writes a file, sees it found, and gives it a secret's name: nothing of it may be left in the state dir."""
        try:
            path, hidden, password, make_secret = self.operations.become_secret(random, root)
            self.ask(random, root, level="fs", wait_ms=8000)
            make_secret()
        except OSError as error:
            return self.note(f"become secret failed: {error}")
        self.note(f"{path} becomes secret: {hidden} {password}")
        self.secrets += [hidden, password]
        reply = self.ask(random, root, level="fs", wait_ms=8000)
        if self.fault is self.calm and not reply.error and reply.json["fresh"]:
            self.check_secrets()

    def check_secrets(self):
        left = oracle.leaks(self.sandbox.state, self.secrets)
        for what in left:
            self.tally["secrets"] += 1
            self.wrong(f"not that {what}")
        self.secrets = [secret for secret in self.secrets if not any(what.startswith(secret) for what in left)]

    def check_all(self):
        """Compares everything, and the databases while no daemon runs."""
        self.check_memories()
        self.ask(randomness.Random(0), self.sandbox.repo, level="full", wait_ms=60_000)
        for what in soundness.problems(self.sandbox, self.disk):
            self.wrong(what)
        self.check_secrets()
        self.tally["whole checks"] += 1
        self.note("whole check done")

    # --- the end

    def report(self):
        tally, seconds = self.tally, time.monotonic() - self.began
        share = tally["calm fresh"] / max(1, tally["calm"])
        print(f"\nseed {self.options.seed}, {seconds:.0f} s, {self.round} rounds, {self.step} steps")
        print(f"{'fault':<42} {'times':>5} {'answers':>7} {'fresh':>6} {'errors':>6}  longest to fresh")
        for name, row in sorted(self.by_fault.items()):
            healed = f"{max(self.heal_times[name]):.2f} s" if self.heal_times[name] else ""
            print(f"{name:<42} {row['times']:>5} {row['answers']:>7} {row['fresh']:>6} {row['errors']:>6}  {healed}")
        for title, table in (("not fresh, because", self.reasons), ("refused, because", self.refusals)):
            print(f"{title}:" if table else f"{title}: none")
            for reason, count in table.most_common(15):
                print(f"  {count:>6}  {reason}")
        print(f"answers          {tally['answers']}, {tally['stale']} silently stale, {tally['false']} with a false line")
        print(f"fresh            {share:.1%} of {tally['calm']} while nothing was broken (at least {FRESH_SHARE:.0%})")
        n_lists = tally["memory lists"]
        print(f"memories         {self.memories.acknowledged} acknowledged, {tally['lost']} lost; {n_lists} lists compared")
        print(f"secrets          {self.operations.n_secrets} files became secret, {tally['secrets']} left a trace")
        print(f"whole checks     {tally['whole checks']}: integrity, manifest against a fresh index, secrets")
        print(f"wrong            {self.failures}")
        if tally["calm"] >= 20 and share < FRESH_SHARE:
            self.failures += 1
            print(f"WRONG: only {share:.1%} of the answers were fresh while nothing was broken", file=sys.stderr)


def summary(reply):
    said = f"exit {reply.code}, {reply.seconds:.2f} s"
    if reply.error:
        return f"{said}, {reply.error.get('code')}: {reply.error.get('message')}"
    if "hits" not in reply.json or "fresh" not in reply.json:
        return said
    fresh = "fresh" if reply.json["fresh"] else f"not fresh: {reply.json['reason']}"
    return f"{said}, {len(reply.json['hits'])} hits, {fresh}"


def plain(text):
    """Returns a reason without what differs each time."""
    return re.sub(r"(/[\w.~-]+)+", "PATH", re.sub(r"\d+", "N", text))[:120]


def main():
    parser = argparse.ArgumentParser(prog="faults", description=__doc__.splitlines()[0])
    parser.add_argument("--memo", default="target/release/memo", help="the client; memod is looked for beside it")
    parser.add_argument("--seconds", type=float, default=60, help="how long; the whole check at the end comes on top")
    parser.add_argument("--rounds", type=int, help="instead: how many rounds of a calm time and a fault")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", help="only faults with this in their name")
    parser.add_argument("--keep-going", action="store_true", help="go on after a failure, and count")
    parser.add_argument("--log", help="where every step is written down [default: beside the repository]")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(4096, hard)), hard))
    top = tempfile.mkdtemp(prefix="memod-faults-")
    is_mounted = sandboxes.mount(top, FILE_SYSTEM_MIB)
    run = Run(options, top, is_mounted)
    try:
        run.run()
    except Wrong:
        pass
    finally:
        run.sandbox.memo("stop")
    run.report()
    if run.failures:
        print(f"everything is left as it was in {top}", file=sys.stderr)
        sys.exit(1)
    if is_mounted:
        sandboxes.unmount(top)
    shutil.rmtree(top)


if __name__ == "__main__":
    main()
