"""Finds definitions, headings and calls in texts of the forms that the bench writes, without the product's parsers."""

import dataclasses
import re

LANGUAGES = {"rs": "rust", "py": "python", "go": "go", "ts": "typescript", "md": "markdown"}
BEGINS = {
    "rs": re.compile(r"(?:pub )?fn (\w+)"),
    "py": re.compile(r"(?:def|class) (\w+)"),
    "go": re.compile(r"func (\w+)"),
    "ts": re.compile(r"(?:export )?(?:function|class) (\w+)"),
}
# A type that extends another one.
HEIR = re.compile(r"class \w+\((\w+)\):|export class \w+ extends (\w+) ")
# The name of a file of tests.
TESTS = re.compile(r"(?:.*/)?(?:test_\w+\.py|\w+_test\.go|\w+\.test\.ts)")
COMMENTS = {"rs": "//", "go": "//", "ts": ("//", "/**", " *"), "py": "#"}
MARKS = re.compile(r"(<{7,}|={7,}|>{7,}|\|{7,})( |$)")


@dataclasses.dataclass(frozen=True)
class Definition:
    """A definition, or a section with its heading; lines are 1-based and inclusive."""

    path: str
    name: str
    # The line that names it, the first one of its comments, and its last one.
    line: int
    first: int
    last: int


def ending(path):
    return path.rsplit(".", 1)[-1] if "." in path.rsplit("/", 1)[-1] else ""


def is_whole(file):
    """Returns whether a text is of a form that anybody reads alike: nobody left marks of a conflict or cut it off."""
    return not any(MARKS.match(line) for line in file.lines)


def definitions(path, file):
    """Returns the definitions of a source file in order; none where the form of the text is not sure."""
    kind = ending(path)
    if kind not in BEGINS or not is_whole(file):
        return None
    found = []
    for number, line in enumerate(file.lines, 1):
        match = BEGINS[kind].match(line)
        if not match:
            continue
        last = end_of(kind, file.lines, number)
        if last is None:
            return None
        found.append(Definition(path, match.group(1), number, first_of(kind, file.lines, number), last))
    return None if has_more(kind, file, found) else found


def has_more(kind, file, found):
    """Returns whether a file has lines beside its definitions that are no comments, so that no parser is sure of it."""
    inside = {number for definition in found for number in range(definition.first, definition.last + 1)}
    others = [line.strip() for number, line in enumerate(file.lines, 1) if number not in inside]
    return any(line and line != "package a" and not line.startswith(COMMENTS[kind]) for line in others)


def is_broken(path, file):
    """Returns whether a source file is one that no parser is sure of."""
    return ending(path) in BEGINS and definitions(path, file) is None


def end_of(kind, lines, number):
    """Returns the last line of the definition that begins at a line."""
    if kind == "py":
        last = number
        for following in range(number + 1, len(lines) + 1):
            text = lines[following - 1]
            if text.strip() and not text.startswith(" "):
                break
            last = following if text.strip() else last
        return last if last > number else None
    if lines[number - 1].rstrip().endswith("}"):
        return number
    for following in range(number + 1, len(lines) + 1):
        if lines[following - 1].rstrip() == "}":
            return following
        if BEGINS[kind].match(lines[following - 1]):
            return None
    return None


def first_of(kind, lines, number):
    while number > 1 and lines[number - 2].startswith(COMMENTS[kind]):
        number -= 1
    return number


def heading_path(file, number):
    """Returns the headings above and at a line, the outermost first."""
    path = []
    for line in file.lines[:number]:
        match = re.match(r"(#{1,6}) +(.*?) *#*$", line)
        if match:
            level = len(match.group(1))
            path = [(deep, text) for deep, text in path if deep < level] + [(level, match.group(2))]
    return [text for _, text in path]


def named(files, name):
    """Returns the definitions of a name in files by path; none where one of them has the name in a text that is not sure."""
    found = []
    for path, file in files.items():
        if name.lower() not in file.text.lower() or ending(path) not in BEGINS:
            continue
        defined = definitions(path, file)
        if defined is None:
            return None
        found += [definition for definition in defined if definition.name == name]
    return found


def calls(files, name):
    """Returns (path, line) of each line that calls a name and does not define it, in code of the known languages."""
    call = re.compile(rf"(?<!\w){re.escape(name)}\(")
    found = []
    for path, file in files.items():
        kind = ending(path)
        if kind not in BEGINS:
            continue
        for number, line in enumerate(file.lines, 1):
            is_comment = line.strip().startswith(("//", "#", "*", "/*"))
            if call.search(line) and not BEGINS[kind].match(line) and not is_comment:
                found.append((path, number))
    return found


def tested(path, file):
    """Returns the names that a file of tests defines and tests, as the bench writes it. In TypeScript, a function is no test."""
    has_tests = TESTS.fullmatch(path) and ending(path) != "ts"
    defined = [one.name for one in definitions(path, file) or []] if has_tests else []
    return [name for name in defined if defined.count(name) == defined.count(test_of(path, name)) == 1 and calls_within(path, file, name)]


def calls_within(path, file, name):
    """Returns whether the test of a name calls it."""
    inside = [around(path, file, line) for _, line in calls({path: file}, name)]
    return any(one and one.name == test_of(path, name) for one in inside)


def test_of(path, name):
    """Returns the name of a test, as the runner of the language knows it."""
    return f"test_{name}" if ending(path) == "py" else f"Test_{name}"


def extended(path, file):
    """Returns the names of types that a file defines and extends once, as the bench writes it."""
    defined = [one.name for one in definitions(path, file) or []]
    bases = [base for line in file.lines for match in [HEIR.match(line)] if match for base in match.groups() if base]
    return [name for name in bases if defined.count(name) == defined.count(heir_of(name)) == bases.count(name) == 1]


def heir_in(_path, name):
    """Returns the name of the type that extends one, as `answer_to` of a question asks for it."""
    return heir_of(name)


def heir_of(name):
    return f"Heir_of_{name}"


def around(path, file, number):
    """Returns the definition that a line is in."""
    for definition in definitions(path, file) or []:
        if definition.line <= number <= definition.last:
            return definition
    return None
