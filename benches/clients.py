#!/usr/bin/env python3
"""How many searches a second does a daemon answer for 1, 2, 4, 16 and 64 clients?

  clients.py WORKTREE [SECONDS]

Asks the daemon of WORKTREE, which must have its index, the questions of search.py from processes that only write a line
and read one. Prints searches a second, the p50 and p99 of a whole round trip, the daemon's processor time a search
(Linux), errors, and answers that were not fresh. The clients share the processors with the daemon.
"""
import itertools
import json
import multiprocessing
import random
import socket
import sys
import time

from search import connect, cpu_ms, questions


def ask(address, lines, seed, seconds, results):
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(address)
    replies = stream.makefile("rb")
    times, errors, stale = [], 0, 0
    random.Random(seed).shuffle(lines)
    end = time.perf_counter() + seconds
    for line in itertools.cycle(lines):
        began = time.perf_counter()
        if began >= end:
            break
        stream.sendall(line)
        reply = replies.readline()
        times.append((time.perf_counter() - began) * 1000)
        errors += b'"error"' in reply[:80] or not reply
        stale += b'"fresh":true' not in reply
    results.put((times, errors, stale))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    tree, seconds = sys.argv[1].rstrip("/"), float(sys.argv[2]) if len(sys.argv) > 2 else 10
    call = connect(tree)
    status = call("status")
    address, pid = status["socket"], status["daemon"]["pid"]
    queries = [query for queries in questions(tree).values() for query in queries]
    request = {"jsonrpc": "2.0", "id": 1, "method": "search"}
    lines = [json.dumps({**request, "params": {"cwd": tree, "query": query}}).encode() + b"\n" for query in queries]
    for query in queries:  # warms up
        call("search", query=query)
    print(f"{status['counts']['chunks']} chunks   a second   p50 ms   p99 ms   cpu ms   errors   not fresh")
    for n_clients in (1, 2, 4, 16, 64):
        results, before = multiprocessing.SimpleQueue(), cpu_ms(pid)
        clients = [
            multiprocessing.Process(target=ask, args=(address, lines, seed, seconds, results))
            for seed in range(n_clients)
        ]
        for client in clients:
            client.start()
        found = [results.get() for _ in clients]
        for client in clients:
            client.join()
        times = sorted(time for times, _, _ in found for time in times)
        cpu, n = (cpu_ms(pid) - before) / len(times), len(times)
        p50, p99 = times[n // 2], times[n * 99 // 100]
        errors, stale = (sum(row[at] for row in found) for at in (1, 2))
        print(f"{n_clients:3} clients {n / seconds:13.0f}{p50:9.2f}{p99:9.2f}{cpu:9.2f}{errors:9}{stale:12}")


if __name__ == "__main__":
    main()
