#!/usr/bin/env python3
"""Trains the reranker for so many minutes: of the clock on an accelerator, of the processor without one.

  train.py --data DATA --out RUN [--minutes M] [--layers N] [--width W] [--start STATE] [--teacher STATE]

DATA  data.npz of prepare.py
RUN   written: state.pt, the weights and their shape; curve.jsonl, a line each --every minutes: minutes of the clock and of the
      processor, groups trained on, loss, and MRR of the tune part's questions before (none) and after 50 candidates were ordered
      anew by the logits (alone) and by logits and score of the first stage (added)

A group is a question, one right candidate and wrong ones; the loss is the cross-entropy of the right one. A pair's group has its
hard negatives and codes of its repository, a question's group has wrong candidates among its first --depth. In a question's group
the score of the first stage, times a learned factor, is added to each logit, so that the network learns what to add to it.
--no-order leaves that out. A teacher's scores of the same group make half of the loss.

Only repositories of the part `train` are trained on. A run that is cut off leaves the state of its last line; --start goes on
from a state of the same shape. The rate of learning falls along a cosine to the end of --minutes.

Needs Python 3.9, numpy and torch. Exit code: 0 done, 2 there is nothing to train on.
"""
import time

START = time.monotonic()  # loading torch takes from --minutes too
import argparse  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

sys.dont_write_bytecode = True  # leaves no cache beside the sources
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from examples import Examples, score_rows  # noqa: E402
from network import Reranker, load_state, save_state  # noqa: E402
from tensors import TABLE, read_table  # noqa: E402

SHAPE = ["layers", "width", "heads", "inner", "question", "code", "fields", "dropout"]
NONE = -1e9  # logit of a candidate that does not count
TEACHER_SHARE = 0.5
N_RERANKED = 50


