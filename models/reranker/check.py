#!/usr/bin/env python3
"""Does the whole way from pairs and candidates to the judge's table work, on a tiny sample made on the spot?

  check.py [--minutes M]

Of eight invented repositories prepare.py makes the data, device.sh trains a teacher and a pupil for some seconds each, rounds and
judges them; train_late.py trains the late interaction; infer.py and infer_late.py compare numpy with torch; and judge.py has to find
that the answers came up: they share words with their questions, and the candidates come in any order. Without torch untrained models
are judged, whose logits are the overlap alone.

Takes about a minute. Needs Python 3.9 and numpy; torch for all of it. Exit code: 0 all is right, 1 something is not.
"""
import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
import numpy as np  # noqa: E402
from tensors import flatten_rows, read_table, write_tensors  # noqa: E402

HERE = Path(__file__).resolve().parent
N_REPOSITORIES, N_QUESTIONS, N_CANDIDATES, N_PAIRS = 8, 10, 60, 400
SHAPE = {"layers": 2, "width": 32, "heads": 2, "inner": 64, "question": 16, "code": 48}


class Wrong(Exception):
    """What is not as it should be."""


def draw_text(rng, length, shared=()):
    """Returns ids of tokens that have a vector, in any order, `shared` among them."""
    return rng.permutation(np.concatenate([rng.integers(2000, 28000, length - len(shared)), shared]).astype(int)).tolist()


def write_questions(folder, rng):
    """Writes the names of the repositories and the candidates of their questions, as benches/candidates.py does."""
    for number in range(N_REPOSITORIES):
        name, chunks, questions = f"acme+shop{number}", [], []
        for asked in range(N_QUESTIONS):
            words, gold, candidates = draw_text(rng, 10), int(rng.integers(N_CANDIDATES)), []
            for place in range(N_CANDIDATES):
                text = draw_text(rng, 40, rng.choice(words, 4, replace=False) if place == gold else ())
                chunks.append({"type": "chunk", "id": len(chunks), "path_tokens": text[:3], "head_tokens": text[3:5], "body_tokens": text[5:]})
                candidates.append({"chunk": chunks[-1]["id"], "score": 1 - place / 100, "answers": [0] if place == gold else []})
            questions.append({"type": "question", "kind": ["topic", "long"][asked % 2], "query": "word " * 10, "tokens": words,
                              "answers": [{"must": True}], "candidates": candidates})
        (folder / "candidates" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in
                                                                     [{"type": "header"}, *chunks, *questions]))
        (folder / "asked" / f"{name}.jsonl").write_text("")


def write_pairs(folder, rng):
    """Writes pairs of the same repositories and of one that nobody asks about."""
    questions = [draw_text(rng, 8) for _ in range(N_PAIRS)]
    codes = [draw_text(rng, 40, rng.choice(words, 3, replace=False)) for words in questions]
    repository = np.sort(rng.integers(0, N_REPOSITORIES + 1, N_PAIRS)).astype(np.uint16)
    negatives = np.stack([rng.choice(np.nonzero(repository == one)[0], 6) for one in repository]).astype(np.uint32)
    arrays = {}
    for name, rows in (("q", questions), ("d", codes)):
        arrays[f"{name}_tokens"], arrays[f"{name}_off"] = flatten_rows(rows)
    np.savez(folder / "pairs/pairs.npz", **arrays, repo=repository, kind=np.zeros(N_PAIRS, np.uint8),
             has_path=(np.arange(N_PAIRS) % 2).astype(np.uint8), neg=negatives)
    entries = [{"index": number, "repository": f"acme/shop{number}"} for number in range(N_REPOSITORIES)]
    (folder / "pairs/repos.json").write_text(json.dumps({"repositories": [*entries, {"index": N_REPOSITORIES, "repository": "other/one"}]}))


def write_untrained(folder, rng):
    """Writes a model of random layers whose logit is nearly the overlap alone."""
    width, inner = SHAPE["width"], SHAPE["inner"]
    shapes = {"enter.weight": (width, 256), "question_place.weight": (SHAPE["question"], width), "code_place.weight": (SHAPE["code"], width)}
    vectors = {"special": (2, width), "mark": (4, width), "soft": (2, width), "norm.weight": (width,), "norm.bias": (width,),
               "head.weight": (1, width), "head.bias": (1,)}
    for number in range(SHAPE["layers"]):
        prefix = f"layers.{number}."
        for name, rows, columns in (("query", width, width), ("key_value", 2 * width, width), ("out", width, width),
                                    ("up", inner, width), ("down", width, inner)):
            shapes[f"{prefix}{name}.weight"], vectors[f"{prefix}{name}.bias"] = (rows, columns), (rows,)
        vectors.update({f"{prefix}{name}": (width,) for name in ("norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias")})
    blank = np.nonzero((read_table() == 0).all(1))[0][1:]
    shapes["extra.weight"] = (len(blank), width)
    tensors = {name: rng.normal(0, 0.02, shape).astype(np.float32) for name, shape in vectors.items()}
    for name, shape in shapes.items():
        tensors[name] = rng.integers(-127, 128, shape).astype(np.int8)
        tensors[name + ".scale"] = np.full(shape[0], 0.001, np.float32)
    tensors.update(extra_ids=blank.astype(np.int32), prior=np.array([3, 2, 4], np.float32))
    folder.mkdir()
    write_tensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps({**SHAPE, "fields": ["path", "head", "body"], "table_gain": 16.0}))


