"""The rules of an APIService."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import invalid, required
from simcloud.kubernetes.api.objects import Object, name_of
from simcloud.kubernetes.api.validation.common import Errors, make_errors, mapping, number, text
from simcloud.kubernetes.api.validation.core import decode_base64
from simcloud.kubernetes.api.validation.names import dns1035_label, dns1123_subdomain, port_number
from simcloud.kubernetes.api.validation.registry import validates

_GROUP = "apiregistration.k8s.io"


@validates(_GROUP, "APIService")
def api_service(new: Object, old: Object | None) -> Errors:
    """The rules of an APIService."""
    spec = mapping(new, "spec")
    group, version = text(spec, "group"), text(spec, "version")
    errors: Errors = []
    if name_of(new) != f"{version}.{group}":
        message = f'must be `spec.version+"."+spec.group`: "{version}.{group}"'
        errors.append(invalid("metadata.name", name_of(new), message))
    if group:
        errors += make_errors("spec.group", group, dns1123_subdomain(group))
    elif version != "v1":
        message = "only v1 may have an empty group and it better be legacy kube"
        errors.append(required("spec.group", message))
    errors += make_errors("spec.version", version, dns1035_label(version))
    for field, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        value = number(spec, field)
        if not 0 < value <= most:
            errors.append(invalid(f"spec.{field}", value, f"must be positive and less than {most}"))
    return errors + _check_service(spec)


def _check_service(spec: Object) -> Errors:
    service, bundle = spec.get("service"), decode_base64(text(spec, "caBundle"))
    trusting = bool(spec.get("insecureSkipTLSVerify"))
    errors: Errors = []
    if service is None:
        if bundle:
            message = "local APIServices may not have a caBundle"
            errors.append(invalid("spec.caBundle", f"{len(bundle)} bytes", message))
        if trusting:
            message = "local APIServices may not have insecureSkipTLSVerify"
            errors.append(invalid("spec.insecureSkipTLSVerify", trusting, message))
        return errors
    errors += [required(f"spec.service.{field}") for field in ("namespace", "name") if not service.get(field)]
    port = number(service, "port")
    errors += make_errors(
        "spec.service.port", port, [f"port is not valid: {message}" for message in port_number(port)]
    )
    if trusting and bundle:
        message = "may not be true if caBundle is present"
        errors.append(invalid("spec.insecureSkipTLSVerify", trusting, message))
    return errors
