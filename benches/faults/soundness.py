"""Is what the daemon keeps whole, and what a fresh index of the same tree would hold?"""

import shutil
import sqlite3
import subprocess

import sandbox as sandboxes


def problems(sandbox, disk):
    """Has the daemon start anew, and returns what is wrong with its databases and its manifest."""
    said = manifest(sandbox)
    stopped = sandbox.memo("stop")
    found = [] if stopped.code == 0 else [f"the daemon stops: {stopped}"]
    for name in ("index.db", "memory.db"):
        found += damage(sandbox.state / name, sandbox.top / "tmp/copy.db")
    expected = fresh_manifest(sandbox)
    counts = {"files": sorted(disk.files(sandbox.repo) or [])}
    if said["files"] != counts["files"]:
        found.append(f"the files listed are those that git lists: {differences(said['files'], counts['files'])}")
    for what in ("files", "skipped"):
        if said[what] != expected[what]:
            found.append(f"{what} as a fresh index has them: {differences(said[what], expected[what])}")
    started = sandbox.memo("status")  # a hook of an agent does not wait until one runs
    return found + ([] if started.code == 0 else [f"the daemon starts: {started}"])


def damage(database, copy):
    """Copies a database through SQLite and checks the copy."""
    if not database.exists():
        return [f"{database.name} is there"]
    copy.unlink(missing_ok=True)
    source, target = sqlite3.connect(database), sqlite3.connect(copy)
    try:
        source.backup(target)
        said = [row[0] for row in target.execute("PRAGMA integrity_check")]
        return [] if said == ["ok"] else [f"integrity_check of {database.name} is ok: {said[:5]}"]
    except sqlite3.Error as error:
        return [f"{database.name} can be read: {error}"]
    finally:
        source.close()
        target.close()
        copy.unlink(missing_ok=True)


def manifest(sandbox):
    """Returns the files that are indexed and those refused, once the daemon is up to date."""
    sandbox.memo("sync", "--sync", "strict", "--wait-ms", 60_000)
    lists = {}
    for what, key in (("files", "files"), ("skipped", "skipped_files")):
        reply = sandbox.memo("status", f"--{what}")
        entries = (reply.json or {}).get(key) or []
        lists[what] = sorted(entry if isinstance(entry, str) else " ".join(entry) for entry in entries)
    return lists


def fresh_manifest(sandbox):
    """Returns what a daemon says that knows nothing but a copy of the tree."""
    top = sandbox.top / "fresh"
    fresh = sandboxes.Sandbox(top, sandbox.program)
    shutil.rmtree(fresh.repo)
    subprocess.run(["cp", "-a", sandbox.repo, fresh.repo], check=True)
    shutil.rmtree(fresh.state)
    try:
        return manifest(fresh)
    finally:
        fresh.memo("stop")
        shutil.rmtree(top)


def differences(said, expected):
    return f"not {sorted(set(said) - set(expected))[:8]}, but also {sorted(set(expected) - set(said))[:8]}"
