#!/usr/bin/env python3
"""Are the tests that a commit changed among those that are found for the functions that it changed?

  history.py CLONE... --trees DIR [--memo PATH] [--commits 30] [--among 300] [--seed 1] [--out FILE] [--asker A,B]

Each CLONE is a git directory or a worktree; it gets one worktree, DIR/<name>, which this changes and keeps. Commits
are drawn from first-parent history without merges: at most ten files, among them a changed function and a changed
file of tests that was there before. The worktree is put to the parent, then to what the commit makes of everything
but tests; the state of a developer who has changed a function and asks which tests are concerned. A file that
the commit changed is the right answer, each file counts once. Rust's tests inside of source files are not asked for.

  tests, impact   `memo tests`, `memo impact --since HEAD`; of impact the definitions that it says are tests
  name            files of tests named as a changed file is, the nearest first
  directory       files of tests, the nearest first
  path            first those of `name`, then those of `directory`
  words           files of tests by how many lines have the name of a changed function as a word
  vectors, search `memo search --only tests`, by meaning alone or as it is, for names and heads of the functions

The daemon follows the worktree: nothing is indexed from the start for a commit. Times are those of one question, process
and all, once the index has all files and vectors. Exit code: 0 scored, 2 wrong usage, 3 something could not be asked.
"""
import argparse
import json
import re
import statistics
import subprocess
import sys
import time
import zlib
from collections import Counter
from pathlib import Path, PurePosixPath

sys.dont_write_bytecode = True  # leaves no cache beside the sources
from commits import GitError, draw, git, is_of_tests, tests_at  # noqa: E402

# More definitions than are reached.
MOST_FOUND = 5_000
# Most hits that a search gives.
MOST_HITS = 200
# Words of a question to a search.
MOST_WORDS = 60
# Longest wait for the index, ms.
WAIT_MS = 600_000
# How many names one `git grep` is given.
MOST_NAMES = 100
# How a name says that a file is of tests, and names of files that say nothing.
MARK = re.compile(r"^test_|(?<=.)_?tests?$|[._-](test|spec)s?(-d)?$|(?<=[a-z])(Tests?|IT)$")
SAYS_NOTHING = {"index", "mod", "lib", "main", "__init__"}


class Failure(Exception):
    """What went wrong, for the user."""


class Tree:
    """The worktree of one repository, and who is asked there."""

    def __init__(self, clone, options):
        name = clone.resolve().name
        name = clone.resolve().parent.name if name in (".git", "repo") else name
        self.name = name[:-4] if name.endswith(".git") else name
        self.clone, self.options, self.root = clone, options, options.trees / self.name
        if not self.root.exists():
            git(clone, "worktree", "add", "--quiet", "--detach", "--no-checkout", str(self.root.resolve()), "HEAD")

    def put(self, commit):
        """Puts the worktree to the parent of a commit, and then to what the commit makes of all but tests."""
        git(self.root, "checkout", "--quiet", "--force", "--detach", commit.parent)
        git(self.root, "clean", "--quiet", "-ffdx")
        kept = [path for status, path in commit.files if status != "D" and not is_of_tests(path)]
        gone = [path for status, path in commit.files if status == "D" and not is_of_tests(path)]
        git(self.root, "checkout", "--quiet", commit.id, "--", *kept)
        if gone:
            git(self.root, "rm", "--quiet", "--force", "--", *gone)
        self.tests = tests_at(self.root, commit.parent)

    def memo(self, *words, allowed=(0, 1)):
        command = [self.options.memo, "-C", str(self.root), words[0], "--json", "--wait-ms", str(WAIT_MS), *words[1:]]
        try:
            done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        except OSError as error:
            raise Failure(f"{command[0]}: cannot be run: {error}")
        if done.returncode not in allowed:
            raise Failure(f"`memo {' '.join(words)}` exited with {done.returncode}: {done.stderr.strip()[-300:]}")
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise Failure(f"`memo {' '.join(words)}` printed no JSON: {done.stdout[:200]}")

    def stop(self):
        subprocess.run([self.options.memo, "-C", str(self.root), "stop"], capture_output=True)


