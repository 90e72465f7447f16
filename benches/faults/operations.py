"""What people and their tools do to a repository, and to memories."""

import json
import os
import shutil

import oracle

DIRS = ["", "src/", "src/core/", "docs/", "docs/guide/en/", "lib/a/b/", "out/", "data/"]
NAMES = ["alpha.md", "beta.rs", "gamma.py", "delta.txt", "eta.toml", "theta.go", "iota.md", "kappa.ts", "run.log"]
RULES = ["*.log\n", "out/\n", "*.txt\n!delta.txt\n", "/data/\n", "", "lib/**/b\n", "*.toml\n!/docs/**\n"]
TOPICS = ["topic-0", "topic-1", "topic-2"]
MAX_FILES = 250
MAX_MEMORIES = 150

TEXTS = {
    "md": "# Notes on {0}\n\nThe {1} is kept here.\n\n{2}\n",
    "rs": "/// Returns the {1}.\npub fn {0}() -> u32 {{\n    42\n}}\n\n{2}\n",
    "py": 'def {0}():\n    """Returns the {1}."""\n    return 42\n\n{2}\n',
    "go": "package a\n\n// {0} returns the {1}.\nfunc {0}() int {{ return 42 }}\n\n{2}\n",
    "ts": "/** Returns the {1}. */\nexport function {0}(): number {{ return 42 }}\n{2}\n",
}
COMMENT = {"md": "", "txt": "", "rs": "// ", "go": "// ", "ts": "// "}


def text(random, words, path):
    """Returns the text of a file, with a word of its own and one that others share."""
    ending = path.rsplit(".", 1)[-1]
    shared = f"zqshared{'abcdefghij'[random.randrange(10)]}yx"
    mark = COMMENT.get(ending, "# ")
    filler = "\n".join(f"{mark}line {n} of {random.choice('abcdefgh') * 5}" for n in range(random.choice([1, 5, 60])))
    return TEXTS.get(ending, "# {0} and {1}\n{2}\n").format(words.new(), shared, filler)


