"""Asks `memo search`: by words, phrases and prefixes, with filters, in all modes and forms."""

import datetime
import re

from oracle import commits, hits, memory_answers, visible
from oracle.disk import WORDS
from oracle.findings import false, other

from .question import Question, how_fresh, is_fresh

LIMIT = 200
FOLDERS = ["src/", "docs/", "lib/", "out/", "data/"]


def judge_search(world, asked, form):
    """Returns a judge of answers to this search in JSON."""

    def judge(reply, before, after):
        answer = reply.json
        found = hits.judge_frame(asked, answer, form, world.may_be_degraded)
        found += hits.judge_files(asked, answer, before, after, world)
        is_whole = len(answer["hits"]) < asked.limit and asked.mode != "vector"
        fresh = is_fresh(answer, asked.level)
        wants = not asked.kinds or "commit" in asked.kinds
        is_any = asked.lang is None and asked.path is None and not asked.tags
        found += commits.judge_hits(
            answer["hits"], asked.words, before, after, world.commits, fresh, is_whole and fresh and wants and is_any, asked.since
        )
        wants = (not asked.kinds or "memory" in asked.kinds) and asked.lang is None and asked.path is None
        expected = visible.expect(world.model, before, after, world.seen, fresh, world.clock_is_right)
        found += memory_answers.judge_memory_hits(
            answer["hits"], asked.words, expected, world.model, is_whole and wants and asked.since is None,
            filters={"tag": asked.tags},
        )  # fmt: skip
        told = [hit for hit in answer["hits"] if hit["kind"] == "memory"]
        found += memory_answers.judge_successors(told, world.model)
        if fresh:
            states = [{**hit, "conflict": (hit.get("memory") or {}).get("conflict")} for hit in told]
            found += memory_answers.judge_states(states, before, after, world.model)
        return found + judge_filters(asked, answer["hits"])

    return judge


def judge_filters(asked, shown):
    """Returns the hits that a filter of kind, tag or time leaves out."""
    found = []
    for hit in shown:
        if asked.kinds and hit["kind"] not in asked.kinds:
            found.append(false(f"shows a {hit['kind']}, asked were {asked.kinds}"))
        if asked.tags and not set(asked.tags) <= set((hit.get("memory") or {}).get("tags", ())):
            found.append(false(f"shows {hit['path']}, which has not the tags {asked.tags}"))
        when = (hit.get("commit") or {}).get("date") or (hit.get("memory") or {}).get("created")
        if asked.since and (not when or datetime.datetime.fromisoformat(when) < asked.since):
            found.append(false(f"shows {hit['path']} of {when}, asked was since {asked.since}"))
    return found


def search(world, random, root, before, query, words, *flags, **fields):
    """Returns the question for a query."""
    level, wait_ms = fields.pop("fresh", None) or how_fresh(random)
    mode = fields.pop("mode", None) or random.choices(["keyword", "hybrid", "vector"], [6, 3, 1])[0]
    form = random.choice(["lean", "full"])
    asked = hits.Asked(
        tuple(words), mode=mode, level=level, limit=LIMIT, root=str(root), query=query, **fields
    )  # fmt: skip
    args = ["search", "-n", LIMIT, "--mode", mode, *flags, query]
    return Question("search", args, root, form, level, wait_ms, judge_search(world, asked, form))


def by_word(world, random, root, before, level=None, wait_ms=None):
    word = world.words.pick(random, before.files)
    question = search(world, random, root, before, word, [word], **({"mode": "keyword", "fresh": (level, wait_ms)} if level else {}))
    return question


def by_phrase(world, random, root, before):
    """Asks for words that stand next to each other in one line of a file."""
    lines = [line for path, file in sorted((before.files or {}).items()) for line in file.lines if "zq" in line]
    words = WORDS.findall(random.choice(lines)) if lines else []
    own = [nth for nth, word in enumerate(words) if word.startswith("zq") and nth + 1 < len(words)]
    if not own:
        return None
    start = random.choice(own)
    phrase = words[start : start + 2]
    if "_" in " ".join(lines) and any(len(word) < 3 for word in phrase):
        return None
    return search(world, random, root, before, f'"{" ".join(phrase)}"', phrase, is_phrase=True)


def by_two_words(world, random, root, before):
    """Asks with AND for two words of one line, which stand in one chunk."""
    found = by_phrase(world, random, root, before)
    if not found:
        return None
    words = WORDS.findall(found.args[-1])
    return search(world, random, root, before, " AND ".join(words), words) if len(set(words)) == 2 else None


def by_kind(world, random, root, before):
    word, kind = world.words.pick(random, before.files), random.choice(["doc", "symbol", "map", "text"])
    return search(world, random, root, before, word, [word], "--kind", kind, kinds=(kind,))


