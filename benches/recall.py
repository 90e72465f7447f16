#!/usr/bin/env python3
"""How early do definitions come that answer a question?

  recall.py DIR [--half A|B] [--json]

DIR    files of `candidates.py`, one a repository

Prints, in percent, for all questions and by kind, length in words, language and half: how many are asked, and recall at 5, 10
and 100 and MRR of the first answer, then of all answers that must be read. A question counts as any other; those that
nothing answers are left out and counted. What a hit has to share with a definition `memod bench candidates` has decided
(crates/bench/src/asked_definitions.rs). The half is that of benches/questions/asked: of its files every other one.

Needs Python 3.9, nothing else. Exit code: 0 printed, 2 there are no files.
"""
import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
from quality import Failure, run_program  # noqa: E402

ASKED = Path(__file__).resolve().parent / "questions/asked"
KINDS = ["topic", "short", "long", "task", "pasted"]
LENGTHS = [(6, "to 6 words"), (15, "7 to 15 words"), (40, "16 to 40 words"), (80, "41 to 80 words"), (10**9, "over 80 words")]
CUTS = [5, 10, 100]
METRICS = [*(f"R@{cut}" for cut in CUTS), "MRR"]


def halves(folder=ASKED):
    """Returns {OWNER+NAME: half}."""
    names = sorted(file.stem for file in folder.glob("*.jsonl"))
    return {name: "AB"[place % 2] for place, name in enumerate(names)}


def rows_of(file):
    """Returns the header and the questions of a file of candidates."""
    with open(file, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if not line.startswith('{"type":"chunk"')]
    return rows[0], rows[1:]


def figures(question, numbers):
    """Returns recall at each cut and the reciprocal rank of some answers of a question."""
    places = {}
    for place, candidate in enumerate(question["candidates"], 1):
        for number in candidate["answers"]:
            places.setdefault(number, place)
    found = [places[number] for number in numbers if number in places]
    return [*(sum(place <= cut for place in found) / len(numbers) for cut in CUTS), 1 / min(found) if found else 0.0]


def scored(question):
    """Returns the figures of the first answer, and of those that must be read, or of all where none must."""
    every = range(len(question["answers"]))
    must = [number for number in every if question["answers"][number]["must"]] or every
    return [*figures(question, [0]), *figures(question, must)]


def collect(files, half_of):
    """Returns {title of a row: [figures]} in the order of the table, and the number of questions that nothing answers."""
    groups, n_absent = defaultdict(list), 0
    for file in files:
        header, questions = rows_of(file)
        for question in questions:
            if not question["answers"]:
                n_absent += 1
                continue
            n_words = len(question["query"].split())
            length = next(title for most, title in LENGTHS if n_words <= most)
            half = half_of.get(header["set"], "none")
            for row in [("all", ""), ("kind", question["kind"]), ("length", length), ("language", header.get("language")),
                        ("half", half)]:
                groups[row].append(scored(question))
    orders = {"kind": KINDS, "length": [title for _, title in LENGTHS]}
    titles = ["all", "kind", "length", "language", "half"]

    def place(row):
        order = orders.get(row[0], [])
        return titles.index(row[0]), order.index(row[1]) if row[1] in order else len(order), str(row[1])

    return {row: groups[row] for row in sorted(groups, key=place)}, n_absent


def means(rows):
    return [100 * sum(column) / len(rows) for column in zip(*rows)]


def print_table(files, half_of, as_json=False):
    groups, n_absent = collect(files, half_of)
    if as_json:
        names = [f"{answer} {metric}" for answer in ["first", "must"] for metric in METRICS]
        table = [{"by": by, "of": of, "questions": len(rows), **dict(zip(names, means(rows)))} for (by, of), rows in groups.items()]
        print(json.dumps({"repositories": len(files), "absent": n_absent, "rows": table}))
        return
    print(f"{len(files)} repositories; {n_absent} questions that nothing answers are left out")
    print(f"{'':26}{'':>9}   {'first answer':^28}   {'answers that must be read':^28}")
    print(f"{'':26}{'questions':>9}" + 2 * ("   " + "".join(f"{name:>7}" for name in METRICS)))
    for (by, of), rows in groups.items():
        cells = [f"{value:7.1f}" for value in means(rows)]
        print(f"{by:10}{of or '':16}{len(rows):9}   {''.join(cells[:4])}   {''.join(cells[4:])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="files of candidates.py")
    add("--half", choices="AB", help="only the repositories of one half")
    add("--questions", type=Path, default=ASKED, help="the folder of questions, whose names say what the halves are")
    add("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    half_of = halves(options.questions)
    files = [file for file in sorted(options.folder.glob("*.jsonl")) if options.half in (None, half_of.get(file.stem))]
    if not files:
        raise Failure(f"{options.folder}: no files of candidates of these repositories; candidates.py writes them", 2)
    print_table(files, half_of, options.json)
    return 0


if __name__ == "__main__":
    run_program("recall", main)
