"""How a webhook is reached: by a URL or by a Service."""

from __future__ import annotations

from urllib.parse import urlsplit

from simcloud.kubernetes.api.field_errors import invalid, required
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import Errors, make_errors, number, text
from simcloud.kubernetes.api.validation.core import decode_base64
from simcloud.kubernetes.api.validation.names import dns1035_label, dns1123_subdomain, port_number

_FORM = "; desired format: https://host[/path]"
REVIEW_VERSIONS = ("v1", "v1beta1")


def client_config(path: str, config: Object) -> Errors:
    """Exactly one way to reach a webhook."""
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    if url is not None:
        return webhook_url(f"{path}.url", url)
    return webhook_service(f"{path}.service", service or {})


def ca_bundle(path: str, bundle: str) -> Errors:
    """The certificates a webhook's own is checked with: PEM, if there are any."""
    if not bundle or b"-----BEGIN CERTIFICATE-----" in decode_base64(bundle):
        return []
    message = "unable to load root certificates: unable to parse bytes as PEM block"
    return [invalid(path, bundle, message)]


def webhook_url(path: str, url: str) -> Errors:
    """The URL of a webhook: HTTPS, a host and a path, nothing else."""
    try:
        parts = urlsplit(url)
        user = parts.username
    except ValueError:
        return [required(path, f'url must be a valid URL: parse "{url}": invalid URL{_FORM}')]
    host = parts.netloc.rpartition("@")[2]
    errors: Errors = []
    if parts.scheme != "https":
        errors.append(invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}"))
    if not host:
        errors.append(invalid(path, host, f"host must be specified{_FORM}"))
    if user is not None:
        given = parts.netloc.rpartition("@")[0]
        errors.append(invalid(path, given, "user information is not permitted in the URL"))
    if parts.fragment:
        errors.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(invalid(path, parts.query, "query parameters are not permitted in the URL"))
    return errors


def webhook_service(path: str, service: Object) -> Errors:
    """The Service behind which a webhook listens."""
    errors: Errors = [
        required(f"{path}.{field}") for field in ("name", "namespace") if not service.get(field)
    ]
    port = number(service, "port")
    errors += make_errors(
        f"{path}.port", port, [f"port is not valid: {message}" for message in port_number(port)]
    )
    return errors + make_errors(f"{path}.path", text(service, "path"), _url_path(text(service, "path")))


def _url_path(value: str) -> list[str]:
    if value in ("", "/"):
        return []
    if value == "//":
        return ["segment[0] may not be empty"]
    messages = [] if value.startswith("/") else ["must start with a '/'"]
    for index, step in enumerate(value[1:].removesuffix("/").split("/")):
        if not step:
            messages.append(f"segment[{index}] may not be empty")
        else:
            messages += [f"segment[{index}]: {wrong}" for wrong in dns1123_subdomain(step)]
    return messages


def review_versions(path: str, versions: list[str], empty: str) -> Errors:
    """The versions of a review that a webhook understands; one of ours must be among them."""
    if not versions:
        return [required(path, empty)]
    errors: Errors = []
    for index, version in enumerate(versions):
        if version in versions[:index]:
            errors.append(invalid(f"{path}[{index}]", version, "duplicate version"))
        else:
            errors += make_errors(f"{path}[{index}]", version, dns1035_label(version))
    if not any(version in REVIEW_VERSIONS for version in versions):
        message = f"must include at least one of {', '.join(REVIEW_VERSIONS)}"
        errors.append(invalid(path, versions, message))
    return errors
