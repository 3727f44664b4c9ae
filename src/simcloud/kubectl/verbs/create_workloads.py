"""``kubectl create deployment``, ``job`` and ``cronjob``."""

from __future__ import annotations

from typing import Any

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_creation import after_dash, create_built, the_name
from simcloud.kubectl.selection import find_resource
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object, copy

MANUAL = {"cronjob.kubernetes.io/instantiate": "manual"}


@command(
    "create deployment",
    "Create a deployment that runs one or more images",
    examples=(
        "kubectl create deployment web --image=nginx:1.27 --replicas=3",
        "kubectl create deployment idle --image=busybox -- sleep 1d",
    ),
    aliases=("deploy",),
    required=("image",),
)
async def deployment(kubectl: Kubectl) -> None:
    """Make a Deployment."""
    flags, name, words = kubectl.flags, the_name(kubectl), after_dash(kubectl)
    images = flags["image"]
    if len(images) > 1 and words:
        raise KubectlError("cannot specify multiple --image options and command")
    containers: list[Object] = [{"name": _short_name(image), "image": image} for image in images]
    if words:
        containers[0]["command"] = words
    if flags["port"] >= 0:
        containers[0]["ports"] = [{"containerPort": flags["port"]}]
    labels = {"app": name}
    spec = {
        "replicas": flags["replicas"],
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
    }
    obj = {"metadata": {"name": name, "labels": labels}, "spec": spec}
    await create_built(kubectl, "deployments.apps", obj, "failed to create deployment:")


def _short_name(image: str) -> str:
    """A container's name from its image: the last part without tag and digest, in letters a name may have."""
    last = image.rpartition("/")[2]
    return last.partition(":")[0].partition("@")[0].replace("_", "-").lower()


@command(
    "create job",
    "Create a job that runs an image, or one of a cron job's",
    examples=(
        "kubectl create job once --image=busybox -- date",
        "kubectl create job now --from=cronjob/backup",
    ),
)
async def job(kubectl: Kubectl) -> None:
    """Make a Job."""
    flags, name, words = kubectl.flags, the_name(kubectl), after_dash(kubectl)
    if bool(flags["image"]) == bool(flags["from"]):
        raise KubectlError("either --image or --from must be specified")
    if words and flags["from"]:
        raise KubectlError("cannot specify --from and command")
    obj: Object = {"metadata": {"name": name}}
    if flags["image"]:
        obj["spec"] = {"template": {"spec": _pod(name, flags["image"], words, "Never")}}
    else:
        obj = await _from_cron_job(kubectl, name, flags["from"])
    await create_built(kubectl, "jobs.batch", obj, "failed to create job:")


async def _from_cron_job(kubectl: Kubectl, name: str, said: str) -> Object:
    connection = await kubectl.connect()
    kind, slash, of = said.partition("/")
    if not slash:
        raise KubectlError(
            "the --from flag requires a resource in the form of <resource>/<name>"
            if not of
            else f"invalid --from value {said}"
        )
    resource = find_resource(connection.catalogue, kind)
    found = await connection.get(resource, kubectl.namespace if resource.namespaced else "", of)
    if resource.key != ("batch", "cronjobs"):
        raise KubectlError(f"unknown object type *{resource.version}.{resource.kind}")
    template = found["spec"]["jobTemplate"]
    metadata = template.get("metadata") or {}
    owner = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": of,
        "uid": found["metadata"]["uid"],
        "controller": True,
    }
    made = {"name": name, "annotations": {**MANUAL, **(metadata.get("annotations") or {})}}
    if metadata.get("labels"):
        made["labels"] = dict(metadata["labels"])
    return {"metadata": {**made, "ownerReferences": [owner]}, "spec": copy(template["spec"])}


@command(
    "create cronjob",
    "Create a job that runs on a schedule",
    examples=('kubectl create cronjob backup --image=busybox --schedule="0 3 * * *" -- date',),
    aliases=("cj",),
    required=("image", "schedule"),
)
async def cron_job(kubectl: Kubectl) -> None:
    """Make a CronJob."""
    flags, name = kubectl.flags, the_name(kubectl)
    pod = _pod(name, flags["image"], after_dash(kubectl), flags["restart"] or "OnFailure")
    template = {"metadata": {"name": name}, "spec": {"template": {"spec": pod}}}
    obj = {"metadata": {"name": name}, "spec": {"schedule": flags["schedule"], "jobTemplate": template}}
    await create_built(kubectl, "cronjobs.batch", obj, "failed to create cronjob:")


def _pod(name: str, image: str, words: list[str], restart: str) -> Object:
    container: dict[str, Any] = {"name": name, "image": image}
    if words:
        container["command"] = words
    return {"containers": [container], "restartPolicy": restart}
