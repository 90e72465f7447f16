"""Verbs about all memories at once: export, backup, restore-backup, reset."""

import soundness


class KeepingVerbs:
    """Each returns the reply of what it has asked for."""

    def __init__(self, sandbox, words, model):
        self.sandbox, self.words, self.model = sandbox, words, model
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
        attempt = self.model.restored_from_backup(str(path))
        reply = self.sandbox.memo("restore-backup", path, "--yes", cwd=root)
        attempt.end(reply)
        return reply

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
