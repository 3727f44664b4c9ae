"""Resources whose every request is answered with a warning, because something newer takes their place."""

from __future__ import annotations

from simcloud.kubernetes.api.resources import Resource

_DEPRECATED = {
    ("", "v1", "ComponentStatus"): "v1 ComponentStatus is deprecated in v1.19+",
    ("", "v1", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}


def deprecation_warning(resource: Resource) -> str | None:
    """What any use of this resource is warned of, None for most."""
    return _DEPRECATED.get((resource.group, resource.version, resource.kind))
