"""CertificateApproval and CertificateSigning: who may approve and sign what, by the signer's name.

CertificateSubjectRestriction looks into the request itself for a group that nobody may ask for.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.admission.plugin import Quiet, creates, refused, updates
from simcloud.kubernetes.api.objects import Object

if TYPE_CHECKING:
    from simcloud.kubernetes.api.verbs.write import Write

_GROUP: Final = "certificates.k8s.io"
_REQUESTS: Final = (_GROUP, "certificatesigningrequests")
_CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client"
_MASTERS: Final = bytes((0x0E,)) + b"system:masters"
_ORGANIZATION: Final = bytes((0x06, 0x03, 0x55, 0x04, 0x0A))
"""The object identifier 2.5.4.10 as a certificate request carries it."""
_TEXT_TYPES: Final = (0x0C, 0x13)


class CertificateApproval(Quiet):
    """Only who may approve for a signer approves."""

    def check(self, write: Write) -> None:
        if updates(write, _REQUESTS, "approval"):
            _check_signer(write, "approve")


class CertificateSigning(Quiet):
    """Only who may sign for a signer hands out a certificate."""

    def check(self, write: Write) -> None:
        if not updates(write, _REQUESTS, "status"):
            return
        new, old = write.new.get("status") or {}, write.before.get("status") or {}
        if any(new.get(part) != old.get(part) for part in ("certificate", "conditions")):
            _check_signer(write, "sign")


class CertificateSubjectRestriction(Quiet):
    """Nobody becomes a cluster's master by asking for a certificate."""

    def check(self, write: Write) -> None:
        if not creates(write, _REQUESTS) or write.new["spec"].get("signerName") != _CLIENT_SIGNER:
            return
        if _asks_for_masters(write.new["spec"]):
            raise refused(write, f"use of {_CLIENT_SIGNER} signer with system:masters group is not allowed")


def _check_signer(write: Write, verb: str) -> None:
    signer = str(write.before["spec"].get("signerName", ""))
    every = signer.partition("/")[0] + "/*"
    for name in (signer, every):
        wish = Attributes(write.caller.user, verb, _GROUP, "*", "signers", name=name)
        if write.api.authorizer.authorize(wish).allowed:
            return
    raise refused(write, f'user not permitted to {verb} requests with signerName "{signer}"')


def _asks_for_masters(spec: Object) -> bool:
    """Whether an organization of the request's subject is the masters' group."""
    try:
        pem = base64.b64decode(spec.get("request", ""))
        body = b"".join(line for line in pem.splitlines() if line and not line.startswith(b"-----"))
        request = base64.b64decode(body)
    except (ValueError, binascii.Error):
        return False
    return any(_ORGANIZATION + bytes((kind,)) + _MASTERS in request for kind in _TEXT_TYPES)
