#!/usr/bin/env python3
"""Trains the late interaction, first on pairs and then on questions, and writes it as int8.

  train_late.py --data DATA --out MODEL [--pair-minutes M] [--asked-minutes M] [--width W] [--fields NAMES]

DATA   data.npz of prepare.py
MODEL  written: model.safetensors, config.json, reference.json (questions and candidates with the logits of torch, with int8
       weights and without); curve.jsonl, a line each minute: minutes of the processor in this stage and from the start, steps, loss

In a batch of pairs, all of one repository, the codes of the others are wrong for a question, and so are its hard negatives. A question
of half A has wrong candidates among its first 50, and the score of the first stage, times a learned factor, is added to each logit.
Only repositories of the part `train` are trained on. One core is enough.

Needs Python 3.9, numpy and torch. Exit code: that of infer_late.py.
"""
import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from late_interaction import TABLE_GAIN, LateInteraction  # noqa: E402
from prepare import PARTS  # noqa: E402
from tensors import FIELDS, MAX_HEAD, MAX_PATH, TABLE, pad_rows, read_table, write_tensors  # noqa: E402

QUESTION, CODE = 48, 128  # tokens that are read
N_HARD, N_ASKED, N_RIGHT = 3, 8, 3  # hard negatives of a pair; questions of a step, and right candidates of one
DEPTH = 50
FASTER_WEIGHTS, FASTER_FACTORS = 6, 20  # rates of learning, times that of the matrices
TOLERANCE = {"int8": 5e-3, "float": 0.3}


def trim(rows):
    """Returns token ids without the columns that are empty in all rows, as a tensor."""
    return torch.tensor(rows[..., :max(8, int((rows != 0).any(tuple(range(rows.ndim - 1))).sum()))].astype(np.int64))


class Data:
    """Pairs and asked questions of data.npz, as `[rows, tokens]`."""

    def __init__(self, path, fields):
        with np.load(path) as stored:
            self.arrays = arrays = {name: stored[name] for name in stored.files}
        self.questions = pad_rows(arrays["pair_question"], arrays["pair_question_offsets"], QUESTION)[0]
        self.codes = pad_rows(arrays["pair_code"], arrays["pair_code_offsets"], CODE)[0]
        repository, train = arrays["pair_repository"].astype(int), PARTS.index("train")
        usable = (arrays["repo_parts"][repository] == train) & ((self.questions != 0).sum(1) > 1) & ((self.codes != 0).sum(1) > 2)
        self.rows_of = [np.nonzero(usable & (repository == one))[0] for one in np.unique(repository[usable])]
        self.asked = pad_rows(arrays["question_tokens"], arrays["question_offsets"], QUESTION)[0]
        self.fields = [pad_rows(arrays[f"chunk_{name}"], arrays[f"chunk_{name}_offsets"], most)[0] for name, most in
                       zip(FIELDS, (MAX_PATH, MAX_HEAD, CODE))]
        for name, rows in zip(FIELDS, self.fields):
            rows *= name in fields  # an empty field adds nothing to a logit
        self.starts = arrays["question_candidates"].astype(int)
        parts = arrays["repo_parts"][arrays["question_repository"]]
        self.train_asked = [number for number in np.nonzero(parts == train)[0] if 0 < self.read_asked(number)[1].sum() < DEPTH]

    def read_asked(self, number):
        """Returns the chunks of a question's first candidates, which answer it, and their scores over that of the best."""
        span = slice(self.starts[number], min(self.starts[number] + DEPTH, self.starts[number + 1]))
        score, answers = self.arrays["candidate_score"][span], self.arrays["candidate_answers"][span] & self.arrays["question_must"][number]
        return self.arrays["candidate_chunk"][span].astype(int), answers > 0, score / max(score.max(initial=0), 1e-9)


def lose_pairs(model, data, options, rng, share):
    """Returns the loss of a batch of pairs of one repository."""
    every = data.rows_of[rng.choice(len(data.rows_of), p=share)]
    rows = rng.choice(every, min(options.batch, len(every)), replace=False)
    hard = rng.permuted(data.arrays["pair_negatives"][rows].astype(int), axis=1)[:, :N_HARD]
    hard = np.where(hard < len(data.codes), hard, rng.choice(every, hard.shape))
    questions, codes = trim(data.questions[rows]), trim(data.codes[rows])
    figures = torch.cat([model.compare_all(questions, codes), model.compare_own(questions, trim(data.codes[hard]))], 1)
    is_same = [(one[:, None] == one).all(2) for one in (data.questions[rows], data.codes[rows])]
    same = np.concatenate([(is_same[0] | is_same[1]) & ~np.eye(len(rows), dtype=bool),
                           (data.codes[hard] == data.codes[rows][:, None]).all(2)], 1)
    logits = (figures * model.pair_factors).sum(2).masked_fill(torch.tensor(same), -1e9)
    return F.cross_entropy(logits, torch.arange(len(rows)))


def lose_asked(model, data, options, rng, share):
    """Returns the loss of some questions of half A."""
    losses = []
    for number in rng.choice(data.train_asked, N_ASKED):
        chunks, answers, score = data.read_asked(number)
        kept = np.unique(np.concatenate([np.nonzero(answers)[0][:N_RIGHT], rng.permutation(len(chunks))[:options.group]]))
        logits = model.score_fields(trim(data.asked[number:number + 1]), [trim(field[chunks[kept]]) for field in data.fields])
        logits = logits + model.order * torch.tensor(score[kept])
        losses.append(logits.logsumexp(0) - logits[torch.tensor(answers[kept])].logsumexp(0))
    return torch.stack(losses).mean()


