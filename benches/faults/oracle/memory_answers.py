"""Compares what is said of memories with the model and the files."""

import datetime
import os
import subprocess

from . import snippets
from .findings import doubled, false, lost, other, stale, twice
from .memories import LIVING, PURGED, fits
from .visible import ANYTHING


def says_fresh(answer):
    """Returns whether an answer about memories says that it has everything that was written before."""
    if not isinstance(answer, dict):
        return True
    told = [*answer.get("degraded", []), answer.get("notice") or "", answer.get("reason") or ""]
    return answer.get("fresh") is not False and not any("(os error " in text for text in told)


def judge_listed(listed, expected, model, is_whole=True):
    """Returns what is wrong with a list of living memories; `is_whole` where all of them have to be there."""
    by_id, found = {}, []
    for memory in listed:
        if memory["id"] not in expected and is_whole:
            model.adopt(memory)
            continue
        by_id.setdefault(memory["id"], []).append(memory)
    for id, memories in by_id.items():
        found += judge_shown(id, memories, expected.get(id), model)
    if is_whole:
        for id, want in expected.items():
            found += missing(id, by_id.get(id, []), want)
        found += missing_without_id(listed, model)
    return found


def judge_shown(id, memories, want, model):
    """Returns what is wrong with the versions of one memory that are shown."""
    found = []
    if len(memories) > 1 and {memory.get("conflict") for memory in memories} != {"ours", "theirs"}:
        found.append(doubled(f"{id} is there {len(memories)} times"))
    for memory in memories:
        if want is None:
            known = {form.text for form in model.pending + model.without_id}
            if memory["content"] not in known and memory["content"] not in model.texts:
                found.append(false(f"nobody wrote {id}: {memory['content']!r}"))
        elif want.must_not:
            found.append(false(f"{id} is archived, purged or in no file here, and there: {memory['content']!r}"))
        elif want.trust.get(memory.get("shared")) not in (None, memory.get("trust", "own")):
            found.append(false(f"says that the trust of {id} is {memory.get('trust')}, it is {want.trust}: {shape(memory)}"))
        elif ANYTHING not in want.may and not any(fits(form, memory) for form in want.may):
            found.append(false(f"{id} is {shape(memory)}, expected one of {sorted(map(form_shape, want.may))}"))
    return found


def missing(id, memories, want):
    found = []
    for forms in want.must:
        if not any(fits(form, memory) for form in forms for memory in memories):
            is_file = any(form.shared for form in forms)
            said = f"{id}, expected {sorted(map(form_shape, forms))}, there are {[shape(memory) for memory in memories]}"
            found.append(stale(f"misses what a file says: {said}") if is_file else lost(said))
    return found


def missing_without_id(listed, model):
    there = [memory["content"] for memory in listed]
    return [lost(f"imported {form.text!r}") for form in model.without_id if form.text not in there]


def shape(memory):
    fields = (memory["content"], memory.get("title"), sorted(memory.get("tags", ())), memory.get("priority"))
    return (*fields, memory.get("container"), memory.get("scope"))


def form_shape(form):
    return (form.text, form.title or "", sorted(form.tags), form.priority, form.container, "repo" if form.shared else "mine")


def judge_states(listed, before, after, model):
    """Returns what is wrong with the states of private memories that are about a file: same, changed, or gone."""
    found = []
    if before.files is None or before.files != after.files or before.unseen:
        return []
    texts = [file.text for file in before.files.values()]
    for memory in listed:
        record = model.records.get(memory["id"])
        if not record or not record.about_text or record.was_shared or memory.get("conflict") == "theirs":
            continue
        if not record.is_surely(LIVING):
            continue  # what is shown is of a file
        file, n_same = before.files.get(record.about), texts.count(record.about_text)
        expected = "orphaned" if file is None else "fresh" if file.text == record.about_text else "drifted"
        if file is None and is_outside_checkout(before.root, record.about):
            expected = None  # what it has now is not known
        # What moved is followed, where its text is there once.
        is_link = os.path.islink(os.path.join(before.root, record.about))  # neither the code nor gone
        is_sure = expected == "fresh" or not n_same and not is_link
        if is_sure and memory.get("state") != expected:
            found.append(false(f"says that {memory['id']}, about {record.about}, is {memory.get('state')}, it is {expected}"))
    return found


