"""Defaults of ``resource.k8s.io``: claims of devices."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.registry import defaults, each, fill, part
from simcloud.kubernetes.api.objects import Object

GROUP = "resource.k8s.io"


@defaults(GROUP, "ResourceClaim")
def default_claim(claim: Object) -> None:
    """One device a request."""
    _default_spec(part(claim, "spec"))


@defaults(GROUP, "ResourceClaimTemplate")
def default_claim_template(template: Object) -> None:
    """A template is a claim to come."""
    _default_spec(part(part(template, "spec"), "spec"))


def _default_spec(spec: Object) -> None:
    for request in each(part(spec, "devices"), "requests"):
        if "exactly" in request:
            _default_request(request["exactly"])
        for choice in each(request, "firstAvailable"):
            _default_request(choice)


def _default_request(request: Object) -> None:
    fill(request, allocationMode="ExactCount")
    if request["allocationMode"] == "ExactCount":
        fill(request, count=1)
    for toleration in each(request, "tolerations"):
        fill(toleration, operator="Equal")
