"""Asks what is seldom asked: `doctor`, a search that cannot be ranked anew, what a definition calls and what it breaks."""

import os

from oracle import memory_files, structure, visible
from oracle.disk import forms_of, steady
from oracle.findings import false, other, stale, twice

from . import code, searching
from .question import Question, how_fresh, is_fresh

# `doctor` lists so many files whose names are no ids, and counts the others.
LISTED = 20
# What an error says while the index is not up to date: it is no lie.
NOT_YET = ("as far as is known", "not indexed yet")


def doctor(world, random, root, before):
    """Asks what is wrong: each file that is no memory, and each conflict, has to be named."""
    names = no_memories(root)

    def judge(reply, before, after):
        checks = {check["name"]: check for check in reply.json["checks"]}
        untold = [name for name, check in checks.items() if not check["ok"] and not check["detail"]]
        found = [other(f"finds {name} wrong, and does not say why") for name in untold]
        if before.memory_files != after.memory_files or no_memories(root) != names or not world.is_calm:
            return found
        wrong = {name.removeprefix(memory_files.FOLDER + "/") for name, check in checks.items() if not check["ok"]}
        found += [stale(f"does not list {name}, which is no memory") for name in names if name not in wrong and len(names) <= LISTED]
        found += [stale(f"does not list the conflict of {id}") for id in in_conflict(world, before) if f"{id}.md" not in wrong]
        for name in sorted(checks):
            if name.startswith(memory_files.FOLDER) and not os.path.lexists(root / name):
                found.append(false(f"finds {name} wrong, which is not there"))
        return found

    return Question("doctor", ["doctor"], root, "lean", None, None, judge, says_fresh=False)


def no_memories(root):
    """Returns the names of files that have the place of memories and not the name of one."""
    try:
        names = sorted(os.listdir(root / memory_files.FOLDER))
    except OSError:
        return []
    return [name for name in names if not memory_files.NAME.fullmatch(name) and not name.endswith("~")]


def in_conflict(world, snapshot):
    """Returns ids of which one's own text and a file say different things."""
    expected = visible.expect(world.model, snapshot, snapshot, world.seen, True)
    files = {id for id, said in snapshot.memory_files.items() if isinstance(said, list)}
    return sorted(id for id in files if len(expected[id].must) > 1)


def reranked(world, random, root, before):
    """Searches with a model that is not installed: the answer says so, and is an answer."""
    question = searching.by_word(world, random, root, before)
    question.args.insert(1, "--rerank")
    plain = question.judge

    def judge(reply, before, after):
        said = [reason for reason in reply.json["degraded"] if reason.startswith("rerank")]
        reply.json["degraded"] = [reason for reason in reply.json["degraded"] if reason not in said]
        found = plain(reply, before, after)
        return found if said or not reply.json["hits"] else [*found, false("does not say that no model was there to rank with")]

    question.name, question.judge = "search --rerank", judge
    return question


def callees(world, random, root, before):
    """Asks what a definition calls."""
    definition = code.some_definition(random, before)
    if not definition:
        return None
    path, name = definition.path, definition.name
    level, wait_ms = how_fresh(random)

    def judge(reply, before, after):
        answer, found = reply.json, []
        found += twice([(one["path"], tuple(one["lines"])) for one in answer["found"]], f"what {name} calls")
        for one in answer["found"]:
            if not any(is_callee(one, path, name, before, after, file) for file in forms_of(one["path"], before, after)):
                found.append(false(f"says that {name} calls {one['path']}#{one.get('title')}: {one['text']!r}"))
        file = steady(before, after).get(path)
        if file and is_fresh(answer, level):
            titles = {code.last_part(one.get("title") or "") for one in answer["found"]}
            found += [stale(f"says fresh, and misses that {name} calls {called}") for called in called_in(path, file, name) - titles]
        return found

    return Question("callees", ["callees", f"{path}#{name}"], root, random.choice(["lean", "full"]), level, wait_ms, judge, may_say=NOT_YET)


def called_in(path, file, name):
    """Returns the names that a definition calls and that the same file defines once."""
    definitions = structure.definitions(path, file) or []
    names = [definition.name for definition in definitions]
    called = set()
    for other_name in {one for one in names if names.count(one) == 1 and one != name}:
        for at, line in structure.calls({path: file}, other_name):
            inside = structure.around(at, file, line)
            if inside and inside.name == name:
                called.add(other_name)
    return called


def is_callee(one, path, name, before, after, file):
    """Returns whether a definition is there as it is told, and its name stands in the one that calls it."""
    defined = code.last_part(one.get("title") or "")
    first, last = one["lines"]
    line = "\n".join(file.lines[first - 1 : last])
    return defined in line and any(defined in caller.text for caller in forms_of(path, before, after))


def impact(world, random, root, before):
    """Asks what a change of a definition may break: those that call it at least."""
    question = code.callers(world, random, root, before)
    if not question:
        return None
    plain = question.judge
    path, name = question.args[1].split("#")

    def judge(reply, before, after):
        direct = [one for one in reply.json["found"] if one["depth"] == 1]
        reply.json["found"], reply.json["n_found"] = direct, max(reply.json["n_found"], len(direct))
        return plain(reply, before, after)

    question.may_say = NOT_YET
    question.name, question.args, question.judge = "impact", ["impact", f"{path}#{name}"], judge
    return question
