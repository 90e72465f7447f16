#!/usr/bin/env python3
"""Who uses a definition? The answers of a language server, kept as a file of known answers.

  truth.py LANGUAGE WORKTREE --out FILE [--repository NAME] [--tools DIR]... [--within DIR]... [--seed 1]
           [--jar FILE]... [--fields]

Draws definitions (functions, methods, types, or fields with `--fields`, outside of tests), half of them with a name that several definitions
have, and asks for the definition of every word of the worktree that is spelled like one of them; references add
what is spelled otherwise. Then draws uses and keeps the definition of each. FILE is JSON lines; the first says how
it was made, README.md says what the others hold. The worktree is changed for some languages (`prepared`), so give
one that is for this alone.

Needs Python 3.9, git and the server: pyright, gopls, rust-analyzer, typescript-language-server, clangd, jdtls or
intelephense. jdtls runs with the Java of JAVA_HOME, else of PATH, 21 or newer.
Exit code: 0 written, 2 wrong usage, 3 the server failed.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
from languages import C_SOURCES, CPP_SOURCES, FIELDS, LANGUAGES, TESTS, version_of  # noqa: E402
from lsp import Server, ServerError, uri_of  # noqa: E402
from uses import Uses  # noqa: E402
from worktree import Worktree  # noqa: E402

# Words of one name in the worktree; a name with more is left out, and counted.
MOST_OCCURRENCES = 2500
# Uses of one definition, likewise.
MOST_USES = 400
# At most one definition in so many may have no use.
UNUSED_ONE_IN = 6
# What the language calls or a test runner runs: nobody asks who uses it.
NOT_ASKED_FOR = re.compile(r"__\w+__$|test_|main$|(__)?construct(or)?$")


def draw_definitions(worktree, options, counts):
    """Returns definitions in random order with shared and unique names in turn, and says how many of each there are."""
    drawn_from = [path for path in worktree.paths if not TESTS.search(path)
                  and not any(fnmatchcase(path, glob) for glob in options.not_from)]
    pool = [symbol for path in drawn_from for symbol in worktree.symbols[path]
            if options.fields == (symbol["kind"] in FIELDS.values())
            and not symbol["declared_only"] and len(symbol["name"]) > 1 and not NOT_ASKED_FOR.match(symbol["name"])]
    # Overloads of one thing are in one place, constructors in that of their class: places count, not symbols.
    places = defaultdict(set)
    for path in worktree.paths:
        for symbol in (symbol for symbol in worktree.symbols[path] if not symbol["declared_only"]):
            symbol = worktree.by_place.get(worktree.class_of.get((path, symbol["offset"])), symbol)
            places[symbol["name"]].add((symbol["path"], symbol["container"]))
    words = Counter(name for source in worktree.sources.values() for _, name in source.occurrences(places))
    usable = [symbol for symbol in pool if words[symbol["name"]] <= MOST_OCCURRENCES]
    for symbol in usable:
        symbol["same_name"], symbol["words"] = len(places[symbol["name"]]), words[symbol["name"]]
    draw = random.Random(options.seed)
    draw.shuffle(usable)
    shared = [symbol for symbol in usable if symbol["same_name"] > 1]
    unique = [symbol for symbol in usable if symbol["same_name"] == 1]
    counts.update(definitions_in_pool=len(pool), of_which_share_a_name=len(shared), names_too_frequent=len({
        symbol["name"] for symbol in pool if words[symbol["name"]] > MOST_OCCURRENCES}))
    return shared, unique


def sample(worktree, options, counts):
    """Yields (symbol, verdicts): `--definitions` of them, half of them with a shared name where there are so many."""
    shared, unique = draw_definitions(worktree, options, counts)
    uses, half = Uses(worktree), options.definitions // 2
    total = 0
    for pool, until in [(shared, half), (unique, options.definitions)]:
        wanted, taken, unused, done = until - total, 0, 0, 0
        while taken < wanted and done < len(pool):
            batch = pool[done:done + wanted - taken]
            done += len(batch)
            uses.learn(symbol["name"] for symbol in batch)
            for symbol in batch:
                verdicts = list(uses.verdicts(symbol, uses.learn_references(symbol)))
                n_uses = sum(verdict == "use" for *_, verdict in verdicts)
                if n_uses > MOST_USES:
                    counts["definitions_with_too_many_uses"] += 1
                elif n_uses == 0 and unused >= wanted // UNUSED_ONE_IN:
                    counts["definitions_without_uses_left_out"] += 1
                else:
                    taken, unused = taken + 1, unused + (n_uses == 0)
                    yield symbol, verdicts
        total += taken


def draw_uses(worktree, options):
    """Yields random uses of functions, methods and types of the worktree: (path, offset, place)."""
    draw = random.Random(options.seed + 1)
    every = [(path, offset) for path in worktree.paths for offset in worktree.sources[path].identifiers()]
    draw.shuffle(every)
    named = {symbol["name"] for symbols in worktree.symbols.values() for symbol in symbols}
    every = [(path, offset) for path, offset in every if worktree.sources[path].name_at(offset) in named
             and not worktree.is_declaration(path, offset)][:3 * options.uses]
    by_path = defaultdict(list)
    for path, offset in every:
        by_path[path].append(offset)
    answers = {}
    for path, offsets in by_path.items():
        for offset, places in zip(offsets, worktree.definitions_at(path, offsets)):
            answers[path, offset] = places
    taken = 0
    for path, offset in every:
        places = answers[path, offset] - {worktree.class_of.get(place) for place in answers[path, offset]}
        known = [place for place in places if place == "external" or place in worktree.by_place]
        if taken < options.uses and len(places) == 1 and known and worktree.sources[path].kind(offset) == "code":
            taken += 1
            yield path, offset, known[0]


def use_row(worktree, path, offset, definition, **more):
    source = worktree.sources[path]
    line = source.line(offset)
    row = {**more, "path": path, "line": line, "column": source.column(offset), "name": source.name_at(offset),
           "definition": definition, "role": source.role(offset)}
    around = worktree.enclosing(path, line)
    return {**row, "enclosing": around} if around else row


def ungraded_rows(worktree, number, verdicts):
    lines = defaultdict(lambda: defaultdict(set))
    for path, offset, _, verdict in verdicts:
        if verdict != "use":
            lines[verdict][path].add(worktree.sources[path].line(offset))
    for why, at in sorted(lines.items()):
        yield {"type": "ungraded", "definition": number, "why": why,
               "at": {path: sorted(at[path]) for path in sorted(at)}}


def rows(worktree, options, counts):
    kept = ["path", "line", "column", "name", "kind", "container", "same_name", "words"]
    for number, (symbol, verdicts) in enumerate(sample(worktree, options, counts)):
        counts["definitions"] += 1
        yield {"type": "definition", "id": number, **{key: symbol[key] for key in kept}}
        for path, offset, _, verdict in verdicts:
            counts[verdict] += 1
            if verdict == "use":
                yield use_row(worktree, path, offset, number, type="use")
        yield from ungraded_rows(worktree, number, verdicts)
        print(f"{number + 1} {symbol['path']}:{symbol['line']} {symbol['name']} "
              f"{dict(Counter(verdict for *_, verdict in verdicts))}", file=sys.stderr, flush=True)
    for path, offset, place in draw_uses(worktree, options):
        counts["drawn_uses"] += 1
        definition = place
        if place != "external":
            definition = {key: worktree.by_place[place][key] for key in ["path", "line", "name", "container"]}
        yield use_row(worktree, path, offset, definition, type="drawn")


def header(worktree, options, environment, prepared, counts):
    commit = subprocess.run(["git", "-C", str(options.worktree), "rev-parse", "HEAD"], capture_output=True, text=True,
                            check=True).stdout.strip()
    about = worktree.server.about
    tool = version_of(worktree.language, environment) or about.get("version") or worktree.server.version_seen
    return {"type": "header", "repository": options.repository, "commit": commit, "language": options.language,
            "server": worktree.language.command[0], "version": tool, "seed": options.seed, "within": options.within,
            "not_from": options.not_from,
            "suffixes": worktree.language.suffixes, "n_files": len(worktree.paths), "prepared": prepared,
            "line": "from 1", "column": "from 1, in bytes of UTF-8", "counts": dict(counts)}


def make(options):
    language = LANGUAGES[options.language]
    path = os.pathsep.join([*map(str, options.tools), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path}
    for item in options.env:
        name, _, value = item.partition("=")
        environment[name] = value
    os.environ["PATH"] = path  # programs are looked up there, too
    prepared = language.prepare(options) if language.prepare else None
    with open(options.out.with_suffix(".log"), "wb") as log, tempfile.TemporaryDirectory(prefix="truth-") as scratch:
        more = language.arguments(environment, scratch) if language.arguments else []
        try:
            server = Server(language, language.command + more, options.worktree, environment, options.wait, log)
        except OSError as error:
            raise ServerError(f"{language.command[0]} cannot be run: {error}; install it or give --tools its folder")
        try:
            if language.command[0] == "clangd":  # indexing begins with the first document
                endings = C_SOURCES if options.language == "c" else CPP_SOURCES
                first = next(path for path in sorted(options.worktree.rglob("*")) if path.suffix in endings)
                document = {"uri": uri_of(first), "languageId": language.name, "version": 1, "text": first.read_text()}
                server.tell("textDocument/didOpen", {"textDocument": document})
            server.wait_ready()
            counts = Counter()
            worktree = Worktree(server, options)
            body = list(rows(worktree, options, counts))
            body.insert(0, header(worktree, options, environment, prepared, counts))
        finally:
            server.end()
    options.out.write_text("".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in body))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("language", choices=LANGUAGES)
    add("worktree", type=Path, help="a clone that this may change")
    add("--out", type=Path, required=True, help="the file to write; the server's log goes beside it")
    add("--repository", default="", metavar="OWNER/NAME", help="what the header calls the repository")
    add("--tools", type=Path, action="append", default=[], metavar="DIR", help="folder of programs, searched first")
    add("--within", action="append", default=[], metavar="DIR", help="only files of this folder, git's pathspec")
    add("--not-from", action="append", default=[], metavar="GLOB",
        help="files to draw no definitions from, such as those that the build leaves out")
    add("--jar", type=Path, action="append", default=[], metavar="FILE", help="Java: a jar that the code imports from")
    add("--env", action="append", default=[], metavar="NAME=VALUE", help="environment of the server")
    add("--definitions", type=int, default=60, metavar="N", help="how many definitions (default: 60)")
    add("--fields", action="store_true", help="draw fields and variants of types only")
    add("--uses", type=int, default=100, metavar="N", help="how many drawn uses (default: 100)")
    add("--seed", type=int, default=1)
    add("--wait", type=int, default=900, metavar="S", help="longest wait for one answer, s (default: 900)")
    options = parser.parse_args()
    options.worktree, options.out = options.worktree.resolve(), options.out.resolve()
    if not (options.worktree / ".git").exists():
        parser.error(f"{options.worktree}: no git worktree; give a clone")
    try:
        make(options)
    except ServerError as error:
        print(f"truth: {options.language}: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