class Training:
    """A model, its optimizer, and the examples that it draws."""

    def __init__(self, options, device, model, examples, teacher):
        self.options, self.device, self.model, self.examples, self.teacher = options, device, model, examples, teacher
        self.rng = np.random.default_rng(options.seed)
        self.is_cuda = device.type == "cuda"
        matrices = [weight for name, weight in model.named_parameters() if weight.dim() == 2]
        vectors = [weight for name, weight in model.named_parameters() if weight.dim() != 2 and name not in ("prior", "order")]
        groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0},
                  {"params": [model.prior, model.order], "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), fused=self.is_cuda)
        n_asked = options.question_weight * len(examples.train_asked)
        self.asked_share = n_asked / max(n_asked + len(examples.train_pairs), 1)
        self.queue, self.step, self.groups = np.zeros(0, np.int64), 0, 0

    def set_rate(self, progress):
        rate = self.options.rate * min(1, (self.step + 1) / self.options.warm) * (0.02 + 0.49 * (1 + math.cos(math.pi * progress)))
        for group, factor in zip(self.optimizer.param_groups, (1, 1, 10)):  # five numbers may move faster
            group["lr"] = rate * factor

    def draw_batch(self):
        """Returns question rows, code rows `[batch, group]`, which of them count, and what the first stage adds to each."""
        options, examples = self.options, self.examples
        n_asked = self.rng.binomial(options.batch, self.asked_share)
        while len(self.queue) < options.batch - n_asked:
            self.queue = np.concatenate([self.queue, self.rng.permutation(examples.train_pairs)])
        pairs, self.queue = np.split(self.queue, [options.batch - n_asked])
        codes, counts = examples.draw_pairs(pairs, options.group, self.rng)
        order = np.zeros(codes.shape, np.float32)
        asked = self.rng.choice(examples.train_asked, n_asked) if n_asked else []
        drawn = [examples.draw_asked(number, options.group, options.depth, self.rng) for number in asked]
        if drawn:
            codes, counts, order = (np.concatenate([some, np.stack(more)]) for some, more in zip((codes, counts, order), zip(*drawn)))
        questions = np.concatenate([pairs, [examples.asked[number][0] for number in asked]]).astype(np.int64)
        return questions, codes, counts, order if options.order else np.zeros_like(order)

    def score_groups(self, model, questions, codes, counts, order):
        size = codes.shape[1]
        flat = score_rows(model, self.examples, np.repeat(questions, size), codes.ravel(), -(-codes.size // 4))
        logits = flat.view(codes.shape) + model.order * torch.tensor(order, device=self.device)
        return logits.masked_fill(~torch.tensor(counts, device=self.device), NONE)

    def train_step(self, progress):
        """Trains on one batch and returns its loss, still on the device."""
        self.set_rate(progress)
        batch = self.draw_batch()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.is_cuda):
            logits = self.score_groups(self.model, *batch)
            loss = F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long, device=self.device))
            if self.teacher:
                with torch.no_grad():
                    taught = self.score_groups(self.teacher, *batch).softmax(1)
                loss = (1 - TEACHER_SHARE) * loss + TEACHER_SHARE * F.cross_entropy(logits, taught)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step, self.groups = self.step + 1, self.groups + len(logits)
        return loss.detach()

    @torch.no_grad()
    def measure(self, numbers):
        """Returns MRR of questions whose first candidates are ordered anew: not, by the logits, by logits and score."""
        self.model.eval()
        ranks = {"none": [], "alone": [], "added": []}
        for number in numbers:
            row, rows, answers, score, _, _ = self.examples.asked[number]
            some = rows[:N_RERANKED]
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.is_cuda):
                logits = score_rows(self.model, self.examples, np.full(len(some), row), some, 64).cpu().numpy()
            orders = {"none": score[:N_RERANKED], "alone": logits, "added": logits + self.model.order.item() * score[:N_RERANKED]}
            for name, by in orders.items():
                places = np.concatenate([np.argsort(-by, kind="stable"), np.arange(len(some), len(rows))])
                found = np.nonzero(answers[places])[0]
                ranks[name].append(1 / (found[0] + 1) if len(found) else 0)
        self.model.train()
        return {name: round(100 * float(np.mean(of)), 2) for name, of in ranks.items()} if numbers else {}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder of prepare.py")
    add("--out", type=Path, required=True, metavar="RUN", help="folder to write to; created when absent")
    add("--table", type=Path, default=TABLE, help="the builtin model (default: models/builtin/model.safetensors)")
    add("--minutes", type=float, default=30, help="length of the run, loading included: of the clock on an accelerator, else of the processor (default: 30)")
    add("--every", type=float, default=1, help="minutes between lines of the curve (default: 1)")
    add("--layers", type=int, default=2)
    add("--width", type=int, default=128)
    add("--heads", type=int, default=4)
    add("--inner", type=int, default=0, help="width inside a feed-forward (default: twice the width)")
    add("--question", type=int, default=48, help="tokens of a question that are read (default: 48)")
    add("--code", type=int, default=128, help="tokens of a candidate that are read (default: 128)")
    add("--fields", default="path,head,body", help="what is read of a candidate (default: path,head,body)")
    add("--question-weight", type=float, default=20, help="how many pairs a question counts for (default: 20)")
    add("--depth", type=int, default=N_RERANKED, help="a question's negatives are among so many candidates (default: 50)")
    add("--no-order", dest="order", action="store_false", help="train without the score of the first stage")
    add("--batch", type=int, default=0, help="groups a step (default: 8, on an accelerator 128)")
    add("--group", type=int, default=0, help="candidates of a group (default: 10, on an accelerator 16)")
    add("--rate", type=float, default=0, help="highest rate of learning (default: by width)")
    add("--warm", type=int, default=100, help="steps until the rate is highest (default: 100)")
    add("--dropout", type=float, default=0.1)
    add("--tune", type=int, default=0, help="questions of the tune part for a line (default: 60, on an accelerator 400)")
    add("--most-pairs", type=int, help="read only so many pairs")
    add("--start", type=Path, metavar="STATE", help="go on from the weights of a state.pt")
    add("--teacher", type=Path, metavar="STATE", help="learn the scores of this model too")
    add("--seed", type=int, default=1)
    add("--threads", type=int, default=1, help="threads of torch (default: 1)")
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    is_cuda = options.device.startswith("cuda")
    defaults = {"inner": 2 * options.width, "batch": 128 if is_cuda else 8, "group": 16 if is_cuda else 10,
                "tune": 400 if is_cuda else 60, "rate": 1e-3 if options.width <= 128 else 7e-4 if options.width <= 192 else 5e-4}
    for name, value in defaults.items():
        setattr(options, name, getattr(options, name) or value)
    return options


