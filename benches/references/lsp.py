"""A language server: started, asked over its standard input and output, ended."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

# The document changed under the server's feet, or the server was still reading: worth asking again.
ASK_AGAIN = {-32801, -32802, -32800}
ASK_AGAIN_TIMES = 20
# Requests that wait for their answers at the same time.
IN_FLIGHT = 16

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {"configuration": True, "workspaceFolders": True, "didChangeConfiguration": {}},
    "textDocument": {
        "definition": {"linkSupport": False},
        "references": {},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
    "experimental": {"serverStatusNotification": True},
}


class ServerError(Exception):
    """What the server did not do, for the user."""


def uri_of(path):
    return "file://" + quote(str(path))


def path_of(uri):
    return Path(unquote(urlsplit(uri).path))


class Server:
    """One running server with the worktree `root` open in it."""

    def __init__(self, language, command, root, environment, wait_s, log):
        self.language, self.root, self.wait_s = language, root, wait_s
        self.last_id, self.replies, self.seen, self.open_tokens = 0, {}, [], set()
        self.news = threading.Condition()
        self.ended, self.version_seen = False, ""
        self.process = subprocess.Popen(command, cwd=root, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=log, start_new_session=True)
        threading.Thread(target=self.read, name="replies", daemon=True).start()
        self.about = self.begin()

    def begin(self):
        result = self.ask("initialize", {
            "processId": os.getpid(), "rootPath": str(self.root), "rootUri": uri_of(self.root), "capabilities": CAPABILITIES,
            "workspaceFolders": [{"uri": uri_of(self.root), "name": self.root.name}],
            "initializationOptions": self.language.options,
        })
        self.tell("initialized", {})
        self.tell("workspace/didChangeConfiguration", {"settings": self.language.settings})
        return result.get("serverInfo") or {}

    def end(self):
        try:
            self.ask("shutdown", None)
            self.tell("exit", None)
            self.process.wait(20)
        except (ServerError, OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)  # also what it started
            self.process.wait()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.process.stdin.flush()
        except OSError as error:
            raise ServerError(f"the language server takes no more requests: {error}; see its log")

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def start(self, method, params):
        """Sends a request; returns its id."""
        with self.news:
            self.last_id += 1
            number = self.last_id
        self.send({"id": number, "method": method, "params": params})
        return number

    def ask(self, method, params):
        return self.ask_all(method, [params])[0]

    def ask_all(self, method, every):
        """Returns the results of requests in their order; None where the server reports an error."""
        results, first = [], 0
        while first < len(every):
            batch = every[first:first + IN_FLIGHT]
            numbers = [self.start(method, params) for params in batch]
            results += [self.result(method, params, number) for params, number in zip(batch, numbers)]
            first += len(batch)
        return results

    def result(self, method, params, number):
        for _ in range(ASK_AGAIN_TIMES):
            reply = self.until(lambda: self.replies.pop(number, None), f"`{method}` was not answered")
            if (reply.get("error") or {}).get("code") not in ASK_AGAIN:
                break
            number = self.start(method, params)
        return reply.get("result")

    def until(self, condition, failed):
        """Waits until `condition` returns something, which is returned."""
        deadline = time.monotonic() + self.wait_s
        with self.news:
            while True:
                value = condition()
                if value:
                    return value
                left = deadline - time.monotonic()
                if self.ended or left <= 0:
                    why = "it ended" if self.ended else f"{self.wait_s} s were not enough"
                    raise ServerError(f"{failed}: {why}; see its log")
                self.news.wait(left)

    def read(self):
        """Takes what the server says until it ends; answers its questions."""
        try:
            while True:
                length = 0
                for line in iter(self.process.stdout.readline, b"\r\n"):
                    if not line:
                        return
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                self.take(json.loads(self.process.stdout.read(length)))
        except (OSError, ValueError, ServerError):
            return
        finally:
            with self.news:
                self.ended = True
                self.news.notify_all()

    def take(self, message):
        method, number = message.get("method"), message.get("id")
        if method and number is not None:
            self.send({"id": number, "result": self.reply(method, message.get("params"))})
            return
        with self.news:
            if method == "$/progress":
                change = self.open_tokens.add if message["params"]["value"].get("kind") == "begin" else None
                title = re.search(r"\((\d[\d.]*)\)", message["params"]["value"].get("title") or "")
                self.version_seen = title.group(1) if title else self.version_seen
                if message["params"]["value"].get("kind") == "end":
                    change = self.open_tokens.discard
                if change:
                    change(str(message["params"]["token"]))
                    self.seen.append((method, message["params"]))
            elif method:
                self.seen.append((method, message.get("params") or {}))
                del self.seen[:-200]
            else:
                self.replies[number] = message
            self.news.notify_all()

    def reply(self, method, params):
        if method == "workspace/configuration":
            return [self.setting(item.get("section") or "") for item in params["items"]]
        if method == "workspace/workspaceFolders":
            return [{"uri": uri_of(self.root), "name": self.root.name}]
        return None

    def setting(self, section):
        value = self.language.settings
        for part in section.split(".") if section else []:
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def wait_ready(self):
        """Waits until the server says that it has read the worktree, if this server says so at all."""
        if self.language.ready:
            self.until(lambda: self.language.ready(self), "the worktree was not read")
