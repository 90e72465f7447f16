"""Asks which tests reach a definition, and which types extend one."""

from oracle import structure
from oracle.disk import forms_of, steady
from oracle.findings import false, other, stale, twice

from . import code
from .question import Question, how_fresh, is_fresh


def tests(world, random, root, before):
    """Asks for the tests of a definition that the file of tests has itself."""
    return ask(world, random, root, before, "tests", structure.tested, structure.test_of)


def implements(world, random, root, before):
    """Asks for the types that extend one."""
    return ask(world, random, root, before, "implements", structure.extended, structure.heir_in)


def ask(world, random, root, before, verb, wanted_in, answer_to):
    """Returns a question about one of the names that `wanted_in` finds in a file; `answer_to` has the name that must be told."""
    files = before.files or {}
    places = [(path, name) for path in sorted(files) for name in wanted_in(path, files[path])]
    if not places:
        return None
    (path, name), (level, wait_ms) = random.choice(places), how_fresh(random)

    def judge(reply, before, after):
        answer, found = reply.json, []
        found += twice([(one["path"], tuple(one["lines"]), one["line"]) for one in answer["found"]], f"in {verb} of {name}")
        for one in answer["found"]:
            if not any(is_there(one, file, world) for file in forms_of(one["path"], before, after)):
                found.append(false(f"lists {one['path']}:{one['line']}, {one.get('title')}, in {verb} of {name}: {one['text']!r}"))
        if answer["n_found"] < len(answer["found"]):
            found.append(other(f"counts {answer['n_found']} in {verb} of {name} and lists {len(answer['found'])}"))
        file = steady(before, after).get(path)
        if file and is_fresh(answer, level) and name in wanted_in(path, file):
            told = {(one["path"], code.last_part(one.get("title") or "")) for one in answer["found"]}
            if (path, answer_to(path, name)) not in told:
                found.append(stale(f"says fresh, and misses {answer_to(path, name)} in {path} in {verb} of {name}"))
        return found

    form = random.choice(["lean", "full"])
    return Question(verb, [verb, f"{path}#{name}"], root, form, level, wait_ms, judge, may_say=code.UNSURE)


def is_there(one, file, world):
    """Returns whether a line is as it is told, within its definition, which has the name that it is told by."""
    first, last = one["lines"]
    line = file.line(one["line"])
    if line is None or not first <= one["line"] <= last <= max(1, file.n_lines):
        return False
    is_named = code.last_part(one.get("title") or "") in "\n".join(file.lines[first - 1 : last])
    return is_named and code.shows(line, one["text"], world)
