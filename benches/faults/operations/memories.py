"""Verbs that add, change, link, forget and delete memories."""

import json

from operations import texts
from oracle import ARCHIVED

KINDS = ["related_to", "related_to", "supersedes", "contradicts", "derived_from"]


class MemoryVerbs:
    """Each asks for one change of a memory that is in no file, and tells the model what was acknowledged.

    Each returns the reply, or none when there was nothing to do it to.
    """

    def __init__(self, sandbox, words, model, files):
        self.sandbox, self.words, self.model, self.files = sandbox, words, model, files
        # An end is not tried out while the clock is wrong.
        self.clock_is_right = True

    def table(self):
        return [
            (self.add, 8), (self.add_about, 2), (self.update, 4), (self.append, 2), (self.tag, 2), (self.untag, 1), (self.link, 3),
            (self.unlink, 1), (self.forget, 3), (self.restore, 2), (self.purge, 2), (self.recall, 1), (self.import_lines, 1),
        ]  # fmt: skip

    def one(self, random, place=None):
        certain = self.model.certain(place) if place else self.model.certain()
        return random.choice(certain) if certain else None

    def text(self, random):
        return texts.memory_text(random, self.words)

    # --- more memories

    def _fields(self, random):
        """Returns fields as the model has them, and as `memo` takes them."""
        fields, flags = {}, []
        if random.random() < 0.4:
            fields["title"] = f"On {self.words.unasked()}"
            flags += ["--title", fields["title"]]
        if random.random() < 0.4:
            fields["priority"] = random.randrange(1, 11)
            flags += ["--priority", fields["priority"]]
        return fields, flags

    def add(self, random, root, about=None):
        text, tags, (fields, flags) = self.text(random), texts.some_tags(random), self._fields(random)
        ends = random.random() < 0.15 and self.clock_is_right
        flags += ["--ttl", "10d"] if ends else []
        flags += ["--tag", ",".join(tags)] if tags else []
        flags += ["--about", about] if about else []
        attempt = self.model.add(text, tags=tags, ends=ends, **({"about": about} if about else {}), **fields)
        reply = self.sandbox.memo("add", "--force", *flags, text, cwd=root)
        attempt.end(reply)
        return reply

    def add_about(self, random, root):
        """Adds a memory about a file, as git lists it."""
        listed = self.sandbox.run("git", "ls-files", "-z", "-co", "--exclude-standard", "--", ":!.memod", cwd=root).stdout
        paths = [path for path in sorted(set(listed.split("\0")) - {""}) if is_code(root / path)]
        return self.add(random, root, about=random.choice(paths) if paths else None)

    def import_lines(self, random, root):
        """Imports texts that have no ids yet."""
        said = [self.text(random) for _ in range(3)]
        file = self.sandbox.top / "tmp/import.jsonl"
        try:
            file.write_text("".join(json.dumps({"content": text}) + "\n" for text in said))
        except OSError:
            return None
        attempts = [self.model.add(text) for text in said]
        reply = self.sandbox.memo("import", file, cwd=root)
        for attempt in attempts if reply.is_done else []:
            attempt.acknowledged()
        return reply

    # --- other fields

    def _change(self, root, attempt, *args):
        reply = self.sandbox.memo(*args, cwd=root)
        attempt.end(reply)
        return reply

    def update(self, random, root):
        id, fields, flags = self.one(random), {}, []
        if not id:
            return None
        if random.random() < 0.7:
            fields["text"] = self.text(random)
            flags += ["--content", fields["text"]]
        more, more_flags = self._fields(random)
        if not fields and not more:
            more, more_flags = {"priority": 9}, ["--priority", 9]
        return self._change(root, self.model.update(id, **fields, **more), "update", id, *flags, *more_flags)

    def append(self, random, root):
        id, line = self.one(random), self.text(random)
        return id and self._change(root, self.model.append(id, line), "append", id, line)

    def tag(self, random, root):
        id, tag = self.one(random), random.choice(texts.TAGS)
        return id and self._change(root, self.model.tag(id, tag), "tag", id, tag)

    def untag(self, random, root):
        tagged = [id for id in self.model.certain() if self.model.form(id) and self.model.form(id).tags]
        if not tagged:
            return None
        id = random.choice(tagged)
        tag = random.choice(sorted(self.model.form(id).tags))
        return self._change(root, self.model.untag(id, tag), "untag", id, tag)

    # --- links

    def link(self, random, root):
        certain, kind = self.model.certain(), random.choice(KINDS)
        if len(certain) < 2:
            return None
        # The older one never supersedes the newer one, so that there is no circle.
        second, first = sorted(random.sample(certain, 2))
        return self._change(root, self.model.link(first, second, kind), "link", first, second, "--kind", kind)

    def unlink(self, random, root):
        living = set(self.model.certain())
        there = [link for link, is_there in self.model.links.items() if is_there and {link[0], link[2]} <= living]
        if not there:
            return None
        first, kind, second = random.choice(sorted(there))
        return self._change(root, self.model.unlink(first, second, kind), "unlink", first, second, "--kind", kind)

    # --- fewer memories

    def forget(self, random, root):
        id = self.one(random)
        return id and self._change(root, self.model.archive(id), "forget", id, "--yes")

    def restore(self, random, root):
        id = self.one(random, ARCHIVED)
        return id and self._change(root, self.model.restore(id), "restore", id)

    def purge(self, random, root):
        id = self.one(random, ARCHIVED)
        return id and self._change(root, self.model.purge(id), "purge", id, "--yes")

    # --- reading that counts

    def recall(self, random, root):
        id = self.one(random)
        if not id or not self.model.form(id):
            return None
        reply = self.sandbox.memo("recall", self.model.form(id).text.split(" ")[0], cwd=root)
        if not reply.is_done:
            self.model.recall_unknown()
            return reply
        found = [memory["id"] for memory in reply.json["memories"]]
        self.model.recall(*(memory["id"] for memory in reply.json["memories"] if memory.get("changed")))
        if id not in found and not self.model.records[id].ends:
            reply.wrong = f"LOST: {id} is not recalled by a word of its own"
        return reply


def is_code(path):
    """Returns whether a file is there, is none of git's links, and has a language."""
    return path.suffix in (".md", ".rs", ".py", ".go", ".ts") and path.is_file() and not path.is_symlink()
