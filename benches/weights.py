#!/usr/bin/env python3
"""Which weights rank best?

  weights.py collect --sets SETS --trees TREES --out CANDIDATES [--memo PATH] [--only REGEX] [--set NAME=VALUE,...]
  weights.py try --candidates CANDIDATES [--set NAME=VALUE,...]...
  weights.py fit --candidates CANDIDATES [--set NAME=VALUE,...]

collect  asks a daemon for 200 candidates of each query with their signals and factors, and keeps them as
         CANDIDATES/<suite>/<set>.json, beside memo.log; says how many queries the replay answers like the daemon
try      replays the ranking with other weights, one line for each --set
fit      improves one weight at a time on half A of the repositories, then on half B, and prints both halves for each:
         only what the other half confirms is worth a thought; with --classes the factors of classes of files

SETS and TREES are those of training_sets.py, of repositories that quality is not reported on. The halves are of
repositories: every other one by name, with its code and its docs. Weights start as they are in crates/search/src and have the
names that they have there; `collect --set` says which weights the daemon has if it was built from another source.

A figure is nDCG@10 in percent, the mean over sets, of these suites:

questions  definitions or sections that answer a question, as an agent asks it (benches/questions/definitions.jsonl)
topics     files that are about two to six words (benches/questions/topics.jsonl); each hit takes a place
code       source files that a commit with this text changed, each once; all else is not judged and takes no place
docs       sections of Markdown that a sentence leads to, each once, among sections alone
classes    files that a commit of any kind changed: what tests, documents, settings should weigh; for `fit --classes`

The weights of code and documents are balanced by questions alone, one in fifteen of which a document answers. The factor
of commits stays the daemon's. All queries have several words: weights for a name alone are not tried. Few sets have
docs; look at their number before their figure.

Needs Python 3.9, numpy, git and Unix sockets. A replay has only the 200 candidates that were asked for. What others
add, the worst cosine and the fused scores of a file, is worked out from the daemon's figures and then stays as it is.
Exit code: 0 done, 2 wrong usage or something is absent, 3 a daemon failed (its set is left out).
"""
import argparse
import json
import os
import re
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
import numpy as np  # noqa: E402
import replay  # noqa: E402
from quality import Daemon, Failure, run_program, say  # noqa: E402

SUITES = ["questions", "topics", "code", "docs", "classes"]
SHARES = {"questions": 0.3, "topics": 0.2, "code": 0.35, "docs": 0.15}  # of what is fitted
N_CANDIDATES = 200
FITTED = [*(f"code_{arm}" for arm in replay.ARMS if arm != "maxsim"), *(f"doc_{arm}" for arm in replay.ARMS),
          "DEFINITION_AMONG_WORDS", "FOLDER", "MATCHES_AMONG_WORDS", "FURTHER_AMONG_WORDS", "MAP_AMONG_WORDS", "TEXT"]
OF_CLASSES = sorted(replay.class_factors())  # fitted on `classes` alone, which is for them
STEPS = [1.5, 1.2]
FROM_ZERO = 0.05  # a weight of 0 has no multiples
LEAST_GAIN = 0.01  # percent, less is noise
N_RESAMPLES = 2000


def collect(options):
    """Asks all queries of the sets; returns whether every daemon answered."""
    weights, complete = weights_of(options.set), True
    for folder in select(options):
        suite, name = folder.parent.name, folder.name
        try:
            rows = ask(options, suite, folder)
        except Failure as failure:
            say(f"weights: {failure}")
            complete = False
            continue
        out = options.out / suite / f"{name}.json"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps({"weights": weights, "queries": rows}), encoding="utf-8")
        say(f"{suite}: {name}: {len(rows)} queries")
    if complete:
        print_fidelity(*replay.load(options.out))
    return complete


def select(options):
    """Returns the folders of the sets; names at once all trees that are absent."""
    folders = [path.parent for suite in SUITES for path in sorted(options.sets.glob(f"{suite}/*/queries.jsonl"))]
    folders = [folder for folder in folders if re.search(options.only, folder.name)]
    if not folders:
        raise Failure(f"{options.sets}: no <suite>/<set>/queries.jsonl matches --only '{options.only}'", 2)
    trees = {options.trees / folder.name for folder in folders}
    absent = sorted(str(tree) for tree in trees if not tree.is_dir())
    if absent:
        raise Failure("not found; training_sets.py makes the trees:\n  " + "\n  ".join(absent), 2)
    return folders


