"""A model behind an endpoint: over HTTP on loopback, with the genuine SDK; and what it says when that is missing."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from aiopslab.orchestrator.models import Message, ModelFailed, OpenAIModel

SECRET = "sk-planted-0123456789abcdef"
SAID = [Message("system", "Be brief."), Message("user", "How are you?")]


@dataclass
class Endpoint:
    """Speaks the shape of chat completions."""

    url: str = ""
    status: int = 200
    answer: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    def says(self, text: str | None) -> None:
        self.answer = {
            "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        }  # fmt: skip


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    pytest.importorskip("openai", reason="the extra llm is not installed")
    state = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(min(int(self.headers["Content-Length"]), 1 << 20)))
            state.asked.append((self.path, self.headers.get("Authorization", ""), body))
            data = json.dumps(state.answer).encode()
            self.send_response(state.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def test_a_conversation_goes_there_and_the_answer_comes_back(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    endpoint.says("Well.")
    reply = OpenAIModel("small", endpoint.url, options={"temperature": 0}).complete(SAID)
    assert (reply.text, reply.in_tokens, reply.out_tokens) == ("Well.", 12, 3)
    [(path, authorization, body)] = endpoint.asked
    assert path == "/v1/chat/completions"
    assert authorization == f"Bearer {SECRET}"
    assert body["model"] == "small"
    assert body["temperature"] == 0
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How are you?"},
    ]


def test_an_endpoint_at_home_needs_no_key_and_may_be_named_in_the_environment(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    endpoint.says("Well.")
    assert OpenAIModel("small").complete(SAID).text == "Well."


def test_the_key_is_in_no_error_and_in_no_repr(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    endpoint.status, endpoint.answer = 401, {"error": {"message": f"Incorrect API key provided: {SECRET}"}}
    model = OpenAIModel("small", endpoint.url, api_key_env="MY_KEY")
    with pytest.raises(ModelFailed) as raised:
        model.complete(SAID)
    told = str(raised.value)
    assert "Incorrect API key provided" in told
    assert "MY_KEY" in told
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    assert SECRET not in repr(model) + repr(vars(model))


@pytest.mark.parametrize("answer", [{}, {"choices": []}, {"choices": None}])
def test_an_answer_without_a_text_is_told_in_a_sentence(endpoint: Endpoint, answer: dict[str, Any]) -> None:
    endpoint.answer = answer
    with pytest.raises(ModelFailed, match="without any text"):
        OpenAIModel("small", endpoint.url).complete(SAID)


def test_a_refusal_has_no_text(endpoint: Endpoint) -> None:
    endpoint.says(None)
    with pytest.raises(ModelFailed, match="without any text"):
        OpenAIModel("small", endpoint.url).complete(SAID)


def test_nobody_at_home_is_told_in_a_sentence(endpoint: Endpoint) -> None:
    gone = endpoint.url.replace("/v1", "")
    endpoint.status, endpoint.answer = 404, {"error": {"message": "no such page"}}
    with pytest.raises(ModelFailed, match="did not answer: NotFoundError"):
        OpenAIModel("small", gone).complete(SAID)


def test_without_a_key_it_says_where_one_goes(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelFailed, match="OPENAI_API_KEY"):
        OpenAIModel("small").complete(SAID)
    assert endpoint.asked == []


def test_without_the_sdk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ModelFailed, match=r"pip install 'aiopslab-in-a-box\[llm\]'"):
        OpenAIModel("small", "http://127.0.0.1:9/v1").complete(SAID)


def test_a_password_in_an_address_is_not_shown() -> None:
    assert "hunter2" not in repr(OpenAIModel("small", "http://me:hunter2@models.example:8000/v1"))
