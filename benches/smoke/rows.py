"""The table: each program, the arguments of its small run, and what must be in the output."""
import filecmp
import json
import urllib.request

import eval_sets
import shop as shops
import tools
from place import TOP, Each, Row

MODELS = TOP / "tests/it/models"
# A figure, and the two of a median and a tail.
N, P50_P99 = r" +([\d.]+)", r" +([\d.]+) +([\d.]+)"


def rises(p50, p99):
    return 0 < p50 <= p99


def write_doors(place):
    shops.write_doors(place.top / "doors.toml")


def write_prompts(place):
    shops.write_prompts(place.shop.parent / "sets", place.master.head)


def write_task(place):
    shops.write_task(place.shop.parent / "tasks", place.master.head)


def write_quality(place):
    eval_sets.write_eval(place.top / "eval", tools.eval_folder())
    eval_sets.write_trees(place.top / "trees")


def write_training(place):
    eval_sets.write_eval(place.top / "eval", tools.eval_folder())
    first = eval_sets.write_clones(place.top / "clones")
    eval_sets.write_questions(place.top / "questions", first)


def write_asked(place):
    first = eval_sets.write_clones(place.top / "clones")
    eval_sets.write_asked(place.top / "asked", first)


def find_candidates(place):
    write_asked(place)
    place.run("benches/candidates.py", "--clones", "{top}/clones", "--questions", "{top}/asked", "--out", "{top}/out", "--memo", "{memo}")


def wrong_candidates(place, _):
    """Returns what is wrong with the candidates of the shop: numbers of chunks, tokens, answers."""
    rows = [json.loads(line) for line in (place.top / "out/acme+shop.jsonl").read_text().splitlines()]
    chunks, questions = [[row for row in rows if row["type"] == kind] for kind in ["chunk", "question"]]
    found = [candidate for question in questions for candidate in question["candidates"]]
    answers = [candidate for candidate in found if candidate["answers"]]
    right = (rows[0]["type"] == "header" and len(questions) == 5 and [chunk["id"] for chunk in chunks] == list(range(len(chunks)))
             and {candidate["chunk"] for candidate in found} == set(range(len(chunks)))
             and all(chunk["body_tokens"] and chunk["path_tokens"] for chunk in chunks if chunk["kind"] == "symbol")
             and all(candidate["signals"] and candidate["fused"] > 0 for candidate in answers))
    return "" if right and len(answers) >= 8 else f"{len(chunks)} chunks, {len(questions)} questions, {len(answers)} answers"


def train(place):
    """Has training_sets.py write what weights.py takes."""
    write_training(place)
    place.run("benches/training_sets.py", "--eval", "{top}/eval", "--clones", "{top}/clones", "--questions", "{top}/questions",
              "--sets", "{top}/sets", "--trees", "{top}/trees")


def missing_sets(place, _):
    """Returns what training_sets.py has not written: the queries that its own rules make of the shop."""
    counts = {}
    for suite in ["code", "docs", "classes", "questions", "topics"]:
        lines = (place.top / f"sets/{suite}/acme+mall/queries.jsonl").read_text().splitlines()
        counts[suite] = len([line for line in map(json.loads, lines) if line["query"] and line["relevant"]])
    expected = {"code": 6, "docs": len(shops.TOPICS), "classes": 6, "questions": 4, "topics": 4}
    return "" if counts == expected else f"{counts}, not {expected}"


def known_uses(place):
    shops.write_truth(place.top / "truth.jsonl", place.shop, place.master.head, "load_coupon")


def wrong_truth(place, _):
    """Returns what is wrong with the answers of a language server about the shop."""
    rows = [json.loads(line) for line in (place.top / "truth.jsonl").read_text().splitlines()]
    kinds = {kind: [row for row in rows if row["type"] == kind] for kind in ["header", "definition", "use", "drawn"]}
    right = len(kinds["definition"]) == 4 and len(kinds["drawn"]) == 4 and all(row["name"] for row in kinds["use"])
    return "" if right and len(kinds["use"]) >= 4 else {kind: len(of) for kind, of in kinds.items()}


def other_models(place, _):
    """Returns the files of models that are not those of the repository."""
    made = [path.relative_to(place.top / "models") for path in (place.top / "models").rglob("*") if path.is_file()]
    other = [str(path) for path in made if not filecmp.cmp(place.top / "models" / path, MODELS / path, shallow=False)]
    return f"other than in tests/it/models: {', '.join(other)}" if other or not made else ""


