"""What is written: texts of files in which names stand once, subjects of commits, texts and marks of memories."""

DIRS = ["", "src/", "src/core/", "docs/", "docs/guide/en/", "lib/a/b/", "out/", "data/"]
NAMES = ["alpha.md", "beta.rs", "gamma.py", "delta.txt", "eta.toml", "theta.go", "iota.md", "kappa.ts", "run.log"]
TAGS = ["auth", "build", "deploy", "parser", "style"]

TEXTS = {
    "md": "# Notes on {name}\n\nThe {shared} is kept here.\n\n## More on it\n\n{filler}\n",
    "rs": (
        "/// Returns the {shared}.\npub fn {name}() -> u32 {{\n    42\n}}\n\n"
        "pub fn use_{name}() -> u32 {{\n    {name}()\n}}\n\n{filler}\n"
    ),
    "py": (
        'def {name}():\n    """Returns the {shared}."""\n    return 42\n\n\n'
        "def use_{name}():\n    return {name}()\n\n\n{filler}\n"
    ),
    "go": (
        "package a\n\n// {name} returns the {shared}.\nfunc {name}() int {{\n\treturn 42\n}}\n\n"
        "func use_{name}() int {{\n\treturn {name}()\n}}\n\n{filler}\n"
    ),
    "ts": (
        "/** Returns the {shared}. */\nexport function {name}(): number {{\n  return 42;\n}}\n\n"
        "export function use_{name}(): number {{\n  return {name}();\n}}\n\n{filler}\n"
    ),
}
# Files of tests have what they test, and types of which one extends the other.
TESTS = {
    "test_gamma.py": (
        'def {name}():\n    """Returns the {shared}."""\n    return 42\n\n\ndef test_{name}():\n    assert {name}() == 42\n\n\n'
        "class {type}:\n    pass\n\n\nclass Heir_of_{type}({type}):\n    pass\n"
    ),
    "theta_test.go": (
        "package a\n\n// {name} returns the {shared}.\nfunc {name}() int {{\n\treturn 42\n}}\n\n"
        "func Test_{name}(t *testing.T) {{\n\t{name}()\n}}\n"
    ),
    "kappa.test.ts": (
        "/** Returns the {shared}. */\nexport function {name}(): number {{\n  return 42;\n}}\n\n"
        "export function Test_{name}(): number {{\n  return {name}();\n}}\n\n"
        "export class {type} {{\n}}\n\nexport class Heir_of_{type} extends {type} {{\n}}\n"
    ),
}
COMMENT = {"md": "", "txt": "", "rs": "// ", "go": "// ", "ts": "// "}


def ending(path):
    return path.rsplit(".", 1)[-1]


def comment(path, text):
    """Returns a line that says something in a file of that name and changes no definition."""
    return f"{COMMENT.get(ending(path), '# ')}{text}"


def text(random, words, path):
    """Returns the text of a file, with a word of its own and one that others share."""
    shared = f"zqshared{'abcdefghij'[random.randrange(10)]}yx"
    n_lines = random.choice([1, 5, 60])
    filler = "\n".join(comment(path, f"line {n} of {random.choice('abcdefgh') * 5}") for n in range(n_lines))
    shape = TEXTS.get(ending(path), "# {name} and {shared}\n{filler}\n")
    return shape.format(name=words.new(), shared=shared, filler=filler)


def tests(random, words, name):
    """Returns the text of a file of tests."""
    return TESTS[name].format(name=words.new(), type=words.new(), shared=f"zqshared{random.choice('abcdefghij')}yx")


def commit_message(random, words):
    """Returns the subject of a commit, and sometimes a body."""
    subject = f"change {words.new() if random.random() < 0.5 else random.randrange(1000)}"
    return ["-m", subject, *(["-m", f"It says {words.new()}."] if random.random() < 0.3 else [])]


def memory_text(random, words):
    """Returns the text of a memory, with a word that no other text has."""
    more = f"\n\nSeen by {random.choice(['Ann', 'Bob'])} in line {random.randrange(900)}." if random.random() < 0.2 else ""
    return f"{words.unasked()} holds since {random.randrange(1900, 2100)}{more}"


def some_tags(random):
    return random.sample(TAGS, random.choice([0, 0, 1, 2]))
