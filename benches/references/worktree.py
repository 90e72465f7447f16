"""The files of one language in a worktree, and what the server finds in them."""

import re
import subprocess
from collections import defaultdict

from languages import FIELDS, FUNCTIONS, TYPES
from lsp import path_of, uri_of
from text import Source

# Modules that hold unit tests inside of a source file.
TEST_MODULES = {"test", "tests"}


class Worktree:
    """The files of one language, and the symbols that the server finds in each."""

    def __init__(self, server, options):
        self.server, self.language, self.root = server, server.language, options.worktree
        self.fields = FIELDS if options.fields else {}
        listed = subprocess.run(["git", "-C", str(self.root), "ls-files", "-z", "--", *options.within],
                                capture_output=True, text=True, check=True).stdout.split("\0")
        self.paths = [path for path in listed if path.endswith(self.language.suffixes)
                      and (self.root / path).is_file() and not (self.root / path).is_symlink()]
        self.sources = {path: Source(self.root, path, self.language.name) for path in self.paths}
        self.opened, self.symbols = set(), {}
        for path in self.paths:
            self.symbols[path] = self.symbols_of(path)
        self.by_place = {(path, symbol["offset"]): symbol for path in self.paths for symbol in self.symbols[path]}
        self.class_of = self.constructors()
        self.bases = defaultdict(set)
        for symbol in self.by_place.values():
            if symbol["kind"] in TYPES.values():
                self.bases[symbol["name"]] |= self.sources[symbol["path"]].bases(symbol["offset"])

    def constructors(self):
        """Returns the places of classes by those of their constructors, where both have one name: Java."""
        found = {}
        for path, symbols in self.symbols.items():
            latest = {}
            for symbol in symbols:
                if symbol["kind"] in TYPES.values():
                    latest[symbol["name"]] = path, symbol["offset"]
                elif symbol["kind"] == "constructor" and symbol["name"] in latest:
                    found[path, symbol["offset"]] = latest[symbol["name"]]
        return found

    def open(self, path):
        if path in self.opened:
            return
        self.opened.add(path)
        document = {"uri": uri_of(self.root / path), "languageId": self.language.language_id(path), "version": 1,
                    "text": self.sources[path].text}
        self.server.tell("textDocument/didOpen", {"textDocument": document})

    def close(self, path):
        if path in self.opened and not self.language.keep_open:
            self.opened.discard(path)
            self.server.tell("textDocument/didClose", {"textDocument": {"uri": uri_of(self.root / path)}})

    def at(self, path, offset):
        return {"textDocument": {"uri": uri_of(self.root / path)}, "position": self.sources[path].position(offset)}

    def symbols_of(self, path):
        """Returns functions, methods and types of a file; what functions define inside is left out.

        An anonymous class, `new Type`, is none; its methods are.
        """
        self.open(path)
        document = {"textDocument": {"uri": uri_of(self.root / path)}}
        found, source = [], self.sources[path]
        left = [(symbol, "", 0) for symbol in self.server.ask("textDocument/documentSymbol", document) or ()]
        while left:
            symbol, container, container_kind = left.pop()
            if self.language.name == "java":  # without parameters: `put(K, V)`, `of(T) <T>`, `Map<K, V>`
                symbol["name"] = re.split(r"[(<]", symbol["name"])[0].strip()
            offset = source.offset(symbol["selectionRange"]["start"])
            name, kind = source.name_at(offset), FUNCTIONS.get(symbol["kind"]) or TYPES.get(symbol["kind"])
            kind = kind or container_kind in TYPES and self.fields.get(symbol["kind"])
            if kind and name and not symbol["name"].startswith("new ") and re.search(
                    rf"(^|\W){name}$", symbol["name"].split("(anonymous")[0].rstrip("(){} ")):
                found.append({
                    "path": path, "line": source.line(offset), "column": source.column(offset), "name": name,
                    "kind": kind, "container": container or receiver(symbol["name"]), "offset": offset,
                    "container_kind": TYPES.get(container_kind, ""),
                    "declared_only": source.declares_only(offset, source.offset(symbol["range"]["end"])),
                    "first": symbol["range"]["start"]["line"] + 1, "last": symbol["range"]["end"]["line"] + 1,
                })
            if symbol["kind"] not in FUNCTIONS and symbol["name"] not in TEST_MODULES:
                left += [(child, symbol["name"], symbol["kind"]) for child in symbol.get("children") or ()]
        self.close(path)
        return sorted(found, key=lambda symbol: symbol["offset"])

    def enclosing(self, path, line):
        """Returns name and line of the innermost function or type around a line."""
        around = [symbol for symbol in self.symbols[path] if symbol["first"] <= line <= symbol["last"]]
        if not around:
            return None
        inner = max(around, key=lambda symbol: (symbol["first"], -symbol["last"]))
        return {"name": inner["name"], "line": inner["line"]}

    def place(self, location):
        """Returns (path, offset) of what a location defines, its name's where that is known, or "external"."""
        path = path_of(location["uri"])
        try:
            path = str(path.relative_to(self.root))
        except ValueError:
            return "external"
        if path not in self.sources:
            return "external"
        source = self.sources[path]
        first, end = source.offset(location["range"]["start"]), source.offset(location["range"]["end"])
        for symbol in self.symbols[path]:
            if first <= symbol["offset"] < max(end, first + 1):
                return path, symbol["offset"]
        return path, first

    def definitions_at(self, path, offsets):
        """Returns for each offset of a file the set of places that the server says define it.

        A class that is called by its name is there beside the constructor.
        """
        self.open(path)
        results = self.server.ask_all("textDocument/definition", [self.at(path, offset) for offset in offsets])
        self.close(path)
        results = [[result] if isinstance(result, dict) else result or [] for result in results]
        found = [{self.place(location) for location in locations} for locations in results]
        for offset, places in zip(offsets, found):
            name = self.sources[path].name_at(offset)
            places |= {self.class_of[place] for place in places & self.class_of.keys()
                       if self.by_place[place]["name"] == name}
        return found

    def may_dispatch(self, place, symbol):
        """Returns whether a reference to `symbol` whose definition is at `place` is by way of something between.

        That is an interface, a base, or what is no function or type, such as a macro.
        """
        other = self.by_place.get(place)
        return not other or other["container_kind"] == "interface" or self.is_base(place, symbol)

    def is_base(self, place, symbol):
        """Returns whether what is at `place` is of a base, an interface or a trait of the type that `symbol` is of.

        Bases are told by name.
        """
        other = self.by_place.get(place)
        if not other:
            return False
        trait = re.search(r"(\w+)(?:<[^<>]*>)? for ", symbol["container"])
        seen, left = set(), [trait.group(1) if trait else re.sub("^new ", "", symbol["container"])]
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left += self.bases.get(name, ())
        return other["container"] in seen - {"", symbol["container"]}

    def is_in_literal(self, symbol):
        """Returns whether a function is of an object that no type is declared for: its references are not all found."""
        return self.language.name in ("typescript", "javascript") and bool(symbol["container"]) and not symbol["container_kind"]

    def is_declaration(self, path, offset):
        return (path, offset) in self.by_place


def receiver(name):
    """Returns the type of a method whose name is given as `(*Type).method`."""
    found = re.match(r"\(\*?(\w+)", name)
    return found.group(1) if found else ""
