"""What would the ranking be with other weights?

Repeats crates/search/src/ranking/fuse.rs and rerank.rs beside it over candidates that `weights.py collect` kept, for questions of
several words. The factor of commits stays the one that the daemon applied.
"""
import json
import math
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from scores import Failure

SEARCH = Path(__file__).resolve().parent.parent / "crates/search/src"
COSINE_FLOOR, RANK_DAMPING = 0.25, 60.0  # as in candidates/arm_signals.rs and ranking/fuse.rs
ARMS = ["bm25", "path", "symbol", "knn", "file", "covered", "maxsim", "maxsim_head", "maxsim_path"]
STRENGTHS = {"definition": "DEFINITION_AMONG_WORDS", "folder": "FOLDER", "map": "MAP_AMONG_WORDS",
             "text": "TEXT"}
REPLAYED = [*STRENGTHS, "matches", "further"]  # factors that are computed anew
NAMES = [*(f"{kind}_{arm}" for kind in ["code", "doc"] for arm in ARMS), *STRENGTHS.values(), "MATCHES_AMONG_WORDS",
         "FURTHER_AMONG_WORDS"]
N_PLACES = 10


def product_weights(search=SEARCH):
    """Returns the weights in crates/search/src: arms by kind and field, factors by their constant."""
    fuse, rerank = [(search / "ranking" / name).read_text(encoding="utf-8") for name in ["fuse.rs", "rerank.rs"]]
    with_maxsim = re.search(r"const WEIGHTS_WITH_MAXSIM: WeightsByKind = WeightsByKind \{(.*?)\n\};", fuse, re.S)
    kinds = re.findall(r"(\w+): ArmWeights \{(.*?)\}", with_maxsim.group(1) if with_maxsim else "", re.S)
    found = {f"{kind}_{arm}": value for kind, arms in kinds for arm, value in re.findall(r"(\w+): ([\d.]+)", arms)}
    found.update(re.findall(r'^const (\w+): ScoreFactor = ScoreFactor::new\("\w+", ([\d.]+)\);', rerank, re.M))
    absent = [name for name in NAMES if name not in found]
    if absent:
        raise Failure(f"{search}: no weight {', '.join(absent)} in fuse.rs, rerank.rs; replay.py must follow them", 2)
    return {**{name: float(found[name]) for name in NAMES}, **class_factors(search)}


def class_factors(search=SEARCH):
    """Returns the factor of each class of files in crates/search/src/paths/class_rules.rs."""
    text = (search / "paths/class_rules.rs").read_text(encoding="utf-8")
    text = text[text.index("const RULES"):]
    rules = re.findall(r"ClassRule \{\n\s+class: FileClass::(\w+),(.*?)\.\.EMPTY_RULE", text, re.S)
    found = {name.lower(): re.search(r"factor: ([\d.]+)", body) for name, body in rules}
    return {name: float(factor.group(1)) for name, factor in found.items() if factor}


