"""Two people who exchange memories: what each has done since the last exchange, and what both must have after it."""

import json

from operations import texts

MAX_ROUNDS = 6


class Ledger:
    """What is shared by two people. A text of none means that it is gone."""

    def __init__(self, is_at_once):
        self.is_at_once = is_at_once  # whether changes are also exchanged between exchanges, as daemons of a team do
        self.settled = {}  # id: text, as both had it after the last exchange
        self.changes = {}  # id: {person: text} since then, acknowledged
        self.doubts = {}  # id: texts that were not acknowledged and may be there
        self.strays = set()  # texts of additions that were not acknowledged
        self.private = {}  # person: texts that nobody else may have

    def change(self, person, id, text, is_done):
        if is_done:
            self.changes.setdefault(id, {})[person] = text
        else:
            self.doubts.setdefault(id, set()).add(text)

    def allowed(self, id):
        """Returns what may be there after an exchange; several where two have changed it, or one got no answer."""
        own, doubts = set(self.changes.get(id, {}).values()), self.doubts.get(id, set())
        if len(own) > 1 and not self.is_at_once:
            own.discard(None)  # what somebody has changed and another one removed stays
        return (own or {self.settled.get(id)}) | doubts

    def vanish(self, person):
        """Returns the texts by id of somebody's files, which are gone: the next exchange brings back what was exchanged before."""
        texts = {id: self.changes.get(id, {}).get(person, text) for id, text in self.settled.items()}
        for id in [id for id, by in self.changes.items() if by.get(person) and id not in self.settled]:
            texts[id] = self.changes[id][person]
            self.doubts.setdefault(id, set()).add(None)
        return {id: text for id, text in texts.items() if text and not self.doubts.get(id, set()) - {None}}

    def settle(self, found):
        """Compares what both have with what was done; returns what is wrong, and takes it as the new state."""
        wrong = []
        for id in sorted({*self.settled, *self.changes, *self.doubts, *found}):
            text, allowed = found.get(id), self.allowed(id)
            if text not in allowed and not (id not in self.settled and text in self.strays):
                wrong.append(f"LOST: {id} after an exchange: {text!r}, expected one of {sorted(map(str, allowed))}")
        self.settled, self.changes, self.doubts = dict(found), {}, {}
        return wrong


class Pair:
    """Two sandboxes that exchange memories in one way: the base of all ways."""

    people = ("first", "second")
    # Flags of `memo share`, and the scope that it gives.
    share_flags, scope = [], "repo"
    is_at_once = False
    verb = ""  # of `memo`, by which they exchange

    def __init__(self, sandbox, words):
        self.sandbox, self.words, self.ledger = sandbox, words, Ledger(self.is_at_once)
        self.is_ready = False

    def why_not(self):
        """Returns why this machine does not allow it, if so."""
        return None

    def begin(self):
        """Makes the two; returns nothing."""
        raise NotImplementedError

    def exchange_one(self, person):
        """Has one send and take; returns the reply."""
        raise NotImplementedError

    def memo(self, person, *args):
        return self.sandbox.neighbour(person).memo(*args)

    # --- what each does

    def table(self):
        return [(self.give, 4), (self.keep, 1), (self.update, 3), (self.forget, 1), (self.exchange, 3), (self.kill, 1)]

    def give(self, random):
        """Adds a memory and shares it."""
        person, text = random.choice(self.people), texts.memory_text(random, self.words)
        self.ledger.strays.add(text)
        reply = self.memo(person, "add", "--force", text)
        if reply.is_done:
            id = reply.json["memory"]["id"]
            self.ledger.change(person, id, text, self.memo(person, "share", *self.share_flags, id).is_done)
        return f"{person} {text}", []

    def keep(self, random):
        """Adds a memory that nobody else may see."""
        person, text = random.choice(self.people), texts.memory_text(random, self.words)
        self.ledger.private.setdefault(person, set()).add(text)
        self.memo(person, "add", "--force", text)
        return f"{person} {text}", []

    def _known(self, random):
        """Returns somebody, and the id of what both have."""
        ids = sorted(id for id, text in self.ledger.settled.items() if text)
        return random.choice(self.people), random.choice(ids) if ids else None

    def update(self, random):
        (person, id), text = self._known(random), texts.memory_text(random, self.words)
        if id:
            self.ledger.change(person, id, text, self.memo(person, "update", id, "--content", text).is_done)
        return f"{person} {id}", []

    def forget(self, random):
        person, id = self._known(random)
        if id:
            self.ledger.change(person, id, None, self.memo(person, "forget", id, "--yes").is_done)
        return f"{person} {id}", []

    def kill(self, random):
        """Kills somebody's daemon, which the next verb starts again."""
        person = random.choice(self.people)
        running = self.sandbox.neighbour(person).endpoint()
        if running:
            self.sandbox.run("kill", "-9", running[0], cwd=self.sandbox.top)
        return person, []

    # --- exchange

    def exchange(self, random):
        """Has both exchange until they have the same; returns what was done, and what is wrong."""
        said = []
        for _ in range(MAX_ROUNDS):
            replies = [self.exchange_one(person) for person in self.people]
            lists = {person: self.listed(person) for person in self.people}
            if None in lists.values():
                return "no list", [f"a list of memories of {person}" for person in self.people if lists[person] is None]
            is_ended = self._resolve(random, lists)
            if is_ended and all(reply.is_done for reply in replies) and self._equal(lists):
                return "both have the same", self.ledger.settle(self._shared(lists[self.people[0]])) + self._leaks(lists)
            said = [str(reply) for reply in replies]
        return "they differ", [f"that two have the same after {MAX_ROUNDS} exchanges: {json.dumps(lists)[:3000]}\n" + "\n".join(said)]

    def listed(self, person):
        """Returns all that somebody's list shows; none if it is an error."""
        reply = self.memo(person, "list", "--all")
        return None if reply.error else reply.json["memories"]

    def _resolve(self, random, lists):
        """Ends each conflict that one of them sees; returns whether there was none."""
        ids = {(person, memory["id"]) for person in self.people for memory in lists[person] if memory.get("conflict")}
        for person, id in sorted(ids):
            self.memo(person, "resolve", id, random.choice(["--ours", "--theirs"]))
        return not ids

    def _shared(self, memories):
        return {memory["id"]: memory["content"] for memory in memories if memory["scope"] == self.scope}

    def _equal(self, lists):
        first, second = (self._shared(lists[person]) for person in self.people)
        return first == second

    def _leaks(self, lists):
        """Returns which private texts somebody else has."""
        leaks = []
        for owner, private in sorted(self.ledger.private.items()):
            others = [memory["content"] for person in self.people if person != owner for memory in lists[person]]
            leaks += [f"that a private text of {owner} has come to another: {text}" for text in sorted(private & set(others))]
        return leaks
