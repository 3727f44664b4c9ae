"""A model behind an OpenAI-compatible endpoint, over HTTP on loopback: streamed or not, and every way to fail."""

from __future__ import annotations

import json
import socket
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from aiopslab.orchestrator.models import (
    ContextOverflow,
    Message,
    ModelFailed,
    NoText,
    OpenAIModel,
    Tool,
    ToolCall,
    transport,
)
from tests.aiopslab.orchestrator.models.endpoint import Answer, Endpoint, open_endpoint

SECRET = "sk-planted-0123456789abcdef"
SAID = [Message("system", "Be brief."), Message("user", "How are you?")]
LOOK = Tool("look", "Looks.", {"type": "object", "properties": {"where": {"type": "string"}}})
CALLS = (("look", '{"where": "here"}'), ("look", '{"where": "there"}'))


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(transport, "FIRST_PAUSE_S", 0.001)
    with open_endpoint() as served:
        yield served


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_a_conversation_is_sent_and_the_answer_comes_back(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    endpoint.answers = [Answer("Quite well, thank you.", tokens=(12, 3, 8))]
    model = OpenAIModel("small", endpoint.url, stream=stream, options={"temperature": 0})
    reply = model.complete(SAID)
    assert (reply.text, reply.in_tokens, reply.out_tokens, reply.cached_tokens) == (
        "Quite well, thank you.", 12, 3, 8
    )  # fmt: skip
    [asked] = endpoint.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {SECRET}"
    assert (asked.body["model"], asked.body["temperature"]) == ("small", 0)
    assert asked.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How are you?"},
    ]


def test_tools_are_offered_their_calls_come_back_and_results_are_sent(
    endpoint: Endpoint, stream: bool
) -> None:
    endpoint.answers = [Answer("I look.", CALLS), Answer("Done.")]
    model = OpenAIModel("small", endpoint.url, stream=stream)
    reply = model.complete(SAID, [LOOK])
    assert reply.text == "I look."
    assert reply.tool_calls == (ToolCall("call_0", *CALLS[0]), ToolCall("call_1", *CALLS[1]))
    results = [Message("tool", f"result {call.id}", tool_call_id=call.id) for call in reply.tool_calls]
    assert model.complete([*SAID, reply.to_message(), *results], [LOOK]).text == "Done."
    first, second = endpoint.asked
    assert first.body["tools"] == [
        {
            "type": "function",
            "function": {"name": "look", "description": "Looks.", "parameters": LOOK.parameters},
        }
    ]
    said, *rest = second.body["messages"][2:]
    assert [call["function"]["arguments"] for call in said["tool_calls"]] == [call[1] for call in CALLS]
    assert rest == [
        {"role": "tool", "content": "result call_0", "tool_call_id": "call_0"},
        {"role": "tool", "content": "result call_1", "tool_call_id": "call_1"},
    ]


def test_the_endpoint_of_these_tests_speaks_as_the_genuine_client_expects(
    endpoint: Endpoint, stream: bool
) -> None:
    openai = pytest.importorskip("openai", reason="the genuine client is not installed")
    endpoint.answers = [Answer("I look.", CALLS, tokens=(12, 3, 8))]
    ours = OpenAIModel("small", endpoint.url, stream=stream).complete(SAID, [LOOK])
    messages = [{"role": message.role, "content": message.content} for message in SAID]
    tools = [{"type": "function", "function": vars(LOOK)}]
    with openai.OpenAI(api_key="none", base_url=endpoint.url) as client:
        asked: dict[str, Any] = {"model": "small", "messages": messages, "tools": tools}
        if stream:
            options = {"include_usage": True}
            with client.chat.completions.stream(**asked, stream_options=options) as events:
                theirs = events.get_final_completion()
        else:
            theirs = client.chat.completions.create(**asked)
    message = theirs.choices[0].message
    assert message.content == ours.text
    calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls]
    assert calls == [(call.id, call.name, call.arguments) for call in ours.tool_calls]
    assert (theirs.usage.prompt_tokens, theirs.usage.completion_tokens) == (ours.in_tokens, ours.out_tokens)