class Query:
    """The candidates of one query as columns, `[n_candidates]`, in the order that decides between equal scores."""

    def __init__(self, suite, row, weights):
        self.suite, self.row = suite, row
        hits = sorted(row["hits"], key=lambda hit: (hit["path"], hit["lines"]))
        self.hits = hits
        self.is_doc = np.array([hit["kind"] == "doc" for hit in hits], dtype=bool)
        ids = {}
        self.file = np.array([ids.setdefault(hit["path"], len(ids)) for hit in hits], dtype=int)
        self.arms = {arm: self.arm(arm) for arm in ARMS}
        self.strength = {}
        for factor, name in STRENGTHS.items():
            times = self.times(factor)
            if weights[name] == 1 and (times != 1).any():
                raise Failure(f"{row['qid']}: `{factor}` was applied, but {name} is 1; collect with --set {name}=", 2)
            self.strength[factor] = (times - 1) / (weights[name] - 1) if weights[name] != 1 else 0 * times
        self.of_class = {name: self.times(name) != 1 for name in class_factors() if (self.times(name) != 1).any()}
        kept = {name for hit in hits for name in hit["factors"]} - set(REPLAYED) - set(self.of_class)
        self.kept = np.prod([np.ones(len(hits)), *(self.times(name) for name in sorted(kept))], axis=0)
        self.labels = [label(suite, row, hit) for hit in hits]
        self.scale_cosines(weights)
        self.find_hidden(weights)

    def scale_cosines(self, weights):
        """Scales cosines between worst and best. The worst, rarely a hit, follows from the fused scores."""
        cosine = np.array([hit["signals"].get("knn", [None, None])[1] or 0.0 for hit in self.hits])
        has_vector, is_more = cosine != 0, cosine > COSINE_FLOOR
        best = cosine[is_more].max(initial=COSINE_FLOOR)
        worst = max(cosine[has_vector].min(initial=np.inf), COSINE_FLOOR)
        self.arms["knn"] = np.where(is_more, 1.0, 0.0)
        if best <= worst:
            return
        knn, possible = self.of_arm(weights, "knn"), self.possible(weights)
        others = self.sum(weights) - knn * self.arms["knn"]
        fused = np.array([hit["fused"] for hit in self.hits])
        share = (fused * possible - others)[is_more] / np.maximum(knn[is_more], 1e-9)
        is_low = (share > 0.001) & (share < 0.9)
        if is_low.any():
            implied = (cosine[is_more] - share * best)[is_low] / (1 - share[is_low])
            worst = float(np.clip(np.median(implied), COSINE_FLOOR, worst))
        self.arms["knn"][is_more] = np.clip((cosine[is_more] - worst) / (best - worst), 0, 1)

    def find_hidden(self, weights):
        """Finds what candidates beyond those asked for add to the fused scores of each file.

        The daemon's lift is a file's sum as a share of the largest, and that follows from a file that is complete.
        """
        self.hidden = np.zeros(self.file.max(initial=-1) + 1)
        if weights["MATCHES_AMONG_WORDS"] == 1 or not len(self.hits):
            return
        seen, lift = self.further(weights), np.zeros(len(self.hidden))
        np.maximum.at(lift, self.file, (self.times("matches") - 1) / (weights["MATCHES_AMONG_WORDS"] - 1))
        if (lift > 0).any():
            largest = (seen[lift > 0] / lift[lift > 0]).max()
            self.hidden = np.maximum(lift * largest - seen, 0.0)

    def times(self, factor):
        return np.array([hit["factors"].get(factor, 1.0) for hit in self.hits])

    def arm(self, arm):
        """Returns the value of an arm, 0 to 1."""
        if arm == "symbol":
            ranks = [hit["signals"].get(arm, [None])[0] for hit in self.hits]
            return np.array([(RANK_DAMPING + 1) / (RANK_DAMPING + max(1, rank)) if rank else 0.0 for rank in ranks])
        values = np.array([hit["signals"].get(arm, [0, 0])[1] or 0.0 for hit in self.hits])
        best = values.max(initial=0.0) if arm in ("bm25", "path") else 1.0  # the others are shares already
        return np.maximum(values / best, 0.0) if best > 0 else values

    def of_arm(self, weights, arm):
        """Returns the weight of an arm for each candidate."""
        return np.where(self.is_doc, weights[f"doc_{arm}"], weights[f"code_{arm}"])

    def sum(self, weights):
        return sum(self.of_arm(weights, arm) * self.arms[arm] for arm in ARMS)

    def possible(self, weights):
        """Returns the score of a first rank in every arm that found anything."""
        present = {arm: (self.arms["file" if arm == "covered" else arm] > 0).any() for arm in ARMS}
        sums = sum(self.of_arm(weights, arm) for arm in ARMS if present[arm])
        return float(np.max(sums, initial=0.0)) or 1.0

    def fused(self, weights):
        return np.clip(self.sum(weights) / self.possible(weights), 0, 1)

    def before_lift(self, fused, weights):
        score = fused * self.kept
        for name, has in self.of_class.items():
            score *= np.where(has, weights[name], 1.0)
        for factor, name in STRENGTHS.items():
            score *= 1 + self.strength[factor] * (weights[name] - 1)
        return score

    def further(self, weights):
        """Returns the sum of the fused scores of each file's candidates but the best, `[n_files]`."""
        fused = self.fused(weights)
        return np.bincount(self.file, weights=fused) - fused[self.best_of_files(self.before_lift(fused, weights))]

    def order(self, weights):
        """Returns the candidates' indices, best first."""
        score = self.before_lift(self.fused(weights), weights)
        if len(score):
            others = self.further(weights) + self.hidden
            if others.max() > 0:
                score[self.best_of_files(score)] *= 1 + others / others.max() * (weights["MATCHES_AMONG_WORDS"] - 1)
            self.spread(score, weights["FURTHER_AMONG_WORDS"])
        return np.argsort(-score, kind="stable")

    def best_of_files(self, score):
        order = np.argsort(-score, kind="stable")
        return order[np.unique(self.file[order], return_index=True)[1]]

    def spread(self, score, further):
        """Lowers each further candidate of a file, except sections of documents."""
        order = np.lexsort((-score, self.file))
        counted = ~self.is_doc[order]
        before = np.cumsum(counted) - counted
        starts = np.searchsorted(self.file[order], self.file[order])
        score[order] *= np.where(counted, further ** (before - before[starts]), 1.0)

    def is_replayed(self, weights):
        """Returns whether the first ten are those that the daemon answered, in its order."""
        ours = [self.hits[nth] for nth in self.order(weights)[:N_PLACES]]
        return [place(hit) for hit in ours] == [place(hit) for hit in self.row["hits"][:N_PLACES]]

    def ndcg(self, weights):
        """Returns nDCG@10 over what is judged. A file, section or answer counts once; of topics, each hit takes a place."""
        found = [self.labels[nth] for nth in self.order(weights) if self.labels[nth]]
        if self.suite == "topics":
            found = [name if name not in found[:nth] else None for nth, name in enumerate(found[:N_PLACES])]
        relevant = set(self.row["relevant"])
        places = list(dict.fromkeys(found) if self.suite != "topics" else found)[:N_PLACES]
        gain = sum(1 / math.log2(nth + 2) for nth, name in enumerate(places) if name in relevant)
        return gain / sum(1 / math.log2(nth + 2) for nth in range(min(N_PLACES, len(relevant))))


