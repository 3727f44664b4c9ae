"""Defaults of what extends the API: CustomResourceDefinitions and APIServices."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.registry import defaults, each, fill, part
from simcloud.kubernetes.api.objects import Object


@defaults("apiextensions.k8s.io", "CustomResourceDefinition")
def default_definition(definition: Object) -> None:
    """Names follow from the kind; the version that is stored has been stored."""
    spec = part(definition, "spec")
    names = part(spec, "names")
    kind = names.get("kind", "")
    fill(names, singular=kind.lower(), listKind=f"{kind}List")
    fill(part(spec, "conversion"), strategy="None")
    service = spec["conversion"].get("webhook", {}).get("clientConfig", {}).get("service")
    if service is not None:
        fill(service, port=443)
    status = part(definition, "status")
    if not status.get("storedVersions"):
        stored = next(
            (version.get("name", "") for version in each(spec, "versions") if version.get("storage")), ""
        )
        if stored:
            status["storedVersions"] = [stored]


@defaults("apiregistration.k8s.io", "APIService")
def default_api_service(service: Object) -> None:
    """An extension server listens where HTTPS does."""
    reference = part(service, "spec").get("service")
    if reference is not None:
        fill(reference, port=443)