class Operations:
    """Does one thing at a time in one of the worktrees; what it does depends on the random numbers and the disk alone.

    Every operation may fail, as on a full disk; what counts is what is there afterwards.
    """

    def __init__(self, sandbox, words):
        self.sandbox, self.words = sandbox, words
        self.n_secrets = 0

    def begin(self, random):
        """Makes some branches, each with files of its own."""
        for topic in ["main", *TOPICS]:
            self.sandbox.git("switch", "-qc", topic)
            for _ in range(6):
                self.write(random, self.sandbox.repo)
            self.sandbox.git("add", "-A")
            self.sandbox.git("commit", "-qm", topic)

    def quick(self, random, root):
        """One change of one file or directory: what may happen while a search is on its way."""
        return self._do(random, root, [(self.write, 5), (self.append, 3), (self.rename, 2), (self.delete, 1)])

    def any(self, random, root):
        return self._do(random, root, [
            (self.write, 10), (self.append, 6), (self.truncate, 3), (self.copy, 1), (self.rename, 4), (self.delete, 3),
            (self.rename_directory, 3), (self.make_tree, 3), (self.remove_directory, 2), (self.edit_ignore, 2),
            (self.commit, 4), (self.switch, 5), (self.merge, 2), (self.stash, 2), (self.reset, 2), (self.worktree, 2),
        ])  # fmt: skip

    def _do(self, random, root, table):
        operations, weights = zip(*table)
        operation = random.choices(operations, weights)[0]
        try:
            return f"{root.name}: {operation.__name__} {operation(random, root)}"
        except OSError as error:
            return f"{root.name}: {operation.__name__} failed: {error}"

    def _paths(self, root):
        """Returns files and directories of a worktree, in order, without git's."""
        files, directories = [], []
        for at, below, names in os.walk(root):
            below[:] = sorted(name for name in below if name != ".git")
            inside = os.path.relpath(at, root)
            prefix = "" if inside == "." else inside + "/"
            directories += [prefix + name for name in below]
            files += [prefix + name for name in sorted(names) if name not in (".git", ".gitignore")]
        return files, directories

    def _file(self, random, root):
        files = [path for path in self._paths(root)[0] if "/.env" not in f"/{path}"]
        return random.choice(files) if files else self.write(random, root)

    def _put(self, root, path, content, over=False):
        at = root / path
        at.parent.mkdir(parents=True, exist_ok=True)
        if over:
            at.with_name("aside~").write_text(content)
            at.with_name("aside~").rename(at)
        else:
            at.write_text(content)

    # --- files

    def write(self, random, root):
        path = random.choice(DIRS) + random.choice(NAMES)
        self._put(root, path, text(random, self.words, path), over=random.random() < 0.3)
        return path

    def append(self, random, root):
        path = self._file(random, root)
        with open(root / path, "a") as file:
            file.write(f"\n{COMMENT.get(path.rsplit('.', 1)[-1], '# ')}{self.words.new()}\n")
        return path

    def truncate(self, random, root):
        path = self._file(random, root)
        size = (root / path).stat().st_size
        os.truncate(root / path, random.choice([0, size // 2, size // 3]))
        return path

    def copy(self, random, root):
        path, target = self._file(random, root), f"{random.choice(DIRS)}copy-{random.choice(NAMES)}"
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, root / target)
        return f"{path} to {target}"

    def rename(self, random, root):
        path, target = self._file(random, root), random.choice(DIRS) + random.choice(NAMES)
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        os.rename(root / path, root / target)
        return f"{path} to {target}"

    def delete(self, random, root):
        path = self._file(random, root)
        os.remove(root / path)
        return path

    def rename_directory(self, random, root):
        directories = self._paths(root)[1]
        path = random.choice(directories or ["src"])
        target = f"moved-{random.randrange(4)}"
        os.rename(root / path, root / target)
        return f"{path} to {target}"

    def make_tree(self, random, root):
        if len(self._paths(root)[0]) > MAX_FILES:
            return self.remove_directory(random, root)
        top, count = f"tree-{random.randrange(5)}", random.choice([3, 12, 40])
        for number in range(count):
            path = f"{top}/{'abc'[number % 3]}/{'de'[number % 2]}/{number}-{random.choice(NAMES)}"
            self._put(root, path, text(random, self.words, path))
        return f"{top}, {count} files"

    def remove_directory(self, random, root):
        path = random.choice(self._paths(root)[1] or ["src"])
        shutil.rmtree(root / path)
        return path

    def edit_ignore(self, random, root):
        path, rule = random.choice(["", "src/", "docs/"]) + ".gitignore", random.choice(RULES)
        self._put(root, path, rule)
        return f"{path} {rule!r}"

    def become_secret(self, random, root):
        """Makes a file in two steps; returns its path, what it has that nobody asks for, and the second step."""
        self.n_secrets += 1
        path = f"notes-{self.n_secrets}.md"
        secrets = ["".join(random.choices(oracle.LETTERS, k=20)) for _ in range(3)]
        heading, line, password = secrets
        said = f"# {self.words.new()} {heading}\n\nIt says {line}.\n\npassword: {password[:9]}7{password[9:]}\n"
        self._put(root, path, said)
        # An index of words keeps of each only what it does not share with the one before.
        return path, [secret[9:] for secret in secrets], lambda: os.rename(root / path, root / f".env.{self.n_secrets}")

    # --- git

    def commit(self, random, root):
        self.sandbox.git("add", "-A", cwd=root)
        return self.sandbox.git("commit", "-qm", f"change {random.randrange(1000)}", cwd=root)

    def switch(self, random, root):
        topic = random.choice(["main", *TOPICS])
        ways = ["checkout", "-qf"], ["switch", "-q", "--discard-changes"], ["checkout", "-qfB"]
        how = [*random.choice(ways), topic]
        return f"{' '.join(how)} {self.sandbox.git(*how, cwd=root)}"

    def merge(self, random, root):
        topic = random.choice(["main", *TOPICS])
        done = self.sandbox.git("merge", "-q", "--no-edit", topic, cwd=root)
        if not done and random.random() < 0.5:
            self.sandbox.git("merge", "--abort", cwd=root)
        return f"{topic} {done}"

    def stash(self, random, root):
        how = random.choice([["-q"], ["-qu"], ["pop", "-q"], ["drop", "-q"]])
        return f"{' '.join(how)} {self.sandbox.git('stash', *how, cwd=root)}"

    def reset(self, random, root):
        how = random.choice([["reset", "-q", "--hard"], ["reset", "-q", "--hard", "HEAD~1"], ["clean", "-qfd"]])
        return f"{' '.join(how)} {self.sandbox.git(*how, cwd=root)}"

    def worktree(self, random, root):
        """Adds a linked worktree, or removes one; not while the repository is elsewhere, which they know by its path."""
        if self.sandbox.repo.name != "repo":
            return "left alone"
        name = random.choice(["wt-a", "wt-b"])
        at = self.sandbox.top / name
        if at in self.sandbox.worktrees:
            self.sandbox.worktrees.remove(at)
            if not self.sandbox.git("worktree", "remove", "--force", at):
                shutil.rmtree(at, ignore_errors=True)
                self.sandbox.git("worktree", "prune")
            return f"remove {name}"
        done = self.sandbox.git("worktree", "add", "-qf", "--detach", at)
        if done:
            self.sandbox.worktrees = sorted([*self.sandbox.worktrees, at])
        else:
            shutil.rmtree(at, ignore_errors=True)
            self.sandbox.git("worktree", "prune")
        return f"add {name} {done}"


class MemoryVerbs:
    """Asks for changes of memories and keeps account of what was acknowledged."""

    def __init__(self, sandbox, words, memories):
        self.sandbox, self.words, self.memories = sandbox, words, memories
        self.clock_is_right = True

    def any(self, random, clock_is_right):
        """Does one; returns the reply, or none when there was nothing to do it to."""
        self.clock_is_right = clock_is_right
        verbs, weights = zip(
            (self.add, 8), (self.update, 3), (self.append, 2), (self.forget, 3),
            (self.restore, 1), (self.link, 2), (self.recall, 1), (self.import_, 1),
        )  # fmt: skip
        verb = random.choices(verbs, weights)[0]
        n_certain = len(self.memories.certain())
        if n_certain < 5:
            verb = self.add
        elif n_certain > MAX_MEMORIES:
            verb = self.forget
        return verb(random)

    def _content(self, random):
        content = f"{self.words.unasked()} holds since {random.randrange(1900, 2100)}"
        self.memories.attempted.add(content)
        return content

    def _one(self, random):
        certain = self.memories.certain()
        return random.choice(certain) if certain else None

    def add(self, random):
        content, fleeting = self._content(random), random.random() < 0.2 and self.clock_is_right
        reply = self.sandbox.memo("add", "--force", *(["--ttl", "10d"] if fleeting else []), content)
        if reply.code == 0 and not reply.error:
            self.memories.add(reply.json["memory"]["id"], content, fleeting)
        return reply

    def _change(self, id, new, *args):
        before = self.memories.living[id]
        self.memories.attempted |= new
        # Until it is acknowledged either may be there.
        self.memories.living[id] = before | new
        reply = self.sandbox.memo(*args)
        if reply.code == 0 and not reply.error:
            self.memories.living[id] = {reply.json["memory"]["content"]} & new or new
        return reply

    def update(self, random):
        id, content = self._one(random), self._content(random)
        return id and self._change(id, {content}, "update", id, "--content", content)

    def append(self, random):
        id, line = self._one(random), self._content(random)
        return id and self._change(id, {f"{old}\n{line}" for old in self.memories.living[id]}, "append", id, line)

    def forget(self, random):
        id = self._one(random)
        if not id:
            return None
        self.memories.unsure.add(id)
        reply = self.sandbox.memo("forget", id, "--yes")
        if reply.code == 0 and not reply.error:
            self.memories.unsure.discard(id)
            self.memories.forgotten.add(id)
            self._archived = (id, self.memories.living.pop(id))
        return reply

    _archived = None

    def restore(self, random):
        if not self._archived:
            return None
        (id, contents), self._archived = self._archived, None
        self.memories.forgotten.discard(id)
        self.memories.living[id] = contents
        self.memories.unsure.add(id)
        reply = self.sandbox.memo("restore", id)
        if reply.code == 0 and not reply.error:
            self.memories.unsure.discard(id)
        return reply

    def link(self, random):
        first, second = self._one(random), self._one(random)
        return first != second and self.sandbox.memo("link", first, second) or None

    def recall(self, random):
        id = self._one(random)
        return id and self.sandbox.memo("recall", sorted(self.memories.living[id])[0])

    def import_(self, random):
        contents = [self._content(random) for _ in range(3)]
        file = self.sandbox.top / "tmp/import.jsonl"
        try:
            file.write_text("".join(json.dumps({"content": content}) + "\n" for content in contents))
        except OSError:
            return None
        reply = self.sandbox.memo("import", file)
        if reply.code == 0 and not reply.error:
            self.memories.texts |= dict.fromkeys(contents)
        return reply
