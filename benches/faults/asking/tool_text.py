"""Compares the text that a tool of `memo mcp` says with its structured answer, which is compared with the disk."""

import re

from oracle.findings import false, other

OF_FILE = re.compile(r"(.+?):\d+(?:-\d+)?(?:  .*)?$")
OF_MEMORY = re.compile(r"memory (mem_[0-9A-Z]{26}) ")
OF_COMMIT = re.compile(r"commit ([0-9a-f]{7,64}) ")
NUMBERED = re.compile(r"\d+:(.*)$")
LISTED = re.compile(r"(mem_[0-9A-Z]{26})  (.*)$")


def judge_search_text(result):
    """Returns the lines of a search's text that no hit of the structured answer has."""
    answer, text = result["structuredContent"], text_of(result)
    said = {}
    for hit in answer["hits"]:
        # The text begins with the signature where the snippet begins behind it.
        said.setdefault(hit["path"], []).extend((hit.get("signature") or "").split("\n") + hit["snippet"].split("\n"))
    found, at, n_named = [], None, 0
    for line in text.split("\n"):
        name = name_in(line, said)
        if name in said:
            at, n_named = name, n_named + 1
        elif name:
            at = None
        elif at and not is_said(line, said[at]):
            found.append(false(f"says {line!r} of {at} in its text, and {said[at]} beside it"))
    if said and not n_named:
        found.append(other(f"names none of {len(said)} paths in its text: {text[:300]!r}"))
    return found


def text_of(result):
    """Returns the text of a result without its fences."""
    lines = "\n".join(content["text"] for content in result["content"]).split("\n")
    return "\n".join(line for line in lines if not line.startswith("```"))


def name_in(line, said):
    """Returns the path of a hit that a line names, as the structured answer has it in `said`; none where it names none."""
    memory, commit = OF_MEMORY.match(line), OF_COMMIT.match(line)
    if memory:
        return f"memory:{memory.group(1)}"
    if commit:
        begin = f"commit:{commit.group(1)}"
        return next((path for path in said if path.startswith(begin)), begin)
    file = OF_FILE.match(line)
    return file.group(1) if file and not NUMBERED.match(line) else None


def is_said(line, lines):
    """Returns whether a line of the text is one of a snippet, or the beginning of one."""
    numbered = NUMBERED.match(line)
    if not numbered and not line.startswith("  "):
        return True  # a note, a commit, or what was left out
    text = (numbered.group(1) if numbered else line).strip().rstrip("…").rstrip()
    return any(one.strip().startswith(text) for one in lines)


def judge_list_text(result):
    """Returns the memories that the text of a list names otherwise than its structured answer, or not at all."""
    answer, text = result["structuredContent"], text_of(result)
    memories = {}
    for memory in answer["memories"]:
        memories.setdefault(memory["id"], []).append(memory.get("title") or memory["content"].split("\n")[0])
    found, n_named = [], 0
    for line in text.split("\n"):
        listed = LISTED.match(line)
        if not listed:
            continue
        n_named += 1
        titles = memories.get(listed.group(1), [])
        if not any(title in listed.group(2) for title in titles) and "…" not in listed.group(2):
            found.append(false(f"lists {line!r} in its text, and {titles} beside it"))
    if memories and not n_named:
        found.append(other(f"lists none of {len(memories)} memories in its text: {text[:300]!r}"))
    return found
