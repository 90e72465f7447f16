#!/usr/bin/env python3
"""Writes the weights of a training run as int8, with their shape and reference logits.

  export.py --state RUN/state.pt --data DATA --out MODEL

MODEL  written: model.safetensors, a matrix of 16 and more rows as int8 with a scale for each row (NAME, NAME.scale), all else as
       f32; config.json; reference.json, tokens of questions and candidates with the logits of torch before (float) and after
       (int8) rounding; numpy has to agree with both, within what the file says

Needs Python 3.9, numpy and torch. Exit code: that of infer.py.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
import numpy as np  # noqa: E402
import torch  # noqa: E402
from examples import Examples, score_rows  # noqa: E402
from network import TABLE_GAIN, load_state  # noqa: E402
from tensors import TABLE, read_table, write_tensors  # noqa: E402

LEAST_ROWS = 16  # smaller tables stay f32
TOLERANCE = {"int8": 2e-3, "float": 0.15}
N_CASES, N_CODES = 3, 6


def round_weights(model):
    """Returns the tensors to store."""
    stored = {"extra_ids": np.array(model.extra_ids, np.int32)}
    for name, weight in model.state_dict().items():
        weight = weight.float().numpy()
        if name == "order":
            continue
        if name == "extra.weight":
            weight = weight[1:]  # row 0 is for tokens without an extra vector
        if weight.ndim == 2 and len(weight) >= LEAST_ROWS:
            scale = np.maximum(np.abs(weight).max(1), 1e-12).astype(np.float32) / 127
            stored[name], stored[name + ".scale"] = np.rint(weight / scale[:, None]).astype(np.int8), scale
        else:
            stored[name] = weight
    return stored


def put_back(model, stored):
    """Gives the model the weights as they were stored."""
    weights = model.state_dict()
    for name in weights:
        if name not in stored:
            continue
        weight = torch.tensor(stored[name].astype(np.float32))
        if name + ".scale" in stored:
            weight *= torch.tensor(stored[name + ".scale"])[:, None]
        weights[name] = torch.cat([torch.zeros_like(weight[:1]), weight]) if name == "extra.weight" else weight
    model.load_state_dict(weights)


def pick_cases(examples):
    """Returns rows of questions and of their candidates."""
    cases = [(row, rows[:N_CODES]) for row, rows, _, _, part, _ in examples.asked if part == "train" and len(rows) >= N_CODES]
    return [cases[number] for number in np.random.default_rng(3).permutation(len(cases))[:N_CASES]]


def build_reference(model, examples, stored):
    cases, logits = pick_cases(examples), {"float": [], "int8": []}
    with torch.no_grad():
        for kind in ("float", "int8"):
            if kind == "int8":
                put_back(model, stored)
            for row, rows in cases:
                scores = score_rows(model, examples, np.full(len(rows), row), rows, 1)
                logits[kind].append([round(score, 6) for score in scores.tolist()])
    tokens = [([int(token) for token in examples.questions[row] if token],
               [[int(token) for token in examples.codes[code] if token] for code in rows]) for row, rows in cases]
    return {"tolerance": TOLERANCE, "cases": [{"question": question, "codes": codes, "float": before, "int8": after} for
                                              (question, codes), before, after in zip(tokens, logits["float"], logits["int8"])]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--state", type=Path, required=True, help="state.pt of train.py")
    add("--data", type=Path, required=True, help="folder of prepare.py; the reference is about some of its questions")
    add("--out", type=Path, required=True, metavar="MODEL", help="folder to write to; created when absent")
    add("--table", type=Path, default=TABLE, help="the builtin model")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, facts = load_state(options.state, read_table(options.table))
    examples = Examples(options.data / "data.npz", model.config, torch.device("cpu"), most_pairs=0)
    stored = round_weights(model)
    options.out.mkdir(parents=True, exist_ok=True)
    write_tensors(options.out / "model.safetensors", stored)
    shape = {name: value for name, value in model.config.items() if name != "dropout"}
    config = {"kind": "cross-encoder", "activation": "gelu_tanh", "norm": "before", "norm_eps": 1e-5, "table_gain": TABLE_GAIN,
              **shape, "order": round(model.order.item(), 4), **facts}
    (options.out / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    (options.out / "reference.json").write_text(json.dumps(build_reference(model, examples, stored)) + "\n")
    print(f"{options.out}: {(options.out / 'model.safetensors').stat().st_size / 1e6:.3f} MB of int8")
    sys.stdout.flush()
    return subprocess.run([sys.executable, Path(__file__).parent / "infer.py", options.out, "--table", options.table]).returncode


if __name__ == "__main__":
    sys.exit(main())
