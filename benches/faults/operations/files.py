"""What people and their tools do to files and directories."""

import mmap
import os
import shutil
import time

from operations import texts

RULES = ["*.log\n", "out/\n", "*.txt\n!delta.txt\n", "/data/\n", "", "lib/**/b\n", "*.toml\n!/docs/**\n"]
MAX_FILES = 250
HOUR_NS = 3_600_000_000_000
NOT_SOURCES = (".git", ".memod")


class FileOperations:
    """Each does one thing to a worktree, and returns what it was, in words."""

    def __init__(self, sandbox, words):
        self.sandbox, self.words = sandbox, words

    def quick_table(self):
        return [(self.write, 5), (self.append, 3), (self.rename, 2), (self.delete, 1)]

    def table(self):
        return [
            (self.write, 10), (self.append, 6), (self.truncate, 3), (self.copy, 1), (self.rename, 4), (self.delete, 3),
            (self.exchange, 1), (self.write_tests, 3), (self.write_mapped, 2), (self.write_linked, 1), (self.write_outside, 1),
            (self.write_with_old_times, 2), (self.set_times, 1), (self.make_link, 1),
            (self.rename_directory, 3), (self.make_tree, 2), (self.remove_directory, 2), (self.edit_ignore, 2),
        ]  # fmt: skip

    def paths(self, root):
        """Returns files and directories of a worktree, in order, without those of git and of memories."""
        files, directories = [], []
        for at, below, names in os.walk(root):
            below[:] = sorted(name for name in below if name not in NOT_SOURCES)
            inside = os.path.relpath(at, root)
            prefix = "" if inside == "." else inside + "/"
            directories += [prefix + name for name in below]
            files += [prefix + name for name in sorted(names) if name not in (".git", ".gitignore")]
        return files, directories

    def file(self, random, root):
        """Returns the path of a file; writes one where there is none."""
        files = [path for path in self.paths(root)[0] if "/.env" not in f"/{path}"]
        return random.choice(files) if files else self.write(random, root)

    def put(self, root, path, content, over=False):
        """Writes a file, in its place or over it as editors do."""
        at = root / path
        at.parent.mkdir(parents=True, exist_ok=True)
        if over:
            at.with_name("aside~").write_text(content)
            at.with_name("aside~").rename(at)
        else:
            at.write_text(content)

    def line(self, path):
        return f"\n{texts.comment(path, self.words.new())}\n"

    # --- contents

    def write(self, random, root):
        path = random.choice(texts.DIRS) + random.choice(texts.NAMES)
        self.put(root, path, texts.text(random, self.words, path), over=random.random() < 0.3)
        return path

    def write_tests(self, random, root):
        name = random.choice(sorted(texts.TESTS))
        path = random.choice(texts.DIRS) + name
        self.put(root, path, texts.tests(random, self.words, name))
        return path

    def append(self, random, root):
        path = self.file(random, root)
        with open(root / path, "a") as file:
            file.write(self.line(path))
        return path

    def truncate(self, random, root):
        path = self.file(random, root)
        size = (root / path).stat().st_size
        os.truncate(root / path, random.choice([0, size // 2, size // 3]))
        return path

    def write_mapped(self, random, root):
        """Writes through a map, and says so by the times of the file: a map alone causes no event."""
        path = self.file(random, root)
        at, content = root / path, texts.text(random, self.words, path).encode()
        before = at.stat()
        with open(at, "r+b") as file:
            file.truncate(len(content))
            with mmap.mmap(file.fileno(), len(content)) as mapped:
                mapped[:] = content
        keeps = random.random() < 0.5
        os.utime(at, ns=(before.st_atime_ns, before.st_mtime_ns if keeps else time.time_ns()))
        return f"{path}, times {'kept' if keeps else 'new'}"

    def write_linked(self, random, root):
        """Writes through one of two names of a file in the worktree."""
        path, other = self.file(random, root), f"{random.choice(texts.DIRS)}linked-{random.choice(texts.NAMES)}"
        self._link(root / path, root / other)
        with open(root / other, "a") as file:
            file.write(self.line(path))
        return f"{path} through {other}"

    def write_outside(self, random, root):
        """Writes through a name outside of the worktree, of which only `--sync strict` may know."""
        # Each has a name of its own: to remove one that was there would change what it named.
        path, outside = self.file(random, root), self.sandbox.top / f"tmp/outside-{len(self.sandbox.unseen)}"
        self._link(root / path, outside)
        with open(outside, "a") as file:
            file.write(self.line(path))
        self.sandbox.note_unseen(root / path)
        return path

    def _link(self, path, other):
        other.parent.mkdir(parents=True, exist_ok=True)
        other.unlink(missing_ok=True)
        os.link(path, other)

    def make_link(self, random, root):
        """Makes a symbolic link, which is no file that counts."""
        path, other = self.file(random, root), f"{random.choice(texts.DIRS)}sym-{random.choice(texts.NAMES)}"
        (root / other).parent.mkdir(parents=True, exist_ok=True)
        (root / other).unlink(missing_ok=True)
        os.symlink(root / path, root / other)
        return f"{other} to {path}"

    # --- times

    def write_with_old_times(self, random, root):
        """Writes as much as was there, and puts the times back, as `rsync -t` and archives do."""
        path = self.file(random, root)
        at = root / path
        before, word = at.stat(), self.words.new()
        old = at.read_bytes()
        new = texts.comment(path, word).encode() + b"\n"
        at.write_bytes(new + old[len(new) :] if len(old) > len(new) else new)
        os.utime(at, ns=(before.st_atime_ns, before.st_mtime_ns))
        return f"{path}, {before.st_size} to {at.stat().st_size} bytes"

    def set_times(self, random, root):
        path, hours = self.file(random, root), random.choice([-10_000, -1, 1, 10_000])
        now = (root / path).stat().st_mtime_ns
        os.utime(root / path, ns=(now, now + hours * HOUR_NS))
        return f"{path} {hours:+} h"

    # --- names

    def copy(self, random, root):
        path, target = self.file(random, root), f"{random.choice(texts.DIRS)}copy-{random.choice(texts.NAMES)}"
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, root / target)
        return f"{path} to {target}"

    def rename(self, random, root):
        path, target = self.file(random, root), random.choice(texts.DIRS) + random.choice(texts.NAMES)
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        os.rename(root / path, root / target)
        return f"{path} to {target}"

    def exchange(self, random, root):
        """Gives two files each other's name."""
        first, second = self.file(random, root), self.file(random, root)
        os.rename(root / first, root / "aside~")
        if first != second:
            os.rename(root / second, root / first)
        os.rename(root / "aside~", root / second)
        return f"{first} and {second}"

    def delete(self, random, root):
        path = self.file(random, root)
        os.remove(root / path)
        return path

    # --- directories

    def rename_directory(self, random, root):
        path = random.choice(self.paths(root)[1] or ["src"])
        target = f"moved-{random.randrange(4)}"
        os.rename(root / path, root / target)
        return f"{path} to {target}"

    def make_tree(self, random, root):
        if len(self.paths(root)[0]) > MAX_FILES:
            return self.remove_directory(random, root)
        top, count = f"tree-{random.randrange(5)}", random.choice([3, 12, 40])
        for number in range(count):
            path = f"{top}/{'abc'[number % 3]}/{'de'[number % 2]}/{number}-{random.choice(texts.NAMES)}"
            self.put(root, path, texts.text(random, self.words, path))
        return f"{top}, {count} files"

    def remove_directory(self, random, root):
        path = random.choice(self.paths(root)[1] or ["src"])
        shutil.rmtree(root / path)
        return path

    def edit_ignore(self, random, root):
        path, rule = random.choice(["", "src/", "docs/"]) + ".gitignore", random.choice(RULES)
        self.put(root, path, rule)
        return f"{path} {rule!r}"
