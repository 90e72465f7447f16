#!/usr/bin/env python3
"""Does HTTP hold a load while files change, and what does the socket feel of it?

  serve_load.py WORKTREE [--memo PATH] [--rate N] [--seconds N] [--files N]

Three rounds on WORKTREE, a clone that may be written to and whose index is up to date: nothing but ten searches a second over
the socket; the same while files change; the same while files change and HTTP is asked RATE times a second on 16 connections
that stay open. Each request has its planned time, from which its latency counts, so a slow answer delays none of the figures.
Of ten requests one searches, one reads the status, three get a memory, three list memories, two ask for the health.
Prints requests, errors, p50, p99 and the longest in ms, the daemon's memory, and whether the index is up to date at the end.
What it wrote is deleted. The clients share the processors with the daemon.
"""
import argparse
import http.client
import json
import multiprocessing
import socket
import subprocess
import time
from pathlib import Path

N_CONNECTIONS = 16
SEARCHES_A_SECOND = 10
QUERIES = ["parse the arguments", "where is the cache emptied", "error", "read a file", "open connection", "test"]


def run(memo, tree, *words):
    return subprocess.run([memo, "-C", tree, *words], check=True, capture_output=True, text=True).stdout


def on_time(rate, seconds, first):
    """Yields the planned times of `rate` events a second, each when it has come."""
    for n in range(int(rate * seconds)):
        planned = first + n / rate
        time.sleep(max(0.0, planned - time.perf_counter()))
        yield n, planned


def ask_http(port, token, ids, nth, rate, seconds, first, results):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times, failed = [], []
    for n, planned in on_time(rate, seconds, first + nth / rate / N_CONNECTIONS):
        kind, one = (n + nth) % 10, ids[n % len(ids)]
        query = json.dumps({"query": QUERIES[n % len(QUERIES)], "sync": "none"})
        verb, path, body = {
            0: ("POST", "/v1/search", query),
            1: ("POST", "/v1/status", "{}"),
            2: ("GET", "/health", None),
            3: ("GET", "/health", None),
            4: ("GET", "/v1/memories?limit=20", None),
            5: ("GET", "/v1/memories?limit=20", None),
            6: ("GET", "/v1/memories?limit=20", None),
        }.get(kind, ("GET", f"/v1/memories/{one}", None))
        try:
            connection.request(verb, path, body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                failed.append(str(answer.status))
        except (OSError, http.client.HTTPException) as error:
            failed.append(type(error).__name__)
            connection.close()
        times.append((time.perf_counter() - planned) * 1000)
    results.put(("http", times, failed))


def ask_socket(address, tree, seconds, first, results):
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(address)
    replies, times, failed = stream.makefile("rb"), [], []
    for n, planned in on_time(SEARCHES_A_SECOND, seconds, first):
        params = {"cwd": tree, "query": QUERIES[n % len(QUERIES)], "sync": "none"}
        stream.sendall(json.dumps({"jsonrpc": "2.0", "id": n, "method": "search", "params": params}).encode() + b"\n")
        reply = json.loads(replies.readline())
        times.append((time.perf_counter() - planned) * 1000)
        failed += ["error"] if "error" in reply else []
    results.put(("socket", times, failed))


def change_files(folder, n_files, seconds, first):
    for n, _ in on_time(n_files / seconds, seconds, first):
        (folder / f"file_{n}.py").write_text(f"def changed_{n}(value):\n    return value + {n}\n")


def memory_mb(pid):
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 1024


def round_of(options, tree, address, pid, http_server, n_files):
    """Runs one round; returns times and failures of each side, and the largest memory seen, MB."""
    folder, results, first = Path(tree) / "serve_load", multiprocessing.SimpleQueue(), time.perf_counter() + 1
    folder.mkdir(exist_ok=True)
    start = lambda target, *args: multiprocessing.Process(target=target, args=args)
    running = [start(ask_socket, address, tree, options.seconds, first, results)]
    if http_server:
        rate = options.rate / N_CONNECTIONS
        running += [
            start(ask_http, *http_server, nth, rate, options.seconds, first, results) for nth in range(N_CONNECTIONS)
        ]
    writing = [start(change_files, folder, n_files, options.seconds, first)] if n_files else []
    for process in running + writing:
        process.start()
    most, found = 0.0, []
    while len(found) < len(running):
        most = max(most, memory_mb(pid))
        while not results.empty():
            found.append(results.get())
        time.sleep(0.2)
    for process in running + writing:
        process.join()
    sides = {"socket": ([], []), "http": ([], [])}
    for side, times, failed in found:
        sides[side][0].extend(times)
        sides[side][1].extend(failed)
    return sides, most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worktree")
    parser.add_argument("--memo", default="memo")
    parser.add_argument("--rate", type=float, default=1000)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--files", type=int, default=2000)
    options = parser.parse_args()
    tree = str(Path(options.worktree).resolve())
    run(options.memo, tree, "sync")
    ids = [
        json.loads(run(options.memo, tree, "add", "--force", "--json", f"a memory for the load, number {n}"))["memory"]["id"]
        for n in range(50)
    ]
    status = json.loads(run(options.memo, tree, "status", "--json"))
    address, pid = status["socket"], status["daemon"]["pid"]
    served = json.loads(run(options.memo, tree, "serve", "--json"))
    http_server = (served["port"], served["url"].split("#token=")[1], ids)
    print(f"{'round':34}{'requests':>10}{'errors':>8}{'p50 ms':>9}{'p99 ms':>9}{'most ms':>9}{'RSS MB':>8}")
    try:
        for name, server, n_files in (
            ("searches alone", None, 0),
            (f"{options.files} files change", None, options.files),
            (f"and {options.rate:.0f} a second over HTTP", http_server, options.files),
        ):
            sides, memory = round_of(options, tree, address, pid, server, n_files)
            for side, (times, failed) in sides.items():
                if times:
                    times.sort()
                    p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
                    print(
                        f"{name + ', ' + side:34}{len(times):10}{len(failed):8}{p50:9.1f}{p99:9.1f}{times[-1]:9.1f}{memory:8.0f}"
                        + (f"  {sorted(set(failed))}" if failed else "")
                    )
        answer = json.loads(run(options.memo, tree, "search", f"changed_{options.files - 1}", "--json"))
        print("fresh at the end:", answer["fresh"], "; the last file is first:", answer["hits"][0]["path"])
    finally:
        for path in (Path(tree) / "serve_load").glob("*"):
            path.unlink()
        (Path(tree) / "serve_load").rmdir()
        run(options.memo, tree, "serve", "--stop")
        run(options.memo, tree, "forget", "--yes", *ids)


if __name__ == "__main__":
    main()
