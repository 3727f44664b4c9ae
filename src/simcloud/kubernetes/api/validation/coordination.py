"""The rules of a Lease."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import Errors, broken, mapping, non_negative, text
from simcloud.kubernetes.api.validation.names import qualified_name
from simcloud.kubernetes.api.validation.registry import validates

_STRATEGIES = ("OldestEmulationVersion",)


@validates("coordination.k8s.io", "Lease")
def lease(new: Object, old: Object | None) -> Errors:
    """The rules of a Lease."""
    spec = mapping(new, "spec")
    errors: Errors = []
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    if transitions is not None:
        errors += non_negative("spec.leaseTransitions", transitions)
    strategy = text(spec, "strategy")
    if "/" in strategy:
        errors += broken("spec.strategy.strategy", strategy, qualified_name(strategy))
    elif strategy and strategy not in _STRATEGIES:
        errors.append(not_supported("spec.strategy.strategy", strategy, _STRATEGIES))
    if text(spec, "preferredHolder") and not strategy:
        told = "may only be specified if `strategy` is defined"
        errors.append(forbidden("spec.preferredHolder", told))
    return errors
