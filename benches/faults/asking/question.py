"""A question to the program, and what all questions share."""

import dataclasses


class World:
    """What an answer is compared with."""

    def __init__(self, sandbox, disk, commits, words, model, seen):
        self.sandbox, self.disk, self.commits = sandbox, disk, commits
        self.words, self.model, self.seen = words, model, seen
        # Whether nothing is broken, and whether the clock is right: the run says so before each question.
        self.is_calm, self.clock_is_right = True, True
        # Whether an answer may say that it is degraded: while something is broken, and once in each worktree after that.
        self.may_be_degraded = False
        # How often the programs of agents were asked, so that each has a session of its own.
        self.n_sessions = 0


def nothing_wrong(reply, before, after):
    return []


@dataclasses.dataclass
class Question:
    """What is asked, where, and how the answer is judged."""

    name: str
    args: list
    root: object
    # `lean`, `full` (of JSON) or `text`.
    form: str = "lean"
    level: str | None = None
    wait_ms: int | None = None
    # Takes the reply and the snapshots before and after; returns findings.
    judge: object = nothing_wrong
    stdin: str | None = None
    # Whether the verb is one whose answers say `fresh`.
    says_fresh: bool = True
    # Words of an error that is a right answer, such as that something is not there.
    may_say: tuple = ()

    @property
    def could_wait(self):
        """Whether an answer could wait to be fresh."""
        return self.level != "none" and (self.wait_ms is None or self.wait_ms >= 1000)

    def may_fail(self, reply):
        """Returns whether an error is a right answer."""
        return any(words in str(reply.error.get("message")) for words in self.may_say)

    def words(self):
        """Returns the arguments with those that say how fresh the answer has to be."""
        sync = [] if self.level is None else ["--sync", self.level]
        wait = [] if self.wait_ms is None else ["--wait-ms", self.wait_ms]
        return [*self.args[:1], *sync, *wait, *self.args[1:]]


def how_fresh(random):
    """Returns a level and a wait, mostly those that one has without saying so."""
    level = random.choices(["fs", "none", "strict", "full"], [6, 1, 2, 1])[0]
    return level, random.choices([None, 0, 30, 8000], [8, 1, 1, 2])[0]


def is_fresh(answer, level):
    """Returns whether an answer promises to have everything that was written before."""
    return bool(answer.get("fresh", True)) and level != "none"
