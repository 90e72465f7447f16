"""Keeps what the memories of one repository must be, by what was asked for and what was acknowledged.

A change has two ends. Each method of `MemoryModel` that changes something is called before the program is asked, and
returns an `Attempt`: from then on the old and the new may both be there. After the answer one of three is called:

    attempt = model.update(id, text="…")
    reply = sandbox.memo("update", id, "--content", "…")
    attempt.end(reply)        # or: attempt.acknowledged(), attempt.refused(), attempt.unknown()

`acknowledged` leaves the new alone, `refused` the old alone, and after `unknown` either may be there until a later
change of the same part is acknowledged. Whoever forgets to call one of them has said `unknown`.

Of a memory that is in files, the files decide: what a worktree has in `.memod/memories` is read from there, and the
model keeps only that it is shared, and what its history must have. So nobody tells the model of an edit, a merge or a
checkout of such a file.
"""

import dataclasses

LIVING, ARCHIVED, PURGED = "living", "archived", "purged"


@dataclasses.dataclass(frozen=True)
class Form:
    """What one memory may be: its fields, where it is, and whether files are the truth about it."""

    text: str
    title: str | None = None
    tags: frozenset = frozenset()
    priority: int = 5
    container: str = "project"
    place: str = LIVING
    shared: bool = False

    def change(self, **fields):
        return dataclasses.replace(self, **fields)


class Record:
    """One memory: the forms that it may have, one unless something was not acknowledged."""

    def __init__(self, id, forms):
        self.id, self.forms = id, set(forms)
        self.said = []  # texts that were acknowledged, in order: its history has them all
        self.ends, self.recalls, self.may_recall = False, 0, 0
        # Whether it was ever in a file, or came back from a backup: then what it was is not known from what was asked alone.
        self.was_shared, self.was_restored = False, False
        # The path that it is about, and what the file said when it was added.
        self.about, self.about_text = None, None
        self.is_imported = False
        # Somebody else decides about it (a team, a ref of notes): it may be there or not, with any text that was ever written.
        self.is_foreign = False

    @property
    def form(self):
        """The only form; none where it is not certain."""
        return next(iter(self.forms)) if len(self.forms) == 1 else None

    def is_surely(self, place, shared=False):
        return all(form.place == place and form.shared == shared for form in self.forms)

    def may_be(self, place, shared=None):
        return any(form.place == place and shared in (None, form.shared) for form in self.forms)


class Attempt:
    """A change of some memories that has begun and not ended."""

    def __init__(self, model, ids, change):
        self.model, self.ids = model, [id for id in ids if id in model.records]
        self.before = {id: set(model.records[id].forms) for id in self.ids}
        # A change gives one form, or all that may follow from it.
        self.after = {id: set().union(*(as_set(change(form)) for form in self.before[id])) for id in self.ids}
        for id in self.ids:
            self._set(id, self.before[id] | self.after[id])
            model.records[id].was_shared |= any(form.shared for form in self.after[id])
            model.texts |= {form.text for form in self.after[id]}

    def _set(self, id, forms):
        self.model.records[id].forms = set(forms)

    def acknowledged(self, memories=()):
        """It was carried out. `memories`, as an answer has them, decide where several forms were possible."""
        said = {memory["id"]: memory for memory in memories}
        for id in self.ids:
            fitting = {form for form in self.after[id] if id not in said or fits(form, said[id])}
            self._set(id, fitting or self.after[id])
            record = self.model.records[id]
            if record.form and record.form.text not in record.said[-1:]:
                record.said.append(record.form.text)
        self.model.acknowledged += 1

    def refused(self):
        """It was surely not carried out."""
        for id in self.ids:
            self._set(id, self.before[id])

    def unknown(self):
        """No answer came, or an error: it may have been carried out or not."""

    def end(self, reply):
        """Ends it by a reply of `memo`: acknowledged with exit status 0, unknown else. Returns whether it was acknowledged."""
        if reply.code or reply.error:
            self.unknown()
            return False
        answer = reply.json if isinstance(reply.json, dict) else {}
        memories = answer.get("memories") or [answer[key] for key in ("memory",) if isinstance(answer.get(key), dict)]
        self.acknowledged([memory for memory in memories if isinstance(memory, dict) and "content" in memory])
        return True


class Addition(Attempt):
    """A memory that shall be there; its id is known when it was acknowledged."""

    def __init__(self, model, form, ends=False, about=None, is_imported=False):
        super().__init__(model, [], lambda form: form)
        self.form, self.ends, self.about, self.is_imported = form, ends, about, is_imported
        model.texts.add(form.text)
        model.pending.append(form)

    def acknowledged(self, memories=()):
        for memory in memories:
            record = Record(memory["id"], [self.form])
            record.ends, record.about, record.was_shared = self.ends, self.about, self.form.shared
            record.is_imported = self.is_imported
            record.said.append(self.form.text)
            self.model.records[record.id] = record
            self.model.move_past(self.form.text, record.id)
        if self.form in self.model.pending:
            self.model.pending.remove(self.form)
        if not memories:
            self.model.without_id.append(self.form)
        self.model.acknowledged += 1

    def refused(self):
        self.model.pending.remove(self.form)


class Linking:
    """A link that shall be there, or shall not."""

    def __init__(self, model, link, comes):
        self.model, self.link, self.comes = model, link, comes
        self.before = model.links.get(link, False)
        model.links[link] = None if self.before != comes else comes

    def acknowledged(self, _=()):
        self.model.links[self.link] = self.comes
        self.model.acknowledged += 1

    def refused(self):
        self.model.links[self.link] = self.before

    def unknown(self):
        pass

    def end(self, reply):
        done = not (reply.code or reply.error)
        (self.acknowledged if done else self.unknown)()
        return done


def as_set(forms):
    return {forms} if isinstance(forms, Form) else set(forms)


RECALLS_A_PRIORITY = 10  # as in crates/memory/src/tiers.rs


def fits(form, memory):
    """Returns whether a memory of an answer has the fields of a form."""
    said = (memory["content"], memory.get("title"), frozenset(memory.get("tags", ())))
    if memory.get("container", form.container) != form.container or said != (form.text, form.title, form.tags):
        return False
    raised = memory.get("access_count", 0) // RECALLS_A_PRIORITY  # at most by one for each ten recalls
    return form.priority <= memory.get("priority", 5) <= min(10, form.priority + raised) and has_scope(form, memory)


def has_scope(form, memory):
    """Returns whether a living memory is said to be one's own alone or in a file, as it is; a team is no part of this."""
    if memory.get("archived_at") or form.place != LIVING:
        return True
    scope = "repo" if form.shared else "mine"
    return memory.get("shared", form.shared) == form.shared and memory.get("scope", scope) == scope
