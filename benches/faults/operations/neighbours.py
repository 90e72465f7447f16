"""Others who exchange memories: two by `sync-notes` over a bare remote, two through a team's PostgreSQL."""

import atexit
import glob
import json
import os
import pathlib
import shutil
import sys
import tempfile

from operations.pairs import Pair

BENCHES = pathlib.Path(__file__).resolve().parents[2]
NO_NEAR = "[memory]\nrefuse_near = false\n"


class Notes(Pair):
    """Two clones of one bare remote, with `memo share sync`."""

    people, scope, verb = ("ann", "bea"), "repo", "sync-notes"

    def begin(self):
        remote = self.sandbox.top / "notes.git"
        self.sandbox.run("git", "init", "-q", "--bare", remote, cwd=self.sandbox.top)
        for person in self.people:
            member = self.sandbox.neighbour(person)
            member.settings(NO_NEAR)
            member.git("remote", "add", "origin", remote)
        first, second = (self.sandbox.neighbour(person) for person in self.people)
        (first.repo / "README.md").write_text("# Notes\n")
        for args in (["add", "-A"], ["commit", "-qm", "begin"], ["push", "-qu", "origin", "main"]):
            first.git(*args)
        second.git("pull", "-q", "origin", "main")

    def table(self):
        return [*super().table(), (self.clean, 0.5)]

    def exchange_one(self, person):
        return self.memo(person, "sync-notes")

    def clean(self, random):
        """Deletes somebody's files with git: all that they said is still known."""
        person = random.choice(self.people)
        done, wrong = self.sandbox.neighbour(person).git("clean", "-qfdx"), []
        for id, text in sorted(self.ledger.vanish(person).items()):
            known = [self.memo(person, verb, id) for verb in ("get", "history")]
            if not any(json.dumps(text)[1:-1] in reply.out for reply in known):
                wrong.append(f"LOST: {text!r} of {id} after git clean: {known[0]}\n{known[1]}")
        return f"{person} {done}", wrong


class Team(Pair):
    """Two members of a team, whose server is killed now and then."""

    people, scope, verb = ("ada", "bob"), "team", "team"
    share_flags, is_at_once = ["--team"], True

    def why_not(self):
        return None if programs() else "initdb of PostgreSQL is not installed"

    def begin(self):
        sys.path.append(str(BENCHES))
        import team as team_bench

        # Not on the file system that a fault fills.
        self.top = tempfile.mkdtemp(prefix="memod-faults-team-")
        os.chmod(self.top, 0o755)
        self.server = team_bench.Server(programs(), self.top)
        atexit.register(self.end)
        self._join("admin")
        self.memo("admin", "team", "pull")
        self.sandbox.neighbour("admin").memo("stop")
        for person in self.people:
            self.server.sql(f"CREATE ROLE {person} LOGIN PASSWORD '{person}'")
            self.server.sql(f"INSERT INTO memod.member VALUES('{person}', '*', true)")
            self._join(person)

    def _join(self, person):
        member = self.sandbox.neighbour(person)
        member.settings(
            f'[team]\nurl = "postgres://{person}@127.0.0.1:{self.server.port}/team"\nrepositories = "*"\n{NO_NEAR}'
        )
        passwords = member.top / "home/.config/memod/pgpass"
        passwords.write_text(f"*:*:*:*:{person}\n")
        passwords.chmod(0o600)
        member.git("remote", "add", "origin", "https://git.example.com/acme/shop.git")

    def end(self):
        """Ends the server, and removes what it has kept."""
        try:
            self.server.run("pg_ctl", "-D", self.server.data, "-m", "immediate", "stop")
        except SystemExit:
            pass
        shutil.rmtree(self.top, ignore_errors=True)

    def table(self):
        return [*super().table(), (self.kill_server, 0.15)]

    def exchange_one(self, person):
        return self.memo(person, "team", "pull")

    def kill_server(self, random):
        self.server.kill()
        said, wrong = self.give(random)
        self.server.start()
        return f"server away: {said}", wrong


def programs():
    """Returns the folder of PostgreSQL's programs, where there is one."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb")) or [shutil.which("initdb")]
    return found[-1] and os.path.dirname(found[-1])


class Neighbours:
    """All pairs that this machine allows, each made when it is first needed."""

    def __init__(self, sandbox, words):
        self.pairs = []
        for pair in (Notes(sandbox, words), Team(sandbox, words)):
            why_not = pair.why_not()
            if why_not:
                print(f"NOT CHECKED: {type(pair).__name__.lower()}: {why_not}", file=sys.stderr)
            else:
                self.pairs.append(pair)

    def any(self, random):
        """Does something; returns what it was, and what is wrong."""
        pair = random.choice(self.pairs)
        if not pair.is_ready:
            pair.begin()
            pair.is_ready = True
        operations, weights = zip(*pair.table())
        operation = random.choices(operations, weights)[0]
        said, wrong = operation(random)
        return f"{type(pair).__name__} {operation.__name__} {said}", wrong
