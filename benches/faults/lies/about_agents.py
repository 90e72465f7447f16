"""Lies to agents: hooks and MCP."""

import json

from lies.lie import lie, other_word, parsed


def contexts(text):
    """Returns what a hook prints as JSON, and where its text is; nothing where it prints text."""
    answer = parsed(text)
    return answer, answer.get("hookSpecificOutput", answer) if isinstance(answer, dict) else None


@lie("hook-emptied", "a hook says nothing", "hook", by="text")
def _(text):
    return ""


@lie("hook-text", "a word of what a hook says", "hook", by="text")
def _(text):
    answer, context = contexts(text)
    if not context:
        return other_word(text)
    for key in ("additionalContext", "additional_context", "text"):
        if context.get(key):
            context[key] = other_text(context[key])
    return json.dumps(answer) + "\n"


@lie("hook-line-dropped", "a memory is left out of what a hook says", "hook", by="text")
def _(text):
    answer, context = contexts(text)
    if not context:
        return without_item(text)
    for key in ("additionalContext", "additional_context", "text"):
        if context.get(key):
            context[key] = without_item(context[key])
    return json.dumps(answer) + "\n"


def other_text(text):
    """Returns a text with another word in each line of a memory; ids stay as they are."""
    return "\n".join(falsified(line) if line.startswith("- ") else line for line in text.split("\n"))


def falsified(line):
    said, bracket, rest = line.partition(" (mem_")
    return other_word(said) + bracket + rest


def without_item(text):
    """Returns a text without its first line of a memory."""
    lines = text.split("\n")
    items = [at for at, line in enumerate(lines) if line.startswith("- ")]
    return "\n".join(line for at, line in enumerate(lines) if at not in items[:1])


def results(message):
    """Returns the result of a call, as a list of one or none."""
    result = message.get("result") if isinstance(message, dict) else None
    return [result] if isinstance(result, dict) and "content" in result else []


@lie("mcp-text", "a word of what a tool says", "mcp", by="lines")
def _(message):
    for result in results(message):
        for content in result["content"]:
            content["text"] = "\n".join(map(other_word, content["text"].split("\n")))


@lie("mcp-text-emptied", "a tool says nothing", "mcp", by="lines")
def _(message):
    for result in results(message):
        for content in result["content"]:
            content["text"] = ""


@lie("mcp-hits-dropped", "the structured answer of a tool has no hits", "mcp", by="lines")
def _(message):
    for result in results(message):
        for key in ("hits", "memories"):
            if (result.get("structuredContent") or {}).get(key):
                result["structuredContent"][key] = []


@lie("mcp-snippet", "a word of each snippet of the structured answer", "mcp", by="lines")
def _(message):
    for result in results(message):
        for hit in (result.get("structuredContent") or {}).get("hits", []):
            hit["snippet"] = other_word(hit["snippet"])