def test_an_endpoint_without_a_key_may_be_named_in_the_environment(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    assert OpenAIModel("small").complete(SAID).text == "ok"
    assert "authorization" not in endpoint.asked[0].headers


@pytest.mark.parametrize(
    "trouble",
    [
        Answer(status=429, error="slow down", headers={"Retry-After": "0"}),
        Answer(status=429, error="slow down", headers={"retry-after-ms": "2"}),
        Answer(status=500, error="oops"),
        Answer(status=503, error="starting"),
        Answer("never", cut_off=True),
        Answer("never", delay_s=60),
    ],
    ids=["429", "429 ms", "500", "503", "cut off", "no answer"],
)
def test_passing_trouble_is_tried_again(endpoint: Endpoint, stream: bool, trouble: Answer) -> None:
    endpoint.answers = [trouble, trouble, Answer("There.")]
    timeout_s = 1 if trouble.delay_s else 30
    model = OpenAIModel("small", endpoint.url, stream=stream, timeout_s=timeout_s, retries=2)
    assert model.complete(SAID).text == "There."
    assert len(endpoint.asked) == 3


@pytest.mark.parametrize(
    ("answer", "attempts", "sentence"),
    [
        (Answer(status=429, error="slow down", headers={"Retry-After": "900"}), 1, "(429: slow down). Wait,"),
        (Answer(status=429, error="no money", code="insufficient_quota"), 1, "check the account's quota"),
        (Answer(status=500, error="oops"), 3, "(500: oops). Try again later."),
        (Answer(status=401, error="bad key"), 1, "(401: bad key). Check the key in OPENAI_API_KEY."),
        (
            Answer(status=404, error="no model small"),
            1,
            "(404: no model small). Check the model's name and the URL",
        ),
        (Answer(status=400, error="bad temperature"), 1, "Check the model's name and parameters."),
        (
            Answer(
                status=400,
                error="max_tokens: 16000 > 4096, which is the maximum allowed number of output tokens",
            ),
            1,
            "Check the model's name and parameters.",
        ),
        (Answer(raw=b"<html>Welcome</html>"), 1, "something other than JSON: '<html>Welcome</html>'"),
        (Answer(delay_s=60), 3, "cannot be reached: no answer within 1 s. Check that it runs"),
    ],
    ids=["long wait", "quota", "500", "401", "404", "400", "max_tokens", "html", "time-out"],
)
def test_lasting_trouble_is_a_sentence_with_a_way_out(
    endpoint: Endpoint, answer: Answer, attempts: int, sentence: str
) -> None:
    endpoint.answers = [answer]
    with pytest.raises(ModelFailed) as raised:
        OpenAIModel("small", endpoint.url, timeout_s=1 if answer.delay_s else 30, retries=2).complete(SAID)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)
    assert len(endpoint.asked) == attempts


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=400, error="Too long.", code="context_length_exceeded"),
        Answer(
            status=400, error="This model's maximum context length is 4096 tokens, you requested 5000 tokens."
        ),
        Answer(status=400, error="the request exceeds the available context size, try increasing it"),
        Answer(status=413, error="Request too large"),
        Answer(
            status=429, error="Request too large for m on tokens per min (TPM): Limit 30000, Requested 50000."
        ),
    ],
)
def test_a_conversation_that_is_too_long_is_an_error_of_its_own(endpoint: Endpoint, answer: Answer) -> None:
    endpoint.answers = [answer]
    with pytest.raises(ContextOverflow, match="too long for the model small"):
        OpenAIModel("small", endpoint.url).complete(SAID)
    assert len(endpoint.asked) == 1


def test_a_refusal_is_a_reply_whose_text_says_so(endpoint: Endpoint, stream: bool) -> None:
    endpoint.answers = [Answer("I cannot help with that.", refusal=True)]
    reply = OpenAIModel("small", endpoint.url, stream=stream).complete(SAID)
    assert (reply.text, reply.is_refusal) == ("I cannot help with that.", True)


def test_a_content_filter_refuses_too(endpoint: Endpoint) -> None:
    endpoint.answers = [Answer(status=400, error="The prompt was filtered.", code="content_filter")]
    reply = OpenAIModel("small", endpoint.url).complete(SAID)
    assert reply.is_refusal
    assert "The prompt was filtered" in reply.text


@pytest.mark.parametrize(
    "raw",
    [b"{}", b"[]", b"null", b'{"choices": []}', b'{"choices": null}', b'{"choices": [{"message": null}]}',
     b'{"choices": [{"message": {"content": null}}]}', b'{"choices": [{"message": {"content": [1]}}], "usage": 3}'],
)  # fmt: skip
def test_an_answer_without_a_text_is_reported_in_a_sentence(endpoint: Endpoint, raw: bytes) -> None:
    endpoint.answers = [Answer(raw=raw)]
    with pytest.raises(NoText, match="without any text"):
        OpenAIModel("small", endpoint.url).complete(SAID)


@pytest.mark.parametrize("raw", [b"data: {\n\n", b"data: []\n\n", b'data: {"choices": [3]}\n\n'])
def test_a_malformed_stream_is_reported_in_a_sentence(endpoint: Endpoint, raw: bytes) -> None:
    endpoint.answers = [Answer(raw=raw)]
    with pytest.raises(ModelFailed, match=r"other than JSON|unknown form"):
        OpenAIModel("small", endpoint.url, stream=True).complete(SAID)


def test_an_error_inside_a_stream_is_tried_again(endpoint: Endpoint) -> None:
    trouble = Answer(raw=b'data: {"error": {"message": "overloaded"}}\n\n')
    endpoint.answers = [trouble, Answer("There.")]
    assert OpenAIModel("small", endpoint.url, stream=True).complete(SAID).text == "There."


def test_calls_that_a_stream_does_not_number_are_told_apart_by_their_ids(endpoint: Endpoint) -> None:
    calls = [
        {"id": name, "index": 0, "function": {"name": name, "arguments": "{}"}} for name in ("look", "wait")
    ]
    calls.append({"id": "go", "function": {"name": "go", "arguments": '{"far": true}'}})
    chunks = [{"choices": [{"delta": {"tool_calls": [call]}}]} for call in calls]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    raw = ": PROCESSING\n\n" + "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    endpoint.answers = [Answer(raw=raw.encode())]
    reply = OpenAIModel("small", endpoint.url, stream=True).complete(SAID, [LOOK])
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("look", "{}"),
        ("wait", "{}"),
        ("go", '{"far": true}'),
    ]


