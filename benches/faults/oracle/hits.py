"""Compares the files among the hits of a search with the disk."""

import dataclasses
import datetime
import re

from . import snippets, structure
from .disk import WORDS, forms_of, steady
from .findings import doubled, false, other, stale, twice

# A word that so many files hold is found among the first hits, whatever else is like the query.
SURELY_RANKED = 8
# As many lines are joined to one that names a definition.
MOST_SIGNATURE_LINES = 20
# As many copies of a hit are named.
MOST_COPIES = 5
OF_FILES = ("doc", "symbol", "map", "text")


@dataclasses.dataclass
class Asked:
    """What was asked for, in the words of the oracle."""

    words: tuple
    is_phrase: bool = False
    mode: str = "keyword"
    level: str = "fs"
    limit: int = 200
    kinds: tuple = ()
    lang: str | None = None
    # A function of a path, and a moment: what they let pass.
    path: object = None
    since: datetime.datetime | None = None
    tags: tuple = ()
    root: str = ""
    query: str = ""

    @property
    def wants_files(self):
        return not self.tags and self.since is None and (not self.kinds or set(self.kinds) & set(OF_FILES))

    @property
    def wants_all_of_a_file(self):
        """Whether any hit of a file that has the words would do."""
        return not self.kinds

    def has_words(self, file):
        if self.is_phrase:
            return snippets.phrase_in(self.words, file.text)
        return set(self.words) <= file.words

    def lets_pass(self, path):
        language = structure.LANGUAGES.get(structure.ending(path))
        return (self.path is None or self.path(path)) and self.lang in (None, language)


def judge_files(asked, answer, before, after, world):
    """Returns what is wrong with the files among the hits.

    What is the same in both snapshots was written before and not touched; of everything else both forms may be shown. Where
    nothing is promised but that no line is stale, a file may be shown that is there and does not count any more.
    """
    hits = [hit for hit in answer["hits"] if hit["kind"] in OF_FILES]
    promised = asked.level != "none" and answer.get("fresh", True)  # MCP says it only where it is not so
    found = twice([(hit["path"], tuple(hit["lines"]), hit["kind"], hit.get("title")) for hit in hits], "a hit")
    shown = set()
    for hit in hits:
        path = hit["path"]
        forms = forms_of(path, before, after)
        if not forms and not promised:
            forms = [file for file in [world.disk.read(after.root, path)] if file]
        if not forms:
            found.append(false(f"shows {path}, which does not count or is gone"))
            continue
        reasons = [judge_file_hit(hit, form, world.words.credentials) for form in forms]
        if all(reasons):
            found.append(false(f"of {path}: {reasons[0]} ({hit['kind']}, lines {hit['lines']}, {forms[0].lines[:4]})"))
        if not asked.lets_pass(path) or not asked.wants_files or asked.kinds and hit["kind"] not in asked.kinds:
            found.append(false(f"shows {hit['kind']} {path}, which the filters leave out"))
        if asked.is_phrase and not any(snippets.phrase_in(asked.words, form.text) for form in forms):
            found.append(false(f"shows {path}, which does not have the phrase {asked.words}"))
        if hit.get("trust", "repo") != "repo":
            found.append(false(f"says that the trust of {path} is {hit['trust']}"))
        if has_any(asked.words, hit["snippet"] + " " + hit.get("signature", "")):
            shown.add(path)
        found += judge_copies(hit, before, after, promised, answer.get("fresh", True), world)
    if promised and len(answer["hits"]) < asked.limit:
        found += unnamed_copies(asked, hits, steady(before, after, asked.level))
    if promised and asked.mode != "vector" and asked.wants_files and asked.wants_all_of_a_file:
        found += missing(asked, hits, shown, before, after, len(answer["hits"]))
    return found


def has_any(words, text):
    return not set(words).isdisjoint(WORDS.findall(text.lower()))


