"""What holds for every fault, however it breaks things: it is there, users notice, it can be undone, and undone twice.

After that users are well again, and nothing that is declared in the cluster tells that there was a fault; except that a node
that is bad itself is out of use.

Every fault of the public release's ids is tried on its application. Drawn faults are tried by the validation of their problems.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from aiopslab.apps.base import Application
from aiopslab.cloud.declared import find_changes, read_declared
from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.base import Fault
from aiopslab.orchestrator.preparation import STEP_S
from aiopslab.orchestrator.problems import ProblemRegistry, list_suite
from simcloud.world.copies import Copy

SPREAD_S = 75.0
SLICE_S = 10.0
HEALING_S = 120.0
HURT = 0.15
"""So much of a journey fails at the worst time; without a fault nothing does."""
TELLTALES = ("fault", "inject", "chaos", "aiopslab")


def cases() -> Iterator[tuple[type[Application], Fault]]:
    """Every fault of every family once, by application."""
    registry = ProblemRegistry()
    problems = [registry.get_problem_instance(pid) for pid in list_suite(registry, "compat")]
    found = {(problem.app.name, fault): type(problem.app) for problem in problems for fault in problem.faults}
    for (_, fault), app in sorted(found.items(), key=lambda item: (item[0][0], repr(item[0][1]))):
        yield app, fault


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    ("app", "fault"), tuple(cases()), ids=lambda each: repr(each) if isinstance(each, Fault) else ""
)
def test_fault(request: pytest.FixtureRequest, app: type[Application], fault: Fault) -> None:
    world: Copy[Environment] = request.getfixturevalue(
        {"hotel-reservation": "hotels", "social-network": "network"}[app.name]
    )
    with world.branch() as copy:
        told = copy.call(life_of, fault)
    assert told["present"] == {
        "before": False, "injected": True, "restarted": not fault.restart_repairs, "recovered": False,
        "recovered twice": False,
    }  # fmt: skip
    assert told["failed"] > HURT, "no journey of the users is hurt"
    assert told["named"] == []
    assert told["failed later"] == 0.0, "users are not well again"
    assert told["changed"] == {}
    assert told["took"] < STEP_S - 1.0, "sessions would begin later, and tell by that what was done"


def life_of(environment: Environment, fault: Fault) -> dict[str, Any]:
    """From before the fault to after its repair."""
    present = {"before": fault.present(environment)}
    before, begun = read_declared(environment.cluster.api), environment.now
    fault.inject(environment)
    took_s = environment.now - begun
    present["injected"] = fault.present(environment)
    environment.run_for(SPREAD_S)
    failed = worst(environment, begun)
    words = {*TELLTALES, fault.name, fault.known_as, type(fault).__name__} - {""}
    new = written_since(environment, begun)
    told = re.compile("|".join(rf"\b{word}" for word in sorted(words)), re.IGNORECASE)
    named = sorted({found for text in new for found in told.findall(text)})
    component = fault.truth.component
    environment.operate(f"kubectl -n {environment.namespace} rollout restart deployment/{component}")
    environment.run_for(10.0)
    environment.operate(
        f"kubectl -n {environment.namespace} rollout status deployment/{component} --timeout=20s || true"
    )
    present["restarted"] = fault.present(environment)
    for when in ("recovered", "recovered twice"):
        fault.recover(environment)
        environment.run_for(5.0)
        present[when] = fault.present(environment)
    healing = environment.now
    environment.run_for(HEALING_S)
    out_of_use = fault.machines_at_fault(environment)
    changed = {
        key: what
        for key, what in find_changes(before, read_declared(environment.cluster.api)).items()
        if (key.plural, key.name) not in [("nodes", name) for name in out_of_use]
    }
    later = worst(environment, healing + HEALING_S / 2)
    return {
        "present": present,
        "failed": failed,
        "named": named,
        "failed later": later,
        "changed": changed,
        "took": took_s,
    }


def worst(environment: Environment, since: float) -> float:
    """The share of a journey's requests that failed, of the worst off and at the worst time; some faults come and go."""
    results = environment.users.results
    end = environment.now - environment.timeout_s
    starts = [since + number * SLICE_S for number in range(int((end - since) / SLICE_S))]
    rates = [results.between(at, at + SLICE_S, name).error_rate for at in starts for name in results.journeys]
    return max(rates)


def written_since(environment: Environment, time_s: float) -> list[str]:
    """Every object that was written in the cluster, events included."""
    writes = environment.cluster.api.log.history()
    return [json.dumps(write.object, default=str) for write in writes if write.time_s >= time_s]
