#!/usr/bin/env python3
"""The exported late interaction in plain numpy: what another language ports.

  infer_late.py MODEL [--table FILE]

MODEL  folder of train_late.py: model.safetensors, config.json, reference.json

Scores the candidates of reference.json and prints the largest difference from the logits of torch that stand there.

Needs Python 3.9 and numpy. Exit code: 0 they agree, 1 they differ by more than the file allows.
"""
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
import numpy as np  # noqa: E402
from reference import check_reference  # noqa: E402
from tensors import FIELDS, MAX_HEAD, MAX_PATH, TABLE, read_tensors  # noqa: E402


def scale_to_one(vectors):
    return vectors / np.maximum(np.sqrt((vectors * vectors).sum(-1)), np.float32(1e-12))[..., None]


class LateReranker:
    def __init__(self, folder, table=TABLE):
        self.config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        stored = read_tensors(Path(folder) / "model.safetensors")
        self.factors = stored["field_factors"]
        rows = {name: stored[name].astype(np.float32) * stored[name + ".scale"][:, None] for name in stored if name + ".scale" in stored}
        table = read_tensors(table)
        vectors = table["embeddings"].astype(np.float32) * (table["weights"] * np.float32(self.config["table_gain"]))[:, None]
        self.counts = (vectors != 0).any(1)
        self.counts[0] = False  # it pads
        # The matrices are applied to the whole table once: then a token costs one row.
        self.question_rows, self.code_rows = vectors @ rows["question_matrix"].T, vectors @ rows["code_matrix"].T
        self.question_weight, self.code_weight, self.mean_weight = (
            np.exp(rows[name][0]) * self.counts for name in ("question_weight", "code_weight", "mean_weight"))
        self.code_units = scale_to_one(self.code_rows) * self.counts[:, None]

    def score_chunks(self, question, chunks):
        """Returns a logit for each candidate: `question` has ids of tokens, each of `chunks` those of path, head and body."""
        question = np.asarray(question[:self.config["question"]], np.int64)
        vectors, share = self.question_rows[question], self.mean_weight[question]
        whole = scale_to_one((vectors * self.question_weight[question][:, None]).sum(0))
        tokens = scale_to_one(vectors) * self.counts[question][:, None]
        share = share / max(share.sum(), 1e-6)
        logits = np.zeros(len(chunks), np.float32)
        for place, (name, most) in enumerate(zip(FIELDS, (MAX_PATH, MAX_HEAD, self.config["code"]))):
            if name not in self.config["fields"]:
                continue
            rows = [chunk[place][-most:] if place == 0 else chunk[place][:most] for chunk in chunks]
            logits += self.compare(question, whole, tokens, share, rows) @ self.factors[place]
        return logits

    def compare(self, question, whole, tokens, share, rows):
        """Returns the three figures of a question with each text."""
        ids = np.zeros((len(rows), max(1, max(map(len, rows)))), np.int64)
        for row, text in zip(ids, rows):
            row[:len(text)] = text
        code_whole = scale_to_one((self.code_rows[ids] * self.code_weight[ids][..., None]).sum(1))
        units = self.code_units[ids]
        best = np.maximum((units.reshape(-1, units.shape[-1]) @ tokens.T).reshape(*ids.shape, -1).max(1), 0)
        same = (ids[:, :, None] == question).any(1)
        return np.stack([code_whole @ whole, best @ share, same @ share], 1).astype(np.float32)


if __name__ == "__main__":
    sys.exit(check_reference(__doc__, LateReranker, lambda model, case: model.score_chunks(case["question"], case["chunks"])))
