"""JSONPath: bounds, and whatever is typed. What it prints is compared in tests/simcloud/kubectl/printing."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings, strategies as st

from simcloud.kubectl.jsonpath import JsonPath, JsonPathError
from simcloud.kubectl.jsonpath.parser import complete_path
from tests.simcloud.kubectl.canned import objects

ODD = objects()["widgets.example.com"][0]
PIECES = [
    "{", "}", "[", "]", "(", ")", ".", "..", "*", "?", "@", "$", ",", ":", "'", '"', "\\", " ", "\n", "-", "+",
    "==", "!=", "<", ">=", "range ", "end", "true", "1", "2.5", "spec", "people", "name", "nums", "zzz", "é",
    "{.spec.people[*]}", "{range .spec.nums[*]}", "{end}", "[?(@.name==", "[-1]", "[::2]", '"\\n"', "{..name}",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=14).map("".join), st.booleans())
@settings(max_examples=600, deadline=None)
@example('{range .a}{"\\', True)
@example("{.spec.people[?(@.name==')]}", True)
def test_any_text_prints_something_or_is_refused(template: str, as_json: bool) -> None:
    try:
        assert isinstance(JsonPath(template).evaluate_with_details(ODD, as_json=as_json), str)
    except JsonPathError as error:
        assert str(error)


def _nested(depth: int) -> list[object]:
    return [_nested(depth - 1)] * 4 if depth else [1, 2, 3]


def test_ranges_that_multiply_come_to_an_end() -> None:
    with pytest.raises(JsonPathError, match="touches more than"):
        JsonPath("{range .spec.nums[*]}" + "{range @[*]}" * 12).text({"spec": {"nums": _nested(12)}})
    with pytest.raises(JsonPathError, match=r"touches more than|inside each other"):
        JsonPath("{range @}" * 5000).text(ODD)
    with pytest.raises(JsonPathError, match="touches more than"):
        JsonPath("{..[*]..[*]..[*]..[*]..[*]}").text(_nested(7))


def test_what_is_printed_is_bounded() -> None:
    with pytest.raises(JsonPathError, match="prints more than"):
        JsonPath("{range [*]}{range [*]}{@}").text([["x" * 100_000] * 700])


def test_a_map_is_walked_in_the_order_of_its_keys() -> None:
    assert JsonPath("{.*}").text({"b": 2, "a": 1, "c": 3}) == "1 2 3"


@pytest.mark.parametrize("path", ["metadata.name", ".metadata.name", "{metadata.name}", "{.metadata.name}"])
def test_a_path_may_go_without_braces_and_dot(path: str) -> None:
    assert complete_path(path) == "{.metadata.name}"


def test_a_path_with_braces_inside_is_refused() -> None:
    with pytest.raises(JsonPathError, match="unexpected path string, expected a"):
        complete_path("{.a}{.b}")
