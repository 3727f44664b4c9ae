"""Certificate signing requests: what was asked never changes, and nobody asks in another's name."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.strategies.change_times import note_decision_times
from simcloud.kubernetes.api.strategies.metadata import keep_system_metadata
from simcloud.kubernetes.api.strategies.registry import on_create, on_status_update, on_update, take

_ASKER = ("username", "uid", "groups", "extra")
_DECISIONS = ("Approved", "Denied")


@on_create("certificates.k8s.io", "CertificateSigningRequest")
def create_request(request: Object) -> None:
    """Who asks is written by the server, after this, from the authenticated user."""
    for field in _ASKER:
        request.setdefault("spec", {}).pop(field, None)


@on_update("certificates.k8s.io", "CertificateSigningRequest")
def update_request(new: Object, old: Object) -> None:
    """Metadata only."""
    take(new, old, "spec")


@on_status_update("certificates.k8s.io", "CertificateSigningRequest")
def update_request_status(new: Object, old: Object) -> None:
    """A signer cannot reword a decision; one it adds or removes is for validation to refuse."""
    decided = {one.get("type"): one for one in old.get("status", {}).get("conditions", ())}
    conditions = new.setdefault("status", {}).get("conditions", [])
    for index, condition in enumerate(conditions):
        kind = condition.get("type")
        if kind in _DECISIONS and kind in decided:
            conditions[index] = copy(decided[kind])


def prepare_approval(new: Object, old: Object, *, now: str) -> None:
    """Make a request ready for its ``approval`` subresource, which writes conditions only."""
    conditions = new.get("status", {}).get("conditions")
    keep_system_metadata(new, old)
    take(new, old, "spec", "status")
    status = new.setdefault("status", {})
    status.pop("conditions", None)
    if conditions:
        status["conditions"] = conditions
    note_decision_times(new, old, now)
