"""A site has a past: an earlier release to go back to, and changes by hand that nobody wants back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cache

import pytest
import yaml

from aiopslab.apps import load_applications
from aiopslab.cloud.declared import find_changes
from aiopslab.cloud.environment import Environment
from aiopslab.cloud.node_state import find_state_changes
from simcloud.helm.releases import from_secret, secret_name
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.world.copies import Copy
from simcloud.world.terminal import Terminal

NAMES = tuple(load_applications())


def opened(name: str) -> Environment:
    environment = Environment(load_applications()[name](), 5)
    environment.open()
    return environment


@pytest.fixture(scope="module")
def sites() -> Iterator[Callable[[str], Copy[Environment]]]:
    """The site of an application, made when it is first asked for."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(Copy.of(opened, name)))


@pytest.fixture(scope="module", params=NAMES)
def site(request: pytest.FixtureRequest, sites: Callable[[str], Copy[Environment]]) -> Copy[Environment]:
    return sites(request.param)


def revisions(environment: Environment) -> dict[str, list[tuple[str, int, int]]]:
    """Of each Deployment its ReplicaSets: the revision, and how many pods are wanted and there."""
    found: dict[str, list[tuple[str, int, int]]] = {}
    for one in ComponentClient(environment.cluster.api, "test", "test").list(
        "replicasets.apps", environment.namespace
    ):
        owner = one["metadata"]["ownerReferences"][0]["name"]
        revision = one["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
        pods = one["status"].get("replicas", 0)
        found.setdefault(owner, []).append((revision, one["spec"]["replicas"], pods))
    return {owner: sorted(sets) for owner, sets in found.items()}


def astray(environment: Environment, *lines: str) -> set[str]:
    """What is declared differently, and which rules are lost, after lines were typed."""
    before, state = environment.read_declared(), environment.read_state()
    for line in lines:
        environment.operate(line.replace("{ns}", environment.namespace))
    lost = {name for name, _ in find_state_changes(state, environment.read_state())}
    return {f"{key.plural}/{key.name}" for key in find_changes(before, environment.read_declared())} | lost


@pytest.mark.slow
def test_every_deployment_has_an_earlier_revision_without_pods(site: Copy[Environment]) -> None:
    found = site.call(revisions)
    assert set(found) == site.call(names)
    for sets in found.values():
        (first, first_wanted, first_pods), (second, wanted, pods) = sets
        assert (first, first_wanted, first_pods, second) == ("1", 0, 0, "2")
        assert wanted == pods > 0


def names(environment: Environment) -> set[str]:
    return {one.name for one in environment.app.components}


@pytest.mark.slow(keep=1)
def test_something_was_scaled_by_hand(site: Copy[Environment]) -> None:
    assert [sets[1][1] for sets in site.call(revisions).values()].count(2) == 1


def test_whoever_undoes_every_rollout_changes_every_deployment(site: Copy[Environment]) -> None:
    with site.branch() as copy:
        undo = "kubectl -n {ns} rollout undo $(kubectl -n {ns} get deployments -o name)"
        assert copy.call(astray, undo) == {f"deployments/{name}" for name in copy.call(names)}


def test_whoever_scales_everything_to_one_changes_what_had_two(site: Copy[Environment]) -> None:
    with site.branch() as copy:
        assert len(copy.call(astray, "kubectl -n {ns} scale deployment --all --replicas=1")) == 1


def test_whoever_empties_packet_filters_loses_a_rule(site: Copy[Environment]) -> None:
    with site.branch() as copy:
        assert copy.call(astray, "ssh kind-control-plane iptables -F FORWARD") == {"kind-control-plane"}


def release(environment: Environment, version: int) -> tuple[str, str, dict[str, object]]:
    stored = environment.find("secrets", secret_name(environment.app.name, version))
    assert stored is not None
    one = from_secret(stored)
    return one.manifest, one.status, one.config


def rendered(environment: Environment, values: str) -> str:
    terminal = Terminal(environment.world, environment.cluster, name="bastion-test", shown_bytes=1 << 22)
    files = terminal.machine.host.files
    files.put("/root/earlier.yaml", values.encode())
    for name, text in environment.app.chart_files.items():
        files.mkdir(f"/root/chart/{name}".rpartition("/")[0], parents=True)
        files.put(f"/root/chart/{name}", text.encode())
    done = terminal.run(
        f"helm template {environment.app.name} /root/chart -n {environment.namespace} -f /root/earlier.yaml"
    )
    assert done.status == 0, done.stderr
    return done.stdout.decode()


@pytest.fixture(scope="module")
def network(sites: Callable[[str], Copy[Environment]]) -> Copy[Environment]:
    return sites("social-network")


def history(environment: Environment) -> tuple[str, float, float]:
    lines = f"helm history {environment.app.name} -n {environment.namespace}; helm list -A"
    dates = environment.history
    return environment.operate(lines).stdout.decode(), dates.released_s, dates.upgraded_s


def operated(environment: Environment, line: str) -> str:
    line = line.replace("{ns}", f"-n {environment.namespace}")
    return environment.operate(f"kubectl {line}").stdout.decode()


def test_helm_remembers_an_earlier_release(network: Copy[Environment]) -> None:
    with network.branch() as copy:
        output, released_s, upgraded_s = copy.call(history)
    rows = [[cell.strip() for cell in line.split("\t")] for line in output.splitlines()]
    first, second = (datetime.fromtimestamp(time_s, UTC) for time_s in (released_s, upgraded_s))
    assert rows[1][:3] == ["1", f"{first:%a %b %e %H:%M:%S %Y}", "superseded"]
    assert rows[2][:3] == ["2", f"{second:%a %b %e %H:%M:%S %Y}", "deployed"]
    assert rows[4][3].startswith(f"{second:%Y-%m-%d %H:%M:%S}.")


def test_the_past_has_read_much_and_written_what_is_there(network: Copy[Environment]) -> None:
    stored_script = "print(db.post.count(), Number(db.serverStatus().opcounters.insert))"
    with network.branch() as copy:
        counted = copy.call(operated, "exec {ns} deploy/home-timeline-redis -- redis-cli info commandstats")
        stored = copy.call(
            operated,
            f"exec {{ns}} deploy/post-storage-mongodb -- mongo post --quiet --eval '{stored_script}'",
        )
    calls = dict(re.findall(r"cmdstat_(\w+):calls=(\d+)", counted))
    posts, inserts = map(int, stored.split())
    assert int(calls["zrevrange"]) > 100_000
    assert inserts < posts / 10 and int(calls["zadd"]) < 60 * inserts


def test_the_earlier_release_is_what_its_values_make_of_the_chart(network: Copy[Environment]) -> None:
    with network.branch() as copy:
        manifest, status, config = copy.call(release, 1)
        now, deployed, _ = copy.call(release, 2)
        assert (status, deployed) == ("superseded", "deployed")
        assert copy.call(rendered, yaml.safe_dump(config)).strip() == manifest.strip()
        assert manifest != now


@pytest.mark.parametrize("revision", [1, 2])
def test_no_release_to_roll_back_to_is_what_is_there(network: Copy[Environment], revision: int) -> None:
    with network.branch() as copy:
        found = copy.call(astray, f"helm rollback social-network {revision} -n {{ns}}")
    assert {"deployments/media-service", "services/jaeger"} <= found
    assert ("deployments/user-service" in found) is (revision == 1)
