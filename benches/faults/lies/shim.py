"""Stands in for `memo`: runs the real one and tells one lie, the one that $FAULTS_LIE names, about what it printed."""

import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lies import lie as lies  # noqa: E402
from lies.table import LIES  # noqa: E402

MEMO = os.environ["FAULTS_MEMO"]


def memo(*args):
    """Runs the real one beside the question; returns its answer, or an empty one."""
    done = subprocess.run([MEMO, *args, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return lies.parsed(done.stdout) or {}


def undo(lie, done, args):
    """Undoes what an answer says, and returns what is printed."""
    answer = lies.parsed(done.stdout)
    if done.returncode or not isinstance(answer, dict) or "error" in answer:
        return done.stdout
    if lie.change(answer, args, memo) is not False:
        note()
    return json.dumps(answer) + "\n"


def note():
    """Counts a lie."""
    with open(os.environ["FAULTS_LIES_TOLD"], "a") as told:
        told.write(".")


def main():
    lie, args = LIES[os.environ["FAULTS_LIE"]], sys.argv[1:]
    if not args or args[0] not in lie.verbs:
        os.execv(MEMO, [MEMO, *args])
    done = subprocess.run([MEMO, *args], stdout=subprocess.PIPE, text=True, errors="surrogateescape")
    if lie.by == "deed":
        said, code = undo(lie, done, args), done.returncode
    else:
        said, code = lies.tell(lie, done.stdout, done.returncode)
        if said != done.stdout:
            note()
    sys.stdout.reconfigure(errors="surrogateescape")
    sys.stdout.write(said)
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)


main()
