"""Whatever pods come: no node is given more than it has, and no pod waits that would fit."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cluster.scheduler.test_scheduler import World

NODE_CPU_M = 2000


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 2500), min_size=1, max_size=14), st.integers(1, 3))
def test_no_node_is_overfull_and_no_pod_waits_that_fits(sizes: list[int], nodes: int) -> None:
    world = World()
    for number in range(nodes):
        world.node(f"n{number}")
    for number, cpu_m in enumerate(sizes):
        world.pod(f"p{number}", cpu=f"{cpu_m}m")
    world.run()
    used = {f"n{number}": 0 for number in range(nodes)}
    waiting = []
    for number, cpu_m in enumerate(sizes):
        node = world.get(f"p{number}")["spec"].get("nodeName")
        if node:
            used[node] += cpu_m
        else:
            waiting.append(cpu_m)
    assert all(cpu_m <= NODE_CPU_M for cpu_m in used.values())
    assert all(NODE_CPU_M - taken < cpu_m for cpu_m in waiting for taken in used.values())


def test_a_gated_pod_waits_for_its_gate() -> None:
    world = World()
    world.node()
    world.pod("gated", schedulingGates=[{"name": "example.com/wait"}])
    world.run()
    assert "nodeName" not in world.get("gated")["spec"]
    world.client.edit(world.get("gated"), lambda pod: pod["spec"].pop("schedulingGates"))
    world.run()
    assert world.get("gated")["spec"]["nodeName"] == "kind-control-plane"
