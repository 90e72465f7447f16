#!/usr/bin/env python3
"""What does a reranker learn from, and what judges it?

  prepare.py --pairs PAIRS --candidates DIR --out DATA

PAIRS  folder with pairs.npz and repos.json, the pairs of a question-like text and its code
DIR    files of benches/candidates.py
DATA   written: data.npz, and data.json, which says what is in it

Each repository belongs to one part:
  judge  repositories of half B of benches/questions/asked; nothing is fitted on their questions or on their pairs
  tune   every fourth repository of half A; the weight in a blend is chosen on it, so it is not trained on either
  train  the other repositories of half A, and those that have pairs and no questions

A candidate keeps its path, its name or title and its text apart, so that training decides what the model reads.

Needs Python 3.9 and numpy. Exit code: 0 written, 2 something is absent.
"""
import argparse
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
import numpy as np  # noqa: E402
from tensors import MAX_HEAD, MAX_PATH, flatten_rows  # noqa: E402

ASKED = Path(__file__).resolve().parents[2] / "benches/questions/asked"
KINDS = ["topic", "short", "long", "task", "pasted"]
PARTS = ["train", "tune", "judge"]
MAX_QUESTION, MAX_BODY = 128, 160  # tokens that are kept
N_TUNE = 4  # each so many repositories of half A, one is for tuning


def divide_repositories(names):
    """Returns {OWNER+NAME: part} of the repositories that are asked about, given in the order of their names."""
    half_a = [name for place, name in enumerate(names) if place % 2 == 0]
    tune = half_a[1::N_TUNE]
    return {name: "judge" if name not in half_a else "tune" if name in tune else "train" for name in names}


