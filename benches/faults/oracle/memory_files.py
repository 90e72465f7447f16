"""Reads the files of shared memories of a worktree, as the page on memories describes them, without the product's parser."""

import dataclasses
import json
import os
import re
import stat

FOLDER = ".memod/memories"
NAME = re.compile(r"(mem_[0-7][0-9A-HJKMNP-TV-Z]{25})\.md")
MAX_BYTES = 64 << 10
# A mark is of so many signs at least: git writes more where merges are nested, and where a file was renamed on both sides.
MARK = re.compile(r"(<{7,}|\|{7,}|={7,}|>{7,})( .*)?\s*")
OPENS, BASE, PARTS, CLOSES = "<|=>"


@dataclasses.dataclass(frozen=True)
class FileMemory:
    """What a file says of its memory; `sides` are two where git could not merge it."""

    text: str
    title: str | None = None
    tags: frozenset = frozenset()
    priority: int = 5
    author: str = ""
    created: str = ""
    links: frozenset = frozenset()
    container: str = "project"


class Unreadable:
    """A file that is no memory, or of which only the product can say whether it is one."""

    def __init__(self, why, is_sure):
        self.why, self.is_sure = why, is_sure

    def __eq__(self, other):
        return isinstance(other, Unreadable) and self.why == other.why


def read(root):
    """Returns by id what each file says: a list of one memory, of two in conflict, or an `Unreadable`; none if nobody may look."""
    found = {}
    folder = os.path.join(root, FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return {}
    except OSError:
        return {}
    for name in names:
        match = NAME.fullmatch(name)
        if match:
            found[match.group(1)] = read_one(os.path.join(folder, name))
    return found


def read_one(path):
    try:
        entry = os.lstat(path)
        if not stat.S_ISREG(entry.st_mode):
            return Unreadable("no regular file", True)
        if entry.st_size > MAX_BYTES:
            return Unreadable("too large", True)
        with open(path, "rb") as file:
            text = file.read().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return Unreadable(type(error).__name__, not isinstance(error, OSError))
    return parse(text.removeprefix("\ufeff").replace("\r\n", "\n"))


def parse(text):
    sides = conflict_sides(text)
    if sides is not None:
        memories = [parse_memory(side) for side in sides]
        readable = [memory for memory in memories if isinstance(memory, FileMemory)]
        return readable if len(readable) == 2 else Unreadable("a side is no memory", False)
    memory = parse_memory(text)
    return [memory] if isinstance(memory, FileMemory) else memory


def conflict_sides(text):
    """Returns what git could not merge, ours and theirs, by the shortest marks that are complete.

    None where nothing is marked, and no sides where a line between marks is like one, so that nobody can tell where a side ends.
    """
    found, sizes = None, {len(mark) for mark in map(mark_of, text.splitlines()) if mark.startswith(OPENS)}
    for size in sorted(sizes):
        sides = sides_of(text, size)
        if sides:
            return sides
        found = found if sides is None else sides
    return found


def mark_of(line):
    """Returns the signs of a mark; nothing where a line is none."""
    match = MARK.fullmatch(line)
    return match.group(1) if match else ""


def sides_of(text, size):
    """Returns the two sides by marks of one size, as `conflict_sides`."""
    sides, at, n_conflicts = ([], []), "both", 0
    for line in text.splitlines(keepends=True):
        mark = mark_of(line)
        if (at, mark[:1], len(mark)) == ("theirs", PARTS, size):
            return []
        step = {("both", OPENS): "ours", ("ours", BASE): "base", ("ours", PARTS): "theirs", ("base", PARTS): "theirs",
                ("theirs", CLOSES): "both"}.get((at, mark[:1])) if len(mark) == size else None  # fmt: skip
        if step:
            n_conflicts += step == "both"
            at = step
            continue
        if at in ("both", "ours"):
            sides[0].append(line)
        if at in ("both", "theirs"):
            sides[1].append(line)
    return ["".join(side) for side in sides] if n_conflicts and at == "both" else None


def parse_memory(text):
    """Returns what a text between no marks says."""
    match = re.match(r"---[ \t]*\n(.*?\n)?---[ \t]*\n", text, re.S)
    if not match:
        return Unreadable("no front matter", True)
    values = front_matter(match.group(1) or "")
    content = text[match.end() :].strip()
    if values is None:
        return Unreadable("a line of the front matter is no entry", False)
    if not content or not values.get("created") or not values.get("author"):
        return Unreadable("lacks its text, created or author", True)
    if "<private>" in text:
        return Unreadable("has a private part", False)
    try:
        return memory_of(values, content)
    except (ValueError, TypeError, AttributeError):
        return Unreadable("a value is not of its kind", False)


def memory_of(values, content):
    kinds = ("related_to", "supersedes", "contradicts", "derived_from")
    links = frozenset((kind, target) for kind in kinds for target in values.get(kind, []))
    return FileMemory(
        content, values.get("title") or None, frozenset(values.get("tags") or []), int(values.get("priority", 5)),
        values["author"], values["created"], links, values.get("container", "project"),
    )  # fmt: skip


def front_matter(text):
    """Returns the values by key; none where a line is of another form."""
    values, key = {}, None
    for line in text.split("\n"):
        entry = re.fullmatch(r"([\w-]+):(?: (.*))?", line)
        if not line.strip() or line.startswith("#"):
            continue
        if entry and entry.group(1) not in values:
            key = entry.group(1)
            values[key] = scalar(entry.group(2).strip()) if entry.group(2) else []
        elif re.match(r"  - ", line) and key and isinstance(values[key], list):
            values[key].append(scalar(line[4:].strip()))
        else:
            return None
    return values


def scalar(written):
    if written.startswith('"'):
        try:
            return json.loads(written)
        except ValueError:
            return written
    if written.startswith("[") and written.endswith("]"):
        return [scalar(item.strip()) for item in written[1:-1].split(",") if item.strip()]
    return written
