"""What people do with git: commits, branches, merges, rebases, stashes, worktrees."""

import shutil

from operations import texts

TOPICS = ["topic-0", "topic-1", "topic-2"]
BRANCHES = ["main", *TOPICS]
WORKTREES = ["wt-a", "wt-b"]


class GitOperations:
    """Each does one thing, which may fail, as a merge with conflicts; it returns what it was, in words."""

    def __init__(self, sandbox, words, files):
        self.sandbox, self.words, self.files = sandbox, words, files

    def table(self):
        return [
            (self.commit, 5), (self.commit_renamed, 1), (self.amend, 1), (self.switch, 5), (self.merge, 2), (self.rebase, 1),
            (self.cherry_pick, 1), (self.stash, 2), (self.reset, 2), (self.clean, 1), (self.restore, 1),
            (self.worktree, 3), (self.move_worktree, 1), (self.sparse, 1), (self.pack, 1),
        ]  # fmt: skip

    def begin(self, random):
        """Makes some branches, each with files of its own."""
        for branch in BRANCHES:
            self.sandbox.git("switch", "-qc", branch)
            for _ in range(6):
                self.files.write(random, self.sandbox.repo)
            self.files.write_tests(random, self.sandbox.repo)
            self.sandbox.git("add", "-A")
            self.sandbox.git("commit", "-qm", branch)

    def _git(self, root, *args):
        """Runs git; returns the command and whether it worked."""
        return f"{' '.join(map(str, args))} {self.sandbox.git(*args, cwd=root)}"

    # --- commits

    def commit(self, random, root):
        self.sandbox.git("add", "-A", cwd=root)
        return self._git(root, "commit", "-q", *texts.commit_message(random, self.words))

    def commit_renamed(self, random, root):
        """Commits a file under a new name and nothing else of what is changed."""
        path, target = self.files.file(random, root), f"{random.choice(texts.DIRS)}renamed-{random.choice(texts.NAMES)}"
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        moved = self._git(root, "mv", "-f", path, target)
        return f"{moved}; {self._git(root, 'commit', '-q', *texts.commit_message(random, self.words))}"

    def amend(self, random, root):
        self.sandbox.git("add", "-A", cwd=root)
        return self._git(root, "commit", "-q", "--amend", *texts.commit_message(random, self.words))

    # --- branches

    def switch(self, random, root):
        ways = ["checkout", "-qf"], ["switch", "-q", "--discard-changes"], ["checkout", "-qfB"], ["checkout", "-q", "-f", "--detach"]
        return self._git(root, *random.choice(ways), random.choice(BRANCHES))

    def merge(self, random, root):
        done = self._git(root, "merge", "-q", "--no-edit", random.choice(BRANCHES))
        return done + self._leave(random, root, "merge", done)

    def rebase(self, random, root):
        done = self._git(root, "rebase", "-q", "--autostash", random.choice(BRANCHES))
        return done + self._leave(random, root, "rebase", done)

    def cherry_pick(self, random, root):
        done = self._git(root, "cherry-pick", "--allow-empty", random.choice(BRANCHES))
        return done + self._leave(random, root, "cherry-pick", done)

    def _leave(self, random, root, verb, done):
        """Takes back what has conflicts, or leaves them for a while."""
        if done.endswith("True") or random.random() < 0.4:
            return ""
        return f"; {self._git(root, verb, '--abort')}"

    # --- what is changed

    def stash(self, random, root):
        return self._git(root, "stash", *random.choice([["-q"], ["-qu"], ["pop", "-q"], ["drop", "-q"]]))

    def reset(self, random, root):
        return self._git(root, "reset", "-q", *random.choice([["--hard"], ["--hard", "HEAD~1"], ["--soft", "HEAD~1"], []]))

    def clean(self, random, root):
        return self._git(root, "clean", random.choice(["-qfd", "-qfdx", "-qf"]))

    def restore(self, random, root):
        return self._git(root, "restore", "--source", random.choice(BRANCHES), "--", random.choice(["src", "docs", "lib", "."]))

    # --- worktrees

    def _may_change_worktrees(self):
        """Returns whether the repository is where its worktrees know it."""
        return self.sandbox.repo.name == "repo"

    def worktree(self, random, root):
        """Adds a linked worktree, or takes one away in one of several ways."""
        if not self._may_change_worktrees():
            return "left alone"
        at = self.sandbox.top / random.choice(WORKTREES)
        if at.with_name("away").exists():
            return "left alone while one is away"  # git prunes what it knows of that one, too
        return self._take_away(random, at) if at in self.sandbox.worktrees else self._add(at)

    def _add(self, at):
        done = self.sandbox.git("worktree", "add", "-qf", "--detach", at)
        if done:
            self.sandbox.worktrees = sorted([*self.sandbox.worktrees, at])
        else:
            shutil.rmtree(at, ignore_errors=True)
            self.sandbox.git("worktree", "prune")
        return f"add {at.name} {done}"

    def _take_away(self, random, at):
        how = random.choice(["remove", "remove", "rm -rf and prune", "rm -rf"])
        self.sandbox.worktrees = [root for root in self.sandbox.worktrees if root != at]
        if how != "remove" or not self.sandbox.git("worktree", "remove", "--force", at):
            shutil.rmtree(at, ignore_errors=True)
        if how != "rm -rf":
            self.sandbox.git("worktree", "prune")
        return f"{how} {at.name}"

    def move_worktree(self, random, root):
        """Gives a linked worktree another path."""
        if not self._may_change_worktrees() or not self.sandbox.worktrees:
            return "left alone"
        at = random.choice(self.sandbox.worktrees)
        free = [self.sandbox.top / name for name in [*WORKTREES, "wt-c"] if not (self.sandbox.top / name).exists()]
        if not free or not self.sandbox.git("worktree", "move", at, free[0]):
            return f"{at.name} False"
        self.sandbox.worktrees = sorted([*(root for root in self.sandbox.worktrees if root != at), free[0]])
        return f"{at.name} to {free[0].name}"

    def sparse(self, random, root):
        """Has only some directories checked out, or all of them again."""
        if random.random() < 0.5:
            return self._git(root, "sparse-checkout", "disable")
        return self._git(root, "sparse-checkout", "set", *random.choice([["src"], ["docs", "lib"], ["--no-cone", "/*", "!/docs/"]]))

    def pack(self, random, root):
        return self._git(root, *random.choice([["pack-refs", "--all"], ["gc", "-q"], ["repack", "-qad"]]))
