#!/usr/bin/env python3
"""Measures teams: real daemons with a real PostgreSQL, of which the network is cut and processes are killed.

    benches/team.py five   [--writes 10000] [--seed 1]    five members write while daemons, server and network fail
    benches/team.py search [--memories 100000] [--words 30] [--searches 300]   a large team: searches, delay from one to another, bytes
    benches/team.py week   [--changes 10000]              two members who do not see each other for so many changes

--bin DIR has memo and memod (target/release), --postgres DIR the programs of PostgreSQL (Debian's, if not given). Prints what it
saw, and exits with 1 if something was lost, doubled or out of order.
"""

import argparse
import glob
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

NOBODY = 65534  # who runs the server, which root may not


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A PostgreSQL of its own, with a database `team`."""

    def __init__(self, programs, top):
        self.programs, self.dir, self.port = programs, os.path.join(top, "server"), free_port()
        os.makedirs(self.dir)
        if os.geteuid() == 0:
            os.chown(self.dir, NOBODY, NOBODY)
        with open(os.path.join(top, "password"), "w") as file:
            file.write("admin\n")
        self.run("initdb", "-D", self.data, "-U", "admin", f"--pwfile={file.name}", "-A", "scram-sha-256")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.write(f"listen_addresses='127.0.0.1'\nport={self.port}\nunix_socket_directories=''\n")
        self.start()
        self.sql("CREATE DATABASE team", "postgres")

    @property
    def data(self):
        return os.path.join(self.dir, "data")

    def run(self, program, *args):
        command = [os.path.join(self.programs, program), *args]
        if os.geteuid() == 0:
            command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
        done = subprocess.run(command, cwd=self.dir, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{program}: {done.stderr or done.stdout}")
        return done.stdout

    def start(self):
        command = [os.path.join(self.programs, "pg_ctl"), "-D", self.data, "-l", os.path.join(self.dir, "log"), "-w", "start"]
        if os.geteuid() == 0:
            command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
        null = subprocess.DEVNULL
        # After a kill, its other processes take a moment to end.
        while subprocess.run(command, cwd=self.dir, stdin=null, stdout=null, stderr=null, check=False).returncode:
            time.sleep(0.1)

    def kill(self):
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            pid = int(file.readline())
        os.kill(pid, signal.SIGKILL)
        while os.path.exists(f"/proc/{pid}"):
            time.sleep(0.01)

    def sql(self, statement, database="team"):
        address = f"postgres://admin:admin@127.0.0.1:{self.port}/{database}"
        return self.run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement, address).strip()


class Network:
    """Carries bytes to the server, and can be cut."""

    def __init__(self, server):
        self.server, self.is_cut, self.bytes, self.open = server, False, [0, 0], set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            try:
                if self.is_cut:
                    raise OSError("cut")
                far = socket.create_connection(("127.0.0.1", self.server.port))
            except OSError:
                near.close()
                continue
            self.open |= {near, far}
            for way, pair in enumerate([(near, far), (far, near)]):
                threading.Thread(target=self.carry, args=(way, *pair), daemon=True).start()

    def carry(self, way, source, target):
        try:
            while data := source.recv(1 << 16):
                self.bytes[way] += len(data)
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.is_cut = True
        for end in list(self.open):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.open.clear()

    def mend(self):
        self.is_cut = False


class Member:
    """A clone with a daemon."""

    def __init__(self, bench, role):
        self.bench, self.role, self.lock = bench, role, threading.Lock()
        self.home = os.path.join(bench.top, role)
        self.root = os.path.join(self.home, "shop")
        os.makedirs(os.path.join(self.home, ".config/memod"))
        os.makedirs(os.path.join(self.home, "run"), mode=0o700)
        git = ["git", "-C", self.root]
        subprocess.run(["git", "init", "-q", self.root], check=True)
        for args in (["remote", "add", "origin", "https://git.example.com/acme/shop.git"], ["config", "user.name", role]):
            subprocess.run(git + args, check=True)
        if role != "admin":
            bench.server.sql(f"CREATE ROLE {role} LOGIN PASSWORD '{role}'")
            bench.server.sql(f"INSERT INTO memod.member VALUES('{role}', '*', true)")
        with open(os.path.join(self.home, ".config/memod/config.toml"), "w") as file:
            file.write(
                f'[team]\nurl = "postgres://{role}@127.0.0.1:{bench.network.port}/team"\nrepositories = "*"\ntags = "team"\n'
                "[memory]\nrefuse_near = false\n[daemon]\nidle_exit_minutes = 0\n"
            )
        with open(os.path.join(self.home, ".config/memod/pgpass"), "w") as file:
            file.write(f"*:*:*:*:{role}\n")
        self.start()

    def start(self):
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.home, "XDG_RUNTIME_DIR": os.path.join(self.home, "run")}
        command = [os.path.join(self.bench.bin, "memod"), "run"]
        self.process = subprocess.Popen(
            command, cwd=self.root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        ready = self.process.stdout.readline()
        if b"true" not in ready:
            sys.exit(f"{self.role}: {ready.decode()}")
        self.peer = None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def call(self, method, **params):
        """Calls a method, on a connection of the calling thread's own turn."""
        with self.lock:
            if self.peer is None:
                with open(glob.glob(os.path.join(self.root, ".git/memo/endpoint"))[0]) as file:
                    path = json.load(file)["socket"]
                self.peer = socket.socket(socket.AF_UNIX)
                self.peer.connect(path)
                self.file = self.peer.makefile("rb")
            params["cwd"] = self.root
            line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n"
            try:
                self.peer.sendall(line.encode())
                answer = self.file.readline()
            except OSError:
                answer = b""
            if not answer:
                self.peer = None
                raise ConnectionError(self.role)
        answer = json.loads(answer)
        if "error" in answer:
            raise RuntimeError(f"{self.role}: {method}: {answer['error']}")
        return answer["result"]

    def surely(self, method, **params):
        """Calls a method that writes until it is acknowledged; by the name of the request it is carried out once."""
        params["request"] = f"{self.role}-{random.getrandbits(64):x}"
        while True:
            try:
                return self.call(method, **params)
            except (OSError, IndexError, ValueError):
                self.peer = None
                time.sleep(0.02)

    def add(self, text):
        return self.surely("memory.add", content=text, tags=["team"], client="cli")["memory"]["id"]

    def texts(self):
        found, offset = {}, 0
        while True:
            page = self.call("memory.list", limit=1000, offset=offset)["memories"]
            for memory in page:
                found.setdefault(memory["id"], []).append((memory.get("conflict") or "", memory["content"]))
            offset += len(page)
            if len(page) < 1000:
                return found

    def sync(self):
        while True:
            try:
                return self.call("team.sync")
            except RuntimeError as error:
                if "longer" not in str(error) and "onnect" not in str(error) and "closed" not in str(error):
                    raise


