#!/usr/bin/env python3
"""How well does memod answer?

For every labelled set: index its tree, ask every query over the daemon's socket, write what came back as a
run file, call the set's own scorer, and print the figures beside the published baselines.

  quality.py --eval EVAL --trees TREES --runs RUNS [--memo PATH] [--suite code,docs] [--only REGEX] [--fresh]

EVAL   dev/{code,docs,conv}/<set>/, score.py, and code-search/{annotations/, manifest.json, score.py}
TREES  <suite>/<set>/, each a git repository that holds what EVAL's materialise.py writes; for code-search
       the files of `git archive REVISION BENCHMARK_ROOT` at their paths in the repository
RUNS   written: <set>.run, code-search.run, timings.json, the scorers' output (*.txt, *.json), memo.log

Needs Python 3.9, git and Unix sockets, nothing else. A daemon that already serves a tree is used, and stopped
like those this script starts. Times are the asker's: request sent to reply decoded. Exit code: 0 scored,
2 wrong usage or something is absent, 3 a daemon failed (its set is left out, the others are scored).
"""
import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
from scores import Failure, output_of, print_suite, print_targets, read_baselines, score_suite  # noqa: E402

SUITES = ["code-search", "code", "docs", "conv"]
POLL_MS = 2000  # longest wait of one `sync` call; progress is shown in between


class Daemon:
    """The daemon of one tree: started by the client, asked over its socket, stopped on leaving."""

    def __init__(self, options, tree):
        self.options, self.tree, self.last_id = options, tree, 0
        self.socket = self.lines = None
        common_dir = output_of("git", "-C", tree, "rev-parse", "--path-format=absolute", "--git-common-dir")
        self.state_dir = Path(common_dir.rstrip("\n")) / "memo"

    def __enter__(self):
        if self.options.fresh and self.state_dir.exists():
            self.memo("stop", check=False)
            shutil.rmtree(self.state_dir)
        self.began = time.monotonic()
        try:
            self.memo("init")
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for end in [self.lines, self.socket]:  # the reader holds the socket open as well
            if end:
                end.close()
        self.memo("stop", check=False)

    def memo(self, verb, check=True):
        """Runs the client. Its output goes to a file: a pipe that the daemon kept would never end."""
        log = self.options.runs / "memo.log"
        command = [self.options.memo, "-C", str(self.tree), verb]
        with open(log, "ab") as out:
            try:
                done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                      timeout=self.options.wait)
            except subprocess.TimeoutExpired:
                raise Failure(f"`{' '.join(command)}` took over {self.options.wait} s; see {log}")
        if check and done.returncode != 0:
            raise Failure(f"`{' '.join(command)}` exited with {done.returncode}; see {log}")

    def connect(self):
        endpoint = self.state_dir / "endpoint"
        try:
            path = json.loads(endpoint.read_text())["socket"]
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(self.options.wait)
            self.socket.connect(path)
        except (OSError, ValueError, KeyError) as error:
            raise Failure(f"{endpoint}: leads to no daemon: {error}")
        self.lines = self.socket.makefile("rb")

    def call(self, method, **params):
        """Returns the result of one call; a busy daemon is asked again when it says so."""
        while True:
            reply = self.round_trip(method, params)
            if "result" in reply:
                return reply["result"]
            error = reply.get("error") or {}
            data = error.get("data") or {}
            if not data.get("retry_after_ms"):
                hint = f" ({data['hint']})" if data.get("hint") else ""
                raise Failure(f"{self.tree}: {method}: {error.get('message')}{hint}")
            time.sleep(data["retry_after_ms"] / 1000)

    def round_trip(self, method, params):
        self.last_id += 1
        request = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": {"cwd": str(self.tree), **params}}
        try:
            self.socket.sendall(json.dumps(request).encode() + b"\n")
            for line in self.lines:
                reply = json.loads(line)
                if reply.get("id") == self.last_id:
                    return reply
        except (OSError, ValueError) as error:
            raise Failure(f"{self.tree}: {method}: {error}")
        raise Failure(f"{self.tree}: {method}: the daemon hung up; see {self.state_dir / 'memod.log'}")

    def wait_indexed(self):
        """Waits for every file and for every vector of the model that is configured; returns seconds since the start.

        Until a model has all its vectors another one answers, and that answer has nothing pending.
        """
        while True:
            result = self.call("sync", sync="full", wait_ms=POLL_MS)
            status = self.call("status")
            pending, seconds = result.get("pending") or {}, time.monotonic() - self.began
            model = status["model"]
            following = model.get("next")
            if result.get("fresh") and not any(pending.values()) and not following:
                if status.get("degraded"):
                    raise Failure(f"{self.tree}: {'; '.join(status['degraded'])}")
                self.model = model["id"]
                return seconds
            left = f"{pending.get('files', 0)} files, {pending.get('embeddings', 0)} vectors to do"
            if following:
                left += f", {following['done']} of {following['total']} by {following['id']}"
            if seconds > self.options.wait:
                raise Failure(f"{self.tree}: not indexed in {self.options.wait} s: {left}; {result.get('reason')}")
            say(f"{self.tree.name}: {left}", passing=True)
            time.sleep(0.05)


