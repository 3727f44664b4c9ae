"""What a person types, and what is meant by it."""

from __future__ import annotations

import pytest

from aiopslab.cli.typed_calls import add_fence, parse_line
from aiopslab.orchestrator.parser import ResponseParser

ACTIONS = ("get_logs", "get_metrics", "exec_shell", "submit")

CASES = [
    ("submit Yes", "detection", "submit", ["Yes"]),
    ("submit 'No'", "detection", "submit", ["No"]),
    ('submit("Yes")', "detection", "submit", ["Yes"]),
    ("submit user-service", "localization", "submit", [["user-service"]]),
    ("submit a, b c", "localization", "submit", [["a", "b", "c"]]),
    ('submit ["a", "b"]', "localization", "submit", [["a", "b"]]),
    ("submit", "localization", "submit", [[]]),
    ("submit", "mitigation", "submit", []),
    ("submit it is done", "mitigation", "submit", []),
    ("submit", "finops", "submit", []),
    ("submit geo, rate: wrong port", "incident", "submit", ["wrong port", ["geo", "rate"]]),
    ("submit None", "prediction", "submit", [None]),
    (
        "submit geo / disk full / 90",
        "prediction",
        "submit",
        [{"component": "geo", "failure": "disk full", "within_min": 90}],
    ),
    (
        "submit virtualization / network/storage issue",
        "analysis",
        "submit",
        [{"system_level": "Virtualization", "fault_type": "Network/Storage Issue"}],
    ),
    ("get_logs ns 'my service'", "detection", "get_logs", ["ns", "my service"]),
    ("get_metrics ns 10", "detection", "get_metrics", ["ns", 10]),
    ('get_logs("ns", "s")', "detection", "get_logs", ["ns", "s"]),
    ("kubectl get pods -A | grep 'a\"b'", "detection", "exec_shell", ["kubectl get pods -A | grep 'a\"b'"]),
    ("exec_shell kubectl get ns", "detection", "exec_shell", ["kubectl get ns"]),
    ("f() { ls; }; f", "detection", "exec_shell", ["f() { ls; }; f"]),
    ("echo $(date)", "detection", "exec_shell", ["echo $(date)"]),
    ("echo 'ünfinished", "detection", "exec_shell", ["echo 'ünfinished"]),
]


@pytest.mark.parametrize(("line", "task", "name", "args"), CASES, ids=[case[0] for case in CASES])
def test_a_typed_line_is_a_call(line: str, task: str, name: str, args: list[object]) -> None:
    call = ResponseParser().parse(add_fence(parse_line(line, ACTIONS, task)))
    assert (call["api_name"], call["args"]) == (name, args)
