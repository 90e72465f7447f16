#!/usr/bin/env python3
"""Is an answer ever silently stale, or a memory lost, whatever goes wrong?

Does random things to a repository and to memories, in calm times and while something is broken, and compares every
answer with what is on the disk. The order of what is done depends on the seed alone. Exits with 1 when anything is
wrong.
"""

import argparse
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
import tally

CALM_STEPS = 8
# Longest time from the end of a fault to the first fresh answer, seconds.
HEAL_WITHIN = 20
# Longest time an answer may take beyond what it may wait for freshness, seconds.
ANSWER_WITHIN = 35
FILE_SYSTEM_MIB = 192
# Hits that are asked for.
LIMIT = 200


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
        self.secrets, self.told = [], set()
        self.tally = tally.Tally()
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
        if expected in self.told:
            return
        self.told.add(expected)
        self.tally["wrong"] += 1
        self.note(f"WRONG: {expected}\n{answer}")
        print(
            f"\nWRONG in step {self.step} of seed {self.options.seed}, fault: {self.fault.name}\n"
            f"  expected: {expected}\n  answer: {answer}\n"
            f"  look at: {self.sandbox.repo}, {self.sandbox.state}/memod.log, {self.log.name}\n"
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
        self.tally.by_fault[self.fault.name]["times"] += 1
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
        self.tally.heal_times[self.fault.name].append(took)

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
        asked = ["search", "-n", LIMIT, "--sync", level, "--mode", mode, *wait, word]
        reply = self.sandbox.memo(*asked, cwd=root, meanwhile=meanwhile)
        after = self.disk.files(root)
        self.note(f"{root.name}: {' '.join(map(str, asked))}: {tally.summary(reply)}")
        could_wait = level != "none" and (wait_ms is None or wait_ms >= 1000)
        self.tally.answer(reply, self.fault.name, self.fault is self.calm and could_wait)
        if reply.error and self.fault is self.calm:
            self.wrong("an answer while nothing is broken", reply)
        if reply.seconds > (wait_ms or 1000) / 1000 + ANSWER_WITHIN:
            self.wrong(f"an answer, or an error, within {ANSWER_WITHIN} s", reply)
        if not reply.error and before is not None and after is not None:
            on_disk = functools.partial(self.disk.read, root)
            for what in oracle.judge(word, reply, before, after, level != "none", on_disk, LIMIT):
                self.tally["stale" if "STALE" in what else "false"] += 1
                self.wrong(f"not that it {what}", reply)
        return reply

    def change_memory(self, random):
        reply = self.verbs.any(random, self.clock_is_right())
        if not reply:
            return
        self.note(f"{' '.join(map(str, reply.args[:2]))}: {tally.summary(reply)}")
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
        self.tally["lists"] += 1
        for what in self.memories.judge(reply.json["memories"], self.clock_is_right()):
            self.tally["lost"] += what.startswith("LOST")
            ids = re.findall("mem_[0-9A-Z]+", what)
            known = [str(self.sandbox.memo(verb, id)) for id in ids[:1] for verb in ("get", "history")]
            self.wrong(f"not {what}", "\n  ".join([f"{len(reply.json['memories'])} memories are listed", *known]))

    def become_secret(self, random, root):
        """Writes a file, sees it found, and gives it a secret's name: nothing of it may be left in the state dir."""
        try:
            path, secrets, make_secret = self.operations.become_secret(random, root)
            self.ask(random, root, level="fs", wait_ms=8000)
            make_secret()
        except OSError as error:
            return self.note(f"become secret failed: {error}")
        self.note(f"{path} becomes secret: {' '.join(secrets)}")
        self.secrets += secrets
        self.tally["became secret"] += 1
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

    def report(self):
        self.tally["acknowledged"] = self.memories.acknowledged
        if self.tally["calm"] >= 20 and self.tally.fresh_share() < tally.FRESH_SHARE:
            self.tally["wrong"] += 1
            print("WRONG: too few answers were fresh while nothing was broken", file=sys.stderr)
        seconds = time.monotonic() - self.began
        print(f"\nseed {self.options.seed}, {seconds:.0f} s, {self.round} rounds, {self.step} steps")
        self.tally.print()


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
    if run.tally["wrong"]:
        print(f"everything is left as it was in {top}", file=sys.stderr)
        sys.exit(1)
    if is_mounted:
        sandboxes.unmount(top)
    shutil.rmtree(top)


if __name__ == "__main__":
    main()
