"""Finds the programs of the repository, and who runs each: this, `cargo test`, `.ci/run`, a workflow, or another program."""
import re
import subprocess
from pathlib import Path

from rows import ROWS
from tools import TOP

FOLDERS = ["benches", "tests", "clients", "hooks", "models", ".ci"]
CODE = re.compile(r"\.(py|sh|mjs|js|rs)$")
# What is begun by people, and by nothing else.
FIRST = {".ci/run"}
# Who else runs a program, or takes it in: a file, and how that names it. The longest beginning of a path counts.
ELSEWHERE = {
    ".ci/check-systems": (".ci/run", ".ci/check-systems"),
    ".ci/check-windows": (".ci/run", ".ci/check-windows"),
    ".ci/packages/": (".github/workflows/packages.yml", ".ci/packages/build"),
    ".ci/packages/check": (".github/workflows/packages.yml", ".ci/packages/check"),
    ".ci/packages/npm/": (".ci/packages/build", "$here/npm"),
    "benches/faults/": (".ci/run", "benches/faults"),
    "benches/smoke/": (".ci/run", "benches/smoke"),
    "clients/python/": (".ci/run", "clients/python"),
    "clients/python/generate.py": ("clients/python/tests/test_memo.py", "generate.py"),
    "hooks/doorbell.sh": ("hooks/lib.rs", "doorbell.sh"),
    "models/reranker/": ("models/reranker/check.py", "device.sh"),
    "tests/it/fake_daemon.sh": ("tests/it/sandbox.rs", "tests/it/fake_daemon.sh"),
}


def git(*words):
    return subprocess.run(["git", "-C", str(TOP), *words], check=True, capture_output=True, text=True).stdout


def files():
    """Returns the files of the folders that have programs; those that git does not know yet are among them."""
    paths = git("ls-files", "-z", "-co", "--exclude-standard", "--", *FOLDERS).split("\0")
    return sorted(path for path in paths if path and (TOP / path).is_file())


def traces():
    """Returns what a program could leave in this repository: files that git does not know, hooks, and the configuration."""
    common = TOP / git("rev-parse", "--git-common-dir").strip()
    unknown = git("ls-files", "-z", "-o", "--exclude-standard").split("\0")[:-1]
    settings = [path for path in [common / "config", *(common / "hooks").glob("*")] if path.is_file()]
    return {**dict.fromkeys(unknown), **{str(path): path.read_bytes() for path in settings}}


def left_since(before):
    """Returns what is there now and was not, or was otherwise."""
    return [f"{path}: left in this repository, or changed" for path, text in traces().items() if (path, text) not in before.items()]


def is_program(path):
    """Returns whether a file is one to run; tests and crates in Rust are none, as `cargo` finds them itself."""
    is_of_cargo = path.startswith("tests/") or path.endswith("/lib.rs")
    if path.endswith(".rs") and is_of_cargo:
        return False
    with open(TOP / path, "rb") as file:
        return bool(CODE.search(path)) or file.read(2) == b"#!"


def who(path, texts):
    """Returns who runs or takes in a program, or nothing."""
    rows = [row.title for row in ROWS if row.program == path]
    if rows:
        return f"benches/smoke, {len(rows)} rows" if len(rows) > 1 else "benches/smoke"
    if path in FIRST:
        return "people"
    beginning = max((start for start in ELSEWHERE if path.startswith(start)), key=len, default=None)
    if beginning:
        file, word = ELSEWHERE[beginning]
        return file if word in (TOP / file).read_text(encoding="utf-8") else None
    return next((other for other, text in texts.items() if other != path and takes_in(other, text, path)), None)


def takes_in(other, text, path):
    """Returns whether a program of the same folder imports another one, or names it."""
    folder, name, stem = Path(path).parts[:1], Path(path).name, Path(path).stem
    if Path(other).parts[:1] != folder:
        return False
    imports = rf"^\s*(?:from|import) {stem}\b" if path.endswith(".py") else rf"[\"'/]{re.escape(name)}[\"']"
    return re.search(imports, text, re.M) is not None


def table():
    """Returns each program with who runs it."""
    programs = [path for path in files() if is_program(path)]
    texts = {path: (TOP / path).read_text(encoding="utf-8") for path in programs}
    return [(path, who(path, texts)) for path in programs]


def problems():
    """Returns what is wrong: programs that nobody runs, rows without a program, data that no bench reads."""
    known = table()
    for program, by in known:
        if not by:
            yield f"{program}: nobody runs it; give it a row in benches/smoke/rows.py, or delete it"
    programs = {program for program, _ in known}
    for row in ROWS:
        if row.program not in programs:
            yield f"{row.title}: benches/smoke/rows.py has a row for it, and it is not there"
    benches = "".join((TOP / program).read_text(encoding="utf-8") for program in programs if program.startswith("benches/"))
    for path in files():
        data = Path(path).parts[1] if path.startswith("benches/") and path not in programs else ""
        if data and data != "README.md" and f'"{data}"' not in benches:
            yield f"{path}: no bench reads {data}"
