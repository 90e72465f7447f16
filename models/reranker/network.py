"""The cross-encoder in torch: `[CLS] question [SEP] candidate` over the builtin model's token vectors, one logit.

The vectors of tokens are those of models/builtin, frozen, so the exported file holds the layers alone. Three helps tell a small
network from the start what it would take hours to find out, that equal and similar words on both sides matter: marks of tokens
that the other side has too, the best cosine with a token of the other side, and three figures of the whole (`measure_overlap`)
whose learned sum the logit starts from. The last layer computes [CLS] alone.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

TABLE_GAIN = 16.0  # brings the rows of the table, most of them shorter than 0.1, to the size that layers expect


class Layer(nn.Module):
    """A transformer layer with the norms before attention and feed-forward."""

    def __init__(self, config):
        super().__init__()
        width, inner = config["width"], config["inner"]
        self.heads, self.drop = config["heads"], nn.Dropout(config["dropout"])
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key_value, self.out = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def split_heads(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, mask, is_last):
        normed = self.norm1(x)
        asking = normed[:, :1] if is_last else normed
        key, value = self.key_value(normed).chunk(2, -1)
        seen = F.scaled_dot_product_attention(self.split_heads(self.query(asking)), self.split_heads(key), self.split_heads(value),
                                              attn_mask=mask[:, None, None])
        x = (x[:, :1] if is_last else x) + self.drop(self.out(seen.transpose(1, 2).flatten(2)))
        return x + self.drop(self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh")))


class Reranker(nn.Module):
    def __init__(self, config, table):
        """`table` is `[n_tokens, dim]`, as `read_table` gives it; tokens with a row of zeros get a learned vector."""
        super().__init__()
        self.config, width = config, config["width"]
        self.register_buffer("table", table * TABLE_GAIN, persistent=False)
        self.extra_ids = (table == 0).all(1).nonzero()[:, 0].tolist()[1:]  # row 0 pads
        extra_of = torch.zeros(len(table), dtype=torch.long)
        extra_of[self.extra_ids] = torch.arange(1, len(self.extra_ids) + 1)
        self.register_buffer("extra_of", extra_of, persistent=False)
        self.enter = nn.Linear(table.shape[1], width, bias=False)
        self.extra = nn.Embedding(len(self.extra_ids) + 1, width, padding_idx=0)
        self.special = nn.Parameter(torch.randn(2, width) * 0.1)  # [CLS] and [SEP]
        self.question_place, self.code_place = nn.Embedding(config["question"], width), nn.Embedding(config["code"], width)
        self.mark = nn.Parameter(torch.randn(4, width) * 0.1)  # question, matched question, code, matched code
        self.soft = nn.Parameter(torch.randn(2, width) * 0.1)  # times the best cosine: of the question, of the code
        self.layers = nn.ModuleList(Layer(config) for _ in range(config["layers"]))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1)
        self.prior = nn.Parameter(torch.tensor([3.0, 2.0, 4.0]))
        self.order = nn.Parameter(torch.tensor(4.0))  # of the first stage's score; it serves training and is not exported
        self.draw_weights()

    @torch.no_grad()
    def draw_weights(self):
        nn.init.normal_(self.enter.weight, std=1 / math.sqrt(self.enter.in_features))
        for table in (self.extra, self.question_place, self.code_place):
            nn.init.normal_(table.weight, std=0.1)
        self.extra.weight[0] = 0
        for layer in self.layers:
            for linear in (layer.query, layer.key_value, layer.out, layer.up, layer.down):
                shrink = math.sqrt(2 * len(self.layers)) if linear in (layer.out, layer.down) else 1
                nn.init.normal_(linear.weight, std=1 / math.sqrt(linear.in_features) / shrink)
                nn.init.zeros_(linear.bias)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, question, code):
        """Returns the logits `[n]` of token ids `[n, at most config question]` and `[n, at most config code]`, 0 after the last."""
        question_at, code_at = self.table[question], self.table[code]
        question_size, code_size = question_at.float().norm(dim=-1), code_at.float().norm(dim=-1)
        cosine = (question_at / question_size.clamp(min=1e-6)[..., None]) @ (code_at / code_size.clamp(min=1e-6)[..., None]).transpose(1, 2)
        same = (question[:, :, None] == code[:, None]) & (question_size > 0)[:, :, None]
        question_best, code_best = cosine.amax(2).clamp(min=0).float(), cosine.amax(1).clamp(min=0).float()
        parts = [self.special[0].expand(len(question), 1, -1),
                 self.enter_tokens(question, question_at, self.question_place, 0, same.any(2), question_best),
                 self.special[1].expand(len(question), 1, -1),
                 self.enter_tokens(code, code_at, self.code_place, 1, same.any(1), code_best)]
        always = torch.ones(len(question), 1, dtype=torch.bool, device=question.device)
        x, mask = torch.cat(parts, 1), torch.cat([always, question > 0, always, code > 0], 1)
        for number, layer in enumerate(self.layers, 1):
            x = layer(x, mask, number == len(self.layers))
        logit = self.head(self.norm(x[:, 0]))[:, 0].float()
        overlap = measure_overlap(question_at, code_at, question_size, same.any(2), question_best)
        return logit + (overlap * self.prior).sum(1)  # a product of matrices would be rounded to bf16 on an accelerator

    def enter_tokens(self, ids, vectors, places, side, matched, best):
        x = self.enter(vectors) + self.extra(self.extra_of[ids]) + places.weight[:ids.shape[1]]
        return x + self.mark[2 * side + matched.long()] + best[..., None] * self.soft[side]


def measure_overlap(question_at, code_at, question_size, matched, best):
    """Returns `[n, 3]`: cosine of the summed vectors; share of the question's weight in tokens that the code has; mean best cosine."""
    cosine = F.cosine_similarity(question_at.float().sum(1), code_at.float().sum(1), dim=1, eps=1e-6)
    weight = question_size / question_size.sum(1, keepdim=True).clamp(min=1e-6)
    return torch.stack([cosine, (weight * matched).sum(1), (weight * best).sum(1)], 1)


def save_state(path, model, **facts):
    torch.save({"config": model.config, "weights": model.state_dict(), "facts": facts}, path)


def load_state(path, table):
    """Returns the model of a state, and the facts that were saved with it."""
    state = torch.load(path, "cpu", weights_only=True)
    model = Reranker(state["config"], torch.tensor(table))
    model.load_state_dict(state["weights"])
    return model.eval(), state["facts"]