def ask(options, suite, folder):
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    sources = set((folder / "files.txt").read_text(encoding="utf-8").splitlines()) if suite == "code" else set()
    rows = []
    with Daemon(options, options.trees / folder.name) as daemon:
        daemon.wait_indexed()
        for query in queries:
            result = daemon.call("search", query=query["query"], limit=N_CANDIDATES, sync="none", explain=True)
            if result.get("degraded"):
                raise Failure(f"{folder.name}: an arm did not run: {', '.join(result['degraded'])}")
            judges = {"code": lambda hit: hit["path"] in sources, "docs": lambda hit: hit["kind"] == "doc",
                      "classes": lambda hit: hit["kind"] != "commit"}
            is_judged = judges.get(suite, lambda hit: True)
            hits = [candidate(hit, is_judged(hit)) for hit in result["hits"]]
            labels = {"relevant": query["relevant"], "exclude": query.get("exclude", []),
                      "answers": query.get("answers", [])}
            rows.append({"qid": query["qid"], **labels, "hits": hits})
    return rows


def candidate(hit, is_judged):
    """Returns what the replay needs of a hit."""
    explain = hit["explain"]
    signals = {signal["arm"]: [signal["rank"], signal["value"]] for signal in explain["signals"]}
    factors = {factor["name"]: factor["times"] for factor in explain["factors"]}
    return {"path": hit["path"], "kind": hit["kind"], "lines": hit["lines"], "is_judged": is_judged,
            "fused": explain["fused"], "signals": signals, "factors": factors}


def print_fidelity(queries, weights):
    every = [query for of_set in queries.values() for query in of_set]
    same = sum(query.is_replayed(weights) for query in every)
    print(f"replayed with the daemon's weights: {same} of {len(every)} queries have its first ten")


class Half:
    """Repositories whose figures are taken together."""

    def __init__(self, queries, names):
        self.n_repositories, self.is_of_classes = len(names), False
        self.sets = {suite: [] for suite in SUITES}
        for name in names:
            for suite in SUITES:
                of_suite = [query for query in queries[name] if query.suite == suite]
                self.sets[suite] += [of_suite] if of_suite else []

    def means(self, suite, weights):
        """Returns the figure of each set."""
        return [100 * np.mean([query.ndcg(weights) for query in of_set]) for of_set in self.sets[suite]]

    def figure(self, suite, weights):
        return float(np.mean(self.means(suite, weights))) if self.sets[suite] else 0.0

    def goal(self, weights):
        """Returns what is fitted: the figures of the suites, weighed."""
        if self.is_of_classes:
            return self.figure("classes", weights)
        return sum(share * self.figure(suite, weights) for suite, share in SHARES.items())

    def gain(self, suite, weights, before):
        """Returns the paired difference with its 95 % interval, sets drawn again and again."""
        differences = np.subtract(self.means(suite, weights), self.means(suite, before))
        if not len(differences):
            return 0.0, 0.0, 0.0
        drawn = np.random.default_rng(1).choice(differences, (N_RESAMPLES, len(differences))).mean(axis=1)
        return (float(differences.mean()), *np.percentile(drawn, [2.5, 97.5]))


def halves(queries):
    names = sorted(queries)
    return {"A": Half(queries, names[::2]), "B": Half(queries, names[1::2])}


def print_head(of):
    for half, part in of.items():
        counts = [f"{len(sets)} sets of {suite}, {sum(map(len, sets))} queries" for suite, sets in part.sets.items()]
        print(f"half {half}: {part.n_repositories} repositories; {'; '.join(counts)}")
    print("".join(f"{suite[:5] + ' ' + half:>8}" for suite in SUITES for half in of))


def print_line(of, weights, text):
    print("".join(f"{of[half].figure(suite, weights):8.2f}" for suite in SUITES for half in of), f" {text}", flush=True)


