"""What must an answer say, given what is on the disk and what was acknowledged?"""

import os
import re
import stat

WORDS = re.compile(r"[a-z]+")
LETTERS = "bcdfghjklmnpqrst"
KEEP_RECENT = 8
# A word that so many files hold is found among the first hits, whatever else is like the query.
SURELY_RANKED = 8


class File:
    """One file that counts: what it says, and what changes when it is touched."""

    def __init__(self, signature, text):
        self.signature, self.text = signature, text
        self.lines = text.split("\n")
        self.words = set(WORDS.findall(text))

    def shows(self, first_line, snippet):
        """Returns whether the lines of a snippet stand in the file, from `first_line` on."""
        pairs = list(zip(snippet.split("\n"), self.lines[first_line - 1 :]))
        return len(pairs) == snippet.count("\n") + 1 and all(
            line.rstrip() == other.rstrip() or "…" in line or "[REDACTED]" in line for line, other in pairs
        )


class Disk:
    """Reads what counts in a worktree: what git lists and does not name a secret."""

    def __init__(self, sandbox):
        self.sandbox, self._known = sandbox, {}

    def files(self, root):
        """Returns the files that count by path; none when git cannot say, as with a repository that is half there."""
        listed = self.sandbox.run("git", "ls-files", "-z", "-co", "--exclude-standard", cwd=root)
        if listed.returncode:
            return None
        found = {}
        for path in sorted(set(listed.stdout.split("\0")) - {""}):
            file = self.read(root, path)
            if file:
                found[path] = file
        return found

    def read(self, root, path):
        """Returns a file, whether git lists it or not; none where it may not be read or is not there."""
        if is_secret(path):
            return None
        at = os.path.join(root, path)
        try:
            found = os.lstat(at)
            if not stat.S_ISREG(found.st_mode):
                return None
            signature = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            known = self._known.get(at)
            if not known or known.signature != signature:
                with open(at, encoding="utf-8", errors="replace") as opened:
                    known = self._known[at] = File(signature, opened.read())
        except OSError:
            return None  # git lists what is gone and was not removed from its index
        return None if "\0" in known.text[:8192] else known


def is_secret(path):
    return any(part.startswith(".env") for part in path.split("/")) or path.endswith(".pem")


class Words:
    """Makes words that are in no other text, and knows which were made last."""

    def __init__(self):
        self.made, self.recent = 0, []

    def new(self):
        """Returns a word of letters alone that no other begins."""
        number, word = self.made * 7919, "zq"
        self.made += 1
        for _ in range(7):
            word += LETTERS[number % 16]
            number //= 16
        self.recent = [*self.recent[1 - KEEP_RECENT :], word + "yx"]
        return self.recent[-1]

    def unasked(self):
        """As `new`, of a word that no query has."""
        word, self.recent = self.new(), self.recent[:-1]
        return word.replace("zq", "zx")

    def pick(self, random, known):
        """Returns a word to ask for: one of the last, one that is there, or one that may be gone."""
        which = random.random()
        if which < 0.6 and self.recent:
            return random.choice(self.recent)
        there = sorted(set().union(*(file.words for file in known.values()))) if known else []
        own = [word for word in there if word.startswith("zq") and word.endswith("yx")]
        return random.choice(own or self.recent or ["nothing"])


def judge(word, reply, before, after, promised, on_disk, limit):
    """Returns what is wrong with an answer to a search for one word.

    `before` and `after` are the files as they were when it was asked and when it came. What is the same in both was
    written before and not touched; of everything else both forms may be shown. Where nothing is `promised` but that no
    line is stale, a file may be shown that is there and does not count any more: `on_disk` reads it. An answer of `limit`
    hits may be cut, and then only a word of a few files must be shown in all of them: what many hold, the ranking may put
    behind what is only like it.
    """
    wrong, showing = [], set()
    for hit in reply.json["hits"]:
        if hit["kind"] in ("commit", "memory"):
            continue
        path = hit["path"]
        forms = [files[path] for files in (before, after) if path in files]
        if not forms and not (promised and reply.json["fresh"]):
            forms = [file for file in [on_disk(path)] if file]
        if not forms:
            wrong.append(f"shows {path}, which does not count or is gone")
        elif not any(form.shows(hit["snippet_line"], hit["snippet"]) for form in forms):
            wrong.append(f"shows lines that {path} does not have from {hit['snippet_line']} on: {hit['snippet']!r}")
        elif word in WORDS.findall(hit["snippet"]):
            showing.add(path)
    if reply.json["fresh"] and promised and reply.json["mode"] != "vector":
        steady = {
            path: file for path, file in before.items()
            if word in file.words and path in after and after[path].signature == file.signature
        }
        if len(reply.json["hits"]) >= limit and len(steady) > SURELY_RANKED:
            steady = {}
        shown_texts = {file.text for path, file in after.items() if path in showing}
        for path, file in steady.items():
            # Of equal files one may stand for all.
            if path not in showing and file.text not in shown_texts:
                wrong.append(f"SILENTLY STALE: says fresh and misses {path}, which has {word}")
    if not reply.json["fresh"] and not reply.json["reason"]:
        wrong.append("is not fresh and does not say why")
    return wrong


class Memories:
    """What was acknowledged, and what may be there because its acknowledgement did not come."""

    def __init__(self):
        self.living = {}  # id: the contents it may have; one, unless a change was not acknowledged
        self.forgotten = set()
        self.unsure = set()  # ids that may be forgotten or not
        self.fleeting = set()  # ids that end by themselves, in many days
        self.texts = {}  # acknowledged without an id: content
        self.attempted = set()
        self.acknowledged = 0

    def add(self, id, content, fleeting=False):
        self.living[id] = {content}
        self.acknowledged += 1
        if fleeting:
            self.fleeting.add(id)

    def certain(self):
        return sorted(id for id in self.living if id not in self.unsure)

    def judge(self, listed, clock_is_right=True):
        """Returns what is wrong with a list of all living memories."""
        wrong = []
        there = {memory["id"]: memory["content"] for memory in listed}
        for id, contents in self.living.items():
            may_be_over = id in self.fleeting and not clock_is_right
            if id not in there:
                if id not in self.unsure and not may_be_over:
                    wrong.append(f"LOST: {id}, {sorted(contents)}")
            elif there[id] not in contents:
                wrong.append(f"LOST: the content of {id}: {there[id]!r}, expected one of {sorted(contents)}")
        wrong += [f"LOST: imported {text!r}" for text in self.texts if text not in there.values()]
        wrong += [f"forgotten, and there: {id}" for id in sorted(self.forgotten & there.keys())]
        strangers = there.keys() - self.living.keys() - self.forgotten
        wrong += [f"nobody wrote {id}: {there[id]!r}" for id in sorted(strangers) if there[id] not in self.attempted]
        return wrong


def leaks(directory, secrets):
    """Returns where a secret stands in the files below a directory."""
    found = []
    for path in sorted(directory.rglob("*")):
        try:
            data = path.read_bytes() if path.is_file() else b""
        except OSError:
            continue  # a cookie that came and went
        found += [f"{secret} stands in {path}" for secret in secrets if secret.encode() in data]
    return found
