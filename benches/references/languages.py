"""The six languages: their files, the language server of each, and what it must be told."""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field

from lsp import ServerError

# Kinds of symbols of the protocol that are functions, methods or types.
FUNCTIONS = {6: "method", 9: "constructor", 12: "function"}
TYPES = {5: "class", 10: "enum", 11: "interface", 23: "struct"}
TESTS = r"(^|/)(tests?|testing|testdata|__tests__|fixtures|examples?|benches|benchmarks?)/"
TESTS += r"|(^|/)(test_[^/]*|conftest)\.py$|[._](test|spec|tests)\.\w+$|_test\.go$|Tests?\.php$"
TESTS = re.compile(TESTS, re.IGNORECASE)


@dataclass
class Language:
    name: str
    suffixes: tuple
    command: list
    version: list  # a command that prints the version of the server
    identifiers: dict = field(default_factory=dict)  # `languageId` where it is not the language's name
    options: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    ready: object = None  # takes the server; true when it has read the worktree
    prepare: object = None  # takes the worktree; writes what the server needs, returns what was written
    keep_open: bool = False  # whether closing documents makes the server forget their project

    def language_id(self, path):
        return self.identifiers.get(os.path.splitext(path)[1], self.name)


def quiescent(server):
    return any(method == "experimental/serverStatus" and params.get("quiescent") for method, params in server.seen[-5:])


def progress_ended(server):
    """Returns whether some progress was reported and all of it has ended."""
    return any(method == "$/progress" for method, _ in server.seen) and not server.open_tokens


def without_requirements(root):
    """Removes requirements from go.mod files: modules that cannot be downloaded end the loading of all packages."""
    for path in root.rglob("go.mod"):
        text = path.read_text()
        kept = re.sub(r"(?ms)^require\s*\(.*?^\)\n?|^require[^\n(]*\n|^(toolchain|tool)[^\n]*\n", "", text)
        path.write_text(re.sub(r"(?m)^go 1\.(2[4-9]|[3-9]\d)\S*", "go 1.24", kept))
    return "go.mod without requirements, at most go 1.24"


def compile_commands(root):
    """Writes compile_commands.json: each C file of the worktree with every directory of headers."""
    files = [path for path in subprocess.run(["git", "-C", str(root), "ls-files", "*.c", "*.h"], capture_output=True,
                                             text=True, check=True).stdout.split("\n") if path]
    headers = sorted({os.path.dirname(path) for path in files if path.endswith(".h")})
    flags = [f"-I{root / directory}" for directory in headers]
    entries = [{"directory": str((root / path).parent), "file": str(root / path),
                "arguments": ["cc", "-std=gnu11", "-D_GNU_SOURCE", *flags, "-c", os.path.basename(path)]}
               for path in files if path.endswith(".c")]
    (root / "compile_commands.json").write_text(json.dumps(entries))
    return "compile_commands.json: every .c file with all directories of headers; nothing generated"


def jsconfig(root):
    """Writes jsconfig.json, so that all files are of one project."""
    (root / "jsconfig.json").write_text(json.dumps({"compilerOptions": {
        "module": "commonjs", "moduleResolution": "node", "target": "es2022", "lib": ["es2022"], "types": [],
        "maxNodeModuleJsDepth": 0}, "exclude": ["node_modules"]}))
    return "jsconfig.json: all files one project, commonjs"


LANGUAGES = {language.name: language for language in [
    Language("python", (".py",), ["pyright-langserver", "--stdio"], ["pyright", "--version"], settings={
        "python": {"analysis": {"autoSearchPaths": True, "useLibraryCodeForTypes": True, "indexing": True,
                                "diagnosticMode": "openFilesOnly", "typeCheckingMode": "off"}}}),
    Language("go", (".go",), ["gopls"], ["gopls", "version"], ready=progress_ended, prepare=without_requirements,
             settings={"gopls": {"directoryFilters": ["-**/node_modules"], "symbolScope": "workspace"}}),
    Language("rust", (".rs",), ["rust-analyzer"], ["rust-analyzer", "--version"], ready=quiescent, options={
        "checkOnSave": False, "procMacro": {"enable": False}, "cachePriming": {"enable": False},
        "cargo": {"buildScripts": {"enable": False}, "features": "all"}, "files": {"watcher": "server"}}),
    Language("typescript", (".ts", ".tsx", ".mts", ".cts"), ["typescript-language-server", "--stdio"],
             ["tsc", "--version"], {".tsx": "typescriptreact"}, keep_open=True, options={
                 "disableAutomaticTypingAcquisition": True, "tsserver": {"useSyntaxServer": "never"}}),
    Language("javascript", (".js", ".jsx", ".mjs", ".cjs"), ["typescript-language-server", "--stdio"],
             ["tsc", "--version"], {".jsx": "javascriptreact"}, prepare=jsconfig, keep_open=True, options={
                 "disableAutomaticTypingAcquisition": True, "tsserver": {"useSyntaxServer": "never"}}),
    Language("c", (".c", ".h"), ["clangd", "--background-index", "-j=1", "--pch-storage=memory", "--log=error"],
             ["clangd", "--version"], ready=progress_ended, prepare=compile_commands),
    Language("php", (".php",), ["intelephense", "--stdio"], [], ready=progress_ended, options={"clearCache": True}),
]}


def version_of(language, environment):
    if not language.version:
        return ""
    try:
        done = subprocess.run(language.version, capture_output=True, text=True, env=environment, timeout=120)
    except OSError as error:
        raise ServerError(f"{language.version[0]} cannot be run: {error}; install it or give its folder with --tools")
    return (done.stdout or done.stderr).strip().split("\n")[-1 if language.name == "go" else 0].strip()
