from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, strategies as st

from simcloud.telemetry.call_tree import build_call_tree


def services(*names: str, **requests: int) -> list[dict[str, Any]]:
    return [{"service": name, "requests": requests.get(name, 1)} for name in names]


def call(parent: str, child: str, requests: int = 1) -> dict[str, Any]:
    return {"parent": parent, "child": child, "requests": requests}


def drawn(*args: list[dict[str, Any]]) -> list[str]:
    return [f"{line.guide}{line.service}{'*' if line.is_again else ''}" for line in build_call_tree(*args)]


def test_front_doors_stand_above_what_they_call_and_busy_ones_first() -> None:
    calls = [call("front", "geo", 3), call("front", "rate", 9), call("rate", "db", 2), call("other", "db")]
    assert drawn(services("front", "geo", "rate", "db", "other", front=20), calls) == [
        "front",
        "├─ rate",
        "│  └─ db",
        "└─ geo",
        "other",
        "└─ db",
    ]


def test_a_service_is_drawn_in_full_nearest_to_the_door() -> None:
    calls = [call("front", "a", 9), call("a", "b"), call("front", "b", 1), call("b", "c")]
    assert drawn(services("front", "a", "b", "c"), calls) == [
        "front",
        "├─ a",
        "│  └─ b*",
        "└─ b",
        "   └─ c",
    ]


def test_a_circle_ends() -> None:
    calls = [call("a", "b"), call("b", "c"), call("c", "a")]
    assert drawn(services("a", "b", "c", b=5), calls) == ["b", "└─ c", "   └─ a", "      └─ b*"]


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), unique=True))
def test_every_call_is_drawn_once_whatever_calls_whom(pairs: list[tuple[str, str]]) -> None:
    edges = [pair for pair in pairs if pair[0] != pair[1]]
    names = sorted({name for edge in edges for name in edge})
    lines = build_call_tree(services(*names), [call(*edge) for edge in edges])
    below = [(line.figures["parent"], line.service) for line in lines if line.guide]
    assert sorted(below) == sorted(edges)
    assert {line.service for line in lines} == set(names)


def test_calls_may_be_nested_deeply() -> None:
    names = [f"s{number:04}" for number in range(3000)]
    calls = [call(*pair) for pair in pairwise(names)]
    assert len(build_call_tree(services(*names), calls)) == 3000
