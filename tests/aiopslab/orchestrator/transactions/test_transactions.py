"""Commands that make the system worse are undone exactly, and the agent learns why; others stay."""

from __future__ import annotations

import pytest

from aiopslab.cloud import Copy, Environment
from tests.aiopslab.orchestrator.transactions.worlds import (
    HOTEL,
    RATES,
    SOCIAL,
    USERS,
    list_actions,
    run,
    undo_by_kubectl,
)

SCALE = f"kubectl -n {HOTEL} scale deploy/geo --replicas=0"
LABEL = f"kubectl -n {HOTEL} label deploy/geo team=search"


def test_a_single_command_that_harms_is_undone_and_another_one_stays(hotel: Copy[Environment]) -> None:
    with hotel.branch() as copy:
        harm = copy.call(run, [SCALE])
        assert not harm.differences
        assert "severity rose" in harm.observations[0] and "deployments/geo" in harm.observations[0]
        assert "as it was before" in harm.observations[0]
        (record,) = harm.records
        assert (record["outcome"], record["undo"], record["left"]) == ("undone", "inverse", [])
        assert record["severity_after"] > record["severity_undone"] + 0.5
        good = copy.call(run, [LABEL])
        assert good.records[0]["outcome"] == "committed"
        assert good.differences == ["deployments/geo changed"]


def test_a_command_is_tried_in_a_copy_and_the_world_stays_untouched(hotel: Copy[Environment]) -> None:
    with hotel.branch() as copy:
        outcome = copy.call(run, [SCALE, LABEL], undo="copy")
    assert [record["outcome"] for record in outcome.records] == ["undone", "committed"]
    assert outcome.records[0]["undo"] == "copy"
    assert outcome.records[0]["began_s"] == outcome.records[0]["ended_s"]
    assert outcome.differences == ["deployments/geo changed"]


def test_an_abort_restores_objects_rows_users_rules_and_files(hotel: Copy[Environment]) -> None:
    node = (
        "iptables -I FORWARD 1 -p tcp --dport 8083 -j DROP; tc qdisc add dev eth0 root netem delay 50ms; "
        "sysctl -w net.ipv4.ip_forward=0; echo 1.2.3.4 x >> /etc/hosts; mkdir -p /opt/a/b; rm /etc/crictl.yaml; systemctl stop kubelet"
    )
    calls = [
        "begin",
        f"{RATES} 'db.inventory.deleteMany({{}}); db.notes.insertOne({{a: 1}}); db.inventory.dropIndex(\"hotelId_1\")'",
        f'{USERS} \'db.dropUser("admin"); db.createUser({{user: "x", pwd: "y", roles: []}})\'',
        f"ssh kind-worker '{node}'",
        f"kubectl -n {HOTEL} delete deploy/geo svc/geo",
        f"kubectl -n {HOTEL} set image deploy/rate hotel-reserv-rate=none:1",
        f"kubectl -n {HOTEL} create configmap extra --from-literal=a=b",
        f"kubectl -n {HOTEL} label pod -l io.kompose.service=user io.kompose.service=other --overwrite",
        "kubectl taint node kind-worker2 a=b:NoSchedule",
        "kubectl create namespace other",
        "abort",
    ]
    with hotel.branch() as copy:
        outcome = copy.call(run, calls)
    assert not [text for text in outcome.observations if text.startswith("INVALID")]
    assert not outcome.differences
    (record,) = outcome.records
    assert (record["outcome"], len(record["commands"]), record["left"]) == ("aborted", 9, [])
    assert record["severity_undone"] < record["severity_before"] + 0.1


@pytest.mark.slow
def test_redis_and_databases_without_a_volume_are_restored(network: Copy[Environment]) -> None:
    redis = f"kubectl -n {SOCIAL} exec deploy/home-timeline-redis -- redis-cli"
    ask = f"{redis} zrange mine 0 -1 withscores; {redis} hgetall other; {redis} get note; {redis} config get maxmemory"
    calls = [
        f"{redis} zadd mine 1 a 2 'b c' 3 d",
        f"{redis} hset other x 1 y 2",
        ask,
        "begin",
        f"{redis} del mine other",
        f"{redis} set note 'a b'",
        f"{redis} config set maxmemory 1mb",
        f"kubectl -n {SOCIAL} exec deploy/user-mongodb -- mongo user --quiet --eval 'db.user.deleteMany({{}})'",
        f"kubectl -n {SOCIAL} delete pod -l app=url-shorten-mongodb",
        "abort",
        ask,
    ]
    with network.branch() as copy:
        outcome = copy.call(run, calls)
    assert outcome.records[-1]["left"] == []
    assert outcome.observations[2] == outcome.observations[-1]
    assert "b c" in outcome.observations[2]
    assert not outcome.differences


def test_the_inverse_needs_no_more_than_a_real_cluster_has(hotel: Copy[Environment]) -> None:
    lines = [
        SCALE,
        f"kubectl -n {HOTEL} delete svc/search",
        "ssh kind-worker iptables -A INPUT -s 1.2.3.4 -j DROP",
    ]
    with hotel.branch() as copy:
        left, differences = copy.call(undo_by_kubectl, lines)
    assert not left and not differences


def test_rules_of_transactions(hotel: Copy[Environment]) -> None:
    calls = [
        "commit",
        "begin",
        "begin",
        LABEL,
        LABEL,
        "kubectl get pods -A",
        f"kubectl -n {HOTEL} delete pvc geo-pvc",
        "commit",
    ]
    with hotel.branch() as copy:
        outcome = copy.call(run, calls, max_commands=1)
    assert outcome.observations[0] == "INVALID: No transaction is open. Call begin_transaction first."
    assert "may have 1 commands" in outcome.observations[1]
    assert "only one at a time" in outcome.observations[2]
    assert "labeled" in outcome.observations[3]
    assert "has its 1 commands" in outcome.observations[4]
    assert "NAMESPACE" in outcome.observations[5]
    assert outcome.observations[6].startswith("INVALID: Refused: kubectl delete pvc")
    assert "was committed" in outcome.observations[7]
    assert outcome.records[0]["commands"] == [LABEL]


def test_rows_of_users_survive_an_undo(hotel: Copy[Environment]) -> None:
    count = f"kubectl -n {HOTEL} exec deploy/mongodb-reservation -- mongo reservation-db --quiet --eval"
    ask = f"{count} 'db.reservation.count()'"
    calls = [ask, "begin", f"{count} 'db.reservation.insertOne({{a: 1}})'", "sleep 50", "abort", ask]
    with hotel.branch() as copy:
        outcome = copy.call(run, calls)
    before, after = int(outcome.observations[0]), int(outcome.observations[-1])
    assert after > before, "users made reservations meanwhile, and they stay"


def test_the_actions_are_offered_only_with_transactions(hotel: Copy[Environment]) -> None:
    with hotel.branch() as copy:
        assert not [name for name in copy.call(list_actions) if "transaction" in name]
