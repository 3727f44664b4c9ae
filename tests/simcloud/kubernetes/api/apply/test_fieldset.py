import copy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.apply.fieldset import (
    difference,
    format_path,
    has,
    intersection,
    parse,
    paths,
    recursive_difference,
    union,
)

STEPS = st.sampled_from(
    ["f:a", "f:b", 'k:{"name":"x"}', 'k:{"port":443}', 'k:{"port":80}', 'v:"x"', "v:3", "i:0", "i:10"]
)
PATHS = st.lists(STEPS, min_size=1, max_size=4).map(tuple)


def _set_of(members: Any) -> dict[str, Any]:
    """A set from its paths, as a client would write it."""
    fields: dict[str, Any] = {}
    for path in members:
        node = fields
        for step in path:
            node = node.setdefault(step, {})
        node["."] = {}
    return parse(fields)


# Copies, because sets that share parts take shorter ways.
SETS = st.lists(PATHS, max_size=8).map(_set_of).map(copy.deepcopy)


@given(st.lists(PATHS, max_size=8))
def test_a_set_has_the_paths_it_was_made_of(members: list[tuple[str, ...]]) -> None:
    fields = _set_of(members)
    assert set(paths(fields)) == set(members)
    assert all(has(fields, path) for path in members)
    assert len(list(paths(fields))) == len(set(members))


@given(SETS)
def test_canonical_form_is_stable(fields: dict[str, Any]) -> None:
    assert repr(parse(fields)) == repr(fields)


@given(SETS, SETS)
def test_operations_are_those_of_sets(left: dict[str, Any], right: dict[str, Any]) -> None:
    ours, theirs = set(paths(left)), set(paths(right))
    assert repr(union(left, right)) == repr(_set_of(ours | theirs))
    assert repr(difference(left, right)) == repr(_set_of(ours - theirs))
    assert repr(intersection(left, right)) == repr(_set_of(ours & theirs))
    below = {path for path in ours if any(path[: len(other)] == other for other in theirs)}
    assert repr(recursive_difference(left, right)) == repr(_set_of(ours - below))


def test_canonical_order() -> None:
    fields = {
        "i:1": {},
        'v:"x"': {},
        'k:{"port":443}': {},
        'k:{"port":80}': {},
        "f:b": {},
        "f:a": {"f:c": {}, ".": {}},
    }
    told = parse(fields)
    assert list(told) == ["f:a", "f:b", 'k:{"port":80}', 'k:{"port":443}', 'v:"x"', "i:1"]
    assert list(told["f:a"]) == [".", "f:c"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("f:data", "f:key"), ".data.key"),
        (("f:spec", 'k:{"containerPort":80,"protocol":"TCP"}'), '.spec[containerPort=80,protocol="TCP"]'),
        (("f:metadata", "f:finalizers", 'v:"a"'), '.metadata.finalizers[="a"]'),
        (("f:list", "i:3"), ".list[3]"),
    ],
)
def test_printed(path: tuple[str, ...], text: str) -> None:
    assert format_path(path) == text


@pytest.mark.parametrize("told", [[], "x", {"f:a": 1}, {"k:{": {}}, {"k:[]": {}}, {"v:x": {}}])
def test_what_is_no_set(told: Any) -> None:
    with pytest.raises(ValueError):
        parse(told)


def test_unknown_steps_are_left_out() -> None:
    assert parse({"x:y": {}, "f:a": {}}) == {"f:a": {}}
