"""Lies about definitions, their uses, and the history of files."""

from lies.lie import drop_first, first, later, lie, other_word

REACH = ("callers", "callees", "impact")


@lie("callers-dropped", "the first caller is left out", *REACH)
def _(answer):
    drop_first(answer, "found", "n_found")


@lie("callers-invented", "somebody calls it who does not", *REACH)
def _(answer):
    for definition in first(answer.get("definitions", [])):
        found = {"path": definition["path"], "title": "invented", "lines": definition["lines"], "line": definition["lines"][0]}
        answer["found"].append({**found, "text": "invented()", "depth": 1, "certainty": "exact"})
        answer["n_found"] += 1


@lie("callers-line", "the lines of callers", *REACH)
def _(answer):
    for found in answer.get("found", []):
        found["line"] += 1


@lie("callers-path", "the files of callers", *REACH)
def _(answer):
    for found in answer.get("found", []):
        found["path"] = f"gone/{found['path']}"


@lie("tests-dropped", "the tests of a definition are left out", "tests")
def _(answer):
    answer["found"] = [found for found in answer.get("found", []) if found["depth"] != 1]
    answer["n_found"] = len(answer["found"])


@lie("tests-line", "the lines of tests", "tests")
def _(answer):
    for found in answer.get("found", []):
        found["line"] += 1


@lie("implements-dropped", "the first type that extends it is left out", "implements")
def _(answer):
    drop_first(answer, "found", "n_found")


@lie("implements-title", "the names of types", "implements")
def _(answer):
    for found in answer.get("found", []):
        found["title"] = other_word(found["title"])


@lie("refs-line", "the lines of uses", "refs")
def _(answer):
    for use in answer.get("uses", []):
        use["line"] += 1


@lie("refs-dropped", "the first use is left out", "refs")
def _(answer):
    drop_first(answer, "uses")


@lie("refs-text", "a word of the line that uses it", "refs")
def _(answer):
    for use in answer.get("uses", []):
        use["text"] = other_word(use["text"])


@lie("refs-definition", "the lines of the definition", "refs")
def _(answer):
    for definition in answer.get("definitions", []):
        definition["lines"] = later(definition["lines"])


@lie("outline-dropped", "the first definition of a file is left out", "outline")
def _(answer):
    drop_first(answer, "items", "n_found")


@lie("outline-lines", "the lines of definitions", "outline")
def _(answer):
    for item in answer.get("items", []):
        item["lines"] = later(item["lines"])


@lie("outline-title", "the names of definitions", "outline")
def _(answer):
    for item in answer.get("items", []):
        item["title"] = other_word(item["title"])


@lie("show-line", "a word of what is shown", "show")
def _(answer):
    for part in answer.get("parts", []):
        part["text"] = other_word(part["text"])


@lie("show-lines-number", "the numbers of the lines shown", "show")
def _(answer):
    for part in answer.get("parts", []):
        part["lines"] = later(part["lines"])


@lie("show-line-dropped", "the first line of what is shown", "show")
def _(answer):
    for part in answer.get("parts", []):
        part["text"] = part["text"].partition("\n")[2]


@lie("why-commit-dropped", "the newest commit is left out", "why")
def _(answer):
    drop_first(answer, "commits")


@lie("why-subject", "a word of each commit's subject", "why")
def _(answer):
    for commit in answer.get("commits", []):
        commit["subject"] = other_word(commit["subject"])


@lie("why-memory-dropped", "memories about it are left out", "why", also=("add-about",))
def _(answer):
    answer["memories"] = []


@lie("why-uncommitted", "uncommitted lines are not named", "why")
def _(answer):
    answer["uncommitted"] = []


@lie("changed-path-missing", "the first changed file is left out", "changed")
def _(answer):
    drop_first(answer, "files", "total")


@lie("changed-status", "what happened to files", "changed")
def _(answer):
    for file in answer.get("files", []):
        file["status"] = "modified" if file["status"] != "modified" else "added"


@lie("changed-total", "the number of changed files", "changed")
def _(answer):
    answer["total"] += 1


@lie("changed-emptied", "nothing has changed", "changed")
def _(answer):
    answer.update(files=[], total=0)


@lie("status-file-missing", "a file is not indexed", "status")
def _(answer):
    drop_first(answer, "files")


@lie("doctor-silent", "all is well", "doctor", also=("write-hostile", "write-no-memory"))
def _(answer):
    for check in answer.get("checks", []):
        check.update(ok=True, detail="ok")
        check.pop("hint", None)
