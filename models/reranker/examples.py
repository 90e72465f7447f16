"""Reads data.npz and draws groups to train on: a question, what answers it, and what does not."""
import numpy as np
import torch
from tensors import MAX_HEAD, MAX_PATH, pad_rows
from prepare import PARTS

N_HARD = 6  # nearest wrong codes that a pair names


class Examples:
    """Token ids of pairs and asked questions as `[rows, width]`, those of the pairs first, and which row answers which.

    Row i of the pairs' questions belongs to row i of the codes. `asked` has a tuple for each question: its row, the rows of its
    candidates in the order of the first stage, whether each is an answer, their scores over that of the best, part, kind.
    """

    def __init__(self, path, config, device, most_pairs=None):
        with np.load(path) as arrays:
            self.arrays = {name: arrays[name] for name in arrays.files}
        self.config, self.device = config, device
        get = self.arrays.__getitem__
        self.n_pairs = len(get("pair_repository"))
        questions = [pad_rows(get(f"{of}"), get(f"{offsets}"), config["question"])[0] for of, offsets in
                     [("pair_question", "pair_question_offsets"), ("question_tokens", "question_offsets")]]
        pair_codes = pad_rows(get("pair_code"), get("pair_code_offsets"), config["code"])[0]
        codes = np.concatenate([pair_codes, self.join_chunks()])
        questions = np.concatenate(questions)
        self.question_length, self.code_length = (questions != 0).sum(1), (codes != 0).sum(1)
        self.question_mark, self.code_mark = mark_rows(questions), mark_rows(codes)
        self.questions, self.codes = (torch.tensor(rows, device=device) for rows in (questions, codes))
        self.read_pairs(most_pairs)
        self.read_asked()

    def join_chunks(self):
        """Returns the tokens of all candidates: path, name and text one after the other, those of `config["fields"]`."""
        width, arrays = self.config["code"], self.arrays
        rows = np.zeros((len(arrays["chunk_body_offsets"]) - 1, width), np.int16)
        at = np.zeros(len(rows), np.int64)
        for name, most in (("path", MAX_PATH), ("head", MAX_HEAD), ("body", width)):
            if name not in self.config["fields"]:
                continue
            tokens, lengths = pad_rows(arrays[f"chunk_{name}"], arrays[f"chunk_{name}_offsets"], most)
            places = at[:, None] + np.arange(most)
            row, column = np.nonzero((np.arange(most) < lengths[:, None]) & (places < width))
            rows[row, places[row, column]] = tokens[row, column]
            at = np.minimum(at + lengths, width)
        return rows

    def read_pairs(self, most_pairs):
        arrays = self.arrays
        self.pair_repository, self.negatives = arrays["pair_repository"].astype(np.int64), arrays["pair_negatives"].astype(np.int64)
        self.by_repository = np.argsort(self.pair_repository, kind="stable")
        self.count = np.bincount(self.pair_repository, minlength=len(arrays["repo_parts"]))
        self.first = np.cumsum(self.count) - self.count
        usable = (self.question_length[:self.n_pairs] > 0) & (self.code_length[:self.n_pairs] > 0)
        if "path" not in self.config["fields"]:
            usable &= arrays["pair_has_path"] == 0
        of_train = arrays["repo_parts"][self.pair_repository] == PARTS.index("train")
        self.train_pairs = np.nonzero(usable & of_train)[0][:most_pairs]

    def read_asked(self):
        arrays, self.asked = self.arrays, []
        starts = arrays["question_candidates"].astype(np.int64)
        for number in range(len(starts) - 1):
            span = slice(starts[number], starts[number + 1])
            answers = (arrays["candidate_answers"][span] & arrays["question_must"][number]) > 0
            score = arrays["candidate_score"][span]
            part = PARTS[arrays["repo_parts"][arrays["question_repository"][number]]]
            self.asked.append((self.n_pairs + number, self.n_pairs + arrays["candidate_chunk"][span].astype(np.int64), answers,
                               score / max(score.max(initial=0), 1e-9), part, int(arrays["question_kind"][number])))
        self.train_asked = [number for number, row in enumerate(self.asked) if row[4] == "train" and row[2].any() and not row[2].all()]

    def draw_pairs(self, rows, size, rng):
        """Returns candidates `[rows, size]` of pairs, the right one first, then hard and random ones; and which of them count."""
        n_hard = min(N_HARD, size // 2)
        hard = rng.permuted(self.negatives[rows], axis=1)[:, :n_hard]
        repository = self.pair_repository[rows]
        drawn = self.first[repository][:, None] + (rng.random((len(rows), size - 1)) * self.count[repository][:, None]).astype(np.int64)
        random = self.by_repository[drawn]
        random[:, :n_hard] = np.where(hard < self.n_pairs, hard, random[:, :n_hard])
        codes = np.concatenate([rows[:, None], random], 1)
        counts = (self.code_mark[codes] != self.code_mark[rows][:, None]) & (self.code_length[codes] > 0)
        counts &= self.question_mark[codes] != self.question_mark[rows][:, None]
        counts[:, 0] = True
        return codes, counts

    def draw_asked(self, number, size, depth, rng):
        """Returns an answer of a question and `size - 1` wrong ones among its first `depth` candidates, which count, their scores."""
        _, rows, answers, score, _, _ = self.asked[number]
        right = rng.choice(np.nonzero(answers)[0])
        wrong = rng.permutation(np.nonzero(~answers[:depth])[0])[:size - 1]
        chosen = np.concatenate([[right], wrong])
        filled = np.concatenate([chosen, np.full(size - len(chosen), right)])
        return rows[filled], np.arange(size) < len(chosen), score[filled]


def mark_rows(rows):
    """Returns a number for each row that is equal for equal rows."""
    factors = np.random.default_rng(0).integers(1, 2**63, rows.shape[1], dtype=np.int64).astype(np.uint64)
    return np.concatenate([(rows[start:start + 20000].astype(np.uint64) * factors).sum(1) for start in range(0, len(rows), 20000)] or
                          [np.zeros(0, np.uint64)])


def score_rows(model, examples, questions, codes, block):
    """Returns the logits of rows of questions and codes; rows of like length share a block, so that little of it is padding."""
    order = np.argsort(examples.code_length[codes], kind="stable")
    logits = []
    for start in range(0, len(order), block):
        part = order[start:start + block]
        width = [max(8, -(-int(length[rows[part]].max()) // 8) * 8) for length, rows in
                 ((examples.question_length, questions), (examples.code_length, codes))]
        picked = [table[torch.tensor(rows[part], device=examples.device)][:, :most].long() for table, rows, most in
                  ((examples.questions, questions, width[0]), (examples.codes, codes, width[1]))]
        logits.append(model(*picked))
    return torch.cat(logits)[torch.tensor(np.argsort(order), device=examples.device)]
