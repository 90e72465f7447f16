"""What is wrong with an answer, and of which kind."""

import dataclasses

STALE, FALSE, LOST, DOUBLED, OTHER = "silently stale", "false", "lost", "doubled", "other"
KINDS = (STALE, FALSE, LOST, DOUBLED, OTHER)


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that does not hold."""

    kind: str
    what: str

    def __str__(self):
        return f"{self.kind.upper()}: {self.what}"


def stale(what):
    return Finding(STALE, what)


def false(what):
    return Finding(FALSE, what)


def lost(what):
    return Finding(LOST, what)


def doubled(what):
    return Finding(DOUBLED, what)


def other(what):
    return Finding(OTHER, what)


def twice(keys, of_what):
    """Returns a finding for each key that is there more than once."""
    seen, found = set(), []
    for key in keys:
        if key in seen:
            found.append(doubled(f"{of_what} twice: {key}"))
        seen.add(key)
    return found
