"""Memories in files: shared and taken back, edited by hand, in conflict with what is one's own."""

from operations import texts
from oracle import Form, memory_files

DIRECTORY = ".memod/memories"
FOREIGN = "---\ntier: long\nauthor: Mallory <m@example.org>\ncreated: 2026-10-20T08:00:00Z\n---\n\n{}\n"


def split(text):
    """Returns front matter and text of a file; none where it has not that form."""
    parts = text.split("---\n", 2)
    return (f"---\n{parts[1]}---\n", parts[2].lstrip("\n")) if len(parts) == 3 and not parts[0] else None


class SharedFiles:
    """Each does to files of memories what people, editors and strangers do; the model learns what it may meet."""

    def __init__(self, sandbox, words, model):
        self.sandbox, self.words, self.model = sandbox, words, model

    def table(self):
        return [(self.edit, 4), (self.remove, 1), (self.write_hostile, 1), (self.write_stranger, 1), (self.write_no_memory, 1)]

    def files(self, root):
        """Returns the files of a worktree that have the name of a memory, in order."""
        return sorted(path for path in (root / DIRECTORY).glob("mem_*.md") if memory_files.NAME.fullmatch(path.name))

    def roots_with(self, id):
        return [root for root in self.sandbox.roots if (root / DIRECTORY / f"{id}.md").exists()]

    def _put(self, random, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        if random.random() < 0.5:
            path.write_text(text)
        else:
            path.with_name("aside~").write_text(text)
            path.with_name("aside~").rename(path)

    def edit(self, random, root):
        """Changes the text of a file, or its first line of text as somebody else would do it on another branch."""
        files = self.files(root)
        path = random.choice(files) if files else None
        parts = path and split(path.read_text())
        if not parts or "<<<<<<<" in parts[1]:
            return "nothing"
        said = texts.memory_text(random, self.words)
        text = f"{parts[1]}{said}\n" if random.random() < 0.5 else f"{said}\n{parts[1].partition(chr(10))[2]}"
        self.model.may_come(text.strip("\n"))
        self._put(random, path, parts[0] + "\n" + text)
        return path.name

    def remove(self, random, root):
        files = self.files(root)
        if not files:
            return "nothing"
        path = random.choice(files)
        path.unlink()
        return path.name

    def write_hostile(self, random, root):
        """Writes a file under the id of a memory that is in no file: both texts must stay."""
        certain = self.model.certain()
        if not certain:
            return "nothing"
        id, said = random.choice(certain), texts.memory_text(random, self.words)
        self.model.may_come(said)
        self._put(random, root / DIRECTORY / f"{id}.md", FOREIGN.format(said))
        return f"{id} by a stranger"

    def write_stranger(self, random, root):
        """Writes a memory that somebody else has made."""
        said = texts.memory_text(random, self.words)
        id = "mem_01" + "".join(random.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=24))
        self.model.may_come(said)
        self._put(random, root / DIRECTORY / f"{id}.md", FOREIGN.format(said))
        return id

    def write_no_memory(self, random, root):
        """Writes what has the place of a memory and is none."""
        name, text = random.choice([
            ("README.md", "These are memories.\n"), ("mem_0.md", FOREIGN.format("short")), ("notes.txt", "no front matter\n"),
        ])  # fmt: skip
        self._put(random, root / DIRECTORY / name, text)
        return name


class SharingVerbs:
    """Each has a verb write, change or remove files of memories, and returns its reply."""

    def __init__(self, sandbox, words, model, files):
        self.sandbox, self.words, self.model, self.files = sandbox, words, model, files

    def table(self):
        return [(self.share, 4), (self.unshare, 1), (self.update, 2), (self.forget, 1), (self.resolve, 2)]

    def _change(self, root, attempt, *args):
        reply = self.sandbox.memo(*args, cwd=root)
        attempt.end(reply)
        return reply

    def _shared_here(self, random, root):
        """Returns a memory that is surely shared, and whose file is in this worktree alone."""
        here = [id for id in self.model.certain(shared=True) if self.files.roots_with(id) == [root]]
        return random.choice(here) if here and not self._is_one_away() else None

    def _is_one_away(self):
        return (self.sandbox.top / "away").exists()

    def share(self, random, root):
        certain = [id for id in self.model.certain() if not self.files.roots_with(id)]
        if not certain:
            return None
        ids = random.sample(certain, min(len(certain), random.choice([1, 1, 3])))
        reply = self._change(root, self.model.share(*ids), "share", *ids)
        for id in ids if reply.is_done else []:
            self._compare(reply, root, id)
        return reply

    def _compare(self, reply, root, id):
        """Notes what is wrong with the file that a verb has just written."""
        said, form = self._said(root, id), self.model.form(id)
        if form and (not said or (said.text, said.tags) != (form.text, form.tags)):
            reply.wrong = f"LOST: the file of {id} says {said}, and it was shared as {form}"

    def unshare(self, random, root):
        id = self._shared_here(random, root)
        form = id and self._said(root, id)
        return self._change(root, self.model.unshare(id, forms={id: form}), "unshare", id) if form else None

    def _said(self, root, id):
        """Returns what the file of a memory says; none where that is not one thing."""
        said = memory_files.read(root).get(id)
        if not isinstance(said, list) or len(said) != 1:
            return None
        return Form(said[0].text, said[0].title, said[0].tags, said[0].priority, said[0].container, shared=True)

    def update(self, random, root):
        """Changes a shared memory by the verb, in a worktree that has its file."""
        id, text = self._shared_here(random, root), texts.memory_text(random, self.words)
        return id and self._change(root, self.model.update(id, text=text), "update", id, "--content", text)

    def forget(self, random, root):
        id = self._shared_here(random, root)
        form = id and self._said(root, id)
        return self._change(root, self.model.archive(id, forms={id: form}), "forget", id, "--yes") if form else None

    def resolve(self, random, root):
        """Ends a conflict between what is one's own and a file."""
        own = [id for id in self.model.certain() if self.files.roots_with(id) == [root]]
        if not own or self._is_one_away():
            return None
        id, how = random.choice(own), random.choice(["--ours", "--theirs", "--both"])
        form = self.model.form(id)
        if not form:
            return None
        # First the copy: while the share is not acknowledged, what the memory says is not certain.
        attempts = [self.model.add_copy(id)] if how == "--both" else []
        attempts.append(self.model.share(id))
        reply = self.sandbox.memo("resolve", id, how, cwd=root)
        for attempt in attempts:
            attempt.end(reply)
        return reply
