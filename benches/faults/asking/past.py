"""Asks for history: `memo why` and `memo changed`."""

import hashlib
import os
import re

from oracle import commits, structure, visible
from oracle.disk import forms_of, steady
from oracle.findings import false, other, stale, twice

from .question import Question, how_fresh, is_fresh


def why_file(world, random, root, before):
    """Asks who made a file what it is: the newest commit that git knows is there, and each is told as it is."""
    known = world.commits.reached(before) or {}
    paths = sorted({path for commit in list(known.values())[:20] for path in commit.paths} & set(before.files or {}))
    if not paths:
        return None
    path = random.choice(paths)

    def judge(reply, before, after):
        answer = reply.json
        found = commits.judge_why(answer, before, after, world.commits, world.model.clock_was_wrong)
        # A file that the commit does not have is new, or another one under this name: its past is not that of the path.
        is_committed = world.commits.git(root, "ls-tree", before.head, "--", path)
        touched = is_committed and world.commits.git(root, "log", "-1", "--no-merges", "--format=%H", before.head, "--", path)
        newest = touched[0] if touched else None
        told = [commit["oid"] for commit in answer["commits"]]
        if newest and answer["complete"] and before.head == after.head and newest not in told and len(told) < 10:
            found.append(stale(f"does not tell of commit {newest}, the last that changed {path}: {told}"))
        return found + judge_memories(answer, world, before, after) + untold_memories(answer, path, before, after, world)

    return Question("why", ["why", path], root, random.choice(["lean", "full"]), None, None, judge, says_fresh=False)


def untold_memories(answer, path, before, after, world):
    """Returns the memories of one's own that are about a file and not told, where the file has not moved."""
    if not world.is_calm or before.files != after.files or path not in (before.files or {}) or before.unseen:
        return []
    told = {memory["id"] for memory in answer["memories"]}
    texts = [file.text for other_path, file in before.files.items() if other_path != path]
    about = [id for id in world.model.certain() if world.model.records[id].about == path]
    return [
        stale(f"does not tell of {id}, which is about {path}") for id in about
        if id not in told and world.model.records[id].about_text not in texts and not world.model.records[id].ends
    ]  # fmt: skip


def judge_memories(answer, world, before, after):
    """Returns what is wrong with the memories of an answer to `why`: each is one of the worktree, told by its title or first line."""
    found = []
    is_fresh = world.is_calm and answer.get("fresh", False)
    expected = visible.expect(world.model, before, after, world.seen, is_fresh, world.clock_is_right)
    for memory in answer.get("memories", []):
        want = expected.get(memory["id"])
        if not want:
            continue
        if want.must_not:
            found.append(false(f"tells of {memory['id']}, which is not there any more"))
        first_lines = {(form.title or form.text).split("\n")[0] for form in want.may}
        said = re.sub(r"^(\[[^\]]*\] *)+", "", memory["line"]).rstrip("…")
        if want.may and visible.ANYTHING not in want.may and not any(line.startswith(said) for line in first_lines):
            found.append(false(f"tells of {memory['id']} as {memory['line']!r}, it says {sorted(first_lines)}"))
    return found


def why_line(world, random, root, before):
    """Asks which commit a line comes from whose words no other line has, as `git blame` knows it."""
    files = before.files or {}
    places = [
        (path, number) for path in sorted(files) if structure.is_whole(files[path])
        for number, line in enumerate(files[path].lines, 1) if re.search(r"\bzq\w+yx\b", line)
    ]  # fmt: skip
    if not places:
        return None
    path, number = random.choice(places)
    blamed = blame(world, root, path, number)

    def judge(reply, before, after):
        answer = reply.json
        found = commits.judge_why(answer, before, after, world.commits, world.model.clock_was_wrong)
        same = path in steady(before, after) and before.head == after.head and blame(world, root, path, number) == blamed
        if not same or not blamed or not answer["complete"] or answer.get("moves"):
            return found
        told = [commit["oid"] for commit in answer["commits"]]
        is_new = any(first <= number <= last for first, last in answer["uncommitted"])
        if blamed == "new" and not is_new:
            found.append(stale(f"does not say that line {number} of {path} is not committed: {told}"))
        if blamed != "new" and (is_new or told != [blamed]):
            found.append(false(f"says that line {number} of {path} is from {'no commit' if is_new else told}, it is from {blamed}"))
        return found

    return Question(
        "why line", ["why", f"{path}:{number}"], root, random.choice(["lean", "full"]), None, None, judge, says_fresh=False
    )


