"""Makes a small folder of quality sets about the shop, laid out as `quality.py --help` says, and the clones to learn from."""
import json
import os
import shutil
import subprocess

from shop import CHANGED, PERSON, TOPICS, Shop, followed_by, lines_of, module, page

SCORERS = ["score.py", "code-search/score.py", "codeset.py"]
README = """# Sets

| suite | metric | best known | target |
| --- | --- | --- | --- |
| code-search | NDCG@10 | 0.5 | >= 0.6 |
| code: commits | nDCG@10 / MRR@10 | 0.5 / 0.5 | >= 0.6 / 0.6 |
| docs: links | MRR@10 | 0.5 | >= 0.6 |
| talks | R@5 | 0.5 | >= 0.6 |
"""
BASELINES = "By set, nDCG@10:\n\n| set | files | fts | lin |\n| --- | ---: | ---: | ---: |\n| shop | 14 | 41.5 | 52.5 |\n"
TRAINING = "# What may be learned from\n\n| language | repositories |\n|---|---|\n| Python | acme/shop, acme/mall |\n"


def write_eval(folder, scorers):
    """Writes EVAL: three suites and `code-search`; the scorers are those of another folder of sets."""
    for name in SCORERS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(scorers / name, folder / name)
    (folder / "README.md").write_text(README)
    (folder / "TRAINING.md").write_text(TRAINING)
    write_set(folder / "dev/code/shop", "code", code_queries())
    (folder / "dev/code/shop/files.txt").write_text("".join(f"src/shop/{topic}.py\n" for topic in TOPICS))
    write_set(folder / "dev/docs/shop", "docs", docs_queries(), corpus=sections())
    write_set(folder / "dev/conv/talks-dev", "conv", talk_queries(), corpus=records())
    (folder / "dev/BASELINES.md").write_text(BASELINES)
    (folder / "dev/repos.json").write_text("{}")
    (folder / "code-search/annotations").mkdir()
    asked = [{"qid": f"shop-{topic}", "query": f"what {sentence}", "relevant": [f"src/shop/{topic}.py"], "secondary": [],
              "category": "semantic"} for topic, sentence in TOPICS.items()]
    (folder / "code-search/annotations/shop.jsonl").write_text(lines_of(asked))
    (folder / "code-search/manifest.json").write_text('[{"name": "shop", "repo": "none/none", "language": "python"}]')


def write_set(folder, kind, queries, corpus=()):
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"set": folder.name, "kind": kind}))
    (folder / "queries.jsonl").write_text(lines_of(queries))
    if corpus:
        (folder / "corpus.jsonl").write_text(lines_of(corpus))


def code_queries():
    return [{"qid": f"shop-{topic}", "query": f"Refuse a {topic} whose number is below zero",
             "relevant": [f"src/shop/{topic}.py"]} for topic in CHANGED]


def docs_queries():
    return [{"qid": f"docs-{topic}", "query": f"Whoever closes a {topic} should also know the limits of the {other}",
             "relevant": [f"docs/{other}.md#limits"], "exclude": [f"docs/{topic}.md#who"]}
            for topic, other in ((topic, followed_by(topic)) for topic in TOPICS)]


def sections():
    """Returns the records of the pages: a lead section and two more."""
    for topic in TOPICS:
        lines = page(topic, followed_by(topic)).split("\n")
        starts = [number for number, line in enumerate(lines, 1) if line.startswith("#")]
        for name, start in zip(["", "#limits", "#who"], starts):
            yield {"id": f"docs/{topic}.md{name}", "path": f"docs/{topic}.md", "start_line": start}


def records():
    for number, (topic, sentence) in enumerate(TOPICS.items()):
        haystack = f"talk-{number % 2}"
        yield {"id": f"{haystack}:{topic}", "haystack": haystack, "text": f"Ann: a {topic} {sentence}."}


def talk_queries():
    return [{"qid": record["id"], "query": f"what did Ann say about the {record['id'].split(':')[1]}",
             "haystack": record["haystack"], "relevant": [record["id"]]} for record in records()]


def write_trees(folder):
    """Writes TREES: for each suite a repository with one commit."""
    for suite in ["code", "code-search"]:
        write_tree(folder / suite / "shop", {f"src/shop/{topic}.py": module(topic, followed_by(topic)) for topic in TOPICS})
    write_tree(folder / "docs/shop", {f"docs/{topic}.md": page(topic, followed_by(topic)) for topic in TOPICS})
    write_tree(folder / "conv/talks-dev", {
        f"{record['haystack']}/{record['id'].replace(':', '_')}.md": record["text"] + "\n" for record in records()})


def write_tree(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "snapshot"]):
        subprocess.run(["git", "-C", root, *words], env={**os.environ, **PERSON}, check=True)


def write_clones(folder):
    """Writes CLONES with two bare repositories; returns the first commit, which is what is searched of both."""
    for name in ["acme+shop", "acme+mall"]:
        shop = Shop(folder.parent / name)
        subprocess.run(["git", "clone", "-q", "--bare", shop.root, folder / name / "repo"], check=True)
    return shop.first


def write_questions(folder, snapshot):
    """Writes what somebody could have asked about both snapshots: for definitions, and for files of a topic."""
    folder.mkdir()
    about = [{"repo": name, "commit": snapshot[:12]} for name in ["acme+shop", "acme+mall"]]
    topics = list(TOPICS)[:4]
    first = module("basket", "voucher").split("\n").index("def load_basket(number):") + 1
    definitions = [{**of, "query": f"which {topic} has this number", "answers": [f"src/shop/{topic}.py#L{first}-L{first + 2}"]}
                   for of in about for topic in topics]
    files = [{**of, "query": f"{topic} loading and closing", "relevant": [f"src/shop/{topic}.py"]}
             for of in about for topic in topics]
    (folder / "definitions.jsonl").write_text(lines_of(definitions))
    (folder / "topics.jsonl").write_text(lines_of(files))


def write_asked(folder, snapshot):
    """Writes what an agent could ask about both snapshots, in the form of benches/questions/asked; nothing answers the last."""
    folder.mkdir()
    topics = list(TOPICS)[:4]
    first = module("basket", "voucher").split("\n").index("def load_basket(number):") + 1
    for name in ["acme+mall", "acme+shop"]:
        head = {"repository": name.replace("+", "/"), "commit": snapshot, "language": "python"}
        asked = [{"kind": "topic", "query": f"{topic} by its number", "why": "returns it", "answers": [
            {"path": f"src/shop/{topic}.py", "lines": [first, first + 2], "name": f"load_{topic}", "must": True},
            {"path": f"docs/{topic}.md", "lines": [1, 3], "name": topic, "must": False}]} for topic in topics]
        absent = {"kind": "absent", "query": "printer driver", "answers": [], "why": "a shop prints nothing"}
        (folder / f"{name}.jsonl").write_text(lines_of([head, *asked, absent]))
