"""What do the runs score, and what did others score?

Calls the scorers that belong to the sets, and prints their figures beside those that BASELINES.md and README.md
of the same folder give. `quality.py` says which folder that is.
"""
import json
import math
import re
import subprocess
import sys

METRICS = "R@1,R@5,R@10,MRR@10,nDCG@10"
BASELINES = ["fts", "fts-plus", "emb", "lin", "lin-chunk"]  # columns shown, of those BASELINES.md explains


class Failure(Exception):
    """What went wrong, for the user; `code` is the exit code."""

    def __init__(self, message, code=3):
        super().__init__(message)
        self.code = code


def output_of(*command):
    """Runs a command and returns what it printed."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        raise Failure(f"`{' '.join(command)}` failed:\n{done.stderr.strip()}")
    return done.stdout


def score_suite(options, suite, names):
    """Scores the runs of `names`; returns {set: {metric: percent}}, the mean over the sets under `_mean`."""
    if suite == "code-search":
        return score_code_search(options, names)
    out = options.runs / f"{suite}.json"
    only = "^(" + "|".join(map(re.escape, names)) + ")$"
    command = [options.eval / "score.py", "--suite", options.eval / "dev" / suite, "--runs", options.runs,
               "--only", only, "--each", "--metrics", METRICS, "--json", out]
    if options.compare:
        command += ["--baseline", options.compare]
    (options.runs / f"{suite}.txt").write_text(output_of(sys.executable, *command), encoding="utf-8")
    scores = json.loads(out.read_text())[str(options.runs)]
    return {name: {metric: 100 * value for metric, value in row.items()} for name, row in scores.items()}


def score_code_search(options, names):
    """Scores the first ten chunks, as the benchmark does with engines that return chunks."""
    folder, run = options.eval / "code-search", options.runs / "code-search.run"
    run.write_text("".join((options.runs / f"code-search/{name}.tsv").read_text() for name in names))
    # The scorer wants a mark on each repository that has all its labelled files; ours have.
    manifest = options.runs / "code-search-manifest.json"
    entries = json.loads((folder / "manifest.json").read_text())
    manifest.write_text(json.dumps([{"all_relevant_paths_exist": True, **entry} for entry in entries]))
    command = [sys.executable, folder / "score.py", folder / "annotations", run, "--manifest", manifest,
               "--repos", ",".join(names), "--per-repo", "--mode", "chunks"]
    if options.compare:
        command += ["--compare", options.compare / "code-search.run"]
    (options.runs / "code-search.txt").write_text(output_of(*command), encoding="utf-8")
    result = json.loads(output_of(*command, "--json"))
    scores = {**result["repo"], "_mean": result["overall"]}
    return {name: {"nDCG@10": 100 * score["ndcg10"]} for name, score in scores.items()}


def read_tables(path):
    """Yields (last line of prose, header, rows) for each table of a Markdown file."""
    prose, header, rows = "", None, []
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if not line.startswith("|"):
            if header:
                yield prose, header, rows
            prose, header, rows = line.strip() or prose, None, []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if header is None:
            header = cells
        elif not re.fullmatch(r"[-: ]+", "".join(cells)):
            rows.append(cells)


def read_baselines(path):
    """Returns {set: {baseline: nDCG@10 in percent}}: from tables of sets, and from tables of one set."""
    found = {}
    for prose, header, rows in read_tables(path):
        of_set = re.match(r"(\S+-dev): ", prose)
        if header[0] == "set":
            found.update((row[0], dict(zip(header, row))) for row in rows)
        elif of_set and "nDCG@10" in header:
            place = header.index("nDCG@10")
            found[of_set[1]] = {row[0]: row[place].split()[0] for row in rows}
    return found


def print_suite(suite, scores, timings, baselines):
    """Prints a line for each set: our nDCG@10, theirs, how long indexing and asking took."""
    names = [name for name in scores if name != "_mean"]
    shown = [name for name in BASELINES if any(name in baselines.get(dataset, {}) for dataset in names)]
    heads = "".join(f"{head:>10}" for head in ["memod", *shown, "queries", "index s", "p50 ms", "p99 ms"])
    print(f"\n{suite + ', nDCG@10':<24}{heads}")
    for name in names:
        theirs = "".join(mean_of(baselines, [name], baseline) for baseline in shown)
        print(f"{name:<24}{scores[name]['nDCG@10']:>10.1f}{theirs}{took([timings[name]] if name in timings else [])}")
    theirs = "".join(mean_of(baselines, names, baseline) for baseline in shown)
    pooled = took([timings[name] for name in names if name in timings])
    print(f"{f'mean of {len(names)}, in all':<24}{scores['_mean']['nDCG@10']:>10.1f}{theirs}{pooled}")


def mean_of(baselines, names, baseline):
    known = [float(baselines[name][baseline]) for name in names if baseline in baselines.get(name, {})]
    return f"{sum(known) / len(known):>10.1f}" if len(known) == len(names) else f"{'-':>10}"


def took(timings):
    times = sorted(ms for timing in timings for ms in timing["times_ms"])
    index_s = sum(timing["index_s"] for timing in timings)
    p50, p99 = (times[max(0, math.ceil(len(times) * p / 100) - 1)] if times else math.nan for p in (50, 99))
    return f"{len(times):>10}{index_s:>10.1f}{p50:>10.2f}{p99:>10.2f}"


def print_targets(readme, scored):
    """Prints our figures beside the best known ones and the targets, row by row as `readme` has them."""
    print(f"\n{'suite':<13}{'sets':>4}  {'metric':<18}{'memod':<15}{'target':<18}best known")
    tables = [rows for _, header, rows in read_tables(readme) if header[-1] == "target"]
    for label, metric, best, target in (row for rows in tables for row in rows):
        word = re.match(r"[\w-]+", label)[0]
        scores = scored.get(word, {})
        ours = scores.get("_mean") or scored.get("conv", {}).get(f"{word}-dev")
        if ours:
            metrics = [name.replace("NDCG", "nDCG") for name in metric.split(" / ")]
            figures = " / ".join(f"{ours[name] / 100:.3f}" for name in metrics)
            print(f"{word:<13}{max(1, len(scores) - 1):>4}  {metric:<18}{figures:<15}{target:<18}{best}")
