"""Which section does a sentence of a Markdown page link to?

`training_sets.py` says what becomes of it. A section is written `path#L10-L20`, up to the next heading.
"""
import os
import re

FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.M | re.S)
HEADING = re.compile(r"^#{1,4}[ \t]+(.+?)[ \t]*#*$", re.M)
NAMED_ANCHOR = re.compile(r"\{#([\w-]+)\}|<a (?:id|name)=\"([\w-]+)\"")
PARAGRAPH = re.compile(r"(?:^.*\S.*\n?)+", re.M)
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


class Page:
    """A Markdown page, its code blanked, and its sections: anchor, first line, last line."""

    def __init__(self, path, text):
        self.path = path
        self.text = FENCE.sub(lambda fence: "\n" * fence.group().count("\n"), text)
        heads = list(HEADING.finditer(self.text))
        starts = [self.line(head.start()) for head in heads]
        ends = [start - 1 for start in starts[1:]] + [self.text.count("\n") + 1]
        self.sections = list(zip([anchor_of(head.group(1)) for head in heads], starts, ends))

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def section(self, anchor):
        return next((self.label(first, last) for name, first, last in self.sections if name == anchor), None)

    def section_at(self, line):
        around = next(((first, last) for _, first, last in self.sections if first <= line <= last), (1, line))
        return self.label(*around)

    def label(self, first, last):
        return f"{self.path}#L{first}-L{last}"

    def sentences(self):
        """Returns (line of its paragraph, sentence) of prose: no heading, table, HTML, nor list of links."""
        for match in PARAGRAPH.finditer(self.text):
            paragraph = " ".join(match.group().split())
            if not paragraph.startswith(("#", "|", "<", "- [", "* [")):
                line = self.line(match.start())
                yield from ((line, sentence) for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`\[])", paragraph))


def anchor_of(heading):
    """Returns the anchor that is written in a heading, else the one that GitHub makes of its text."""
    named = NAMED_ANCHOR.search(heading)
    if named:
        return named.group(1) or named.group(2)
    plain = re.sub(r"<[^>]+>|[`*_]", "", LINK.sub(r"\1", heading)).lower().strip()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def read_pages(tree):
    """Returns {path: Page} of all Markdown but change logs."""
    pages = {}
    for file in sorted(tree.rglob("*.md")):
        path = file.relative_to(tree)
        if file.is_file() and not {".git", "node_modules"} & set(path.parts) and "change" not in file.name.lower():
            pages[path.as_posix()] = Page(path.as_posix(), file.read_text(encoding="utf-8", errors="replace"))
    return pages


def linked_section(pages, page, sentence):
    """Returns the section of another page that the only link of a sentence leads to."""
    links = LINK.findall(sentence)
    file, _, anchor = links[0][1].partition("#") if len(links) == 1 else ("", "", "")
    if "://" in file or not file or not anchor:
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(page.path), file))
    target = next((pages[found] for found in [path, f"{path}.md", f"{path}/index.md"] if found in pages), None)
    return target.section(anchor) if target and target is not page else None


def without_links(sentence):
    """Returns the text of a sentence without markup."""
    return re.sub(r"[*_>`]", "", LINK.sub(r"\1", sentence)).strip()
