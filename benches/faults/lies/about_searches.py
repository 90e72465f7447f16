"""Lies about hits."""

from lies.lie import first, later, lie, other_word


def hits(answer, *kinds):
    """Returns hits of some kinds; without any, those of files."""
    found = answer.get("hits", [])
    return [hit for hit in found if hit["kind"] in kinds] if kinds else [hit for hit in found if is_file(hit)]


def is_file(hit):
    return hit["kind"] not in ("commit", "memory")


def drop(answer, hit):
    answer["hits"].remove(hit)


# --- files


@lie("snippet-word", "a word of each snippet of a file", "search")
def _(answer):
    for hit in hits(answer):
        hit["snippet"] = other_word(hit["snippet"])


@lie("first-snippet-word", "a word of the first snippet of a file", "search")
def _(answer):
    for hit in first(hits(answer)):
        hit["snippet"] = other_word(hit["snippet"])


@lie("snippet-line-number", "the number of a snippet's first line", "search")
def _(answer):
    for hit in hits(answer):
        hit["snippet_line"] += 1


@lie("snippet-redacted", "a line of each snippet is redacted that has no credential", "search")
def _(answer):
    for hit in hits(answer):
        lines = hit["snippet"].split("\n")
        hit["snippet"] = "\n".join([*lines[:-1], "[REDACTED]"])


@lie("snippet-cut", "the last line of a snippet is cut to a mark", "search")
def _(answer):
    for hit in hits(answer):
        lines = hit["snippet"].split("\n")
        hit["snippet"] = "\n".join([*lines[:-1], "…"])


@lie("snippet-emptied", "snippets say nothing", "search")
def _(answer):
    for hit in hits(answer):
        hit["snippet"] = ""


@lie("hit-lines", "the lines of each hit, one too far", "search")
def _(answer):
    for hit in hits(answer):
        hit["lines"] = later(hit["lines"])


@lie("hit-lines-long", "the last line of each hit, beyond the file", "search")
def _(answer):
    for hit in hits(answer):
        hit["lines"][1] += 1000


@lie("hit-path", "the first hit has the path of the second", "search")
def _(answer):
    found = hits(answer)
    if len(found) > 1:
        found[0]["path"] = found[1]["path"]


@lie("hit-path-gone", "a hit has the path of no file", "search")
def _(answer):
    for hit in first(hits(answer)):
        hit["path"] = f"gone/{hit['path']}"


@lie("hit-dropped", "the first hit of a file is left out", "search")
def _(answer):
    for hit in first(hits(answer)):
        drop(answer, hit)


@lie("hits-dropped", "all hits are left out", "search")
def _(answer):
    answer["hits"] = []


@lie("last-hit-dropped", "the last hit of a file is left out", "search")
def _(answer):
    for hit in hits(answer)[-1:]:
        drop(answer, hit)


@lie("hit-doubled", "the first hit is there twice", "search")
def _(answer):
    answer["hits"][:1] *= 2


@lie("hit-symbol", "the name of the definition", "search")
def _(answer):
    for hit in hits(answer):
        if hit.get("symbol"):
            hit["symbol"] = other_word(hit["symbol"])


@lie("hit-signature", "the line that names the definition", "search")
def _(answer):
    for hit in hits(answer):
        if hit.get("signature"):
            hit["signature"] = other_word(hit["signature"])


@lie("copies-dropped", "files that say the same are not named", "search")
def _(answer):
    for hit in hits(answer):
        hit.pop("copies", None)


@lie("copies-counted", "the number of files that say the same", "search")
def _(answer):
    for hit in hits(answer):
        if hit.get("copies"):
            hit["copies"]["count"] += 1


@lie("file-trust", "what a file says is trusted as one's own", "search")
def _(answer):
    for hit in hits(answer):
        hit["trust"] = "own"


# --- commits


@lie("commit-subject", "a word of each commit's subject", "search")
def _(answer):
    for hit in hits(answer, "commit"):
        hit["snippet"] = other_word(hit["snippet"].split("\n")[0]) + hit["snippet"][len(hit["snippet"].split("\n")[0]) :]
        if hit.get("title"):
            hit["title"] = other_word(hit["title"])


@lie("commit-id", "the ids of commits", "search")
def _(answer):
    for hit in hits(answer, "commit"):
        hit["commit"]["oid"] = hit["commit"]["oid"][::-1]
        hit["path"] = f"commit:{hit['commit']['oid']}"


@lie("commit-date", "the year of commits", "search")
def _(answer):
    for hit in hits(answer, "commit"):
        hit["commit"]["date"] = f"2001{hit['commit']['date'][4:]}"


@lie("commit-author", "the authors of commits", "search")
def _(answer):
    for hit in hits(answer, "commit"):
        hit["commit"]["author"] = f"Mallory {hit['commit']['author']}"


@lie("commit-dropped", "commits are left out", "search")
def _(answer):
    answer["hits"] = [hit for hit in answer["hits"] if hit["kind"] != "commit"]


# --- memories


@lie("memory-hit-text", "a word of each memory that is found", "search")
def _(answer):
    for hit in hits(answer, "memory"):
        hit["snippet"] = other_word(hit["snippet"])


@lie("memory-hit-title", "the titles of memories that are found", "search")
def _(answer):
    for hit in hits(answer, "memory"):
        if hit.get("title"):
            hit["title"] = other_word(hit["title"])


@lie("memory-hit-tags", "the tags of memories that are found", "search")
def _(answer):
    for hit in hits(answer, "memory"):
        hit["memory"]["tags"] = ["falsified"]


@lie("memory-hit-dropped", "memories are not found", "search")
def _(answer):
    answer["hits"] = [hit for hit in answer["hits"] if hit["kind"] != "memory"]


@lie("memory-hit-trust", "memories of others are one's own", "search", also=("write-stranger",))
def _(answer):
    for hit in hits(answer, "memory"):
        hit["trust"] = "own"


@lie("memory-hit-state", "memories about changed code are fresh", "search", also=("add-about",))
def _(answer):
    for hit in hits(answer, "memory"):
        if hit.get("state") in ("drifted", "orphaned"):
            hit["state"] = "fresh"


@lie("successors-dropped", "what is superseded is as good as any", "search", also=("link",))
def _(answer):
    for hit in hits(answer, "memory"):
        hit["memory"].pop("superseded_by", None)


# --- the answer


@lie("fresh-flipped", "what is not fresh is", "search")
def _(answer):
    if answer.get("fresh") is False:
        answer["fresh"] = True
        answer.pop("reason", None)


@lie("reason-emptied", "why it is not fresh", "search")
def _(answer):
    answer["reason"] = None


@lie("degraded-emptied", "what did not run", "search")
def _(answer):
    answer["degraded"] = []


@lie("parsed-phrase", "the phrases of a query are not known", "search")
def _(answer):
    if answer.get("parsed"):
        answer["parsed"].pop("phrases", None)


@lie("filter-ignored", "a hit that a filter of the path leaves out", "search", by="deed")
def _(answer, args, memo):
    shown = hits(answer)
    if "--path" not in args or not shown:
        return False
    answer["hits"].append({**shown[0], "path": "elsewhere/out.md", "rank": len(answer["hits"]) + 1})
    return True
