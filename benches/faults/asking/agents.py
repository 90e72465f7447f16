"""Asks as agents and programs do: hooks, briefs, MCP and HTTP."""

import json
import re
import urllib.error
import urllib.request

from oracle import hits, memory_answers, visible
from oracle.findings import false, other, stale

from . import searching, tool_text
from .question import Question, is_fresh

TOLD = re.compile(r"- (.*) \((mem_[0-9A-Z]{26})([^()]*)\)$")
VERSION = "2025-11-25"


def session_of(world):
    world.n_sessions += 1
    return f"session-{world.n_sessions}"


def judge_told(text, world, before, after):
    """Compares each memory that a text for agents tells with what is known of it."""
    found = []
    expected = visible.expect(world.model, before, after, world.seen, world.is_calm, world.clock_is_right)
    for line in text.split("\n"):
        told = TOLD.match(line)
        if not told or told.group(2) not in expected:
            continue
        want, said = expected[told.group(2)], told.group(1)
        if want.must_not:
            found.append(false(f"tells {told.group(2)}, which is archived, purged or in no file here: {said!r}"))
        elif visible.ANYTHING not in want.may and not any(tells(form, said) for form in want.may):
            found.append(false(f"tells {told.group(2)} as {said!r}, it says {[form.text for form in want.may]}"))
    return found


def tells(form, said):
    """Returns whether a line tells a memory: its title, its text or the beginning of it, in one line."""
    title = form.title or ""
    whole = [" ".join(text.split()) for text in (form.text, f"{title}: {form.text}", title)]
    said = " ".join(re.sub(r"^(\[[^\]]*\] *)+", "", said).split())
    return any(one and (said == one or said.endswith("…") and one.startswith(said[:-1].rstrip())) for one in whole)


def prompt_hook(world, random, root, before):
    """Asks with the words of a memory, which must be told as it is, if at all."""
    ids = world.model.certain()
    if not ids:
        return None
    id = random.choice(ids)
    form, record = world.model.form(id), world.model.records[id]
    if not form:
        return None
    is_linked = any(id in (link[0], link[2]) for link in world.model.links)
    is_plain = not (is_linked or record.about or record.ends or record.was_shared or world.seen.of(id))

    def judge_more(said, before, after):
        if world.is_calm and is_plain and id not in said:
            return [stale(f"does not tell {id}, which says {form.text!r}, of a prompt with its first line")]
        return []

    prompt = f"why does {form.text.splitlines()[0]}?"
    given = {"session_id": session_of(world), "hook_event_name": "UserPromptSubmit", "prompt": prompt, "cwd": str(root)}
    return hook(world, root, "prompt", given, judge_more)


def hook(world, root, event, given, judge_more=None):
    def judge(reply, before, after):
        found = [] if reply.code == 0 else [other(f"a hook ends with {reply.code}")]
        text = reply.out.strip()
        if not text:
            return found + (judge_more("", before, after) if judge_more else [])
        try:
            said = json.loads(text)["hookSpecificOutput"]["additionalContext"]
        except (ValueError, KeyError):
            return [*found, other(f"a hook prints no JSON of its agent: {text!r}")]
        found += judge_told(said, world, before, after)
        return found + (judge_more(said, before, after) if judge_more else [])

    args = ["hook", event, "--agent", "claude-code", "--within-ms", 5000]
    return Question(f"hook {event}", args, root, "text", None, None, judge, json.dumps(given), says_fresh=False)


def before_edit(world, random, root, before):
    """Asks about a file that a memory is about: it must be told."""
    model = world.model
    about = {id: model.records[id].about for id in model.certain() if model.records[id].about}
    here = {id: path for id, path in about.items() if path in (before.files or {})}
    if not here:
        return None
    id = random.choice(sorted(here))
    path = here[id]
    given = {
        "session_id": session_of(world), "hook_event_name": "PreToolUse", "cwd": str(root), "tool_name": "Edit",
        "tool_input": {"file_path": str(root / path)},
    }  # fmt: skip

    def judge_more(said, before, after):
        n_about = sum(other == path for other in here.values())
        if world.is_calm and id not in said and n_about <= 3 and not model.records[id].ends:
            return [stale(f"is silent about {id}, which is about {path}")]
        return []

    return hook(world, root, "before-edit", given, judge_more)