def test_a_text_in_parts_and_arguments_as_an_object_are_understood(endpoint: Endpoint) -> None:
    message = {
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "tool_calls": [{"function": {"name": "look", "arguments": {"where": "here"}}}, {"function": None}],
    }
    endpoint.answers = [Answer(raw=json.dumps({"choices": [{"message": message}]}).encode())]
    reply = OpenAIModel("small", endpoint.url).complete(SAID)
    assert reply.text == "ab"
    assert reply.tool_calls == (ToolCall("call_0", "look", '{"where": "here"}'),)


def test_the_key_is_in_no_error_and_in_no_repr(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    endpoint.answers = [Answer(status=401, error=f"Incorrect API key provided: {SECRET}")]
    model = OpenAIModel("small", endpoint.url, api_key_env="MY_KEY")
    with pytest.raises(ModelFailed) as raised:
        model.complete(SAID)
    message = str(raised.value)
    assert "Incorrect API key provided: [redacted]" in message
    assert "MY_KEY" in message
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    assert SECRET not in repr(model) + repr(vars(model)) + repr(model.settings)


def test_a_redirect_does_not_carry_the_key_elsewhere(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with open_endpoint() as other:
        endpoint.answers = [Answer(status=302, error="moved", headers={"Location": f"{other.url}/x"})]
        with pytest.raises(ModelFailed, match="302"):
            OpenAIModel("small", endpoint.url).complete(SAID)
        assert other.asked == []


def test_a_key_that_no_header_can_hold_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-…planted")
    with pytest.raises(ModelFailed, match="has invalid characters") as raised:
        OpenAIModel("small").complete(SAID)
    assert "planted" not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "localhost:8000",
        "http://me:hunter2@models.example/v1",
        "http://x:99999",
        "http://[x",
    ],
)
def test_an_address_that_is_none_is_refused_and_its_password_not_shown(url: str) -> None:
    model = OpenAIModel("small", url)
    with pytest.raises(ModelFailed, match="is not a URL such as https") as raised:
        model.complete(SAID)
    assert "hunter2" not in str(raised.value) + repr(model) + repr(model.settings)


def test_without_a_key_the_error_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelFailed, match="Set the environment variable OPENAI_API_KEY"):
        OpenAIModel("small").check()


def test_a_listed_model_is_checked_without_a_request_and_its_window_is_read(endpoint: Endpoint) -> None:
    endpoint.listed = [{"id": "other"}, {"id": "small", "max_model_len": 8192}]
    model = OpenAIModel("small", endpoint.url)
    model.check()
    assert endpoint.asked == []
    assert model.context_tokens == 8192
    assert model.settings["context_tokens"] == 8192


def test_a_model_that_is_not_listed_is_tried(endpoint: Endpoint) -> None:
    OpenAIModel("small:free", endpoint.url).check()
    assert len(endpoint.asked) == 1
    endpoint.answers = [Answer(status=404, error="The model smal does not exist")]
    with pytest.raises(
        ModelFailed, match=r"404: The model smal does not exist.*The endpoint offers: small\."
    ):
        OpenAIModel("smal", endpoint.url).check()


def test_an_endpoint_without_a_list_is_tried(endpoint: Endpoint) -> None:
    endpoint.listed = 404
    OpenAIModel("small", endpoint.url).check()
    assert len(endpoint.asked) == 1
    endpoint.listed = 401
    with pytest.raises(ModelFailed, match="Check the key in OPENAI_API_KEY"):
        OpenAIModel("small", endpoint.url).check()


def test_an_unreachable_endpoint_is_found_by_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nothing listens there
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ModelFailed, match="cannot be reached: Connection refused"):
            OpenAIModel("small", url).check()


def test_requests_are_spaced_by_the_rate_limit(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(transport, "sleep", pauses.append)
    model = OpenAIModel("small", endpoint.url, requests_per_minute=6)
    for _ in range(3):
        model.complete(SAID)
    assert [round(pause) for pause in pauses] == [10, 20]


def test_the_cost_is_that_of_the_table_of_the_endpoint_or_unknown(endpoint: Endpoint) -> None:
    endpoint.answers = [Answer("ok", tokens=(1_000_000, 100_000, 200_000))]
    assert OpenAIModel("small", endpoint.url).complete(SAID).cost_usd is None
    known = OpenAIModel("gpt-5-2025-08-07", endpoint.url).complete(SAID)
    assert known.cost_usd == pytest.approx(0.8 * 1.25 + 0.2 * 0.125 + 0.1 * 10)
    body = {
        "choices": [{"message": {"content": "ok"}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.25},
    }
    endpoint.answers = [Answer(raw=json.dumps(body).encode())]
    assert OpenAIModel("small", endpoint.url).complete(SAID).cost_usd == 0.25
