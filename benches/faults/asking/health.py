"""Asks about the state of things: `memo status`, `memo sync`, `memo doctor`."""

from oracle.findings import false, other, stale

from .question import Question


def status(world, random, root, before):
    """Asks for the indexed files right after everything was said to be indexed."""
    def judge(reply, before, after):
        answer, found = reply.json, []
        views = {view["root"]: view for view in answer["views"]}
        if str(root) in views and views[str(root)]["files"] < 0 or answer["pending"].get("files", 0) < 0:
            found.append(false(f"counts {views[str(root)]}"))
        if answer["worktree"] != str(root):
            found.append(false(f"says that {answer['worktree']} was asked about"))
        if len(answer["files"]) != len(set(answer["files"])):
            found.append(other("lists a file twice"))
        return found

    form = random.choice(["lean", "full"])
    return Question("status", ["status", "--files"], root, form, None, None, judge, says_fresh=False)


def sync(world, random, root, before):
    """Waits until everything is indexed, and compares the list of files with git's."""

    def judge(reply, before, after):
        if not reply.json["fresh"] or before.files is None or before.unseen or before.files != after.files:
            return []
        listed = world.sandbox.memo("status", "--files", cwd=root)
        again = world.disk.snapshot(root)
        if listed.error or not world.is_calm or again.files != before.files:
            return []
        told, there = set(listed.json["files"]), set(before.files)
        found = [stale(f"says that all is up to date, and has not {path}") for path in sorted(there - told)]
        gone = [path for path in sorted(told - there) if not path.startswith(".memod/")]
        return found + [false(f"has {path}, which does not count or is gone") for path in gone]

    return Question("sync", ["sync"], root, "lean", random.choice(["fs", "strict"]), 20_000, judge)