class Bench:
    def __init__(self, args):
        self.args, self.bin = args, os.path.abspath(args.bin)
        self.top = tempfile.mkdtemp(prefix="team-")
        os.chmod(self.top, 0o755)
        self.server = Server(args.postgres, self.top)
        self.network = Network(self.server)
        self.members = []
        Member(self, "admin").sync()

    def join(self, *roles):
        self.members = [Member(self, role) for role in roles]
        return self.members

    def end(self):
        subprocess.run(["pkill", "-9", "-f", self.top], check=False)
        subprocess.run(["pkill", "-9", "-f", self.server.data], check=False)
        shutil.rmtree(self.top, ignore_errors=True)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def agree(members, choose="ours"):
    """Exchanges until all have the same; returns the number of conflicts that were resolved."""
    n_conflicts = 0
    for _ in range(30):
        is_done = True
        for member in members:
            status = member.sync()
            conflicts = [id for id, sides in member.texts().items() if len(sides) == 2] if status["conflicts"] else []
            assert len(conflicts) == status["conflicts"], (conflicts, status)
            for id in conflicts:
                member.surely("memory.resolve_file", id=id, side=choose, client="cli")
            n_conflicts += len(conflicts)
            is_done &= not conflicts and not status["unsent"]
        if is_done and len({json.dumps(member.texts(), sort_keys=True) for member in members}) == 1:
            return n_conflicts
    sys.exit("they do not agree")