def judge_file_hit(hit, file, credentials):
    """Returns what is wrong with a hit, if this is its file: lines, snippet, the line that names it, title."""
    first, last = hit["lines"]
    if not 1 <= first <= last <= max(1, file.n_lines):
        return f"lines {first}-{last} of {file.n_lines}"
    if "snippet_line" in hit:
        wrong = snippets.shows(file.lines, hit["snippet_line"], hit["snippet"], credentials)
        inside = first <= hit["snippet_line"] <= last
    else:
        wrong = None if snippets.has_lines(file.text, hit["snippet"], credentials) else f"no lines {hit['snippet']!r}"
        inside = True
    if wrong or not inside:
        return wrong or f"a snippet from line {hit['snippet_line']} of the lines {first}-{last}"
    return wrong_signature(hit, file, credentials) or wrong_title(hit, file)


def wrong_signature(hit, file, credentials):
    said, number = hit.get("signature"), hit.get("signature_line")
    if said is None:
        return None
    if number is None:  # as over MCP
        is_there = any(is_signature(said, file, number, credentials) for number in range(1, file.n_lines + 1))
        return None if is_there else f"no line is named {said!r}"
    if not hit["lines"][0] <= number <= hit["lines"][1]:
        return f"is named by line {number}, lines {hit['lines']}"
    return None if is_signature(said, file, number, credentials) else f"line {number} is {file.line(number)!r}, not {said!r}"


def is_signature(said, file, number, credentials):
    """Returns whether a line is what a definition is named by, alone or with those that close its brackets, as one line."""
    line = file.line(number)
    if line is None or snippets.shows_line(line.strip(), said.strip(), credentials):
        return line is not None
    lines = file.lines[number - 1 : number - 1 + MOST_SIGNATURE_LINES]
    if said.endswith(snippets.CUT):
        return squeezed(lines).startswith(squeezed([said.removesuffix(snippets.CUT)]))
    return any(squeezed(lines[:n_lines]) == squeezed([said]) for n_lines in range(1, len(lines) + 1))


def squeezed(lines):
    """Returns lines without blanks and commas, which are left out where they are joined."""
    return re.sub(r"[\s,]+", "", "".join(lines))


def wrong_title(hit, file):
    """Returns what is wrong with the title: the definition at these lines, or the headings above them."""
    title, first, last = hit.get("title"), *hit["lines"]
    if hit["kind"] == "symbol":
        name = (hit.get("symbol") or title or "").split(" ")[0].rsplit("::", 1)[-1].rsplit(".", 1)[-1]
        if not name or name.lower() not in "\n".join(file.lines[first - 1 : last]).lower():
            return f"names {title!r}, which does not stand in the lines {first}-{last}"
        defined = structure.definitions(hit["path"], file)
        for definition in defined or []:
            is_there = definition.last == last and definition.first <= first <= definition.line
            if definition.name == name and not is_there:
                if first <= definition.line <= last or len([one for one in defined if one.name == name]) == 1:
                    return f"gives {name} the lines {first}-{last}, it has {definition.first}-{definition.last}"
    if hit["kind"] == "doc" and title and structure.ending(hit["path"]) == "md" and structure.is_whole(file):
        # Sections without headings of their own are joined with those after them.
        paths = [structure.heading_path(file, number) for number in range(first, last + 1)]
        if title not in [" > ".join(path) for path in paths]:
            return f"titles it {title!r}, its headings are {paths[0]}"
    return None


def judge_copies(hit, before, after, promised, says_fresh, world):
    """Returns what is wrong with the copies of a hit.

    Hits are read again and their copies are not, so that an answer that does not say fresh may name one that is gone.
    """
    copies = hit.get("copies")
    if not copies:
        return []
    found = twice(copies["paths"], f"a copy of {hit['path']}")
    # More than are named are counted alone.
    is_counted = copies["count"] == len(copies["paths"]) or MOST_COPIES == len(copies["paths"]) < copies["count"]
    n_others = len({*(before.files or ()), *(after.files or ())}) - 1
    if hit["path"] in copies["paths"] or not is_counted or promised and copies["count"] > n_others:
        found.append(false(f"counts {copies['count']} copies of {hit['path']}: {copies['paths']}"))
    for path in copies["paths"]:
        if says_fresh and not forms_of(path, before, after) and (promised or not world.disk.read(after.root, path)):
            found.append(false(f"says that {path} is like {hit['path']}, and it does not count or is gone"))
    return found