def try_weights(options):
    tried = {"as in crates/search/src": weights_of([]), **{changed: weights_of([changed]) for changed in options.set}}
    queries, daemon_weights = replay.load(options.candidates)
    print_fidelity(queries, daemon_weights)
    of = halves(queries)
    print_head(of)
    for text, weights in tried.items():
        print_line(of, weights, text)


def fit(options):
    start = weights_of(options.set)
    queries, daemon_weights = replay.load(options.candidates)
    print_fidelity(queries, daemon_weights)
    of, names = halves(queries), OF_CLASSES if options.classes else FITTED
    for half in of.values():
        half.is_of_classes = options.classes
    print_head(of)
    print_line(of, start, "start")
    fitted = {}
    for half in of:
        fitted[half] = ascend(of[half].goal, start, names)
        print_line(of, fitted[half], f"fitted on {half}")
    for half, other in [("A", "B"), ("B", "A")]:
        for suite in SUITES:
            gain, low, high = of[other].gain(suite, fitted[half], start)
            print(f"fitted on {half}: {suite} of {other} {gain:+.2f} ({low:+.2f} to {high:+.2f})")
    print(f"\n{'weight':24}{'start':>8}{'A':>8}{'B':>8}")
    for name in names:
        print(f"{name:24}{start[name]:8.2f}{fitted['A'][name]:8.2f}{fitted['B'][name]:8.2f}")


def ascend(goal, start, names):
    """Returns the weights after steps of each in turn, as long as any of them gains."""
    weights, best = dict(start), goal(start)
    for step in STEPS:
        gained = True
        while gained:
            gained = False
            for name in names:
                for times in [step, 1 / step]:
                    tried = {**weights, name: stepped(name, weights[name], times)}
                    figure = goal(tried)
                    if figure > best + LEAST_GAIN:
                        weights, best, gained = tried, figure, True
                        break
    return weights


def stepped(name, value, times):
    """Returns a weight times something; of a factor, what it has above 1; of one below 1, the whole."""
    if name in OF_CLASSES or name.isupper() and value < 1:
        return min(value * times, 1.0)
    base = 1.0 if name.isupper() else 0.0
    return base + max(value - base, FROM_ZERO) * times


def weights_of(changes):
    """Returns the weights of crates/search/src with those of `NAME=VALUE,...` in their place."""
    weights = replay.product_weights()
    for change in ",".join(changes).split(",") if changes else []:
        name, _, value = change.partition("=")
        if name not in weights:
            raise Failure(f"--set {change}: no weight {name}; there are {', '.join(weights)}", 2)
        try:
            weights[name] = float(value)
        except ValueError:
            raise Failure(f"--set {change}: '{value}' is no number", 2)
    return weights


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    collecting, trying, fitting = [commands.add_parser(name) for name in ["collect", "try", "fit"]]
    add = collecting.add_argument
    add("--sets", type=Path, required=True, help="sets of training_sets.py")
    add("--trees", type=Path, required=True, help="trees of training_sets.py")
    add("--out", type=Path, required=True, help="folder to write to; created when absent")
    add("--memo", default="memo", metavar="PATH", help="the client; it finds memod itself (default: memo)")
    add("--only", default="", metavar="REGEX", help="only sets whose name matches")
    add("--wait", type=int, default=1800, metavar="S", help="longest indexing of one tree, s (default: 1800)")
    for command in [trying, fitting]:
        command.add_argument("--candidates", type=Path, required=True, help="folder that `collect` wrote")
    fitting.add_argument("--classes", action="store_true", help="fit the factors of classes of files")
    for command in [collecting, trying, fitting]:
        command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE,...", help="other weights")
    options = parser.parse_args()
    if options.command == "collect":
        client = shutil.which(options.memo)
        if not client:
            parser.error(f"{options.memo}: no such program; give the client's path with --memo")
        options.memo, options.fresh, options.runs = os.path.abspath(client), False, options.out.resolve()
        options.trees = options.trees.resolve()
        options.out.mkdir(parents=True, exist_ok=True)
    return options


def main():
    options = parse()
    if options.command == "collect":
        return 0 if collect(options) else 3
    {"try": try_weights, "fit": fit}[options.command](options)
    return 0


if __name__ == "__main__":
    run_program("weights", main)
