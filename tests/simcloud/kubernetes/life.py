"""The life of a cluster from one seed: what the check for determinism runs in fresh processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simcloud.kubernetes.api.objects import Object
from tests.simcloud.kubernetes.lab import Change, Lab

WORKLOAD = {"terminationGracePeriodSeconds": 5}


def image(name: str) -> Change:
    """Change a workload's image."""
    return lambda obj: obj["spec"]["template"]["spec"]["containers"][0].update(image=name)


def replicas(count: int) -> Change:
    """Change a workload's size."""
    return lambda obj: obj["spec"].update(replicas=count)


def life(seed: int) -> Iterator[str]:
    """Deploy, scale, break, roll back, drain, lose a machine, delete; every revision is observed."""
    lab = Lab(seed)
    told = 0
    for phase in (deploy, scale, break_it, roll_back, drain, lose_a_machine, delete):
        lab.world.run_for(phase(lab))
        log = lab.cluster.api.log
        for write in log.history():
            if write.number > told:
                yield f"{write.number} {write.time_s!r} {write.change} {'/'.join(write.key)} by {write.by}"
        told = log.revision
        yield f"{phase.__name__}: {log.hash()} {lab.world.fingerprint()}"
    assert lab.pods() == []


def deploy(lab: Lab) -> float:
    lab.deploy("web", "nginx:1.19", 2)
    lab.create("Service", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80}]})
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    lab.create("PodDisruptionBudget", "web", "policy/v1", spec=budget)
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    lab.create(
        "StatefulSet",
        "db",
        "apps/v1",
        spec=workload("db", "nginx:1.19")
        | {"serviceName": "db", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}]},
    )
    lab.create("DaemonSet", "log", "apps/v1", spec=workload("log", "busybox:1.36", "sleep", "9999"))
    batch = pods("work", "busybox:1.36", "sh", "-c", "sleep 2; exit $((RANDOM % 2))")
    batch["spec"]["restartPolicy"] = "Never"
    lab.create("Job", "once", "batch/v1", spec={"completions": 2, "backoffLimit": 2, "template": batch})
    every = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": batch}}}
    lab.create("CronJob", "often", "batch/v1", spec=every)
    return 20.0


def scale(lab: Lab) -> float:
    lab.set("web", replicas(6))
    lab.set("db", replicas(3), "statefulsets.apps")
    return 20.0


def break_it(lab: Lab) -> float:
    lab.set("web", image("nginx:nosuchtag"))
    lab.set("log", image("busybox:nosuchtag"), "daemonsets.apps")
    return 90.0


def roll_back(lab: Lab) -> float:
    lab.set("web", image("nginx:1.19"))
    lab.set("log", image("busybox:1.36"), "daemonsets.apps")
    return 60.0


def drain(lab: Lab) -> float:
    lab.drain("kind-worker")
    return 60.0


def lose_a_machine(lab: Lab) -> float:
    machine = lab.world.machines["kind-worker2"]
    machine.lose()
    lab.world.run_for(380)
    machine.boot()
    lab.cluster.kubelets["kind-worker2"].start()
    lab.cordon("kind-worker", False)
    return 60.0


def delete(lab: Lab) -> float:
    for resource in (
        "deployments.apps", "statefulsets.apps", "daemonsets.apps", "cronjobs.batch", "jobs.batch",
        "services", "persistentvolumeclaims", "poddisruptionbudgets.policy",
    ):  # fmt: skip
        for obj in lab.client.list(resource, "default"):
            lab.client.delete(obj, propagation="Background")
    return 60.0


def workload(name: str, image: str, *command: str) -> Object:
    labels = {"app": name}
    return {"selector": {"matchLabels": labels}, "template": pods(name, image, *command)}


def pods(name: str, image: str, *command: str) -> Any:
    container: Object = {"name": "main", "image": image}
    if command:
        container["command"] = list(command)
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **WORKLOAD}}
