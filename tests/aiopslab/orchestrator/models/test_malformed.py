"""Whatever an endpoint answers, a model returns a reply or raises one of its own errors, in time."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, strategies as st

from aiopslab.orchestrator.models import AnthropicModel, Message, ModelFailed, OpenAIModel, Reply, ToolCall
from aiopslab.orchestrator.models.http_model import HttpModel
from aiopslab.orchestrator.models.transport import ConnectionFailed, Transport, parse_retry_after

SAID = [Message("user", "How are you?")]
KEYS = ("choices", "message", "content", "text", "type", "usage", "prompt_tokens", "delta", "index", "tool_calls", "function",
        "name", "arguments", "id", "finish_reason", "stop_reason", "content_block", "input", "error", "refusal")  # fmt: skip
WORDS = ("text", "tool_use", "stop", "refusal", "content_block_start", "content_block_delta", "input_json_delta",
         "message_start", "message_delta", "text_delta", "", "{}", "{")  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-2, 5) | st.floats(allow_nan=False) | st.sampled_from(WORDS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)
EVENTS = st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4), max_size=5)


def make_objects(*keys: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects with some of these keys and any values."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(keys, VALUES))


CALLS = st.lists(
    st.fixed_dictionaries({"function": make_objects("name", "arguments")} | {"id": VALUES}), max_size=2
)
MESSAGES = st.fixed_dictionaries(
    {}, optional={"content": VALUES, "refusal": VALUES, "tool_calls": CALLS | VALUES}
)
CHOICES = st.lists(
    st.fixed_dictionaries({"message": MESSAGES, "finish_reason": VALUES}), min_size=1, max_size=2
)
BLOCKS = st.lists(make_objects("type", "text", "id", "name", "input"), max_size=3)
ALMOST_RIGHT: dict[type[HttpModel], st.SearchStrategy[Any]] = {
    OpenAIModel: st.fixed_dictionaries({"choices": CHOICES, "usage": make_objects("prompt_tokens", "cost")}),
    AnthropicModel: st.fixed_dictionaries(
        {
            "content": BLOCKS,
            "stop_reason": VALUES,
            "stop_details": VALUES,
            "usage": make_objects("input_tokens"),
        }
    ),
}
KINDS = tuple(ALMOST_RIGHT)


def complete(kind: type[HttpModel], answer: Any, events: list[dict[str, Any]] | None) -> Reply | None:
    def post(_: Transport, _url: str, _headers: Any, _body: Any, assemble: Any) -> Any:
        return answer if events is None else assemble(iter(events))

    with patch.object(Transport, "post", post):
        try:
            return kind("small", "http://127.0.0.1:9/v1", stream=events is not None).complete(SAID)
        except ModelFailed as error:
            assert "\n" not in str(error)
            return None


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_any_json_is_a_reply_or_an_error(kind: type[HttpModel], data: st.DataObject) -> None:
    check(complete(kind, data.draw(ALMOST_RIGHT[kind] | VALUES), None))


@pytest.mark.parametrize("kind", KINDS)
@given(events=EVENTS)
def test_any_stream_is_a_reply_or_an_error(kind: type[HttpModel], events: list[dict[str, Any]]) -> None:
    check(complete(kind, None, events))


def check(reply: Reply | None) -> None:
    if reply is None:
        return
    assert isinstance(reply.text, str)
    assert reply.text or reply.tool_calls
    assert all(isinstance(call, ToolCall) and isinstance(call.arguments, str) for call in reply.tool_calls)
    assert reply.in_tokens is None or isinstance(reply.in_tokens, int)
    json.dumps(reply.native)


@contextmanager
def serve_bytes(first: bytes, again: bytes = b"", pause_s: float = 0.0) -> Iterator[str]:
    """Answer every connection with bytes, and then with others until the client leaves."""
    server, over = socket.create_server(("127.0.0.1", 0)), Event()

    def answer(connection: socket.socket) -> None:
        with connection:
            connection.recv(65_536)
            try:
                connection.sendall(first)
                while again and not over.wait(pause_s):
                    connection.sendall(again)
            except OSError:
                pass

    def accept() -> None:
        while not over.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            Thread(target=answer, args=(connection,), daemon=True).start()

    Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    finally:
        over.set()
        server.close()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"garbage\r\n\r\n", b""),
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", b""),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b": ping\n\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b" "),
    ],
    ids=["no HTTP", "nothing", "cut off", "wrong chunks", "endless pings", "a byte at a time"],
)
def test_a_server_that_is_none_is_left_in_time(first: bytes, again: bytes, stream: bool) -> None:
    with serve_bytes(first, again, 0.02) as url:
        model = OpenAIModel("small", url, timeout_s=0.4, retries=0, stream=stream)
        with pytest.raises(
            ModelFailed, match=r"cannot be reached: .+\. Check that it runs, and the URL in base_url\."
        ):
            model.complete(SAID)


def test_a_very_long_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aiopslab.orchestrator.models.transport.MAX_BYTES", 100_000)
    endless = serve_bytes(b"HTTP/1.1 200 OK\r\n\r\n", b" " * 50_000)
    with endless as url, pytest.raises(ModelFailed, match="more than 100000 bytes"):
        OpenAIModel("small", url, timeout_s=30, retries=0).complete(SAID)


@pytest.mark.parametrize(
    ("headers", "pause_s"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "many"}, None),
        ({"retry-after": "-3"}, None),
    ],
)
def test_the_pause_that_an_answer_asks_for(headers: dict[str, str], pause_s: float | None) -> None:
    assert parse_retry_after(headers) == pause_s


def test_a_lost_connection_is_an_error_of_the_transport() -> None:
    with serve_bytes(b"") as url, pytest.raises(ConnectionFailed):
        Transport(1.0, 0).get(url, {}, 1.0)
