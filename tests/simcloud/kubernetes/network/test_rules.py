"""What must hold for every Service, whatever its endpoints are."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from simcloud.kubernetes.network.rules import rules_of

conditions = st.fixed_dictionaries(
    {},
    optional={key: st.sampled_from([True, False, None]) for key in ("ready", "serving", "terminating")},
)
endpoint = st.fixed_dictionaries(
    {
        "addresses": st.integers(1, 9).map(lambda number: [f"10.244.1.{number}"]),
        "conditions": conditions,
        "nodeName": st.sampled_from(["a", "b"]),
    }
)
slices = st.lists(
    st.fixed_dictionaries(
        {
            "addressType": st.just("IPv4"),
            "endpoints": st.lists(endpoint, max_size=6),
            "ports": st.just([{"name": "", "port": 8080}]),
        }
    ),
    max_size=3,
)


def service() -> dict[str, Any]:
    spec = {"clusterIP": "10.96.1.1", "clusterIPs": ["10.96.1.1"], "ports": [{"port": 80}]}
    return {"metadata": {"namespace": "demo", "name": "web"}, "spec": spec}


def is_ready(each: dict[str, Any]) -> bool:
    return each["conditions"].get("ready") is not False


@given(slices)
def test_only_ready_endpoints_get_packets_while_there_is_one(made: list[dict[str, Any]]) -> None:
    (_, port), *_ = rules_of(service(), made).fronts
    told = {}
    for each in made:
        for one in each["endpoints"]:
            told.setdefault(one["addresses"][0], one)
    ready = {address for address, one in told.items() if is_ready(one)}
    used = [route.address for route in port.usable]
    assert len(used) == len(set(used))
    if ready:
        assert set(used) == ready
    else:
        assert all(told[address]["conditions"].get("terminating") for address in used)


@given(slices)
def test_what_a_node_may_use_of_its_own_are_endpoints_there(made: list[dict[str, Any]]) -> None:
    (_, port), *_ = rules_of(service(), made).fronts
    nodes: dict[str, set[str]] = {}
    for each in made:
        for one in each["endpoints"]:
            nodes.setdefault(one["nodeName"], set()).add(one["addresses"][0])
    for node, routes in port.by_node.items():
        assert {route.address for route in routes} <= nodes[node]
