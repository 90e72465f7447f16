#!/usr/bin/env python3
"""A model server without a model: it records what a coding agent sends, and plays the turns that a script says.

    tests/scripted_model.py [--port PORT] [--search QUERY]

It speaks the streaming interfaces of Anthropic (messages), OpenAI (responses, chat completions) and Google
(streamGenerateContent), as far as Claude Code, Codex, opencode and Gemini CLI use them. `tests/agent_sessions.py` drives
these programs with it. Alone, it answers each conversation with a call of the tool `search`, and then with what the tool
returned.
"""

import argparse
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The first line of a hit, `src/session.rs:5-6  LIFETIME_S`, or its path in JSON: some clients pass
# on the structured content instead of the text.
HIT = re.compile(r'^([\w./-]+\.\w+):\d+(?:-\d+)?  |"path": ?"([^"]+)"', re.MULTILINE)


class Call:
    """A turn in which the model calls a tool, by its name without what an agent writes before it."""

    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments


class Request:
    """What an agent asked of the model: its tools, the results of calls, and all text."""

    def __init__(self, path, body):
        self.path, self.body, self.at = path, body, time.monotonic()
        self.dialect = next((dialect for end, dialect in DIALECTS.items() if end in path), None)
        self.tools = self.dialect.tools(body) if self.dialect else []
        self.results = self.dialect.results(body) if self.dialect else []
        self.text = "\n".join(texts(body))

    def tool(self, names):
        """Returns the first of these tools that is offered; an MCP client writes the server's name before it."""
        for name in names:
            for tool in self.tools:
                if tool["name"] == name or re.search(rf"memod_*{name}$", tool["name"]):
                    return tool
        return None


