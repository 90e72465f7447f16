"""The languages: their files, the language server of each, and what it must be told."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from lsp import ServerError

# Kinds of symbols of the protocol that are functions, methods or types.
FUNCTIONS = {6: "method", 9: "constructor", 12: "function"}
TYPES = {5: "class", 10: "enum", 11: "interface", 23: "struct"}
# Kinds that are fields inside of a type; drawn with `--fields`.
FIELDS = {7: "field", 8: "field", 13: "field", 14: "field", 22: "variant"}
TESTS = r"(^|/)(tests?|testing|testdata|__tests__|fixtures|examples?|benches|benchmarks?)/"
TESTS += r"|(^|/)(test_[^/]*|conftest)\.py$|[._](test|spec|tests)\.\w+$|_test\.go$|Tests?\.php$"
TESTS = re.compile(TESTS, re.IGNORECASE)
# The first Java that jdtls starts with.
OLDEST_JAVA = 21
C_SOURCES = (".c",)
CPP_SOURCES = (".cc", ".cpp", ".cxx")


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
    prepare: object = None  # takes the options; writes what the server needs, returns what was written
    arguments: object = None  # takes environment and a folder that is removed afterwards; more of the command
    keep_open: bool = False  # whether closing documents makes the server forget their project

    def language_id(self, path):
        return self.identifiers.get(os.path.splitext(path)[1], self.name)


def quiescent(server):
    return any(method == "experimental/serverStatus" and params.get("quiescent") for method, params in server.seen[-5:])


def progress_ended(server):
    """Returns whether some progress was reported and all of it has ended."""
    return any(method == "$/progress" for method, _ in server.seen) and not server.open_tokens


def service_ready(server):
    """Returns whether jdtls has said that it has imported the project."""
    statuses = [params for method, params in server.seen if method == "language/status"]
    for status in statuses:
        if status["type"] == "Error":
            raise ServerError(f"jdtls failed to start: {status['message']}")
    return any(status["type"] == "ServiceReady" for status in statuses)


def listed(root, *globs):
    """Returns the files of a worktree that git knows and that match one of `globs`."""
    done = subprocess.run(["git", "-C", str(root), "ls-files", "-z", *globs], capture_output=True, text=True, check=True)
    return [path for path in done.stdout.split("\0") if path]


def without_requirements(options):
    """Removes requirements from go.mod files: modules that cannot be downloaded end the loading of all packages."""
    for path in options.worktree.rglob("go.mod"):
        text = path.read_text()
        kept = re.sub(r"(?ms)^require\s*\(.*?^\)\n?|^require[^\n(]*\n|^(toolchain|tool)[^\n]*\n", "", text)
        path.write_text(re.sub(r"(?m)^go 1\.(2[4-9]|[3-9]\d)\S*", "go 1.24", kept))
    return "go.mod without requirements, at most go 1.24"


def compile_commands(options):
    """Writes compile_commands.json: each source of the worktree with the directories of all headers, and those around them."""
    root = options.worktree
    endings, flags = (C_SOURCES, ["cc", "-std=gnu11"]) if options.language == "c" else (CPP_SOURCES, ["c++", "-std=c++17"])
    headers = sorted({os.path.dirname(path) for path in listed(root, "*.h", "*.hh", "*.hpp")})
    # `#include <spdlog/fmt.h>` begins at a directory above that of the header.
    roots = sorted({*headers, *(os.path.dirname(directory) for directory in headers)})
    flags += ["-D_GNU_SOURCE", *(f"-I{root / directory}" for directory in roots)]
    entries = [{"directory": str((root / path).parent), "file": str(root / path),
                "arguments": [*flags, "-c", os.path.basename(path)]}
               for path in listed(root, *(f"*{ending}" for ending in endings))]
    (root / "compile_commands.json").write_text(json.dumps(entries))
    return "compile_commands.json: every source with all directories of headers; nothing generated"


def jsconfig(options):
    """Writes jsconfig.json, so that all files are of one project."""
    (options.worktree / "jsconfig.json").write_text(json.dumps({"compilerOptions": {
        "module": "commonjs", "moduleResolution": "node", "target": "es2022", "lib": ["es2022"], "types": [],
        "maxNodeModuleJsDepth": 0}, "exclude": ["node_modules"]}))
    return "jsconfig.json: all files one project, commonjs"


def source_folders(root):
    """Returns the folders that the packages of Java begin in: a/src for a/src/x/y/Z.java that is of package x.y."""
    folders = set()
    for path in listed(root, "*.java"):
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        package = re.search(r"^\s*package\s+([\w.]+)\s*;", text, re.MULTILINE)
        below = "/" + package.group(1).replace(".", "/") if package else None
        if below and f"/{os.path.dirname(path)}".endswith(below):
            folders.add(os.path.dirname(path)[:-len(below)])
    return sorted(folders)


def eclipse_project(options):
    """Writes .project and .classpath: one project of all source folders, with the jars that were given."""
    folders, output = source_folders(options.worktree), ".eclipse-out"
    entries = [("con", "org.eclipse.jdt.launching.JRE_CONTAINER", ""), ("output", output, "")]
    for folder in folders:
        begin = folder and folder + "/"
        inside = [f"{other[len(begin):]}/" for other in [*folders, output] if other != folder and other.startswith(begin)]
        # A module sees only what it requires, and a project has one module.
        entries.append(("src", folder, "|".join(["**/module-info.java", *inside])))
    for jar in options.jar:
        if not jar.is_file():
            raise ServerError(f"{jar}: no such jar; give --jar the path of a file")
        entries.append(("lib", str(jar.resolve()), ""))
    lines = [f"<classpathentry kind={quoteattr(kind)} path={quoteattr(path)} excluding={quoteattr(excluding)}/>"
             for kind, path, excluding in entries]
    (options.worktree / ".classpath").write_text(f"<classpath>{''.join(lines)}</classpath>")
    (options.worktree / ".project").write_text(
        f"<projectDescription><name>{options.worktree.name}</name><natures><nature>"
        "org.eclipse.jdt.core.javanature</nature></natures></projectDescription>")
    return f".project and .classpath: {' '.join(folders)}; jars: {' '.join(jar.name for jar in options.jar) or 'none'}"


def jdtls_arguments(environment, scratch):
    """Returns the Java of JAVA_HOME, else of PATH, and folders for what jdtls writes."""
    home = environment.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else environment["PATH"])
    advice = f"install Java {OLDEST_JAVA} or newer and set JAVA_HOME"
    if not java:
        raise ServerError(f"no java in {f'JAVA_HOME ({home})' if home else 'PATH'}; {advice}")
    about = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=120).stderr
    version = re.search(r'version "(\d+)', about)
    if version and int(version.group(1)) < OLDEST_JAVA:
        raise ServerError(f"{java} is Java {version.group(1)}, too old for jdtls; {advice}")
    return ["-vm", java, "-data", os.path.join(scratch, "data"), "-configuration", os.path.join(scratch, "configuration")]


JAVA_SETTINGS = {"java": {"import": {"maven": {"enabled": False}, "gradle": {"enabled": False}},
                          "autobuild": {"enabled": False}}}


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
    Language("cpp", (".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp"),
             ["clangd", "--background-index", "-j=1", "--pch-storage=memory", "--log=error"], ["clangd", "--version"],
             ready=progress_ended, prepare=compile_commands),
    Language("java", (".java",), ["jdtls"], [], ready=service_ready, prepare=eclipse_project, arguments=jdtls_arguments,
             options={"settings": JAVA_SETTINGS}, settings=JAVA_SETTINGS),
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
