"""Containers in a description: of a pod, with their states, or of a template."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator, Sequence

from simcloud.golang import quote, sprint
from simcloud.kubectl.describe.page import NONE, Page, long_time
from simcloud.kubectl.describe.parts import boolean, write_resources
from simcloud.kubernetes.api import Object, meta
from simcloud.kubernetes.api.tables import cells
from simcloud.kubernetes.kubelet.pods import downward_api

_RESOURCES_TOLD = ("cpu", "memory", "ephemeral-storage")
_UNESCAPED_IN_PATHS = "/$&+,:;=@"


def write_containers(
    page: Page, title: str, containers: Sequence[Object], pod: Object | None = None, statuses: str = ""
) -> None:
    """Containers of a pod, whose ``statuses`` lie under that name; or of a template, which stands deeper."""
    level = 0 if pod is not None else 1
    page.line(f"{title}:" if containers else f"{title}: {NONE}", level=level)
    known = (
        {
            cells.text(status_entry, "name"): status_entry
            for status_entry in cells.items(cells.part(pod, "status"), statuses)
        }
        if pod is not None
        else {}
    )
    for container in containers:
        page.line(f"{' ' * level}{cells.text(container, 'name')}:", level=1)
        _write_container(page, container, known.get(cells.text(container, "name")), pod)


def _write_container(page: Page, container: Object, status: Object | None, pod: Object | None) -> None:
    if status is not None:
        page.field("Container ID", cells.text(status, "containerID"), 2)
    page.field("Image", cells.text(container, "image"), 2)
    if status is not None:
        page.field("Image ID", cells.text(status, "imageID"), 2)
    _write_ports(page, cells.items(container, "ports"))
    write_seccomp(page, cells.part(container, "securityContext"), 2, 3)
    for title in ("Command", "Args"):
        _write_words(page, title, cells.items(container, title.lower()))
    if status is not None:
        _write_state(page, status)
    write_resources(page, cells.part(container, "resources"), 2)
    for title in ("Liveness", "Readiness", "Startup"):
        if container.get(f"{title.lower()}Probe") is not None:
            page.field(title, _probe(container[f"{title.lower()}Probe"]), 2)
    _write_sources(page, cells.items(container, "envFrom"))
    _write_environment(page, container, pod)
    _write_mounts(page, container)


def _write_ports(page: Page, ports: Sequence[Object]) -> None:
    for title, key in (("Port", "containerPort"), ("Host Port", "hostPort")):
        shown = ", ".join(_port(port, key) for port in ports)
        page.field(f"{title}s" if "," in shown else title, shown or NONE, 2)


def _port(port: Object, key: str) -> str:
    shown = f"{cells.count(port, key)}/{cells.text(port, 'protocol')}"
    return f"{shown} ({cells.text(port, 'name')})" if port.get("name") else shown


def write_seccomp(page: Page, security: Object, level: int, local_level: int) -> None:
    """The seccomp profile of a pod or a container, if one is set."""
    profile = security.get("seccompProfile")
    if profile is not None:
        page.field("SeccompProfile", cells.text(profile, "type"), level)
        if cells.text(profile, "type") == "Localhost":
            page.field("LocalhostProfile", cells.text(profile, "localhostProfile"), local_level)


def _write_words(page: Page, title: str, words: Sequence[str]) -> None:
    if words:
        page.line(f"{title}:", level=2)
        for word in words:
            for line in word.split("\n"):
                page.line(line, level=3)


def _write_state(page: Page, status: Object) -> None:
    _write_one_state(page, "State", cells.part(status, "state"))
    last = cells.part(status, "lastState")
    if last.get("terminated") is not None:
        _write_one_state(page, "Last State", last)
    page.field("Ready", boolean(status.get("ready")), 2)
    page.field("Restart Count", cells.count(status, "restartCount"), 2)


def _write_one_state(page: Page, title: str, state: Object) -> None:
    if state.get("running") is not None:
        page.field(title, "Running", 2)
        page.field("Started", long_time(state["running"].get("startedAt")), 3)
    elif state.get("terminated") is not None and state.get("waiting") is None:
        _write_end(page, title, state["terminated"])
    else:
        page.field(title, "Waiting", 2)
        page.optional("Reason", cells.part(state, "waiting").get("reason"), 3)


def _write_end(page: Page, title: str, ended: Object) -> None:
    page.field(title, "Terminated", 2)
    page.optional("Reason", ended.get("reason"), 3)
    page.optional("Message", ended.get("message"), 3)
    page.field("Exit Code", cells.count(ended, "exitCode"), 3)
    page.optional("Signal", ended.get("signal"), 3)
    page.field("Started", long_time(ended.get("startedAt")), 3)
    page.field("Finished", long_time(ended.get("finishedAt")), 3)


def _probe(probe: Object) -> str:
    settings = (
        f"delay={cells.count(probe, 'initialDelaySeconds')}s timeout={cells.count(probe, 'timeoutSeconds')}s "
        f"period={cells.count(probe, 'periodSeconds')}s #success={cells.count(probe, 'successThreshold')} "
        f"#failure={cells.count(probe, 'failureThreshold')}"
    )
    return f"{_handler(probe)} {settings}"


def _handler(probe: Object) -> str:
    if probe.get("exec") is not None:
        return f"exec {sprint(cells.items(probe['exec'], 'command'))}"
    if probe.get("httpGet") is not None:
        return f"http-get {_url(probe['httpGet'])}"
    if probe.get("tcpSocket") is not None:
        return f"tcp-socket {cells.text(probe['tcpSocket'], 'host')}:{probe['tcpSocket'].get('port', 0)}"
    if probe.get("grpc") is not None:
        return f"grpc <pod>:{cells.count(probe['grpc'], 'port')} {cells.text(probe['grpc'], 'service')}"
    return "unknown"


def _url(asked: Object) -> str:
    host, path = (
        cells.text(asked, "host"),
        urllib.parse.quote(cells.text(asked, "path"), safe=_UNESCAPED_IN_PATHS),
    )
    if ":" in host:
        host = f"[{host}]"
    slash = "/" if path and not path.startswith("/") else ""
    return f"{cells.text(asked, 'scheme').lower()}://{host}:{asked.get('port', 0)}{slash}{path}"


def _write_sources(page: Page, sources: Sequence[Object]) -> None:
    if not sources:
        return
    page.line("Environment Variables from:", level=2)
    for source in sources:
        kind, reference = ("", {})
        for key, name in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            if not kind and source.get(key) is not None:
                kind, reference = name, source[key]
        prefix = f" with prefix '{cells.text(source, 'prefix')}'" if source.get("prefix") else ""
        page.line(cells.text(reference, "name"), f"{kind}{prefix}", _optional(reference), level=3)


def _optional(reference: Object) -> str:
    return f"Optional: {sprint(bool(reference.get('optional')))}"


def _write_environment(page: Page, container: Object, pod: Object | None) -> None:
    variables = cells.items(container, "env")
    if not variables:
        page.field("Environment", NONE, 2)
        return
    page.line("Environment:", level=2)
    for variable in variables:
        for line in _variable(variable, container, pod):
            page.line(*line, level=3)


def _variable(variable: Object, container: Object, pod: Object | None) -> Iterator[tuple[str, ...]]:
    title, source = f"{cells.text(variable, 'name')}:", variable.get("valueFrom")
    if source is None:
        first, *rest = cells.text(variable, "value").split("\n")
        yield title, first
        for line in rest:
            yield "", line
    elif (reference := source.get("fieldRef")) is not None:
        value = _field(pod, cells.text(reference, "fieldPath"))
        yield (
            title,
            f"{value} ({cells.text(reference, 'apiVersion')}:{cells.text(reference, 'fieldPath')})",
        )
    elif (reference := source.get("resourceFieldRef")) is not None:
        yield title, f"{_resource(container, reference)} ({cells.text(reference, 'resource')})"
    elif (reference := source.get("secretKeyRef")) is not None:
        yield (
            title,
            f"<set to the key '{cells.text(reference, 'key')}' in secret '{cells.text(reference, 'name')}'>",
            _optional(reference),
        )
    elif (reference := source.get("configMapKeyRef")) is not None:
        yield (
            title,
            f"<set to the key '{cells.text(reference, 'key')}' of config map '{cells.text(reference, 'name')}'>",
            _optional(reference),
        )


def _field(pod: Object | None, path: str) -> str:
    """What kubectl can say of a field: it knows of the name and the namespace only."""
    if pod is None or path not in ("metadata.name", "metadata.namespace"):
        return ""
    return cells.text(meta(pod), path.removeprefix("metadata."))


def _resource(container: Object, reference: Object) -> str:
    kind, _, name = cells.text(reference, "resource").partition(".")
    if name not in _RESOURCES_TOLD:
        return ""
    value = downward_api.resource(container, reference, {})
    unlimited = value == "0" and kind == "limits" and name != "ephemeral-storage"
    return "node allocatable" if unlimited else value


def _write_mounts(page: Page, container: Object) -> None:
    mounts = sorted(cells.items(container, "volumeMounts"), key=lambda item: cells.text(item, "mountPath"))
    if mounts:
        page.line("Mounts:", level=2)
    else:
        page.field("Mounts", NONE, 2)
    for mount in mounts:
        mode = "ro" if mount.get("readOnly") else "rw"
        place = f",path={quote(mount['subPath'])}" if mount.get("subPath") else ""
        page.line(
            f"{cells.text(mount, 'mountPath')} from {cells.text(mount, 'name')} ({mode}{place})",
            level=3,
        )
    devices = sorted(cells.items(container, "volumeDevices"), key=lambda item: cells.text(item, "devicePath"))
    if devices:
        page.line(*("Devices:",) if mounts else ("Devices:", NONE), level=2)
    for device in devices:
        page.line(f"{cells.text(device, 'devicePath')} from {cells.text(device, 'name')}", level=3)
