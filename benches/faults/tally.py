"""How often was what answered, and how is it told at the end?"""

import collections
import re

# Least share of fresh answers while nothing is broken.
FRESH_SHARE = 0.9


class Tally(collections.Counter):
    """Counts by name, and tables by fault."""

    def __init__(self):
        super().__init__()
        self.by_fault = collections.defaultdict(collections.Counter)
        self.heal_times = collections.defaultdict(list)
        self.reasons, self.refusals = collections.Counter(), collections.Counter()

    def answer(self, reply, fault, should_be_fresh):
        """Counts an answer to a search; `should_be_fresh` where nothing is broken and it could wait to be."""
        row = self.by_fault[fault]
        if reply.error:
            row["errors"] += 1
            self.refusals[f"{fault}: {plain(str(reply.error.get('message')))}"] += 1
            return
        is_fresh = reply.json["fresh"]
        self["answers"] += 1
        row["answers"] += 1
        row["fresh"] += is_fresh
        if not is_fresh:
            self.reasons[plain(str(reply.json["reason"]))] += 1
        if should_be_fresh:
            self["calm"] += 1
            self["calm fresh"] += is_fresh

    def fresh_share(self):
        return self["calm fresh"] / max(1, self["calm"])

    def print(self):
        print(f"{'fault':<42} {'times':>5} {'answers':>7} {'fresh':>6} {'errors':>6}  longest to fresh")
        for name, row in sorted(self.by_fault.items()):
            healed = f"{max(self.heal_times[name]):.2f} s" if self.heal_times[name] else ""
            print(f"{name:<42} {row['times']:>5} {row['answers']:>7} {row['fresh']:>6} {row['errors']:>6}  {healed}")
        for title, table in (("not fresh, because", self.reasons), ("refused, because", self.refusals)):
            print(f"{title}:" if table else f"{title}: none")
            for reason, count in table.most_common(20):
                print(f"  {count:>6}  {reason}")
        calm = f"{self.fresh_share():.1%} of {self['calm']} while nothing was broken (at least {FRESH_SHARE:.0%})"
        print(f"answers          {self['answers']}, {self['stale']} silently stale, {self['false']} with a false line")
        print(f"fresh            {calm}")
        kept = f"{self['acknowledged']} acknowledged, {self['lost']} lost; {self['lists']} lists compared"
        print(f"memories         {kept}")
        print(f"secrets          {self['became secret']} files became secret, {self['secrets']} words of them left")
        print(f"whole checks     {self['whole checks']}: integrity, manifest against a fresh index, secrets")
        print(f"wrong            {self['wrong']}")


def summary(reply):
    """Returns an answer in a line."""
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
