"""Commits that change code and its tests together, and the functions that they change, told by the text alone."""

import random
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import PurePosixPath

# Most files of a commit.
MOST_FILES = 10
# Most files of tests with which a list of ten has the right one whatever its order.
TOO_FEW_TESTS = 10
# What a test runner reads but no test is in.
DATA = re.compile(r"(^|/)(fixtures?|testdata|snapshots?|__snapshots__|resources|examples?|bench(es|marks?)?)/", re.I)
TESTS = re.compile(r"(^|/)(tests?|__tests__|specs?|testing|testsuite)/"
                   r"|(^|/)test_[^/]*\.py$|_test\.(py|go|rs)$|[._-](test|spec)s?(-d)?\.\w+$|(Tests?|IT)\.java$")
COMMENT = re.compile(r"\s*(#(?!\[)|//|/?\*|\"\"\"|$)")
# Spelled as a head of a function, but none; the calls of JavaScript's test runners with them.
KEYWORDS = {"if", "for", "while", "switch", "catch", "return", "function", "new", "else", "throw", "await", "super",
            "async", "it", "test", "describe", "expect", "beforeEach", "afterEach", "beforeAll", "afterAll"}
JAVASCRIPT = re.compile(
    r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(\w+)"
    r"|^\s*(?:export\s+)?(?:(?:public|private|protected|static|readonly|const|let|var)\s+)*#?(\w+)\s*(?::[^=]*)?="
    r"\s*(?:async\s*)?(?:function\b|\([^)]*$|<?.*=>)"
    r"|^\s+(?:(?:public|private|protected|static|async|override|get|set)\s+)*[#*]?(\w+)\s*(?:<.*>)?\([^;]*\{\s*$")
JAVA = re.compile(
    r"^\s+(?:(?:public|private|protected|static|final|abstract|synchronized|default)\s+)*(?:<[^()]+>\s*)?"
    r"(?:[\w.<>\[\],?&]+\s+)+(\w+)\s*\([^;=]*$"
    r"|^\s+(?:public|private|protected)\s+(\w+)\s*\(")
# How a test begins, in any of the languages; for git as for Python.
TEST = (r"def test|class \w*Test|^func (Test|Fuzz|Example)|#\[(\w+::)*(test|rstest|rgtest)|rgtest!|@\w*Test\b"
        r"|extends TestCase|\b(it|test|describe)(\.\w+)*\s*\(")
# How a language writes the head of a function.
HEADS = {
    ".py": re.compile(r"^\s*(?:async\s+)?def\s+(\w+)"),
    ".go": re.compile(r"^func\s+(?:\([^)]*\)\s*)?(\w+)"),
    ".rs": re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|extern\s+\"\w+\")\s+)*fn\s+(\w+)"),
    ".java": JAVA,
    **dict.fromkeys([".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs"], JAVASCRIPT),
}


class GitError(Exception):
    """What git said."""