def read_candidates(path):
    """Returns the header, the chunks by id and the questions of a file that something answers."""
    chunks, questions, header = {}, [], None
    with open(path, encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["type"] == "chunk":
                chunks[row["id"]] = row
            elif row["type"] == "question" and row["answers"]:
                questions.append(row)
            elif row["type"] == "header":
                header = row
    return header, chunks, questions


def mask_answers(numbers):
    return sum(1 << number for number in numbers)


def collect_questions(folder, repositories):
    """Returns the arrays of all questions and their candidates; `repositories` is the number of each repository."""
    chunk_rows, rows, starts = {"path": [], "head": [], "body": []}, [], [0]
    candidates = {"chunk": [], "score": [], "answers": []}
    for path in sorted(folder.glob("*.jsonl")):
        if path.stem not in repositories:
            continue
        _, chunks, questions = read_candidates(path)
        numbers = {}
        for chunk in chunks.values():
            numbers[chunk["id"]] = len(chunk_rows["body"])
            chunk_rows["path"].append(chunk["path_tokens"][-MAX_PATH:])
            chunk_rows["head"].append(chunk["head_tokens"][:MAX_HEAD])
            chunk_rows["body"].append(chunk["body_tokens"][:MAX_BODY])
        for question in questions:
            every = range(len(question["answers"]))
            must = [number for number in every if question["answers"][number]["must"]] or every
            rows.append((question["tokens"][:MAX_QUESTION], repositories[path.stem], KINDS.index(question["kind"]),
                         len(question["query"].split()), mask_answers(must)))
            for candidate in question["candidates"]:
                candidates["chunk"].append(numbers[candidate["chunk"]])
                candidates["score"].append(candidate["score"])
                candidates["answers"].append(mask_answers(candidate["answers"]))
            starts.append(len(candidates["chunk"]))
    arrays = {"question_candidates": np.array(starts, np.uint32), "candidate_chunk": np.array(candidates["chunk"], np.uint32),
              "candidate_score": np.array(candidates["score"], np.float32),
              "candidate_answers": np.array(candidates["answers"], np.uint8)}
    arrays["question_tokens"], arrays["question_offsets"] = flatten_rows([row[0] for row in rows])
    for place, (name, kind) in enumerate([("repository", np.uint16), ("kind", np.uint8), ("words", np.uint16), ("must", np.uint8)], 1):
        arrays[f"question_{name}"] = np.array([row[place] for row in rows], kind)
    for name, lists in chunk_rows.items():
        arrays[f"chunk_{name}"], arrays[f"chunk_{name}_offsets"] = flatten_rows(lists)
    return arrays


def copy_pairs(folder, repositories):
    """Returns the arrays of the pairs, their repositories numbered as `repositories` says."""
    names = {entry["index"]: entry["repository"].replace("/", "+") for entry in
             json.loads((folder / "repos.json").read_text(encoding="utf-8"))["repositories"]}
    with np.load(folder / "pairs.npz") as pairs:
        renumber = np.zeros(max(names) + 1, np.uint16)
        for index, name in names.items():
            renumber[index] = repositories[name]
        copied = {"question": pairs["q_tokens"], "question_offsets": pairs["q_off"], "code": pairs["d_tokens"],
                  "code_offsets": pairs["d_off"], "repository": renumber[pairs["repo"]], "kind": pairs["kind"],
                  "has_path": pairs["has_path"], "negatives": pairs["neg"]}
        return {f"pair_{name}": array for name, array in copied.items()}


def list_repositories(options):
    """Returns {OWNER+NAME: part}: first those that are asked about, then those that have only pairs."""
    asked = sorted(file.stem for file in options.questions.glob("*.jsonl"))
    part_of = divide_repositories(asked)
    entries = json.loads((options.pairs / "repos.json").read_text(encoding="utf-8"))["repositories"]
    for entry in entries:
        part_of.setdefault(entry["repository"].replace("/", "+"), "train")
    return part_of


def describe(arrays, part_of):
    """Returns how many repositories, pairs and questions each part has."""
    parts = np.array([PARTS.index(part) for part in part_of.values()])
    of_pairs, of_questions = parts[arrays["pair_repository"]], parts[arrays["question_repository"]]
    owner = np.repeat(np.arange(len(of_questions)), np.diff(arrays["question_candidates"].astype(np.int64)))
    is_found = np.bincount(owner, arrays["candidate_answers"] > 0, len(of_questions)) > 0
    return {part: {"repositories": int((parts == place).sum()),
                   "with_pairs": len(np.unique(arrays["pair_repository"][of_pairs == place])),
                   "pairs": int((of_pairs == place).sum()), "questions": int((of_questions == place).sum()),
                   "answer_among_candidates": int(((of_questions == place) & is_found).sum())} for place, part in enumerate(PARTS)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--pairs", type=Path, required=True, help="folder with pairs.npz and repos.json")
    add("--candidates", type=Path, required=True, metavar="DIR", help="files of benches/candidates.py")
    add("--out", type=Path, required=True, metavar="DATA", help="folder to write to; created when absent")
    add("--questions", type=Path, default=ASKED, help="folder of questions, whose names say what the halves are")
    options = parser.parse_args()
    absent = [path for path in (options.pairs / "pairs.npz", options.pairs / "repos.json", options.candidates) if not path.exists()]
    if absent:
        print(f"prepare: {', '.join(map(str, absent))}: not there", file=sys.stderr)
        return 2
    part_of = list_repositories(options)
    repositories = {name: number for number, name in enumerate(part_of)}
    arrays = {**copy_pairs(options.pairs, repositories), **collect_questions(options.candidates, repositories)}
    arrays["repo_names"] = np.array(list(part_of))
    arrays["repo_parts"] = np.array([PARTS.index(part) for part in part_of.values()], np.uint8)
    options.out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(options.out / "data.npz", **arrays)
    counts = {**describe(arrays, part_of), "bytes": (options.out / "data.npz").stat().st_size}
    (options.out / "data.json").write_text(json.dumps(counts, indent=1) + "\n")
    print(json.dumps(counts, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
