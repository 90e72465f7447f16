"""Lies about memories."""

import json

from lies.lie import drop_first, first, lie, other_word, parsed

# What is done to files by others.
STRANGERS = ("write-hostile", "write-stranger", "share")


def memories(answer):
    """Returns the memories of an answer, one or several."""
    return answer.get("memories") or [answer["memory"]] if answer.get("memories") or answer.get("memory") else []


@lie("memory-text", "a word of each memory's text", "list", "get")
def _(answer):
    for memory in memories(answer):
        memory["content"] = other_word(memory["content"])


@lie("last-memory-text", "a word of the last memory's text", "list")
def _(answer):
    for memory in memories(answer)[-1:]:
        memory["content"] = other_word(memory["content"])


@lie("memory-title", "titles", "list", "get")
def _(answer):
    for memory in memories(answer):
        if memory.get("title"):
            memory["title"] = other_word(memory["title"])


@lie("memory-title-dropped", "titles are gone", "list", "get")
def _(answer):
    for memory in memories(answer):
        memory.pop("title", None)


@lie("memory-tags", "the first tag of each is gone", "list", "get")
def _(answer):
    for memory in memories(answer):
        memory["tags"] = memory["tags"][1:]


@lie("memory-priority", "priorities", "list", "get")
def _(answer):
    for memory in memories(answer):
        memory["priority"] = 11 - memory["priority"]


@lie("memory-container", "containers", "list", "get")
def _(answer):
    for memory in memories(answer):
        memory["container"] = "elsewhere"


@lie("memory-dropped", "the first memory is left out", "list")
def _(answer):
    drop_first(answer, "memories", "total")


@lie("memory-doubled", "the first memory is there twice", "list")
def _(answer):
    answer["memories"][:1] *= 2


@lie("memory-total", "the total of a list", "list")
def _(answer):
    answer["total"] += 1


@lie("memory-trust", "memories of others are one's own", "list", "get", also=STRANGERS)
def _(answer):
    for memory in memories(answer):
        memory["trust"] = "own"


@lie("memory-scope", "what is shared is one's own alone", "list", "get", also=STRANGERS)
def _(answer):
    for memory in memories(answer):
        memory.update(shared=False, scope="mine")


@lie("memory-conflict", "conflicts are not marked", "list", "get", also=STRANGERS)
def _(answer):
    for memory in memories(answer):
        memory.pop("conflict", None)


@lie("memory-state", "memories about changed code are fresh", "list", "get", also=("add-about",))
def _(answer):
    for memory in memories(answer):
        if memory.get("state") in ("drifted", "orphaned"):
            memory["state"] = "fresh"


@lie("archive-living", "what is archived is shown as living", "list", by="deed", also=("forget",))
def _(answer, args, memo):
    archived = [] if "--archived" in args else memo("list", "--archived", "--all").get("memories", [])
    answer["memories"] += archived
    return bool(archived)


@lie("archive-emptied", "nothing is in the archive", "list", by="deed", also=("forget",))
def _(answer, args, memo):
    if "--archived" not in args or not answer["memories"]:
        return False
    answer["memories"], answer["total"] = [], 0
    return True


@lie("get-links-dropped", "a memory has no links", "get", also=("link",))
def _(answer):
    for memory in memories(answer):
        if memory.get("links"):
            memory["links"] = []


@lie("get-link-kind", "the kinds of links", "get", also=("link",))
def _(answer):
    for memory in memories(answer):
        for link in memory.get("links") or []:
            link["kind"] = link["relation"] = "contradicts" if link["kind"] != "contradicts" else "related_to"


@lie("links-dropped", "the first link is left out", "links", also=("link",))
def _(answer):
    drop_first(answer, "links")


@lie("links-turned", "which of two supersedes the other", "links", also=("link",))
def _(answer):
    for edge in answer.get("links", []):
        edge["from"], edge["to"] = edge["to"], edge["from"]


@lie("history-dropped", "the last change of a memory is left out", "history", also=("update", "append"))
def _(answer):
    if len(answer.get("changes", [])) > 1:
        answer["changes"].pop()


@lie("history-first-dropped", "the first change of a memory is left out", "history", also=("update", "append"))
def _(answer):
    drop_first(answer, "changes")


@lie("history-text", "what a text was before", "history", also=("update", "append"))
def _(answer):
    for change in answer.get("changes", []):
        for values in [change["fields"][key] for key in ("content",) if key in change.get("fields", {})]:
            values[:] = [other_word(value) if isinstance(value, str) else value for value in values]


@lie("recall-dropped", "the first memory is not recalled", "recall")
def _(answer):
    drop_first(answer, "memories")


@lie("stats-counts", "the number of memories", "stats")
def _(answer):
    for key in ("living", "archived", "memories"):
        if isinstance(answer.get(key), int):
            answer[key] += 1


@lie("tags-counts", "the number of memories of a tag", "tags", also=("tag",))
def _(answer):
    for tally in first(answer.get("names", [])):
        tally["memories"] += 1


@lie("export-dropped", "the first memory is not exported", "export", by="text")
def _(text):
    return without(text, first)


@lie("export-last-dropped", "the last memory is not exported", "export", by="text")
def _(text):
    return without(text, lambda found: found[-1:])


def without(text, choose):
    """Returns lines without a memory, which the count at the end does not tell."""
    entries = [parsed(line) for line in text.splitlines()]
    dropped = choose([entry for entry in entries if entry and "memory" in entry])
    for entry in entries:
        if entry and "end" in entry:
            entry["end"]["memories"] -= len(dropped)
    return "".join(json.dumps(entry) + "\n" for entry in entries if entry not in dropped)


@lie("export-text", "a word of each entry's text", "export", by="lines")
def _(entry):
    if "memory" in entry:
        entry["memory"]["content"] = other_word(entry["memory"]["content"])


@lie("export-tags", "the tags of each entry", "export", by="lines")
def _(entry):
    if entry.get("memory", {}).get("tags"):
        entry["memory"]["tags"] = entry["memory"]["tags"][1:]