def blame(world, root, path, number):
    """Returns the commit that a line comes from, `new` if none has it; none if git does not say."""
    if not world.commits.git(root, "ls-tree", "--name-only", "HEAD", "--", path):
        return None  # a file that was renamed and not committed has lines of commits, which git does not blame
    said = world.commits.git(root, "blame", "--porcelain", "-L", f"{number},{number}", "--", path)
    if not said:
        return None
    oid = said[0].split(" ")[0]
    return "new" if set(oid) == {"0"} else oid


def changed(world, random, root, before):
    """Asks what is not committed, or what has changed since an older commit."""
    known = list(world.commits.reached(before) or {})
    if not known:
        return None
    since = random.choice([None, *known[:4]])
    level, wait_ms = how_fresh(random)

    def judge(reply, before, after):
        answer = reply.json
        expected = differences(world, root, since or before.head, before, after)
        known = world.commits.of(before, after) or {}
        found = twice([file["path"] for file in answer["files"]], "a changed file")
        if answer["total"] != len(answer["files"]) + answer["left_out"]:
            found.append(false(f"counts {answer['total']} changed files, and lists {len(answer['files'])}"))
        if answer.get("base"):
            found += commits.judge_commit({**answer["base"], "subject": answer.get("subject")}, known)
        for commit in answer.get("commits", []):
            found += commits.judge_commit(commit, known)
        if not answer["fresh"] or level == "none" or not answer["complete"] or expected is None:
            return found
        return found + judge_changed(answer, expected, before, after)

    args = ["changed", "-n", 5000, *([since] if since else [])]
    return Question("changed", args, root, random.choice(["lean", "full"]), level, wait_ms, judge)


def differences(world, root, base, before, after):
    """Returns the status of each path by git, without renames; none when something changed meanwhile."""
    if before.head != after.head or before.files is None or before.files != after.files or before.unseen:
        return None
    entries = world.commits.names(root, "ls-tree", "-r", "-z", base)
    listed = world.commits.names(root, "ls-files", "-z", "-co", "--exclude-standard")
    if entries is None or listed is None:
        return None
    old = {entry.split("\t", 1)[1]: entry.split()[2] for entry in entries if entry.startswith(("100", "120"))}
    new = {path: oid for path in sorted(set(listed)) if (oid := blob_id(root / path))}
    # What a sparse checkout leaves out is what git's index records.
    tracked = world.commits.names(root, "ls-files", "-z", "-t") or []
    recorded = {entry.split("\t", 1)[1]: entry.split()[1] for entry in world.commits.names(root, "ls-files", "-z", "-s") or []}
    outside = {name[2:] for name in tracked if name.startswith("S ")}
    new |= {path: recorded[path] for path in outside if path not in new and path in recorded}
    status = {path: "added" for path in new if path not in old}
    status |= {path: "modified" for path in new if path in old and old[path] != new[path]}
    status |= {path: "removed" for path in old if path not in new and not is_there(world, root, path)}
    return {path: what for path, what in status.items() if not path.startswith(".memod/")}


def blob_id(path):
    """Returns git's id of what a file has, or of where a link leads; none where there is neither."""
    try:
        data = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
    except OSError:
        return None
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def is_there(world, root, path):
    return (root / path).exists() or (root / path).is_symlink()


def judge_changed(answer, expected, before, after):
    """Returns what differs from git; a renamed file counts as one that came and one that went."""
    found, told = [], {}
    for file in answer["files"]:
        told[file["path"]] = "added" if file["status"] == "renamed" else file["status"]
        if file["status"] == "renamed":
            told.setdefault(file["from"], "removed")
        found += judge_symbols(file, before, after)
    told = {path: status for path, status in told.items() if not path.startswith(".memod/")}
    for path in sorted(set(told) | set(expected)):
        if path not in told and not answer.get("left_out"):
            found.append(stale(f"says fresh, and does not tell that {path} was {expected[path]}"))
        elif path in told and path not in expected:
            found.append(false(f"says that {path} was {told[path]}, and git knows of no change"))
        elif path in told and told[path] != expected[path]:
            found.append(false(f"says that {path} was {told[path]}, it was {expected[path]}"))
    if answer["total"] < len(answer["files"]):
        found.append(other(f"counts {answer['total']} changed files and lists {len(answer['files'])}"))
    return found


def judge_symbols(file, before, after):
    """Returns what is wrong with the definitions that are told of a changed file."""
    symbols, found = file.get("symbols"), []
    forms = forms_of(file["path"], before, after)
    if not symbols or not forms or structure.ending(file["path"]) not in structure.BEGINS:
        return []
    for what in ("added", "changed"):
        for name in symbols.get(what, []):
            last = re.split(r"::|\.|#| > ", name)[-1]
            if not any(last in form.text for form in forms):
                found.append(false(f"says that {name} was {what} in {file['path']}, which has no such word"))
    return found
