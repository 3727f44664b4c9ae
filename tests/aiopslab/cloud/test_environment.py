"""An environment with users, telemetry and trouble in it: what it records, and that one seed gives one run.

A longer check, of every step and draw and of the host's clock, takes a minute:
``python -m simcloud.sim.determinism tests/aiopslab/cloud/test_environment.py:hotels`` (or ``:network``)
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from aiopslab.apps.base import Application
from aiopslab.apps.hotelres import HotelReservation
from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.cloud.environment import Environment
from aiopslab.cloud.incident_site import BASELINE_S
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.generators.site import OperationFailed
from simcloud.world.policies import READ_ONLY

ROOT = Path(__file__).parents[3]
SOAK_S = 40.0
RATE = 10.0


def hotels(seed: int) -> Iterator[str]:
    """The hotels lose a service and get it back."""
    return incident(HotelReservation(), seed, "geo", "frontend")


def network(seed: int) -> Iterator[str]:
    """So does the social network."""
    return incident(SocialNetwork(), seed, "post-storage-service", "nginx-web-server")


def incident(app: Application, seed: int, target: str, traced: str) -> Iterator[str]:
    """From nothing to a settled application, a breakage, and its repair; all that there is to see of it."""
    environment = Environment(app, seed, nodes=2, rate=RATE)
    environment.settle()
    yield json.dumps(environment.baseline.users)
    fault = ScalePodZero(target)
    fault.inject(environment)
    environment.run_for(SOAK_S)
    yield environment.terminal().run(f"kubectl describe pods -n {environment.namespace}").stdout.decode()
    fault.recover(environment)
    environment.run_for(SOAK_S)
    yield from documents(environment, traced)
    yield environment.cluster.api.log.hash()
    yield environment.world.fingerprint()


def documents(environment: Environment, traced: str) -> Iterator[str]:
    """What users met with, and what monitoring answers."""
    yield "\n".join(map(repr, environment.users.results.outcomes()))
    monitoring = environment.monitoring
    for query in ('{__name__=~".+"}', 'sum by (code) ({__name__=~"(grpc|thrift)_client_errors_total"})'):
        yield told(monitoring.api.answer("query", {"query": [query]}))
    yield told(monitoring.jaeger.answer("/api/traces", {"service": [traced], "limit": ["200"]}))
    yield told(monitoring.jaeger.answer("/api/dependencies", {"endTs": [str(monitoring.now_ms())]}))
    yield told(monitoring.loki.answer("/loki/api/v1/query_range", {"query": ['{namespace=~".+"}']}))


def told(answer: Any) -> str:
    """An answer, one value a line, so that a difference is seen where it is."""
    return json.dumps(answer, indent=0)


def observed(scenario: str, hash_seed: str, zone: str) -> str:
    """All that a fresh process sees of an incident."""
    script = f"from tests.aiopslab.cloud.test_environment import {scenario}\nfor seen in {scenario}(11): print(seen)"
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": zone, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, check=False, timeout=1200
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return done.stdout.decode()


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["hotels", "network"])
def test_one_seed_is_one_run(scenario: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(observed, (scenario, scenario), ("1", "2"), ("UTC0", "XST-5:45"))
    lines = one.splitlines()
    assert [line for line, same in zip(lines, other.splitlines(), strict=True) if line != same][:3] == []
    # There was something to see: users came, the breakage hurt them, and the repair ended it.
    outcomes = [line for line in lines if line.startswith("Outcome(")]
    failed = [number for number, line in enumerate(outcomes) if "HTTP 500" in line]
    assert len(outcomes) > 0.9 * RATE * (BASELINE_S + 2 * SOAK_S)
    assert failed
    assert failed[-1] < len(outcomes) - 0.4 * SOAK_S * RATE


def test_before_it_has_settled_there_is_nothing_to_compare_with() -> None:
    environment = Environment(HotelReservation(), nodes=1)
    environment.run_for(1.0)
    with pytest.raises(LookupError, match=r"settle\(\) first"):
        _ = environment.baseline
    with pytest.raises(LookupError, match=r"settle\(\) first"):
        _ = environment.users
    with pytest.raises(OperationFailed, match=r'deployments\.apps "web" not found'):
        environment.operate("kubectl scale deployment/web --replicas=1")


def test_a_session_has_one_host_even_where_its_policy_came_from_another_process() -> None:
    environment = Environment(HotelReservation(), nodes=1)
    terminal = environment.terminal(READ_ONLY)
    terminal.machine.host.files.put("/root/notes", b"seen\n")
    again = environment.terminal(pickle.loads(pickle.dumps(READ_ONLY)))
    assert again is terminal
    assert again.run("cat notes").stdout == b"seen\n"
