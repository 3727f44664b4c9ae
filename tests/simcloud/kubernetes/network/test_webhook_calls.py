"""Admission webhooks with a process behind them: controllers, operators and kubelets meet its answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.write_retries import WriteContinues, WriteRetry
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.images import standard_registry
from simcloud.kubernetes.network.trust import distrust
from simcloud.kubernetes.nodes import node_names
from simcloud.server.kubernetes.certificates import Certificates, make_certificates
from simcloud.world.world import World
from tests.simcloud.kubernetes.judge import (
    JUDGE,
    configuration,
    judge_image,
    judge_pod,
    judge_secret,
    judge_service,
)

CERTIFICATES = make_certificates("judge.default.svc")
POST = 'Post "https://judge.default.svc:443/validate?timeout=10s": '
FAILED = 'Internal error occurred: failed calling webhook "validating.example.com": failed to call webhook: '


class Court:
    """A cluster with an administrator who waits for webhooks."""

    def __init__(self) -> None:
        self.world = World(5, epoch_s=float(int(time.time())))
        machines = [self.world.add_machine(name) for name in node_names(2)]
        self.cluster = Cluster(self.world.kernel, machines, self.world.epoch_s)
        registry = standard_registry()
        registry.add(JUDGE, judge_image())
        self.cluster.start(registry, metrics=False)
        self.client = ComponentClient(self.cluster.api, "kubernetes-admin", "kubectl")
        self.world.run_for(20)

    def wait_for(self, write: Callable[[], Any]) -> Any:
        kernel = self.world.kernel
        task = kernel.spawn(WriteRetry().finish(self.cluster.api, write), "administrator", supervised=True)
        return kernel.run_task(task, 60)

    def create(self, obj: Object) -> Object:
        made: Object = self.wait_for(lambda: self.client.create(obj))
        return made

    def refusal(self, obj: Object) -> str:
        with pytest.raises(ApiError) as refused:
            self.create(obj)
        return refused.value.message

    def install(self, *args: str, certificate: bytes = CERTIFICATES.certificate) -> None:
        self.create(judge_secret(certificate))
        self.create(judge_pod(*args))
        self.create(judge_service())
        self.world.run_for(10)


@pytest.fixture
def court() -> Iterator[Court]:
    yield Court()


def config(name: str, **labels: str) -> Object:
    metadata = {"name": name, "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def test_a_write_is_refused_or_changed_by_a_process(court: Court) -> None:
    court.install()
    court.create(configuration("Validating", CERTIFICATES.authority, ["configmaps"]))
    court.create(configuration("Mutating", CERTIFICATES.authority, ["configmaps"]))
    assert court.refusal(config("bad", forbidden="yes")) == (
        'admission webhook "validating.example.com" denied the request: the label forbidden=yes is not liked'
    )
    before_s = court.world.kernel.now
    assert court.create(config("good"))["metadata"]["labels"] == {"judged": "yes"}
    assert court.world.kernel.now > before_s
    stored = court.client.get("configmaps", "default", "good")
    assert at(stored, "metadata", "labels") == {"judged": "yes"}


def test_a_deployment_gets_the_pods_that_the_webhook_makes_of_them(court: Court) -> None:
    court.install()
    court.create(configuration("Mutating", CERTIFICATES.authority, ["pods"]))
    labels = {"app": "web"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "a", "image": "nginx:1.19"}]},
    }
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": "web", "namespace": "default"}
    court.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    court.world.run_for(20)
    pods = [one for one in court.client.list("pods", "default") if one["metadata"]["labels"]["app"] == "web"]
    assert [one["metadata"]["labels"].get("judged") for one in pods] == ["yes"] * 3
    assert {one["status"]["phase"] for one in pods} == {"Running"}
    told = [one for one in court.client.list("events", "default") if one["reason"] == "SuccessfulCreate"]
    assert len(told) == 3


def test_a_webhook_that_is_down_stops_a_deployment(court: Court) -> None:
    court.create(judge_service())
    court.create(configuration("Validating", CERTIFICATES.authority, ["pods"]))
    court.world.run_for(2)
    spec: Object = {"containers": [{"name": "a", "image": "nginx:1.19"}]}
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    wanted = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": "web", "namespace": "default"}
    court.create({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": wanted})
    court.world.run_for(5)
    address = at(court.client.get("services", "default", "judge"), "spec", "clusterIP")
    failure = f"{FAILED}{POST}dial tcp {address}:443: connect: connection refused"
    told = [one for one in court.client.list("events", "default") if one["reason"] == "FailedCreate"]
    assert {one["message"] for one in told} == {f"Error creating: {failure}"}
    assert court.client.list("pods", "default") == []


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_a_slow_webhook_is_waited_for_as_long_as_it_says(court: Court, policy: str) -> None:
    court.install("30")
    kind = configuration(
        "Validating", CERTIFICATES.authority, ["configmaps"], timeoutSeconds=3, failurePolicy=policy
    )
    court.create(kind)
    before_s = court.world.kernel.now
    if policy == "Ignore":
        court.create(config("c"))
    else:
        post = POST.replace("10s", "3s")
        assert court.refusal(config("c")) == f"{FAILED}{post}context deadline exceeded"
    assert court.world.kernel.now - before_s == pytest.approx(3.0, abs=0.1)


def test_a_certificate_of_somebody_else_is_not_believed(court: Court) -> None:
    court.install()
    court.create(
        configuration("Validating", make_certificates("judge.default.svc").authority, ["configmaps"])
    )
    words = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    assert court.refusal(config("c")) == f"{FAILED}{POST}{words}"


def test_whoever_cannot_wait_has_its_write_finished_behind_it(court: Court) -> None:
    court.install()
    court.create(configuration("Mutating", CERTIFICATES.authority, ["configmaps"]))
    with pytest.raises(WriteContinues):
        court.client.create(config("late"))
    assert court.client.get("configmaps", "default", "late") is None
    court.world.run_for(1)
    assert at(court.client.get("configmaps", "default", "late"), "metadata", "labels") == {"judged": "yes"}


def test_events_of_a_controller_pass_a_webhook_for_everything(court: Court) -> None:
    court.install()
    court.create(configuration("Mutating", CERTIFICATES.authority, ["*"]))
    spec = {
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "busybox:1.36"}]}
        }
    }
    court.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "j", "namespace": "default"},
            "spec": spec,
        }
    )
    court.world.run_for(20)
    events = {one["reason"]: one for one in court.client.list("events", "default")}
    assert {"SuccessfulCreate", "Completed"} <= set(events)
    assert events["Completed"]["metadata"]["labels"] == {"judged": "yes"}


@pytest.mark.parametrize(
    ("name", "later_s", "words"),
    [
        ("judge.default.svc", 0, ""),
        ("other.default.svc", 0, "x509: certificate is valid for "),
        ("172.18.0.9", 0, "not 172.18.0.9"),
        (
            "judge.default.svc",
            400 * 86_400,
            "x509: certificate has expired or is not yet valid: current time ",
        ),
    ],
)
def test_why_a_certificate_is_not_believed(name: str, later_s: float, words: str) -> None:
    made: Certificates = CERTIFICATES
    why = distrust(made.certificate, made.authority, name, time.time() + later_s)
    assert words in why if words else why == ""


def test_a_webhook_for_everything_that_is_down_stops_the_leases(court: Court) -> None:
    def renewed() -> list[str]:
        leases = court.client.list("leases.coordination.k8s.io", "kube-node-lease")
        return [one["spec"]["renewTime"] for one in leases]

    court.create(judge_service())
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
    court.create(configuration("Validating", CERTIFICATES.authority, [], rules=[rule], timeoutSeconds=1))
    before = renewed()
    court.world.run_for(60)
    assert renewed() == before
    kind = court.client.resource("validatingwebhookconfigurations.admissionregistration.k8s.io")
    court.cluster.api.delete(kind, "", "validating")
    court.world.run_for(30)
    assert all(now > then for now, then in zip(renewed(), before, strict=True))
    ready = [node["status"]["conditions"][-1] for node in court.client.list("nodes")]
    assert [(one["type"], one["status"]) for one in ready] == [("Ready", "True")] * 2