def write_untrained_late(folder, rng):
    """Writes a late interaction of one random matrix for both sides, in which no token has a weight of its own."""
    matrix, n_tokens = rng.integers(-127, 128, (64, 256)).astype(np.int8), len(read_table())
    tensors = {"field_factors": np.ones((3, 3), np.float32)}
    for name in ("question_matrix", "code_matrix"):
        tensors.update({name: matrix, name + ".scale": np.full(64, 0.001, np.float32)})
    for name in ("question_weight", "code_weight", "mean_weight"):
        tensors.update({name: np.zeros((1, n_tokens), np.int8), name + ".scale": np.ones(1, np.float32)})
    folder.mkdir()
    write_tensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps({"kind": "late-interaction", "question": 16, "code": 48, "fields": ["path", "head", "body"], "table_gain": 16.0}))


def call_program(name, *words, start=sys.executable, environment=None):
    """Runs a program of this folder and returns its output."""
    done = subprocess.run([start, HERE / name, *map(str, words)], capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise Wrong(f"{name} exited with {done.returncode}: {(done.stdout + done.stderr)[-1500:]}")
    return done.stdout


def expect(holds, what):
    if not holds:
        raise Wrong(what)
    print(f"ok   {what}", flush=True)


def check_parts(folder):
    """Checks that no pair and no question of half B is trained on."""
    with np.load(folder / "data/data.npz") as data:
        parts = dict(zip(data["repo_names"].tolist(), data["repo_parts"].tolist()))
        expect(parts == {"other+one": 0, **{f"acme+shop{number}": 2 if number % 2 else 1 if number == 2 else 0 for number in range(8)}},
               "repositories of half B judge, the second of half A tunes, the others train")
        expect(len(data["pair_repository"]) == N_PAIRS and len(data["question_repository"]) == N_REPOSITORIES * N_QUESTIONS,
               f"{N_PAIRS} pairs and {N_REPOSITORIES * N_QUESTIONS} questions")


def train_models(folder, minutes):
    """Runs device.sh on the processor, with two tiny networks, and checks what it leaves."""
    shape = " ".join(f"--{name} {value}" for name, value in SHAPE.items() if name not in ("width", "inner"))
    common = f"{shape} --every {minutes / 3} --tune 10 --device cpu"
    call_program("device.sh", folder / "data", folder / "out", minutes, minutes, start="bash", environment={
        "PYTHON": sys.executable, "TEACHER": f"{common} --width 64", "PUPIL": f"{common} --width 32"})
    (folder / "results").mkdir()
    (folder / "results.tar").write_bytes(b"".join(part.read_bytes() for part in sorted((folder / "out").glob("results.tar.*"))))
    subprocess.run(["tar", "-C", folder / "results", "-xf", folder / "results.tar"], check=True)
    (folder / "results/pupil/model").rename(folder / "model")
    for name in ("teacher", "pupil"):
        lines = [json.loads(line) for line in (folder / f"results/{name}/curve.jsonl").read_text().splitlines()]
        begun, ended = lines[0], lines[-1]
        expect(begun["pairs"] > 0 and begun["questions"] == 3 * N_QUESTIONS and ended["step"] > 0, f"{name}: takes steps and tells them")
        expect(ended["minute"] < minutes + 0.2, f"{name}: ends in time")
    expect((folder / "out/log.txt").read_text().count("they agree") == 2, "numpy agrees with torch")
    said = call_program("train_late.py", "--data", folder / "data", "--out", folder / "late", "--pair-minutes", minutes / 2,
                        "--asked-minutes", minutes / 2, "--width", 64)
    expect("they agree" in said, "numpy agrees with torch on the late interaction")


def check_judge(folder, model):
    """Checks that a model brings the answers up."""
    table = call_program("judge.py", folder / model, "--data", folder / "data")
    figures = re.search(r"^all +40 +([\d.]+) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+) +[\d.]+ +([\d.]+) ", table, re.M)
    none, alone, added = map(float, figures.groups())
    expect(none < 20 and alone > none + 20 and added > none + 10, f"the judge sees the answers come up ({model})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=0.2, help="how long to train each network (default: 0.2)")
    options = parser.parse_args()
    rng = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("candidates", "asked", "pairs"):
            (folder / name).mkdir()
        write_questions(folder, rng)
        write_pairs(folder, rng)
        try:
            call_program("prepare.py", "--pairs", folder / "pairs", "--candidates", folder / "candidates", "--questions", folder / "asked",
                         "--out", folder / "data")
            check_parts(folder)
            if importlib.util.find_spec("torch"):
                train_models(folder, options.minutes)
            else:
                print("NOT CHECKED: training and export, because torch is not installed")
                write_untrained(folder / "model", rng)
                write_untrained_late(folder / "late", rng)
            for model in ("model", "late"):
                check_judge(folder, model)
        except Wrong as wrong:
            print(f"BAD  {wrong}")
            return 1
    print("all is right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
