"""Families of drawn problems: the seed chooses target, parameters and noise, so that knowing an id is worth nothing.

An id such as ``wrong_image_hotel_res-mitigation`` gets its seed from the run. ``wrong_image_hotel_res-mitigation@12``
carries it, and is the same problem wherever it is run; ``wrong_image_hotel_res-mitigation+heavy@12`` has more noise. Half
of the detection problems have no fault. ``wrong_image_hotel_res-mitigation+names`` is posed with other names of components.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final, NamedTuple, cast, get_args

from aiopslab.apps import Application, load_applications
from aiopslab.generators import Level, draw_noise
from aiopslab.generators.fault import find_fault, load_faults
from aiopslab.generators.fault.drawn import DrawnFault, Purpose
from aiopslab.orchestrator.tasks import TASKS, ComplianceTask, CostTask, DetectionTask, PredictionTask, Task

HEALTHY_SHARE: Final = 0.5
TASKS_FOR: Final[dict[Purpose, tuple[type[Task], ...]]] = {
    "repair": TASKS, "prediction": (PredictionTask,), "cost": (CostTask,), "policy": (ComplianceTask,),
}  # fmt: skip
CONCURRENT: Final = "concurrent_faults"
"""The name of the families with two faults, which the seed draws too."""
NAMES: Final = "+names"
"""Marks the id of a problem whose application has other names."""
_ID: Final = re.compile(
    rf"(.*?)(?:\+({'|'.join(get_args(Level))}))?({re.escape(NAMES)})?(?:@([0-9]{{1,18}}))?"
)


class ProblemId(NamedTuple):
    """The parts of an id; None for those it does not have."""

    plain: str
    noise: Level | None
    seed: int | None
    has_other_names: bool = False

    def __str__(self) -> str:
        noise, seed = f"+{self.noise}" if self.noise else "", "" if self.seed is None else f"@{self.seed}"
        return f"{self.plain}{noise}{NAMES if self.has_other_names else ''}{seed}"


def parse_id(pid: str) -> ProblemId:
    """Return the parts of an id."""
    match = _ID.fullmatch(pid)
    assert match is not None, "the pattern matches every text of one line"
    plain, noise, names, seed = match.groups()
    return ProblemId(plain, cast("Level | None", noise), None if seed is None else int(seed), bool(names))


def replace_noise(pid: str, level: Level | None) -> str:
    """Return the id with another level of noise; None for the one that it has."""
    parts = parse_id(pid)
    return str(parts._replace(noise=level or parts.noise))


def use_other_names(pid: str) -> str:
    """Return the id of the same problem with other names of components."""
    return str(parse_id(pid)._replace(has_other_names=True))


DrawTask = Callable[[int, Level, bool], Task]
"""Creates a drawn problem from a seed, with a level of noise, and with other names or not."""


@dataclass(frozen=True)
class DrawnFamily:
    """One problem for each task, with drawn faults of some kinds at once."""

    name: str
    app: type[Application]
    kinds: tuple[type[DrawnFault], ...]
    count: int = 1
    """The number of faults."""
    tasks: tuple[type[Task], ...] = TASKS

    def iter_problems(self) -> Iterator[tuple[str, str, DrawTask]]:
        """Yield each problem's id, the type of its task, and a function that creates it from a seed."""
        for task in self.tasks:
            pid = f"{self.name}-{task.task_type}"
            yield pid, task.task_type, partial(self._make, pid, task)

    def _make(self, pid: str, task: type[Task], seed: int, noise: Level, other_names: bool) -> Task:
        app, chance = self.app(), Random(f"{seed}/{self.name}")
        if other_names:
            app = app.use_other_names()
        faults = self._draw_faults(app, chance)
        spared = [fault.target for fault in faults]
        keep_pods = any(fault.hinders_pods for fault in faults)
        is_healthy = task is DetectionTask and Random(f"{seed}/{pid}").random() < HEALTHY_SHARE
        problem = task(app, () if is_healthy else faults)
        again = [name for name, fault in zip(spared, faults, strict=True) if _outlives_rollouts(app, fault)]
        problem.entry = self.kinds[0].entry
        again = again if set(self.tasks) <= set(TASKS) else []
        problem.id, problem.noise = pid, draw_noise(app, chance, noise, spared, again, keep_pods=keep_pods)
        return problem

    def _draw_faults(self, app: Application, chance: Random) -> list[DrawnFault]:
        """Draw faults at components that have nothing to do with each other."""
        faults: list[DrawnFault] = []
        spared: set[str] = set()
        for kind in chance.sample(self.kinds, len(self.kinds)):
            if len(faults) < self.count and set(kind.list_targets(app)) - spared:
                faults.append(kind.draw(app, chance, tuple(spared)))
                component = faults[-1].target
                spared |= {component, *app.component(component).calls, *app.find_callers(component)}
        return faults


def _outlives_rollouts(app: Application, fault: DrawnFault) -> bool:
    """Whether a fault stays, and no data is lost, when its component is rolled out again."""
    if fault.restart_repairs or fault.hinders_pods or not fault.follows_target:
        return False
    return app.component(fault.target).role in ("service", "front end")


def list_families() -> Iterator[DrawnFamily]:
    """Yield a family for each drawn fault and each application that it suits, and those with two faults."""
    kinds = [kind for kind in load_faults().values() if issubclass(kind, DrawnFault)]
    for app in load_applications().values():
        if not app.short_name:
            continue
        suiting = [kind for kind in kinds if kind.list_targets(app())]
        for kind in suiting:
            yield _make_family(kind, app)
        alone = tuple(
            kind for kind in suiting if kind.alone and not kind.hinders_pods and kind.purpose == "repair"
        )
        yield DrawnFamily(f"{CONCURRENT}_{app.short_name}", app, alone, count=2)


def _make_family(kind: type[DrawnFault], app: type[Application]) -> DrawnFamily:
    return DrawnFamily(f"{kind.name}_{app.short_name}", app, (kind,), tasks=TASKS_FOR[kind.purpose])


def find_family(pid: str) -> DrawnFamily | None:
    """Return the family of a problem with one drawn fault, without importing other faults; None if there is none of this package."""
    name = pid.rpartition("-")[0]
    for app in load_applications().values():
        if app.short_name and name.endswith(f"_{app.short_name}"):
            kind = find_fault(name.removesuffix(f"_{app.short_name}"))
            if kind is not None and issubclass(kind, DrawnFault) and kind.list_targets(app()):
                return _make_family(kind, app)
    return None


def generate_ids(ids: Sequence[str], seed: int, count: int, noise: Level | None = None) -> list[str]:
    """Return ids of generated problems, drawn among those of drawn problems; each carries the seed."""
    chance, found = Random(f"generate/{seed}"), list[str]()
    while len(found) < count and ids:
        found += chance.sample(ids, min(len(ids), count - len(found)))
    return [f"{pid}{f'+{noise}' if noise else ''}@{seed}" for pid in found]
