"""Which pods a controller gives up first, and when a pod counts as available."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import ApiError, BadRequest
from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.controllers.pods import available_in, first_to_go, is_available, slow_start

NOW_S = 1_800_000_000.0


def pod(
    name: str,
    *,
    node: str = "a",
    phase: str = "Running",
    ready_for_s: float | None = 100,
    age_s: float = 200,
    cost: str = "0",
    restarts: int = 0,
) -> dict[str, Any]:
    ready = {"type": "Ready", "status": "False" if ready_for_s is None else "True"}
    if ready_for_s is not None:
        ready["lastTransitionTime"] = rfc3339(NOW_S - ready_for_s)
    return {
        "metadata": {
            "name": name,
            "uid": name,
            "creationTimestamp": rfc3339(NOW_S - age_s),
            "annotations": {"controller.kubernetes.io/pod-deletion-cost": cost},
        },
        "spec": {"nodeName": node} if node else {},
        "status": {
            "phase": phase,
            "conditions": [ready],
            "containerStatuses": [{"restartCount": restarts}],
        },
    }


IN_ORDER = [
    (
        pod("unscheduled", node="", phase="Pending", ready_for_s=None),
        pod("pending", phase="Pending", ready_for_s=None),
    ),
    (pod("pending", phase="Pending", ready_for_s=None), pod("not-ready", ready_for_s=None)),
    (pod("not-ready", ready_for_s=None), pod("ready")),
    (pod("cheap", cost="-1"), pod("usual")),
    (pod("usual"), pod("dear", cost="100")),
    (pod("ready-later", ready_for_s=10), pod("ready-earlier", ready_for_s=100)),
    (pod("restarted", restarts=3), pod("never")),
    (pod("younger", age_s=110), pod("older", age_s=500)),
    # Ages of one power of two count as equal: the uid decides, not the age.
    (pod("a", ready_for_s=101), pod("b", ready_for_s=100)),
]


@pytest.mark.parametrize(("first", "second"), IN_ORDER)
def test_the_less_useful_goes_first(first: dict[str, Any], second: dict[str, Any]) -> None:
    for pods in ([first, second], [second, first]):
        assert [one["metadata"]["name"] for one in first_to_go(pods, [], NOW_S)] == [
            first["metadata"]["name"],
            second["metadata"]["name"],
        ]


def test_the_crowded_node_gives_first() -> None:
    pods = [pod("alone", node="b"), pod("one", node="a"), pod("two", node="a")]
    assert first_to_go(pods, pods, NOW_S)[-1]["metadata"]["name"] == "alone"


def test_a_bad_cost_is_none() -> None:
    pods = [pod("odd", cost="much"), pod("cheap", cost="-1")]
    assert first_to_go(pods, [], NOW_S)[0]["metadata"]["name"] == "cheap"


def test_a_pod_is_available_after_its_time() -> None:
    assert available_in(pod("p", ready_for_s=3), 10, NOW_S) == 7
    assert is_available(pod("p", ready_for_s=10), 10, NOW_S)
    assert is_available(pod("p", ready_for_s=0), 0, NOW_S)
    assert not is_available(pod("p", ready_for_s=None), 0, NOW_S)


@given(count=st.integers(0, 100), fails_at=st.integers(0, 120))
def test_a_refusal_ends_a_slow_start_with_its_batch(count: int, fails_at: int) -> None:
    tried: list[int] = []

    def make(number: int) -> None:
        tried.append(number)
        if number == fails_at:
            raise BadRequest("no")

    if fails_at >= count:
        slow_start(count, make)
        assert tried == list(range(count))
        return
    with pytest.raises(ApiError):
        slow_start(count, make)
    batches = [2**n - 1 for n in range(8)]
    assert tried == list(range(min(count, next(end for end in batches if end > fails_at))))
