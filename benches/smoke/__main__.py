#!/usr/bin/env python3
"""Runs each program of benches/ and each script of tests/ that no test runs, small and seeded, and reads what it prints.

  benches/smoke [--memo PATH] [--only REGEX] [--install] [--jobs N] [--list] [--show]

The table is in `rows.py`: program, arguments, and what must be in the output. A row fails when its program exits with
another status than 0, takes too long, prints something else, or leaves a process behind; the run fails too when a program
has no row. What needs something that is not there prints NOT CHECKED, and why; --install has npm and pip put into
target/smoke what they can. The figures are those of a debug build on a busy machine, and say nothing about speed. Each
row has a home, a temporary directory and a repository of its own, with a daemon of its own.

Needs Python 3.11 and git. Exit code: 0 all that can run is right, 1 something is not.
"""
import argparse
import os
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
import programs  # noqa: E402
import tools  # noqa: E402
from place import Place, Wrong, run_row  # noqa: E402
from rows import ROWS  # noqa: E402
from shop import Shop  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(
        prog="benches/smoke", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--memo", type=Path, default=tools.KEPT.parent / "debug/memo", metavar="PATH", help="the client; memod is beside it")
    add("--only", default="", metavar="REGEX", help="only rows whose program or name matches")
    add("--install", action="store_true", help="first have npm and pip put into target/smoke what is not there")
    add("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="rows at a time (default: processors)")
    add("--list", action="store_true", help="print every program and who runs it, and run nothing")
    add("--show", action="store_true", help="print the output of the programs too")
    options = parser.parse_args()
    options.memo = options.memo.resolve()
    if not options.list and not options.memo.exists():
        parser.error(f"{options.memo}: not found; cargo build, or name it with --memo")
    return options


def outcome(row, options, shop, top):
    """Runs a row; returns its word, its line and its output."""
    missing = [why for why in map(tools.absent, row.needs) if why]
    if missing:
        return "NOT CHECKED:", f"{row.title}: {'; '.join(missing)}", ""
    place, began = Place(row, options.memo, shop, top), time.monotonic()
    try:
        said, why = run_row(row, place)
    except Wrong as wrong:
        said, why = wrong.said, str(wrong)
    except (OSError, ValueError, LookupError) as error:  # of what a row itself does before or after
        said, why = "", f"{type(error).__name__}: {error}"
    line = f"{row.title} ({time.monotonic() - began:.1f} s)"
    return ("FAILED", f"{line}: {why}", said) if why else ("ok", line, said)


def run(options, rows):
    """Runs rows, some at a time; returns how many failed."""
    n_failed = n_ok = n_not_checked = 0
    with tempfile.TemporaryDirectory(prefix="smoke-") as top, ThreadPoolExecutor(options.jobs) as pool:
        os.chmod(top, 0o755)
        shop = Shop(Path(top) / "shop")
        for done in as_completed([pool.submit(outcome, row, options, shop, Path(top)) for row in rows]):
            word, line, said = done.result()
            print(f"{word} {line}", flush=True)
            n_failed, n_ok, n_not_checked = n_failed + (word == "FAILED"), n_ok + (word == "ok"), n_not_checked + (word[0] == "N")
            if options.show or word == "FAILED":
                print(re.sub("^", "    ", said.rstrip(), flags=re.M), flush=True)
            else:
                for left_out in re.findall("^ *(NOT CHECKED:.*)", said, re.M):
                    print(f"{left_out} ({Path(row_path(line)).name})", flush=True)
    print(f"{n_ok} right, {n_failed} wrong, {n_not_checked} not checked")
    return n_failed


def row_path(line):
    return line.split(" ")[0]


def main():
    options = parse()
    if options.list:
        print("\n".join(f"{program:40} {by}" for program, by in programs.table()))
        return 0
    problems, before = list(programs.problems()), programs.traces()
    if options.install:
        tools.install()
    tools.build()
    n_failed = run(options, [row for row in ROWS if re.search(options.only, row.title)])
    problems += programs.left_since(before)
    for problem in problems:
        print(f"FAILED {problem}")
    return 1 if n_failed or problems else 0


if __name__ == "__main__":
    sys.exit(main())