class Set:
    """One tree with its queries, and how a hit in it is written down."""

    def __init__(self, options, suite, name):
        self.suite, self.name, self.tree = suite, name, options.trees / suite / name
        if suite == "code-search":
            self.file = options.eval / suite / "annotations" / f"{name}.jsonl"
            self.run = options.runs / suite / f"{name}.tsv"
        else:
            self.file = options.eval / "dev" / suite / name / "queries.jsonl"
            self.run = options.runs / f"{name}.run"

    def queries(self):
        with open(self.file, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.strip()]

    def globs(self, query):
        """Restricts a question to its conversation, whose records are one folder of the tree."""
        haystack = query.get("haystack")
        return [re.sub(r"[^\w.-]", "_", haystack) + "/**"] if haystack else []

    def row(self, qid, rank, hit):
        path, (first, last) = hit["path"], hit["lines"]
        if self.suite == "code-search":
            return [self.name, qid, rank, path, first, last]
        if self.suite == "docs":
            path = f"{path}#L{first}-L{last}"  # the scorer takes the section that line `first` is in
        return [qid, rank, path, hit["score"]]


def ask(options, dataset):
    """Indexes one tree, asks all its queries and writes the run; returns how long that took."""
    rows, times, degraded = [], [], set()
    fixed = {"limit": options.limit, "sync": "none", "mode": options.mode, "kind": options.kind}
    with Daemon(options, dataset.tree) as daemon:
        index_s = daemon.wait_indexed()
        for query in dataset.queries():
            start = time.perf_counter()
            result = daemon.call("search", query=query["query"], path=dataset.globs(query), **fixed)
            times.append(round(1000 * (time.perf_counter() - start), 3))
            degraded.update(result.get("degraded") or ())
            rows += [dataset.row(query["qid"], rank, hit) for rank, hit in enumerate(result["hits"], 1)]
    for arm in sorted(degraded):
        say(f"{dataset.name}: an arm did not run: {arm}")
    dataset.run.parent.mkdir(parents=True, exist_ok=True)
    dataset.run.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return {"index_s": index_s, "model": daemon.model, "times_ms": times}


def ask_suite(options, suite, sets):
    """Asks each set in turn; returns those that answered."""
    answered, kept = [], options.runs / "timings.json"
    for dataset in sets:
        say(f"{suite}: {dataset.name}", passing=True)
        try:
            timing = ask(options, dataset)
        except Failure as failure:
            say(f"quality: {failure}")
            continue
        answered.append(dataset)
        timings = read_timings(options)
        timings.setdefault(suite, {})[dataset.name] = timing
        kept.write_text(json.dumps(timings))
    return answered


def read_timings(options):
    kept = options.runs / "timings.json"
    return json.loads(kept.read_text()) if kept.exists() else {}


