"""What extends the API: CustomResourceDefinitions and APIServices."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.strategies.metadata import keep_user_metadata
from simcloud.kubernetes.api.strategies.registry import on_create, on_status_update, on_update


@on_create("apiextensions.k8s.io", "CustomResourceDefinition")
def create_definition(definition: Object) -> None:
    """The version to store is stored from now on."""
    definition["status"] = {}
    _note_stored(definition)


@on_update("apiextensions.k8s.io", "CustomResourceDefinition")
def update_definition(new: Object, _old: Object) -> None:
    """A new version to store joins those that were stored before."""
    _note_stored(new)


def _note_stored(definition: Object) -> None:
    spec = definition.setdefault("spec", {})
    conversion = spec.get("conversion", {})
    if conversion.get("strategy") == "None":
        conversion.pop("webhook", None)
    status = definition.setdefault("status", {})
    stored = list(status.get("storedVersions") or ())
    for version in spec.get("versions", ()):
        if version.get("storage") and version.get("name") not in stored:
            stored.append(version.get("name", ""))
    if stored:
        status["storedVersions"] = stored


@on_create("apiregistration.k8s.io", "APIService")
def create_api_service(service: Object) -> None:
    """What this server serves itself is available at once."""
    service["status"] = {}
    if "service" not in service.setdefault("spec", {}):
        service["status"]["conditions"] = [
            {
                "type": "Available",
                "status": "True",
                "lastTransitionTime": service["metadata"].get("creationTimestamp"),
                "reason": "Local",
                "message": "Local APIServices are always available",
            }
        ]


on_status_update("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")(keep_user_metadata)
on_status_update("apiextensions.k8s.io", "CustomResourceDefinition")(keep_user_metadata)
on_status_update("apiregistration.k8s.io", "APIService")(keep_user_metadata)
