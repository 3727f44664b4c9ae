"""The patch of an apply, for any manifests: what is wanted is there after it, and what others set stays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from simcloud.kubectl.apply.three_way import merge_three_way
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.resources import Catalogue
from simcloud.kubernetes.api.schema import ANYTHING
from simcloud.kubernetes.api.verbs.patches import apply_patch

DEPLOYMENTS = Catalogue().find("deployments", "apps")
NAMES = st.sampled_from(["a", "b", "c", "d"])
PAIRS = st.dictionaries(NAMES, st.sampled_from(["1", "2"]), max_size=3)
VARIABLES = st.lists(
    st.fixed_dictionaries({"name": NAMES, "value": st.sampled_from(["1", "2"])}),
    max_size=4,
    unique_by=lambda one: one["name"],
)
CONTAINERS = st.lists(
    st.fixed_dictionaries({"name": NAMES, "image": st.sampled_from(["x", "y"]), "env": VARIABLES}),
    min_size=1,
    max_size=3,
    unique_by=lambda one: one["name"],
)


@st.composite
def manifests(draw: st.DrawFn) -> Object:
    return {
        "metadata": {"name": "web", "labels": draw(PAIRS), "annotations": draw(PAIRS)},
        "spec": {"template": {"spec": {"containers": draw(CONTAINERS)}}},
    }


def holds(wanted: Any, live: Any) -> bool:
    """Whether everything wanted is there; lists of named things by their names and in their order."""
    if isinstance(wanted, dict):
        return all(key in live and holds(value, live[key]) for key, value in wanted.items())
    if isinstance(wanted, list):
        names = [item["name"] for item in wanted]
        there = [item for item in live if item["name"] in names]
        return [item["name"] for item in there] == names and all(map(holds, wanted, there))
    return bool(wanted == live)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(manifests(), manifests(), manifests())
def test_what_is_wanted_is_there_and_what_was_left_out_is_gone(
    original: Object, wanted: Object, live: Object
) -> None:
    change = merge_three_way(DEPLOYMENTS, original, wanted, live)
    assert change.type is PatchType.STRATEGIC
    result = apply_patch(DEPLOYMENTS, copy(live), change)
    assert holds(wanted, result)
    for part in ("labels", "annotations"):
        before, now = original["metadata"][part], wanted["metadata"][part]
        assert not [key for key in before if key not in now and key in result["metadata"][part]]
        others = {key for key in live["metadata"][part] if key not in before}
        assert others <= result["metadata"][part].keys()


@settings(max_examples=50, deadline=None)
@given(manifests(), PAIRS)
def test_applying_the_same_again_changes_nothing(wanted: Object, others: dict[str, str]) -> None:
    live = copy(wanted)
    live["metadata"]["labels"] = {**others, **wanted["metadata"]["labels"]}
    live["status"] = {"replicas": 1}
    assert merge_three_way(DEPLOYMENTS, wanted, wanted, live).body == {}


def test_an_item_that_others_have_added_stays_and_is_put_in_order_at_every_apply() -> None:
    wanted = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "x"}]}}}}
    live = copy(wanted)
    live["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "y"})
    change = merge_three_way(DEPLOYMENTS, wanted, wanted, live)
    order = {"$setElementOrder/containers": [{"name": "web"}]}
    assert change.body == {"spec": {"template": {"spec": order}}}
    assert apply_patch(DEPLOYMENTS, copy(live), change) == live


def test_of_a_kind_that_is_not_built_in_the_patch_is_a_plain_merge() -> None:
    widgets = replace(DEPLOYMENTS, schema=ANYTHING, custom={})
    change = merge_three_way(
        widgets,
        {"spec": {"gone": 1, "kept": 1}},
        {"spec": {"kept": 2, "list": [1]}},
        {"spec": {"gone": 1, "kept": 1, "other": 1, "list": [1, 2]}},
    )
    assert change.type is PatchType.MERGE
    assert change.body == {"spec": {"gone": None, "kept": 2, "list": [1]}}