def git(directory, *words, allowed=(0,)):
    done = subprocess.run(["git", "-c", "core.quotePath=false", "-C", str(directory), *words], capture_output=True,
                          text=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode not in allowed:
        raise GitError(f"git {words[0]} exited with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def suffix(path):
    return PurePosixPath(path).suffix


def is_of_tests(path):
    """Returns whether a path is of tests or of their data."""
    return bool(TESTS.search(path))


def may_be_test(path):
    """Returns whether a path is one of a source file of tests, or of what they share."""
    return is_of_tests(path) and suffix(path) in HEADS and not DATA.search(path)


def tests_at(directory, revision):
    """Returns the source files of tests that have a test in them."""
    listed = git(directory, "grep", "-lIzE", TEST, revision, allowed=(0, 1)).split("\0")
    paths = (path.partition(":")[2] for path in listed if path)
    return [path for path in paths if may_be_test(path)]


def is_code(path):
    return suffix(path) in HEADS and not is_of_tests(path) and not DATA.search(path)


@dataclass
class Commit:
    """A commit with what it changes."""
    id: str
    parent: str
    subject: str
    files: list  # [(status, path)], renames as a deletion and an addition
    functions: dict = field(default_factory=dict)  # path of code: [(name, head)] of the functions that change
    tests: dict = field(default_factory=dict)  # path of tests that were there before: names of changed functions

    @property
    def names(self):
        return sorted({name for functions in self.functions.values() for name, _ in functions})


def walk(directory, revision):
    """Yields commits that change code and tests, by the paths, the newest first; merges are left out."""
    text = git(directory, "log", "--first-parent", "--no-merges", "--no-renames", "--name-status",
               "--format=%x01%H %P%x00%s", revision)
    for entry in text.split("\1")[1:]:
        head, *rows = entry.strip().split("\n")
        ids, subject = head.split("\0")
        files = [tuple(row.split("\t", 1)) for row in rows if row]
        changed = [path for status, path in files if status == "M"]
        if " " in ids and len(files) <= MOST_FILES and any(map(may_be_test, changed)) and any(map(is_code, changed)):
            yield Commit(*ids.split(" ", 1), subject, files)


def around(lines, number, head):
    """Returns the functions around a line, (name, line of its head), the innermost first; by indentation."""
    found, text = [], lines[number]
    indent = len(text) - len(text.lstrip()) + (text.lstrip()[:1] in tuple(")}]") or bool(head.match(text)))
    for text in reversed(lines[:number + 1]):
        own = len(text) - len(text.lstrip())
        if not text.strip() or own >= indent:
            continue
        match = head.match(text)
        name = match and next(filter(None, match.groups()))
        if name and name not in KEYWORDS:
            found.append((name, text.strip()))
        # The end of a signature of several lines stands where its head does.
        indent = own + (not match and text.lstrip()[:1] in tuple(")}]"))
    return found


def changed_lines(directory, commit, path):
    """Returns the numbers of changed lines from 0, of the file before and of the file after; not where only space is."""
    text = git(directory, "diff", "-w", "--ignore-blank-lines", "-U0", "--no-color", "--no-ext-diff", commit.parent,
               commit.id, "--", path)
    sides = [], []
    for match in re.finditer(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", text, re.M):
        for side, first, count in zip(sides, match.groups()[::2], match.groups()[1::2]):
            side.extend(range(int(first) - 1, int(first) - 1 + int(count or 1)))
    return sides


def changed_functions(directory, commit, path):
    """Returns for each changed line of code the functions around it: [(functions, whether it was there before)]."""
    head, found = HEADS[suffix(path)], []
    for revision, numbers in zip([commit.parent, commit.id], changed_lines(directory, commit, path)):
        lines = git(directory, "show", f"{revision}:{path}").split("\n")
        for number in (number for number in numbers if number < len(lines) and not COMMENT.match(lines[number])):
            functions = around(lines, number, head)
            if functions:
                found.append(functions)
    return found


def fill(directory, commit):
    """Adds the functions that a commit changes; returns whether it changes some, and some of many tests."""
    tests = set(tests_at(directory, commit.parent))
    if len(tests) <= TOO_FEW_TESTS:
        return False
    for path in (path for status, path in commit.files if status == "M"):
        if is_code(path):
            functions = [functions[0] for functions in changed_functions(directory, commit, path)]
            if functions:
                commit.functions[path] = list(dict.fromkeys(functions))
        elif path in tests and any(changed_lines(directory, commit, path)):
            before = git(directory, "show", f"{commit.parent}:{path}").split("\n")
            known = {next(filter(None, match.groups())) for match in map(HEADS[suffix(path)].match, before) if match}
            outer = {functions[-1][0] for functions in changed_functions(directory, commit, path)}
            commit.tests[path] = sorted(outer & known)
    return bool(commit.functions and commit.tests)


def draw(directory, revision, count, among, seed):
    """Returns commits drawn at random from the newest `among`, in the order of time."""
    commits = []
    for commit in walk(directory, revision):
        commits.append(commit)
        if len(commits) == among:
            break
    order = list(range(len(commits)))
    random.Random(seed).shuffle(order)
    taken = []
    for place in order:
        if len(taken) < count and fill(directory, commits[place]):
            taken.append(place)
    return [commits[place] for place in sorted(taken, reverse=True)]
