#!/usr/bin/env python3
"""How well are memories found?

  memory_quality.py --eval EVAL --runs RUNS [--memo PATH] [--only REGEX] [--mode hybrid] [--compare RUNS]

Keeps every record of the conversational sets (EVAL/dev/conv) as a memory of its own, in a container for each
conversation, in a repository made for it; a chat session becomes a memory a message, as the systems do that store
turns. Asks every question with --kind memory, writes RUNS/<set>.run, and prints Recall@5, @10 and the rest with their
95 % intervals as EVAL's score.py has them. `quality.py --suite conv` asks the same over Markdown files.

Needs Python 3.9, git and Unix sockets.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from quality import Daemon, Failure, output_of, run_program, say  # noqa: E402

METRICS = "R@1,R@5,R@10,MRR@10,nDCG@10"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def texts(record):
    """Returns the memories of a record: itself, or the messages of a session with their date."""
    if record.get("haystack"):
        return [record["text"]]
    messages = re.split(r"\n(?=\[(?:user|assistant)\]: )", record["text"])
    date = record.get("date", "")
    return [f"[{date}] {text}"[:60_000] for text in messages if text.strip()]


def run(options, folder):
    """Returns the run of one set: question, place, record, score."""
    with tempfile.TemporaryDirectory() as tree:
        subprocess.run(["git", "init", "-q", tree], check=True)
        options.fresh = False
        with Daemon(options, Path(tree)) as daemon:
            record_of = {}
            for record in lines(folder / "corpus.jsonl"):
                container = record.get("haystack", "all")
                for text in texts(record):
                    added = daemon.call("memory.add", content=text, container=container, force=True, allow_secret=True)
                    record_of[added["memory"]["id"]] = record["id"]
            say(f"{folder.name}: {len(record_of)} memories", passing=True)
            rows = []
            for query in lines(folder / "queries.jsonl"):
                container = query.get("haystack", "all")
                asked = {"kind": ["memory"], "container": container, "limit": 200, "mode": options.mode}
                hits = daemon.call("search", query=query["query"], **asked)["hits"]
                found = list(dict.fromkeys(record_of[hit["id"]] for hit in hits))
                rows += [[query["qid"], rank, record, 1 / rank] for rank, record in enumerate(found[:50], 1)]
            return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--eval", type=Path, required=True, help="folder of sets and scorers")
    add("--runs", type=Path, required=True, help="folder to write to; created when absent")
    add("--memo", default="memo", metavar="PATH", help="the client; it finds memod itself")
    add("--only", default="", metavar="REGEX", help="only sets whose name matches")
    add("--mode", default="hybrid", help="keyword, vector or hybrid")
    add("--wait", type=int, default=600, metavar="S", help="longest wait for one answer, s")
    add("--compare", type=Path, metavar="RUNS", help="earlier runs: the paired difference is printed too")
    options = parser.parse_args()
    options.memo = str(Path(options.memo).resolve()) if "/" in options.memo else options.memo
    options.runs.mkdir(parents=True, exist_ok=True)
    conv = options.eval / "dev/conv"
    if not conv.is_dir():
        raise Failure(f"{conv}: not found; --eval takes the folder of sets", 2)
    for folder in sorted(path for path in conv.iterdir() if re.search(options.only, path.name)):
        rows = run(options, folder)
        out = options.runs / f"{folder.name}.run"
        out.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    command = [sys.executable, options.eval / "score.py", "--suite", conv, "--runs", options.runs, "--each",
               "--metrics", METRICS, "--only", options.only or "."]
    if options.compare:
        command += ["--baseline", options.compare]
    print(output_of(*command))


if __name__ == "__main__":
    run_program("memory_quality", main)
