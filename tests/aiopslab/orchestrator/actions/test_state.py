"""The state of the whole: topology, events, alerts, changes, runbooks; bounded and the same every time."""

from __future__ import annotations

import re

import pytest

from aiopslab.apps.base import Application
from aiopslab.apps.hotelres import HotelReservation
from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.cloud.environment import Environment
from simcloud.world.copies import Copy
from tests.aiopslab.orchestrator.actions.sessions import HOTEL, SOCIAL, broken, say


def test_topology_is_a_tree_of_calls_and_a_table_of_workloads(hotels: Copy[Environment]) -> None:
    (seen,) = say(hotels, ("get_topology", HOTEL))
    lines = seen.splitlines()
    assert lines[1].split() == ["SERVICE", "REQUESTS/S", "FAILED", "P50", "P99"]
    assert lines[2].startswith("frontend ")
    assert any(line.startswith("│  ├─ geo ") and " 0.0% " in line for line in lines)
    assert re.search(r"^geo +Deployment +1/1 +0 +ok$", seen, re.MULTILINE)
    assert "without ready pods" not in seen


def test_topology_shows_trouble(ill: Copy[Environment]) -> None:
    (seen,) = say(ill, ("get_topology", HOTEL, 1))
    assert re.search(r"^.*search +\d+\.\d+ +100\.0%", seen, re.MULTILINE)
    assert re.search(r"^geo +Deployment +0/0 +0 +scaled to 0$", seen, re.MULTILINE)
    assert re.search(r"^rate +Deployment +\S+ +[1-9]\d* +", seen, re.MULTILINE)
    assert "Services without ready pods: geo" in seen


def test_topology_of_another_namespace_has_its_workloads(hotels: Copy[Environment]) -> None:
    (seen,) = say(hotels, ("get_topology", "kube-system"))
    assert "those of the application are in 'test-hotel-reservation'" in seen
    assert re.search(r"^kube-proxy +DaemonSet +4/4", seen, re.MULTILINE)


def test_events_are_folded_and_the_newest_stands_last(ill: Copy[Environment]) -> None:
    (seen,) = say(ill, ("get_events", HOTEL))
    lines = seen.splitlines()
    assert lines[1].split() == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "COUNT", "MESSAGE"]
    times = [line[:8] for line in lines[2:]]
    assert times == sorted(times)
    assert re.search(r"ScalingReplicaSet +deployment/(\S.*\b)?geo\b.* +\d+ +Scaled down replica set", seen)
    assert re.search(r"Warning +BackOff +pod/rate-\S+ +[1-9]\d* +Back-off restarting failed container", seen)
    assert "consul" not in seen  # what happened weeks ago is gone


def test_warnings_may_stand_first(ill: Copy[Environment]) -> None:
    (seen,) = say(ill, ("get_events", HOTEL, {"warnings_first": "true"}))
    types = [line.split()[1] for line in seen.splitlines()[2:]]
    assert types[0] == "Warning" and types == sorted(types, reverse=True)


def test_a_namespace_without_events_says_so(hotels: Copy[Environment]) -> None:
    (seen,) = say(hotels, ("get_events", "kube-public"))
    assert seen == "There are no events in 'kube-public'; events are kept for an hour."


def test_alerts(hotels: Copy[Environment], ill: Copy[Environment]) -> None:
    assert say(hotels, ("get_alerts",))[0].startswith("No alert is firing or pending at 2026-01-05")
    (seen,) = say(ill, ("get_alerts",))
    assert re.search(rf"critical +HighErrorRate +\S+ .*{HOTEL}/search", seen)


def test_changes_say_who_changed_which_field(ill: Copy[Environment]) -> None:
    (seen,) = say(ill, ("get_changes", HOTEL))
    lines = seen.splitlines()
    assert not any("created 19 deployments" in line for line in lines)  # that was weeks ago
    scaled = next(
        number
        for number, line in enumerate(lines)
        if "changed deployments/geo (by kubernetes-admin, kubectl)" in line
    )
    assert lines[scaled + 1] == "    spec.replicas: 1 -> 0"
    assert (
        "spec.template.metadata.annotations.kubectl.kubernetes.io/restartedAt: (none) -> 2026-01-05T" in seen
    )
    assert "status" not in seen


