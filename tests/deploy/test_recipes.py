"""The recipes of ``deploy/``: the chart is installed on an embedded cluster, and its benchmark is one that the command accepts."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from aiopslab.cli.main import cli
from simcloud.world.clusters import add_cluster
from simcloud.world.world import World
from tests.simcloud.kubectl.twins import Ours

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture(scope="module")
def installed() -> dict[str, Any]:
    """The objects of the chart by kind, as the API server has them after an installation."""
    world = World(7)
    cluster = add_cluster(world, 2)
    cluster.start()
    world.run_for(60)
    operator = Ours(world, cluster)
    for path in (DEPLOY / "chart").rglob("*.*"):
        operator.put(f"chart/{path.relative_to(DEPLOY / 'chart')}", path.read_text())
    done = operator.type(
        "helm install core chart --set keys=models --set 'bench={--suite,smoke,--agent,noop}'"
    )
    assert (done.exit, done.stderr) == (0, ""), done.stderr
    assert "logs -f job/core" in done.stdout
    kinds = "jobs,deployments,services,persistentvolumeclaims,secrets,networkpolicies"
    listed = operator.type(f"kubectl get {kinds} -l app.kubernetes.io/instance=core -o yaml")
    return {item["kind"]: item for item in yaml.safe_load(listed.stdout)["items"]}


def test_the_chart_is_accepted(installed: dict[str, Any]) -> None:
    kinds = {"Job", "Deployment", "Service", "PersistentVolumeClaim", "Secret", "NetworkPolicy"}
    assert set(installed) == kinds


def test_the_driver_runs_a_benchmark_that_exists(installed: dict[str, Any]) -> None:
    container = installed["Job"]["spec"]["template"]["spec"]["containers"][0]
    line = container["args"][0].strip().splitlines()[-1]
    words = shlex.split(line.removeprefix("exec ").removesuffix(" $resume"))
    assert words[:6] == ["aiopslab", "bench", "--suite", "smoke", "--agent", "noop"]
    bench = get_command(cli).get_command(None, "bench")  # type: ignore[attr-defined]
    options = bench.make_context("bench", words[2:]).params
    assert (options["executor"], options["out"]) == ("ray", "/runs/bench")


def test_workers_find_the_driver(installed: dict[str, Any]) -> None:
    service, job, workers = (installed[kind] for kind in ("Service", "Job", "Deployment"))
    labels = job["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    port = service["spec"]["ports"][0]["port"]
    spec = workers["spec"]["template"]["spec"]["containers"][0]
    assert f"--address={service['metadata']['name']}:{port}" in spec["args"]
    secrets = [source["secretRef"]["name"] for source in spec["envFrom"]]
    assert secrets == ["core-ray", "models"]
    assert installed["Secret"]["metadata"]["name"] == "core-ray"


@pytest.mark.parametrize("name", ["kind.yaml", "k3d.yaml"])
def test_laptop_clusters_have_three_workers(name: str) -> None:
    config = yaml.safe_load((DEPLOY / name).read_text())
    workers = config.get("agents") or sum(node["role"] == "worker" for node in config["nodes"])
    assert workers == 3