def unnamed_copies(asked, hits, files):
    """Returns the files that say the same as one that is shown, and are neither shown nor named as copies."""
    named = {hit["path"] for hit in hits} | {path for hit in hits for path in (hit.get("copies") or {}).get("paths", ())}
    if any(len((hit.get("copies") or {}).get("paths", ())) == MOST_COPIES for hit in hits):
        return []
    texts = {(structure.ending(hit["path"]), files[hit["path"]].text) for hit in hits if hit["path"] in files}
    left = [path for path, file in sorted(files.items()) if path not in named and asked.lets_pass(path)]
    return [stale(f"says fresh and does not name {path}, which says what is shown") for path in left
            if (structure.ending(path), files[path].text) in texts]


def missing(asked, hits, shown, before, after, n_hits):
    """Returns the files that have the words, were not touched, and are neither shown nor named as copies of what is shown."""
    files = {path: file for path, file in steady(before, after, asked.level).items() if asked.has_words(file) and asked.lets_pass(path)}
    if n_hits >= asked.limit and len(files) > SURELY_RANKED:
        return []
    named = {path for hit in hits for path in (hit.get("copies") or {}).get("paths", ())}
    unnamed = sum(hit["copies"]["count"] - len(hit["copies"]["paths"]) for hit in hits if hit.get("copies"))
    left = sorted(set(files) - shown - named)
    return [stale(f"says fresh and misses {path}, which has {' '.join(asked.words)}") for path in left[unnamed:]]


def judge_frame(asked, answer, form, may_be_degraded):
    """Returns what is wrong with what an answer says of itself: counts, mode, query, reason, what is pending."""
    found, hits = [], answer["hits"]
    if len(hits) > asked.limit:
        found.append(other(f"has {len(hits)} hits, more than {asked.limit}"))
    if answer["total"] < len(hits):
        found.append(false(f"says that {answer['total']} were found, and shows {len(hits)}"))
    if not answer["fresh"] and not answer.get("reason"):
        found.append(other("is not fresh and does not say why"))
    if answer["fresh"] and answer.get("reason"):
        found.append(other(f"is fresh, and says why not: {answer['reason']}"))
    pending = answer.get("pending", {})
    if answer["fresh"] and asked.level != "none" and pending.get("files"):
        found.append(false(f"is fresh, and says that {pending['files']} files are pending"))
    if not may_be_degraded and degraded_by(answer):
        found.append(other(f"says that it is degraded while nothing is broken: {degraded_by(answer)}"))
    if form == "full":
        found += judge_full(asked, answer)
    phrases = answer["parsed"].get("phrases", [])
    if phrases != ([" ".join(asked.words)] if asked.is_phrase else []):
        found.append(false(f"understood the phrases {phrases} of {asked.query!r}"))
    scores = [hit["score"] for hit in hits]
    if any(not 0 <= score <= 1 for score in scores):
        found.append(false(f"has scores that are none: {scores}"))
    return found


def degraded_by(answer):
    """Returns what an answer says did not run. Files that are no memories are told of, too; `doctor` is asked which."""
    said = (answer.get("degraded") or []) if isinstance(answer, dict) else []
    return [reason for reason in said if not reason.startswith("files of shared memories: ")]


def judge_full(asked, answer):
    found = []
    for key, expected in (("mode", asked.mode), ("query", asked.query)):
        if answer[key] != expected:
            found.append(false(f"says {key} {answer[key]!r}, asked was {expected!r}"))
    if [hit["rank"] for hit in answer["hits"]] != list(range(1, len(answer["hits"]) + 1)):
        found.append(false(f"has other ranks than 1, 2, 3: {[hit['rank'] for hit in answer['hits']]}"))
    for hit in answer["hits"]:
        if asked.root and hit["view"] != asked.root:
            found.append(false(f"says that {hit['path']} is of {hit['view']}"))
    blobs = {}
    for hit in answer["hits"]:
        if blobs.setdefault(hit["path"], hit["blob"]) != hit["blob"] and hit["kind"] in OF_FILES:
            found.append(doubled(f"has two contents of {hit['path']} at once"))
    return found
