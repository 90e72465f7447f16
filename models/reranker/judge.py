#!/usr/bin/env python3
"""Does a reranker order the candidates of half B's questions better than they came?

  judge.py MODEL --data DATA [--depths 30,50] [--most N] [--json FILE]

MODEL  folder of export.py or of train_late.py
DATA   data.npz of prepare.py

The first 30 and 50 candidates of each question are ordered anew: by the logits (alone), and by the first stage's score, over that
of the best candidate, plus a weight times the logit (added). The weight is the one of the highest MRR on the part `tune`, which
is of half A and was not trained on. Prints for the part `judge`, half B, by kind and length: MRR of the first answer and how
often it is among ten, in percent, over all questions that something answers; the difference in MRR with a 95 % interval of a
bootstrap over questions; processor time for 50 candidates on one core in numpy; bytes of the weights.

Needs Python 3.9 and numpy. Exit code: 0 printed, 2 there are no questions of a part.
"""
import os

os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})  # before numpy is there
import argparse  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

sys.dont_write_bytecode = True  # leaves no cache beside the sources
import numpy as np  # noqa: E402
from infer import ExportedReranker  # noqa: E402
from infer_late import LateReranker  # noqa: E402
from prepare import KINDS, PARTS  # noqa: E402
from tensors import TABLE  # noqa: E402

WEIGHTS = [0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0]
LENGTHS = [(6, "to 6 words"), (15, "7 to 15 words"), (40, "16 to 40 words"), (80, "41 to 80 words"), (10**9, "over 80 words")]
N_RESAMPLES = 2000
FIRST_ANSWER = 1  # the bit of it


class Questions:
    """The questions of a part, their candidates, and the logits of the first of these."""

    def __init__(self, arrays, part, most):
        self.arrays = arrays
        parts = arrays["repo_parts"][arrays["question_repository"]]
        numbers = np.nonzero(parts == PARTS.index(part))[0]
        self.numbers = np.sort(np.random.default_rng(5).permutation(numbers)[:most])
        self.kinds = [KINDS[kind] for kind in arrays["question_kind"][self.numbers]]
        self.lengths = [next(title for bound, title in LENGTHS if words <= bound) for words in arrays["question_words"][self.numbers]]
        starts = arrays["question_candidates"].astype(np.int64)
        spans = [slice(starts[number], starts[number + 1]) for number in self.numbers]
        self.is_answer = [(arrays["candidate_answers"][span] & FIRST_ANSWER) > 0 for span in spans]
        scores = [arrays["candidate_score"][span] for span in spans]
        self.scores = [score / max(score.max(initial=0), 1e-9) for score in scores]
        self.chunks = [arrays["candidate_chunk"][span] for span in spans]
        self.logits, self.seconds = [], []

    def read_tokens(self, name, offsets, number):
        offsets = self.arrays[offsets]
        return self.arrays[name][offsets[number]:offsets[number + 1]].tolist()

    def score_all(self, reranker, depth):
        """Has the model score the first candidates of each question, and notes the processor time."""
        for number, chunks in zip(self.numbers, self.chunks):
            question = self.read_tokens("question_tokens", "question_offsets", number)
            texts = [[self.read_tokens(f"chunk_{field}", f"chunk_{field}_offsets", chunk) for field in ("path", "head", "body")]
                     for chunk in chunks[:depth]]
            began = time.process_time()
            self.logits.append(reranker.score_chunks(question, texts) if question and texts else np.zeros(len(texts), np.float32))
            if len(texts) == depth:
                self.seconds.append(time.process_time() - began)

    def find_ranks(self, depth, order_score, weight):
        """Returns the place of the first answer of each question, infinite where it is not among the candidates."""
        ranks = []
        for is_answer, score, logits in zip(self.is_answer, self.scores, self.logits):
            n = min(depth, len(logits))
            keys = order_score * score[:n] + weight * logits[:n]
            places = np.concatenate([np.argsort(-keys, kind="stable"), np.arange(n, len(score))]).astype(int)
            found = np.nonzero(is_answer[places])[0]
            ranks.append(found[0] + 1 if len(found) else np.inf)
        return np.array(ranks)


def choose_weight(questions, depth):
    """Returns the weight of the highest MRR, and that MRR with the one of weight 0."""
    mrr = [float((1 / questions.find_ranks(depth, 1.0, weight)).mean()) for weight in WEIGHTS]
    best = int(np.argmax(mrr))
    return WEIGHTS[best], 100 * mrr[best], 100 * mrr[0]


