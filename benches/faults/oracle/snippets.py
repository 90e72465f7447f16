"""Compares lines that an answer shows with those of a text; what is cut and what is redacted must really be so."""

import re

# A longer line is cut (search/hits/snippet.rs); the product counts characters.
LINE_CHARS = 200
CUT, REDACTED = "…", "[REDACTED]"


def shows(lines, first, snippet, credentials=()):
    """Returns what is wrong with a snippet that begins at line `first` of these lines; none if it is right."""
    shown = snippet.split("\n")
    for nth, line in enumerate(shown):
        number = first + nth
        if not 1 <= number <= len(lines):
            return f"line {number} of {len(lines)}: {line!r}"
        if not shows_line(lines[number - 1].rstrip("\r"), line, credentials):
            return f"line {number} is {lines[number - 1]!r}, not {line!r}"
    return None


def shows_line(line, shown, credentials=()):
    """Returns whether `shown` is a line of a text, maybe cut and with its credentials taken out."""
    if line.rstrip() == shown.rstrip():
        return True
    redacted = redact(line, shown, credentials)
    return any(form.rstrip() == shown.rstrip() or is_cut(form, shown) for form in {line, redacted})


def is_cut(line, shown):
    """Returns whether `shown` is a part of a line that is too long to be shown, with a mark at each end that is missing."""
    if len(line) <= LINE_CHARS:
        return False
    starts, ends = shown.startswith(CUT), shown.endswith(CUT)
    inside = shown[len(CUT) if starts else 0 : -len(CUT) if ends else None]
    if not (starts or ends) or not inside or len(inside) > LINE_CHARS:
        return False
    if not starts:
        return line.startswith(inside)
    return line.endswith(inside) if not ends else 0 < line.find(inside)


def redact(line, shown, credentials):
    """Returns a line with the credentials taken out that `shown` has not: only what was planted as one is excused."""
    if REDACTED not in shown:
        return line
    for credential in credentials:
        if credential in line and credential not in shown:
            line = line.replace(credential, REDACTED)
    return line


def planted_in(text):
    """Returns the values in a text that were written there to look like credentials."""
    return re.findall(r"^password: (\w+)$", text, re.M)


def credential_in(text, credentials):
    """Returns a planted credential that stands in a text."""
    return next((credential for credential in credentials if credential in text), None)


def has_lines(text, snippet, credentials=()):
    """Returns whether the lines of a snippet stand one after the other anywhere in a text."""
    lines = text.split("\n")
    n_shown = snippet.count("\n") + 1
    return any(shows(lines, first, snippet, credentials) is None for first in range(1, len(lines) - n_shown + 2))


def phrase_in(words, text):
    """Returns whether the words of a phrase stand next to each other in a text."""
    return re.search(r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, words)) + r"(?![^\W_])", text, re.I) is not None
