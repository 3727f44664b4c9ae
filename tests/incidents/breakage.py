"""A breakage: how it is done at the terminal, what is then seen, and how it is repaired."""

from __future__ import annotations

import random
from dataclasses import dataclass

from aiopslab.cloud.environment import Environment
from tests.incidents.known import Known
from tests.incidents.scene import Scene, Sign, Step, look_at, users_fine

ALL_READY = "kubectl -n {ns} get deployments -o json | jq -r '.items[] | select(.spec.replicas != .status.readyReplicas) | .metadata.name'"


@dataclass(frozen=True)
class Breakage:
    """One way to break one of several targets; the first is the named one, of the others one is drawn."""

    name: str
    targets: tuple[str, ...]
    breaks: tuple[str | Step, ...]
    signs: tuple[Sign, ...]
    repairs: tuple[str, ...]
    soak_s: float | None = None
    heal_s: float | None = None
    """As long as the application takes, where nothing else is said."""

    def drawn(self, seed: int) -> tuple[str, ...]:
        """Another target than the named one, if there is one; the same for the same seed."""
        others = self.targets[1:]
        return (random.Random(f"{self.name}/{seed}").choice(others),) if others else ()


def play(environment: Environment, known: Known, breakage: Breakage, target: str) -> str:
    """Break, look, repair, and see that all is well; the transcript."""
    scene = Scene(environment, known, target)
    for step in breakage.breaks:
        if isinstance(step, str):
            scene.type(step)
        else:
            step(scene)
    scene.wait(known.soak_s if breakage.soak_s is None else breakage.soak_s)
    look_at(scene, breakage.signs)
    for line in breakage.repairs:
        scene.type(line)
    scene.wait(known.heal_s if breakage.heal_s is None else breakage.heal_s)
    users_fine(*environment.users.results.journeys)(scene)
    if missing := scene.type(ALL_READY).strip():
        scene.fail(f"after the repair these do not run: {missing}")
    return "\n".join(scene.transcript)
