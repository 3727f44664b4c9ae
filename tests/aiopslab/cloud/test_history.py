"""A site is weeks old, and everything that has an age tells the same story."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.apps import FIRST_START_S
from aiopslab.cloud.environment import Environment
from aiopslab.cloud.history import DAY_S, History, draw_history
from simcloud.sim import Kernel
from simcloud.world.copies import Copy

CORES = 4
NS = "test-hotel-reservation"


def opened(seed: int) -> Environment:
    environment = Environment(HotelReservation(), seed)
    environment.open()
    environment.run_for(60.0)
    return environment


@pytest.fixture(scope="module")
def site() -> Iterator[Copy[Environment]]:
    with Copy.of(opened, 4) as copy:
        yield copy


def typed(environment: Environment, line: str) -> str:
    done = environment.terminal().run(line, 60.0)
    return (done.stdout + done.stderr).decode()


def get_history(environment: Environment) -> tuple[History, float]:
    return environment.history, environment.cluster.api.now_s


def read_dates(output: str) -> dict[str, float]:
    """Names and Unix times of lines such as ``kind-worker 2025-12-13T09:13:07Z``."""
    rows = (line.split() for line in output.splitlines())
    return {name: datetime.fromisoformat(date).timestamp() for name, date in rows}


def read_start(text: str) -> float:
    """The Unix time of a date such as ``ps`` prints for ``lstart``."""
    return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()


def list_dates(site: Copy[Environment], what: str) -> dict[str, float]:
    columns = "custom-columns=N:.metadata.name,D:.metadata.creationTimestamp"
    return read_dates(site.call(typed, f"kubectl get {what} --no-headers -o {columns}"))


def test_objects_have_the_dates_of_their_events(site: Copy[Environment]) -> None:
    history, _ = site.call(get_history)
    nodes = sorted(list_dates(site, "nodes").values())
    assert nodes == pytest.approx([history.built_s] * 3 + [history.joined_s], abs=20)
    for kind in ("deployments", "services", "endpointslices", "pvc", "configmaps"):
        dates = list_dates(site, f"{kind} -n {NS}").values()
        assert list(dates) == pytest.approx([history.released_s] * len(dates), abs=2), kind
    written = "custom-columns=N:.metadata.name,D:.metadata.managedFields[0].time --no-headers"
    services = read_dates(
        site.call(typed, f"kubectl get services -n {NS} --show-managed-fields -o {written}")
    )
    assert list(services.values()) == pytest.approx([history.released_s] * len(services), abs=2)
    sets = sorted(list_dates(site, f"replicasets -n {NS}").values())
    half = len(sets) // 2
    assert sets == pytest.approx([history.released_s] * half + [history.upgraded_s] * half, abs=20)
    assert sorted(list_dates(site, f"pods -n {NS}").values())[-1] == pytest.approx(history.changed_s, abs=20)
    columns = "custom-columns=V:.metadata.resourceVersion --no-headers"
    kept, changed = (
        [int(row) for row in site.call(typed, f"kubectl get {kind} -n {NS} -o {columns}").splitlines()]
        for kind in ("configmaps", "endpointslices")
    )
    assert min(changed) - max(kept) > history.upgraded_s - history.released_s, "about one write a second"


def test_machines_and_processes_have_run_since_then(site: Copy[Environment]) -> None:
    history, _ = site.call(get_history)
    late = max(list_dates(site, "nodes").items(), key=lambda row: row[1])[0]
    lines = (
        "uptime -s",
        "grep btime /proc/stat",
        "ps -o lstart= -C kubelet",
        "head -1 /proc/stat",
        "cat /proc/uptime",
        "ps -o lstart= -C mongod",
    )
    for node, built_s in ((late, history.joined_s), ("kind-control-plane", history.built_s)):
        seen = [site.call(typed, f"ssh {node} {line}").strip() for line in lines]
        booted_s = datetime.fromisoformat(seen[0]).replace(tzinfo=UTC).timestamp()
        assert booted_s == pytest.approx(built_s, abs=40)
        assert float(seen[1].split()[1]) == pytest.approx(booted_s, abs=2)
        assert read_start(seen[2]) == pytest.approx(built_s, abs=40)
        ticks = sum(map(int, seen[3].split()[1:]))
        assert ticks / CORES / 100 == pytest.approx(float(seen[4].split()[0]), rel=0.001)
        for start in seen[5].splitlines():
            assert read_start(start) == pytest.approx(history.upgraded_s, abs=60)
    assert re.search(r"up (\d+ days?|\d+ weeks?)", site.call(typed, "uptime"))


def test_long_life_has_left_its_traces(site: Copy[Environment]) -> None:
    times = site.call(typed, "ssh kind-worker ps -o time= -C kubelet")
    assert re.match(r"(\d+-)?\d+:\d+:\d+", times.strip()) and not times.strip().startswith("00:")
    assert site.call(typed, "kubectl get events -A").strip() == "No resources found"
    received = re.search(r"eth0: *(\d+)", site.call(typed, "ssh kind-worker cat /proc/net/dev"))
    assert received is not None and int(received[1]) > 1_000_000_000
    counted = site.call(
        typed, "ssh kind-worker iptables -t nat -vxnL KUBE-NODEPORTS | grep frontend | tail -1"
    )
    assert 0 < int(counted.split()[0]) < 10_000, "kube-proxy makes its rules anew every hour"
    generations = "custom-columns=G:.metadata.generation,O:.status.observedGeneration --no-headers"
    listed = site.call(typed, f"kubectl get deployments -n {NS} -o {generations}").splitlines()
    assert {tuple(row.split()) for row in listed} == {("2", "2"), ("3", "3")}
    addresses = site.call(typed, f"kubectl get pods -n {NS} -o wide | grep -o '10[.]244[.][0-9.]*'").split()
    assert min(int(address.rpartition(".")[2]) for address in addresses) > 6


def test_jaeger_has_counted_whole_traces(site: Copy[Environment]) -> None:
    page = f"/api/v1/namespaces/{NS}/services/jaeger:14269/proxy/metrics"
    metrics = site.call(typed, f"kubectl get --raw {page}")
    counted = re.findall(
        r'^jaeger_collector_spans_received_total{.*svc="(\w+)".*} (\S+)$', metrics, re.MULTILINE
    )
    spans = {service: float(value) for service, value in counted}
    assert spans["geo"] > 100_000
    assert spans["rate"] / spans["geo"] == pytest.approx(2, rel=0.001)  # its own, and that of memcached
    assert spans["search"] / spans["geo"] == pytest.approx(3, rel=0.001)  # its own, and two calls


def test_databases_are_as_old_as_their_volumes_and_have_served_since(site: Copy[Environment]) -> None:
    history, now_s = site.call(get_history)
    pod = f"kubectl exec -n {NS} deploy/mongodb-user --"
    born_s = float(site.call(typed, f"{pod} stat -c %Y /data/db/storage.bson"))
    script = "print(db.user.findOne()._id.getTimestamp().getTime())"
    written_ms = float(site.call(typed, f"{pod} mongo --quiet user-db --eval '{script}'"))
    assert [born_s, written_ms / 1000] == pytest.approx([history.released_s + FIRST_START_S] * 2, abs=1)
    listed = site.call(typed, f"kubectl exec -n {NS} deploy/mongodb-geo -- ls /data/db")
    files = re.findall(r"(?:collection|index)-(\d+)-(\d+)\.wt", listed)
    runs: dict[str, list[int]] = {}
    for number, suffix in files:
        runs.setdefault(suffix, []).append(int(number))
    assert len(runs) == 2 and all(sorted(numbers) == [*range(len(numbers))] for numbers in runs.values()), (
        files
    )
    log = f"kubectl logs -n {NS} deploy/mongodb-user"
    assert "createCollection" not in site.call(typed, f"{log} | head -60")
    minutes = (now_s - history.upgraded_s) / 60
    assert float(site.call(typed, f"{log} | grep -c saving.checkpoint")) == pytest.approx(minutes, rel=0.01)
    stats = r"exec 3<>/dev/tcp/127.0.0.1/11211; printf 'stats\\r\\nquit\\r\\n' >&3; cat <&3"
    counted = site.call(typed, f'kubectl exec -n {NS} deploy/memcached-profile -- bash -c "{stats}"')
    figures = {
        name: counted.partition(f"{name} ")[2].split()[0] for name in ("cmd_get", "get_misses", "curr_items")
    }
    assert int(figures["cmd_get"]) > 100_000
    assert int(figures["get_misses"]) < 2 * int(figures["curr_items"])


def test_the_cluster_is_alive(site: Copy[Environment]) -> None:
    _, now_s = site.call(get_history)
    leases = "custom-columns=N:.metadata.name,D:.spec.renewTime"
    renewed = read_dates(site.call(typed, f"kubectl get leases -A --no-headers -o {leases}"))
    assert all(time_s > now_s - 60 for time_s in renewed.values()), renewed
    beats = "{range .items[*]}{.metadata.name} {.status.conditions[-1:].lastHeartbeatTime}{'\\n'}{end}"
    heard = read_dates(site.call(typed, f'kubectl get nodes -o jsonpath="{beats}"'))
    assert all(time_s > now_s - 300 for time_s in heard.values()), heard
    assert "NotReady" not in site.call(typed, "kubectl get nodes")
    times = re.findall(r"time=(\S+) ms", site.call(typed, "ping -c 4 kind-worker2"))
    assert len(set(times)) > 1
    shares = [
        int(row.split()[1].rstrip("m")) for row in site.call(typed, "kubectl top nodes").splitlines()[1:]
    ]
    assert min(shares) > 10 and len(set(shares)) > 1


def test_one_seed_has_one_history_and_others_have_others() -> None:
    begins_s = 1_767_603_600.0
    histories = [draw_history(Kernel(seed).random("history"), begins_s) for seed in (1, 1, 2, 3, 4)]
    assert histories[0] == histories[1]
    assert len(set(histories)) == 4
    for history in histories:
        dates = (history.built_s, history.released_s, history.joined_s, history.upgraded_s, history.changed_s)
        assert list(dates) == sorted(dates) and dates[-1] < begins_s - DAY_S
        assert all(datetime.fromtimestamp(date, UTC).weekday() < 5 for date in dates)
