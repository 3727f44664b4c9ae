"""The runbook agent finds and repairs what its runbook knows, through the actions alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aiopslab.agents.runbook import Runbook
from aiopslab.agents.runbook.causes import find_drift
from aiopslab.agents.runbook.cluster_causes import (
    Cause,
    find_closed_nodes,
    find_flapping_nodes,
    find_refused_pods,
)
from aiopslab.agents.runbook.survey import Survey, parse_lines
from aiopslab.orchestrator.stages import Stages, run_episode

SEED = 41
MIXED = '{"kind":"Pod","name":"a"}\n{"t":"2026-01-05","c":"NETWORK"}\n{"kind":"Pod","na\nplain'


def test_only_whole_objects_of_its_own_are_read() -> None:
    assert list(parse_lines(MIXED)) == [{"kind": "Pod", "name": "a"}]


def test_a_callee_that_fails_because_of_its_own_callee_is_not_blamed() -> None:
    errors = [
        {"service": "frontend", "peer": "search", "value": 10.0},
        {"service": "search", "peer": "geo", "value": 10.0},
    ]
    assert Survey(calls={"Calls": errors, "Errors": errors}).bad_callees == ("geo",)


DRIFTED = """diff -u -N /tmp/LIVE-1/apps.v1.Deployment.shop.profile /tmp/MERGED-2/apps.v1.Deployment.shop.profile
--- /tmp/LIVE-1/apps.v1.Deployment.shop.profile
+++ /tmp/MERGED-2/apps.v1.Deployment.shop.profile
       - command:
-        - geo
+        - profile
"""


@pytest.mark.parametrize(
    ("calls", "suspected"), [({}, ["profile"]), ({"Served": [{"service": "geo", "value": 1.0}]}, [])]
)
def test_without_metrics_error_lines_say_which_drift_matters(
    calls: dict[str, list[dict[str, Any]]], suspected: list[str]
) -> None:
    seen = Survey(calls=calls, deployments={name: {"wanted": 1, "ready": 1} for name in ("profile", "geo")})
    seen.logs["frontend"] = {"count": 40, "last": "\x1b[31mERR\x1b[0m SearchHandler GetProfiles failed"}
    look = find_drift(seen, "shop")
    next(look)
    with pytest.raises(StopIteration) as done:
        look.send(DRIFTED)
    assert [name for cause in done.value.value for name in cause.components] == suspected


def test_a_cause_says_where_it_is() -> None:
    assert str(Cause(("geo",), "Application", "Code Defect", "it crashes")) == "geo: it crashes"


def make_survey(message: str = "", **node: Any) -> Survey:
    """Return a survey of one Deployment with one pod, which a message concerns, and one node."""
    return Survey(
        deployments={"geo": {"wanted": 1, "ready": 0, "failures": [message]}},
        pods=[{"name": "geo-1-a", "owner": "geo-1", "phase": "Pending", "ready": False, "message": message}],
        nodes={"kind-worker": {"unschedulable": False, "taints": [], "trouble": []} | node},
    )


@pytest.mark.parametrize(
    ("message", "fix"),
    [
        ('pods "geo-1-a" is forbidden: exceeded quota: small, requested: pods=1', "kubectl -n shop delete resourcequota small"),
        ('pods "geo-1-a" is forbidden: violates PodSecurity "restricted:latest"', "kubectl label namespace shop pod-security.kubernetes.io/enforce-"),
        ("ValidatingAdmissionPolicy 'tags' with binding 'tags-all' denied request", "kubectl delete validatingadmissionpolicybinding tags-all"),
        ('pods "geo-1-a" is forbidden: error looking up service account', None),
    ],
)  # fmt: skip
def test_the_rule_that_refuses_pods_is_removed(message: str, fix: str | None) -> None:
    causes = list(find_refused_pods(make_survey(message), "shop"))
    assert [cause.repair for cause in causes] == ([(fix,)] if fix else [])


def test_nodes_are_opened_only_for_pods_that_wait_for_them() -> None:
    full = "0/1 nodes are available: 1 Insufficient cpu."
    closed = "0/1 nodes are available: 1 node(s) were unschedulable."
    assert not list(find_closed_nodes(make_survey(full, unschedulable=True)))
    (cause,) = find_closed_nodes(make_survey(closed, unschedulable=True, taints=["team=a:NoSchedule"]))
    assert (cause.components, cause.repair) == (("geo",), ("kubectl uncordon kind-worker",))


def test_a_node_that_comes_and_goes_is_suspected_while_it_is_there() -> None:
    seen = make_survey()
    assert not list(find_flapping_nodes(seen, "shop"))
    seen.lost_nodes = {"kind-worker": 2, "kind-worker9": 1}
    assert not list(find_flapping_nodes(seen, "shop")), "all nodes were lost: the cluster was started"
    seen.nodes["kind-worker2"] = seen.nodes["kind-worker"]
    assert [cause.components for cause in find_flapping_nodes(seen, "shop")] == [("kind-worker",)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "pid",
    [
        "misconfig_app_hotel_res-mitigation-1",
        "scale_pod_zero_social_net-mitigation-1",
        "k8s_target_port-misconfig-analysis-2",
        "revoke_auth_mongodb-localization-2",
        "noop_detection_hotel_reservation-1",
    ],
)
def test_it_solves_problems_of_the_public_release(pid: str, tmp_path: Path) -> None:
    with Stages(SEED) as stages, stages.episode(pid) as world:
        done: dict[str, Any] = world.call(run_episode, Runbook, "runbook", results=tmp_path)
    assert done["results"]["success"], done["results"]
