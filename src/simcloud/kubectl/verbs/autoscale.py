"""``kubectl autoscale``: creates a HorizontalPodAutoscaler for a workload."""

from __future__ import annotations

from typing import Final

import msgspec

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_changes import annotate, each, record
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import LAST_APPLIED, ApiError, Object, WriteOptions, copy, quantity

VERSION: Final = "autoscaling/v2"
EXAMPLES: Final = (
    "kubectl autoscale deploy web --min=2 --max=10 --cpu=80%",
    "kubectl autoscale sts db --max=5 --memory=500Mi",
)


@command("autoscale", "Scale a workload by how much its pods use", examples=EXAMPLES, required=("max",))
async def autoscale(kubectl: Kubectl) -> None:
    """Make an autoscaler for each object named."""
    flags = kubectl.flags
    teller = Teller(
        kubectl, "created" if dry_run(kubectl) is DryRun.CLIENT else "autoscaled", keep_order=True
    )
    _refuse_nonsense(kubectl)
    infos = await select(kubectl, kubectl.args)
    connection = await kubectl.connect()
    scalers = connection.resource("horizontalpodautoscalers.autoscaling")

    async def one(info: Info) -> None:
        if "scale" not in info.resource.subresources:
            version = f"{info.resource.group}/{info.resource.version}, Resource={info.resource.plural}"
            raise KubectlError(
                f"cannot autoscale a {info.resource.kind}: could not find scale subresource for {version} in "
                "discovery information"
            )
        scaler = _scaler(kubectl, info)
        record(kubectl, scaler)
        if flags["save-config"]:
            kept = {key: value for key, value in scaler.items() if key != "metadata"}
            kept = {"kind": "", "apiVersion": "", "metadata": scaler["metadata"], **kept}
            annotate(scaler, LAST_APPLIED, msgspec.json.encode(kept).decode() + "\n")
        if dry_run(kubectl) is not DryRun.CLIENT:
            scaler = await _create(kubectl, scaler)
        await teller.tell(scalers, scaler)

    await each(kubectl, infos, one)


def _refuse_nonsense(kubectl: Kubectl) -> None:
    flags = kubectl.flags
    if flags["max"] < 1:
        raise KubectlError(f"--max=MAXPODS is required and must be at least 1, max: {flags['max']}")
    if flags["max"] < flags["min"]:
        raise KubectlError(
            "--max=MAXPODS must be larger or equal to --min=MINPODS, "
            f"max: {flags['max']}, min: {flags['min']}"
        )
    if flags.is_given("cpu-percent") and flags["cpu"]:
        raise KubectlError("--cpu-percent and --cpu are mutually exclusive")


def _scaler(kubectl: Kubectl, info: Info) -> Object:
    """The autoscaler, its fields in the order in which Go writes them."""
    flags = kubectl.flags
    target = {"kind": info.resource.kind, "name": info.name, "apiVersion": info.resource.api_version}
    spec: Object = {"scaleTargetRef": target}
    if flags["min"] >= 0:
        spec["minReplicas"] = flags["min"]
    spec["maxReplicas"] = flags["max"]
    cpu = flags["cpu"]
    if flags.is_given("cpu-percent") and flags["cpu-percent"] >= 0:
        cpu = f"{flags['cpu-percent']}%"
    metrics = [
        _metric(name, target_text)
        for name, target_text in (("cpu", cpu), ("memory", flags["memory"]))
        if target_text
    ]
    if metrics:
        spec["metrics"] = metrics
    return {
        "kind": "HorizontalPodAutoscaler",
        "apiVersion": VERSION,
        "metadata": {"name": flags["name"] or info.name, "namespace": kubectl.namespace},
        "spec": spec,
        "status": {"desiredReplicas": 0, "currentMetrics": None},
    }


def _metric(name: str, target_text: str) -> Object:
    """How much of a resource a pod should use: a share of its request, or an amount."""
    target: Object
    if target_text.endswith("%"):
        share = target_text[:-1]
        if not share.isascii() or not share.isdigit():
            raise KubectlError(f"invalid percentage value: {share}")
        target = {"type": "Utilization", "averageUtilization": int(share)}
    else:
        try:
            # A plain number of CPU is thousandths of one.
            amount = f"{target_text}m" if name == "cpu" and target_text.isdigit() else target_text
            target = {"type": "AverageValue", "averageValue": quantity.canonical(amount)}
        except ValueError:
            raise KubectlError(f"invalid resource {name} value: {target_text}") from None
    return {"type": "Resource", "resource": {"name": name, "target": target}}


async def _create(kubectl: Kubectl, scaler: Object) -> Object:
    """Make the autoscaler; where it is refused it is tried again in the older version, if that can say as much."""
    connection = await kubectl.connect()
    resource = connection.resource("horizontalpodautoscalers.autoscaling")
    options = WriteOptions(dry_run=dry_run(kubectl) is DryRun.SERVER)
    try:
        return await connection.create(resource, kubectl.namespace, copy(scaler), options)
    except ApiError:
        older = _older(scaler)
    resource = connection.catalogue.at("autoscaling", "v1", "horizontalpodautoscalers") or resource
    options = WriteOptions(dry_run=dry_run(kubectl) is DryRun.SERVER)
    return await connection.create(resource, kubectl.namespace, older, options)


def _older(scaler: Object) -> Object:
    """The autoscaler in autoscaling/v1."""
    metrics = scaler["spec"].get("metrics") or []
    why = "empty input" if len(metrics) < 2 else "%!w(<nil>)"
    plain = len(metrics) == 1 and metrics[0]["resource"]["name"] == "cpu"
    if not plain or metrics[0]["resource"]["target"]["type"] != "Utilization":
        raise KubectlError(
            f"failed to create autoscaling/v2 HPA and the configuration is incompatible with autoscaling/v1: {why}"
        )
    spec = {key: value for key, value in scaler["spec"].items() if key != "metrics"}
    share = metrics[0]["resource"]["target"]["averageUtilization"]
    if share > 0:
        spec["targetCPUUtilizationPercentage"] = share
    return {**scaler, "apiVersion": "autoscaling/v1", "spec": spec, "status": {}}
