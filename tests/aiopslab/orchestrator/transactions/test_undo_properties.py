"""Whatever commands a transaction has, an abort restores objects, rows, rules and files."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings, strategies as st

from aiopslab.cloud import Copy, Environment
from tests.aiopslab.orchestrator.transactions.worlds import HOTEL, RATES, SOCIAL, USERS, run

KUBECTL = f"kubectl -n {HOTEL}"
WORKLOADS = ("geo", "rate", "search", "frontend", "consul", "memcached-rate", "mongodb-geo")
NODES = ("kind-worker", "kind-worker2", "kind-worker3")
FIELDS = (
    '{"spec": {"template": {"spec": {"nodeName": "nowhere"}}}}',
    '{"spec": {"template": {"metadata": {"labels": {"tier": "x"}}}}}',
    '{"metadata": {"annotations": {"note": "y"}, "labels": {"io.kompose.service": null}}}',
)
ROWS = (
    'db.inventory.deleteMany({hotelId: {$in: ["1", "2"]}})',
    'db.inventory.updateMany({}, {$set: {code: "X"}})',
    'db.inventory.insertOne({hotelId: "999"})',
    "db.inventory.createIndex({code: 1})",
    "db.inventory.drop()",
)
USER_CHANGES = (
    'db.revokeRolesFromUser("admin", [{role: "readWrite", db: "rate-db"}])',
    'db.changeUserPassword("admin", "other")',
    'db.createUser({user: "new", pwd: "new", roles: ["read"]})',
)
NODE_LINES = (
    "iptables -I INPUT 1 -s 10.9.8.7 -j DROP",
    "iptables -F FORWARD",
    "tc qdisc replace dev eth0 root netem delay 20ms loss 1%",
    "sysctl -w net.ipv4.ip_forward=0",
    "systemctl stop kubelet",
    "sed -i s/127/128/ /etc/hosts",
    "mv /etc/crictl.yaml /tmp/crictl.old",
    "mkdir -p /opt/x/y && touch /opt/x/y/z",
    "chmod 600 /etc/hosts",
)
MANIFEST = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "extra"}, "data": {"a": "b"}}'
QUOTA = '{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "tight"}, "spec": {"hard": {"pods": "3"}}}'

workloads, nodes = st.sampled_from(WORKLOADS), st.sampled_from(NODES)
hotel_lines = st.one_of(
    st.builds(
        lambda name, count: f"{KUBECTL} scale deploy/{name} --replicas={count}", workloads, st.integers(0, 3)
    ),
    st.builds(
        lambda name, patch: f"{KUBECTL} patch deploy {name} -p '{patch}'", workloads, st.sampled_from(FIELDS)
    ),
    st.builds(
        lambda kind, name: f"{KUBECTL} delete {kind}/{name}", st.sampled_from(("deploy", "svc")), workloads
    ),
    st.builds(lambda text: f"{KUBECTL} apply -f - <<'EOF'\n{text}\nEOF", st.sampled_from((MANIFEST, QUOTA))),
    st.builds(lambda name: f"{KUBECTL} create deployment extra-{name} --image=nginx", workloads),
    st.builds(lambda node: f"kubectl cordon {node}", nodes),
    st.builds(lambda node: f"kubectl taint node {node} a=b:NoSchedule", nodes),
    st.builds(lambda script: f"{RATES} '{script}'", st.sampled_from(ROWS)),
    st.builds(lambda script: f"{USERS} '{script}'", st.sampled_from(USER_CHANGES)),
    st.builds(lambda node, line: f"ssh {node} '{line}'", nodes, st.sampled_from(NODE_LINES)),
    st.just("sleep 7"),
)
REDIS = f"kubectl -n {SOCIAL} exec deploy/home-timeline-redis -- redis-cli"
KEYS = ("mine", "other", "nobody")
FIRST = f"{REDIS} zadd mine 1 a 2 b; {REDIS} set other before"
READ_KEYS = "; ".join(
    f"{REDIS} type {key}; {REDIS} zrange {key} 0 -1 withscores; {REDIS} get {key}" for key in KEYS
)
redis_lines = st.one_of(
    st.builds(lambda key: f"{REDIS} del {key}", st.sampled_from(KEYS)),
    st.builds(
        lambda key, score: f"{REDIS} zadd {key} {score} member", st.sampled_from(KEYS), st.integers(0, 99)
    ),
    st.builds(lambda key: f"{REDIS} set {key} 'two words'", st.sampled_from(KEYS)),
    st.builds(lambda key: f"{REDIS} zrem {key} member", st.sampled_from(KEYS)),
)


@pytest.mark.slow
@settings(max_examples=8)
@given(st.lists(hotel_lines, min_size=1, max_size=6))
# When rate starts, it writes the rows that it misses.
@example([f"{RATES} '{ROWS[0]}'", f"{KUBECTL} scale deploy/rate --replicas=0"])
def test_an_abort_restores_everything(hotel: Copy[Environment], lines: list[str]) -> None:
    with hotel.branch() as copy:
        outcome = copy.call(run, ["begin", *lines, "abort"])
    assert outcome.records[0]["left"] == []
    assert not outcome.differences


@pytest.mark.slow
@settings(max_examples=5)
@given(st.lists(redis_lines, min_size=1, max_size=6))
def test_an_abort_restores_keys(network: Copy[Environment], lines: list[str]) -> None:
    with network.branch() as copy:
        outcome = copy.call(run, [FIRST, READ_KEYS, "begin", *lines, "abort", READ_KEYS])
    assert outcome.records[-1]["left"] == []
    assert outcome.observations[1] == outcome.observations[-1]
