"""Compares what is said of commits with git."""

import dataclasses
import datetime

from . import snippets
from .disk import WORDS
from .findings import false, other, stale, twice

FIELDS = "%x1e%H%x1f%aI%x1f%cI%x1f%an <%ae>%x1f%s%x1f%b%x1f"
# As many as are indexed, by default, and as many paths of each.
LIMIT, MOST_PATHS = 2000, 100


@dataclasses.dataclass(frozen=True)
class Commit:
    oid: str
    date: datetime.datetime
    committed: datetime.datetime
    author: str
    subject: str
    body: str
    paths: tuple

    @property
    def text(self):
        """Returns what is shown of it: its message and its changed paths."""
        message = f"{self.subject}\n\n{self.body}".strip()
        return message + "\n" + "".join(f"\n{path}" for path in self.paths) + "\n"

    @property
    def words(self):
        return set(WORDS.findall(f"{self.subject} {self.body}".lower()))


class Commits:
    """The commits that a HEAD reaches, read from git once."""

    def __init__(self, sandbox):
        self.sandbox, self._by_head = sandbox, {}

    def reached(self, snapshot):
        """Returns commits by id, the newest first; none where git cannot say."""
        if not snapshot.head:
            return {}
        if snapshot.head not in self._by_head:
            command = ["git", "log", f"--max-count={LIMIT}", "--diff-merges=first-parent", "--name-only", "--no-renames"]
            said = self.sandbox.run(*command, "-z", f"--format={FIELDS}", snapshot.head, cwd=snapshot.root)
            if said.returncode:
                return None
            self._by_head[snapshot.head] = {commit.oid: commit for commit in map(parse, said.stdout.split("\x1e")[1:])}
        return self._by_head[snapshot.head]

    def one(self, root, oid):
        """Returns a commit that is there, whether HEAD reaches it or not; none if there is no such one."""
        command = ["git", "log", "-1", "--diff-merges=first-parent", "--name-only", "--no-renames", "-z", f"--format={FIELDS}"]
        said = self.sandbox.run(*command, oid, cwd=root)
        return parse(said.stdout.removeprefix("\x1e")) if not said.returncode and said.stdout else None

    def of(self, *snapshots):
        """Returns all commits that one of the snapshots reaches; none where git cannot say."""
        all_reached = [self.reached(snapshot) for snapshot in snapshots]
        if any(reached is None for reached in all_reached):
            return None
        return {oid: commit for reached in all_reached for oid, commit in reached.items()}

    def names(self, root, *args):
        """Returns what git lists with `-z`; none where it fails."""
        said = self.sandbox.run("git", *args, cwd=root)
        return [name for name in said.stdout.split("\0") if name] if not said.returncode else None

    def git(self, root, *args):
        """Returns lines that git prints; none where it fails."""
        said = self.sandbox.run("git", *args, cwd=root)
        return said.stdout.split("\n")[:-1] if not said.returncode else None


def parse(entry):
    oid, date, committed, author, subject, body, paths = entry.split("\x1f")
    names = tuple(path.lstrip("\n") for path in paths.split("\0") if path.strip("\n"))
    when = [datetime.datetime.fromisoformat(time) for time in (date, committed)]
    return Commit(oid, *when, author, subject, body.strip(), names)


def judge_commit(said, known):
    """Returns what is wrong with id, date, author and subject of a commit, as any answer has them."""
    commit = known.get(said["oid"])
    if not commit:
        return [false(f"shows commit {said['oid']}, which HEAD does not reach")]
    found = []
    if datetime.datetime.fromisoformat(said["date"]) != commit.date:
        found.append(false(f"dates {commit.oid} {said['date']}, not {commit.date.isoformat()}"))
    if said["author"] != commit.author:
        found.append(false(f"says that {said['author']} wrote {commit.oid}, not {commit.author}"))
    if "subject" in said and said["subject"] != commit.subject:
        found.append(false(f"calls {commit.oid} {said['subject']!r}, not {commit.subject!r}"))
    if said.get("body", commit.body).strip() != commit.body:
        found.append(false(f"has another message of {commit.oid}: {said['body']!r}"))
    return found


def judge_hit(hit, known):
    """Returns what is wrong with the hit of a commit."""
    oid = hit["path"].removeprefix("commit:")
    said = hit.get("commit") or {}
    if said.get("oid") != oid:
        return [false(f"gives the hit {hit['path']} the commit {said.get('oid')}")]
    found, commit = judge_commit(said, known), known.get(oid)
    if not commit:
        return found
    if hit.get("title") not in (None, commit.subject):
        found.append(false(f"titles {oid} {hit['title']!r}, not {commit.subject!r}"))
    lines = commit.text.split("\n")
    wrong = wrong_line(commit, lines, hit)
    if wrong:
        found.append(false(f"shows of commit {oid} what it does not say: {wrong}"))
    first, last = hit["lines"]
    if not 1 <= first <= last <= len(lines):
        found.append(false(f"gives commit {oid} the lines {first}-{last} of {len(lines)}"))
    return found


def wrong_line(commit, lines, hit):
    """Returns what is wrong with the snippet of a commit: its paths may come in any order."""
    n_message, first = len(lines) - len(commit.paths) - 1, hit.get("snippet_line")
    shown = hit["snippet"].split("\n")
    if first is None:  # as over MCP
        return next((line for line in shown if not any(snippets.shows_line(one, line) for one in lines)), None)
    for number, line in enumerate(shown, first):
        among = [lines[number - 1]] if number <= n_message else commit.paths[:MOST_PATHS]
        is_count = number > n_message and line.startswith("… ") and len(commit.paths) > MOST_PATHS
        if number > len(lines) or not is_count and not any(snippets.shows_line(one, line) for one in among):
            return f"line {number}: {line!r}"
    return None


def judge_hits(hits, words, before, after, commits, promised, is_complete, since=None):
    """Returns what is wrong with all commits among the hits; where the answer `is_complete`, each that has the words is there.

    Where nothing is `promised`, a commit may be shown that HEAD does not reach any more.
    """
    known = commits.of(before, after)
    if known is None:
        return []
    shown = [hit for hit in hits if hit["kind"] == "commit"]
    oids = {hit["path"].removeprefix("commit:") for hit in shown}
    if not promised:
        known |= {oid: commit for oid in oids - set(known) if (commit := commits.one(after.root, oid))}
    found = twice([hit["path"] for hit in shown], "a commit")
    for hit in shown:
        found += judge_hit(hit, known)
    if is_complete and before.head == after.head:
        for commit in commits.reached(before).values():
            is_asked = set(words) <= commit.words and (since is None or commit.date >= since)
            if is_asked and commit.oid not in oids:
                found.append(stale(f"says fresh and misses commit {commit.oid}, {commit.subject!r}"))
    return found


def judge_why(answer, before, after, commits, clock_was_wrong):
    """Returns what is wrong with the commits of `memo why`, the newest of a file first unless a clock was wrong."""
    known = commits.of(before, after)
    if known is None:
        return []
    found = twice([commit["oid"] for commit in answer["commits"]], "a commit")
    for commit in answer["commits"]:
        found += judge_commit(commit, known)
    dates = [known[commit["oid"]].committed for commit in answer["commits"] if commit["oid"] in known]
    if not clock_was_wrong and not answer.get("lines") and dates != sorted(dates, reverse=True):
        found.append(other(f"has the commits in no order of time: {[date.isoformat() for date in dates]}"))
    return found
