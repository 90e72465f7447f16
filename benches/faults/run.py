"""One run: rounds of calm steps, each followed by a fault, and what each step is judged by."""

import functools
import pathlib
import random as randomness
import sys
import time

import asking
import injection
import operations
import oracle
import sandbox as sandboxes
import soundness
import tally
from oracle import findings

CALM_STEPS = 8
# Longest time from the end of a fault to the first fresh answer, seconds.
HEAL_WITHIN = 20
# Longest time an answer may take beyond what it may wait for freshness, seconds.
ANSWER_WITHIN = 35
# Share of the steps in which others exchange memories, which need programs of their own.
MEETINGS = 0.03


class Wrong(Exception):
    """What was expected and did not hold."""


class Run:
    def __init__(self, options, top, is_mounted):
        self.options, self.sandbox = options, sandboxes.Sandbox(top, options.memo)
        words, model, seen, disk = oracle.Words(), oracle.MemoryModel(), oracle.Seen(), oracle.Disk(self.sandbox)
        self.world = asking.World(self.sandbox, disk, oracle.Commits(self.sandbox), words, model, seen)
        self.operations = operations.Operations(self.sandbox, words, model, seen)
        self.calm = injection.Fault(self.sandbox)
        self.faults = [fault for fault in injection.all_faults(self.sandbox, is_mounted) if self._allowed(fault)]
        self.fault, self.is_healing = self.calm, False
        # Worktrees in which nobody has searched since the last fault: the first answer may say that it is degraded by that.
        self.unasked = set()
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

    # --- rounds

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
        self.world.model.clock_was_wrong |= self.fault.clock_is_wrong
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
        self.fault, self.is_healing, self.unasked = self.calm, False, set(self.sandbox.roots)

    def heal(self, random):
        """Waits for the first fresh answer after a fault was lifted."""
        lifted = time.monotonic()
        self.note("lifted")
        while True:
            reply = self.ask(asking.plain, random, self.sandbox.repo)
            took = time.monotonic() - lifted
            if not reply.error and reply.json["fresh"]:
                break
            if took > HEAL_WITHIN:
                self.wrong(f"a fresh answer within {HEAL_WITHIN} s of the end of the fault", reply)
                break
            time.sleep(0.05)
        self.tally.heal_times[self.fault.name].append(took)

    # --- steps

    def do(self, random):
        """Does one thing and asks, mostly for what was just written."""
        self.step += 1
        kind, root = random.random(), random.choice(self.sandbox.roots)
        if kind < MEETINGS and self.fault is self.calm:
            return self.meet(random)
        if kind < 0.56:
            self.note(self.operations.any(random, root))
        elif kind < 0.60 and root == self.sandbox.repo:
            return self.become_secret(random, root)
        elif kind < 0.86:
            self.change_memory(random, root)
            return self.ask(asking.pick_memories, random, root)
        else:
            return self.ask(asking.pick, random, root, meanwhile=lambda: self.note(self.operations.quick(random, root)))
        for _ in range(random.choice([0, 1, 1, 2])):
            self.ask(asking.pick, random, random.choice(self.sandbox.roots))

    def ask(self, pick, random, root, meanwhile=None):
        """Asks one question and judges the answer."""
        world = self.world
        world.is_calm, world.clock_is_right = self.fault is self.calm, self.clock_is_right()
        world.may_be_degraded = not world.is_calm or root in self.unasked
        before = self.snapshot(root)
        question = pick(world, random, root, before)
        reply = self.sandbox.memo(
            *question.words(), cwd=root, meanwhile=meanwhile, form=question.form, stdin=question.stdin
        )
        after = self.snapshot(root)
        self.note(f"{root.name}: {question.name}: {' '.join(map(str, question.words()))}: {tally.summary(reply)}")
        # What went meanwhile may be said not to be there.
        self.count(question, reply, reply.code in (1, 2) and before.files != after.files)
        if not reply.error and before.files is not None and after.files is not None:
            for finding in self.judge(question, reply, before, after):
                self.tally[finding.kind] += 1
                self.tally.by_question[question.name]["wrong"] += 1
                self.wrong(f"not that it {finding.what} ({finding.kind})", reply)
            if isinstance(reply.json, dict) and "degraded" in reply.json:
                self.tally["lingering"] += bool(world.is_calm and world.may_be_degraded and oracle.degraded_by(reply.json))
                # By words alone nobody sees that vectors are missing, which are not made at once.
                self.unasked -= {root} if "keyword" not in question.words() else set()
        return reply

    def snapshot(self, root):
        snapshot = self.world.disk.snapshot(root)
        self.world.seen.add(snapshot)
        return snapshot

    def count(self, question, reply, may_fail):
        """Counts an answer, and says what is wrong with any answer: an error in calm times, or one that took too long."""
        self.tally.answer(question, reply, self.fault.name, self.fault is self.calm)
        if reply.error and self.fault is self.calm and not may_fail and not question.may_fail(reply):
            self.wrong(f"an answer to {question.name} while nothing is broken", reply)
        if reply.seconds > (question.wait_ms or 1000) / 1000 + ANSWER_WITHIN:
            self.wrong(f"an answer, or an error, within {ANSWER_WITHIN} s", reply)

    def judge(self, question, reply, before, after):
        """Returns what is wrong with an answer; one whose shape nobody knows is wrong, too."""
        try:
            found = list(question.judge(reply, before, after))
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            where = error.__traceback__
            while where.tb_next:
                where = where.tb_next
            line = f"{pathlib.Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
            return [findings.other(f"has another form than expected: {type(error).__name__}: {error} ({line})")]
        said = reply.out + reply.err
        if oracle.credential_in(said, self.world.words.credentials):
            found.append(findings.other("has a credential"))
        return found

    def change_memory(self, random, root):
        self.operations.memories.clock_is_right = self.clock_is_right()
        reply = self.operations.change_memory(random, root)
        if not reply:
            return
        self.note(f"{root.name}: {' '.join(map(str, reply.args))}: {tally.summary(reply)}")
        if reply.code == 3 and self.fault is self.calm:
            self.wrong("a memory verb works while nothing is broken", reply)
        if reply.wrong and self.fault is self.calm:
            self.wrong(reply.wrong, reply)
        self.note_about(root, reply)

    def note_about(self, root, reply):
        """Notes what the file said that a new memory is about, so that its state can be told."""
        for record in self.world.model.records.values():
            if record.about and record.about_text is None and reply.is_done and record.about in reply.args:
                file = self.world.disk.read(root, record.about)
                record.about_text = file.text if file else ""

    def clock_is_right(self):
        return self.is_healing or not self.fault.clock_is_wrong

    def meet(self, random):
        """Has others exchange memories, and counts what is wrong with what they have then."""
        line, wrong = self.operations.meet(random)
        self.note(line)
        self.tally["meetings"] += 1
        for what in wrong:
            self.tally[findings.LOST] += 1
            self.wrong(what)

    def become_secret(self, random, root):
        """Writes a file, sees it found, and gives it a secret's name: nothing of it may be left in the state dir."""
        try:
            path, secrets, make_secret = self.operations.become_secret(random, root)
            self.world.words.credentials += oracle.planted_in((root / path).read_text())
            self.ask(functools.partial(asking.plain, wait_ms=8000), random, root)
            make_secret()
        except OSError as error:
            return self.note(f"become secret failed: {error}")
        self.note(f"{path} becomes secret: {' '.join(secrets)}")
        self.secrets += secrets
        self.tally["became secret"] += 1
        reply = self.ask(functools.partial(asking.plain, wait_ms=8000), random, root)
        if self.fault is self.calm and not reply.error and reply.json["fresh"]:
            self.check_secrets()

    # --- the whole

    def check_secrets(self):
        left = oracle.leaks(self.sandbox.state, self.secrets)
        for what in left:
            self.tally["secrets"] += 1
            self.wrong(f"not that {what}")
        self.secrets = [secret for secret in self.secrets if not any(what.startswith(secret) for what in left)]

    def check_all(self):
        """Compares all memories and files, each memory's history, and the databases while no daemon runs."""
        random = randomness.Random(f"{self.options.seed}/whole/{self.round}")
        self.ask(functools.partial(asking.plain, level="full", wait_ms=60_000), random, self.sandbox.repo)
        for ask in asking.WHOLE:
            for root in self.sandbox.roots:
                self.ask(ask, random, root)
        for what in soundness.problems(self.sandbox, self.world.disk):
            self.wrong(what)
        self.check_secrets()
        self.tally["whole checks"] += 1
        self.note("whole check done")

    def report(self):
        self.tally["acknowledged"] = self.world.model.acknowledged
        if self.tally["calm"] >= 20 and self.tally.fresh_share() < tally.FRESH_SHARE:
            self.tally["wrong"] += 1
            print("WRONG: too few answers were fresh while nothing was broken", file=sys.stderr)
        seconds = time.monotonic() - self.began
        print(f"\nseed {self.options.seed}, {seconds:.0f} s, {self.round} rounds, {self.step} steps")
        self.tally.print()
