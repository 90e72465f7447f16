#!/usr/bin/env python3
"""How many of the uses of a definition are found, and how many of those found are uses?

  score.py TRUTH... --trees DIR [--asker grep|memo] [--memo PATH] [--role call,other,import] [--each]

TRUTH is what truth.py wrote; DIR/<name> is the worktree, by the name of the repository without its owner, at the
commit of the truth. `grep` is `git grep -w`, the files of the language only; `memo` is `memo refs`.

The unit is a line of a file. A line is right when a use of the definition is on it, and not judged when the truth
cannot tell: a name in code that the server does not resolve, a prototype or overload of the definition, a comment, a
reference through an interface or a base, and a file that was not read. All others are wrong. The line of the
definition itself is left out everywhere. Exit code: 0 scored, 2 wrong usage, 3 something could not be asked.
"""
import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources

CERTAINTIES = ["exact", "likely", "by name"]
# More uses than any definition has.
MOST_ANSWERS = 1_000_000
# Longest wait for the first index, ms.
WAIT_MS = 120_000


class Failure(Exception):
    """What went wrong, for the user."""


@dataclass
class Definition:
    """A definition with the lines that use it."""
    row: dict
    roles: dict = field(default_factory=lambda: defaultdict(set))  # (path, line): roles of the uses on it
    ungraded: set = field(default_factory=set)

    @property
    def place(self):
        return self.row["path"], self.row["line"]


class Truth:
    """What one file of truth says."""

    def __init__(self, path, trees):
        self.path, self.definitions, self.drawn = path, {}, []
        self.not_known = 0  # definitions that the asker does not have
        try:
            with open(path, encoding="utf-8") as lines:
                rows = [json.loads(line) for line in lines]
        except (OSError, ValueError) as error:
            raise Failure(f"{path}: cannot be read: {error}")
        self.header = rows[0]
        self.tree = trees / self.header["repository"].split("/")[-1]
        for row in rows[1:]:
            self.take(row)

    def take(self, row):
        if row["type"] == "definition":
            self.definitions[row["id"]] = Definition(row)
        elif row["type"] == "use":
            self.definitions[row["definition"]].roles[row["path"], row["line"]].add(row["role"])
        elif row["type"] == "ungraded":
            places = {(path, line) for path, lines in row["at"].items() for line in lines}
            self.definitions[row["definition"]].ungraded |= places
        elif row["type"] == "drawn":
            self.drawn.append(row)

    def check_tree(self):
        head = output(["git", "-C", str(self.tree), "rev-parse", "HEAD"]).strip()
        if head != self.header["commit"]:
            raise Failure(f"{self.tree}: is at {head}, the truth at {self.header['commit']}; check that out")

    def was_read(self, path):
        within = [folder.rstrip("/") for folder in self.header["within"]]
        return path.endswith(tuple(self.header["suffixes"])) and (
            not within or any(path.startswith(folder + "/") for folder in within))


def output(command, allowed=(0,)):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Failure(f"{command[0]}: cannot be run: {error}")
    if done.returncode not in allowed:
        raise Failure(f"`{' '.join(command)}` exited with {done.returncode}: "
                      f"{(done.stderr.strip() or done.stdout.strip())[-300:]}")
    return done.stdout


# Askers: each takes (options, truth, definition's row) and returns [(path, line, certainty)], paths from the root.

def ask_grep(_, truth, row):
    """Every line with the name as a word, in files of the language."""
    globs = [f"*{suffix}" for suffix in truth.header["suffixes"]]
    text = output(["git", "-C", str(truth.tree), "grep", "-nwIzF", row["name"], "--", *globs], (0, 1))
    parts = [line.split("\0", 2) for line in text.split("\n") if line.count("\0") >= 2]
    return [(path, int(line), "by name") for path, line, _ in parts]


def ask_memo(options, truth, row):
    """What `memo refs` lists of a definition: of its line, or of its qualified name if the line is about what encloses it."""
    qualified = ".".join(part for part in [row.get("container"), row["name"]] if part)
    for place in [f"{row['path']}:{row['line']}", f"{row['path']}#{qualified}"]:
        found = refs_of(options, truth, place)
        if found and re.findall(r"\w+", found[0])[-1:] == [row["name"]]:
            return found[1]
    truth.not_known += 1
    return []


def refs_of(options, truth, place):
    """Returns the title of the definition at a place and its uses; None if there is none. The one place that knows the shape."""
    command = [options.memo, "-C", str(truth.tree), "refs", place]
    text = output([*command, "--json", "--limit", str(MOST_ANSWERS), "--wait-ms", str(WAIT_MS)], (0, 1))
    try:
        answer = json.loads(text)
        if "error" in answer:
            return None
        return answer["definitions"][0]["title"], [(use["path"], use["line"], use["certainty"]) for use in answer["uses"]]
    except (ValueError, KeyError, IndexError) as error:
        raise Failure(f"`{' '.join(command)}` printed what this does not read: {error!r}: {text[:200]}")


