"""Reads what an answer is compared with: the files of a worktree that count, its memory files and its HEAD."""

import os
import re
import stat

from . import memory_files

WORDS = re.compile(r"[a-z]+")
# Larger ones are not indexed, by default.
MAX_BYTES = 1 << 20


class File:
    """One file that counts: what it says, and what changes when it is touched."""

    def __init__(self, signature, text):
        self.signature, self.text = signature, text
        self.lines = text.split("\n")
        self.words = set(WORDS.findall(text.lower()))

    @property
    def n_lines(self):
        """Returns the number of lines as an editor counts them."""
        return len(self.lines) - (self.lines[-1] == "" and len(self.lines) > 1)

    def line(self, number):
        """Returns a line by its number, 1-based; none where there is no such line."""
        return self.lines[number - 1].rstrip("\r") if 1 <= number <= len(self.lines) else None


class Snapshot:
    """What a worktree has at one moment."""

    def __init__(self, root, files, memory_files, head, unseen):
        # `files` is none when git cannot say, as with a repository that is half there.
        self.root, self.files, self.memory_files, self.head = root, files, memory_files, head
        # Paths of files that were written without an event: only a look at all files finds them.
        self.unseen = unseen


class Disk:
    """Reads what counts in a worktree: what git lists and does not name a secret."""

    def __init__(self, sandbox):
        self.sandbox, self._known = sandbox, {}

    def snapshot(self, root):
        head = self.sandbox.run("git", "rev-parse", "-q", "--verify", "HEAD", cwd=root).stdout.strip()
        files = self.files(root)
        unseen = {path for path in files or () if self.sandbox.unseen and self.sandbox.is_unseen(os.path.join(root, path))}
        return Snapshot(root, files, memory_files.read(root), head or None, unseen)

    def files(self, root):
        """Returns the files that count by path; none when git cannot say."""
        listed = self.sandbox.run("git", "ls-files", "-z", "-co", "--exclude-standard", cwd=root)
        if listed.returncode:
            return None
        found = {}
        for path in sorted(set(listed.stdout.split("\0")) - {""}):
            file = self.read(root, path)
            if file:
                found[path] = file
        return found

    def read(self, root, path):
        """Returns a file, whether git lists it or not; none where it may not be read or is not there."""
        if is_secret(path) or path.startswith(memory_files.FOLDER + "/"):
            return None
        at = os.path.join(root, path)
        try:
            found = os.lstat(at)
            if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
                return None
            signature = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            known = self._known.get(at)
            # A change by a mapping or within a tick of the clock may leave all times as they were, so it is read again.
            with open(at, "rb") as opened:
                data = opened.read()
            if not known or known.signature != signature or known.data != data:
                known = self._known[at] = File(signature, data.decode("utf-8", "replace"))
                known.data = data
        except OSError:
            return None  # git lists what is gone and was not removed from its index
        return None if "\0" in known.text[:8192] else known


def is_secret(path):
    return any(part.startswith(".env") for part in path.split("/")) or path.endswith(".pem")


def forms_of(path, *snapshots):
    """Returns the forms that a file had when it was asked for and when the answer came."""
    forms = []
    for snapshot in snapshots:
        file = (snapshot.files or {}).get(path)
        if file and file not in forms:
            forms.append(file)
    return forms


def steady(before, after, level="fs"):
    """Returns the files that were the same when it was asked for and when the answer came, of those that the level promises."""
    return {
        path: file for path, file in (before.files or {}).items()
        if (level == "strict" or path not in before.unseen) and after.files and after.files.get(path) and after.files[path].text == file.text
    }  # fmt: skip


def leaks(directory, secrets):
    """Returns where a secret stands in the files below a directory."""
    found = []
    for path in sorted(directory.rglob("*")):
        try:
            data = path.read_bytes() if path.is_file() else b""
        except OSError:
            continue  # a cookie that came and went
        found += [f"{secret} stands in {path}" for secret in secrets if secret.encode() in data]
    return found
