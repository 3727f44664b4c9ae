"""A breakage: how it is done at the terminal, what is then seen, and how it is repaired."""

from __future__ import annotations

import random
from dataclasses import dataclass

from aiopslab.cloud.environment import Environment
from tests.incidents.scene import Scene, Sign, look_at, users_fine

ALL_READY = "kubectl -n {ns} get deployments -o json | jq -r '.items[] | select(.spec.replicas != .status.readyReplicas) | .metadata.name'"


@dataclass(frozen=True)
class Breakage:
    """One way to break one of several targets; the first is the named one, of the others one is drawn."""

    name: str
    targets: tuple[str, ...]
    breaks: tuple[str, ...]
    signs: tuple[Sign, ...]
    repairs: tuple[str, ...]
    soak_s: float = 60.0
    heal_s: float = 90.0

    def drawn(self, seed: int) -> str:
        """Another target than the named one; the same for the same seed."""
        return random.Random(f"{self.name}/{seed}").choice(self.targets[1:])


def play(environment: Environment, breakage: Breakage, target: str) -> str:
    """Break, look, repair, and see that all is well; the transcript."""
    scene = Scene(environment, target)
    for line in breakage.breaks:
        scene.type(line)
    scene.wait(breakage.soak_s)
    look_at(scene, breakage.signs)
    for line in breakage.repairs:
        scene.type(line)
    scene.wait(breakage.heal_s)
    users_fine(*environment.users.results.journeys)(scene)
    if missing := scene.type(ALL_READY).strip():
        scene.fail(f"after the repair these do not run: {missing}")
    return "\n".join(scene.transcript)
