"""What holds whatever is done to pods: nothing is left behind, counts grow, what has ended stays ended."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st

from tests.simcloud.kubernetes.kubelet.world import World

LINES = st.sampled_from(
    [
        "sleep 1000",
        "exit 0",
        "sleep 3; exit 1",
        "trap 'exit 0' TERM; while true; do sleep 0.3; done",
        "tail /dev/zero",
    ]
)
POLICIES = st.sampled_from(["Always", "OnFailure", "Never"])
IMAGES = st.sampled_from(["busybox:1.36", "busybox:1.36", "nosuchimage:v1"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), LINES, POLICIES, IMAGES),
        st.tuples(st.just("delete"), st.integers(0, 5), st.sampled_from([None, 0, 1])),
        st.tuples(st.just("wait"), st.floats(0.01, 15.0)),
    ),
    min_size=2,
    max_size=10,
)


class Watched:
    """Checks every status that is written."""

    def __init__(self, world: World) -> None:
        self.restarts: dict[str, int] = {}
        self.ended: dict[str, str] = {}
        world.client.follow("pods", self.see)

    def see(self, write: Any) -> None:
        uid, status = write.object["metadata"]["uid"], write.object.get("status") or {}
        count = sum(each["restartCount"] for each in status.get("containerStatuses") or ())
        assert count >= self.restarts.get(uid, 0)
        self.restarts[uid] = count
        phase = status.get("phase")
        if uid in self.ended:
            assert phase == self.ended[uid]
        if phase in ("Succeeded", "Failed"):
            self.ended[uid] = phase


def act(world: World, number: int, step: tuple[Any, ...]) -> None:
    if step[0] == "run":
        _, line, policy, image = step
        world.run(
            f"p{number}",
            "sh",
            "-c",
            line,
            image=image,
            restartPolicy=policy,
            container={"resources": {"limits": {"memory": "64Mi"}}},
        )
    elif step[0] == "delete":
        pods = world.client.list("pods", "lab")
        if pods:
            world.client.delete(pods[step[1] % len(pods)], grace_s=step[2])
    else:
        world.kernel.run_for(step[1])


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_pods_leave_nothing_behind(steps: list[tuple[Any, ...]]) -> None:
    world = World()
    before = (len(world.machine.containers), len(world.machine.processes))
    Watched(world)
    for number, step in enumerate(steps):
        act(world, number, step)
    world.kernel.run_for(3)
    for pod in world.client.list("pods", "lab"):
        world.client.delete(pod, grace_s=1)
    world.kernel.run_for(45)
    assert world.client.list("pods", "lab") == []
    assert world.kubelet.workers == {}
    assert world.kubelet.node.runtime.pods == {}
    assert (len(world.machine.containers), len(world.machine.processes)) == before
    assert world.machine.memory_mismatch() is None
    assert world.network.pod_at("10.244.0.2") is None
