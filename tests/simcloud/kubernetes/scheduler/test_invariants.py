"""Whatever comes and goes: no node is given more than it has, and no pod waits that would fit once all is quiet."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.simcloud.kubernetes.scheduler.world import World

NODE_CPU_M = 2000
SLOTS = 6
TAINT = {"key": "k", "effect": "NoSchedule"}

steps = st.one_of(
    st.tuples(st.just("pod"), st.integers(1, 2500), st.booleans()),
    st.tuples(st.just("delete"), st.integers(0, 30), st.booleans()),
    st.tuples(st.just("node"), st.integers(0, 1), st.booleans()),
    st.tuples(st.just("cordon"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("wait"), st.integers(1, 40), st.booleans()),
)


class Model:
    """What was asked for, to compare with what came of it."""

    def __init__(self) -> None:
        self.world = World()
        self.nodes: dict[str, dict[str, Any]] = {}
        self.pods: dict[str, tuple[int, bool]] = {}
        self.step("node", 0, False)

    def step(self, what: str, number: int, flag: bool) -> None:
        match what:
            case "pod":
                name = f"p{len(self.pods)}"
                tolerations = [{"key": "k", "operator": "Exists"}] if flag else []
                self.world.pod(name, cpu=f"{number}m", tolerations=tolerations)
                self.pods[name] = (number, flag)
            case "delete":
                self.world.run(0.1)
                name = f"p{number}"
                if self.pods.get(name, (0, False))[0]:
                    self.world.gone(name)
                    self.pods[name] = (0, False)
            case "node" if len(self.nodes) < 4:
                name = f"n{len(self.nodes)}"
                self.world.node(name, taints=[TAINT] if flag else None, pods=str(SLOTS))
                self.nodes[name] = {"tainted": flag, "cordoned": False}
            case "cordon" if f"n{number}" in self.nodes:
                self.world.cordon(f"n{number}", flag)
                self.nodes[f"n{number}"]["cordoned"] = flag
            case "wait":
                self.world.run(number / 10)

    def check(self) -> None:
        used = {name: [0, 0] for name in self.nodes}
        waiting = []
        for name, (cpu_m, tolerant) in self.pods.items():
            if not cpu_m:
                continue
            place = self.world.where(name)
            if place is None:
                waiting.append((cpu_m, tolerant))
            else:
                used[place][0] += cpu_m
                used[place][1] += 1
                assert tolerant or not self.nodes[place]["tainted"]
        for taken_m, pods in used.values():
            assert taken_m <= NODE_CPU_M
            assert pods <= SLOTS
        for cpu_m, tolerant in waiting:
            for name, (taken_m, pods) in used.items():
                closed = self.nodes[name]["cordoned"] or (self.nodes[name]["tainted"] and not tolerant)
                assert closed or pods == SLOTS or taken_m + cpu_m > NODE_CPU_M


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(steps, min_size=1, max_size=25))
def test_no_node_is_overfull_and_no_pod_waits_that_fits(told: list[tuple[str, int, bool]]) -> None:
    model = Model()
    for step in told:
        model.step(*step)
    model.world.run(30)
    model.check()
