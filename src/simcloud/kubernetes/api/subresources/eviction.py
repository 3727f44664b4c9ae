"""``eviction``: deletes a pod if its disruption budget allows it."""

from __future__ import annotations

from simcloud.kubernetes.api.errors import ApiError, InternalError, TooManyRequests
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.selectors import from_label_selector
from simcloud.kubernetes.api.store import Key
from simcloud.kubernetes.api.subresources.request import Request
from simcloud.kubernetes.api.verbs.deletes import delete, read_options

_ASK_AGAIN_S = 10


def serve(request: Request) -> Object:
    """Evict the pod."""
    eviction = request.body("policy", "v1", "Eviction")
    pod = request.present()
    request.admit(eviction)
    options = read_options(eviction.get("deleteOptions") or {})
    dry_run = options.dry_run or request.options.dry_run
    if "deletionTimestamp" not in pod["metadata"]:  # one that is going already is in no more of a hurry
        if at(pod, "status", "phase") not in ("Succeeded", "Failed", "Pending"):
            _spend_budget(request, pod, dry_run)
        delete(
            request.api,
            request.resource,
            request.namespace,
            request.name,
            options,
            request.caller,
            admitted=True,
        )
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def _spend_budget(request: Request, pod: Object, dry_run: bool) -> None:
    """Take one disruption from the budget that covers the pod, or refuse."""
    labels = pod["metadata"].get("labels") or {}
    budgets = [
        budget
        for budget in request.api.log.objects("policy", "poddisruptionbudgets", request.namespace)
        if at(budget, "spec", "selector") is not None
        and from_label_selector(budget["spec"]["selector"]).matches(labels)
    ]
    if not budgets:
        return
    if len(budgets) > 1:
        raise InternalError(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    budget = budgets[0]
    if not _ready(pod) and _lenient(budget):
        return
    refusal = _refusal(budget)
    if refusal is not None:
        raise refusal
    if dry_run:
        return
    spent: Object = copy(budget)
    name = budget["metadata"]["name"]
    spent["status"]["disruptionsAllowed"] -= 1
    spent["status"].setdefault("disruptedPods", {})[request.name] = request.api.timestamp()
    key = Key("policy", "poddisruptionbudgets", request.namespace, name)
    request.api.log.put(key, spent, request.caller.user.name)


def _ready(pod: Object) -> bool:
    conditions = at(pod, "status", "conditions", default=[])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _lenient(budget: Object) -> bool:
    """A pod that is not ready counts for nothing, unless the budget wants its application whole first."""
    status = budget.get("status") or {}
    if at(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    healthy: int = status.get("currentHealthy", 0)
    desired: int = status.get("desiredHealthy", 0)
    return healthy >= desired > 0


def _refusal(budget: Object) -> ApiError | None:
    status = budget.get("status") or {}
    name = budget["metadata"]["name"]
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    cause = "DisruptionBudget"
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        detail = f"The disruption budget {name} is still being processed by the server."
        return TooManyRequests(message, _ASK_AGAIN_S, [{"reason": cause, "message": detail}])
    if status.get("disruptionsAllowed", 0) > 0:
        return None
    detail = (
        f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods and has "
        f"{status.get('currentHealthy', 0)} currently"
    )
    return TooManyRequests(message, 0, [{"reason": cause, "message": detail}])
