"""The checks of the Pod Security Standards, each a function from a pod to its violation.

The checks are those of v1.36, in the order in which the genuine server reports them. They also apply to namespaces
that pin an older version of the standards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from simcloud.kubernetes.api.admission.plugin import containers_of
from simcloud.kubernetes.api.objects import Object, at

_BASELINE_CAPABILITIES: Final = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
    *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
)
_SELINUX_TYPES: Final = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
_SYSCTLS: Final = frozenset({
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem",
})  # fmt: skip
_VOLUMES: Final = (
    *(
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "persistentVolumeClaim",
        "projected",
        "secret",
    ),
)
_SECCOMP: Final = ("RuntimeDefault", "Localhost")
_APPARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_HANDLERS: Final = ("livenessProbe", "readinessProbe", "startupProbe")


class Violation(NamedTuple):
    """What a pod does that a level forbids."""

    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


Check = Callable[[Object, Object], Violation | None]
"""From a pod's metadata and spec."""


def _security(holder: Object) -> Object:
    return holder.get("securityContext") or {}


def _quote(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _format_containers(names: list[str], one: str = "container") -> str:
    return f"{one}{'' if len(names) == 1 else 's'} {_quote(names)}"


def _setters(pod: bool, containers: list[str]) -> str:
    """Name which of a pod and its containers set something: ``pod and container "a"``."""
    setters = ["pod"] if pod else []
    if containers:
        setters.append(_format_containers(containers))
    return " and ".join(setters)


def _where(spec: Object, wrong: Callable[[Object], bool]) -> list[str]:
    return [container["name"] for container in containers_of(spec) if wrong(container)]


def _windows(spec: Object) -> bool:
    return bool(at(spec, "os", "name") == "windows")


def _in_user_namespace(spec: Object) -> bool:
    return spec.get("hostUsers") is False


def _check_app_armor(metadata: Object, spec: Object) -> Violation | None:
    annotations = metadata.get("annotations") or {}
    details = []
    pod = at(_security(spec), "appArmorProfile", "type")
    bad = _where(spec, lambda one: at(_security(one), "appArmorProfile", "type") == "Unconfined")
    if pod == "Unconfined" or bad:
        details.append(
            f'{_setters(pod == "Unconfined", bad)} must not set AppArmor profile type to "Unconfined"'
        )
    values = [
        f'{key}="{value}"'
        for key, value in sorted(annotations.items())
        if key.startswith(_APPARMOR)
        and value not in ("", "runtime/default")
        and not value.startswith("localhost/")
    ]
    if values:
        details.append(f"annotation{'' if len(values) == 1 else 's'} {', '.join(values)}")
    if not details:
        return None
    count = len(values) + len(bad) + (pod == "Unconfined")
    return Violation(f"forbidden AppArmor profile{'' if count == 1 else 's'}", "; ".join(details))


def _check_baseline_capabilities(metadata: Object, spec: Object) -> Violation | None:
    wrong: dict[str, list[str]] = {}
    for container in containers_of(spec):
        added = at(_security(container), "capabilities", "add") or ()
        extra = [name for name in added if name not in _BASELINE_CAPABILITIES]
        if extra:
            wrong[container["name"]] = extra
    if not wrong:
        return None
    names = sorted({name for extra in wrong.values() for name in extra})
    detail = f"{_format_containers(list(wrong))} must not include {_quote(names)} in securityContext.capabilities.add"
    return Violation("non-default capabilities", detail)


def _check_host_namespaces(metadata: Object, spec: Object) -> Violation | None:
    used = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return Violation("host namespaces", ", ".join(used)) if used else None


def _check_host_path_volumes(metadata: Object, spec: Object) -> Violation | None:
    found = [volume["name"] for volume in spec.get("volumes") or () if "hostPath" in volume]
    return Violation("hostPath volumes", _format_containers(found, "volume")) if found else None


def _check_host_ports(metadata: Object, spec: Object) -> Violation | None:
    ports: dict[str, list[str]] = {}
    for container in containers_of(spec):
        used = [str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")]
        if used:
            ports[container["name"]] = used
    if not ports:
        return None
    numbers = sorted({port for used in ports.values() for port in used})
    verb = "uses" if len(ports) == 1 else "use"
    word = "hostPort" if len(numbers) == 1 else "hostPorts"
    return Violation("hostPort", f"{_format_containers(list(ports))} {verb} {word} {', '.join(numbers)}")


def _check_host_probes(metadata: Object, spec: Object) -> Violation | None:
    hosts: dict[str, set[str]] = {}
    for container in containers_of(spec):
        handlers = [container.get(name) or {} for name in _HANDLERS]
        lifecycle = container.get("lifecycle") or {}
        handlers += [lifecycle.get(name) or {} for name in ("postStart", "preStop")]
        found = {
            str(host)
            for handler in handlers
            for kind in ("httpGet", "tcpSocket")
            if (host := at(handler, kind, "host"))
        }
        if found:
            hosts[container["name"]] = found
    if not hosts:
        return None
    names = sorted({host for found in hosts.values() for host in found})
    verb = "uses" if len(hosts) == 1 else "use"
    word = "probe or lifecycle host" + ("" if len(names) == 1 else "s")
    return Violation(
        "probe or lifecycle host", f"{_format_containers(sorted(hosts))} {verb} {word} {_quote(names)}"
    )


def _check_privileged(metadata: Object, spec: Object) -> Violation | None:
    bad = _where(spec, lambda one: bool(_security(one).get("privileged")))
    return (
        Violation("privileged", f"{_format_containers(bad)} must not set securityContext.privileged=true")
        if bad
        else None
    )


def _check_proc_mount(metadata: Object, spec: Object) -> Violation | None:
    kinds = [str(_security(container).get("procMount") or "Default") for container in containers_of(spec)]
    bad = _where(spec, lambda one: (_security(one).get("procMount") or "Default") != "Default")
    if not bad:
        return None
    wrong = sorted({kind for kind in kinds if kind != "Default"})
    return Violation(
        "procMount", f"{_format_containers(bad)} must not set securityContext.procMount to {_quote(wrong)}"
    )


def _check_baseline_proc_mount(metadata: Object, spec: Object) -> Violation | None:
    return None if _in_user_namespace(spec) else _check_proc_mount(metadata, spec)


def _check_selinux(metadata: Object, spec: Object) -> Violation | None:
    holders = [spec, *containers_of(spec)]
    options = [_security(holder).get("seLinuxOptions") or {} for holder in holders]
    wrong = [
        (option.get("type") or "") not in _SELINUX_TYPES
        or bool(option.get("user"))
        or bool(option.get("role"))
        for option in options
    ]
    if not any(wrong):
        return None
    containers = [holder["name"] for holder, bad in zip(holders[1:], wrong[1:], strict=True) if bad]
    details = []
    types = sorted({option["type"] for option in options if (option.get("type") or "") not in _SELINUX_TYPES})
    if types:
        details.append(f"type{'' if len(types) == 1 else 's'} {_quote(types)}")
    details += [
        f"{part} may not be set" for part in ("user", "role") if any(option.get(part) for option in options)
    ]
    setters = _setters(wrong[0], containers)
    return Violation(
        "seLinuxOptions", f"{setters} set forbidden securityContext.seLinuxOptions: {'; '.join(details)}"
    )


def _seccomp(spec: Object) -> tuple[str, list[tuple[str, str]]]:
    """The kind of profile that the pod sets, and those of its containers that set one."""
    pod = str(at(_security(spec), "seccompProfile", "type") or "")
    own = [
        (str(container["name"]), str(kind))
        for container in containers_of(spec)
        if (kind := at(_security(container), "seccompProfile", "type"))
    ]
    return pod, own


def _bad_seccomp(spec: Object) -> Violation | None:
    pod, own = _seccomp(spec)
    bad = [name for name, kind in own if kind not in _SECCOMP]
    pod_bad = pod != "" and pod not in _SECCOMP
    if not bad and not pod_bad:
        return None
    kinds = sorted({kind for _, kind in own if kind not in _SECCOMP} | ({pod} if pod_bad else set()))
    detail = f"{_setters(pod_bad, bad)} must not set securityContext.seccompProfile.type to {_quote(kinds)}"
    return Violation("seccompProfile", detail)


def _check_baseline_seccomp(metadata: Object, spec: Object) -> Violation | None:
    return _bad_seccomp(spec)


def _check_sysctls(metadata: Object, spec: Object) -> Violation | None:
    set_ones = [sysctl["name"] for sysctl in _security(spec).get("sysctls") or ()]
    bad = [name for name in set_ones if name not in _SYSCTLS]
    return Violation("forbidden sysctls", ", ".join(bad)) if bad else None


def _check_windows_host_process(metadata: Object, spec: Object) -> Violation | None:
    pod = bool(at(_security(spec), "windowsOptions", "hostProcess"))
    bad = _where(spec, lambda one: bool(at(_security(one), "windowsOptions", "hostProcess")))
    if not pod and not bad:
        return None
    detail = f"{_setters(pod, bad)} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", detail)


def _check_privilege_escalation(metadata: Object, spec: Object) -> Violation | None:
    if _windows(spec):
        return None
    bad = _where(spec, lambda one: _security(one).get("allowPrivilegeEscalation") is not False)
    if not bad:
        return None
    detail = f"{_format_containers(bad)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail)


def _check_restricted_capabilities(metadata: Object, spec: Object) -> Violation | None:
    if _windows(spec):
        return None
    keeping = _where(spec, lambda one: "ALL" not in (at(_security(one), "capabilities", "drop") or ()))
    added: dict[str, list[str]] = {}
    for container in containers_of(spec):
        extra = [n for n in at(_security(container), "capabilities", "add") or () if n != "NET_BIND_SERVICE"]
        if extra:
            added[container["name"]] = extra
    details = []
    if keeping:
        details.append(f'{_format_containers(keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if added:
        names = sorted({name for extra in added.values() for name in extra})
        details.append(
            f"{_format_containers(list(added))} must not include {_quote(names)} in securityContext.capabilities.add"
        )
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


def _check_restricted_volumes(metadata: Object, spec: Object) -> Violation | None:
    bad: dict[str, str] = {}
    for volume in spec.get("volumes") or ():
        if not any(kind in volume for kind in _VOLUMES):
            bad[volume["name"]] = next((kind for kind in sorted(volume) if kind != "name"), "unknown")
    if not bad:
        return None
    kinds = sorted(set(bad.values()))
    verb = "uses" if len(bad) == 1 else "use"
    word = "restricted volume type" + ("" if len(kinds) == 1 else "s")
    return Violation(
        "restricted volume types", f"{_format_containers(list(bad), 'volume')} {verb} {word} {_quote(kinds)}"
    )


def _check_run_as_non_root(metadata: Object, spec: Object) -> Violation | None:
    if _in_user_namespace(spec):
        return None
    pod = _security(spec).get("runAsNonRoot")
    root = _where(spec, lambda one: _security(one).get("runAsNonRoot") is False)
    if pod is False or root:
        detail = f"{_setters(pod is False, root)} must not set securityContext.runAsNonRoot=false"
        return Violation("runAsNonRoot != true", detail)
    silent = [] if pod else _where(spec, lambda one: _security(one).get("runAsNonRoot") is None)
    if not silent:
        return None
    return Violation(
        "runAsNonRoot != true",
        f"pod or {_format_containers(silent)} must set securityContext.runAsNonRoot=true",
    )


def _check_run_as_user(metadata: Object, spec: Object) -> Violation | None:
    if _in_user_namespace(spec):
        return None
    pod = _security(spec).get("runAsUser") == 0
    bad = _where(spec, lambda one: _security(one).get("runAsUser") == 0)
    if not pod and not bad:
        return None
    return Violation("runAsUser=0", f"{_setters(pod, bad)} must not set runAsUser=0")


def _check_restricted_seccomp(metadata: Object, spec: Object) -> Violation | None:
    if _windows(spec):
        return None
    wrong = _bad_seccomp(spec)
    if wrong is not None:
        return wrong
    pod, own = _seccomp(spec)
    setting = {name for name, _ in own}
    silent = [] if pod else _where(spec, lambda one: one["name"] not in setting)
    if not silent:
        return None
    detail = f'pod or {_format_containers(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", detail)


BASELINE: Final[tuple[Check, ...]] = (
    _check_app_armor,
    _check_baseline_capabilities,
    _check_host_namespaces,
    _check_host_path_volumes,
    _check_host_ports,
    _check_host_probes,
    _check_privileged,
    _check_baseline_proc_mount,
    _check_selinux,
    _check_baseline_seccomp,
    _check_sysctls,
    _check_windows_host_process,
)
_SAID_STRICTER: Final = (
    _check_baseline_capabilities,
    _check_host_path_volumes,
    _check_baseline_proc_mount,
    _check_baseline_seccomp,
)
RESTRICTED: Final[tuple[Check, ...]] = (
    *(check for check in BASELINE if check not in _SAID_STRICTER),
    _check_privilege_escalation,
    _check_restricted_capabilities,
    _check_proc_mount,
    _check_restricted_volumes,
    _check_run_as_non_root,
    _check_run_as_user,
    _check_restricted_seccomp,
)
LEVELS: Final[dict[str, tuple[Check, ...]]] = {
    "privileged": (),
    "baseline": BASELINE,
    "restricted": RESTRICTED,
}


def violations(level: str, metadata: Object, spec: Object) -> list[Violation]:
    """What a pod does that a level forbids."""
    found = (check(metadata, spec) for check in LEVELS[level])
    return [violation for violation in found if violation is not None]
