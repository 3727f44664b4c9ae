"""An endpoint on loopback that speaks OpenAI's chat completions and Anthropic's messages, and fails as endpoints do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


@dataclass
class Answer:
    """One answer of the endpoint: a reply, or a failure."""

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    """Names and arguments, as text, of tool calls."""
    status: int = 200
    error: str = ""
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """Sent instead of a reply."""
    delay_s: float = 0.0
    cut_off: bool = False
    """Whether the connection is closed in the middle of the answer."""
    refusal: bool = False
    tokens: tuple[int, int, int] = (120, 30, 0)
    """Input tokens, output tokens, and how many of the input tokens were cached."""


@dataclass
class Asked:
    """A request that came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Endpoint:
    """What the endpoint answers next, and what it was asked. The last answer is repeated."""

    url: str = ""
    answers: list[Answer] = field(default_factory=lambda: [Answer("ok")])
    asked: list[Asked] = field(default_factory=list)
    listed: list[dict[str, Any]] | int = field(default_factory=lambda: [{"id": "small"}])
    """The models that it lists, or the status with which it refuses to."""
    closing: Event = field(default_factory=Event)

    def take(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def open_endpoint() -> Iterator[Endpoint]:
    """Serve until the end of the block."""
    endpoint = Endpoint()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(endpoint))
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def _make_handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if isinstance(endpoint.listed, int):
                self.send(endpoint.listed, json.dumps({"error": {"message": "no list"}}).encode())
            else:
                self.send(200, json.dumps({"object": "list", "data": endpoint.listed}).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.asked.append(
                Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            )
            answer = endpoint.take()
            endpoint.closing.wait(answer.delay_s)
            is_anthropic = self.path.endswith("/messages")
            if answer.status != 200:
                error = {"message": answer.error, "type": answer.code or "some_error", "code": answer.code}
                whole = {"type": "error", "error": error} if is_anthropic else {"error": error}
                self.send(answer.status, json.dumps(whole).encode(), answer.headers)
            elif answer.raw is not None:
                self.send(200, answer.raw)
            elif body.get("stream"):
                events = stream_anthropic(answer) if is_anthropic else stream_openai(answer)
                data = b"".join(events)
                self.send(200, data[: len(data) // 2] if answer.cut_off else data, kind="text/event-stream")
            else:
                message = answer_anthropic(answer) if is_anthropic else answer_openai(answer)
                self.send(200, json.dumps(message).encode(), cut_off=answer.cut_off)

        def send(
            self,
            status: int,
            data: bytes,
            headers: Mapping[str, str] | None = None,
            *,
            kind: str = "application/json",
            cut_off: bool = False,
        ) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": kind, **(headers or {})}.items():
                self.send_header(name, value)
            if kind == "application/json":
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if cut_off else data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def answer_openai(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.refusal:
        message |= {"content": None, "refusal": answer.text}
    if answer.calls:
        message["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(answer.calls)
        ]
    reason = "tool_calls" if answer.calls else "stop"
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [{"index": 0, "finish_reason": reason, "message": message}],
        "usage": count_openai(answer),
    }


def count_openai(answer: Answer) -> dict[str, Any]:
    given, made, cached = answer.tokens
    return {
        "prompt_tokens": given,
        "completion_tokens": made,
        "total_tokens": given + made,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def stream_openai(answer: Answer) -> Iterator[bytes]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return event({**head, "choices": [choice], "usage": None})

    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "small"}
    yield chunk({"role": "assistant", "content": ""})
    for part in pieces(answer.text):
        yield chunk({"refusal" if answer.refusal else "content": part})
    for number, (name, arguments) in enumerate(answer.calls):
        opening = {"index": number, "id": f"call_{number}", "type": "function"}
        yield chunk({"tool_calls": [{**opening, "function": {"name": name, "arguments": ""}}]})
        for part in pieces(arguments):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": part}}]})
    yield chunk({}, "tool_calls" if answer.calls else "stop")
    yield event({**head, "choices": [], "usage": count_openai(answer)})
    yield b"data: [DONE]\n\n"


def answer_anthropic(answer: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}]
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for number, (name, arguments) in enumerate(answer.calls):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": json.loads(arguments)}
        content.append(block)
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "claude-small",
        "content": [] if answer.refusal else content,
        **stop(answer),
        "usage": count_anthropic(answer),
    }


def stop(answer: Answer) -> dict[str, Any]:
    reason = "refusal" if answer.refusal else "tool_use" if answer.calls else "end_turn"
    details = {"type": "refusal", "category": None, "explanation": answer.text or None}
    return {"stop_reason": reason, "stop_sequence": None, "stop_details": details if answer.refusal else None}


def count_anthropic(answer: Answer) -> dict[str, int]:
    given, made, cached = answer.tokens
    return {
        "input_tokens": given - cached,
        "output_tokens": made,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
    }


def stream_anthropic(answer: Answer) -> Iterator[bytes]:
    def block(number: int, start: dict[str, Any], deltas: list[dict[str, Any]]) -> Iterator[bytes]:
        yield event({"type": "content_block_start", "index": number, "content_block": start})
        for delta in deltas:
            yield event({"type": "content_block_delta", "index": number, "delta": delta})
        yield event({"type": "content_block_stop", "index": number})

    usage = {**count_anthropic(answer), "output_tokens": 1}
    message = {**answer_anthropic(Answer()), "content": [], "stop_reason": None, "usage": usage}
    yield event({"type": "message_start", "message": message})
    yield event({"type": "ping"})
    if not answer.refusal:
        thinking = [
            {"type": "thinking_delta", "thinking": "Hm."},
            {"type": "signature_delta", "signature": "c2lnbmVk"},
        ]
        yield from block(0, {"type": "thinking", "thinking": "", "signature": ""}, thinking)
        if answer.text:
            deltas = [{"type": "text_delta", "text": part} for part in pieces(answer.text)]
            yield from block(1, {"type": "text", "text": ""}, deltas)
        for number, (name, arguments) in enumerate(answer.calls):
            start = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in pieces(arguments)]
            yield from block(number + 2, start, deltas)
    yield event(
        {"type": "message_delta", "delta": stop(answer), "usage": {"output_tokens": answer.tokens[1]}}
    )
    yield event({"type": "message_stop"})


def event(data: dict[str, Any]) -> bytes:
    kind = f"event: {data['type']}\n" if "type" in data else ""
    return f"{kind}data: {json.dumps(data)}\n\n".encode()


def pieces(text: str) -> list[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]
