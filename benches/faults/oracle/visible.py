"""Which memories a worktree must show, may show and must not show, by the model and by its memory files."""

import dataclasses

from . import memory_files
from .memories import ARCHIVED, LIVING, Form


@dataclasses.dataclass
class Expected:
    """What is expected of one memory in one worktree."""

    id: str
    # Each of these has to be shown, in one of its forms; more than one where two sides are in conflict.
    must: list
    # Whatever is shown must be one of these.
    may: set
    # Whose it is said to be: by `shared`, where that is sure.
    trust: dict = dataclasses.field(default_factory=dict, init=False)

    @property
    def must_not(self):
        return not self.may


class Seen:
    """Texts that were ever in a file of a memory, of which an answer that does not say fresh may show one."""

    def __init__(self):
        self.forms = {}

    def add(self, snapshot):
        self.add_files(snapshot.memory_files)

    def add_files(self, files):
        for id, said in files.items():
            self.forms.setdefault(id, set()).update(forms_of_file(said))

    def of(self, id):
        return self.forms.get(id, set())


def forms_of_file(said):
    """Returns a form for each side of a file."""
    if not isinstance(said, list):
        return set()
    return {Form(one.text, one.title, one.tags, one.priority, one.container, LIVING, True) for one in said}


def expect(model, before, after, seen, is_fresh, clock_is_right=True):
    """Returns by id what is expected of all memories that the model or a file knows."""
    ids = {*model.records, *before.memory_files, *after.memory_files}
    ids |= set() if is_fresh else set(seen.forms)
    found = {id: expect_one(model.records.get(id), id, before, after) for id in ids}
    for id, expected in found.items():
        record = model.records.get(id)
        expected.trust = trust_of(record, after.memory_files.get(id), seen.of(id))
        if not is_fresh:
            expected.may |= seen.of(id) | {form for form in record.forms if form.place == LIVING} if record else seen.of(id)
            expected.must = [forms for forms in expected.must if not any(form.shared for form in forms)]
        if record and record.ends and not clock_is_right:
            expected.must = []
    return found


def expect_one(record, id, before, after):
    was, now = before.memory_files.get(id), after.memory_files.get(id)
    private = {form for form in record.forms if form.place == LIVING and not form.shared} if record else set()
    of_file = forms_of_file(was) | forms_of_file(now)
    must = []
    if record and not record.is_foreign and record.forms == private:
        must.append(private)
    if was is not None or now is not None:
        if isinstance(was, memory_files.Unreadable) or isinstance(now, memory_files.Unreadable):
            return unreadable(record, id, was, now, private, of_file, must)
        if was == now and private and len(of_file) > 1:
            # The product says that the merge has to end before the file of one's own memory is read.
            return Expected(id, must, private | of_file)
        if was == now:
            # One of two that say the same is enough: that of the file, unless the other one was taken back from files.
            is_same = len(of_file) == 1 and is_same_as_file(private, of_file)
            must = [*([] if is_same else must), *({form} for form in of_file)]
            must = [private | of_file] if is_same and record.was_shared else must
        return Expected(id, must, private | of_file)
    if record and record.is_foreign:
        private |= {form for form in record.forms if form.place == LIVING}
    return Expected(id, must, private)


def trust_of(record, said, had_file):
    """Returns the trust by `shared`: what a stranger's file says is never one's own, and what was typed here always is."""
    trust = {}
    if not record or not record.was_shared:
        authors = {one.author for one in said} if isinstance(said, list) else set()
        if authors and all(author.startswith(STRANGER) for author in authors):
            trust[True] = "repo"
    if record and not (record.was_shared or had_file or record.is_imported or record.is_foreign or record.was_restored):
        trust[False] = "own"
    return trust


def is_same_as_file(forms, of_file):
    """Returns whether a private memory says what its file says, so that one of them is enough."""
    return any(form.text == other.text for form in forms if not form.shared for other in of_file)


def unreadable(record, id, was, now, private, of_file, must):
    """A file that is no memory changes nothing of what is one's own; of what is shared nobody but the product knows."""
    is_sure = was == now and was.is_sure
    known = {form for form in record.forms if form.place == LIVING} if record else set()
    return Expected(id, must, private | (set() if is_sure and not known else known | of_file | {ANYTHING}))


ANYTHING = Form("*")
# The author of the files that strangers have written.
STRANGER = "Mallory"


def expect_archived(model, snapshots, seen):
    """Returns ids that must be in the archive, and those that may be: also what was in a file, which may be gone since."""
    in_files = {id for snapshot in snapshots for id in snapshot.memory_files}
    must, may = set(), set()
    for id, record in model.records.items():
        is_surely = record.is_surely(ARCHIVED) or record.is_surely(ARCHIVED, True)
        if is_surely and not record.is_foreign and id not in in_files:
            must.add(id)
        if record.may_be(ARCHIVED) or record.is_foreign or record.may_be(LIVING, shared=True) or record.ends:
            may.add(id)
    return must, may | in_files | set(seen.forms)
