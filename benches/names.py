#!/usr/bin/env python3
"""How often is a definition of that name the first hit when its name is the whole query?

usage: benches/names.py WORKTREE [--memo memo] [--count 180] [--seed 1]

Names are drawn from the definitions of the worktree's index: those that are spelled like code (`snake_case`,
`camelCase`, `PascalCase`, `UPPER_CASE` of two words) and those that are one word, half of each.
"""

import argparse
import json
import random
import re
import subprocess
import sys
from pathlib import PurePosixPath


def ask(options, *words):
    command = [options.memo, "-C", options.worktree, "search", "--json", "--wait-ms", "60000", *words]
    return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)["hits"]


def definitions(options):
    """Returns names of definitions, found by the words of the paths."""
    files = subprocess.run([options.memo, "-C", options.worktree, "status", "--files"], capture_output=True, text=True)
    paths = files.stdout.split("\n")
    words = sorted({word for path in paths for word in re.findall(r"[a-z]{3,}", PurePosixPath(path).stem.lower())})
    names = set()
    for word in random.Random(options.seed).sample(words, min(len(words), 100)):
        names |= {hit.get("symbol") for hit in ask(options, "--kind", "symbol", "-n", "200", word)}
    return sorted(name for name in names if name and re.fullmatch(r"\w{3,}", name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worktree")
    parser.add_argument("--memo", default="memo")
    parser.add_argument("--count", type=int, default=180)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    known = definitions(options)
    is_compound = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]").search
    kinds = {
        "of several words": [name for name in known if is_compound(name)],
        "of one word": [name for name in known if not is_compound(name)],
    }
    total = first = 0
    for kind, names in kinds.items():
        drawn = random.Random(options.seed).sample(names, min(len(names), options.count // 2))
        missed = [name for name in drawn if (ask(options, "-n", "1", name) or [{}])[0].get("symbol") != name]
        print(f"{kind}: first for {len(drawn) - len(missed)} of {len(drawn)}; not for {' '.join(missed) or 'none'}")
        total, first = total + len(drawn), first + len(drawn) - len(missed)
    print(f"in all: first for {first} of {total}")
    return 0 if total else 1


if __name__ == "__main__":
    sys.exit(main())