def test_changes_of_old_are_left_out(hotels: Copy[Environment]) -> None:
    (seen,) = say(hotels, ("get_changes", HOTEL, 1))
    assert seen.startswith("No changes in 'test-hotel-reservation' in the last minute, up to")


def test_changes_show_configuration_line_by_line_and_no_secrets(hotels: Copy[Environment]) -> None:
    patch = """{"data": {"k8s-geo-mongo.sh": "#!/bin/bash\\necho changed\\n"}}"""
    with hotels.branch(
        broken,
        f"kubectl -n {HOTEL} patch configmap mongo-geo-script -p '{patch}'",
        f"kubectl -n {HOTEL} create secret generic door --from-literal=key=OPENSESAME",
        f"""kubectl -n {HOTEL} patch secret door -p '{{"stringData": {{"key": "XYZZY", "more": "PLUGH"}}}}'""",
        f"""kubectl -n {HOTEL} patch svc user --type=json -p '[{{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9999}}]'""",
        f"kubectl -n {HOTEL} delete svc jaeger-out",
    ) as copy:
        (seen,) = say(copy, ("get_changes", HOTEL, 2))
    assert "data.k8s-geo-mongo.sh: + echo changed" in seen
    assert "data.k8s-geo-mongo.sh: - mongo <<EOF" in seen
    assert "data.key: changed" in seen and "data.more: added" in seen
    assert "spec.ports[0].targetPort: 8086 -> 9999" in seen
    assert "deleted services/jaeger-out (by kubernetes-admin)" in seen
    for hidden in ("OPENSESAME", "XYZZY", "PLUGH", "T1BFTlNFU0FNRQ", "WFlaWlk"):
        assert hidden not in seen


def test_runbooks_are_listed_read_and_corrected(hotels: Copy[Environment]) -> None:
    listed, read, wrong = say(
        hotels, ("get_runbook",), ("get_runbook", "database-refuses.md"), ("get_runbook", "databse")
    )
    assert "database-refuses: A database refuses" in listed
    assert "db.grantRolesToUser" in read
    assert "Did you mean 'database-refuses'?" in wrong


@pytest.mark.parametrize("app", [HotelReservation, SocialNetwork])
def test_a_runbook_knows_every_component_and_its_owner(app: type[Application]) -> None:
    rows = app().runbooks["components.md"].splitlines()
    for component in app.components:
        row = next(
            row
            for row in rows
            if component.name in re.split(r"[|,\s]+", row.split("|")[1] if "|" in row else "")
        )
        assert component.owner in row


def test_commands_in_runbooks_work(hotels: Copy[Environment]) -> None:
    check_commands(hotels, HotelReservation())


@pytest.mark.slow
def test_commands_in_the_other_runbooks_work(network: Copy[Environment]) -> None:
    check_commands(network, SocialNetwork())
    (changed,) = say(network, ("get_changes", SOCIAL))
    assert "No changes in 'test-social-network'" in changed  # it was deployed weeks ago


def check_commands(copy: Copy[Environment], app: Application) -> None:
    lines = [
        command
        for text in app.runbooks.values()
        for command in re.findall(r"`((?:kubectl|helm) [^`]*)`", text)
        if not re.search(r"\b[A-Z]{2,}\b|…", command) and "-n test-" in command
    ]
    assert len(lines) > 3
    for line, seen in zip(lines, say(copy, *(("exec_shell", line) for line in lines)), strict=True):
        assert "exit code" not in seen, (line, seen)


EVERYTHING = (
    ("get_topology", HOTEL), ("get_events", HOTEL), ("get_alerts",), ("get_changes", HOTEL), ("get_logs", HOTEL, "mongodb-rate"),
    ("get_metrics", HOTEL), ("read_metrics", "{}/container_memory_rss.csv"), ("get_traces", HOTEL), ("read_traces", "{}"),
    ("search_logs", HOTEL, {"pattern": "."}), ("query_metrics", '{__name__=~".+"}'), ("get_runbook", "slow"),
)  # fmt: skip


def test_the_same_calls_in_two_copies_give_the_same_bytes_and_bounded_ones(ill: Copy[Environment]) -> None:
    first, second = say(ill, *EVERYTHING), say(ill, *EVERYTHING)
    assert first == second
    for seen in first:
        assert 0 < len(seen.encode()) < 20_000
        assert seen.count("\n") < 420
