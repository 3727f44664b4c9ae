"""``kubectl set selector``, ``set serviceaccount`` and ``set subject``."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_changes import (
    ALL_AND_SELECTOR,
    LOCAL_AND_SERVER,
    all_found,
    as_struct,
    change_all,
    difference,
    each,
    pod_spec,
    record,
    send_difference,
    stays_here,
)
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.selection import NOTHING_NAMED, Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, Object, copy, selectors

BINDINGS: Final = ("RoleBinding", "ClusterRoleBinding")
RBAC: Final = "rbac.authorization.k8s.io"


@command(
    "set selector", "Set which pods a service sends to", examples=("kubectl set selector svc web app=web",)
)
async def set_selector(kubectl: Kubectl) -> None:
    """Set the selector of services."""
    flags = kubectl.flags
    dry_run(kubectl)
    if not kubectl.args:
        raise KubectlError("one selector is required")
    *resources, expression = kubectl.args
    selector, others = _labels(expression)
    teller = Teller(kubectl, "selector updated")
    local = bool(flags["local"])
    infos = await select(kubectl, [] if local else resources, fetch_files=not local)

    async def one(info: Info) -> None:
        if info.resource.kind != "Service":
            raise KubectlError("setting a selector is only supported for Services")
        if others:
            raise KubectlError(f"match expression [{' '.join(others)}] not supported on this object")
        before = as_struct(info.resource, info.obj)
        after = copy(before)
        if flags["resource-version"]:
            after["metadata"]["resourceVersion"] = flags["resource-version"]
        after.setdefault("spec", {})["selector"] = selector
        record(kubectl, after)
        if not stays_here(kubectl):
            after = await send_difference(kubectl, info, difference(before, after))
        await teller.tell(info.resource, after)

    await each(kubectl, infos, one)


def _labels(expression: str) -> tuple[dict[str, str], list[str]]:
    """The labels that a selector says things are equal to, and its other conditions as Go prints them."""
    try:
        selector = selectors.parse_labels(expression)
    except ApiError as error:
        raise KubectlError(error.message) from None
    except ValueError as error:
        raise KubectlError(str(error)) from None
    labels: dict[str, str] = {}
    others: list[str] = []
    for requirement in selector.requirements:
        if requirement.operator in ("=", "=="):
            labels[requirement.key] = requirement.values[0]
            continue
        names = {"in": "In", "notin": "NotIn", "exists": "Exists", "!": "DoesNotExist"}
        if requirement.operator not in names:
            raise KubectlError(f'"{requirement.operator}" is not a valid label selector operator')
        others.append(f"{{{requirement.key} {names[requirement.operator]} [{' '.join(requirement.values)}]}}")
    return labels, others


@command(
    "set serviceaccount",
    "Set the service account of workloads",
    examples=("kubectl set serviceaccount deploy web robot",),
    aliases=("sa",),
)
async def set_serviceaccount(kubectl: Kubectl) -> None:
    """Set whom the pods run as."""
    tried = dry_run(kubectl)
    if kubectl.flags["local"] and tried is DryRun.SERVER:
        raise KubectlError(LOCAL_AND_SERVER)
    if not kubectl.args:
        raise KubectlError("serviceaccount is required")
    *resources, account = kubectl.args
    infos = await all_found(kubectl, resources)
    teller = Teller(kubectl, "serviceaccount updated")
    for info in infos:
        before = as_struct(info.resource, info.obj)
        after = copy(before)
        try:
            pod_spec(info.resource, after)["serviceAccountName"] = account
            record(kubectl, after)
            if not stays_here(kubectl):
                after = await send_difference(kubectl, info, difference(before, after))
        except KubectlError as error:
            kubectl.postpone(f"error: {info.resource.plural}/{info.name} {error.message}")
            continue
        except ApiError as error:
            kubectl.postpone(f"error: failed to patch ServiceAccountName {error.message}")
            continue
        await teller.tell(info.resource, after)


@command(
    "set subject",
    "Add subjects to role bindings",
    examples=("kubectl set subject rolebinding viewers --user=ann",),
)
async def set_subject(kubectl: Kubectl) -> None:
    """Bind further users, groups and service accounts."""
    flags = kubectl.flags
    tried = dry_run(kubectl)
    infos = await all_found(kubectl, kubectl.args)
    if flags["local"] and tried is DryRun.SERVER:
        raise KubectlError(LOCAL_AND_SERVER)
    if flags["all"] and flags["selector"]:
        raise KubectlError(ALL_AND_SELECTOR)
    subjects = _subjects(kubectl)
    if not infos and not kubectl.args:
        raise KubectlError(NOTHING_NAMED)

    def change(info: Info, obj: Object) -> None:
        if info.resource.kind not in BINDINGS:
            raise KubectlError("setting subjects is only supported for RoleBinding/ClusterRoleBinding")
        known = list(obj.get("subjects") or ())
        obj["subjects"] = known + [subject for subject in subjects if subject not in known]

    await change_all(kubectl, infos, "subjects", change, "failed to patch subjects to rolebinding:")


def _subjects(kubectl: Kubectl) -> list[Object]:
    flags = kubectl.flags
    users, groups, accounts = (flags[key] for key in ("user", "group", "serviceaccount"))
    if not users and not groups and not accounts:
        raise KubectlError("you must specify at least one value of user, group or serviceaccount")
    subjects: list[Object] = [{"apiGroup": RBAC, "kind": "User", "name": name} for name in sorted(set(users))]
    subjects += [{"apiGroup": RBAC, "kind": "Group", "name": name} for name in sorted(set(groups))]
    for account in accounts:
        namespace, colon, name = account.partition(":")
        if not colon or ":" in name:
            raise KubectlError("serviceaccount must be <namespace>:<name>")
        subjects.append({"kind": "ServiceAccount", "name": name, "namespace": namespace})
    return subjects
