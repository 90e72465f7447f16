"""Runs the bench against each lie until it is found out, and says by what."""

import dataclasses
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from lies.table import LIES

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parent


@dataclasses.dataclass
class Verdict:
    """How a run against one lie ended."""

    name: str
    is_caught: bool
    by: str
    n_answers: str
    n_told: int

    def row(self):
        return f"{self.name:<24} {'caught' if self.is_caught else 'NOT CAUGHT':<10} {self.n_answers:>7} {self.n_told:>5}  {self.by}"


def write_launcher(top, memo, name):
    """Writes a program that is `memo` but for one lie; returns its path, and the file that counts."""
    launcher, told = top / f"memo-{name}", top / f"told-{name}"
    told.write_text("")
    values = {"FAULTS_MEMO": pathlib.Path(memo).resolve(), "FAULTS_LIE": name, "FAULTS_LIES_TOLD": told}
    settings = " ".join(f"{key}={shlex.quote(str(value))}" for key, value in values.items())
    launcher.write_text(f'#!/bin/sh\n{settings} exec {shlex.quote(sys.executable)} -IS {HERE}/shim.py "$@"\n')
    launcher.chmod(0o755)
    return launcher, told


def try_lie(top, options, name):
    """Runs the bench against a lie, at most so long as the options say."""
    launcher, told = write_launcher(top, options.memo, name)
    bound = ["--rounds", options.rounds] if options.rounds else ["--seconds", options.seconds]
    command = [sys.executable, BENCH, "--memo", launcher, "--seed", options.seed, *bound]
    command += ["--log", top / f"log-{name}", "--mostly", *LIES[name].verbs, *LIES[name].also]
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    expected = re.search(r"^  expected: (.*)", ran.stderr, re.M)
    n_told = told.stat().st_size
    is_caught = bool(expected) and ran.returncode == 1 and n_told > 0
    by = expected.group(1) if is_caught else (ran.stderr.strip().splitlines() or ["nothing"])[-1]
    answers = re.search(r"^answers +(\d+)", ran.stdout, re.M)
    clean_up(ran.stderr)
    return Verdict(name, is_caught, by[:160], answers.group(1) if answers else "?", n_told)


def clean_up(said):
    """Removes what a run that found something has left for a person to look at."""
    left = re.search(r"^everything is left as it was in (/\S+)", said, re.M)
    if left:
        subprocess.run(["umount", "--lazy", left.group(1)], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--", left.group(1)], stderr=subprocess.DEVNULL)


def run(options):
    """Tries the lies that are named, or all; returns the exit status."""
    unknown = sorted(set(options.lies) - set(LIES))
    if unknown:
        print(f"no such lie: {', '.join(unknown)}; there are {', '.join(LIES)}", file=sys.stderr)
        return 2
    print(f"{'lie':<24} {'':<10} answers  told  caught by")
    n_missed = 0
    with tempfile.TemporaryDirectory(prefix="memod-lies-") as top:
        for name in options.lies or LIES:
            verdict = try_lie(pathlib.Path(top), options, name)
            n_missed += not verdict.is_caught
            print(verdict.row(), flush=True)
    print(f"{len(options.lies or LIES)} lies, {n_missed} not caught")
    return 1 if n_missed else 0
