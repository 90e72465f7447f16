#!/usr/bin/env python3
"""Are the questions of this folder well formed, and do their answers exist?

usage: benches/questions/asked/check.py [--clones DIR]

Each file is named OWNER+NAME.jsonl. Its first line names the repository, the commit and the language; each further
line is a question of one of six kinds. With `--clones`, a folder of bare clones named OWNER+NAME or OWNER+NAME/repo,
every answer is looked up at its commit. Exits 1 if anything is wrong.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

# The fewest and most words of a query, by kind.
WORDS = {
    "topic": (2, 6),
    "short": (8, 15),
    "long": (20, 40),
    "task": (12, 130),
    "pasted": (6, 300),
    "absent": (2, 130),
}
TASK_SENTENCES = (2, 5)
MOST_ANSWERS = 5
MOST_UNEQUAL = 2
HEAD_KEYS = {"repository", "commit", "language"}
QUESTION_KEYS = {"kind", "query", "answers", "why"}
ANSWER_KEYS = {"path", "lines", "name", "must"}


def count_sentences(text):
    return len(re.findall(r"[.!?]+[\"')`]*(?=\s|$)", text.rstrip(" .!?") + "."))


def normalise(query):
    return " ".join(re.findall(r"\w+", query.lower()))


def last_part(name):
    return re.split(r"::|[.#:/]", name)[-1].strip()


def check_head(head, file):
    if set(head) != HEAD_KEYS:
        yield f"the first line has the keys {sorted(head)}, not {sorted(HEAD_KEYS)}"
        return
    if head["repository"].replace("/", "+") != file.stem:
        yield f"the repository is {head['repository']}, which is not the file's name"
    if not re.fullmatch(r"[0-9a-f]{40}", head["commit"]):
        yield f"the commit is {head['commit']!r}, not 40 hexadecimal digits"
    if not re.fullmatch(r"[a-z][a-z+#-]*", head["language"]):
        yield f"the language is {head['language']!r}, not a lower-case name"


def check_answer(answer):
    if not isinstance(answer, dict) or set(answer) != ANSWER_KEYS:
        yield f"an answer is not of the keys {sorted(ANSWER_KEYS)}"
        return
    lines = answer["lines"]
    if not (isinstance(lines, list) and len(lines) == 2 and all(type(line) is int for line in lines)):
        yield f"lines are {lines!r}, not [first, last]"
    elif not 1 <= lines[0] <= lines[1]:
        yield f"lines {lines} are no range"
    if not all(isinstance(answer[key], str) and answer[key].strip() for key in ("path", "name")):
        yield "an answer has no path or no name"
    if type(answer["must"]) is not bool:
        yield f"must is {answer['must']!r}"


def check_query(kind, query):
    least, most = WORDS[kind]
    words = len(query.split())
    if not least <= words <= most:
        yield f"{words} words, of {kind} {least} to {most} are expected"
    if kind == "task" and not TASK_SENTENCES[0] <= count_sentences(query) <= TASK_SENTENCES[1]:
        yield f"{count_sentences(query)} sentences, of task {TASK_SENTENCES[0]} to {TASK_SENTENCES[1]} are expected"


def check_question(question):
    if not isinstance(question, dict) or set(question) != QUESTION_KEYS:
        yield f"the keys are not {sorted(QUESTION_KEYS)}"
        return
    kind, query, answers = question["kind"], question["query"], question["answers"]
    if kind not in WORDS:
        yield f"the kind is {kind!r}"
        return
    yield from check_query(kind, query)
    if not question["why"].strip():
        yield "why is empty"
    if kind == "absent":
        if answers:
            yield "an absent answer has places"
        return
    if not 1 <= len(answers) <= MOST_ANSWERS:
        yield f"{len(answers)} answers"
        return
    faults = [fault for answer in answers for fault in check_answer(answer)]
    yield from faults
    if not faults and not answers[0]["must"]:
        yield "the best answer is none that must be read"
    if any(answer in answers[:place] for place, answer in enumerate(answers)):
        yield "an answer is there twice"


class Clone:

    def __init__(self, folder, stem, commit):
        places = [folder / stem, folder / stem / "repo", folder / f"{stem}.git"]
        self.git_dir = next((place for place in places if (place / "HEAD").is_file()), None)
        self.commit = commit
        self.texts = {}

    def lines(self, path):
        """Returns the lines of a file, None if there is none."""
        if path not in self.texts:
            command = ["git", f"--git-dir={self.git_dir}", "cat-file", "blob", f"{self.commit}:{path}"]
            done = subprocess.run(command, capture_output=True)
            text = done.stdout.decode("utf-8", errors="replace")
            self.texts[path] = None if done.returncode else text.removesuffix("\n").split("\n")
        return self.texts[path]

    def check_answer(self, answer):
        lines = self.lines(answer["path"])
        first, last = answer["lines"]
        place = f"{answer['path']}#L{first}-L{last}"
        if lines is None:
            yield f"{answer['path']} is not there at {self.commit[:12]}"
        elif last > len(lines):
            yield f"{place}: the file has {len(lines)} lines"
        else:
            text = "\n".join(lines[first - 1 : last])
            if answer["name"] not in text and last_part(answer["name"]) not in text:
                yield f"{place}: {answer['name']} does not stand there"


def read_lines(file):
    """Returns (line number, value) of each line; the value is None if it is no JSON."""
    values = []
    for number, line in enumerate(file.read_text(encoding="utf-8").removesuffix("\n").split("\n"), 1):
        try:
            values.append((number, json.loads(line)))
        except ValueError:
            values.append((number, None))
    return values


def check_file(file, clones, seen):
    """Returns the head, the questions by kind and the faults of a file; adds its queries to those seen."""
    (_, head), *rows = read_lines(file)
    faults = [f"{file.name}:1: {fault}" for fault in check_head(head or {}, file)]
    if faults:
        return head or {}, Counter(), faults
    clone = Clone(clones, file.stem, head["commit"]) if clones else None
    if clone and not clone.git_dir:
        faults.append(f"{file.name}: no clone of it in {clones}")
        clone = None
    kinds = Counter()
    for number, question in rows:
        found = ["no JSON"] if question is None else list(check_question(question))
        if not found:
            kinds[question["kind"]] += 1
            place = seen.setdefault(normalise(question["query"]), f"{file.name}:{number}")
            if place != f"{file.name}:{number}":
                found.append(f"the query is that of {place}")
            if clone:
                found += [fault for answer in question["answers"] for fault in clone.check_answer(answer)]
        faults += [f"{file.name}:{number}: {fault}" for fault in found]
    counts = [kinds[kind] for kind in WORDS]
    if max(counts) - min(counts) > MOST_UNEQUAL:
        faults.append(f"{file.name}: kinds are not in equal parts: {dict(kinds)}")
    return head, kinds, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, help="folder of bare clones")
    options = parser.parse_args()
    by_kind, by_language, by_half = Counter(), Counter(), Counter()
    faults, seen, files = [], {}, sorted(Path(__file__).parent.glob("*.jsonl"))
    for place, file in enumerate(files):
        head, kinds, wrong = check_file(file, options.clones, seen)
        faults += wrong
        by_kind += kinds
        by_language[head.get("language")] += kinds.total()
        by_half["AB"[place % 2]] += kinds.total()
    print("\n".join(faults) or "no fault")
    print(f"{by_kind.total()} questions of {len(files)} repositories")
    for title, counts in (("kind", by_kind), ("language", by_language), ("half", by_half)):
        print(f"{title}: " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=str)))
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