def build_model(options, device):
    """Returns the model to train and its teacher, if there is one; both read the same tokens."""
    table = read_table(options.table)
    config = {name: getattr(options, name) for name in SHAPE}
    config["fields"] = options.fields.split(",")
    torch.manual_seed(options.seed)
    model = load_state(options.start, table)[0] if options.start else Reranker(config, torch.tensor(table))
    teacher = load_state(options.teacher, table)[0].to(device) if options.teacher else None
    if teacher and any(teacher.config[name] != model.config[name] for name in ("question", "code", "fields")):
        sys.exit("train: the teacher reads other tokens; give both the same --question, --code and --fields")
    return model.to(device).train(), teacher


def run(options, training, tune, say):
    """Trains until the minutes allow one more measurement and no more; a core that others keep busy trains as much as a quiet one."""
    read_clock, start = (time.monotonic, START) if training.is_cuda else (time.process_time, 0)
    end, began = start + 60 * options.minutes, read_clock()
    line, losses, took = began, [], 0.0
    while True:
        now = read_clock()
        is_over = now >= end - 1.5 * took - 3
        if is_over or now - line >= 60 * options.every:
            save_state(options.out / "state.pt", training.model, step=training.step, groups=training.groups)
            measured = training.measure(tune)
            took = read_clock() - now
            say(minute=round((time.monotonic() - START) / 60, 2), cpu_minutes=round(time.process_time() / 60, 2), step=training.step,
                groups=training.groups, loss=round(float(torch.stack(losses).mean()), 4) if losses else None, tune=measured,
                prior=[round(value, 2) for value in training.model.prior.tolist()], order=round(training.model.order.item(), 2))
            line, losses = read_clock(), []
            if is_over:
                return
        losses.append(training.train_step(min(1, (now - began) / max(end - took - began, 1))))
        if training.is_cuda and training.step % 20 == 0:
            torch.cuda.synchronize()  # keeps the clock honest


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    torch.set_float32_matmul_precision("high")
    device = torch.device(options.device)
    model, teacher = build_model(options, device)
    examples = Examples(options.data / "data.npz", model.config, device, options.most_pairs)
    if not examples.train_asked and not len(examples.train_pairs):
        print(f"train: {options.data}: nothing of the part train", file=sys.stderr)
        return 2
    training = Training(options, device, model, examples, teacher)
    tune = [number for number, row in enumerate(examples.asked) if row[4] == "tune"]
    tune = np.random.default_rng(7).permutation(tune)[:options.tune].tolist()
    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "curve.jsonl", "a", encoding="utf-8") as file:
        def say(**facts):
            for stream in (file, sys.stdout):
                print(json.dumps(facts), file=stream, flush=True)

        say(device=str(device), shape=model.config, parameters=sum(weight.numel() for weight in model.parameters()),
            pairs=len(examples.train_pairs), questions=len(examples.train_asked), asked_share=round(training.asked_share, 3),
            tuned_on=len(tune), seconds_to_load=round(time.monotonic() - START, 1))
        run(options, training, tune, say)
    return 0


if __name__ == "__main__":
    sys.exit(main())
