"""The words of a worktree that refer to a definition, and those that may."""

from collections import defaultdict

from lsp import path_of


class Uses:
    """What every word that is spelled like a drawn definition refers to."""

    def __init__(self, worktree):
        self.worktree = worktree
        self.known = {}  # (path, offset): (name, set of places)
        self.names = set()

    def learn(self, names):
        """Asks for the definitions of all words spelled like `names`, file by file."""
        names = set(names) - self.names
        self.names |= names
        for path in self.worktree.paths if names else ():
            self.learn_in(path, names)

    def learn_in(self, path, names):
        """Asks for the words of one file, then for those of the names that it imports them by."""
        source = self.worktree.sources[path]
        found = [word for word in source.occurrences(names) if (path, word[0]) not in self.known]
        answers = self.worktree.definitions_at(path, [offset for offset, _ in found])
        for (offset, name), places in zip(found, answers):
            self.known[path, offset] = (name, places)
        aliases = {source.alias(offset) for offset, _ in found} - {"", "_"} - names
        if aliases:
            self.learn_in(path, aliases)

    def learn_references(self, symbol):
        """Asks for the references of a definition; returns those as {(path, offset)}."""
        path, tree = symbol["path"], self.worktree
        tree.open(path)
        params = {**tree.at(path, symbol["offset"]), "context": {"includeDeclaration": False}}
        locations = tree.server.ask("textDocument/references", params) or []
        tree.close(path)
        by_path = defaultdict(set)
        for location in locations:
            try:
                other = str(path_of(location["uri"]).relative_to(tree.root))
            except ValueError:
                continue
            if other in tree.sources:
                by_path[other].add(tree.sources[other].name_within(location["range"], symbol["name"]))
        for other, offsets in by_path.items():
            new = sorted(offset for offset in offsets if (other, offset) not in self.known)
            for offset, places in zip(new, tree.definitions_at(other, new)):
                self.known[other, offset] = (tree.sources[other].name_at(offset), places)
        return {(other, offset) for other, offsets in by_path.items() for offset in offsets}

    def verdicts(self, symbol, references):
        """Yields (path, offset, name, verdict) of each word that is a use of `symbol`, or may be one.

        Verdicts: "use"; "declaration" (a prototype, an overload); "comment"; "dispatch" (its definition is
        that of an interface, a base or a macro, by way of which it may be a use); "several" (definitions in several
        files, one of them this); "unknown" (a name in code that the server cannot tell).
        """
        target, path_of_target = (symbol["path"], symbol["offset"]), symbol["path"]
        for (path, offset), (name, places) in sorted(self.known.items()):
            source = self.worktree.sources[path]
            is_reference = (path, offset) in references
            if (path, offset) == target or not (name == symbol["name"] or is_reference or target in places):
                continue
            if target in places:
                if self.worktree.is_declaration(path, offset) or (path, offset) in places:
                    yield path, offset, name, "declaration"
                elif any(place[0] != path_of_target for place in places):
                    yield path, offset, name, "several"
                else:
                    yield path, offset, name, "comment" if source.kind(offset) == "comment" else "use"
            elif is_reference:
                yield from self.reference(path, offset, name, places, symbol)
            elif any(self.worktree.is_base(place, symbol) for place in places) or (
                    self.worktree.is_in_literal(symbol)
                    and any(place != "external" and self.worktree.may_dispatch(place, symbol) for place in places)):
                yield path, offset, name, "dispatch"
            elif not places and source.kind(offset) == "code" and not source.is_keyword(offset):
                yield path, offset, name, "unknown"


    def reference(self, path, offset, name, places, symbol):
        """Yields the verdict on a reference whose definition is another place than that of `symbol`, or unknown."""
        target = (symbol["path"], symbol["offset"])
        known = places - {(path, offset)}  # an overriding method is the definition of itself
        if self.worktree.is_declaration(path, offset):
            yield path, offset, name, "declaration"
        elif not known or self.worktree.class_of.get(target) in known or any(
                target in self.known.get(place, ("", ()))[1] for place in known):
            yield path, offset, name, "use"  # also by way of a prototype, or of the class of a constructor
        elif any(place == "external" or self.worktree.may_dispatch(place, symbol) for place in known):
            yield path, offset, name, "dispatch"
