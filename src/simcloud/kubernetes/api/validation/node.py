"""The rules of a RuntimeClass, and what its writes are warned of."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import Errors, immutable, items, mapping, needed, pairs, text
from simcloud.kubernetes.api.validation.labels import label_errors
from simcloud.kubernetes.api.validation.names import dns1123_label
from simcloud.kubernetes.api.validation.node_labels import label_warning
from simcloud.kubernetes.api.validation.pods.affinity import tolerations
from simcloud.kubernetes.api.validation.pods.resources import container_resource_name, resource_amount
from simcloud.kubernetes.api.validation.registry import validates, warns


@validates("node.k8s.io", "RuntimeClass")
def runtime_class(new: Object, old: Object | None) -> Errors:
    """The rules of a RuntimeClass."""
    handler = text(new, "handler")
    if old is not None:
        return immutable("handler", handler, text(old, "handler"))
    errors = needed("handler", handler, dns1123_label)
    for name, value in pairs(mapping(new, "overhead"), "podFixed"):
        path = f"overhead.podFixed.limits[{name}]"
        errors += container_resource_name(path, name)
        errors += resource_amount(path, name, value)
    scheduling = mapping(new, "scheduling")
    errors += label_errors("scheduling.nodeSelector", scheduling.get("nodeSelector"))
    return errors + tolerations("scheduling.tolerations", items(scheduling, "tolerations"))


@warns("node.k8s.io", "RuntimeClass")
def runtime_class_warnings(new: Object, old: Object | None) -> list[str]:
    """What a write of a RuntimeClass is warned of: labels that have a newer name."""
    keys = sorted(mapping(mapping(new, "scheduling"), "nodeSelector"))
    return [told for key in keys for told in label_warning("scheduling.nodeSelector", key)]