def select(options):
    """Returns {suite: [Set]}; names at once all that is absent."""
    for needed in ["README.md", "score.py", "dev/BASELINES.md", "code-search/score.py", "code-search/manifest.json"]:
        if not (options.eval / needed).is_file():
            raise Failure(f"{options.eval / needed}: not found; --eval takes the folder of sets", 2)
    chosen = {}
    for suite in options.suite:
        if suite == "code-search":
            names = [path.stem for path in (options.eval / suite / "annotations").glob("*.jsonl")]
        else:
            names = [path.parent.name for path in (options.eval / "dev" / suite).glob("*/queries.jsonl")]
        sets = [Set(options, suite, name) for name in sorted(names) if re.search(options.only, name)]
        if sets:
            chosen[suite] = sets
    every = [dataset for sets in chosen.values() for dataset in sets]
    if not every:
        raise Failure(f"no set of {','.join(options.suite)} matches --only '{options.only}'", 2)
    needed = [dataset.run if options.score_only else dataset.tree / ".git" for dataset in every]
    absent = [str(path) for path in needed if not path.exists()]
    if absent:
        raise Failure("not found (--suite and --only leave sets out):\n  " + "\n  ".join(absent), 2)
    return chosen


def words(text):
    return [word for word in text.split(",") if word]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--eval", type=Path, required=True, help="folder of sets and scorers")
    add("--trees", type=Path, required=True, help="folder of trees")
    add("--runs", type=Path, required=True, help="folder to write to; created when absent")
    add("--memo", default="memo", metavar="PATH", help="the client; it finds memod itself (default: memo)")
    add("--suite", type=words, default=SUITES, metavar="A,B", help=f"which suites (default: {','.join(SUITES)})")
    add("--only", default="", metavar="REGEX", help="only sets whose name matches")
    add("--mode", default="hybrid", help="keyword, vector or hybrid (the default)")
    add("--kind", type=words, default=[], metavar="A,B", help="only these kinds of hit, such as symbol,text")
    add("--limit", type=int, default=50, metavar="N", help="hits asked for (default: 50)")
    add("--wait", type=int, default=1800, metavar="S", help="longest indexing of one tree, s (default: 1800)")
    add("--fresh", action="store_true", help="first delete what memod knows of each tree, to time the indexing")
    add("--compare", type=Path, metavar="RUNS", help="earlier runs: the scorers print the paired difference too")
    add("--score-only", action="store_true", help="ask nothing, score the runs that are there")
    options = parser.parse_args()
    unknown = [suite for suite in options.suite if suite not in SUITES]
    if unknown:
        parser.error(f"no suite {', '.join(unknown)}; there are {', '.join(SUITES)}")
    client = shutil.which(options.memo)
    if not client and not options.score_only:
        parser.error(f"{options.memo}: no such program; give the client's path with --memo")
    options.memo = client and os.path.abspath(client)
    for name in ["eval", "trees", "runs", "compare"]:
        path = getattr(options, name)
        setattr(options, name, path and path.resolve())
    return options


def say(text, passing=False):
    """Talks on stderr. What is passing is overwritten by the next line, and left out off a terminal."""
    terminal = sys.stderr.isatty()
    if terminal or not passing:
        clear, end = ("\r\x1b[K", "" if passing else "\n") if terminal else ("", "\n")
        print(clear + text, end=end, file=sys.stderr, flush=True)


def main():
    options = parse()
    chosen = select(options)
    options.runs.mkdir(parents=True, exist_ok=True)
    baselines, scored, complete = read_baselines(options.eval / "dev/BASELINES.md"), {}, True
    for suite, sets in chosen.items():
        answered = sets if options.score_only else ask_suite(options, suite, sets)
        complete = complete and len(answered) == len(sets)
        if not answered:
            continue
        say("", passing=True)
        scored[suite] = score_suite(options, suite, [dataset.name for dataset in answered])
        timings = read_timings(options).get(suite, {})
        print_suite(suite, scored[suite], timings, {} if suite == "code-search" else baselines)
    if scored:
        print_targets(options.eval / "README.md", scored)
        print(f"\nIntervals and other metrics: {', '.join(str(options.runs / f'{suite}.txt') for suite in scored)}")
    return 0 if complete else 3


def run_program(name, main):
    """Runs a program whose `main` returns its exit code, and ends with that code, or with that of a failure."""
    for variable in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[variable]  # inside a hook or a rebase they name another repository
    try:
        sys.exit(main())
    except Failure as failure:
        say(f"{name}: {failure}")
        sys.exit(failure.code)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run_program("quality", main)
