#!/usr/bin/env python3
"""Drives `memo mcp` with clients that others wrote, and checks every answer against its schema.

    pip install mcp jsonschema
    npm install @modelcontextprotocol/sdk @modelcontextprotocol/client @modelcontextprotocol/inspector
    benches/mcp_clients.py --memo target/release/memo --node FOLDER_OF_NODE_MODULES

Lists and calls every tool, prompt and resource of both profiles: with the Python SDK and both TypeScript SDKs (1.x is the
package `sdk`, 2.x is `client`) in each generation that they speak, and with the inspector's command line, from its version 2
(node 22) in both. Then starts servers at once and ends them at random (killed, or their input closed) with a call in flight, and
measures the first reply in a repository that was never indexed. Exits with 1 when something is not as it should be.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jsonschema
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

HERE = Path(__file__).resolve().parent
FAILED = []
# What this program starts has its id in this variable.
MARK = "MCP_CLIENTS"
os.environ[MARK] = str(os.getpid())


def check(what, is_good, why=""):
    print(f"{'ok  ' if is_good else 'BAD '} {what}{'' if is_good else f': {why}'}")
    if not is_good:
        FAILED.append(what)


def calls(ids):
    """Returns arguments for every tool, in an order in which each finds what it needs."""
    a, b, c = ids
    return {
        "search": {"query": "token"}, "map": {"budget": 300}, "brief": {}, "recall": {"query": "tokens"},
        "remember": {"text": "tokens last a day"}, "why": {"target": "src/session.rs#LIFETIME_S"},
        "changed": {"since": "3650d"}, "memo": {"command": "version"},
        "add": {"text": f"something else to know {random.random()}", "tag": "x"}, "get": {"ids": [a, b]}, "list": {"limit": 3},
        "recent": {}, "update": {"id": a, "priority": 8}, "append": {"id": a, "text": "and no longer"},
        "tag": {"id": a, "tags": ["q"]}, "untag": {"id": a, "tags": ["q"]}, "confirm": {"id": a}, "promote": {"id": b},
        "stats": {}, "tags": {}, "containers": {}, "link": {"from": a, "to": b}, "links": {"id": a},
        "related": {"id": a}, "unlink": {"from": a, "to": b}, "resolve": {"winner": a, "loser": b}, "dedupe": {},
        "history": {"id": a}, "consolidate": {"ids": [b, c], "summary": f"both {random.random()}", "title": "both"},
        "forget": {"tag": "t"}, "delete": {"ids": [a]}, "archive_list": {}, "archive_stats": {},
        "archive_restore": {"ids": [a]}, "archive_purge": {"ids": [b]}, "capabilities": {}, "analyze": {},
    }


def repository(top):
    root = Path(top) / "shop"
    (root / "src").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / "src/session.rs").write_text("/// How long a token is good for.\npub const LIFETIME_S: u64 = 24 * 60 * 60;\n")
    (root / "docs/auth.md").write_text("# Sessions\n\nA login gives a token.\n")
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "sessions"], check=True)
    return root


def memories(memo, root):
    texts = [f"{text} ({random.random()})" for text in ("tokens last a day", "the cellar is dry", "a login costs nothing")]
    add = [memo, "-C", str(root), "add", "--tag", "t", "--force"]
    about = ["--about", str(root / "src/session.rs") + "#LIFETIME_S"]
    return [subprocess.run([*add, *about, text], check=True, capture_output=True, text=True).stdout.strip() for text in texts]


async def python_sdk(memo, root, profile, mode):
    """The Python SDK; `mode` is its own word for the generation."""
    name = f"python {mode} {profile}"
    args = ["-C", str(root), "mcp", "--profile", profile]
    try:
        from mcp import Client  # 2.x, which speaks both generations
    except ImportError:
        Client = None
    server = StdioServerParameters(command=memo, args=args, env=dict(os.environ))
    if Client is None:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return await exercise(name, session, memo, root)
    async with Client(server, mode=mode) as client:
        print(f"     {name}: {client.protocol_version}")
        await exercise(name, client, memo, root)


async def exercise(name, client, memo, root):
    listed = await client.list_tools()
    given = calls(memories(memo, root))
    tools = {tool.name: tool for tool in listed.tools}
    check(f"{name} tools", set(tools) == set(given) or len(tools) == 8, str(set(tools) ^ set(given)))
    for tool in (tools[named] for named in given if named in tools):
        result = await client.call_tool(tool.name, given[tool.name])
        schema = getattr(tool, "output_schema", None) or getattr(tool, "outputSchema", None)
        data = getattr(result, "structured_content", None) or getattr(result, "structuredContent", None) or {}
        is_error = getattr(result, "is_error", None) or getattr(result, "isError", False)
        try:
            jsonschema.validate(data, schema)
            check(f"{name} {tool.name}", not is_error, str(result.content)[:300])
        except jsonschema.ValidationError as error:
            check(f"{name} {tool.name}", False, error.message[:300])
    prompts = (await client.list_prompts()).prompts
    for prompt in prompts:
        wanted = {argument.name: "tokens" for argument in prompt.arguments or []}
        got = await client.get_prompt(prompt.name, wanted)
        check(f"{name} prompt {prompt.name}", len(got.messages) == 1)
    resources = (await client.list_resources()).resources
    check(f"{name} resources", len(resources) > 2, str(resources))
    for resource in resources:
        read = await client.read_resource(str(resource.uri))
        check(f"{name} {resource.uri}", bool(read.contents[0].text))
    templates = await client.list_resource_templates()
    found = getattr(templates, "resource_templates", None) or getattr(templates, "resourceTemplates", [])
    check(f"{name} templates", len(found) == 2)


def typescript_sdk(memo, root, profile, mode, node):
    given = json.dumps(calls(memories(memo, root)))
    script = HERE / "mcp_client.mjs"
    run = subprocess.run(["node", str(script), memo, str(root), profile, mode, given], cwd=node, text=True, capture_output=True)
    for line in run.stdout.splitlines():
        good, _, rest = line.partition(" ")
        what, _, why = rest.partition(": ")
        check(f"typescript {mode} {profile} {what}", good == "ok", why)
    check(f"typescript {mode} {profile}", run.returncode == 0, run.stderr[-500:])


def inspector_eras(node):
    """Returns the generations that the inspector can be told to speak: none before 2.0."""
    package = json.loads((Path(node) / "node_modules/@modelcontextprotocol/inspector/package.json").read_text())
    return ("legacy", "modern") if int(package["version"].split(".")[0]) >= 2 else ("",)


def inspector(memo, root, profile, era, node):
    def run(method, *more):
        command = ["npx", "--no-install", "mcp-inspector", "--cli", memo, "-C", str(root), "mcp", "--profile", profile]
        command += ["--protocol-era", era] if era else []
        done = subprocess.run([*command, "--method", method, *more], cwd=node, text=True, capture_output=True)
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError:
            return {"failed": (done.stdout + done.stderr)[-300:]}

    name = f"inspector {era} {profile}"
    given = calls(memories(memo, root))
    tools = run("tools/list").get("tools", [])
    check(f"{name} tools/list", len(tools) >= 8)
    tools.sort(key=lambda tool: list(given).index(tool["name"]))
    for tool in tools:
        pairs = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in given[tool["name"]].items()]
        more = [word for pair in pairs for word in ("--tool-arg", pair)]
        result = run("tools/call", "--tool-name", tool["name"], *more)
        try:
            jsonschema.validate(result.get("structuredContent"), tool["outputSchema"])
            check(f"{name} {tool['name']}", not result.get("isError"), str(result)[:300])
        except jsonschema.ValidationError as error:
            check(f"{name} {tool['name']}", False, f"{error.message[:200]} {str(result)[:200]}")
    for prompt in run("prompts/list").get("prompts", []):
        more = [word for argument in prompt.get("arguments", []) for word in ("--prompt-args", f"{argument['name']}=tokens")]
        check(f"{name} prompt {prompt['name']}", "messages" in run("prompts/get", "--prompt-name", prompt["name"], *more))
    resources = run("resources/list").get("resources", [])
    check(f"{name} resources/list", len(resources) > 2, str(resources))
    for resource in resources[:1] + resources[-1:]:
        check(f"{name} {resource['uri']}", "contents" in run("resources/read", "--uri", resource["uri"]))


def message(method, number, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


INITIALIZE = message("initialize", 1, protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "b", "version": "0"})
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "b", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def first_reply(memo, repository_to_copy, rounds):
    """Milliseconds until the first reply, where no daemon ran and nothing is indexed."""
    for what, request in [("initialize", INITIALIZE), ("server/discover", message("server/discover", 1, _meta=META))]:
        took = []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as top:
                root = Path(top) / "r"
                subprocess.run(["git", "clone", "-q", "--shared", str(repository_to_copy), str(root)], check=True)
                start = time.perf_counter()
                server = subprocess.Popen([memo, "mcp"], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                server.stdin.write(request)
                server.stdin.flush()
                server.stdout.readline()
                took.append((time.perf_counter() - start) * 1000)
                server.stdin.close()
                server.wait()
                check(f"{what}: no daemon was started", not (root / ".git/memo").exists())
        took.sort()
        print(f"     first reply, {what}: median {took[len(took) // 2]:.1f} ms, worst {took[-1]:.1f} ms of {rounds}")


def processes(root):
    """Returns id, name and RSS in MiB of each memo and memod that runs in the repository or was started by this program."""
    found, mark = [], f"{MARK}={os.environ[MARK]}".encode()
    for entry in Path("/proc").iterdir():
        try:
            name = (entry / "comm").read_text().strip()
            if name not in ("memo", "memod"):
                continue
            if os.readlink(entry / "cwd").startswith(str(root)) or mark in (entry / "environ").read_bytes():
                status = dict(line.split(":", 1) for line in (entry / "status").read_text().splitlines())
                found.append((int(entry.name), name, int(status["VmRSS"].split()[0]) / 1024))
        except (OSError, KeyError):
            continue
    return found


def many(memo, root, number):
    subprocess.run([memo, "-C", str(root), "stop"], capture_output=True)
    start = time.perf_counter()
    servers = [
        subprocess.Popen([memo, "mcp"], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(number)
    ]
    for server in servers:
        server.stdin.write(INITIALIZE + message("tools/call", 2, name="search", arguments={"query": "token"}))
        server.stdin.flush()
    for server in servers:
        server.stdout.readline()
        server.stdout.readline()
    print(f"     {number} servers at once, all answered a search after {time.perf_counter() - start:.1f} s")
    running = processes(root)
    sizes = sorted(size for _, name, size in running if name == "memo")
    daemons = [row for row in running if row[1] == "memod"]
    print(f"     RSS of a server: median {sizes[len(sizes) // 2]:.1f} MiB, largest {sizes[-1]:.1f} MiB; of the daemon "
          f"{sum(row[2] for row in daemons):.1f} MiB")
    for server in servers:
        server.stdin.write(message("tools/call", 3, name="search", arguments={"query": "token"}))
        server.stdin.flush()
    for server in random.sample(servers, number):
        ending = random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None])
        server.stdin.close() if ending is None else server.send_signal(ending)
    for server in servers:
        server.wait(timeout=20)
        server.stdout.close()
    left = processes(root)
    check(f"{number} servers ended: one daemon and nothing else", [name for _, name, _ in left] == ["memod"], str(left))
    search = subprocess.run([memo, "-C", str(root), "search", "token"], capture_output=True, text=True)
    again = [row for row in processes(root) if row[0] == left[0][0]]
    check("the same daemon answers", search.returncode in (0, 1) and len(again) == 1, search.stderr)
    print(f"     RSS of the daemon afterwards {sum(size for _, _, size in again):.1f} MiB")
    subprocess.run([memo, "-C", str(root), "stop"], check=True, capture_output=True)
    # It says that it has stopped a few milliseconds before its process has ended.
    end = time.monotonic() + 2
    while (left := processes(root)) and time.monotonic() < end:
        time.sleep(0.01)
    check("the daemon stops", left == [], str(left))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memo", default=shutil.which("memo"), help="the client; memod is beside it")
    parser.add_argument("--node", help="folder with node_modules; without it only Python clients are tried")
    parser.add_argument("--repository", default=str(HERE.parent), help="cloned for the first reply")
    words = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--clients", type=words, default=["python", "typescript", "inspector"], metavar="A,B")
    parser.add_argument("--profiles", type=words, default=["default", "full"], metavar="A,B")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--servers", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random.seed(asked.seed)
    memo = str(Path(asked.memo).resolve())
    with tempfile.TemporaryDirectory() as top:
        root = repository(top)
        for profile in asked.profiles:
            for mode in ("legacy", "2026-07-28", "auto") if "python" in asked.clients else ():
                asyncio.run(python_sdk(memo, root, profile, mode))
            if asked.node:
                is_there = (Path(asked.node) / "node_modules/@modelcontextprotocol/client").exists()
                if not is_there:
                    print("NOT CHECKED: TypeScript SDK 2.x; @modelcontextprotocol/client is not installed")
                modes = ("sdk", "legacy", "2026-07-28", "auto") if is_there else ("sdk",)
                for mode in modes if "typescript" in asked.clients else ():
                    typescript_sdk(memo, root, profile, mode, asked.node)
                for era in inspector_eras(asked.node) if "inspector" in asked.clients else ():
                    inspector(memo, root, profile, era, asked.node)
            else:
                print("NOT CHECKED: TypeScript SDKs and inspector; --node is not given")
        many(memo, root, asked.servers)
    first_reply(memo, asked.repository, asked.rounds)
    print(f"{len(FAILED)} failed")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
