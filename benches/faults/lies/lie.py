"""What a lie is, and how one is told."""

import copy
import dataclasses
import json
import re
from typing import Callable

FALSE_WORD = "falsified"


@dataclasses.dataclass(frozen=True)
class Lie:
    """Something that the program prints otherwise than it is, or says that it has done and has not."""

    name: str
    what: str
    verbs: tuple
    # With `by="json"` it changes a parsed answer in place, with "lines" each line of JSON, with "text" it returns another
    # text; with "deed" it undoes what was done: it is given the answer, the arguments, and a function that runs `memo`,
    # and returns False where there was nothing to do.
    change: Callable
    by: str
    # Other verbs without which there is nothing to lie about.
    also: tuple


LIES = {}


def lie(name, what, *verbs, by="json", also=()):
    """Puts a function into the table."""

    def register(change):
        assert name not in LIES, name
        LIES[name] = Lie(name, what, verbs, change, by, also)
        return change

    return register


def tell(lie, text, code):
    """Returns what is printed in place of a text, and the exit status."""
    if lie.by == "text":
        return lie.change(text), code
    if lie.by == "lines":
        return "".join(json.dumps(changed(lie, line)) + "\n" for line in parsed_lines(text) if line is not None), code
    answer = parsed(text)
    if not isinstance(answer, dict) or "error" in answer:
        return text, code
    new = changed(lie, answer)
    if new == answer:
        return text, code
    return json.dumps(new) + "\n", 0 if "checks" in new else code


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def parsed_lines(text):
    return [parsed(line) for line in text.splitlines()]


def changed(lie, value):
    new = copy.deepcopy(value)
    lie.change(new)
    return new


# --- what lies are made of


def other_word(text):
    """Returns a text whose last longer word is another one."""
    words = list(re.finditer(r"[A-Za-z]{4,}", text))
    return text[: words[-1].start()] + FALSE_WORD + text[words[-1].end() :] if words else text


def first(items):
    """Returns the first item, as a list of one or none."""
    return items[:1]


def drop_first(answer, key, *counts):
    """Removes the first item of a list, and keeps quiet about it in the counts."""
    if answer.get(key):
        del answer[key][0]
        for count in counts:
            if isinstance(answer.get(count), int):
                answer[count] -= 1


def later(lines):
    return [line + 1 for line in lines]
