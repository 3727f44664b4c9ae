"""``binding``: assigns a pod to a node."""

from __future__ import annotations

from simcloud.kubernetes.api.errors import BadRequest, Conflict, Invalid
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.pod_conditions import set_condition
from simcloud.kubernetes.api.subresources.request import Request
from simcloud.kubernetes.api.validation.core import binding as binding_rules


def serve(request: Request) -> Object:
    """Bind the pod to the node that a Binding names."""
    binding = request.body("", "v1", "Binding")
    request.admit(binding)
    problems = binding_rules(binding, None)
    if problems:
        raise Invalid("", "Binding", request.name, problems)
    node = binding["target"]["name"]
    pod = request.present()
    if "deletionTimestamp" in pod["metadata"]:
        raise Conflict(
            request.resource,
            request.name,
            f"pod {request.name} is being deleted, cannot be assigned to a host",
        )
    if pod["spec"].get("nodeName"):
        why = f'pod {request.name} is already assigned to node "{pod["spec"]["nodeName"]}"'
        raise Conflict(request.resource, request.name, why)
    if pod["spec"].get("schedulingGates"):
        raise Conflict(
            request.resource, request.name, f"pod {request.name} has non-empty .spec.schedulingGates"
        )
    uid = at(binding, "metadata", "uid", default="")
    if uid and uid != pod["metadata"]["uid"]:
        raise BadRequest("the UID in the binding does not match the pod's")

    def bind(obj: Object) -> None:
        obj["spec"]["nodeName"] = node
        for name, text in (at(binding, "metadata", "annotations") or {}).items():
            obj["metadata"].setdefault("annotations", {})[name] = text
        for name, text in (at(binding, "metadata", "labels") or {}).items():
            obj["metadata"].setdefault("labels", {})[name] = text
        # The node that was kept for the pod says nothing any more.
        at(obj, "status", default={}).pop("nominatedNodeName", None)
        scheduled = {"status": "True", "type": "PodScheduled"}
        set_condition(obj, scheduled, request.api.timestamp(), observed=False)

    request.change(bind, noted=False)
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
