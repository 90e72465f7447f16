"""How often was what answered, and how is it told at the end?"""

import collections
import re

from oracle import findings

# Least share of fresh answers while nothing is broken.
FRESH_SHARE = 0.9


class Tally(collections.Counter):
    """Counts by name, and tables by fault."""

    def __init__(self):
        super().__init__()
        self.by_fault = collections.defaultdict(collections.Counter)
        self.heal_times = collections.defaultdict(list)
        self.by_question = collections.defaultdict(collections.Counter)
        self.reasons, self.refusals = collections.Counter(), collections.Counter()

    def answer(self, question, reply, fault, is_calm):
        """Counts an answer; one that could wait should be fresh while nothing is broken."""
        row, of_question = self.by_fault[fault], self.by_question[question.name]
        if reply.error:
            row["errors"] += 1
            self.refusals[f"{fault}: {plain(str(reply.error.get('message')))}"] += 1
            return
        self["answers"] += 1
        row["answers"] += 1
        of_question["answers"] += 1
        if not question.says_fresh or not reply.json:
            return
        is_fresh = bool(reply.json.get("fresh"))
        row["asked"] += 1
        row["fresh"] += is_fresh
        if not is_fresh:
            self.reasons[plain(str(reply.json.get("reason")))] += 1
        if is_calm and question.could_wait:
            self["calm"] += 1
            self["calm fresh"] += is_fresh

    def fresh_share(self):
        return self["calm fresh"] / max(1, self["calm"])

    def print(self):
        print(f"{'fault':<46} {'times':>5} {'answers':>7} {'fresh':>11} {'errors':>6}  longest to fresh")
        for name, row in sorted(self.by_fault.items()):
            healed = f"{max(self.heal_times[name]):.2f} s" if self.heal_times[name] else ""
            fresh = f"{row['fresh']} of {row['asked']}"
            print(f"{name:<46} {row['times']:>5} {row['answers']:>7} {fresh:>11} {row['errors']:>6}  {healed}")
        for title, table in (("not fresh, because", self.reasons), ("refused, because", self.refusals)):
            print(f"{title}:" if table else f"{title}: none")
            for reason, count in table.most_common(20):
                print(f"  {count:>6}  {reason}")
        asked = ", ".join(f"{name} {row['answers']}" for name, row in sorted(self.by_question.items()))
        print(f"asked            {asked}")
        kinds = ", ".join(f"{self[kind]} {kind}" for kind in findings.KINDS)
        print(f"answers          {self['answers']}: {kinds}")
        calm = f"{self.fresh_share():.1%} of {self['calm']} while nothing was broken (at least {FRESH_SHARE:.0%})"
        print(f"fresh            {calm}")
        print(f"lingering        {self['lingering']} were degraded, each the first of a worktree after a fault")
        print(f"memories         {self['acknowledged']} changes acknowledged; {self['meetings']} exchanges with others")
        print(f"secrets          {self['became secret']} files became secret, {self['secrets']} words of them left")
        print(f"whole checks     {self['whole checks']}: integrity, manifest against a fresh index, secrets, histories")
        print(f"wrong            {self['wrong']}")


def summary(reply):
    """Returns an answer in a line."""
    said = f"exit {reply.code}, {reply.seconds:.2f} s"
    if reply.error:
        return f"{said}, {reply.error.get('code')}: {reply.error.get('message')}"
    if not isinstance(reply.json, dict) or "hits" not in reply.json or "fresh" not in reply.json:
        return said
    fresh = "fresh" if reply.json["fresh"] else f"not fresh: {reply.json['reason']}"
    return f"{said}, {len(reply.json['hits'])} hits, {fresh}"


def plain(text):
    """Returns a reason without what differs each time."""
    return re.sub(r"(/[\w.~-]+)+", "PATH", re.sub(r"\d+", "N", text))[:120]
