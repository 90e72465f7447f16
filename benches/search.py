#!/usr/bin/env python3
"""How long does a warm search take in the daemon?

  search.py WORKTREE [--memo PATH] [--questions 40] [--times 3] [--saves 20]

Asks the daemon of WORKTREE, which must have its index, 40 questions of each class, made of words of its files and the
same at each run, three times each (--questions, --times); then the questions in each mode and with each filter. Prints p50 and p99 of `took_ms`, and
the daemon's processor time a question (Linux; steadier than the clock on a busy machine), beside that without a filter. Then
how long a file takes from being written to being found, which writes and deletes `memo-bench.txt` in WORKTREE, the memory
and the index of the daemon, and what a whole `memo search` takes beside `/bin/true`.
"""
import argparse
import glob
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
from statistics import median

N_QUESTIONS = 40

VARIANTS = {
    "keyword": {"mode": "keyword"},
    "vector": {"mode": "vector"},
    "--kind symbol": {"kind": ["symbol"]},
    "--path **/*a*": {"path": ["**/*a*"]},
    "--lang (five)": {"lang": ["go", "java", "python", "rust", "typescript"]},
    "--only code": {"only": ["code"]},
    "--limit 200": {"limit": 200},
}


def questions(tree, n_questions=N_QUESTIONS):
    """Returns queries by class, from lines of some of the files that git tracks."""
    chance = random.Random(1)
    paths = subprocess.check_output(["git", "-C", tree, "ls-files", "-z"], text=True).split("\0")[:-1]
    lines = []
    for path in chance.sample(sorted(paths), min(300, len(paths))):
        try:
            lines += [line for line in open(f"{tree}/{path}", encoding="utf-8") if len(line) < 200]
        except (OSError, ValueError):  # a link that leads nowhere, a submodule, not text
            pass
    prose = [words for words in (re.findall(r"\b[a-z]{3,}\b", line) for line in lines) if len(words) >= 8]
    names = sorted({name for line in lines for name in re.findall(r"\b[a-z]+(?:[A-Z_][a-z]+)+\b", line)})

    def some(make):
        return [make(chance.choice(prose)) for _ in range(n_questions)]

    return {
        "word": some(lambda words: max(words, key=len)),
        "question": some(lambda words: " ".join(words[:8])),
        "phrase": some(lambda words: f'"{words[0]} {words[1]}"'),
        "prefix": some(lambda words: max(words, key=len)[:5] + "*"),
        "name": [chance.choice(names) for _ in range(n_questions)],
    }


def connect(tree):
    command = ["git", "-C", tree, "rev-parse", "--path-format=absolute", "--git-common-dir"]
    state = subprocess.check_output(command, text=True).strip() + "/memo"
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(json.load(open(f"{state}/endpoint"))["socket"])
    replies = stream.makefile("rb")

    def call(method, **params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"cwd": tree, **params}}
        stream.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(replies.readline())["result"]

    return call


def cpu_ms(pid):
    return sum(int(open(path).read().split()[0]) for path in glob.glob(f"/proc/{pid}/task/*/schedstat")) / 1e6


def spawn_ms(command, n_times):
    times = []
    for _ in range(n_times):
        began = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        times.append((time.perf_counter() - began) * 1000)
    return median(times)


def measure(call, pid, queries, n_times, **params):
    """Returns p50, p99 and processor time of queries, ms."""
    for query in queries:  # warms up
        call("search", query=query, **params)
    before = cpu_ms(pid)
    times = sorted(call("search", query=query, **params)["took_ms"] for query in queries * n_times)
    return median(times), times[len(times) * 99 // 100], (cpu_ms(pid) - before) / len(times)


def save_ms(call, tree, n_saves):
    """Returns the times from writing a file to finding it, sorted; the first save makes the file."""
    path, times = f"{tree}/memo-bench.txt", []
    try:
        for nth in range(n_saves + 1):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"zzsavedzz{nth} and other words\n" * 20)
            began = time.perf_counter()
            found = call("search", query=f"zzsavedzz{nth}", mode="keyword")
            times.append((time.perf_counter() - began) * 1000)
            if not any(hit["path"] == "memo-bench.txt" for hit in found["hits"]):
                sys.exit("a saved file was not found")
    finally:
        os.unlink(path)
    return sorted(times[1:])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worktree")
    parser.add_argument("--memo", default="memo", metavar="PATH")
    parser.add_argument("--questions", type=int, default=N_QUESTIONS, metavar="N", help="of each class")
    parser.add_argument("--times", type=int, default=3, metavar="N", help="how often each question is timed")
    parser.add_argument("--saves", type=int, default=20, metavar="N", help="how often a file is written")
    return parser.parse_args()


def main():
    options = parse()
    tree = subprocess.check_output(["git", "-C", options.worktree, "rev-parse", "--show-toplevel"], text=True).strip()
    asked, call = questions(tree, options.questions), connect(tree)
    status = call("status")
    pid = status["daemon"]["pid"]
    print(f"{status['counts']['chunks']:>7} chunks   p50 ms   p99 ms   cpu ms   of plain")
    plain = None
    for name, queries in asked.items():
        p50, p99, cpu = measure(call, pid, queries, options.times)
        plain = cpu if name == "question" else plain
        print(f"{name:15}{p50:9.2f}{p99:9.2f}{cpu:9.2f}")
    for name, params in VARIANTS.items():
        p50, p99, cpu = measure(call, pid, asked["question"], options.times, **params)
        print(f"{name:15}{p50:9.2f}{p99:9.2f}{cpu:9.2f}{cpu / plain:11.2f}")
    saves = save_ms(call, tree, options.saves)
    print(f"save to search: p50 {median(saves):.1f} ms, p95 {saves[len(saves) * 95 // 100]:.1f} ms")
    index = os.path.getsize(status["state_dir"] + "/index.db") >> 20
    print(f"resident: {call('status')['daemon']['rss_bytes'] >> 20} MiB; index.db: {index} MiB")
    query, n_spawns = asked["name"][0], max(1, options.questions)
    whole, true = spawn_ms([options.memo, "-C", tree, "search", query], n_spawns), spawn_ms(["/bin/true"], n_spawns)
    print(f"memo search, whole: {whole:.2f} ms; /bin/true: {true:.2f} ms")


if __name__ == "__main__":
    main()