def five(bench):
    members = bench.join("ann", "bob", "carol", "dave", "eve")
    chance, written, lock = random.Random(bench.args.seed), [], threading.Lock()
    done, counts = threading.Event(), {"daemons": 0, "server": 0, "network": 0}

    def write(member, n_writes, seed):
        chance, own = random.Random(seed), []
        for n in range(n_writes):
            text = f"write {n} of {member.role}"
            if not own or chance.random() < 0.7:
                id = member.add(text)
                own.append(id)
            else:
                with lock:
                    others = [id for id, _, _ in written[-200:]]
                id = chance.choice(own if chance.random() < 0.7 else others or own)
                try:
                    member.surely("memory.update", id=id, content=text, client="cli")
                except RuntimeError as error:  # it has not come here yet, or is in conflict
                    if "conflict" not in str(error) and "no memory" not in str(error):
                        raise
                    continue
            with lock:
                written.append((id, text, member.role))

    def fail():
        while not done.wait(chance.uniform(0.2, 1.0)):
            kind = chance.choice(["daemons", "daemons", "server", "network"])
            counts[kind] += 1
            if kind == "daemons":
                member = chance.choice(members)
                member.kill()
                member.start()
            elif kind == "server":
                bench.server.kill()
                done.wait(chance.uniform(0.1, 1.0))
                bench.server.start()
            else:
                bench.network.cut()
                done.wait(chance.uniform(0.1, 2.0))
                bench.network.mend()

    began = time.monotonic()
    share = bench.args.writes // len(members)
    writers = [threading.Thread(target=write, args=(member, share, at)) for at, member in enumerate(members)]
    failing = threading.Thread(target=fail)
    for thread in [*writers, failing]:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    failing.join()
    print(f"{len(written)} writes acknowledged in {time.monotonic() - began:.0f} s; failures: {counts}")
    began = time.monotonic()
    n_conflicts = agree(members)
    print(f"all agree {time.monotonic() - began:.1f} s later; {n_conflicts} conflicts were shown and resolved")

    living = members[0].texts()
    ids = {id for id, _, _ in written}
    lost = ids - living.keys()
    doubled = [id for id, sides in living.items() if len(sides) > 1]
    versions = set(bench.server.sql("SELECT split_part(text, E'\\n---\\n\\n', 2) FROM memod.version").split("\n"))
    kept = {text for text in versions}
    missing = [(id, text, role) for id, text, role in written if text not in kept]
    # What was chosen against in a conflict is in the history of who wrote it.
    by_role = {member.role: member for member in members}
    missing = [at for at in missing if at[1] not in json.dumps(by_role[at[2]].call("memory.history", ids=[at[0]]))]
    disordered = bench.server.sql(
        "SELECT count(*) FROM (SELECT n, lag(n) OVER (PARTITION BY client ORDER BY seq) AS before FROM memod.version) x WHERE n <= before"
    )
    twice = bench.server.sql("SELECT count(*) FROM (SELECT 1 FROM memod.version GROUP BY client, n HAVING count(*) > 1) x")
    print(f"{len(ids)} memories: {len(lost)} lost, {len(doubled)} doubled; {len(missing)} texts nowhere; "
          f"{disordered} out of order, {twice} sent twice, of {len(versions)} versions")
    return not (lost or doubled or missing or int(disordered) or int(twice))


