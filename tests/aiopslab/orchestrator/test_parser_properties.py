"""What holds for every response: a call comes back as it was sent, and nothing breaks the reader or keeps it busy."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from aiopslab.orchestrator.parser import ResponseParser
from aiopslab.orchestrator.parsing import search
from aiopslab.utils.status import ResponseParsingError

KNOWN = ("exec_shell", "get_logs", "submit")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    [
        "kubectl get pods",
        "-p='[{\"op\": 1}]'",
        "```\nx\n```",
        "a\\nb",
        "\\",
        '"',
        "'",
        '"""',
        "`submit()`",
        "</think>x",
    ]
)
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
scalars = texts | numbers | st.booleans() | st.none()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
calls = st.tuples(
    st.sampled_from(KNOWN),
    st.lists(values, max_size=3),
    st.dictionaries(st.sampled_from(["command", "timeout", "analysis"]), values, max_size=2),
)
FRAMES = (
    "{}",
    "```\n{}\n```",
    "```python\n{}\n```",
    "```{}```",
    "Let me look.\n\n```\n{}\n```\nThen we shall see.",
    "Action: {}",
    "Thought: hm.\nAction:\n{}",
    "<tool_call>{}</tool_call>",
    "<think>or submit(1)?</think>\n{}",
)
Call = tuple[str, list[Any], dict[str, Any]]


def triple_quoted(value: Any) -> str:
    if not isinstance(value, str):
        return repr(value)
    return '"""' + value.replace("\\", "\\\\").replace('"', '\\"') + '"""'


def as_python(call: Call, write: Any) -> str:
    name, args, kwargs = call
    return f"{name}({', '.join([*map(write, args), *(f'{key}={write(value)}' for key, value in kwargs.items())])})"


def parsed(response: str) -> Call:
    found = ResponseParser(KNOWN).parse(response)
    return found["api_name"], found["args"], found["kwargs"]


def mentions_marks(call: Call) -> bool:
    """Whether a text in it holds what could close its frame; then the frame must be one that has no marks."""
    written = json.dumps(call, ensure_ascii=False)
    return any(mark in written for mark in ("```", "~~~", "</", "<think"))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(calls, st.sampled_from(FRAMES), st.sampled_from([repr, json.dumps, triple_quoted]))
def test_a_call_comes_back_as_it_was_sent(call: Call, frame: str, write: Any) -> None:
    if mentions_marks(call):
        frame = "{}"
        if "</" in json.dumps(call) or "<think" in json.dumps(call):
            return
    # In Python's dress \b and \f are meant for grep; in JSON's they are what they are.
    if write is json.dumps and any(mark in json.dumps(call) for mark in ("\\b", "\\f")):
        write = repr
    assert repr(parsed(frame.replace("{}", as_python(call, write)))) == repr(call)


@settings(max_examples=100, deadline=None)
@given(calls, st.sampled_from(["{}", "```json\n{}\n```", "<tool_call>\n{}\n</tool_call>"]))
def test_a_call_as_data_comes_back_as_it_was_sent(call: Call, frame: str) -> None:
    if mentions_marks(call):
        return
    name, args, kwargs = call
    data = json.dumps({"api_name": name, "args": args, "kwargs": kwargs})
    assert repr(parsed(frame.replace("{}", data))) == repr(call)


def survives(response: str) -> None:
    for known in (None, KNOWN):
        try:
            found = ResponseParser(known).parse(response)
        except ResponseParsingError as error:
            assert str(error)
        else:
            assert isinstance(found["api_name"], str)
            assert isinstance(found["args"], list)
            assert all(isinstance(key, str) for key in found["kwargs"])
            assert all(isinstance(text, str) for text in found["context"])


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200) | st.text("()[]{}\"'`,=:\\#\n abfx1.<>/-“’", max_size=200))
def test_no_text_breaks_it(response: str) -> None:
    survives(response)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(calls, st.sampled_from(FRAMES), st.data())
def test_no_mutation_of_a_good_response_breaks_it(call: Call, frame: str, data: st.DataObject) -> None:
    response = frame.replace("{}", as_python(call, repr))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(response)))
        cut = data.draw(st.integers(0, 5))
        response = (
            response[:at] + data.draw(st.text("()[]{}\"'`,=\\\n a<>", max_size=3)) + response[at + cut :]
        )
    survives(response)


@pytest.mark.parametrize(
    "piece",
    ["(", "a(", "f([", 'f("', "```", "```\nf(", '```\nexec_shell("a"b', "<tool_call>{", "[{", '{"a":', "\\", "a",
     'exec_shell(\\"', "\nAction:", "Action: f\nAction Input: ", "<think>", "</think>", "exec_shell(“", "\nexec_shell(1,",
     '\nexec_shell("a" b ', '\nexec_shell("""```', '\nexec_shell("a"b", "c", ', "f(#\n", "x = ", " (", "exec_shell(0x"],
)  # fmt: skip
def test_no_repetition_keeps_it_busy(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is counted, not timed: however often a piece is repeated, no more calls and repairs are tried than allowed."""
    tried = {"reads": 0, "repairs": 0}

    def counting(kind: str, function: Any) -> Any:
        def counted(*args: Any) -> Any:
            tried[kind] += 1
            return function(*args)

        return counted

    monkeypatch.setattr(search, "read_call", counting("reads", search.read_call))
    monkeypatch.setattr(search, "repair_call", counting("repairs", search.repair_call))
    survives((piece * 200_000)[:200_000])
    assert tried["repairs"] <= 2 * 10
    assert tried["reads"] <= 2 * (2000 + 10 * 9)
