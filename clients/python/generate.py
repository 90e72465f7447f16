#!/usr/bin/env python3
"""Writes src/memod/types.py from docs/src/reference/protocol-reference.md; a test keeps the two equal.

python3 clients/python/generate.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
REFERENCE = HERE.parent.parent / "docs/src/reference/protocol-reference.md"
TYPES = HERE / "src/memod/types.py"

# The methods that `Memo` has: class of the optional params, class of the result, params that its signature names.
METHODS = {
    "search": ("SearchParams", "SearchResult", "query"),
    "brief": ("BriefParams", "BriefResult", ""),
    "map": ("MapParams", "MapResult", ""),
    "show": ("ShowParams", "ShowResult", "target"),
    "outline": ("OutlineParams", "OutlineResult", "target"),
    "refs": ("RefsParams", "RefsResult", "target"),
    "callers": ("CallsParams", "ReachResult", "target since"),
    "callees": ("CallsParams", "ReachResult", "target since"),
    "impact": ("ReachParams", "ReachResult", "target"),
    "tests": ("ReachParams", "ReachResult", "target"),
    "implements": ("CallsParams", "ReachResult", "target since"),
    "why": ("WhyParams", "WhyResult", "target"),
    "changed": ("ChangedParams", "ChangedResult", "since"),
    "status": ("StatusParams", "StatusResult", ""),
    "sync": ("SyncParams", "SyncResult", ""),
    "memory.add": ("AddParams", "AddResult", "content"),
    "memory.get": ("", "ListResult", "ids"),
    "memory.list": ("ListParams", "ListResult", ""),
    "memory.update": ("UpdateParams", "UpdateResult", "id"),
    "memory.confirm": ("", "UpdateResult", "id"),
    "memory.forget": ("ForgetParams", "ForgetResult", "ids"),
    "memory.restore": ("", "ListResult", "ids"),
    "memory.purge": ("ForgetParams", "ForgetResult", "ids"),
    "memory.tags": ("", "TallyResult", ""),
    "memory.containers": ("", "TallyResult", ""),
    "memory.history": ("", "HistoryResult", "ids"),
    "memory.stats": ("", "StatsResult", ""),
    "memory.recall": ("RecallParams", "RecallResult", "query"),
    "memory.promote": ("", "UpdateResult", "id to"),
    "memory.consolidate": ("ConsolidateParams", "ConsolidateResult", "ids summary"),
    "memory.link": ("", "LinkResult", "from to kind"),
    "memory.unlink": ("", "LinkResult", "from to kind"),
    "memory.links": ("", "LinksResult", "id depth"),
    "memory.resolve": ("", "ResolveResult", "winner loser"),
    "memory.related": ("", "RelatedResult", "id limit"),
    "memory.dedupe": ("DedupeParams", "DedupeResult", ""),
    "memory.merge": ("", "MergeResult", "keep ids expect"),
    "memory.backup": ("", "BackupResult", "path"),
}
# Params that the client sends itself, or that only an export of another memod has.
OWN = {"cwd", "client", "agent_name", "request", "anchors"}
# Names of sets of words, by their first; the others are named after the first key that has them.
WORDS = {"related_to": "LinkKind", "code": "FileClass", "bm25": "Signal_", "none": "Freshness", "memories": "Extra"}
KEYWORDS = {"from", "not", "with"}
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict[str, Any]"}

Row = tuple[str, str, str]


def sections(text: str) -> dict[str, dict[str, list[Row]]]:
    """Returns the tables below each heading: of params, of the result, or of an object."""
    found: dict[str, dict[str, list[Row]]] = {}
    tables: dict[str, list[Row]] = {}
    rows: list[Row] = []
    for line in text.splitlines():
        if heading := re.fullmatch(r"### (?:Type )?`(.+)`", line):
            tables = found[heading[1]] = {}
        elif head := re.fullmatch(r"\| (param|key|key of the result) \| type \| meaning \|", line):
            rows = tables[head[1]] = []
        elif row := re.fullmatch(r"\| `(\w+)` \| (.+?) \| (.*) \|", line):
            rows.append((row[1], row[2], row[3]))
    return found


class Module:
    """The module in the making."""

    def __init__(self, tables: dict[str, dict[str, list[Row]]]) -> None:
        self.tables = tables
        self.words: dict[str, str] = {}
        self.classes: dict[str, str] = {}

    def type_of(self, key: str, kind: str) -> str:
        """Returns the type of Python of one of the reference."""
        parts = kind.split(" or ")
        is_optional = "null" in parts or ("absent" in parts and not kind.startswith(("array", "boolean")))
        kind = " or ".join(part for part in parts if part not in ("null", "absent"))
        if items := re.fullmatch(r"array of (.+)", kind):
            found = f"list[{self.type_of(key, items[1])}]"
        elif kind.startswith('`"'):
            found = self.words_of(key, re.findall(r'"([^"]+)"', kind))
        elif pair := re.fullmatch(r"\[(\w+), (\w+)\]", kind):
            found = f"tuple[{SIMPLE[pair[1]]}, {SIMPLE[pair[2]]}]"
        elif link := re.fullmatch(r"\[(\w+)\]\(#.+\)", kind):
            found = self.record(link[1], self.tables[link[1]]["key"])
        else:
            found = SIMPLE[kind]
        return f"Optional[{found}]" if is_optional else found

    def words_of(self, key: str, words: list[str]) -> str:
        name = WORDS.get(words[0], key.title()).rstrip("_")
        if name in self.tables:  # a type of the reference has the name
            name += "Name"
        literal = f"{name} = Literal[{', '.join(f'{word!r}' for word in words)}]".replace("'", '"')
        assert self.words.setdefault(name, literal) == literal, name
        return name

    def record(self, name: str, rows: list[Row]) -> str:
        body = self.attributes(rows)
        known = self.classes.setdefault(name, f"class {name}(Record):\n{body}")
        assert known.endswith(body), f"two results are called {name}"
        return name

    def params(self, name: str, rows: list[Row]) -> None:
        if name:
            body = self.attributes(rows)
            known = self.classes.setdefault(name, f"class {name}(TypedDict, total=False):\n{body}")
            assert known.endswith(body), f"two sets of params are called {name}"

    def attributes(self, rows: list[Row]) -> str:
        lines: list[str] = []
        for key, kind, meaning in rows:
            name = key + "_" * (key in KEYWORDS)
            lines += [f"    {name}: {self.type_of(key, kind)}", *docstring(meaning)]
        return "\n".join(lines)


def docstring(text: str) -> list[str]:
    """Returns a meaning as the docstring of an attribute, without links."""
    text = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", text).replace("\\", "\\\\")
    quote = '"""'
    end = " " if text.endswith('"') else ""
    return [f"    {quote}{text}{end}{quote}"]