def place(hit):
    return hit["path"], hit["lines"]


def label(suite, row, hit):
    """Returns what the metric counts: a file, a labelled section, an answer, the chunk of another; nothing if not judged."""
    own = f"{hit['path']}#{hit['lines'][0]}"
    if suite == "questions":
        return ANSWER if answers(row["answers"], hit) else own
    if suite == "topics":
        return hit["path"]
    if suite != "docs":
        return hit["path"] if hit["is_judged"] else None
    if not hit["is_judged"] or any(holds(section, hit) for section in row["exclude"]):
        return None
    return next((section for section in row["relevant"] if holds(section, hit)), own)


ANSWER = "an answer"


def answers(spans, hit):
    """Returns whether a hit is one of the definitions `path#L10-L20`, and not merely what holds it among much else."""
    for path, first, last in map(parts, spans):
        begins, ends = hit["lines"]
        is_wide = hit["kind"] == "symbol" and ends - begins > 3 * (last - first) + 30
        if hit["path"] == path and begins <= last and first <= ends and hit["kind"] != "map" and not is_wide:
            return True
    return False


def holds(section, hit):
    """Returns whether a section, `path#L10-L20`, has the first line of a hit."""
    path, first, last = parts(section)
    return hit["path"] == path and first <= hit["lines"][0] <= last


def parts(span):
    path, first, last = re.fullmatch(r"(.*)#L(\d+)-L(\d+)", span).groups()
    return path, int(first), int(last)


def load(folder):
    """Returns {repository: [Query]} of what was collected, and the daemon's weights."""
    files = sorted(folder.glob("*/*.json"))
    if not files:
        raise Failure(f"{folder}: no <suite>/<set>.json; `weights.py collect` writes them", 2)
    queries, weights = defaultdict(list), None
    for file in files:
        kept = json.loads(file.read_text(encoding="utf-8"))
        weights = weights or kept["weights"]
        if kept["weights"] != weights:
            raise Failure(f"{file}: collected with other weights than {files[0]}; collect all of them again", 2)
        queries[file.stem] += [Query(file.parent.name, row, weights) for row in kept["queries"]]
    return dict(queries), weights