def search(bench):
    ann, bob = bench.join("ann", "bob")
    n = bench.args.memories
    words = [f"{a}{b}" for a in ("cache", "token", "deploy", "index", "queue", "retry", "schema", "socket") for b in range(60)]
    chance = random.Random(1)
    lines = os.path.join(bench.top, "memories.jsonl")
    with open(lines, "w") as file:
        for at in range(n):
            text = " ".join(chance.choices(words, k=bench.args.words))
            file.write(json.dumps({"content": f"{text} number {at}", "tags": ["team"]}) + "\n")
    bob.kill()
    began = time.monotonic()
    env = {"PATH": f"{bench.bin}:/usr/bin:/bin", "HOME": ann.home, "XDG_RUNTIME_DIR": os.path.join(ann.home, "run")}
    subprocess.run([os.path.join(bench.bin, "memo"), "import", lines], cwd=ann.root, env=env, check=True, capture_output=True)
    print(f"{n} memories imported in {time.monotonic() - began:.0f} s")
    began, before = time.monotonic(), list(bench.network.bytes)
    while ann.sync()["unsent"]:
        pass
    print(f"sent {time.monotonic() - began:.1f} s later")
    bench.network.bytes[:] = [0, 0]
    began = time.monotonic()
    bob.start()
    while bob.sync()["memories"] < n:
        pass
    print(f"taken by another in {time.monotonic() - began:.1f} s: {bench.network.bytes[1] / 1e6:.1f} MB, "
          f"{bench.network.bytes[1] / n:.0f} bytes a memory")
    began = time.monotonic()
    bob.call("search", query="cache1", kind=["memory"], sync="full", wait_ms=600_000)
    print(f"vectors of all {time.monotonic() - began:.1f} s later")
    times = {}
    for mode in ("keyword", "hybrid"):
        bob.call("search", query="warm", kind=["memory"], mode=mode)
        times[mode] = []
        for _ in range(bench.args.searches):
            query = " ".join(chance.choice(words) for _ in range(2))
            began = time.perf_counter()
            bob.call("search", query=query, kind=["memory"], mode=mode, scope="team")
            times[mode].append((time.perf_counter() - began) * 1e3)
        print(f"search, {mode}: p50 {statistics.median(times[mode]):.1f} ms, p99 {percentile(times[mode], 0.99):.1f} ms")
    bench.network.cut()
    cut = []
    for _ in range(max(1, bench.args.searches // 3)):
        began = time.perf_counter()
        bob.call("search", query=chance.choice(words), kind=["memory"], mode="hybrid", scope="team")
        cut.append((time.perf_counter() - began) * 1e3)
    print(f"search, hybrid, network cut: p50 {statistics.median(cut):.1f} ms")
    bench.network.mend()
    ann.sync(), bob.sync()
    delays, adds = [], []
    bench.network.bytes[:] = [0, 0]
    n_adds = max(1, bench.args.searches // 6)
    for at in range(n_adds):
        word = f"unmistakable{at}"
        began = time.perf_counter()
        ann.add(f"{word} is the word")
        adds.append((time.perf_counter() - began) * 1e3)
        while not bob.call("search", query=word, kind=["memory"], mode="keyword")["hits"]:
            time.sleep(0.002)
        delays.append((time.perf_counter() - began) * 1e3)
    sent, received = bench.network.bytes
    print(f"from the add of one to the hit of another: p50 {statistics.median(delays):.0f} ms, p99 {percentile(delays, 0.99):.0f} ms "
          f"(the add itself {statistics.median(adds):.0f} ms)")
    print(f"bytes of an add, to two members: {sent / n_adds:.0f} to the server, {received / n_adds:.0f} from it")
    return True


def week(bench):
    ann, bob = bench.join("ann", "bob")
    n = bench.args.changes
    body = "the first line\n\nthe middle line\n\nthe last line"
    ids = [ann.add(f"{body} of {at}") for at in range(n)]
    agree([ann, bob])
    bench.network.cut()
    # One in twenty is changed by both in one line, one in twenty in lines that do not touch.
    both, apart = set(range(0, n, 20)), set(range(10, n, 20))

    def change(member, first):
        for at, id in enumerate(ids):
            if at in both:
                text = f"{body} of {at}".replace("middle", f"middle of {member.role}")
            elif at in apart:
                line = "first" if first else "last"
                text = f"{body} of {at}".replace(line, f"{line} of {member.role}")
            elif (at % 2 == 0) == first:
                text = f"{body} of {at}, changed by {member.role}"
            else:
                member.add(f"new {at} of {member.role}")
                continue
            member.surely("memory.update", id=id, content=text, client="cli")

    began = time.monotonic()
    threads = [threading.Thread(target=change, args=pair) for pair in ((ann, True), (bob, False))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{n} changes of each in {time.monotonic() - began:.0f} s, offline; unsent: "
          f"{[member.call('team.status')['unsent'] for member in (ann, bob)]}")
    bench.network.mend()
    began = time.monotonic()
    ann.sync()
    print(f"the first has sent its changes after {time.monotonic() - began:.1f} s")
    status = bob.sync()
    ann.sync()
    print(f"both know all after {time.monotonic() - began:.1f} s; conflicts shown: {status['conflicts']}, expected {len(both)}")
    joined = ann.texts()
    n_joined = sum(len(joined[ids[at]][0][1].split("of ann")) == 2 and "of bob" in joined[ids[at]][0][1] for at in apart)
    print(f"changes that do not touch: {n_joined} of {len(apart)} joined")
    agree([ann, bob])
    print(f"they agree after {time.monotonic() - began:.1f} s, with every conflict resolved")
    return status["conflicts"] == len(both) and n_joined == len(apart)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["five", "search", "week"])
    parser.add_argument("--writes", type=int, default=10_000)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=30, help="of a memory; 7000 make about 60 kB")
    parser.add_argument("--searches", type=int, default=300, help="in each mode")
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bin", default="target/release")
    parser.add_argument("--postgres", default=next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)), ""))
    args = parser.parse_args()
    if not os.path.exists(os.path.join(args.postgres, "initdb")):
        sys.exit("PostgreSQL is not installed: name the directory of its programs with --postgres")
    random.seed()
    bench = Bench(args)
    try:
        good = {"five": five, "search": search, "week": week}[args.what](bench)
    finally:
        bench.end()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