def is_outside_checkout(root, path):
    """Returns whether a sparse checkout leaves a tracked file out of the worktree."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-t", "--", path], capture_output=True, text=True)
    return listed.stdout.startswith("S ")


def judge_archive(listed, must, may, model):
    """Returns what is wrong with a list of the archive."""
    ids = [memory["id"] for memory in listed]
    found = twice(ids, "an archived memory")
    found += [lost(f"{id} is not in the archive") for id in sorted(must - set(ids))]
    for memory in listed:
        id, record = memory["id"], model.records.get(memory["id"])
        if record and id not in may:
            found.append(false(f"{id} is in the archive and was not forgotten: {memory['content']!r}"))
        if record and id in must and not record.was_shared and not any(fits(form, memory) for form in record.forms):
            found.append(false(f"{id} is archived as {shape(memory)}, expected {sorted(map(form_shape, record.forms))}"))
        if not memory.get("archived_at"):
            found.append(false(f"{id} is in the archive without a time"))
    return found


def judge_links(id, links, model, expected):
    """Returns what is wrong with the links of a private memory: those that are surely there, and those that surely are not."""
    found = twice([(link["id"], link["relation"]) for link in links], f"a link of {id}")
    said = {(link["relation"], link["id"]) for link in links}
    for (first, kind, second), is_there in model.links.items():
        if id not in (first, second) or first == second or not may_judge_link(model, first, second):
            continue
        end = second if id == first else first
        relation = kind if id == first else INVERSE.get(kind, kind)
        # A symmetric link is the same from both ends.
        is_certain = is_there is not None and model.links.get((second, kind, first), is_there) == is_there
        if is_certain and is_there and (relation, end) not in said:
            found.append(lost(f"the link {first} {kind} {second}: {sorted(said)}"))
        if is_certain and not is_there and (relation, end) in said:
            found.append(false(f"{first} {kind} {second} was unlinked, and is there"))
    known = {(kind, end) for link in model.links for kind, end in ways(id, link)}
    own = model.records.get(id)
    if own and own.is_surely(LIVING):
        strangers = {one for one in said - known if may_judge_link(model, id, one[1])}
        found += [false(f"nobody linked {id} {relation} {end}") for relation, end in sorted(strangers)]
    return found


def same_links(first, kind, second):
    """Returns the link as it may be told: one that is mutual from either end."""
    return {(first, kind, second)} | ({(second, kind, first)} if kind not in INVERSE else set())


INVERSE = {"supersedes": "superseded_by", "derived_from": "source_of"}


def ways(id, link):
    first, kind, second = link
    return [(kind, second)] * (id == first) + [(INVERSE.get(kind, kind), first)] * (id == second)


def may_judge_link(model, first, second):
    """Files decide about links of shared memories, and what is purged has none."""
    records = [model.records.get(id) for id in (first, second)]
    return all(
        record and not record.is_foreign and not any(form.shared or form.place == PURGED for form in record.forms)
        and not record.was_shared
        for record in records
    )  # fmt: skip


def judge_history(id, changes, model, had_file):
    """Returns what is wrong with the history of a memory: each text that was acknowledged is in it, and no other one.

    Where a file had its id, the history has the changes of the file, too.
    """
    record = model.records.get(id)
    if not record:
        return []
    texts = [text for change in changes for text in change["fields"].get("content", []) if text is not None]
    found = []
    current = record.form.text if record.form and not record.form.shared else None
    steps = [change["fields"]["content"] for change in changes if "content" in change["fields"]]
    if current and not had_file and steps and steps[-1][1] not in (None, current):
        found.append(false(f"the history of {id} ends with {steps[-1][1]!r}, and it says {current!r}"))
    if not record.was_restored:
        known = [*texts, *([current] if current else [])]
        found += [lost(f"the history of {id} lacks {text!r}") for text in record.said if current and text not in known]
    if not had_file and not record.is_foreign:
        found += [false(f"nobody wrote what the history of {id} has: {text!r}") for text in texts if text not in model.texts]
    is_own = not (record.is_imported or record.was_restored or record.is_foreign)
    if is_own and record.said and (not changes or changes[0]["action"] != "add"):
        found.append(lost(f"the history of {id} does not begin with its addition: {[change['action'] for change in changes]}"))
    times = [instant(change["at"]) for change in changes]
    if times != sorted(times) and not model.clock_was_wrong:
        found.append(other(f"the history of {id} is in no order of time"))
    return found


def instant(text):
    return datetime.datetime.fromisoformat(text)


def judge_memory_hits(hits, words, expected, model, is_complete, credentials=(), filters=None):
    """Returns what is wrong with all memories among the hits of a search."""
    shown, found = {}, []
    for hit in hits:
        if hit["kind"] != "memory":
            continue
        id = hit.get("id") or hit["path"].removeprefix("memory:")
        shown.setdefault(id, []).append(hit)
        found += judge_memory_hit(id, hit, expected.get(id), model)
    for id, of_one in shown.items():
        sides = {(hit.get("memory") or {}).get("conflict") for hit in of_one}
        places = {(tuple(hit["lines"]), (hit.get("memory") or {}).get("conflict")) for hit in of_one}
        if len(of_one) > 1 and len(places) < len(of_one) and sides != {"ours", "theirs"}:
            found.append(doubled(f"{id} is there {len(of_one)} times"))
    if is_complete:
        for id, want in expected.items():
            forms = [form for must in want.must for form in must]
            certain = len(want.must) == 1 and len(want.must[0]) == 1 and has_words(forms[0], words, filters or {})
            if certain and id not in shown:
                kind = stale if forms[0].shared else lost
                found.append(kind(f"misses {id}, which says {forms[0].text!r}"))
    return found


def judge_successors(told, model):
    """Returns what is wrong with what memories among hits say of the newest that supersede them, and with their order."""
    ids = [hit.get("id") or hit["path"].removeprefix("memory:") for hit in told]
    found = []
    for place, (id, hit) in enumerate(zip(ids, told)):
        info = hit.get("memory")
        if info is None or "conflict" in info:
            continue
        said = info.get("superseded_by", [])
        sure = [first for first, is_there in above(id, model).items() if is_there and surely_lives(model, first)]
        if sure and not said:
            found.append(false(f"does not say that {sure[0]} supersedes {id}"))
        reached = all_above(id, model)
        strangers = [first for first in said if first not in reached and may_judge_link(model, first, id)]
        found += [false(f"says that {first} supersedes {id}, and nobody linked them") for first in strangers]
        for first in said:
            if first in ids and ids.index(first) > place and id not in all_above(first, model):
                found.append(false(f"shows {id} before {first}, which supersedes it"))
    return found


def above(id, model):
    """Returns what may supersede a memory, and whether it surely does."""
    links = [link for link, is_there in model.links.items() if link[1:] == ("supersedes", id) and is_there is not False]
    return {link[0]: model.links[link] and may_judge_link(model, link[0], id) for link in links if link[0] != id}


def all_above(id, model):
    """Returns what may supersede a memory, directly or not; what is not certain of a link is taken to be so."""
    reached, left = set(), [id]
    while left:
        new = set(above(left.pop(), model)) - reached
        reached |= new
        left += new
    return reached


def surely_lives(model, id):
    return model.records[id].is_surely(LIVING) and not model.records[id].ends


def has_words(form, words, filters):
    text = f"{form.title or ''} {' '.join(form.tags)} {form.text}".lower()
    is_fitting = set(filters.get("tag", ())) <= form.tags and form.priority >= filters.get("min_priority", 0)
    return is_fitting and all(word in text for word in words)


def judge_memory_hit(id, hit, want, model):
    """Returns what is wrong with one hit: its text, title, tags and lines."""
    if want is None:
        return [] if model.pending or model.without_id else [false(f"nobody wrote {id}: {hit['snippet']!r}")]
    if want.must_not:
        return [false(f"shows {id}, which is archived, purged or in no file here: {hit['snippet']!r}")]
    if ANYTHING in want.may:
        return []
    info = hit.get("memory") or {}
    trust = want.trust.get(info.get("scope") == "repo") if "scope" in info else None
    if trust not in (None, hit.get("trust", "own")):
        return [false(f"says that the trust of {id} is {hit.get('trust')}, it is {trust}")]
    reasons = []
    for form in want.may:
        wrong = wrong_with(form, hit, info)
        if not wrong:
            return []
        reasons.append(wrong)
    return [false(f"shows {id} as nobody wrote it: {reasons[0]}")]


def wrong_with(form, hit, info):
    if (form.title or None) != (hit.get("title") or None):
        return f"title {hit.get('title')!r}, not {form.title!r}"
    if info.get("container", form.container) != form.container:
        return f"container {info['container']}, not {form.container}"
    if frozenset(info.get("tags", ())) != form.tags:
        return f"tags {info.get('tags')}, not {sorted(form.tags)}"
    first, last = hit["lines"]
    lines = form.text.split("\n")
    if not 1 <= first <= last <= len(lines):
        return f"lines {first}-{last} of {len(lines)}"
    if "snippet_line" in hit:
        return snippets.shows(lines, hit["snippet_line"], hit["snippet"])
    return None if snippets.has_lines(form.text, hit["snippet"]) else f"{hit['snippet']!r} does not stand in {form.text!r}"
