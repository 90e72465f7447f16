"""Makes a small repository, the same at each run, and the sets of questions about it that the benches ask."""
import json
import os
import subprocess
from pathlib import Path

# A topic has a module, a test and a page; its sentence is in all three, and no other topic has its words.
TOPICS = {
    "basket": "collects what somebody wants to buy before the order is placed",
    "voucher": "lowers the total once a printed code was typed in before midnight",
    "invoice": "lists every position with its tax and is kept for seven years",
    "refund": "sends money back within a fortnight after goods were returned",
    "shipment": "leaves the warehouse in one parcel unless weight forbids that",
    "review": "shows stars and a text only when the writer had bought the thing",
    "wishlist": "remembers things for later and never reserves any of them",
    "payment": "asks the bank twice at most and gives up after that politely",
    "currency": "rounds half to even since the tax office wants it that way",
    "customer": "signs in with a mail address that was confirmed by a letter",
    "warehouse": "counts pieces on shelves each night and reports what is missing",
    "catalogue": "sorts products by colour first because people look for colours",
    "newsletter": "goes out on Tuesdays to readers who agreed in writing",
    "coupon": "belongs to one person alone and expires together with the account",
}
PERSON = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_COMMITTER_NAME": "Ann",
          "GIT_COMMITTER_EMAIL": "ann@example.org"}
# Topics whose function a later commit changes, together with its test.
CHANGED = list(TOPICS)[:6]
DAY_S, FIRST_S = 86_400, 1_700_000_000


def module(topic, other, changed=False):
    check = "    if number < 0:\n        raise ValueError(number)\n" if changed else ""
    return f'''"""The {topic}: it {TOPICS[topic]}."""

from shop.{other} import load_{other}

MOST_{topic.upper()}S = 12


def load_{topic}(number):
    """Returns the {topic} with this number: it {TOPICS[topic]}."""
{check}    return {{"number": number, "most": MOST_{topic.upper()}S}}


def close_{topic}(number):
    """Closes a {topic} and the {other} that hangs on it."""
    return load_{topic}(number), load_{other}(number + 1)


class {topic.title()}:
    """Holds one {topic} in memory, and knows its number."""

    def __init__(self, number):
        self.found = load_{topic}(number)
'''


def test(topic, changed=False):
    more = f"    assert load_{topic}(0)[\"number\"] == 0\n" if changed else ""
    return (f"from shop.{topic} import close_{topic}, load_{topic}\n\n\ndef test_load_{topic}():\n"
            f"    assert load_{topic}(3)[\"number\"] == 3\n{more}\n\ndef test_close_{topic}():\n    assert close_{topic}(1)\n")


def page(topic, other):
    return (f"# The {topic}\n\nA {topic} {TOPICS[topic]}.\n\n## Limits of the {topic}\n\nAt most twelve of them are loaded.\n\n"
            f"## Who else\n\nWhoever closes a {topic} should also know the [limits of the {other}]"
            f"({other}.md#limits-of-the-{other}) before doing it.\n")


def followed_by(topic):
    names = list(TOPICS)
    return names[(names.index(topic) + 1) % len(names)]


class Shop:
    """A repository in `root`, whose later commits change six functions with their tests."""

    def __init__(self, root):
        self.root, self.n_commits = Path(root), 0
        self.root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        for topic in TOPICS:
            other = followed_by(topic)
            self.write(f"src/shop/{topic}.py", module(topic, other))
            self.write(f"tests/test_{topic}.py", test(topic))
            self.write(f"docs/{topic}.md", page(topic, other))
        self.first = self.commit("Open the shop")
        for topic in CHANGED:
            self.write(f"src/shop/{topic}.py", module(topic, followed_by(topic), changed=True))
            self.write(f"tests/test_{topic}.py", test(topic, changed=True))
            self.head = self.commit(f"Refuse a {topic} whose number is below zero\n\nIt {TOPICS[topic]}, so there is none.")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def git(self, *words):
        at = f"{FIRST_S + self.n_commits * DAY_S} +0000"
        env = {**os.environ, **PERSON, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        done = subprocess.run(["git", *words], cwd=self.root, env=env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        self.n_commits += 1
        return self.git("rev-parse", "HEAD")


def lines_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def toml_list(texts):
    return "[" + ", ".join(json.dumps(text) for text in texts) + "]"


def memories():
    return {topic: f"Decided in spring: the {topic} {sentence}." for topic, sentence in TOPICS.items()}


def write_prompts(folder, commit):
    """Writes a set for silence.py: prompts that a memory answers, and prompts that need nothing."""
    folder.mkdir(parents=True)
    told = "".join(f"{key} = {json.dumps(text)}\n" for key, text in memories().items())
    asked = "".join(f"{key} = {toml_list([f'is it true that the {key} {TOPICS[key]}?'])}\n" for key in TOPICS)
    empty = ["thanks, that is all", "run it again please", "commit this", "make the line shorter", "continue", "yes"]
    (folder / "shop.toml").write_text(
        f'repository = "https://example.org/shop"\ncommit = "{commit}"\nuse = "choose"\n\n'
        f"[memories]\n{told}\n[answered]\n{asked}\n[empty]\nprompts = {toml_list(empty)}\n")


def write_doors(file):
    """Writes questions for doors.py: about code, documents, memories, and names."""
    topics = list(TOPICS)[:3]
    asked = [f"where is the {topic} loaded" for topic in topics] + ["close_refund", "customer"]
    file.write_text(f"[shop]\nquestions = {toml_list(asked)}\nmemories = {toml_list(memories().values())}\n")


def write_task(folder, commit):
    """Writes a task for sessions.py."""
    folder.mkdir(parents=True)
    question = {
        "question": "How many vouchers are loaded at most, and who decides it?", "facts": ["MOST_VOUCHERS = 12"],
        "plain": [{"rg": ["-n", "MOST_VOUCHERS"]}, {"read": ["src/shop/voucher.py", 1, 12]}],
        "memod": [{"search": {"query": "MOST_VOUCHERS"}}, {"read": ["src/shop/voucher.py", 1, 8]}]}
    task = {"repository": "shop", "commit": commit, "task": "Load more vouchers.", "questions": [question]}
    (folder / "shop.json").write_text(json.dumps(task))


def write_truth(file, folder, commit, name):
    """Writes what is known of the uses of one function, as references/truth.py does with a language server."""
    definition, rows = None, []
    for path in sorted(folder.rglob("*.py")):
        for line, text in enumerate(path.read_text().split("\n"), 1):
            place = {"path": path.relative_to(folder).as_posix(), "line": line, "name": name}
            if f"def {name}(" in text:
                definition = place
            elif name in text.replace("(", " ").replace(",", " ").split():
                rows.append({"type": "use", "definition": 0, **place, "role": "import" if "import" in text else "call"})
    drawn = {**rows[-1], "type": "drawn", "definition": {**definition, "container": ""}}
    header = {"type": "header", "repository": "acme/shop", "commit": commit, "language": "python", "within": [], "suffixes": [".py"]}
    file.write_text(lines_of([header, {"type": "definition", "id": 0, **definition, "same_name": 1}, *rows, drawn]))
    return len(rows)