# Askers: each takes (tree, commit) and returns rows of tests, (path, name of a function or ""), the likeliest first.

def ask_tests(tree, _):
    return reached(tree, "tests")


def ask_impact(tree, _):
    return reached(tree, "impact")


def reached(tree, verb):
    """The one place that knows the shape of these answers."""
    answer = tree.memo(verb, "--since", "HEAD", "--limit", str(MOST_FOUND))
    return [(row["path"], (re.findall(r"\w+", row.get("title") or "") or [""])[-1]) for row in answer["found"]
            if row.get("is_test")]


def ask_name(tree, commit):
    wanted = {}
    for path in commit.functions:
        wanted.setdefault(stem(path), []).append(path)
    same = [test for test in tree.tests if stem(test) in wanted]
    return [(test, "") for test in by_nearness(same, commit)]


def ask_directory(tree, commit):
    return [(test, "") for test in by_nearness(tree.tests, commit)]


def ask_path(tree, commit):
    return list(dict.fromkeys(ask_name(tree, commit) + ask_directory(tree, commit)))


def ask_words(tree, commit):
    names = [word for name in commit.names[:MOST_NAMES] for word in ("-e", name)]
    text = git(tree.root, "grep", "-cwFIz", *names, "--", *{f"*{PurePosixPath(path).suffix}" for path in tree.tests},
               allowed=(0, 1))
    counts = {path: int(count) for path, count in re.findall(r"([^\0\n]+)\0(\d+)\n", text)}
    found = [test for test in tree.tests if test in counts]
    return [(test, "") for test in sorted(found, key=lambda test: (-counts[test], chance(test)))]


def ask_vectors(tree, commit):
    return searched(tree, commit, "--mode", "vector", "--sync", "full")


def ask_search(tree, commit):
    return searched(tree, commit)


def searched(tree, commit, *mode):
    heads = [text for functions in commit.functions.values() for name, head in functions for text in (name, head)]
    words = re.findall(r"\w+", " ".join(heads).lower())[:MOST_WORDS]
    answer = tree.memo("search", *mode, "--only", "tests", "-n", str(MOST_HITS), "--", *words)
    return [(hit["path"], "") for hit in answer["hits"] if hit.get("path")]


ASKERS = {"tests": ask_tests, "impact": ask_impact, "name": ask_name, "directory": ask_directory, "path": ask_path,
          "words": ask_words, "vectors": ask_vectors, "search": ask_search}


def stem(path):
    """Returns what a file is about by its name: `Session` of test_session.py; the directory's name if it says nothing."""
    path = PurePosixPath(path)
    own = path.stem if path.stem not in SAYS_NOTHING else path.parent.name
    while MARK.search(own):
        own = MARK.sub("", own)
    if own in SAYS_NOTHING:
        own = path.parent.name
    return re.sub(r"[\W_]", "", own).lower()


def by_nearness(tests, commit):
    """Returns tests by the number of directories between each and a changed file; equals in an order by chance."""
    def steps(test):
        own = PurePosixPath(test).parts[:-1]
        return min(distance(own, PurePosixPath(path).parts[:-1]) for path in commit.functions)
    return sorted(tests, key=lambda test: (steps(test), chance(test)))


def distance(one, other):
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return len(one) + len(other) - 2 * same


def chance(path):
    return zlib.crc32(path.encode())


