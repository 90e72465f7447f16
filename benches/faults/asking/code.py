"""Asks about code: outlines, definitions, uses, callers, the map."""

import re

from oracle import snippets, structure
from oracle.disk import forms_of, steady
from oracle.findings import false, stale, twice

from .question import Question, how_fresh, is_fresh


# Of what is not there, while not everything is known to be indexed.
UNSURE = ("as far as is known", "not indexed yet")


def some_definition(random, before):
    """Returns a definition whose name no other has, and its file; none if there is none."""
    files = before.files or {}
    paths = [path for path in sorted(files) if structure.definitions(path, files[path])]
    if not paths:
        return None
    definition = random.choice(structure.definitions((path := random.choice(paths)), files[path]))
    return definition if len(structure.named(files, definition.name) or []) == 1 else None


def outline(world, random, root, before):
    files = before.files or {}
    paths = [path for path in sorted(files) if structure.ending(path) in structure.LANGUAGES]
    if not paths:
        return None
    path, (level, wait_ms) = random.choice(paths), how_fresh(random)

    def judge(reply, before, after):
        forms, answer = forms_of(path, before, after), reply.json
        found = twice([(item["title"], tuple(item["lines"])) for item in answer["items"]], f"in the outline of {path}")
        for item in answer["items"]:
            if item["path"] != path or not any(is_item(item, file, world) for file in forms):
                said = f"{item['title']!r}, lines {item['lines']}, text {item['text']!r}"
                found.append(false(f"has {said} in the outline of {path}"))
        file = steady(before, after).get(path)
        if file and is_fresh(answer, level):
            names = {last_part(item["title"]) for item in answer["items"]}
            for definition in structure.definitions(path, file) or []:
                if definition.name not in names:
                    found.append(stale(f"says fresh, and lacks {definition.name} in the outline of {path}"))
        return found

    return Question("outline", ["outline", path], root, random.choice(["lean", "full"]), level, wait_ms, judge, may_say=UNSURE)


def last_part(title):
    return title.rsplit("::", 1)[-1].rsplit(".", 1)[-1].rsplit("#", 1)[-1].rsplit(" > ", 1)[-1]


def is_item(item, file, world):
    first, last = item["lines"]
    if not 1 <= first <= last <= max(1, file.n_lines):
        return False
    shown, inside = item["text"].split("\n")[0].strip(), file.lines[first - 1 : last]
    joined = " ".join(line.strip() for line in inside)  # a heading with a line below it may have several
    if last_part(item["title"]).lower() not in joined.lower():
        return False
    return shown in joined or any(line.strip().startswith(shown.rstrip("…")) for line in inside)


def show(world, random, root, before):
    definition = some_definition(random, before)
    if not definition:
        return None
    path, name = definition.path, definition.name
    lines = f"{definition.first}-{definition.last}"
    target = random.choice([f"{path}#{name}", name, f"{path}:{lines}", f"{path}:{definition.line}"])
    level, wait_ms = how_fresh(random)

    def judge(reply, before, after):
        found = []
        for part in reply.json["parts"]:
            forms = forms_of(part["path"], before, after) or [one for one in [world.disk.read(root, part["path"])] if one]
            reasons = [wrong_part(part, file, world) for file in forms] or ["no such file"]
            if all(reasons):
                found.append(false(f"shows of {part['path']} what it has not: {reasons[0]}"))
        file = steady(before, after).get(path)
        if file and is_fresh(reply.json, level) and before.files == after.files:
            shown = [(part["path"], part["lines"]) for part in reply.json["parts"]]
            if not any(at == path and lines[0] <= definition.line <= lines[1] for at, lines in shown):
                found.append(stale(f"says fresh, and does not show {name} of {path}: {shown}"))
            elif "#" in target and [path, [definition.first, definition.last]] not in [list(one) for one in shown]:
                found.append(false(f"shows {shown} as {name} of {path}, lines {definition.first}-{definition.last}"))
        return found

    return Question("show", ["show", target], root, random.choice(["lean", "full"]), level, wait_ms, judge, may_say=UNSURE)


def wrong_part(part, file, world):
    first, last = part["lines"]
    if not 1 <= first <= last <= max(1, file.n_lines):
        return f"lines {first}-{last} of {file.n_lines}"
    text = part["text"].removesuffix("\n")
    if text.count("\n") != last - first:
        return f"{text.count(chr(10)) + 1} lines as {first}-{last}"
    wrong = snippets.shows(file.lines, first, text, world.words.credentials)
    return wrong and hidden(file, first, text, world) and wrong


def hidden(file, first, text, world):
    """Returns whether lines differ in more than a filler that stands for a planted credential, as `show` writes it."""
    for number, shown in enumerate(text.split("\n"), first):
        line = file.line(number) or ""
        for credential in world.words.credentials:
            filler = "REDACTED" + "_" * (len(credential) - 8) if len(credential) > 8 else "_" * len(credential)
            line = line.replace(credential, filler) if credential not in shown else line
        if line.rstrip() != shown.rstrip():
            return True
    return False