ASKERS = {"grep": ask_grep, "memo": ask_memo}


class Tally:
    """Answers by certainty, and uses found."""

    def __init__(self):
        self.right, self.wrong, self.ungraded = Counter(), Counter(), Counter()
        self.n_uses = self.n_definitions = 0

    def add(self, truth, definition, answers, roles):
        """Counts the answers for one definition: each line once, with the best certainty that it was given."""
        best = {}
        for path, line, certainty in answers:
            known = best.get((path, line))
            if known is None or CERTAINTIES.index(certainty) < CERTAINTIES.index(known):
                best[path, line] = certainty
        asked_for = {place for place, found in definition.roles.items() if found & roles} - {definition.place}
        not_asked_for = set(definition.roles) - asked_for
        self.n_definitions += 1
        self.n_uses += len(asked_for)
        for place, certainty in best.items():
            if place == definition.place:
                continue
            if place in asked_for:
                self.right[certainty] += 1
            elif place in definition.ungraded or place in not_asked_for or not truth.was_read(place[0]):
                self.ungraded[certainty] += 1
            else:
                self.wrong[certainty] += 1

    def lines(self, label):
        """Yields a line for each certainty that was answered: its own precision, the recall down to it."""
        found = 0
        for certainty in CERTAINTIES:
            right, wrong, ungraded = self.right[certainty], self.wrong[certainty], self.ungraded[certainty]
            found += right
            if right + wrong + ungraded:
                yield (f"{label:<34} {certainty:<8} {self.n_definitions:5} {self.n_uses:6} {right:6} {wrong:6} "
                       f"{ungraded:6} {percent(right, right + wrong):>7} {percent(found, self.n_uses):>7}")


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def drawn_recall(options, truth):
    """Returns how many drawn uses are among the answers for their definition, by certainty."""
    found, by_definition = Counter(), defaultdict(list)
    for row in truth.drawn:
        if row["definition"] != "external":
            by_definition[json.dumps(row["definition"])].append(row)
    for definition, rows in by_definition.items():
        given = ASKERS[options.asker](options, truth, json.loads(definition))
        answers = {(path, line): certainty for path, line, certainty in given}
        found.update(answers.get((row["path"], row["line"]), "not found") for row in rows)
    return found


def score(options, truth):
    """Prints the answers of one truth file; returns the tallies of all, shared and unique names."""
    truth.check_tree()
    tallies = {"all": Tally(), "shared names": Tally(), "unique names": Tally()}
    for definition in truth.definitions.values():
        answers = ASKERS[options.asker](options, truth, definition.row)
        share = "shared names" if definition.row["same_name"] > 1 else "unique names"
        for name in ["all", share]:
            tallies[name].add(truth, definition, answers, options.role)
        if options.each:
            alone = Tally()
            alone.add(truth, definition, answers, options.role)
            row = definition.row
            print(f"{row['path']}:{row['line']} {row['name']}: uses {alone.n_uses}, right {sum(alone.right.values())}, "
                  f"wrong {sum(alone.wrong.values())}, not judged {sum(alone.ungraded.values())}")
    return tallies


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("truth", nargs="+", type=Path, help="files that truth.py wrote")
    add("--trees", type=Path, required=True, help="folder of worktrees")
    add("--asker", choices=ASKERS, default="grep", help="who is asked (default: grep)")
    add("--memo", default="memo", metavar="PATH", help="the client (default: memo)")
    add("--role", type=lambda text: set(text.split(",")), default={"call", "other", "import"}, metavar="A,B",
        help="only these uses count (call, other, import, self); others are not judged (default: all but self)")
    add("--each", action="store_true", help="print a line for each definition too")
    options = parser.parse_args()
    if options.role - {"call", "other", "import", "self"}:
        parser.error("--role takes call, other, import, self")
    print(f"{options.asker:<34} {'':<8} {'defs':>5} {'uses':>6} {'right':>6} {'wrong':>6} {'unsure':>6} "
          f"{'prec. %':>7} {'rec. %':>7}")
    for path in options.truth:
        try:
            truth = Truth(path, options.trees)
            label = f"{truth.header['language']} {truth.header['repository'].split('/')[-1]}"
            for name, tally in score(options, truth).items():
                for line in tally.lines(f"{label}, {name}"):
                    print(line)
            if truth.not_known:
                print(f"{label}, definitions that {options.asker} does not have: {truth.not_known}")
            drawn = drawn_recall(options, truth)
            if options.asker == "memo":
                output([options.memo, "-C", str(truth.tree), "stop"], (0, 1, 3))
            print(f"{label}, drawn uses: " + ", ".join(f"{n} {certainty}" for certainty, n in sorted(drawn.items())))
        except Failure as failure:
            print(f"score: {failure}", file=sys.stderr)
            return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
