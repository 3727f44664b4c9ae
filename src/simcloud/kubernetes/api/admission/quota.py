"""ResourceQuota: charge a namespace's quota before an object is created, and refuse writes that exceed it.

The charge is written to the quota's status at once, as the genuine plugin does. The quota controller subtracts
deleted objects, and charges whose write failed afterwards.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.access.users import MASTERS_GROUP, User
from simcloud.kubernetes.api.admission.plugin import CLAIMS, PODS, Quiet, make_refusal
from simcloud.kubernetes.api.admission.quota_usage import SERVICES, covers, missing, select_measured, usage
from simcloud.kubernetes.api.amounts import Amount, Amounts, add, parse_amounts
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.options import Caller

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

API_SERVER: Final = Caller(User("system:apiserver", groups=(MASTERS_GROUP,)), "kube-apiserver")


class QuotaLimits(Quiet):
    """The last word of admission: nothing is charged that something else refuses."""

    def check(self, write: Write) -> None:
        if not write.resource.namespaced or write.operation == "DELETE":
            return
        quotas = write.api.log.objects("", "resourcequotas", write.key.namespace)
        if not quotas or not _is_charged(write):
            return
        key = write.resource.key
        concerned = [quota for quota in quotas if covers(quota, key, write.new)]
        for quota in concerned:
            _check_said(write, quota)
        charged = [(quota, used) for quota in concerned if (used := _charge(write, quota)) is not None]
        if write.options.dry_run:
            return
        for quota, used in charged:
            _write_status(write, quota, used)


def _is_charged(write: Write) -> bool:
    """Return whether a write can change the measured usage of an object."""
    key = write.resource.key
    if write.operation == "CREATE":
        return not write.subresource
    if key == PODS:
        return write.subresource == "resize"
    return key in (SERVICES, CLAIMS) and not write.subresource


def _check_said(write: Write, quota: Object) -> None:
    name = quota["metadata"]["name"]
    hard, used = at(quota, "status", "hard") or {}, at(quota, "status", "used") or {}
    names = select_measured(write.resource.key, hard)
    if write.resource.key == PODS:
        silence = missing(write.new, names)
        if silence:
            raise make_refusal(write, f"failed quota: {name}: {silence}")
    if any(resource_name not in used for resource_name in names):
        raise make_refusal(write, f"status unknown for quota: {name}, resources: {','.join(sorted(names))}")


def _charge(write: Write, quota: Object) -> Amounts | None:
    """What is used after the write; None if the write costs this quota nothing."""
    key, now_s = write.resource.key, write.api.now_s
    cost = usage(key, write.new, now_s)
    if write.old is not None and covers(quota, key, write.old):
        cost = _more(cost, usage(key, write.old, now_s))
    hard, used = parse_amounts(at(quota, "status", "hard")), parse_amounts(at(quota, "status", "used"))
    asked = {name: value for name, value in cost.items() if value.value and name in hard}
    if not asked:
        return None
    after = add(used, asked)
    beyond = sorted(name for name in asked if after[name].value > hard[name].value)
    if beyond:
        raise make_refusal(
            write,
            f"exceeded quota: {quota['metadata']['name']}, requested: {_format_amounts(asked, beyond)}, "
            f"used: {_format_amounts(used, beyond)}, limited: {_format_amounts(hard, beyond)}",
        )
    return after


def _more(new: Amounts, old: Amounts) -> Amounts:
    """What is new costs beyond what the old one did, never less than nothing."""
    nothing = Amount(Fraction(0))
    return {
        name: Amount(max(Fraction(0), value.value - old.get(name, nothing).value), value.family)
        for name, value in new.items()
    }


def _format_amounts(listed: Amounts, names: list[str]) -> str:
    return ",".join(f"{name}={listed[name]}" for name in names if name in listed)


def _write_status(write: Write, quota: Object, used: Amounts) -> None:
    api, metadata = write.api, quota["metadata"]
    changed: Object = copy(quota)
    changed["status"]["used"] = {name: str(value) for name, value in used.items()}
    quotas = api.catalogue.find("resourcequotas")
    api.update(quotas, metadata["namespace"], metadata["name"], changed, API_SERVER, subresource="status")
