"""Requests for certificates."""

from __future__ import annotations

from simcloud.kubernetes.api import durations
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, items, name, part, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, table

_GROUP = "certificates.k8s.io"
_CSR = "certificates.v1.CertificateSigningRequestSpec"


@table(
    _GROUP,
    "CertificateSigningRequest",
    NAME,
    AGE,
    Column("SignerName", of=f"{_CSR}.signerName"),
    Column("Requestor", of=f"{_CSR}.request"),
    Column("RequestedDuration", of=f"{_CSR}.expirationSeconds"),
    Column("Condition", of="certificates.v1.CertificateSigningRequestStatus.conditions"),
)
def signing_request(obj: Object, now_s: float) -> Cells:
    """A signing request's row."""
    spec = part(obj, "spec")
    lasting = spec.get("expirationSeconds")
    return [
        name(obj),
        age(obj, now_s),
        spec.get("signerName") or "<none>",
        text(spec, "username"),
        "<none>" if lasting is None else durations.human(lasting),
        state_of(part(obj, "status")),
    ]


def state_of(status: Object) -> str:
    """How far a request has come."""
    told = [one.get("type") for one in items(status, "conditions")]
    state = "Denied" if "Denied" in told else "Approved" if "Approved" in told else "Pending"
    state += ",Failed" if "Failed" in told else ""
    return state + (",Issued" if status.get("certificate") else "")
