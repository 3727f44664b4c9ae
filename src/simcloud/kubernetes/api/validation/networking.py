"""The rules of the networking group but for its policies, and what its writes are warned of."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import invalid, not_supported, required, too_long
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.validation.common import (
    Errors,
    check_required,
    immutable,
    items,
    make_errors,
    mapping,
    number,
    text,
)
from simcloud.kubernetes.api.validation.names import (
    dns1123_label,
    dns1123_subdomain,
    http_path_characters,
    path_segment,
    port_name,
    port_number,
    read_ip,
    size,
    wildcard_dns1123_subdomain,
)
from simcloud.kubernetes.api.validation.registry import validates, warns

_GROUP = "networking.k8s.io"
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_IN_PATH = ("//", "/./", "/../", "%2f", "%2F")
_BAD_AT_END = ("/..", "/.")
_NOT_AN_ADDRESS = "must be a DNS name, not an IP address"


@validates(_GROUP, "Ingress")
def ingress(new: Object, old: Object | None) -> Errors:
    """The rules of an Ingress."""
    spec = mapping(new, "spec")
    errors: Errors = []
    if not items(spec, "rules") and spec.get("defaultBackend") is None:
        message = "either `defaultBackend` or `rules` must be specified"
        errors.append(invalid("spec", spec.get("rules"), message))
    if spec.get("defaultBackend") is not None:
        errors += _backend("spec.defaultBackend", spec["defaultBackend"])
    lenient = old is not None and _had_bad_wildcard(old)
    for index, rule in enumerate(items(spec, "rules")):
        errors += _ingress_rule(f"spec.rules[{index}]", rule, lenient)
    any_secret = old is not None and _had_bad_secret(old)
    for index, tls in enumerate(items(spec, "tls")):
        errors += _ingress_tls(f"spec.tls[{index}]", tls, any_secret)
    name = spec.get("ingressClassName")
    if name is not None:
        errors += make_errors("spec.ingressClassName", name, dns1123_subdomain(name))
    annotated = at(new, "metadata", "annotations", _CLASS_ANNOTATION)
    if old is None and annotated is not None and name is not None and annotated != name:
        message = "must match `ingressClassName` when both are specified"
        errors.append(invalid(f"annotations.{_CLASS_ANNOTATION}", annotated, message))
    return errors


@warns(_GROUP, "Ingress")
def ingress_warnings(new: Object, old: Object | None) -> list[str]:
    """What the creation of an Ingress is warned of."""
    annotated = at(new, "metadata", "annotations", _CLASS_ANNOTATION) is not None
    if old is not None or not annotated or at(new, "spec", "ingressClassName") is not None:
        return []
    return [f"annotation \"{_CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"]


def _ingress_rule(path: str, rule: Object, lenient: bool) -> Errors:
    host = text(rule, "host")
    errors: Errors = []
    if host:
        if read_ip(host) is not None:
            errors.append(invalid(f"{path}.host", host, _NOT_AN_ADDRESS))
        errors += make_errors(f"{path}.host", host, _host(host))
    if rule.get("http") is not None and not (lenient and "*" in host):
        errors += _http(f"{path}.http", rule["http"])
    return errors


def _host(host: str) -> list[str]:
    return wildcard_dns1123_subdomain(host) if "*" in host else dns1123_subdomain(host)


def _http(path: str, http: Object) -> Errors:
    errors: Errors = [] if items(http, "paths") else [required(f"{path}.paths")]
    for index, http_path in enumerate(items(http, "paths")):
        errors += _http_path(f"{path}.paths[{index}]", http_path)
    return errors


def _http_path(path: str, given: Object) -> Errors:
    kind, value = given.get("pathType"), text(given, "path")
    if kind is None:
        return [required(f"{path}.pathType", "pathType must be specified")]
    sentences: list[str] = []
    if kind in ("Exact", "Prefix"):
        sentences += [] if value.startswith("/") else ["must be an absolute path"]
        sentences += [f"must not contain '{part}'" for part in _BAD_IN_PATH if part in value]
        sentences += [f"cannot end with '{part}'" for part in _BAD_AT_END if value.endswith(part)]
    elif kind == "ImplementationSpecific" and value and not value.startswith("/"):
        sentences.append("must be an absolute path")
    errors = make_errors(f"{path}.path", value, sentences)
    if kind not in _PATH_TYPES:
        errors.append(not_supported(f"{path}.pathType", kind, _PATH_TYPES))
    return errors + _backend(f"{path}.backend", mapping(given, "backend"))


def _backend(path: str, backend: Object) -> Errors:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return _check_typed_reference(f"{path}.resource", resource)
    if service is None:
        return [invalid(path, "", "resource or service backend is required")]
    errors = check_required(f"{path}.service.name", text(service, "name"), dns1123_label)
    name, port = text(mapping(service, "port"), "name"), number(mapping(service, "port"), "number")
    if name and port:
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif name:
        errors += make_errors(f"{path}.service.port.name", name, port_name(name))
    elif port:
        errors += make_errors(f"{path}.service.port.number", port, port_number(port))
    else:
        errors.append(required(path, "port name or number is required"))
    return errors


def _check_typed_reference(path: str, reference: Object) -> Errors:
    errors: Errors = []
    group = reference.get("apiGroup")
    if group is not None:
        errors += make_errors(f"{path}.apiGroup", group, dns1123_subdomain(group))
    for field in ("kind", "name"):
        value = text(reference, field)
        if value:
            errors += make_errors(f"{path}.{field}", value, path_segment(value))
        else:
            errors.append(required(f"{path}.{field}", f"{field} is required"))
    return errors


def _ingress_tls(path: str, tls: Object, any_secret: bool) -> Errors:
    errors: Errors = []
    for index, host in enumerate(items(tls, "hosts")):
        errors += make_errors(f"{path}.hosts[{index}]", host, _host(host))
    secret = text(tls, "secretName")
    if secret and not any_secret:
        errors += make_errors(f"{path}.secretName", secret, dns1123_subdomain(secret))
    return errors


def _had_bad_wildcard(old: Object) -> bool:
    rules = items(mapping(old, "spec"), "rules")
    return any("*" in text(rule, "host") and rule.get("http") and _http("", rule["http"]) for rule in rules)


def _had_bad_secret(old: Object) -> bool:
    names = [text(tls, "secretName") for tls in items(mapping(old, "spec"), "tls")]
    return any(name and dns1123_subdomain(name) for name in names)


@validates(_GROUP, "IngressClass")
def ingress_class(new: Object, old: Object | None) -> Errors:
    """The rules of an IngressClass."""
    spec = mapping(new, "spec")
    controller, path = text(spec, "controller"), "spec.controller"
    errors: Errors = []
    if old is not None:
        errors += immutable(path, controller, text(mapping(old, "spec"), "controller"))
    if size(controller) > 250:
        errors.append(too_long(path, 250))
    errors += domain_prefixed_path(path, controller)
    return errors


def domain_prefixed_path(path: str, value: str) -> Errors:
    """A path behind a domain: ``acme.io/foo``."""
    if not value:
        return [required(path)]
    host, _, rest = value.partition("/")
    if not host or not rest:
        return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    return make_errors(path, host, dns1123_subdomain(host)) + make_errors(
        path, rest, http_path_characters(rest)
    )
