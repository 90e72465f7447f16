"""What people and their tools do to a repository and to memories, one thing at a time.

What is done depends on the random numbers and on the disk alone. Each may fail, as on a full disk; what counts is what is
there afterwards, and what was acknowledged.
"""

import os

from operations.files import FileOperations
from operations.git import GitOperations
from operations.memories import MemoryVerbs
from operations.keeping import KeepingVerbs
from operations.neighbours import Neighbours
from operations.shared import SharedFiles, SharingVerbs

LETTERS = "bcdfghjklmnpqrst"
MAX_MEMORIES = 150


class Operations:
    """All that is done, by kind."""

    def __init__(self, sandbox, words, model, seen):
        self.sandbox, self.words, self.model = sandbox, words, model
        self.files = FileOperations(sandbox, words)
        self.git = GitOperations(sandbox, words, self.files)
        self.shared = SharedFiles(sandbox, words, model)
        self.memories = MemoryVerbs(sandbox, words, model, self.files)
        self.sharing = SharingVerbs(sandbox, words, model, self.shared)
        self.keeping = KeepingVerbs(sandbox, words, model, seen)
        self.neighbours = Neighbours(sandbox, words)
        self.n_secrets = 0

    def begin(self, random):
        self.git.begin(random)

    def quick(self, random, root):
        """Changes one file or directory: what may happen while a question is on its way."""
        return self._do(random, root, self.files.quick_table())

    def any(self, random, root):
        return self._do(random, root, [*self.files.table(), *self.git.table(), *self.shared.table()])

    def _do(self, random, root, table):
        operation = choose(random, table)
        try:
            return f"{root.name}: {operation.__name__} {operation(random, root)}"
        except OSError as error:
            return f"{root.name}: {operation.__name__} failed: {error}"

    def change_memory(self, random, root):
        """Has a verb change memories; returns its reply, or none when there was nothing to change."""
        n_certain = len(self.model.certain())
        if n_certain < 5:
            return self.memories.add(random, root)
        if n_certain > MAX_MEMORIES:
            return self.memories.forget(random, root)
        return choose(random, [*self.memories.table(), *self.sharing.table(), *self.keeping.table()])(random, root)

    def meet(self, random):
        """Has others exchange memories, by notes or a team; returns what was done, and what is wrong."""
        return self.neighbours.any(random)

    def become_secret(self, random, root):
        """Makes a file in two steps; returns its path, what it has that nobody asks for, and the second step."""
        self.n_secrets += 1
        path = f"notes-{self.n_secrets}.md"
        secrets = ["".join(random.choices(LETTERS, k=20)) for _ in range(3)]
        heading, line, password = secrets
        said = f"# {self.words.new()} {heading}\n\nIt says {line}.\n\npassword: {password[:9]}7{password[9:]}\n"
        self.files.put(root, path, said)
        # An index of words keeps of each only what it does not share with the one before.
        return path, [secret[9:] for secret in secrets], lambda: os.rename(root / path, root / f".env.{self.n_secrets}")


def choose(random, table):
    operations, weights = zip(*table)
    return random.choices(operations, weights)[0]
