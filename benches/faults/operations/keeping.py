"""Verbs about all memories at once: export, backup, restore-backup, reset."""

import json

import soundness
from oracle import PURGED, memory_files


class KeepingVerbs:
    """Each returns the reply of what it has asked for."""

    def __init__(self, sandbox, words, model, seen):
        self.sandbox, self.words, self.model, self.seen = sandbox, words, model, seen
        self.backups = []  # paths of backups that were acknowledged, oldest first

    def table(self):
        return [(self.backup, 1), (self.restore_backup, 0.7), (self.reset_and_restore, 0.3), (self.reset, 0.1), (self.import_own, 0.7)]

    def backup(self, random, root):
        path = self.sandbox.top / f"tmp/backup-{len(self.backups)}.db"
        path.unlink(missing_ok=True)
        reply = self.sandbox.memo("backup", path, cwd=root)
        if reply.is_done:
            self.model.backup(str(path))
            self.backups.append(path)
            found = soundness.damage(path, self.sandbox.top / "tmp/copy.db")
            reply.wrong = f"LOST: a backup of which it holds that {found[0]}" if found else None
        return reply

    def restore_backup(self, random, root):
        """Puts one of the last backups in place of what is here."""
        if not self.backups:
            return None
        return self._restore(random.choice(self.backups[-3:]), root)

    def _restore(self, path, root):
        for other in [*self.sandbox.roots, self.sandbox.top / "away"]:
            self.seen.add_files(memory_files.read(other))
        attempt = self.model.restored_from_backup(str(path), self.seen.forms)
        reply = self.sandbox.memo("restore-backup", path, "--yes", cwd=root)
        if attempt.end(reply):
            reply.wrong = self._lacks(self.model.backups[str(path)], root)
        return reply

    def _lacks(self, kept, root):
        """Returns what a backup has that is nowhere now: where a file decides, its text is at least in the history."""
        exported, texts = self.sandbox.memo("export", "--archived", cwd=root, form="text"), {}
        if exported.code:
            return None
        for memory in [entry["memory"] for entry in map(json.loads, exported.out.splitlines()) if "memory" in entry]:
            texts.setdefault(memory["id"], []).append(memory["content"])
        for id, forms in sorted(kept.forms.items()):
            form = next(iter(forms)) if len(forms) == 1 else None
            if not form or form.place == PURGED or self.model.records[id].is_foreign:
                continue
            if id not in texts:
                return f"LOST: {id}, which the backup has as {form.text!r}, is not exported"
            if not form.shared and form.text not in texts[id] and not self._has_said(id, form.text, root):
                return f"LOST: neither {texts[id]} nor the history of {id} is what the backup has: {form.text!r}"
        return None

    def _has_said(self, id, text, root):
        return json.dumps(text)[1:-1] in self.sandbox.memo("history", id, cwd=root).out

    def reset(self, random, root):
        """Deletes all; returns the reply, and takes the backup of it as one that may be restored."""
        self.model.backup("reset")
        attempt = self.model.reset()
        reply = self.sandbox.memo("reset", "--yes", cwd=root)
        attempt.end(reply)
        kept = reply.is_done and reply.json.get("backup")
        if kept:
            self.model.backups[kept] = self.model.backups["reset"]
            self.backups.append(kept)
        return reply

    def reset_and_restore(self, random, root):
        """Deletes all, and takes it back at once."""
        reply = self.reset(random, root)
        if not reply.is_done or not reply.json.get("backup"):
            return reply
        return self._restore(self.backups[-1], root)

    def import_own(self, random, root):
        """Exports all and imports it again: nothing may change by that."""
        file = self.sandbox.top / "tmp/all.jsonl"
        exported = self.sandbox.memo("export", "--out", file, "--force", cwd=root)
        if not exported.is_done:
            return exported
        return self.sandbox.memo("import", "--own", file, cwd=root)
