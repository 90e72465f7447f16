"""The model of all memories of one repository; `memories.py` says how it is used."""

import dataclasses

from .memories import ARCHIVED, LIVING, PURGED, Addition, Attempt, Form, Linking, Record, fits


class MemoryModel:
    """What must be there, what may be there, and what must not be there any more."""

    def __init__(self):
        self.records = {}  # id: Record
        self.pending = []  # forms that were asked for and not acknowledged: one may be there under any id
        self.without_id = []  # forms that were acknowledged without an id, as by an import: one is there
        self.links = {}  # (from, kind, to): True, False, or None where either may be
        self.texts = set()  # every text that anybody asked for, also without an answer
        self.moved = {}  # text: id that the memory had before `memo resolve --both`
        self.backups = {}  # name: what was there
        self.n_recalls = 0  # of any: each may have been of a memory whose id was not known
        self.acknowledged = 0
        self.clock_was_wrong = False

    # --- what may be asked for

    def certain(self, place=LIVING, shared=False):
        """Returns ids of memories that are surely in this place: those to do something to.

        They are in the order of their first texts, which depend on the seed alone, as ids do not.
        """
        found = [one for one in self.records.values() if not one.is_foreign and one.is_surely(place, shared)]
        return [record.id for record in sorted(found, key=lambda record: (record.said[:1], record.id))]

    def form(self, id):
        """Returns the only form of a memory; none where it is not certain."""
        return self.records[id].form if id in self.records else None

    # --- changes: call before asking, and end what is returned

    def add(self, text, title=None, tags=(), priority=5, container="project", ends=False, shared=False, about=None):
        """`memo add`. End with the memory of the answer: its id is taken from there. `about` is the path that it is about."""
        return Addition(self, Form(text, title, frozenset(tags), priority, container, LIVING, shared), ends, about)

    def add_copy(self, id):
        """`memo resolve ID --both`: what is one's own gets another id, and is of whom it was before."""
        record = self.records[id]
        self.moved[record.form.text] = id
        return Addition(self, record.form, is_imported=record.is_imported or record.was_restored)

    def move_past(self, text, id):
        """Gives a memory with this text the recalls and links of the id that it had before `memo resolve --both`."""
        former = self.moved.pop(text, None)
        if former in self.records:
            was, record = self.records[former], self.records[id]
            record.recalls, record.may_recall = record.recalls + was.recalls, record.may_recall + was.may_recall
        for (first, kind, second), is_there in list(self.links.items()):
            if former in (first, second):
                link = (id if first == former else first, kind, id if second == former else second)
                self.links[link] = is_there

    def update(self, id, **fields):
        """`memo update`, `memo resolve ID --text`: `text`, `title`, `tags`, `priority`, `container`."""
        if "tags" in fields:
            fields["tags"] = frozenset(fields["tags"])
        return Attempt(self, [id], lambda form: form.change(**fields))

    def append(self, id, line):
        """`memo append`."""
        return Attempt(self, [id], lambda form: form.change(text=f"{form.text}\n{line}"))

    def tag(self, id, *tags):
        """`memo tag`."""
        return Attempt(self, [id], lambda form: form.change(tags=form.tags | frozenset(tags)))

    def untag(self, id, *tags):
        """`memo tag remove`."""
        return Attempt(self, [id], lambda form: form.change(tags=form.tags - frozenset(tags)))

    def archive(self, *ids, forms=None):
        """`memo forget` of what is in no file, or in the file of one worktree alone: `forms` by id say what that said."""
        forms = forms or {}
        return Several([
            Attempt(self, [id], lambda form, id=id: forms.get(id, form).change(place=ARCHIVED, shared=form.shared))
            for id in ids
        ])  # fmt: skip

    def restore(self, *ids):
        """`memo restore`. What came as a file, or was in one, is in a file again."""

        def living(id):
            was_shared = id in self.records and self.records[id].was_shared
            return lambda form: {form.change(place=LIVING, shared=shared) for shared in {form.shared, was_shared}}

        return Several([Attempt(self, [id], living(id)) for id in ids])

    def purge(self, *ids):
        """`memo forget purge`: no answer has it any more, nor a file of the state dir but the backups."""
        return Attempt(self, ids, lambda form: form.change(place=PURGED))

    def share(self, *ids):
        """`memo share`: from now on the files of the worktrees decide; it is seen where a file is."""
        return Attempt(self, ids, lambda form: form.change(shared=True))

    def unshare(self, *ids, forms=None):
        """`memo share remove`: it is private again. `forms` by id: what its file said right before."""
        forms = forms or {}
        return Several([Attempt(self, [id], lambda form, id=id: forms.get(id, form).change(shared=False)) for id in ids])

    def link(self, first, second, kind="related_to"):
        """`memo link`."""
        return Linking(self, (first, kind, second), True)

    def unlink(self, first, second, kind="related_to"):
        """`memo link remove`."""
        return Linking(self, (first, kind, second), False)

    def recall(self, *ids):
        """`memo recall`: ids are those that the answer names; call after it. Counts are compared with `access_count`."""
        self.n_recalls += 1
        for id in ids:
            if id in self.records:
                self.records[id].recalls += 1
                self.records[id].may_recall += 1

    def recall_unknown(self):
        """A recall without an answer: any memory may have been recalled once more."""
        self.n_recalls += 1
        for record in self.records.values():
            record.may_recall += 1

    def reset(self):
        """`memo forget reset`: nothing is there any more, in no file of this worktree either."""
        return Reset(self)

    def backup(self, name):
        """`memo backup NAME`; call when it was acknowledged. It has what is in this state now."""
        forms = {id: set(record.forms) for id, record in self.records.items()}
        self.backups[name] = Backup(forms, dict(self.links), list(self.without_id), list(self.pending))

    def restored_from_backup(self, name, in_files=()):
        """`memo backup restore NAME`: call before; what the backup has is there, and nothing else.

        Of ids that are or were `in_files` of any worktree, an edit or a removal of the file may hold.
        """
        kept = self.backups[name]
        for form in kept.forms:
            self.records.setdefault(form, Record(form, kept.forms[form]))
        return Restoration(self, kept, in_files)

    def adopt(self, memory):
        """Gives a memory that was acknowledged without an id, or not at all, the id under which it is there."""
        for forms in (self.without_id, self.pending):
            form = next((form for form in forms if fits(form, memory)), None)
            if form and memory["id"] not in self.records:
                forms.remove(form)
                for kept in self.backups.values():
                    kept.adopt(memory["id"], form)
                self.records[memory["id"]] = Record(memory["id"], [form])
                self.records[memory["id"]].said.append(form.text)
                self.records[memory["id"]].is_imported = True
                self.records[memory["id"]].may_recall = self.n_recalls
                self.move_past(form.text, memory["id"])

    # --- what is decided elsewhere

    def lose_track(self, *ids):
        """Says that something else decides about these (a team's member, an unknown merge): they may be there or not."""
        for id in ids:
            if id in self.records:
                self.records[id].is_foreign = True

    def may_come(self, text, id=None):
        """Says that somebody else wrote this text, and that it may be there now or later, or not."""
        self.texts.add(text)
        if id and id not in self.records:
            self.records[id] = Record(id, [Form(text)])
            self.records[id].is_foreign = True