def session_start(world, random, root, before):
    given = {"session_id": session_of(world), "hook_event_name": "SessionStart", "source": "startup", "cwd": str(root)}
    # Hooks are silent until somebody has made an index.
    has_index = (world.sandbox.state / "index.db").exists()

    def judge_more(said, before, after):
        is_silent = has_index and world.is_calm and not said and before.head and before.files
        return [stale("says nothing at the start of a session")] if is_silent else []

    return hook(world, root, "session-start", given, judge_more)


def brief(world, random, root, before):
    def judge(reply, before, after):
        answer = reply.json
        found = judge_told(answer["text"], world, before, after)
        for section in answer["sections"]:
            if section["shown"] > section["total"]:
                found.append(false(f"shows {section['shown']} of {section['total']} in {section['name']}"))
        if answer["tokens"] > answer["budget"]:
            found.append(other(f"has {answer['tokens']} tokens, more than {answer['budget']}"))
        if not answer["fresh"] and not answer.get("reason"):
            found.append(other("is not fresh and does not say why"))
        return found

    return Question("brief", ["brief", "--budget", 1500], root, "lean", random.choice(["fs", "strict"]), None, judge)


def mcp(world, random, root, before):
    """Calls tools of `memo mcp`: a search and a list, in one session."""
    word = world.words.pick(random, before.files)
    asked = hits.Asked((word,), mode="hybrid", level="fs", limit=50, query=word)
    calls = [("search", {"query": word, "limit": 50}), ("memo", {"command": "list --all"})]
    client = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [request(1, "initialize", client)]
    lines += [request(2 + nth, "tools/call", {"name": name, "arguments": given}) for nth, (name, given) in enumerate(calls)]

    def judge(reply, before, after):
        answers = {answer.get("id"): answer for answer in map(json.loads, reply.out.splitlines())}
        found = []
        # Without an answer of the daemon it ends some seconds after its input has ended.
        if not world.is_calm and any((answers.get(id) or {}).get("result", {"isError": True}).get("isError") for id in (1, 2, 3)):
            return []
        for id in (1, 2, 3):
            if "result" not in answers.get(id, {}) or answers[id]["result"].get("isError"):
                found.append(other(f"answers request {id} with {answers.get(id)}"))
        if found:
            return found
        found += judge_mcp_search(world, asked, answers[2]["result"]["structuredContent"], before, after)
        found += tool_text.judge_search_text(answers[2]["result"]) + tool_text.judge_list_text(answers[3]["result"])
        listed = answers[3]["result"]["structuredContent"]
        expected = visible.expect(
            world.model, before, after, world.seen, memory_answers.says_fresh(listed), world.clock_is_right
        )
        return found + memory_answers.judge_listed(listed["memories"], expected, world.model)

    return Question("mcp", ["mcp"], root, "text", None, None, judge, "\n".join(lines) + "\n", says_fresh=False)


def request(id, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def judge_mcp_search(world, asked, answer, before, after):
    found = hits.judge_files(asked, answer, before, after, world)
    expected = visible.expect(world.model, before, after, world.seen, is_fresh(answer, "fs"), world.clock_is_right)
    found += memory_answers.judge_memory_hits(
        answer["hits"], asked.words, expected, world.model, len(answer["hits"]) < asked.limit
    )
    return found


def http(world, random, root, before):
    """Starts the HTTP API, where it is off, and asks it for a search and for all memories."""
    word = world.words.pick(random, before.files)
    asked = hits.Asked((word,), mode="keyword", level="fs", limit=200, query=word, root=str(root))

    def judge(reply, before, after):
        url, _, token = reply.out.strip().partition("/#token=")
        if not token:
            return [] if not world.is_calm else [other(f"prints no address: {reply.out!r}")]
        params = {"query": word, "mode": "keyword", "limit": 200, "cwd": str(root), "wait_ms": 8000}
        try:
            answer = ask_http(url, token, "search", params)
            listed = ask_http(url, token, "memory.list", {"cwd": str(root), "limit": 1000})
        except (OSError, ValueError) as error:
            return [] if not world.is_calm else [other(f"HTTP fails: {error}")]
        judge_search = searching.judge_search(world, asked, "full")
        found = judge_search(type("Reply", (), {"json": answer}), before, after)
        expected = visible.expect(
            world.model, before, after, world.seen, memory_answers.says_fresh(listed), world.clock_is_right
        )
        return found + memory_answers.judge_listed(listed["memories"], expected, world.model)

    return Question("http", ["serve"], root, "text", None, None, judge, says_fresh=False)


def ask_http(url, token, method, params):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    asked = urllib.request.Request(f"{url}/v1/{method}", json.dumps(params).encode(), headers)
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise ValueError(f"{method}: {error.code} {error.read()[:300]}") from error