def module(text: str) -> str:
    """Returns the text of the module."""
    tables = sections(text)
    made = Module(tables)
    allowed: list[str] = []
    for method, (params, result, named) in METHODS.items():
        all_params = [row for row in tables[method]["param"] if row[0] not in OWN]
        made.params(params, [row for row in all_params if row[0] not in named.split()])
        made.record(result, tables[method]["key of the result"])
        keys = ", ".join(f'"{key}"' for key, _, _ in all_params)
        allowed.append(f'    "{method}": [{keys}],')
    head = [
        '"""Has the types of params and results; made by generate.py of docs/src/reference/protocol-reference.md."""',
        "from __future__ import annotations",
        "from typing import Any, Literal, Optional, TypedDict",
        "from ._record import Record",
    ]
    table = ["PARAMS: dict[str, list[str]] = {", *allowed, "}", '"""The params of each method of `Memo`."""']
    words = "\n".join(made.words.values())
    return "\n\n".join([*head, words, *(f"\n{body}" for body in made.classes.values()), "\n" + "\n".join(table)]) + "\n"


if __name__ == "__main__":
    text = module(REFERENCE.read_text(encoding="utf-8"))
    if sys.argv[1:] == ["--check"]:
        sys.exit(text != TYPES.read_text(encoding="utf-8") and f"{TYPES}: not what {REFERENCE} says; run {__file__}")
    TYPES.write_text(text, encoding="utf-8")
