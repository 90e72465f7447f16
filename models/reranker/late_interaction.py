"""The late interaction in torch: question and candidate are read apart, and each token of the question finds its best match.

A token's vector of models/builtin goes through a matrix, one for questions and one for candidates. Three figures compare a question
with a field of a candidate (path, name or title, text): the cosine of the weighted sums of the vectors; the mean of the best cosine of
each token of the question, weighted; the weight of the tokens that the field has itself. Each token has three weights of its own:
in the sum of a question, in that of a candidate, in the mean. The logit is the sum of the nine figures, each times a factor.
"""
import torch
import torch.nn.functional as F
from torch import nn

TABLE_GAIN = 16.0  # as network.py has it
PAIR_FACTORS = [8.0, 8.0, 2.0]  # of a pair's one text, before training
FIELD_FACTORS = [[0.8, 1.2, 0.8], [1.6, 1.6, 1.2], [2.0, 2.4, 1.2]]  # of path, head, body
LEAST_WEIGHT = -4.0  # logarithm


class LateInteraction(nn.Module):
    def __init__(self, width, table):
        """`table` is `[n_tokens, dim]`, as `read_table` gives it; tokens with a row of zeros count for nothing."""
        super().__init__()
        self.width = width
        self.register_buffer("table", table * TABLE_GAIN, persistent=False)
        self.register_buffer("has_vector", (table != 0).any(1), persistent=False)
        size = self.table.norm(dim=1)
        # Both matrices begin as the directions in which the table differs most.
        directions = torch.linalg.svd(self.table[size > 0][::2], full_matrices=False)[2][:width]
        self.question_matrix, self.code_matrix = (nn.Parameter(directions.T.clone()) for _ in range(2))
        self.question_weight, self.code_weight = (nn.Parameter(torch.zeros(len(table))) for _ in range(2))
        self.mean_weight = nn.Parameter(size.clamp(min=1e-3).log().clamp(min=LEAST_WEIGHT))
        self.pair_factors, self.field_factors = nn.Parameter(torch.tensor(PAIR_FACTORS)), nn.Parameter(torch.tensor(FIELD_FACTORS))
        self.order = nn.Parameter(torch.tensor(8.0))  # of the first stage's score; it serves training and is not exported

    def read_side(self, ids, matrix, weights):
        """Returns the unit vector of each text `[..., tokens]` and those of its tokens, and which tokens count."""
        counts = self.has_vector[ids] & (ids > 0)
        vectors = self.table[ids] @ matrix
        whole = (vectors * (weights[ids].exp() * counts)[..., None]).sum(-2)
        return F.normalize(whole, dim=-1), F.normalize(vectors, dim=-1) * counts[..., None], counts

    def read_questions(self, ids):
        """Returns of questions `[n, tokens]` the vectors, those of the tokens, and the share of each token in the mean."""
        whole, tokens, counts = self.read_side(ids, self.question_matrix, self.question_weight)
        share = self.mean_weight[ids].exp() * counts
        return whole, tokens, share / share.sum(-1, keepdim=True).clamp(min=1e-6)

    def read_codes(self, ids):
        return self.read_side(ids, self.code_matrix, self.code_weight)[:2]

    def compare_all(self, questions, codes):
        """Returns the three figures `[questions, codes, 3]` of each question with each code."""
        whole, tokens, share = self.read_questions(questions)
        code_whole, code_tokens = self.read_codes(codes)
        best = (tokens.flatten(0, 1) @ code_tokens.flatten(0, 1).T).view(*questions.shape, *codes.shape).amax(3).clamp(min=0)
        same = (questions[:, :, None, None] == codes[None, None]).any(3)
        return torch.stack([whole @ code_whole.T, (best * share[..., None]).sum(1), (same * share[..., None]).sum(1)], 2)

    def compare_own(self, questions, codes):
        """Returns the figures `[questions, k, 3]` of each question with its own `k` codes `[questions, k, tokens]`."""
        n, k, length = codes.shape
        whole, tokens, share = self.read_questions(questions)
        code_whole, code_tokens = self.read_codes(codes.flatten(0, 1))
        best = (tokens @ code_tokens.view(n, k * length, -1).transpose(1, 2)).view(n, -1, k, length).amax(3).clamp(min=0)
        same = (questions[:, :, None, None] == codes[:, None]).any(3)
        cosine = (code_whole.view(n, k, -1) @ whole[..., None])[..., 0]
        return torch.stack([cosine, (best * share[..., None]).sum(1), (same * share[..., None]).sum(1)], 2)

    def score_fields(self, question, fields):
        """Returns the logits `[k]` of a question `[1, tokens]` and of path, head and body of `k` candidates."""
        figures = torch.stack([self.compare_all(question, field)[0] for field in fields], 1)
        return (figures * self.field_factors).sum((1, 2))
