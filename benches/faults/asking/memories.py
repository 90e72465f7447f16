"""Asks what memories there are: `list`, `get`, `history`, `links`, `stats`, `tags`, `containers`, `export`."""

import collections
import json

from oracle import memory_answers, visible
from oracle.findings import false, lost, other, twice

from .question import Question


def expected_here(world, before, after, answer):
    """Returns what is expected of all memories in this worktree; less where the answer says that it is not fresh."""
    fresh = memory_answers.says_fresh(answer)
    return visible.expect(world.model, before, after, world.seen, fresh, world.clock_is_right)


def memory_question(name, args, root, form, judge):
    return Question(name, args, root, form, None, None, judge, says_fresh=False)


def living(world, random, root, before):
    def judge(reply, before, after):
        answer = reply.json
        expected = expected_here(world, before, after, answer)
        found = memory_answers.judge_listed(answer["memories"], expected, world.model)
        if answer.get("fresh") is not False:
            found += memory_answers.judge_states(answer["memories"], before, after, world.model)
        if answer["total"] != len(answer["memories"]):
            found.append(false(f"counts {answer['total']} memories and lists {len(answer['memories'])}"))
        return found

    return memory_question("list", ["list", "--all"], root, random.choice(["lean", "full"]), judge)


def some(world, random, root, before):
    """Asks for those with a tag, of a priority, or with a word, and for a few of them."""
    forms = {id: world.model.form(id) for id in world.model.certain()}
    forms = {id: form for id, form in forms.items() if form}
    if not forms:
        return None
    one = forms[random.choice(sorted(forms))]
    word = one.text.split()[0]
    tags = sorted(one.tags)
    filters = [
        (["--min-priority", one.priority], lambda form: form.priority >= one.priority),
        (["--match", word], lambda form: word in form.text),
    ]
    if tags:
        filters.append((["--tag", tags[0]], lambda form: tags[0] in form.tags))
    flags, lets_pass = random.choice(filters)
    most = random.choice([1, 3, 1000])

    def judge(reply, before, after):
        answer = reply.json
        expected = expected_here(world, before, after, answer)
        found = memory_answers.judge_listed(answer["memories"], expected, world.model, is_whole=False)
        shown = {memory["id"] for memory in answer["memories"]}
        surely = {id for id, want in expected.items() if len(want.must) == 1 and all(map(lets_pass, want.must[0]))}
        # Each side of a conflict is a row of its own, and counts against the limit.
        is_complete = len(answer["memories"]) < most
        found += [lost(f"{id} is not among those of {flags}") for id in sorted(surely - shown) if is_complete]
        for id in sorted(shown & expected.keys()):
            if expected[id].may and visible.ANYTHING not in expected[id].may and not any(map(lets_pass, expected[id].may)):
                found.append(false(f"lists {id}, which {flags} leave out"))
        if answer["total"] < max(len(shown), len(surely)) or len(answer["memories"]) > most:
            found.append(false(f"counts {answer['total']} and lists {len(shown)} of {len(surely)}, at most {most}"))
        return found

    return memory_question("list some", ["list", "-n", most, *flags], root, random.choice(["lean", "full"]), judge)


def archived(world, random, root, before):
    def judge(reply, before, after):
        snapshots = [before, after, *(world.disk.snapshot(other) for other in world.sandbox.roots if other != root)]
        must, may = visible.expect_archived(world.model, snapshots, world.seen)
        if not memory_answers.says_fresh(reply.json):
            must = set()
        return memory_answers.judge_archive(reply.json["memories"], must, may, world.model)

    return memory_question("list the archive", ["list", "--archived", "--all"], root, random.choice(["lean", "full"]), judge)


def one_of(world, random):
    ids = world.model.certain()
    return random.choice(ids) if ids else None


def get(world, random, root, before):
    id = one_of(world, random)
    if not id:
        return None

    def judge(reply, before, after):
        memories = reply.json["memories"]
        expected = {id: want for id, want in expected_here(world, before, after, reply.json).items()}
        found = memory_answers.judge_listed(memories, {id: expected[id]}, world.model)
        found = [finding for finding in found if "imported" not in finding.what]
        for memory in memories:
            if memory["id"] != id:
                found.append(false(f"shows {memory['id']}, asked was {id}"))
            elif memory.get("conflict") != "theirs":
                found += memory_answers.judge_links(id, memory.get("links") or [], world.model, expected)
                found += judge_recalls(memory, world)
        return found

    return memory_question("get", ["get", id], root, random.choice(["lean", "full"]), judge)


def judge_recalls(memory, world):
    record = world.model.records[memory["id"]]
    n_said = memory.get("access_count", 0)
    if record.was_shared or record.was_restored or record.recalls <= n_said <= record.may_recall:
        return []
    return [false(f"says that {memory['id']} was recalled {n_said} times, it was {record.recalls} to {record.may_recall} times")]


def history(world, random, root, before):
    id = one_of(world, random)

    def judge(reply, before, after):
        found = memory_answers.judge_history(id, reply.json["changes"], world.model, bool(world.seen.of(id)))
        if reply.json["id"] != id:
            found.append(false(f"has the history of {reply.json['id']}, asked was {id}"))
        return found

    return id and memory_question("history", ["history", id], root, random.choice(["lean", "full"]), judge)