def talk_to_model(program):
    """Plays an agent that is given a tool, calls it as it is told, and gives its result back."""
    url = program.stdout.readline().strip()
    tools_given = [{"type": "function", "function": {"name": "memod_search", "parameters": {}}}]
    messages = [{"role": "user", "content": "where is it?"}]

    def ask():
        body = json.dumps({"model": "m", "stream": True, "messages": messages, "tools": tools_given}).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/chat/completions", body), timeout=20) as reply:
            return reply.read().decode()

    first = ask()
    messages.append({"role": "tool", "content": "src/shop/basket.py:8-12  load_basket\n"})
    return first + ask()


ROWS = [
    Row("benches/candidates.py", ["--clones", "{top}/clones", "--questions", "{top}/asked", "--out", "{top}/out", "--memo", "{memo}"], [
        Each(r"^acme\+(?:mall|shop): [\d.]+ MB in \d+ s$", count=2), Each(r"^2 repositories; 2 questions that nothing answers", count=2),
        Each(rf"^(?:all|kind +topic|language +python) +8{8 * N}$", lambda *figures: min(figures) > 50, 6)],
        prepare=write_asked, after=wrong_candidates, then=[
            ["--clones", "{top}/none", "--questions", "{top}/asked", "--out", "{top}/out", "--memo", "{memo}"]]),
    Row("benches/clients.py", ["{tree}", "0.4"], [
        Each(rf"^ *(\d+) clients{N}{P50_P99}{N}{N}{N}$",
             lambda _, rate, p50, p99, cpu, errors, stale: rate > 0 and rises(p50, p99) and cpu > 0 and not errors and not stale, 5)]),
    Row("benches/doors.py", ["--memo", "{memo}", "--questions", "{top}/doors.toml", "{shop}"], [
        Each(rf"^shop{N}{N}{N}{N}{N}{N}{N}$", lambda asked, hits, equal, memories, recall, told, as_told:
             asked == equal == memories == recall and hits >= 3 * asked and told == as_told >= 1, 1)],
        prepare=write_doors, forbidden="DIFFERS.*"),
    Row("benches/hooks.sh", ["3"], [
        Each(r"method (config|file), 3 commits"),
        Each(r"^(daemon runs|daemon stands still|no daemon|no state dir) +with.*all succeeded in silence$", count=4),
        Each(r"with +([\d.]+) ms +without +([\d.]+) ms", lambda own, without: own > 0 and without > 0)],
        forbidden=".*BYTES PRINTED"),
    Row("benches/index.sh", ["{shop}"], [
        Each(r"^read only: +(\d+) bytes", lambda size: size > 10_000),
        Each(r"^parse only: (\d+) files, [\d.]+ MB, (\d+) chunks", lambda files, chunks: files == 42 and chunks > 150),
        Each(r"^indexed +(\d+) files", lambda files: files == 42), Each(r"^VmHWM:\s+(\d+) kB", lambda size: size > 0)],
        ("cargo",), env={"PARSE": " ".join([*tools.BENCH, "parse", "--"])}, after=lambda place, _: place.call("stop", "-q")),
    Row("benches/mcp_clients.py", ["--memo", "{memo}", "--node", "{node}", "--repository", "{shop}", "--rounds", "1", "--servers", "3",
                                   "--clients", "python,typescript", "--profiles", "default"], [
        Each(r"^ok   python legacy default search$", count=1), Each(r"^ok   python 2026-07-28 default remember$", count=1),
        Each(r"^ok   typescript (?:sdk|legacy|2026-07-28|auto) default search$", count=4),
        Each(r"^ok   3 servers ended: one daemon and nothing else$", count=1), Each(r"^0 failed$", count=1)],
        ("node", "pip:mcp", "pip:jsonschema", "npm:@modelcontextprotocol/sdk", "npm:@modelcontextprotocol/client",
         "npm:@modelcontextprotocol/inspector", "/proc"), forbidden="^BAD.*"),
    Row("benches/mcp_tokens.mjs", ["{memo}"], [
        Each(r"^default: (\d+) tools, as given.*o200k_base (\d+)\tanthropic (\d+)", lambda tools, *tokens: tools == 8 and min(tokens) > 100),
        Each(r"^full: (\d+) tools, as given", lambda tools: tools > 30), Each(r"^instructions\t(\d+) ", lambda size: size > 500, 2)],
        ("node", "npm:gpt-tokenizer", "npm:@anthropic-ai/tokenizer"), cwd="{node}"),
    Row("benches/memory_quality.py", ["--eval", "{top}/eval", "--runs", "{top}/runs", "--memo", "{memo}"], [
        Each(r"^1 sets, 14 queries"), Each(rf"^  talks-dev \(14 q, 14 rec\){N} ", lambda recall: recall > 60)],
        ("scorers",), prepare=write_quality),
    Row("benches/memory_speed.py", ["--memo", "{memo}", "--sizes", "60", "--times", "6"], [
        Each(r"^memod +60 memories, filled at ([\d,]+)/s", lambda rate: rate > 0),
        Each(rf"^  (?:add|get|search|search, in the daemon|memo (?:add|get|search), whole){P50_P99}$", rises, 7)]),
    Row("benches/names.py", ["{tree}", "--memo", "{memo}", "--count", "20"], [
        Each(r"^in all: first for (\d+) of (\d+)", lambda first, asked: asked == 20 and first >= 18, 1)]),
    Row("benches/parse.rs", ["{shop}"], [
        Each(r"^parse only: (\d+) files, [\d.]+ MB, (\d+) chunks in", lambda files, chunks: files == 42 and chunks > 150, 1)], ("cargo",)),
    Row("benches/quality.py", ["--eval", "{top}/eval", "--trees", "{top}/trees", "--runs", "{top}/runs", "--memo", "{memo}", "--fresh"], [
        Each(rf"^(?:shop|talks-dev){N}(?: +[\d.]+ +[\d.]+)?{N}{N}{P50_P99}$",
             lambda score, asked, index, p50, p99: score > 30 and asked >= 6 and index > 0 and rises(p50, p99), 4),
        Each(rf"^(?:code|docs|code-search|talks) +1 +\S.*>= 0.6", count=4)],
        ("scorers",), prepare=write_quality, forbidden=".*an arm did not run.*"),
    Row("benches/questions/asked/check.py", [], [
        Each(r"^(\d+) questions of (\d+) repositories$", lambda asked, repositories: asked >= 3000 and repositories >= 40),
        Each(r"^no fault$", count=1)]),
    Row("benches/recall.py", ["{top}/out", "--questions", "{top}/asked", "--half", "A"], [
        Each(rf"^half +A +4{8 * N}$", lambda *figures: min(figures) > 50, 1)], prepare=find_candidates),
    Row("benches/references/history.py", ["{shop}", "--trees", "{top}/trees", "--memo", "{memo}", "--commits", "2"], [
        Each(r"^all +(?:tests|impact) +2 +0 +100\.0", count=2), Each(r"^all +(?:name|directory|path|words|vectors|search) +2 +0 ", count=6),
        Each(r"^fresh (\d+) ms .* does not name: (\d+)", lambda ms, unseen: ms > 0 and unseen == 0)]),
    Row("benches/references/score.py", ["{top}/truth.jsonl", "--trees", "{top}", "--asker", "grep"], [
        Each(rf"^python shop, all +(?:by name|exact){N}{N}{N}{N}{N} ",
             lambda defs, uses, right, wrong, _: defs == 1 and uses == right >= 6 and not wrong, 2),
        Each(r"drawn uses: 1 by name$", count=1), Each(r"drawn uses: 1 exact$", count=1)], prepare=known_uses,
        then=[["{top}/truth.jsonl", "--trees", "{top}", "--asker", "memo", "--memo", "{memo}"]]),
    Row("benches/references/truth.py", ["python", "{shop}", "--repository", "acme/shop", "--tools", "{node}/node_modules/.bin",
                                        "--out", "{top}/truth.jsonl", "--definitions", "4", "--uses", "4"], [
        Each(r"^\d+ (?:src|tests)/\S+:\d+ \w+ \{", count=4)], ("node", "npm:pyright"), after=wrong_truth),
    Row("benches/search.py", ["{tree}", "--memo", "{memo}", "--questions", "3", "--times", "1", "--saves", "2"], [
        Each(rf"^(?:word|question|phrase|prefix|name) +{P50_P99}{N}$", lambda p50, p99, cpu: rises(p50, p99) and cpu > 0, 5),
        Each(rf"^(?:keyword|vector|--\w+ \S+) +{P50_P99}{N}{N}$", lambda p50, p99, cpu, times: rises(p50, p99) and times > 0, 7),
        Each(r"^save to search: p50 ([\d.]+) ms, p95 ([\d.]+)", rises), Each(r"^resident: (\d+) MiB", lambda size: size > 0),
        Each(r"^memo search, whole: ([\d.]+) ms; /bin/true: ([\d.]+) ms", lambda whole, true: 0 < true < whole)]),
    Row("benches/serve_load.py", ["{tree}", "--memo", "{memo}", "--seconds", "1", "--files", "10", "--rate", "32"], [
        Each(rf"^(?:searches alone|10 files change|and 32 a second over HTTP), (?:socket|http){N}{N}{P50_P99}{N}{N}",
             lambda asked, errors, p50, p99, most, rss: asked >= 10 and not errors and rises(p50, p99) and p99 <= most and rss > 0, 4),
        Each(r"^fresh at the end: True ; the last file is first: serve_load/file_9\.py$", count=1)]),
    Row("benches/sessions.py", ["--memo", "{memo}", "--tasks", "{top}/tasks", "--clones", "{top}", "--node", "{node}"], [
        Each(rf"^ *2{N} +2{N} +all questions$", lambda plain, memod: plain > 50 and memod > 50, 1),
        Each(r"tools \((\d+)\) and instructions \((\d+)\)", lambda *tokens: min(tokens) > 100)],
        ("node", "rg", "npm:gpt-tokenizer"), prepare=write_task, forbidden="NOT FOUND.*"),
    Row("benches/silence.py", ["--memo", "{memo}", "--sets", "{top}/sets", "--clones", "{top}", "--starts", "2", "--fit"], [
        Each(r"^shop +(\d+)/14 +[\d.]+ % +(\d+)/(\d+) +[\d.]+ % +(\d+)/6 ", lambda right, labelled, told, alarms:
             right >= 12 and labelled >= 12 and told <= 18 and alarms <= 1, 1),
        Each(r"^session-start of shop: p50 ([\d.]+) ms, p99 ([\d.]+)", rises, 1), Each(r"^weights \{'", count=1),
        Each(r"^  bound .*: right (\d+), alarms (\d+)", count=21)],
        prepare=write_prompts),
    Row("benches/switch.py", ["--memo", "{memo}", "--files", "40", "--rounds", "2"], [
        Each(r"^(?:git switch|then to fresh|daemon's CPU) +p50 +([\d.]+) ms +max +([\d.]+)", lambda p50, most: 0 <= p50 <= most, 3),
        Each(r"^40 files, 2 switches; parses and embeds as after the first round$", count=1)]),
    Row("benches/team.py", ["five", "--writes", "60", "--seed", "7", "--bin", "{bin}"], [
        Each(r"^(\d+) writes acknowledged in", lambda n: n >= 30), Each(r"^all agree ", count=1),
        Each(r"^(\d+) memories: 0 lost, 0 doubled; 0 texts nowhere; 0 out of order, 0 sent twice, of (\d+) versions",
             lambda memories, versions: 20 <= memories <= versions, 1)], ("postgres", "/proc"), name="five"),
    Row("benches/team.py", ["week", "--changes", "30", "--bin", "{bin}"], [
        Each(r"conflicts shown: (\d+), expected (\d+)$", lambda shown, expected: shown == expected == 2, 1),
        Each(r"^changes that do not touch: (\d+) of (\d+) joined", lambda joined, all: joined == all == 1, 1)],
        ("postgres", "/proc"), name="week"),
    Row("benches/team.py", ["search", "--memories", "60", "--searches", "6", "--bin", "{bin}"], [
        Each(r"^taken by another in .*: [\d.]+ MB, (\d+) bytes a memory", lambda size: size > 100, 1),
        Each(r"^search, (?:keyword|hybrid|hybrid, network cut): p50 ([\d.]+) ms", lambda p50: p50 > 0, 3),
        Each(r"^from the add of one to the hit of another: p50 (\d+) ms", lambda p50: p50 > 0, 1)],
        ("postgres", "/proc"), name="search"),
    Row("benches/training_sets.py", ["--eval", "{top}/eval", "--clones", "{top}/clones", "--questions", "{top}/questions",
                                     "--sets", "{top}/sets", "--trees", "{top}/trees"], [
        Each(r"^acme\+(?:shop|mall): \w{12}, (\d+) of code, (\d+) of docs, (\d+) of classes$", lambda *counts: min(counts) > 5, 2)],
        ("scorers",), prepare=write_training, after=missing_sets),
    Row("benches/vectors.rs", ["{tmp}", "1000"], [
        Each(r"^1000 (?:memory|sqlite-vec) (?:100|1|0\.1) %: p50 ([\d.]+) ms, p99 ([\d.]+)", lambda p50, p99: p50 <= p99, 6),
        Each(r"^1000 sqlite-vec (?:100|1|0\.1) %: recall ([\d.]+)", lambda recall: recall == 1, 3),
        Each(r"^1000 KNN of sqlite-vec, \S.*: recall ([\d.]+)", lambda recall: recall > 0.5, 4), Each(r"^1000 memory: VmHWM", count=1)],
        ("cargo", "/proc")),
    Row("benches/weights.py", ["collect", "--sets", "{top}/sets", "--trees", "{top}/trees", "--out", "{top}/out", "--memo", "{memo}"], [
        Each(r"^(?:questions|topics|code|docs|classes): acme\+(?:mall|shop): (\d+) queries", lambda n: n >= 4, 10),
        Each(r"^replayed with the daemon's weights: (\d+) of (\d+) queries", lambda same, all: same >= 0.9 * all > 0, 3),
        Each(r"^half (?:A|B): 1 repositories; 1 sets of questions, 4 queries", count=4),
        Each(r"^( +[\d.]+){10} +(?:as in crates/search/src|code_\S+|start|fitted on .)$", count=6),
        Each(r"^fitted on (?:A|B): classes of (?:A|B) ([+-][\d.]+)", count=2), Each(rf"^(?:test|vendored) +{N}{N}{N}$", count=2)],
        ("scorers", "pip:numpy"), prepare=train, then=[
            ["try", "--candidates", "{top}/out", "--set", "code_knn=0.5", "--set", "code_file=0,code_covered=0"],
            ["fit", "--candidates", "{top}/out", "--classes"]]),
    Row("models/reranker/check.py", [], [
        Each(r"^ok   repositories of half B judge", count=1), Each(r"^ok   the judge sees the answers come up", count=2),
        Each(r"^all is right$", count=1)], ("pip:numpy",), forbidden="^BAD.*"),
    Row("tests/agent_sessions.py", ["--memo", "{memo}", "--npm", "{agents}", "--tokenizer", "{node}", "--only", "codex"], [
        Each(r"^ok +codex +offers our eight tools"), Each(r"^ok +codex +the result of search reaches the model"),
        Each(r"^0 failed, 0 not run$", count=1)], ("node", "agents", "/proc", "npm:gpt-tokenizer"), forbidden="^FAILED.*"),
    Row("tests/browser/run.mjs", ["--memo", "{memo}", "--tools", "{browser}", "--only", "every view has", "--only", "a memory is added",
                                  "--only", "status follows"], [Each(r"^ok   ", count=4), Each(r"^all checks pass$", count=1)],
        ("node", "npm", "browser")),
    Row("tests/check_agents.py", ["--memo", "{memo}", "--npm", "{agents}", "--only", "codex"], [
        Each(r"^ok +codex mcp list, (?:user|project) scope", count=2), Each(r"^0 failed, ", count=1)],
        ("node", "agents"), forbidden="^FAILED.*"),
    Row("tests/it/models/tiny_model.py", [str(MODELS / "words.txt"), "{top}/models/tiny"], [], ("pip:onnx",),
        prepare=lambda place: (place.top / "models/tiny").mkdir(parents=True), after=other_models),
    Row("tests/it/models/tiny_reranker.py", [str(MODELS / "words.txt"), "{top}/models/tiny-reranker"], [], ("pip:onnx",), after=other_models),
    Row("tests/neighbours.sh", [], [
        Each(rf"^\S+ +(?:husky|shell|relative|link) +\S+-chain +4 chained +(\d+) of (\d+) +(\d+) +nothing",
             lambda ran, of, rang: ran == of >= 6 and rang >= 6, 7),
        Each(r"^\S+ +(?:husky|shell|relative|link) +(?:theirs-ours|ours-theirs) +4 watch-only +(\d+) of (\d+) +0 +nothing",
             lambda ran, of: ran == of, 7)], ("npm:husky",),
        env={"NEIGHBOURS": "husky shell relative link", "BIN": "{bin}", "TOOLS": "{node}"}),
    Row("tests/scripted_model.py", [], [
        Each(r'"name": "memod_search", "arguments": "\{\\"query\\": \\"where is it\\"\}"', count=1),
        Each(r"The answer is in src/shop/basket\.py", count=1)], talk=talk_to_model),
]
