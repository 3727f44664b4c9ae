"""What holds for every kind: sound objects pass, and no edit of one makes a rule fail to answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.objects import Object
from tests.simcloud.kubernetes.api.validation.examples import (
    EXAMPLES,
    GONE,
    edited,
    on_create,
    on_update,
    places,
    warnings,
)

TEXTS = st.sampled_from(
    [
        "",
        "*",
        "/",
        "..",
        "a/b/c",
        "None",
        "10.0.0.1",
        "010.0.0.1",
        "::1",
        "10.0.0.0/8",
        "-1",
        "5%",
        "é\x00",
        "a" * 300,
    ]
) | st.text(max_size=12)
NUMBERS = st.sampled_from([-(2**31), -1, 0, 1, 70000, 2**31 - 1, 2**63 - 1])


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_sound_object_passes(kind: str) -> None:
    obj = EXAMPLES[kind]
    assert on_create(obj) == []
    assert on_update(obj, obj) == []
    assert warnings(obj) == []


def _other(draw: st.DrawFn, value: Any) -> Any:
    """Another value of the same JSON type, or nothing."""
    if draw(st.integers(0, 3)) == 0:
        return GONE
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return draw(NUMBERS)
    if isinstance(value, str):
        return draw(TEXTS)
    if isinstance(value, list):
        return draw(st.sampled_from([[], value * 2, value[:1] * 40]))
    return draw(st.sampled_from([{}, {draw(TEXTS): one for one in list(value.values())[:1]}, value]))


@st.composite
def edits(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    """One or two edits of a kind's example that keep JSON types."""
    obj = EXAMPLES[kind]
    all_places = [place for place in places(obj) if place[0] not in ("apiVersion", "kind", "metadata")]
    if not all_places:
        return {}
    place = draw(st.sampled_from(all_places))
    value: Any = obj
    for step in place:
        value = value[int(step)] if isinstance(value, list) else value[step]
    other = _other(draw, value)
    if other is GONE and place[-1].isdigit():
        return {}
    return {"/".join(place): other}


@pytest.mark.parametrize("kind", EXAMPLES)
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_no_edit_breaks_a_rule_itself(kind: str, data: st.DataObject) -> None:
    old = EXAMPLES[kind]
    new = edited(old, data.draw(edits(kind)))
    for told in (on_create(new), on_update(new, old), on_update(old, new)):
        assert all(": " in sentence for sentence in told)
    assert all(isinstance(told, str) for told in warnings(new, old) + warnings(new))


RECORDED = json.loads((Path(__file__).parent / "data" / "recorded_objects.json").read_text())


@pytest.mark.parametrize("obj", RECORDED, ids=lambda obj: f"{obj['kind']}-{obj['metadata']['name']}")
def test_what_a_real_cluster_holds_passes(obj: Object) -> None:
    assert on_create(obj) == on_update(obj, obj) == warnings(obj) == []