def ask_all(tree, commit):
    """Returns what everybody answers about a commit, as a row of the file of answers."""
    tree.put(commit)
    began = time.perf_counter()
    changed = tree.memo("changed", "--since", "HEAD")
    row = {"repository": tree.name, "commit": commit.id, "subject": commit.subject, "functions": commit.functions,
           "tests": commit.tests, "n_tests": len(tree.tests), "fresh_ms": (time.perf_counter() - began) * 1000,
           "changed": {file["path"]: file.get("symbols") for file in changed["files"]}, "answers": {}}
    if {"vectors", "search"} & set(tree.options.asker):
        tree.memo("search", "--mode", "vector", "--sync", "full", "-n", "1", "test")
    for asker in tree.options.asker:
        began = time.perf_counter()
        rows = ASKERS[asker](tree, commit)
        ms = (time.perf_counter() - began) * 1000
        files = list(dict.fromkeys(path for path, _ in rows))
        wanted = {(path, name) for path, names in commit.tests.items() for name in names}
        row["answers"][asker] = {
            "ms": ms, "n": len(files), "files": files[:20], "tests": rows[:20],
            "ranks": [files.index(path) + 1 if path in files else None for path in commit.tests],
            "test_rank": next((place for place, found in enumerate(rows, 1) if found in wanted), None),
        }
    return row


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def table(label, rows, askers):
    """Prints a line for each asker."""
    for asker in askers:
        answers = [(row, row["answers"][asker]) for row in rows]
        best = [min((rank for rank in answer["ranks"] if rank), default=None) for _, answer in answers]
        every = [rank for _, answer in answers for rank in answer["ranks"]]
        named = [answer["test_rank"] for row, answer in answers if any(row["tests"].values())]
        named = named if asker in ("tests", "impact") else []
        within = lambda ranks, k: percent(sum(1 for rank in ranks if rank and rank <= k), len(ranks))  # noqa: E731
        mrr = f"{sum(1 / rank for rank in best if rank) / len(best):.3f}"
        print(f"{label:<16} {asker:<10} {len(rows):4} {sum(not answer['n'] for _, answer in answers):5} "
              f"{within(best, 1):>6} {within(best, 5):>6} {within(best, 10):>6} {within(every, 10):>7} {mrr:>6} "
              f"{within(named, 5):>7} {within(named, 10):>7} "
              f"{statistics.median(answer['ms'] for _, answer in answers):7.0f}")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("clones", nargs="+", type=Path, metavar="CLONE", help="git directories or worktrees")
    add("--trees", type=Path, required=True, help="folder of the worktrees that this makes")
    add("--memo", default="memo", metavar="PATH", help="the client (default: memo)")
    add("--commits", type=int, default=30, metavar="N", help="commits of each repository (default: 30)")
    add("--among", type=int, default=300, metavar="N", help="drawn from so many, the newest (default: 300)")
    add("--revision", default="HEAD", metavar="REV", help="where history ends (default: HEAD)")
    add("--asker", type=lambda text: text.split(","), default=list(ASKERS), metavar="A,B",
        help=f"who is asked (default: {','.join(ASKERS)})")
    add("--seed", type=int, default=1)
    add("--out", type=Path, help="file for the answers to each commit, JSON lines")
    options = parser.parse_args()
    if set(options.asker) - set(ASKERS):
        parser.error(f"--asker takes {', '.join(ASKERS)}")
    return options


def main():
    options = parsed()
    options.trees.mkdir(parents=True, exist_ok=True)
    out = options.out and options.out.open("w", encoding="utf-8")
    print(f"{'%':<16} {'':<10} {'n':>4} {'none':>5} {'hit@1':>6} {'hit@5':>6} {'hit@10':>6} {'rec.@10':>7} {'MRR':>6} "
          f"{'test@5':>7} {'test@10':>7} {'ms':>7}")
    every, kept = [], Counter()
    for clone in options.clones:
        try:
            tree, rows = Tree(clone, options), []
            try:
                for commit in draw(clone, options.revision, options.commits, options.among, options.seed):
                    rows.append(ask_all(tree, commit))
                    if out:
                        print(json.dumps(rows[-1], ensure_ascii=False), file=out, flush=True)
            finally:
                tree.stop()
        except (Failure, GitError) as failure:
            print(f"history: {clone}: {failure}", file=sys.stderr)
            return 3
        if rows:
            table(tree.name, rows, options.asker)
            sys.stdout.flush()
        kept[tree.name] = len(rows)
        every += rows
    if every:
        table("all", every, options.asker)
        fresh = statistics.median(row["fresh_ms"] for row in every)
        unseen = sum(not any(symbols and (symbols["changed"] or symbols["added"]) for symbols in row["changed"].values())
                     for row in every)
        print(f"fresh {fresh:.0f} ms after a checkout (median); commits whose functions `memo changed` does not "
              f"name: {unseen}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