def texts(value):
    """Yields every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


class Anthropic:
    @staticmethod
    def tools(body):
        return [tool for tool in body.get("tools", []) if "name" in tool]

    @staticmethod
    def results(body):
        blocks = [part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]]
        return ["\n".join(texts(part.get("content", ""))) for part in blocks if part["type"] == "tool_result"]

    @staticmethod
    def events(body, text, tool, arguments):
        usage = {"input_tokens": 10, "output_tokens": 10}
        start = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        yield {"type": "message_start", "message": start | {"stop_reason": None, "stop_sequence": None, "usage": usage}}
        if tool:
            block = {"type": "tool_use", "id": f"toolu_{time.monotonic_ns()}", "name": tool["name"], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": text}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        reason = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
        yield {"type": "message_delta", "delta": reason, "usage": usage}
        yield {"type": "message_stop"}

    @staticmethod
    def whole(body, text):
        said = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
        return said | {
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 10},
        }


class Responses:
    @staticmethod
    def tools(body):
        # Of tools that are not in the list, Codex tells when the model has looked for them.
        later = [tool for item in body["input"] if item.get("type") == "tool_search_output" for tool in item["tools"]]
        found = []
        for tool in body.get("tools", []) + later:
            if tool.get("type") == "namespace":
                inner = [{**one, "name": tool["name"] + one["name"], "namespace": tool["name"]} for one in tool["tools"]]
                found += inner
            elif "name" in tool:
                found.append(tool)
            elif tool.get("type") == "tool_search" and not later:
                found.append({**tool, "name": "tool_search"})
        return found

    @staticmethod
    def results(body):
        items = [item for item in body["input"] if item.get("type", "").endswith("_call_output")]
        return ["\n".join(texts(item["output"])) for item in items]

    @staticmethod
    def events(body, text, tool, arguments):
        call = f"call_{time.monotonic_ns()}"
        if not tool:
            content = [{"type": "output_text", "text": text, "annotations": []}]
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
        elif tool.get("type") == "tool_search":
            item = {"type": "tool_search_call", "call_id": call, "execution": "client", "arguments": arguments}
            item["status"] = "completed"
        elif tool.get("type") == "custom":
            item = {"type": "custom_tool_call", "call_id": call, "name": tool["name"], "input": arguments["input"]}
        else:
            item = {"type": "function_call", "call_id": call, "arguments": json.dumps(arguments)}
            space = tool.get("namespace", "")
            item |= {"name": tool["name"][len(space) :]} | ({"namespace": space} if space else {})
        item.setdefault("id", f"item_{time.monotonic_ns()}")
        response = {"id": f"resp_{time.monotonic_ns()}", "object": "response", "model": body["model"], "output": []}
        usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
        yield {"type": "response.created", "response": response | {"status": "in_progress"}}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": response | {"status": "completed", "output": [item], "usage": usage}}


class Chat:
    @staticmethod
    def tools(body):
        return [tool["function"] for tool in body.get("tools", [])]

    @staticmethod
    def results(body):
        return ["\n".join(texts(message["content"])) for message in body["messages"] if message["role"] == "tool"]

    @staticmethod
    def events(body, text, tool, arguments):
        start = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
        if tool:
            function = {"name": tool["name"], "arguments": json.dumps(arguments)}
            call = {"index": 0, "id": f"call_{time.monotonic_ns()}", "type": "function", "function": function}
            delta = {"role": "assistant", "tool_calls": [call]}
        else:
            delta = {"role": "assistant", "content": text}
        yield start | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        reason = "tool_calls" if tool else "stop"
        yield start | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


class Google:
    @staticmethod
    def tools(body):
        return [tool for group in body.get("tools", []) for tool in group.get("functionDeclarations", [])]

    @staticmethod
    def results(body):
        parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
        return ["\n".join(texts(part["functionResponse"]["response"])) for part in parts if "functionResponse" in part]

    @staticmethod
    def events(body, text, tool, arguments):
        yield Google.whole(body, text, tool, arguments)

    @staticmethod
    def whole(body, text, tool=None, arguments=None):
        part = {"functionCall": {"name": tool["name"], "args": arguments}} if tool else {"text": text}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


# By a part of the path that is asked.
DIALECTS = {"/messages": Anthropic, "/responses": Responses, "/chat/completions": Chat, "GenerateContent": Google, ":generateContent": Google}


class ScriptedModel:
    """Serves on a port of 127.0.0.1, and records every request with tools.

    A conversation is at the turn that equals the number of results it holds. After the last turn of the script, or with an
    empty script, the model says what the first result was about. `hold` makes it keep the agent waiting at that turn.
    """

    def __init__(self, port=0):
        self.script, self.hold = [], None
        self.requests, self.others = [], []
        self.held = threading.Event()
        self.let_go = threading.Event()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                model.answer(self)

            def do_GET(self):
                model.send(self, {"data": [], "object": "list", "models": []})

            def do_HEAD(self):
                model.send(self, {})

            def handle(self):
                try:
                    super().handle()
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the agent was killed

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, name="scripted-model", daemon=True).start()

    def play(self, script, hold=None):
        """Begins a new recording."""
        self.script, self.hold = script, hold
        self.requests, self.others = [], []
        self.held.clear()
        self.let_go.clear()

    def close(self):
        self.let_go.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler):
        raw = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        body = json.loads(raw) if raw else {}
        if "count_tokens" in handler.path or "countTokens" in handler.path:
            return self.send(handler, {"input_tokens": 10, "totalTokens": 10})
        request = Request(handler.path, body)
        if request.dialect is None:
            self.others.append(request)
            return self.send(handler, {})
        turn = len(request.results)
        tool, arguments, text = None, None, "ok"
        if request.tools:
            self.requests.append(request)
            if self.hold == turn:
                self.held.set()
                self.let_go.wait(120)
            text = final_text(request)
            if turn < len(self.script):
                call = self.script[turn]
                tool, arguments = request.tool([call.name]), call.arguments
                if tool is None and request.tool(["tool_search"]):
                    tool, arguments = request.tool(["tool_search"]), {"query": f"memod {call.name} code repository memory", "limit": 20}
                if tool is None:
                    text = f"no tool {call.name} is offered"
        else:
            self.others.append(request)
        streamed = body.get("stream") or "stream" in handler.path
        if not streamed:
            return self.send(handler, request.dialect.whole(body, text))
        self.stream(handler, request.dialect, request.dialect.events(body, text, tool, arguments))

    @staticmethod
    def send(handler, value):
        ScriptedModel.send_bytes(handler, "application/json", json.dumps(value).encode())

    @staticmethod
    def send_bytes(handler, kind, data):
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(data)

    @staticmethod
    def stream(handler, dialect, events):
        lines = []
        for event in events:
            kind = f"event: {event['type']}\n" if dialect in (Anthropic, Responses) else ""
            lines.append(f"{kind}data: {json.dumps(event)}\n\n")
        if dialect is Chat:
            lines.append("data: [DONE]\n\n")
        data = "".join(lines).encode()
        ScriptedModel.send_bytes(handler, "text/event-stream", data)


def final_text(request):
    """Returns the answer that a model would make of the first result: the path of its first hit."""
    if not request.results:
        return "Nothing was looked up."
    hit = HIT.search(request.results[0].replace("\\n", "\n"))
    return f"The answer is in {hit.group(1) or hit.group(2)}." if hit else "The result has no hit."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--search", default="where is it")
    args = parser.parse_args()
    model = ScriptedModel(args.port)
    model.play([Call("search", {"query": args.search})])
    print(model.url, flush=True)
    seen = 0
    while True:
        time.sleep(0.2)
        for request in model.requests[seen:]:
            seen += 1
            print(json.dumps({"path": request.path, "tools": [tool["name"] for tool in request.tools], "body": request.body}))


if __name__ == "__main__":
    main()
