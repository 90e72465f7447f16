"""Lies about what was done: it is acknowledged, and undone."""

import os

from lies.lie import lie


def id_of(answer):
    return (answer.get("memory") or {}).get("id")


@lie("add-purged", "an added memory is deleted", "add", by="deed")
def _(answer, args, memo):
    if id_of(answer):
        memo("forget", id_of(answer), "--yes")
        memo("purge", id_of(answer), "--yes")


@lie("add-archived", "an added memory is archived", "add", by="deed")
def _(answer, args, memo):
    if id_of(answer):
        memo("forget", id_of(answer), "--yes")


@lie("add-tags-lost", "an added memory loses its tags", "add", by="deed")
def _(answer, args, memo):
    tags = (answer.get("memory") or {}).get("tags", [])
    for tag in tags:
        memo("untag", id_of(answer), tag)
    return bool(tags)


@lie("update-undone", "an updated memory gets another text", "update", by="deed")
def _(answer, args, memo):
    if id_of(answer):
        memo("update", id_of(answer), "--content", "what was here before")


@lie("append-undone", "an appended line is lost", "append", by="deed")
def _(answer, args, memo):
    if id_of(answer):
        memo("update", id_of(answer), "--content", answer["memory"]["content"].rpartition("\n")[0].strip() or "nothing")


@lie("tag-undone", "a tag is lost", "tag", by="deed")
def _(answer, args, memo):
    memo("untag", args[1], args[2])


@lie("link-undone", "a link is lost", "link", by="deed")
def _(answer, args, memo):
    memo("unlink", args[1], args[2])


@lie("unlink-undone", "a link stays", "unlink", by="deed", also=("link",))
def _(answer, args, memo):
    memo("link", *args[1:5])


@lie("forget-undone", "a forgotten memory lives", "forget", by="deed")
def _(answer, args, memo):
    memo("restore", args[1])


@lie("restore-undone", "a restored memory is archived", "restore", by="deed", also=("forget",))
def _(answer, args, memo):
    memo("forget", args[1], "--yes")


@lie("share-file-removed", "the file of a shared memory is not there", "share", by="deed")
def _(answer, args, memo):
    for file in answer.get("files", []):
        if file.get("path") and os.path.exists(file["path"]):
            os.remove(file["path"])


@lie("share-emptied", "the file of a shared memory has another text", "share", by="deed")
def _(answer, args, memo):
    for file in answer.get("files", []):
        if file.get("path") and os.path.exists(file["path"]):
            with open(file["path"], "a") as opened:
                opened.write("It has another line.\n")


@lie("import-dropped", "an imported memory is deleted", "import", by="deed")
def _(answer, args, memo):
    newest = [] if "--own" in args else memo("list", "-n", "1").get("memories", [])
    for memory in newest:
        memo("forget", memory["id"], "--yes")
        memo("purge", memory["id"], "--yes")
    return bool(newest)


@lie("backup-lost", "a backup is not there", "backup", by="deed")
def _(answer, args, memo):
    os.remove(answer["path"])


@lie("restore-backup-lacks", "a restored backup lacks a memory", "restore-backup", by="deed")
def _(answer, args, memo):
    newest = memo("list", "-n", "1", "--scope", "mine").get("memories", [])
    for memory in newest:
        memo("forget", memory["id"], "--yes")
    return bool(newest)


@lie("notes-lost", "a memory that came is removed", "sync-notes", by="deed")
def _(answer, args, memo):
    newest = memo("list", "-n", "1", "--scope", "repo").get("memories", [])
    for memory in newest:
        memo("forget", memory["id"], "--yes")
    return bool(newest)


@lie("team-lost", "a memory of the team is removed", "team", by="deed")
def _(answer, args, memo):
    newest = memo("list", "-n", "1", "--scope", "team").get("memories", [])
    for memory in newest:
        memo("forget", memory["id"], "--yes")
    return bool(newest)
