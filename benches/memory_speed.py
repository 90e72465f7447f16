#!/usr/bin/env python3
"""How long do add, get and search of memories take, beside another system?

  memory_speed.py [--memo PATH] [--sizes 1000,10000,100000] [--times 200] [--python PYTHON_WITH_MEMORI]

For each size: fills a new repository with so many memories, then times 200 (--times) of each: `memory.add`, `memory.get` and
`search` with --kind memory, as the asker sees it over one open connection and (search) as the daemon says it
(`took_ms`); and a quarter as many whole `memo` commands. The same texts and queries then go to memori (`pip install py-memori`) in the
same run: in this process, with vectors of random numbers handed to it, so that its model costs nothing; for us the
model's time is in every figure. Same machine, same file system, same seed at each run.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.dont_write_bytecode = True
from quality import Daemon, output_of, say  # noqa: E402

DIMS, STEP = 384, 500
SUBJECTS = "session token cache queue parser index worker socket schema backup replica router cookie lease".split()
VERBS = "expires rebuilds locks drops retries signs flushes reads merges splits moves hides counts blocks".split()
OBJECTS = "header table row journal client branch tree page leader column shard commit lock file vector".split()
WHEN = "on restart|after a crash|when idle|under load|during a merge|at midnight|in tests|behind the proxy".split("|")


def sentence(chance):
    words = [chance.choice(SUBJECTS), str(chance.randrange(10**6)), chance.choice(VERBS), "the", chance.choice(OBJECTS)]
    more = [chance.choice(WHEN), "because the", chance.choice(SUBJECTS), chance.choice(VERBS), "its", chance.choice(OBJECTS)]
    return " ".join(words + more)


def question(chance):
    return f"why does the {chance.choice(SUBJECTS)} {chance.choice(['lock', 'drop', 'retry'])} the {chance.choice(OBJECTS)} {chance.choice(WHEN)}"


def times(n_times, run):
    """Returns p50 and p99 in ms of calling `run` with 0, 1, 2 …; what it returns is taken where it is a number."""
    took = []
    for nth in range(n_times):
        began = time.perf_counter()
        said = run(nth)
        passed = (time.perf_counter() - began) * 1000
        took.append(said if isinstance(said, float) else passed)
    took.sort()
    return median(took), took[len(took) * 99 // 100]


def ours(options, n_memories):
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as tree:
        subprocess.run(["git", "init", "-q", tree], check=True)
        with Daemon(options, Path(tree)) as daemon:
            began = time.perf_counter()
            for start in range(0, n_memories, STEP):
                rows = [{"content": sentence(chance)} for _ in range(start, min(n_memories, start + STEP))]
                daemon.call("memory.import", drafts=rows)
            rate = n_memories / (time.perf_counter() - began)
            ids = [memory["id"] for memory in daemon.call("memory.list", limit=1000)["memories"]]
            asked = [question(chance) for _ in range(options.times)]

            def search(nth):
                return daemon.call("search", query=asked[nth], kind=["memory"])["took_ms"]

            search(0)  # warms up
            rows = {
                "add": times(options.times, lambda _: daemon.call("memory.add", content=sentence(chance), force=True) and None),
                "get": times(options.times, lambda nth: daemon.call("memory.get", ids=[ids[nth % len(ids)]]) and None),
                "search": times(options.times, lambda nth: search(nth) and None),
                "search, in the daemon": times(options.times, search),
            }
            n_whole = max(1, options.times // 4)
            whole = lambda *args: output_of(options.memo, "-C", tree, *args) and None
            rows["memo add, whole"] = times(n_whole, lambda _: whole("add", "--force", sentence(chance)))
            rows["memo get, whole"] = times(n_whole, lambda nth: whole("get", ids[nth % len(ids)]))
            rows["memo search, whole"] = times(n_whole, lambda nth: whole("search", "-k", "memory", asked[nth]))
            return rate, rows


def theirs(n_memories, n_times):
    from memori import PyMemori

    chance = random.Random(1)
    vector = lambda: [chance.gauss(0, 1) for _ in range(DIMS)]
    with tempfile.TemporaryDirectory() as folder:
        store = PyMemori(os.path.join(folder, "memori.db"))
        pool = [vector() for _ in range(1000)]
        began = time.perf_counter()
        ids = [store.insert(sentence(chance), vector=pool[nth % 1000], no_embed=True) for nth in range(n_memories)]
        rate = n_memories / (time.perf_counter() - began)
        ids = [made if isinstance(made, str) else (made.get("id") if isinstance(made, dict) else made[-1]) for made in ids]
        asked, vectors = [question(chance) for _ in range(n_times)], [vector() for _ in range(n_times)]
        search = lambda nth: store.search(vector=vectors[nth], text=asked[nth], limit=10) and None
        search(0)
        return rate, {
            "add": times(n_times, lambda nth: store.insert(sentence(chance), vector=vectors[nth], no_embed=True) and None),
            "get": times(n_times, lambda nth: store.get(ids[nth % len(ids)]) and None),
            "search": times(n_times, search),
            "search, text alone": times(n_times, lambda nth: store.search(text=asked[nth], limit=10, text_only=True) and None),
        }


def show(who, n_memories, rate, rows):
    print(f"{who:8}{n_memories:>8} memories, filled at {rate:,.0f}/s")
    for name, (p50, p99) in rows.items():
        print(f"  {name:24}{p50:9.2f}{p99:9.2f}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--memo", default="memo", metavar="PATH", help="the client; it finds memod itself")
    add("--sizes", default="1000,10000,100000", help="how many memories")
    add("--times", type=int, default=200, metavar="N", help="how often each is timed")
    add("--python", metavar="PATH", help="a Python that has py-memori; without it memori is left out")
    add("--theirs", type=int, metavar="N", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.theirs:
        rate, rows = theirs(options.theirs, options.times)
        return print(json.dumps([rate, rows]))
    options.memo = str(Path(options.memo).resolve()) if "/" in options.memo else options.memo
    options.runs, options.fresh, options.wait = Path(tempfile.mkdtemp()), False, 600
    print(f"{'':26}  p50 ms   p99 ms")
    for size in map(int, options.sizes.split(",")):
        show("memod", size, *ours(options, size))
        if options.python:
            said = subprocess.run([options.python, __file__, "--theirs", str(size), "--times", str(options.times)], capture_output=True, text=True)
            if said.returncode:
                say(f"memori: {said.stderr.strip().splitlines()[-1]}")
            else:
                show("memori", size, *json.loads(said.stdout))


main()