def by_path(world, random, root, before):
    word, folder = world.words.pick(random, before.files), random.choice(FOLDERS)
    # A glob with a slash starts at the current directory.
    return search(
        world, random, root, before, word, [word], "--path", folder + "**", path=lambda path: path.startswith(folder)
    )


def by_language(world, random, root, before):
    word, language = world.words.pick(random, before.files), random.choice(["rust", "python", "go", "markdown", "typescript"])
    return search(world, random, root, before, word, [word], "--lang", language, lang=language)


def for_commits(world, random, root, before):
    """Asks for a word of a message, maybe only since some time."""
    known = world.commits.reached(before) or {}
    words = sorted({word for commit in known.values() for word in commit.words if word.startswith("zq")})
    if not words:
        return None
    word, since = random.choice(words), None
    flags = ["--kind", "commit"]
    if random.random() < 0.3:
        since = datetime.datetime(2020, 1, random.randrange(1, 28), tzinfo=datetime.timezone.utc)
        flags += ["--since", since.date().isoformat()]
    return search(
        world, random, root, before, word, [word], *flags, kinds=("commit",), since=since,
        mode=random.choice(["keyword", "hybrid"]),
    )  # fmt: skip


def memory_words(world):
    """Returns words of texts that memories surely have, in order."""
    forms = [world.model.form(id) for id in world.model.certain()]
    return sorted({word for form in forms if form for word in WORDS.findall(form.text) if word.startswith("zx")})


def for_memories(world, random, root, before):
    words = memory_words(world)
    if not words:
        return None
    word, flags = random.choice(words), random.choice([[], ["--kind", "memory"]])
    return search(world, random, root, before, word, [word], *flags, kinds=tuple(flags[1:]))


def by_tag(world, random, root, before):
    tags = sorted({tag for id in world.model.certain() for tag in (world.model.form(id) or no_form).tags})
    words = memory_words(world)
    if not tags or not words:
        return None
    word, tag = random.choice(words), random.choice(tags)
    return search(world, random, root, before, word, [word], "--tag", tag, tags=(tag,))


class no_form:
    tags = ()


def few(world, random, root, before):
    """Asks for a few hits only, which then must be few, or for as many as fit into a budget."""
    word = world.words.pick(random, before.files)
    flags = random.choice([["-n", 1], ["-n", 3], ["--budget", 60], ["--budget", 200]])
    level, wait_ms = how_fresh(random)
    asked = hits.Asked(
        (word,), mode="hybrid", level=level, limit=flags[1] if flags[0] == "-n" else LIMIT, query=word, kinds=hits.OF_FILES
    )

    def judge(reply, before, after):
        answer = reply.json
        found = hits.judge_frame(asked, answer, "lean", world.may_be_degraded)
        found += hits.judge_files(asked, answer, before, after, world)
        surely = sum(word in file.words for file in (before.files or {}).values())
        n_told = len(answer["hits"]) + answer.get("left_out", 0)
        if flags[0] == "--budget" and is_fresh(answer, level) and before.files == after.files and surely and not n_told:
            found.append(other(f"shows and counts nothing of {surely} files within {flags[1]} tokens"))
        return found

    args = ["search", *flags, "--kind", ",".join(hits.OF_FILES), word]
    return Question("search few", args, root, "lean", level, wait_ms, judge)


NUMBERED = re.compile(r" *(\d+)  (.*)|( *\d+)$")
PLACE = re.compile(r"(\S.*?):(\d+)-(\d+)(?:  (.*))?")


def as_text(world, random, root, before):
    """Asks as a person does, and compares each numbered line with the file that is named above it."""
    word = world.words.pick(random, before.files)
    level, wait_ms = how_fresh(random)

    def judge(reply, before, after):
        return judge_text(reply.out, before, after, world)

    args = ["search", "--color", "never", "--kind", "doc,symbol,text", word]
    return Question("search as text", args, root, "text", level, wait_ms, judge)


def judge_text(text, before, after, world):
    found, path = [], None
    for line in text.split("\n"):
        place, numbered = PLACE.fullmatch(line), NUMBERED.fullmatch(line)
        if numbered and path and line.startswith(" "):
            number, shown = int((numbered.group(1) or numbered.group(3)).strip()), numbered.group(2) or ""
            found += judge_text_line(path, number, shown, before, after, world)
        elif place:
            path = place.group(1)
    return found


def judge_text_line(path, number, shown, before, after, world):
    forms = hits.forms_of(path, before, after) or [file for file in [world.disk.read(after.root, path)] if file]
    for file in forms:
        line = file.line(number)
        if line is not None and hits.snippets.shows_line(line, shown, world.words.credentials):
            return []
    return [false(f"prints line {number} of {path} as {shown!r}: {[file.line(number) for file in forms]}")]
