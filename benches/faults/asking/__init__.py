"""What is asked, and how often."""

from . import agents, asides, code, health, memories, past, reach, searching
from .question import Question, World

__all__ = ["TABLE", "WHOLE", "Question", "World", "pick", "pick_memories", "plain"]

ABOUT_MEMORIES = [
    (memories.living, 6), (memories.some, 3), (memories.archived, 2), (memories.get, 3), (memories.history, 2),
    (memories.links, 2), (memories.stats, 2), (memories.tags, 2), (memories.export, 2), (searching.for_memories, 4),
    (searching.by_tag, 2), (agents.prompt_hook, 2), (agents.before_edit, 3),
]  # fmt: skip
TABLE = [
    (searching.by_word, 16), (searching.by_phrase, 4), (searching.by_two_words, 2), (searching.by_kind, 2),
    (searching.by_path, 2), (searching.by_language, 2), (searching.for_commits, 3), (searching.few, 3),
    (searching.as_text, 3), (code.outline, 2), (code.show, 3), (code.refs, 3), (code.callers, 3), (code.code_map, 1),
    (past.why_file, 2), (past.why_line, 3), (past.changed, 4), (agents.session_start, 1), (agents.brief, 1),
    (agents.mcp, 2), (agents.http, 1), (health.status, 1), (health.sync, 2),
    (asides.doctor, 2), (asides.reranked, 2), (asides.callees, 2), (asides.impact, 2), (reach.tests, 2), (reach.implements, 2),
    *ABOUT_MEMORIES,
]  # fmt: skip


# What is asked of each worktree when everything is compared.
WHOLE = [memories.living, memories.archived, memories.stats, memories.export, health.sync, asides.doctor]


def plain(world, random, root, before, level="fs", wait_ms=None):
    """Returns a search for one word, by words alone."""
    return searching.by_word(world, random, root, before, level, wait_ms)


def pick(world, random, root, before, table=None):
    """Returns a question that can be asked now; one about a word is always there."""
    makers, weights = zip(*(table or TABLE))
    for _ in range(4):
        question = random.choices(makers, weights)[0](world, random, root, before)
        if question:
            return question
    return searching.by_word(world, random, root, before)


def pick_memories(world, random, root, before):
    """Returns a question about memories."""
    return pick(world, random, root, before, ABOUT_MEMORIES)
