#!/usr/bin/env python3
"""Which queries may the weights of the ranking be fitted on?

Makes labelled sets of repositories that no quality set is made of, and the trees to search.

  training_sets.py --eval EVAL --clones CLONES --sets SETS --trees TREES [--only REGEX]

EVAL    TRAINING.md names the repositories that may be learned from; codeset.py says what a source file is;
        dev/repos.json and code-search/manifest.json name those that quality is reported on: they are refused
CLONES  OWNER+NAME/repo, bare; of TRAINING.md, those are taken that are there
SETS    written: code/<set>/{queries.jsonl, files.txt}, {docs,classes,questions,topics}/<set>/queries.jsonl,
        and repositories.json with the commit of each snapshot; a set is named OWNER+NAME
TREES   written: <set>/, a git repository with the snapshot as its only commit, so that no query is in the index;
        a tree that is there must have that snapshot

A snapshot is 600 commits before HEAD on the line of first parents, or the first commit. Queries follow these rules:

code  The subject of a later commit and the first paragraph of its body, without conventional prefix, links, numbers of
      issues and code. Relevant are the one to four source files that it changed. Left out: merges, bots, over 20 files,
      sources renamed or deleted or not in the snapshot, subjects under five words or with the name of a relevant file,
      and what is no change of behaviour (WITHOUT_BEHAVIOUR). At most 40 a repository, drawn at random by its name.
docs  A sentence of 7 to 50 words in a Markdown page with one link, to a heading of another page. Relevant is that
      section, `exclude` has the section of the sentence. One sentence a section, 5 to 60 a repository.

classes
      The text of a commit as in code, but of any change: also of those to tests, documents and settings alone. Relevant
      are the source files that it changed, or, where it changed none, its one to four other files. All files count, so
      this judges what tests, examples, documents and the like should weigh beside code. At most 40 a repository.

questions, topics
      What benches/questions, or --questions, has about this very snapshot: written by reading the code, without a search engine.

What these labels cannot judge: a test or a document is never relevant in code, and code never in docs. A commit may have answers that it did
not change. Sentences with links are few, and most are of a handful of repositories.

Needs Python 3.9, git and tar, nothing else. Exit code: 0 made, 2 wrong usage or something is absent,
3 a clone failed (it is left out).
"""
import argparse
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
from quality import Failure, output_of, run_program, say  # noqa: E402
from sections import linked_section, read_pages, without_links  # noqa: E402

COMMITS_BACK = 600
QUESTIONS = {"questions": "definitions.jsonl", "topics": "topics.jsonl"}
ANSWER = "an answer"  # as in replay.py
MOST_FILES, MOST_RELEVANT, FEWEST_WORDS = 20, 4, 5
MOST_CODE, FEWEST_DOCS, MOST_DOCS = 40, 5, 60
MOST_CHARACTERS = 600
OF_NOTHING = re.compile(r"^(revert|bump|release|format|merge|prepare|version|update (deps|dependenc|version))\b|typo|whitespace", re.I)
WITHOUT_BEHAVIOUR = re.compile(
    r"^(revert|bump|release|chore|ci|docs?|style|lint|format|merge|prepare|version|update (deps|dependenc|version))\b"
    r"|typo|change ?log|readme|whitespace|formatting|clippy|eslint|prettier|documentation|comment"
    r"|\b(docs?|tests?|ci)\b", re.I)
NO_PROSE = re.compile(r"(signed-off|co-authored|closes|[*-] )|fix(es|ed)?\b.{0,12}$", re.I)