def links(world, random, root, before):
    """Asks for the links of a memory that has some."""
    model = world.model
    ends = sorted({id for link, is_there in model.links.items() if is_there for id in (link[0], link[2])} & set(model.certain()))
    if not ends:
        return None
    id = random.choice(ends)

    def judge(reply, before, after):
        nodes = {node["id"]: node for node in reply.json["memories"]}
        found = [] if id in nodes else [lost(f"{id} is not among its own links")]
        told = {(edge["from"], edge["kind"], edge["to"]) for edge in reply.json["links"]}
        for (first, kind, second), is_there in model.links.items():
            if id in (first, second) and is_there and memory_answers.may_judge_link(model, first, second) and first != second:
                if not told & memory_answers.same_links(first, kind, second):
                    found.append(lost(f"the link {first} {kind} {second}: {sorted(told)}"))
        known = {link for first, kind, second in model.links for link in memory_answers.same_links(first, kind, second)}
        for first, kind, second in sorted(told):
            if (first, kind, second) not in known and memory_answers.may_judge_link(model, first, second):
                found.append(false(f"nobody linked {first} {kind} {second}"))
        return found

    return memory_question("links", ["links", id], root, random.choice(["lean", "full"]), judge)


def stats(world, random, root, before):
    def judge(reply, before, after):
        answer = reply.json
        expected = expected_here(world, before, after, answer)
        least = sum(bool(want.must) for want in expected.values())
        most = sum(max(len(want.must), bool(want.may)) for want in expected.values()) + len(world.model.pending)
        least, most = least + len(world.model.without_id), most + len(world.model.without_id)
        if not least <= answer["living"] <= most:
            return [false(f"counts {answer['living']} living memories, there are {least} to {most}")]
        of_tiers = sum(tier["memories"] for tier in answer["tiers"])
        of_containers = sum(container["memories"] for container in answer["containers"])
        if {of_tiers, of_containers} != {answer["living"]}:
            return [false(f"counts {answer['living']} living memories, {of_tiers} by tier, {of_containers} by container")]
        return []

    return memory_question("stats", ["stats"], root, random.choice(["lean", "full"]), judge)


def tags(world, random, root, before):
    def judge(reply, before, after):
        expected = expected_here(world, before, after, reply.json)
        least, most = collections.Counter(), collections.Counter()
        for want in expected.values():
            certain = [forms for forms in want.must if len(forms) == 1]
            for forms in certain[:1]:
                least.update(next(iter(forms)).tags)
            most.update({tag for form in want.may for tag in form.tags})
        told = {tag["name"]: tag["memories"] for tag in reply.json["names"]}
        unsure = any(visible.ANYTHING in want.may for want in expected.values()) or world.model.pending
        found = []
        for tag in sorted(set(told) | set(least)):
            n_told = told.get(tag, 0)
            if n_told < least[tag] or not unsure and n_told > most[tag]:
                found.append(false(f"counts {n_told} memories with the tag {tag}, there are {least[tag]} to {most[tag]}"))
        return found

    return memory_question("tags", ["tags"], root, random.choice(["lean", "full"]), judge)


def export(world, random, root, before):
    """Asks for all memories as JSON lines, archived ones included."""

    def judge(reply, before, after):
        entries = [json.loads(line) for line in reply.out.splitlines()]
        memories = [entry["memory"] for entry in entries if "memory" in entry]
        expected = expected_here(world, before, after, None if world.is_calm else {"fresh": reply.code == 0})
        # One text of each memory: one's own, where a file says another, and one side of a file in conflict.
        for id, want in expected.items():
            record = world.model.records.get(id)
            if record and record.may_be("living", shared=False):
                want.must = [forms for forms in want.must if not any(form.shared for form in forms)]
            want.must = [set().union(*want.must)] if want.must else []
        # What the files of other worktrees say is exported, too, as it was when somebody last asked from there.
        for other_root in world.sandbox.roots:
            world.seen.add(world.disk.snapshot(other_root))
        for id in world.seen.forms:
            may = expected.setdefault(id, visible.Expected(id, [], set())).may
            may |= world.seen.of(id) or {visible.ANYTHING}
            if reply.code:  # it says that files could not be read: a save between two questions may have been taken
                may.add(visible.ANYTHING)
        found = memory_answers.judge_listed([one for one in memories if not one.get("archived_at")], expected, world.model)
        ends = [entry["end"] for entry in entries if "end" in entry]
        n_links = sum("link" in entry for entry in entries)
        if len(ends) != 1 or (ends[0]["memories"], ends[0]["links"]) != (len(memories), n_links):
            found.append(other(f"ends with {ends}, and has {len(memories)} memories and {n_links} links"))
        found += twice([(one["id"], one.get("conflict")) for one in memories], "exported")
        found += judge_exported_links(entries, world)
        return found

    return memory_question("export", ["export"], root, "text", judge)


def judge_exported_links(entries, world):
    model = world.model
    told = [(entry["link"]["source"], entry["link"]["kind"], entry["link"]["target"]) for entry in entries if "link" in entry]
    found = twice(told, "an exported link")
    living = set(model.certain())
    for (first, kind, second), is_there in model.links.items():
        is_sure = {first, second} <= living and first != second and memory_answers.may_judge_link(model, first, second)
        if is_sure and is_there and not memory_answers.same_links(first, kind, second) & set(told):
            found.append(lost(f"the link {first} {kind} {second} is not exported"))
    return found