@dataclasses.dataclass
class Backup:
    """What was there when a backup was made."""

    forms: dict
    links: dict
    without_id: list
    pending: list

    def adopt(self, id, form):
        """Gives a memory the id under which it is there, as it came before the backup without one."""
        for forms in (self.without_id, self.pending):
            if form in forms:
                forms.remove(form)
                self.forms[id] = {form}


class Several:
    """Some attempts that one answer ends."""

    def __init__(self, attempts):
        self.attempts = attempts

    def acknowledged(self, memories=()):
        for attempt in self.attempts:
            attempt.acknowledged(memories)

    def refused(self):
        for attempt in self.attempts:
            attempt.refused()

    def unknown(self):
        pass

    def end(self, reply):
        return all([attempt.end(reply) for attempt in self.attempts])


class Reset(Attempt):
    """The end of all memories."""

    def __init__(self, model):
        super().__init__(model, list(model.records), lambda form: form.change(place=PURGED, shared=False))
        self.without_id, model.without_id = model.without_id, []
        model.pending += self.without_id

    def acknowledged(self, memories=()):
        super().acknowledged()
        self.model.pending = []

    def refused(self):
        super().refused()
        self.model.without_id += self.without_id


class Restoration(Attempt):
    """A backup that takes the place of what is here."""

    def __init__(self, model, kept, in_files=()):
        self.kept = kept
        self.links = dict(model.links)
        super().__init__(model, list(model.records), lambda form: form)
        for id, record in model.records.items():
            self.after[id] = set(kept.forms.get(id) or {form.change(place=PURGED, shared=False) for form in record.forms})
            if id in kept.forms and id in in_files:
                there = [form for form in self.after[id] if form.place != PURGED]
                self.after[id] |= {form.change(place=place, shared=True) for form in there for place in (LIVING, ARCHIVED)}
            record.forms, record.was_restored = self.before[id] | self.after[id], True
        model.links = {link: None for link in {*model.links, *kept.links}}

    def acknowledged(self, memories=()):
        super().acknowledged()
        self.model.links = dict(self.kept.links)
        self.model.without_id, self.model.pending = list(self.kept.without_id), list(self.kept.pending)

    def refused(self):
        super().refused()
        self.model.links = self.links