def resample_difference(before, after):
    """Returns the bounds of 95 % of the mean difference of reciprocal ranks, in percent."""
    difference = 100 * (1 / after - 1 / before)
    drawn = np.random.default_rng(1).integers(0, len(difference), (N_RESAMPLES, len(difference)))
    return np.percentile(difference[drawn].mean(1), [2.5, 97.5])


def rank_ways(tune, judge, depths):
    """Returns {way: ranks of the questions that judge}, and says which weights were chosen."""
    ways = {"none": judge.find_ranks(0, 1.0, 0.0)}
    for depth in depths:
        weight, mrr, plain = choose_weight(tune, depth)
        print(f"of {depth} candidates: weight {weight:g} of the logit, chosen on {len(tune.numbers)} questions of half A "
              f"(MRR {plain:.1f} -> {mrr:.1f})")
        ways[f"alone {depth}"] = judge.find_ranks(depth, 0.0, 1.0)
        ways[f"added {depth}"] = judge.find_ranks(depth, 1.0, weight)
    return ways


def build_table(judge, ways):
    """Returns a row for all questions, each kind and each length: title, number, and MRR and R@10 of each way."""
    groups = {"all": np.ones(len(judge.numbers), bool)}
    for titles, of in ((KINDS, judge.kinds), ([title for _, title in LENGTHS], judge.lengths)):
        groups.update({title: np.array([one == title for one in of]) for title in titles})
    return [(title, int(chosen.sum()), [(100 * float((1 / ranks[chosen]).mean()), 100 * float((ranks[chosen] <= 10).mean()))
                                        for ranks in ways.values()]) for title, chosen in groups.items() if chosen.any()]


def print_table(rows, ways):
    print(f"{'':16}{'questions':>9}" + "".join(f"{way:>16}" for way in ways))
    print(f"{'':25}" + "".join(f"{'MRR':>9}{'R@10':>7}" for _ in ways))
    for title, count, figures in rows:
        print(f"{title:16}{count:9}" + "".join(f"{mrr:9.1f}{recall:7.1f}" for mrr, recall in figures))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("model", type=Path, metavar="MODEL", help="folder of export.py")
    add("--data", type=Path, required=True, help="folder of prepare.py")
    add("--table", type=Path, default=TABLE, help="the builtin model")
    add("--depths", default="30,50", help="how many candidates are ordered anew (default: 30,50)")
    add("--most", type=int, help="only so many questions of each part")
    add("--json", type=Path, metavar="FILE", help="write the figures here as well")
    options = parser.parse_args()
    with np.load(options.data / "data.npz") as stored:
        arrays = {name: stored[name] for name in stored.files if not name.startswith("pair_")}
    depths = [int(depth) for depth in options.depths.split(",")]
    tune, judge = (Questions(arrays, part, options.most) for part in ("tune", "judge"))
    if not len(tune.numbers) or not len(judge.numbers):
        print(f"judge: {options.data}: no questions of half A to choose on, or none of half B", file=sys.stderr)
        return 2
    kind = json.loads((options.model / "config.json").read_text(encoding="utf-8")).get("kind")
    reranker = {"late-interaction": LateReranker}.get(kind, ExportedReranker)(options.model, options.table)
    for questions in (tune, judge):
        questions.score_all(reranker, max(depths))
    ways = rank_ways(tune, judge, depths)
    rows = build_table(judge, ways)
    print_table(rows, ways)
    for way, ranks in list(ways.items())[1:]:
        low, high = resample_difference(ways["none"], ranks)
        print(f"{way}: MRR {100 * float((1 / ranks - 1 / ways['none']).mean()):+.1f}, 95 % from {low:+.1f} to {high:+.1f}")
    seconds, size = tune.seconds + judge.seconds, (options.model / "model.safetensors").stat().st_size
    print(f"{max(depths)} candidates take {1000 * float(np.median(seconds or [0])):.0f} ms of one core (median of {len(seconds)}), "
          f"p95 {1000 * float(np.percentile(seconds or [0], 95)):.0f} ms; {size / 1e6:.3f} MB of int8")
    if options.json:
        options.json.write_text(json.dumps({"ways": list(ways), "rows": rows, "bytes": size}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