class Repository:
    """A bare clone, and the commit of it that is searched."""

    def __init__(self, clone):
        self.clone, self.name = clone, clone.parent.name
        line = self.git("rev-list", "--first-parent", f"--max-count={COMMITS_BACK + 1}", "HEAD").split()
        self.snapshot = line[-1]

    def git(self, *arguments):
        done = subprocess.run(["git", f"--git-dir={self.clone}", *arguments], capture_output=True)
        if done.returncode != 0:
            raise Failure(f"{self.clone}: git {arguments[0]} failed: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode("utf-8", "replace")

    def files(self):
        return self.git("ls-tree", "-r", "-z", "--name-only", self.snapshot).rstrip("\0").split("\0")

    def later_commits(self):
        """Returns id, author, subject, body, and [[status, path, ...]] of each commit after the snapshot."""
        log = self.git("-c", "core.quotePath=false", "log", "--no-merges", "--name-status", "-M",
                       "--format=%x01%H%x02%an%x02%s%x02%b%x03", f"{self.snapshot}..HEAD")
        for entry in log.split("\x01")[1:]:
            head, _, changes = entry.partition("\x03")
            yield (*head.split("\x02", 3), [line.split("\t") for line in changes.splitlines() if "\t" in line])

    def write_tree(self, tree):
        """Makes the tree, which has one commit only: the queries are later commits."""
        stamp = tree / ".git/training-snapshot"
        if stamp.exists() and stamp.read_text() == self.snapshot:
            return
        if tree.exists():
            raise Failure(f"{tree}: not the tree of {self.snapshot}; delete it to have it made anew", 2)
        tree.mkdir(parents=True)
        archive = subprocess.Popen(["git", f"--git-dir={self.clone}", "archive", self.snapshot], stdout=subprocess.PIPE)
        unpacked = subprocess.run(["tar", "-x", "-C", str(tree)], stdin=archive.stdout).returncode
        archive.stdout.close()
        if archive.wait() != 0 or unpacked != 0:
            shutil.rmtree(tree)
            raise Failure(f"{self.clone}: `git archive {self.snapshot} | tar -x` failed; is the clone complete?")
        output_of("git", "-C", tree, "init", "-q")
        output_of("git", "-C", tree, "add", "-A", "-f")
        author = ["-c", "user.name=snapshot", "-c", "user.email=snapshot@localhost"]
        output_of("git", "-C", tree, *author, "commit", "--allow-empty", "-qm", "snapshot")
        stamp.write_text(self.snapshot)


def code_queries(repository, sources):
    """Returns the queries of commits; `sources` are the source files of the snapshot."""
    queries, seen = [], set()
    for commit, author, subject, body, changes in repository.later_commits():
        subject = without_markup(re.sub(r"^\s*\w+(\([^)]*\))?!?:\s*", "", subject))
        relevant = changed_sources(changes, sources)
        if relevant and subject not in seen and "bot" not in author.lower() and is_question(subject, relevant):
            seen.add(subject)
            text = ". ".join(filter(None, [subject, first_prose(body)]))
            queries.append({"query": text[:MOST_CHARACTERS], "relevant": relevant, "commit": commit})
    return sample(repository.name, queries, MOST_CODE)


def class_queries(repository, sources):
    """Returns queries of commits of every kind; relevant is what a commit is mainly about."""
    queries, seen, paths = [], set(), set(repository.files())
    for commit, author, subject, body, changes in repository.later_commits():
        text = without_markup(subject)
        relevant = [change[1] for change in changes if change[0] == "M" and change[1] in paths]
        if len(relevant) < len(changes) or len(changes) > MOST_FILES or text in seen or "bot" in author.lower():
            continue
        relevant = [path for path in relevant if sources.is_source(path)] or relevant
        names = [os.path.basename(path).lower() for path in relevant]
        is_question = (len(text.split()) >= FEWEST_WORDS and not OF_NOTHING.search(text)
                       and not any(name in text.lower() for name in names))
        if 1 <= len(relevant) <= MOST_RELEVANT and is_question:
            seen.add(text)
            text = ". ".join(filter(None, [text, first_prose(body)]))
            queries.append({"query": text[:MOST_CHARACTERS], "relevant": relevant, "commit": commit})
    return sample(repository.name, queries, MOST_CODE)


def changed_sources(changes, sources):
    """Returns the changed source files; none if the commit is too large, or deletes, renames or adds sources."""
    is_source = sources.is_source
    changed = [change for change in changes if any(map(is_source, change[1:]))]
    kept = all(change[0] == "M" and change[1] in sources.paths for change in changed)
    if not kept or len(changes) > MOST_FILES or len(changed) > MOST_RELEVANT:
        return []
    return [change[1] for change in changed]


def is_question(subject, relevant):
    names = [os.path.basename(path).lower() for path in relevant]
    return (len(subject.split()) >= FEWEST_WORDS and not WITHOUT_BEHAVIOUR.search(subject)
            and not any(name in subject.lower() for name in names))


def first_prose(body):
    """Returns the first paragraph that is no list and no trailer; nothing if it names a path."""
    paragraphs = map(without_markup, re.split(r"\n\s*\n", body))
    first = next((text for text in paragraphs if text and not NO_PROSE.match(text)), "")
    return "" if "/" in first else first


def without_markup(text):
    text = re.sub(r"```.*?```|https?://\S+|\(?#\d+\)?", "", text, flags=re.S)
    return " ".join(text.split())


def docs_queries(name, tree):
    pages, queries, seen = read_pages(tree), [], set()
    for page in pages.values():
        for line, sentence in page.sentences():
            target = linked_section(pages, page, sentence)
            text = without_links(sentence)
            if target and target not in seen and 7 <= len(text.split()) <= 50:
                seen.add(target)
                queries.append({"query": text, "relevant": [target], "exclude": [page.section_at(line)]})
    return sample(name, queries, MOST_DOCS) if len(queries) >= FEWEST_DOCS else []


def sample(name, queries, most):
    drawn = random.Random(name).sample(queries, most) if len(queries) > most else queries
    return [{"qid": f"{name}-{nth:03}", **query} for nth, query in enumerate(drawn)]


class Sources:
    """The source files of a snapshot, by the rules of the quality sets."""

    def __init__(self, codeset, paths):
        self.is_source = codeset.is_candidate
        self.paths = {path for path in paths if self.is_source(path)}


def read_codeset(folder):
    spec = importlib.util.spec_from_file_location("codeset", folder / "codeset.py")
    codeset = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(codeset)
    return codeset


def select(options):
    """Returns the clones that may be learned from."""
    names_needed = ["TRAINING.md", "codeset.py", "dev/repos.json", "code-search/manifest.json"]
    files = [options.eval / name for name in names_needed]
    for needed in files:
        if not needed.is_file():
            raise Failure(f"{needed}: not found; --eval takes the folder of the quality sets", 2)
    allowed = re.findall(r"(?<![\w/])[\w.-]+/[\w.-]+(?=,| \|)", files[0].read_text(encoding="utf-8"))
    reported = (files[2].read_text() + files[3].read_text()).lower()
    both = [name for name in allowed if names(reported, name)]
    if both:
        raise Failure(f"{files[0]}: quality is reported on {', '.join(both)}; nothing may be learned from them", 2)
    clones = [options.clones / name.replace("/", "+") / "repo" for name in allowed if re.search(options.only, name)]
    present = [clone for clone in clones if clone.is_dir()]
    if not present:
        raise Failure(f"{options.clones}: no OWNER+NAME/repo of {files[0]} matches --only '{options.only}'", 2)
    return present


def names(text, repository):
    """Returns whether a text names OWNER/NAME, with either separator."""
    owner, name = map(re.escape, repository.lower().split("/"))
    return re.search(rf"(?<![\w.-]){owner}[/+]{name}(?![\w-])", text) is not None


def written(suite, file, repository):
    """Returns the queries that somebody wrote about this snapshot; those about another one do not fit."""
    text = file.read_text(encoding="utf-8")
    about = (repository.name, repository.snapshot[:12])
    fitting = [line for line in map(json.loads, text.splitlines()) if (line["repo"], line["commit"]) == about]
    return [{"qid": f"{repository.name}-{suite}-{nth:03}", "relevant": [ANSWER], **line} for nth, line in enumerate(fitting)]


def make(options, codeset, clone):
    """Writes tree and sets of one repository; returns its line of repositories.json."""
    repository = Repository(clone)
    tree = options.trees / repository.name
    repository.write_tree(tree)
    sources = Sources(codeset, repository.files())
    code, docs = code_queries(repository, sources), docs_queries(repository.name, tree)
    classes = class_queries(repository, sources)
    asked = {suite: written(suite, options.questions / file, repository) for suite, file in QUESTIONS.items()}
    for suite, queries in [("code", code), ("docs", docs), ("classes", classes), *asked.items()]:
        write_set(options.sets / suite / repository.name, queries)
    if code:
        files = "".join(path + "\n" for path in sorted(sources.paths))
        (options.sets / "code" / repository.name / "files.txt").write_text(files, encoding="utf-8")
    say(f"{repository.name}: {repository.snapshot[:12]}, {len(code)} of code, {len(docs)} of docs, {len(classes)} of classes")
    return {"commit": repository.snapshot, "code": len(code), "docs": len(docs), "classes": len(classes)}


def write_set(folder, queries):
    if queries:
        folder.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(query) + "\n" for query in queries)
        (folder / "queries.jsonl").write_text(lines, encoding="utf-8")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--eval", type=Path, required=True, help="folder of the quality sets, with TRAINING.md")
    add("--clones", type=Path, required=True, help="folder of bare clones")
    add("--sets", type=Path, required=True, help="folder to write the sets to")
    add("--trees", type=Path, required=True, help="folder to write the trees to")
    add("--questions", type=Path, default=Path(__file__).parent / "questions", help="folder of questions that somebody wrote")
    add("--only", default="", metavar="REGEX", help="only repositories whose OWNER/NAME matches")
    return parser.parse_args()


def main():
    options = parse()
    clones, codeset, complete = select(options), read_codeset(options.eval), True
    options.sets.mkdir(parents=True, exist_ok=True)
    kept = options.sets / "repositories.json"
    made = json.loads(kept.read_text()) if kept.exists() else {}
    for clone in clones:
        try:
            made[clone.parent.name] = make(options, codeset, clone)
        except Failure as failure:
            say(f"training_sets: {failure}")
            complete = False
        kept.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
    return 0 if complete else 3


if __name__ == "__main__":
    run_program("training_sets", main)
