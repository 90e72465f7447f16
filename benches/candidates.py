#!/usr/bin/env python3
"""What does memod find for the questions that agents ask?

  candidates.py --clones CLONES --out DIR [--memo PATH] [--half A|B] [--only OWNER+NAME]...

CLONES  bare clones named OWNER+NAME, OWNER+NAME/repo or OWNER+NAME.git, which have the commits that the questions name
DIR     written: OWNER+NAME.jsonl, the candidates of each question with signals, factors and tokens (`memod bench candidates`);
        trees/OWNER+NAME, a repository with the files of that commit as its only one, and its index; home/, the home of the
        daemons, which so have no memories and no settings; memo.log

Each repository is checked out, indexed and asked by a daemon of its own, then the table of recall.py is printed. A file that is
there is not written again, so a run that was interrupted goes on where it was; delete the files to ask another build. Half A and
half B are every other file of the questions, as benches/README.md says: what is chosen on A is confirmed on B.

`memod bench quality benches/questions/asked --trees DIR/trees` asks the same trees without keeping the candidates.

Needs Python 3.9 and git, nothing else. Exit code: 0 done, 2 wrong usage or nothing to ask, 3 a repository failed or its clone or
commit is not there (it is named, the others are asked).
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
from quality import Failure, output_of, run_program, say  # noqa: E402
from recall import ASKED, halves, print_table  # noqa: E402

AUTHOR = ["-c", "user.name=snapshot", "-c", "user.email=snapshot@localhost"]
DATE = "2000-01-01T00:00:00Z"  # the same clones give the same commits


class Repository:
    """A repository that is asked about: its questions, its clone, its tree."""

    def __init__(self, options, file):
        self.name, self.questions, self.log = file.stem, file, options.out / "memo.log"
        self.tree, self.out = options.trees / file.stem, options.out / file.name
        with open(file, encoding="utf-8") as lines:
            self.commit = json.loads(next(lines))["commit"]
        places = [options.clones / name for name in [self.name, f"{self.name}/repo", f"{self.name}/repo/.git", f"{self.name}.git"]]
        self.clone = next((place for place in places if (place / "HEAD").is_file()), None)
        self.memo, self.wait = options.memo, options.wait
        homes = ("MEMO_", "XDG_CACHE", "XDG_CONFIG", "XDG_DATA", "XDG_STATE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(homes)}
        self.env = {**kept, "HOME": str(options.out / "home")}

    def write_tree(self):
        """Writes the files of the commit, all of them: `git archive` leaves out what has the attribute export-ignore."""
        stamp = self.tree / ".git/snapshot"
        if stamp.exists() and stamp.read_text() == self.commit:
            return
        if not self.clone:
            raise Failure(f"{self.name}: no clone of it in the folder of --clones")
        if subprocess.run(["git", f"--git-dir={self.clone}", "cat-file", "-e", f"{self.commit}^{{commit}}"],
                          stderr=subprocess.DEVNULL).returncode != 0:
            raise Failure(f"{self.name}: its clone has no commit {self.commit}")
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir(parents=True)
        output_of("git", "init", "-q", self.tree)
        self.git_of_clone("read-tree", self.commit)
        absent = self.absent_files()
        if absent:
            say(f"{self.name}: its clone lacks {len(absent)} large files: {', '.join(absent[:3])}{', …' if absent[3:] else ''}")
            self.git_of_clone("update-index", "-z", "--force-remove", "--stdin", given="".join(path + "\0" for path in absent))
        self.git_of_clone("checkout-index", "--all")
        (self.tree / ".git/of-clone").unlink()
        output_of("git", "-C", self.tree, "add", "-A", "-f")
        dates = {**os.environ, "GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE}
        subprocess.run(["git", "-C", self.tree, *AUTHOR, "commit", "--allow-empty", "-qm", "snapshot"], env=dates, check=True,
                       capture_output=True)
        stamp.write_text(self.commit)

    def git_of_clone(self, *words, given=""):
        """Runs git on the clone with the tree as its worktree and an index of our own; returns its output."""
        env = {**os.environ, "GIT_INDEX_FILE": str(self.tree / ".git/of-clone")}
        command = ["git", f"--git-dir={self.clone}", f"--work-tree={self.tree}", *words]
        return subprocess.run(command, cwd=self.tree, env=env, input=given, check=True, capture_output=True, encoding="utf-8").stdout

    def absent_files(self):
        """Returns the files of the index that the clone does not have: a snapshot may be without its largest."""
        entries = [line.split("\t", 1) for line in self.git_of_clone("ls-files", "-s", "-z").split("\0") if line]
        files = [(entry.split()[1], path) for entry, path in entries if not entry.startswith("160000 ")]  # no submodules
        known = self.git_of_clone("cat-file", "--batch-check", given="".join(f"{blob}\n" for blob, _ in files)).splitlines()
        return [path for (_, path), line in zip(files, known) if line.endswith(" missing")]

    def run(self, *words):
        """Runs a program in the tree. Its output goes to a file: a pipe that the daemon kept would never end."""
        command = list(map(str, words))
        with open(self.log, "ab") as out:
            try:
                done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.tree, env=self.env,
                                      timeout=self.wait)
            except subprocess.TimeoutExpired:
                raise Failure(f"{self.name}: `{' '.join(command)}` took over {self.wait} s; see {self.log}")
        return done.returncode

    def ask(self):
        """Returns after how many seconds the candidates were written."""
        began = time.monotonic()
        try:
            self.write_tree()
        except subprocess.CalledProcessError as error:
            raise Failure(f"{self.name}: `{' '.join(map(str, error.cmd))}` failed: {error.stderr}")
        try:
            # As for the client, the daemon's program is beside it.
            memod = os.environ.get("MEMO_DAEMON") or Path(self.memo).with_name("memod")
            code = self.run(memod, "bench", "candidates", self.questions, "--out", self.out)
        finally:
            self.run(self.memo, "stop", "-q")
        if code != 0:
            raise Failure(f"{self.name}: `memod bench candidates` exited with {code}; see {self.log}")
        return time.monotonic() - began


def select(options):
    """Returns the repositories that are asked about."""
    half_of = halves(options.questions)
    unknown = [name for name in options.only if name not in half_of]
    if unknown:
        raise Failure(f"{options.questions}: no questions about {', '.join(unknown)}", 2)
    chosen = [name for name, half in half_of.items() if options.half in (None, half) and name in (options.only or half_of)]
    if not chosen:
        raise Failure(f"{options.questions}: no questions about what --half and --only name", 2)
    return [Repository(options, options.questions / f"{name}.jsonl") for name in chosen]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--clones", type=Path, required=True, help="folder of bare clones")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write to; created when absent")
    add("--memo", default="memo", metavar="PATH", help="the client; it finds memod itself (default: memo)")
    add("--half", choices="AB", help="only the repositories of one half")
    add("--only", action="append", default=[], metavar="OWNER+NAME", help="only this repository; may be repeated")
    add("--questions", type=Path, default=ASKED, help="folder of questions (default: benches/questions/asked)")
    add("--wait", type=int, default=1800, metavar="S", help="longest indexing and asking of one repository, s (default: 1800)")
    options = parser.parse_args()
    client = shutil.which(options.memo)
    if not client:
        parser.error(f"{options.memo}: no such program; give the client's path with --memo")
    options.memo = os.path.abspath(client)
    for name in ["clones", "out", "questions"]:
        setattr(options, name, getattr(options, name).resolve())
    options.trees = options.out / "trees"
    return options


def main():
    options = parse()
    repositories = select(options)
    (options.out / "home").mkdir(parents=True, exist_ok=True)
    complete = True
    for repository in repositories:
        if repository.out.exists():
            continue
        try:
            seconds = repository.ask()
        except Failure as failure:
            say(f"candidates: {failure}")
            complete = False
            continue
        say(f"{repository.name}: {repository.out.stat().st_size / 1e6:.1f} MB in {seconds:.0f} s")
    files = [repository.out for repository in repositories if repository.out.exists()]
    if files:
        print_table(files, halves(options.questions))
        print(f"{sum(file.stat().st_size for file in files) / 1e6:.1f} MB of candidates in {options.out}")
    return 0 if complete else 3


if __name__ == "__main__":
    run_program("candidates", main)
