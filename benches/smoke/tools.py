"""What the programs need that is not in the repository, and how it is had."""
import glob
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
KEPT = Path(os.environ.get("CARGO_TARGET_DIR") or TOP / "target").resolve() / "smoke"
NODE, PYTHON, AGENTS, BROWSER = (KEPT / name for name in ["node", "python", "agents", "browser"])
# As `cargo bench` runs benches, but with the build that the tests have.
BENCH = ["cargo", "test", "--quiet", "--locked", "--bench"]
# Of these versions, so that a new one of theirs breaks no run of ours.
NPM = ["gpt-tokenizer@4.0.0", "@anthropic-ai/tokenizer@0.0.4", "@modelcontextprotocol/sdk@1.32.2",
       "@modelcontextprotocol/client@2.4.0", "@modelcontextprotocol/inspector@0.15.0", "pyright@1.1.414",
       "husky@9.1.7", "lefthook@2.2.2"]
PIP = ["mcp==2.3.0", "jsonschema==4.26.0", "numpy==2.4.6", "onnx==1.23.2"]


def install():
    """Installs what npm and pip have into `target/smoke`, once for each list of versions; says what cannot be had."""
    if shutil.which("npm"):
        had(NODE, NPM, ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(NODE), *NPM])
        driver = TOP / "tests/browser/tools.mjs"
        had(BROWSER, [driver.read_text()], ["node", "-e", f"import('{driver}').then((tools) => tools.install('{BROWSER}'))"])
    had(PYTHON, PIP, [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(PYTHON), *PIP])


def build():
    """Builds the benches in Rust as the tests are built, so that no row waits for it."""
    if shutil.which("cargo"):
        subprocess.run([*BENCH, "parse", "--bench", "vectors", "--no-run"], cwd=TOP, stdin=subprocess.DEVNULL, check=False)


def had(folder, versions, command):
    stamp, wanted = folder / "versions.txt", "\n".join(versions)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode == 0:
        stamp.write_text(wanted)
    else:
        print(f"{' '.join(command[:3])} failed: {(done.stderr or done.stdout).strip()[-300:]}", flush=True)


def eval_folder():
    """Returns the folder of quality sets, whose scorers are used."""
    return Path(os.environ.get("EVAL") or TOP.parent / "shared/eval")


def absent(need):
    """Returns why something is not there, or nothing if it is: `npm:NAME`, `pip:NAME`, or what `KNOWN` has, or a program."""
    kind, _, name = need.partition(":")
    if kind == "npm":
        return "" if (NODE / "node_modules" / name).exists() else f"{name} (npm) is not in {NODE}; --install puts it there"
    if kind == "pip":
        there = (PYTHON / name).exists() or importlib.util.find_spec(name)
        return "" if there else f"{name} (pip) is not in {PYTHON}; --install puts it there"
    if need in KNOWN:
        is_there, why = KNOWN[need]
        return "" if is_there() else why
    return "" if shutil.which(need) else f"{need} is not installed"


def has_browser():
    is_driven = (BROWSER / "node_modules/playwright-core").exists()
    return is_driven and any(map(shutil.which, ["chromium", "chromium-browser", "google-chrome"]))


KNOWN = {
    "browser": (has_browser, f"there is no Chromium, or what drives it is not in {BROWSER}; --install puts that there"),
    "postgres": (lambda: glob.glob("/usr/lib/postgresql/*/bin/initdb"), "PostgreSQL is not installed"),
    "scorers": (lambda: (eval_folder() / "score.py").is_file(), f"there are no scorers in {eval_folder()}; EVAL names a folder of sets"),
    "agents": (lambda: (AGENTS / "node_modules/.bin/codex").exists(),
               f"no agents are in {AGENTS}; npm install --prefix {AGENTS} with the packages of tests/check_agents.py puts them there (1 GB)"),
    "/proc": (lambda: Path("/proc/self/exe").exists(), "there is no /proc"),
}
