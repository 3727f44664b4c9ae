import copy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.patch import merge_patch


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        # The examples of RFC 7386 that have an object for a patch.
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"spec": {"type": "ClusterIP"}}, {"spec": {"type": "NodePort"}}, {"spec": {"type": "NodePort"}}),
    ],
)
def test_merges(document: Any, patch: Any, expected: Any) -> None:
    before = copy.deepcopy((document, patch))
    assert merge_patch(document, patch) == expected
    assert (document, patch) == before


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (
            [],
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (
            3,
            "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}",
        ),
        (None, "Invalid JSON Patch"),
    ],
)
def test_what_is_no_object(patch: Any, message: str) -> None:
    with pytest.raises(ApiError) as refused:
        merge_patch({}, patch)
    assert (refused.value.code, refused.value.message) == (400, message)


JSON = st.recursive(
    st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("ab", max_size=2), JSON, max_size=4)


def _diff(before: Any, after: Any) -> Any:
    """A merge patch that turns one object into another."""
    patch: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        there = before.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            patch[key] = _diff(there, value)
        elif value != there or type(value) is not type(there):
            patch[key] = value
    return patch


@given(OBJECTS, OBJECTS)
def test_a_difference_turns_one_into_the_other(before: Any, after: Any) -> None:
    assert merge_patch(before, _diff(before, after)) == after


@given(OBJECTS)
def test_an_empty_patch_changes_nothing(document: Any) -> None:
    assert merge_patch(document, {}) == document
