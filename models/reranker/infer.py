#!/usr/bin/env python3
"""The exported reranker in plain numpy: what another language ports.

  infer.py MODEL [--table FILE]

MODEL  folder of export.py: model.safetensors, config.json, reference.json

Scores the pairs of reference.json and prints the largest difference from the logits of torch that stand there.

Needs Python 3.9 and numpy. Exit code: 0 they agree, 1 they differ by more than the file allows.
"""
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no cache beside the sources
import numpy as np  # noqa: E402
from reference import check_reference  # noqa: E402
from tensors import TABLE, join_fields, read_tensors  # noqa: E402

BLOCK = 16  # candidates that are computed together: those of like length, so that little is padding
NEVER = np.float32(-1e9)
SQRT_2_OVER_PI = np.float32(0.7978845608028654)


def normalize(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(1e-5)) * weight + bias


def apply_gelu(x):
    """Returns GELU in its tanh form."""
    return np.float32(0.5) * x * (1 + np.tanh(SQRT_2_OVER_PI * (x + np.float32(0.044715) * x * x * x)))


class ExportedReranker:
    def __init__(self, folder, table=TABLE):
        self.config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        stored = read_tensors(Path(folder) / "model.safetensors")
        self.weights = {name: tensor.astype(np.float32) * stored[name + ".scale"][:, None] if tensor.dtype == np.int8 else tensor
                        for name, tensor in stored.items() if not name.endswith(".scale")}
        self.turned = {name: np.ascontiguousarray(tensor.T) for name, tensor in self.weights.items() if tensor.ndim == 2}
        table = read_tensors(table)
        self.rows, self.factors = table["embeddings"], table["weights"] * np.float32(self.config["table_gain"])
        self.extra_of = np.full(len(self.rows), -1)
        self.extra_of[stored["extra_ids"]] = np.arange(len(stored["extra_ids"]))

    def apply_linear(self, name, x):
        flat = x.reshape(-1, x.shape[-1]) @ self.turned[name + ".weight"]  # one large product is faster than many small ones
        return flat.reshape(*x.shape[:-1], -1) + self.weights[name + ".bias"]

    def look_up(self, ids):
        """Returns the vectors of tokens, their lengths, and the vectors of length 1."""
        vectors = self.rows[ids].astype(np.float32) * self.factors[ids][..., None]
        sizes = np.sqrt((vectors * vectors).sum(-1))
        return vectors, sizes, vectors / np.maximum(sizes, np.float32(1e-6))[..., None]

    def enter_tokens(self, ids, vectors, places):
        entered = vectors.reshape(-1, vectors.shape[-1]) @ self.turned["enter.weight"]
        entered = entered.reshape(*ids.shape, -1) + self.weights[places][:ids.shape[-1]]
        extra = self.extra_of[ids]
        entered[extra >= 0] += self.weights["extra.weight"][extra[extra >= 0]]
        return entered

    def score_chunks(self, question, chunks):
        """Returns a logit for each candidate, of which path, head and body are given."""
        return self.score_candidates(question, [join_fields(*chunk, self.config["fields"], self.config["code"]) for chunk in chunks])

    def score_candidates(self, question, codes):
        """Returns a logit for each candidate; `question` and each of `codes` are ids of tokens, at least one."""
        question = np.asarray(question[:self.config["question"]], np.int64)
        codes = [code[:self.config["code"]] for code in codes]
        logits = np.zeros(len(codes), np.float32)
        looked_up = self.look_up(question)
        entered = self.enter_tokens(question, looked_up[0], "question_place.weight")
        order = np.argsort([len(code) for code in codes], kind="stable")
        for start in range(0, len(order), BLOCK):
            part = order[start:start + BLOCK]
            padded = np.zeros((len(part), max(1, max(len(codes[number]) for number in part))), np.int64)
            for row, number in zip(padded, part):
                row[:len(codes[number])] = codes[number]
            logits[part] = self.score_block(question, looked_up, entered, padded)
        return logits

    def score_block(self, question, looked_up, entered, codes):
        question_at, sizes, question_unit = looked_up
        code_at, _, code_unit = self.look_up(codes)
        n, width = len(codes), self.config["width"]
        cosines = (code_unit.reshape(-1, code_unit.shape[-1]) @ question_unit.T).reshape(*codes.shape, len(question))
        same = (codes[:, :, None] == question) & (sizes > 0)
        question_best, code_best = np.maximum(cosines.max(1), 0), np.maximum(cosines.max(2), 0)
        marks, soft, special = self.weights["mark"], self.weights["soft"], self.weights["special"]
        x = np.empty((n, 2 + len(question) + codes.shape[1], width), np.float32)
        x[:, 0], x[:, 1 + len(question)] = special
        x[:, 1:1 + len(question)] = entered + marks[same.any(1).astype(int)] + question_best[..., None] * soft[0]
        x[:, 2 + len(question):] = (self.enter_tokens(codes, code_at, "code_place.weight") + marks[2 + same.any(2).astype(int)]
                                    + code_best[..., None] * soft[1])
        hidden = np.zeros((n, x.shape[1]), np.float32)
        hidden[:, 2 + len(question):][codes == 0] = NEVER
        for number in range(self.config["layers"]):
            x = self.apply_layer(f"layers.{number}.", x, hidden, number + 1 == self.config["layers"])
        logits = normalize(x[:, 0], self.weights["norm.weight"], self.weights["norm.bias"]) @ self.turned["head.weight"]
        overlap = self.measure_overlap(question_at, code_at, sizes, same.any(1), question_best)
        return logits[:, 0] + self.weights["head.bias"] + overlap @ self.weights["prior"]

    def apply_layer(self, prefix, x, hidden, is_last):
        heads, width = self.config["heads"], self.config["width"]

        def split_heads(values):
            return values.reshape(len(values), -1, heads, width // heads).transpose(0, 2, 1, 3)

        normed = normalize(x, self.weights[prefix + "norm1.weight"], self.weights[prefix + "norm1.bias"])
        query = split_heads(self.apply_linear(prefix + "query", normed[:, :1] if is_last else normed))
        key, value = (split_heads(half) for half in np.split(self.apply_linear(prefix + "key_value", normed), 2, -1))
        seen = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width / heads)) + hidden[:, None, None]
        seen = np.exp(seen - seen.max(-1, keepdims=True))
        seen = (seen / seen.sum(-1, keepdims=True)) @ value
        x = (x[:, :1] if is_last else x) + self.apply_linear(prefix + "out", seen.transpose(0, 2, 1, 3).reshape(len(x), -1, width))
        normed = normalize(x, self.weights[prefix + "norm2.weight"], self.weights[prefix + "norm2.bias"])
        return x + self.apply_linear(prefix + "down", apply_gelu(self.apply_linear(prefix + "up", normed)))

    def measure_overlap(self, question_at, code_at, sizes, matched, best):
        """Returns the three figures of network.measure_overlap."""
        question_sum, code_sum = question_at.sum(0), code_at.sum(1)
        lengths = np.maximum(np.linalg.norm(question_sum), 1e-6) * np.maximum(np.linalg.norm(code_sum, axis=1), 1e-6)
        weight = sizes / max(sizes.sum(), 1e-6)
        return np.stack([code_sum @ question_sum / lengths, matched @ weight, best @ weight], 1).astype(np.float32)


if __name__ == "__main__":
    sys.exit(check_reference(__doc__, ExportedReranker, lambda model, case: model.score_candidates(case["question"], case["codes"])))
