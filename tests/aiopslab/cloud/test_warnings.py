"""Healthy programs warn from time to time: in skipped time, and while they run."""

from __future__ import annotations

import pytest

from aiopslab.apps import load_applications
from aiopslab.cloud.environment import Environment
from simcloud.machine.occasional_lines import MOST_PAST
from simcloud.telemetry.metrics import Matcher

CONTROL_PLANE = {
    "kube-system etcd-kind-control-plane": "apply request took too long",
    "kube-system kube-apiserver-kind-control-plane": "required revision has been compacted",
    "kube-system kube-controller-manager-kind-control-plane": "stale GroupVersion discovery",
    "kube-system deploy/coredns": "Local health request",
    "monitoring deploy/prometheus-server": "v1 Endpoints is deprecated",
}
PAST = {
    "hotel-reservation": {"test-hotel-reservation deploy/frontend": "URL query contains semicolon"},
    "social-network": {"test-social-network deploy/user-service": "to Memcached: SERVER ERROR"},
}
LATER = {
    "hotel-reservation": {"test-hotel-reservation deploy/mongodb-geo": "serverStatus was very slow"},
    "social-network": {
        "test-social-network deploy/nginx-thrift": 'favicon.ico" failed (2: No such file or directory)',
        "test-social-network deploy/compose-post-service": "TConnectedClient died: write() send(): Broken pipe",
    },
}
SILENT = {"hotel-reservation": "memcached-rate", "social-network": "post-storage-memcached"}


def opened(name: str) -> Environment:
    environment = Environment(load_applications()[name](), 4)
    environment.open()
    return environment


def read_log(environment: Environment, place: str, options: str = "") -> list[str]:
    namespace, pod = place.split()
    done = environment.terminal().run(f"kubectl logs -n {namespace} {pod} --timestamps {options}", 60.0)
    assert done.status == 0, done.stderr
    return done.stdout.decode().splitlines()


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("name", sorted(PAST))
def test_logs_of_weeks_have_some_warnings_in_the_order_of_time(name: str) -> None:
    environment = opened(name)
    for place, words in {**CONTROL_PLANE, **PAST[name]}.items():
        stamps = [line.partition(" ")[0] for line in read_log(environment, place)]
        assert stamps == sorted(stamps), place
        warnings = read_log(environment, place, f"| grep -F '{words}'")
        assert 1 <= len(warnings) <= 5 * MOST_PAST, place
        assert len({line[:10] for line in warnings}) > 1 or len(warnings) < 3, place
    files = "/var/log/pods/kube-system_etcd-*/etcd/0.log"
    sizes = environment.operate(
        f"ssh kind-control-plane 'stat -c %s {files}; cat {files} | wc -c'"
    ).stdout.split()
    assert sizes[0] == sizes[1]
    assert not read_log(environment, f"{environment.namespace} deploy/{SILENT[name]}")
    for place, words in PAST[name].items():
        component = place.rpartition("/")[2]
        selector = [Matcher("app", "=", component)]
        streams = environment.world.emitter.logs.select(selector)
        stored = [text for stream in streams for text in stream.texts if words in text]
        assert stored and stored[-1] in read_log(environment, place, f"| grep -F '{words}'")[-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LATER))
def test_programs_warn_while_they_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcloud.services.rpc.thrift.server.HOUR_S", 1.0)
    monkeypatch.setattr("aiopslab.apps.socialnet.web.nginx.STRAYS_S", 5.0)
    monkeypatch.setattr("simcloud.datastores.mongodb.maintenance.SLOW_STATUS_S", 5.0)
    environment = opened(name)
    environment.run_for(90.0)
    for place, words in LATER[name].items():
        assert read_log(environment, place, f"--since=2m | grep -F '{words}'"), place
