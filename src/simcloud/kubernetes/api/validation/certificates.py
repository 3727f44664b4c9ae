"""The rules of a CertificateSigningRequest.

That the request inside is PEM of the right kind is checked; its certificate content is not read.
"""

from __future__ import annotations

import re

from simcloud.kubernetes.api.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import Errors, TextRule, broken, items, mapping, same, text
from simcloud.kubernetes.api.validation.core import decoded
from simcloud.kubernetes.api.validation.names import dns1123_label, dns1123_subdomain, size
from simcloud.kubernetes.api.validation.registry import validates, validates_status

_GROUP = "certificates.k8s.io"
_LEGACY = "kubernetes.io/legacy-unknown"
_PEM = re.compile(
    rb"(?:\A|\n)-----BEGIN CERTIFICATE REQUEST-----\r?\n.*?-----END CERTIFICATE REQUEST-----", re.S
)
_USAGES = (
    *("any", "cert sign", "client auth", "code signing", "content commitment", "crl sign"),
    *("data encipherment", "decipher only", "digital signature", "email protection", "encipher only"),
    *("ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment"),
    *("microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"),
)
_DECISIONS = ("Approved", "Denied", "Failed")
_LONGEST_DOMAIN, _LONGEST_SIGNER = 253, 571


@validates(_GROUP, "CertificateSigningRequest")
def certificate_signing_request(new: Object, old: Object | None) -> Errors:
    """The rules of a CertificateSigningRequest."""
    spec = mapping(new, "spec")
    errors: Errors = []
    if not _PEM.search(decoded(text(spec, "request"))):
        told = "PEM block type must be CERTIFICATE REQUEST"
        errors.append(invalid("spec.request", spec.get("request"), told))
    usages = items(spec, "usages")
    if not usages:
        errors.append(required("spec.usages"))
    for index, usage in enumerate(usages):
        if usage not in _USAGES:
            errors.append(not_supported(f"spec.usages[{index}]", usage, _USAGES))
        if usage in usages[:index]:
            errors.append(duplicate(f"spec.usages[{index}]", usage))
    signer = text(spec, "signerName")
    if signer == _LEGACY:
        told = "the legacy signerName is not allowed via this API version"
        errors.append(invalid("spec.signerName", signer, told))
    else:
        errors += signer_name("spec.signerName", signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < 600:
        told = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.append(invalid("spec.expirationSeconds", seconds, told))
    errors += _conditions(items(mapping(new, "status"), "conditions"))
    return errors if old is None else errors + _decisions_kept(new, old)


@validates_status(_GROUP, "CertificateSigningRequest")
def certificate_signing_request_status(new: Object, old: Object) -> Errors:
    """The rules of its status: a certificate once issued stays, and so does a decision."""
    errors = _conditions(items(mapping(new, "status"), "conditions"))
    before, now = mapping(old, "status").get("certificate"), mapping(new, "status").get("certificate")
    if before and before != now:
        errors.append(forbidden("status.certificate", "updates may not modify existing certificate content"))
    return errors + _decisions_kept(new, old)


def signer_name(path: str, value: str) -> Errors:
    """The name of a signer: ``domain.com/name``."""
    if not value:
        return [required(path)]
    domain, slash, name = value.partition("/")
    if not slash or "/" in name:
        told = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        return [invalid(path, value, told)]
    errors: Errors = []
    if size(domain) > _LONGEST_DOMAIN:
        errors.append(too_long(path, _LONGEST_DOMAIN))
    errors += _labels(path, domain, dns1123_label)
    if "." not in domain:
        told = "should be a domain with at least two segments separated by dots"
        errors.append(invalid(path, domain, told))
    errors += _labels(path, name, dns1123_subdomain)
    if size(value) > _LONGEST_SIGNER:
        errors.append(too_long(path, _LONGEST_SIGNER))
    return errors


def _labels(path: str, value: str, rule: TextRule) -> Errors:
    for label in value.split("."):
        wrong = rule(label)
        if wrong:
            return broken(path, value, [f'validating label "{label}": {told}' for told in wrong])
    return []


def _conditions(conditions: list[Object]) -> Errors:
    errors: Errors = []
    seen: list[str] = []
    for index, condition in enumerate(conditions):
        path, kind, status = f"status.conditions[{index}]", text(condition, "type"), text(condition, "status")
        if not kind:
            errors.append(required(f"{path}.type"))
        known = ["True"] if kind in _DECISIONS else ["False", "True", "Unknown"]
        if not status:
            errors.append(required(f"{path}.status"))
        elif status not in known:
            errors.append(not_supported(f"{path}.status", status, known))
        opposite = {"Approved": "Denied", "Denied": "Approved"}.get(kind)
        if opposite in seen:
            told = "Approved and Denied conditions are mutually exclusive"
            errors.append(invalid("status.conditions", kind, told))
        if kind in seen:
            errors.append(duplicate(f"{path}.type", kind))
        seen.append(kind)
    return errors


def _decisions_kept(new: Object, old: Object) -> Errors:
    errors: Errors = []
    for kind in _DECISIONS:
        before, now = (
            [one for one in items(mapping(side, "status"), "conditions") if one.get("type") == kind]
            for side in (old, new)
        )
        if before and not now:
            told = f'updates may not remove a condition of type "{kind}"'
            errors.append(forbidden("status.conditions", told))
        elif before and not same(before, now):
            told = f'updates may not modify a condition of type "{kind}"'
            errors.append(forbidden("status.conditions", told))
    return errors