def refs(world, random, root, before):
    definition = some_definition(random, before)
    if not definition:
        return None
    path, name = definition.path, definition.name
    level, wait_ms = how_fresh(random)

    def judge(reply, before, after):
        answer, found = reply.json, []
        found += twice([(use["path"], use["line"], use.get("column")) for use in answer["uses"]], f"a use of {name}")
        for use in answer["uses"]:
            found += judge_use(use, name, before, after, world)
        for place in answer["definitions"]:
            found += judge_place(place, name, before, after)
        n_told = sum(answer["counts"].values())
        if n_told < len(answer["uses"]):
            found.append(false(f"counts {n_told} uses of {name} and lists {len(answer['uses'])}"))
        if is_fresh(answer, level):
            listed = {(use["path"], use["line"]) for use in answer["uses"]}
            untouched = steady(before, after)
            defined = structure.definitions(path, untouched[path]) if path in untouched else None
            if name in {one.name for one in defined or []}:
                wanted = sorted(set(structure.calls({path: untouched[path]}, name)) - listed)
                found += [stale(f"says fresh, and misses the use of {name} in {at}:{line}") for at, line in wanted]
        return found

    return Question("refs", ["refs", f"{path}#{name}"], root, random.choice(["lean", "full"]), level, wait_ms, judge, may_say=UNSURE)


def judge_use(use, name, before, after, world):
    for file in forms_of(use["path"], before, after):
        line = file.line(use["line"])
        if line is not None and name in line and shows(line, use["text"], world):
            inside = structure.around(use["path"], file, use["line"])
            if use.get("within") is None or inside is None or last_part(use["within"]) == inside.name:
                return []
            return [false(f"says that {use['path']}:{use['line']} is in {use['within']}, it is in {inside.name}")]
    return [false(f"says that {use['path']}:{use['line']} uses {name}: {use['text']!r}")]


def shows(line, text, world):
    """Returns whether a line is as it is told; one that cannot be read while something is broken is told as empty."""
    return not text and not world.is_calm or snippets.shows_line(line.strip(), text.strip(), world.words.credentials)


def judge_place(place, name, before, after):
    first, last = place["lines"]
    for file in forms_of(place["path"], before, after):
        for definition in structure.definitions(place["path"], file) or []:
            if definition.name == name and definition.first <= first <= definition.line and last == definition.last:
                return []
        if structure.definitions(place["path"], file) is None and name in file.text:
            return []
    return [false(f"says that {name} is defined in {place['path']}, lines {first}-{last}")]


def callers(world, random, root, before):
    """Asks for the callers of a definition, or for what it calls."""
    definition = some_definition(random, before)
    if not definition:
        return None
    path, name = definition.path, definition.name
    level, wait_ms = how_fresh(random)

    def judge(reply, before, after):
        answer, found = reply.json, []
        found += twice([(one["path"], tuple(one["lines"]), one["line"]) for one in answer["found"]], f"a caller of {name}")
        for one in answer["found"]:
            forms = forms_of(one["path"], before, after)
            if not any(is_caller(one, name, file, world) for file in forms):
                where = f"{one['path']}:{one['line']}, {one.get('title')},"
                found.append(false(f"says that {where} calls {name}: {one['text']!r}"))
        if answer["n_found"] < len(answer["found"]):
            found.append(false(f"counts {answer['n_found']} callers of {name} and lists {len(answer['found'])}"))
        file = steady(before, after).get(path)
        if file and is_fresh(answer, level) and structure.definitions(path, file):
            titles = {(one["path"], last_part(one.get("title") or "")) for one in answer["found"]}
            for at, line in structure.calls({path: file}, name):
                inside = structure.around(at, file, line)
                if inside and inside.name != name and (at, inside.name) not in titles:
                    found.append(stale(f"says fresh, and misses {inside.name} in {at}, which calls {name}"))
        return found

    return Question("callers", ["callers", f"{path}#{name}"], root, random.choice(["lean", "full"]), level, wait_ms, judge, may_say=UNSURE)


def is_caller(one, name, file, world):
    line = file.line(one["line"])
    is_there = line is not None and name in line and shows(line, one["text"], world)
    first, last = one["lines"]
    return is_there and first <= one["line"] <= last <= file.n_lines


def code_map(world, random, root, before):
    level = random.choice(["fs", "strict"])

    def judge(reply, before, after):
        # Where something cannot be read, a map that does not say fresh has what was known of it.
        is_judged = is_fresh(reply.json, level) or world.is_calm
        return judge_map(reply.json["text"], before, after) if is_judged else []

    return Question("map", ["map", "--budget", 2000], root, random.choice(["lean", "full"]), level, None, judge)


def judge_map(text, before, after):
    """Compares each line of a map, `12: signature` below the path of a file, with the file."""
    found, path = [], None
    for line in text.split("\n"):
        number, colon, said = line.strip().partition(": ")
        if not line.startswith(" ") and line.strip():
            path = line.strip().removesuffix(":")
            if not forms_of(path, before, after):
                found.append(false(f"maps {path}, which does not count or is gone"))
        elif colon and number.isdigit() and path:
            forms = [] if path in before.unseen else forms_of(path, before, after)
            if forms and not any(is_mapped(path, file, int(number), said) for file in forms):
                shown = [file.line(int(number)) for file in forms]
                found.append(false(f"maps line {number} of {path} as {said!r}: {shown}"))
    return found


def is_mapped(path, file, number, said):
    """Returns whether a line of a map is the line, or the name of what begins there, as where the line cannot be read."""
    line = file.line(number)
    if line is not None and line.strip().startswith(said.rstrip("… ").strip()[:60]):
        return True
    definitions = structure.definitions(path, file)
    if definitions is None:  # only the parser knows what begins there and what it is in, but the line has the name
        bare = re.sub(r"\b\w+\.(?=\w)", "", said)
        return line is not None and (bare in line or bool(re.search(rf"\b{re.escape(said)}\b", line)))
    return any(one.name == said and one.first <= number <= one.line for one in definitions)
