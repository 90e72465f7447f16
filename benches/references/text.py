"""Source text: where names stand, what is a comment or a string, and what a name is used for."""

import re

STRING, COMMENT = " ", "\0"
DOUBLE, SINGLE = r'"(?:\\.|[^"\\\n])*"', r"'(?:\\.|[^'\\\n])*'"
BLOCK, LINE = r"/\*.*?(?:\*/|\Z)", r"//[^\n]*"

# Rust's comments nest; one level is enough for the globs in its documentation.
NESTED = r"/\*(?:(?!/\*|\*/).|/\*(?:(?!/\*|\*/).)*\*/)*(?:\*/|\Z)"

# One pattern a language; `c` is a comment, what else matches is a string.
PATTERNS = {
    "python": rf"(?P<c>\#[^\n]*)|'''(?:\\.|.)*?'''|\"\"\"(?:\\.|.)*?\"\"\"|{DOUBLE}|{SINGLE}",
    "rust": rf'(?P<c>{LINE}|{NESTED})|\bb?r(?P<h>\#*)".*?"(?P=h)|"(?:\\.|[^"\\])*"|' + r"'(?:\\[^\n']*|[^'\\\n])'",
    "go": rf"(?P<c>{LINE}|{BLOCK})|{DOUBLE}|{SINGLE}|`[^`]*`",
    "typescript": rf"(?P<c>{LINE}|{BLOCK})|{DOUBLE}|{SINGLE}|`(?:\\.|[^`\\])*`",
    "c": rf"(?P<c>{LINE}|{BLOCK})|{DOUBLE}|{SINGLE}",
    "java": rf"(?P<c>{LINE}|{BLOCK})|\"\"\"(?:\\.|.)*?\"\"\"|{DOUBLE}|{SINGLE}",
    "php": rf"(?P<c>{LINE}|\#(?!\[)[^\n]*|{BLOCK})"
           + r"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|<<<['"]?(?P<h>\w+).*?\n\s*(?P=h)\b""",
}
PATTERNS["javascript"] = PATTERNS["typescript"]
PATTERNS = {name: re.compile(pattern, re.DOTALL) for name, pattern in PATTERNS.items()}

IDENTIFIER = re.compile(r"[^\W\d]\w*")
# A statement that imports, seen from its beginning to the name.
IMPORTS = {
    "python": r"(?:from\s+\S+\s+)?import\b[^;\n]*(?:\([^)]*)?\Z",
    "rust": r"(?:pub(?:\([^)]*\))?\s+)?(?:use|extern\s+crate)\b[^;]*\Z",
    "go": r"import\b[^\n]*\Z",
    "typescript": r"(?:import|export)\b(?:\s+type)?\s*(?:[\w$]+\s*,\s*)?(?:[{*][^};]*)?\Z",
    "c": r"#\s*include[^\n]*\Z",
    "java": r"import\b[^\n]*\Z",
    "php": r"use\s[^;({]*(?:\{[^;}]*)?\Z",
}
IMPORTS["javascript"] = IMPORTS["typescript"]
IMPORTS = {name: re.compile(r"^[ \t]*" + pattern, re.MULTILINE) for name, pattern in IMPORTS.items()}
# Words of the language that are names elsewhere: no use when no definition is known.
KEYWORDS = {
    "typescript": r"(?<![.\w$])(any|unknown|never|string|number|boolean|object|symbol|bigint|void)\b",
    "rust": r"(?<=#\[)\w+|(?<=cfg\()\w+",
}
KEYWORDS = {name: re.compile(pattern) for name, pattern in KEYWORDS.items()}
ALIAS = re.compile(r"\s+as\s+(\w+)")
# From the name of a type to its body, for languages that write bases there.
BASES = {"python": re.compile(r"(?:\[[^\]]*\])?\([^)]*\)"), "typescript": re.compile(r"[^{;=]{0,600}(?=\{)"),
         "php": re.compile(r"[^{;]{0,600}(?=\{)"), "javascript": re.compile(r"[^{;=]{0,600}(?=\{)"),
         "java": re.compile(r"[^{;=]{0,600}(?=\{)")}
# How far back the beginning of an import is looked for, characters.
IMPORT_REACH = 4000
# After a name that is called: `(`, also behind type arguments or the `!` of TypeScript.
CALL = re.compile(r"\s*(?:\?\.|!)?\s*(?:::\s*)?(?:<[^<>;(){}]*(?:<[^<>;(){}]*>[^<>;(){}]*)*>)?\s*\(")
CALL_WITH_BRACKETS = {"go": re.compile(r"(?:\[[^\]\n]*\])?\(")}


class Source:
    """One file: its text, the same with comments and strings blanked, and the beginnings of its lines."""

    def __init__(self, root, path, language):
        language = "c" if language == "cpp" else language  # read alike
        self.path, self.language = path, language
        self.text = (root / path).read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
        self.masked = PATTERNS[language].sub(blank, self.text)
        self.starts = [0] + [found.end() for found in re.finditer("\n", self.text)]

    def offset(self, position):
        """Returns the offset of a position of the protocol: line from 0, UTF-16 units."""
        if position["line"] >= len(self.starts):
            return len(self.text)
        start, units = self.starts[position["line"]], position["character"]
        line = self.text[start:start + units]
        if not line.isascii():
            line = line.encode("utf-16-le")[:2 * units].decode("utf-16-le", "ignore")
        return start + len(line)

    def position(self, offset):
        line = self.line(offset) - 1
        before = self.text[self.starts[line]:offset]
        return {"line": line, "character": len(before.encode("utf-16-le")) // 2}

    def line(self, offset):
        """Returns the line of an offset, from 1."""
        low, high = 0, len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.starts[middle] <= offset else (low, middle)
        return low + 1

    def column(self, offset):
        """Returns the column of an offset, from 1, in bytes of UTF-8."""
        return len(self.text[self.starts[self.line(offset) - 1]:offset].encode()) + 1

    def name_at(self, offset):
        found = IDENTIFIER.match(self.text, offset)
        return found.group() if found else ""

    def occurrences(self, names):
        """Yields (offset, name) of each word of the text that is in `names`."""
        for found in IDENTIFIER.finditer(self.text):
            if found.group() in names:
                yield found.start(), found.group()

    def identifiers(self):
        """Yields the offset of each name outside of comments and strings."""
        return (found.start() for found in IDENTIFIER.finditer(self.masked))

    def kind(self, offset):
        return {COMMENT: "comment", STRING: "string"}.get(self.masked[offset], "code")

    def name_within(self, around, name):
        """Returns the offset of `name` in a range that may be of a qualified name, else where the range begins."""
        first, end = self.offset(around["start"]), self.offset(around["end"])
        if self.name_at(first) == name:
            return first
        found = [match.start() for match in re.finditer(rf"\b{re.escape(name)}\b", self.text[first:end])]
        return first + found[-1] if found else first

    def declares_only(self, offset, end):
        """Returns whether what is named at `offset` is a prototype or a type without a body: C has them apart."""
        return self.language == "c" and "{" not in self.masked[offset:end] and "{" not in self.line_before(offset)

    def line_before(self, offset):
        return self.masked[self.starts[self.line(offset) - 1]:offset]

    def bases(self, offset):
        """Returns the names in the header of a type: its bases, and more names that do no harm."""
        end = BASES.get(self.language)
        header = end.match(self.masked, offset + len(self.name_at(offset))) if end else None
        return set(IDENTIFIER.findall(header.group())) if header else set()

    def is_keyword(self, offset):
        return self.language in KEYWORDS and bool(KEYWORDS[self.language].match(self.masked, offset))

    def role(self, offset):
        """Returns what a name is used for: "import", "call", "self" (`Self` for the type around it) or "other"."""
        name = self.name_at(offset)
        if name == "Self":
            return "self"
        end = offset + len(name)
        if self.in_import(offset):
            return "import"
        call = CALL_WITH_BRACKETS.get(self.language, CALL)
        return "call" if call.match(self.masked, end) else "other"

    def alias(self, offset):
        """Returns the other name by which an import makes a name known, or nothing."""
        found = ALIAS.match(self.masked, offset + len(self.name_at(offset)))
        return found.group(1) if found and self.in_import(offset) else ""

    def in_import(self, offset):
        begin = self.masked.rfind("\n", 0, max(0, offset - IMPORT_REACH)) + 1
        before = self.masked[begin:offset]
        return any(IMPORTS[self.language].match(before, found.start())
                   for found in re.finditer(r"^[ \t]*(?=from|import|pub|use|extern|export|#)", before, re.MULTILINE))


def blank(found):
    fill = COMMENT if found.group("c") is not None else STRING
    return re.sub(r"[^\n]", fill, found.group())