def train(model, data, options, stage, say):
    """Trains on pairs or on questions until its minutes of the processor are over, so that a busy machine trains as much."""
    lose, minutes, rate = {"pairs": (lose_pairs, options.pair_minutes, options.rate),
                           "asked": (lose_asked, options.asked_minutes, options.rate / 12)}[stage]
    factors = [model.pair_factors] if stage == "pairs" else [model.field_factors, model.order]
    groups = [([model.question_matrix, model.code_matrix], 1), ([model.question_weight, model.code_weight, model.mean_weight],
              FASTER_WEIGHTS), (factors, FASTER_FACTORS if stage == "pairs" else 5 * FASTER_FACTORS)]
    optimizer = torch.optim.Adam([{"params": weights} for weights, _ in groups], betas=(0.9, 0.98))
    rng, share = np.random.default_rng(options.seed), np.array([len(rows) ** 0.75 for rows in data.rows_of])
    began, line, step, losses = time.process_time(), 1, 0, []
    while (minute := (time.process_time() - began) / 60) < minutes:
        progress = minute / minutes
        for group, (_, times) in zip(optimizer.param_groups, groups):
            group["lr"] = rate / 2 * times * (0.02 + 0.49 * (1 + math.cos(math.pi * progress))) * min(1, (step + 1) / 50)
        loss = lose(model, data, options, rng, share / share.sum())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step, losses = step + 1, [*losses, loss.item()]
        if minute > line:
            say(stage=stage, minute=round(minute, 2), cpu_minutes=round(time.process_time() / 60, 2), step=step, loss=round(float(np.mean(losses)), 4))
            line, losses = line + 1, []
    return step


def round_rows(weight):
    """Returns int8 rows and the scale of each."""
    scale = np.maximum(np.abs(weight).max(1), 1e-12).astype(np.float32) / 127
    return np.rint(weight / scale[:, None]).astype(np.int8), scale


def export(model, data, options, facts):
    """Writes the model with its reference."""
    weights = {name: weight.detach().numpy() for name, weight in model.named_parameters() if name not in ("order", "pair_factors")}
    numbers = np.random.default_rng(3).permutation(data.train_asked)[:3]

    def score():
        with torch.no_grad():
            return [model.score_fields(trim(data.asked[number:number + 1]), [trim(field[data.read_asked(number)[0][:6]]) for field in data.fields])
                    .tolist() for number in numbers]

    before, stored = score(), {"field_factors": weights["field_factors"]}
    for name in ("question_matrix", "code_matrix", "question_weight", "code_weight", "mean_weight"):
        rows = weights[name].T if weights[name].ndim == 2 else weights[name][None]
        stored[name], stored[name + ".scale"] = round_rows(rows)
        back = stored[name].astype(np.float32) * stored[name + ".scale"][:, None]
        getattr(model, name).data.copy_(torch.tensor(back.T if weights[name].ndim == 2 else back[0]))
    cases = [{"question": [int(token) for token in data.asked[number] if token],
              "chunks": [[[int(token) for token in field[chunk] if token] for field in data.fields] for chunk in data.read_asked(number)[0][:6]],
              "float": old, "int8": new} for number, old, new in zip(numbers, before, score())]
    write_tensors(options.out / "model.safetensors", stored)
    config = {"kind": "late-interaction", "width": model.width, "question": QUESTION, "code": CODE, "table_gain": TABLE_GAIN, "fields": options.fields.split(","),
              "order": round(model.order.item(), 4), **facts}
    (options.out / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    (options.out / "reference.json").write_text(json.dumps({"tolerance": TOLERANCE, "cases": cases}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder of prepare.py")
    add("--out", type=Path, required=True, metavar="MODEL", help="folder to write to; created when absent")
    add("--table", type=Path, default=TABLE, help="the builtin model")
    add("--pair-minutes", type=float, default=20, help="processor time for pairs (default: 20)")
    add("--asked-minutes", type=float, default=8, help="processor time for questions of half A (default: 8)")
    add("--width", type=int, default=128)
    add("--fields", default=",".join(FIELDS), help=f"what is read of a candidate (default: {','.join(FIELDS)})")
    add("--batch", type=int, default=48, help="pairs of a step (default: 48)")
    add("--group", type=int, default=20, help="candidates of a question (default: 20)")
    add("--rate", type=float, default=2e-3, help="highest rate of learning (default: 0.002)")
    add("--seed", type=int, default=1)
    add("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    data = Data(options.data / "data.npz", options.fields.split(","))
    if not data.rows_of or not data.train_asked:
        print(f"train_late: {options.data}: no pairs or no questions of the part train", file=sys.stderr)
        return 2
    model = LateInteraction(options.width, torch.tensor(read_table(options.table)))
    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "curve.jsonl", "w", encoding="utf-8") as file:
        def say(**facts):
            for stream in (file, sys.stdout):
                print(json.dumps(facts), file=stream, flush=True)

        steps = {stage: train(model, data, options, stage, say) for stage in ("pairs", "asked")}
    export(model, data, options, {"pair_steps": steps["pairs"], "asked_steps": steps["asked"]})
    return subprocess.run([sys.executable, Path(__file__).parent / "infer_late.py", options.out, "--table", options.table]).returncode


if __name__ == "__main__":
    sys.exit(main())
