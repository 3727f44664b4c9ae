"""The settings of each plugin, parsed and checked as the plugin does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from simcloud.golang import parse_duration_s
from simcloud.kubernetes.network.coredns.corefile import (
    CorefileError,
    Directive,
    ParsingError,
    WrongArguments,
)
from simcloud.machine.network import Endpoint, is_address

KUBERNETES_TTL_S: Final = 5
CACHE_TTL_S: Final = 3600
DENIAL_TTL_S: Final = 1800
MAX_CONCURRENT: Final = 1000
"""Questions under way to other servers, where the Corefile sets no limit (the genuine program has none then)."""

RELOAD_S: Final = 30.0
SHORTEST_RELOAD_S: Final = 2.0
_FORWARD: Final = (
    "except", "max_fails", "health_check", "force_tcp", "prefer_udp", "tls", "tls_servername", "expire",
    "max_idle_conns", "max_age", "policy", "max_concurrent", "next", "failfast_all_unhealthy_upstreams", "failover",
)  # fmt: skip
_CACHE: Final = ("success", "denial", "prefetch", "serve_stale", "servfail", "disable", "keepttl")


class PluginError(CorefileError):
    """A plugin refuses its settings."""

    def __init__(self, plugin: str, words: object) -> None:
        super().__init__(f"plugin/{plugin}: {words}")


class Kubernetes(Struct, frozen=True):
    """``kubernetes``: zones of the cluster."""

    zones: tuple[str, ...]
    pods: str = "disabled"
    ttl_s: int = KUBERNETES_TTL_S
    fallthrough: tuple[str, ...] | None = None
    namespaces: tuple[str, ...] = ()
    endpoint_pod_names: bool = False
    without_endpoints: bool = False
    ignore_empty: bool = False

    @property
    def zone(self) -> str:
        """The zone that names are made in: the first that is not a reverse one."""
        return next(zone for zone in self.zones if not zone.endswith(".arpa"))


class Forward(Struct, frozen=True):
    """``forward``: whom to ask for names below a zone."""

    zone: str
    servers: tuple[Endpoint, ...]
    excepted: tuple[str, ...] = ()
    policy: str = "random"
    max_concurrent: int = MAX_CONCURRENT


class CacheSettings(Struct, frozen=True):
    """``cache``: how long answers are kept at most."""

    success_s: int = CACHE_TTL_S
    denial_s: int = DENIAL_TTL_S
    zones: tuple[str, ...] = ("",)
    no_success: tuple[str, ...] = ()
    no_denial: tuple[str, ...] = ()


def zone_name(text: str) -> str:
    """A zone as it is compared: the root is empty."""
    return text.lower().rstrip(".")


def below(name: str, zone: str) -> bool:
    """Whether a name is in a zone."""
    return not zone or name == zone or name.endswith(f".{zone}")


def kubernetes(line: Directive, block_zones: list[str]) -> Kubernetes:
    """The settings of ``kubernetes``."""
    zones = tuple(zone_name(each) for each in line.args) or tuple(block_zones)
    if all(zone.endswith(".arpa") for zone in zones):
        raise PluginError("kubernetes", "non-reverse zone name must be used")
    given: dict[str, Any] = {}
    for each in line.body:
        match each.name:
            case "pods":
                _want(each, len(each.args) == 1, "kubernetes")
                if each.args[0] not in ("disabled", "insecure", "verified"):
                    words = (
                        f"wrong value for pods: {each.args[0]},  must be one of: disabled, verified, insecure"
                    )
                    raise PluginError("kubernetes", words)
                given["pods"] = each.args[0]
            case "ttl":
                _want(each, len(each.args) == 1, "kubernetes")
                given["ttl_s"] = _ttl(each)
            case "fallthrough":
                given["fallthrough"] = tuple(zone_name(zone) for zone in each.args) or ("",)
            case "namespaces":
                _want(each, bool(each.args), "kubernetes")
                given["namespaces"] = each.args
            case "endpoint_pod_names":
                given["endpoint_pod_names"] = True
            case "noendpoints":
                given["without_endpoints"] = True
            case "ignore":
                given["ignore_empty"] = each.args[:1] == ("empty_service",)
            case "endpoint" | "tls" | "labels" | "namespace_labels" | "kubeconfig" | "startup_timeout":
                _want(each, bool(each.args), "kubernetes")
            case _:
                raise PluginError("kubernetes", ParsingError(each.line, f"unknown property '{each.name}'"))
    return Kubernetes(zones, **given)


def _ttl(line: Directive) -> int:
    text = line.args[0]
    if not re.fullmatch(r"-?\d+", text):
        raise PluginError("kubernetes", f'strconv.Atoi: parsing "{text}": invalid syntax')
    if not 0 <= int(text) <= 3600:
        raise PluginError(
            "kubernetes", ParsingError(line.line, f"ttl must be in range [0, 3600]: {int(text)}")
        )
    return int(text)


def forward(line: Directive, read: Callable[[str], str | None]) -> Forward:
    """The settings of ``forward``; ``read`` gives the text of a file such as /etc/resolv.conf."""
    _want(line, len(line.args) >= 2, "forward")
    servers: list[Endpoint] = []
    for target in line.args[1:]:
        servers += _servers(target, read)
    excepted: list[str] = []
    policy, limit = "random", MAX_CONCURRENT
    for each in line.body:
        if each.name not in _FORWARD:
            raise PluginError("forward", ParsingError(each.line, f"unknown property '{each.name}'"))
        if each.name == "except":
            _want(each, bool(each.args), "forward")
            excepted += [zone_name(zone) for zone in each.args]
        elif each.name == "policy":
            _want(each, len(each.args) == 1, "forward")
            if each.args[0] not in ("random", "round_robin", "sequential"):
                raise PluginError("forward", ParsingError(each.line, f"unknown policy '{each.args[0]}'"))
            policy = each.args[0]
        elif each.name == "max_concurrent":
            _want(each, len(each.args) == 1 and each.args[0].isdecimal(), "forward")
            limit = int(each.args[0]) or MAX_CONCURRENT
    return Forward(zone_name(line.args[0]), tuple(servers), tuple(excepted), policy, limit)


def _servers(target: str, read: Callable[[str], str | None]) -> list[Endpoint]:
    plain = target.removeprefix("dns://").removeprefix("tls://")
    address, colon, port = plain.rpartition(":")
    if is_address(plain):
        return [(plain, 853 if target.startswith("tls://") else 53)]
    if colon and is_address(address) and port.isdecimal():
        return [(address, int(port))]
    text = read(plain)
    if text is None:
        raise PluginError("forward", f'not an IP address or file: "{target}"')
    words = (line.split() for line in text.splitlines())
    found: list[Endpoint] = [(word[1], 53) for word in words if len(word) > 1 and word[0] == "nameserver"]
    if not found:
        raise PluginError("forward", f"no nameservers found in {plain}")
    return found


def cache(line: Directive, block_zones: list[str]) -> CacheSettings:
    """The settings of ``cache``."""
    success_s, denial_s, args = CACHE_TTL_S, DENIAL_TTL_S, list(line.args)
    if args and args[0].isdecimal():
        success_s = denial_s = int(args.pop(0))
        if not success_s:
            raise PluginError("cache", "cache TTL can not be zero or negative: 0")
    disabled: dict[str, tuple[str, ...]] = {}
    for each in line.body:
        if each.name not in _CACHE:
            raise PluginError("cache", WrongArguments(each.line, each.name))
        if each.name in ("success", "denial"):
            _want(each, bool(each.args), "cache")
            if len(each.args) > 1 and each.args[1].isdecimal():
                success_s = int(each.args[1]) if each.name == "success" else success_s
                denial_s = int(each.args[1]) if each.name == "denial" else denial_s
        elif each.name == "disable":
            _want(each, each.args[:1] in (("success",), ("denial",)), "cache")
            disabled[each.args[0]] = tuple(zone_name(zone) for zone in each.args[1:]) or ("",)
    zones = tuple(zone_name(zone) for zone in args) or tuple(block_zones)
    return CacheSettings(success_s, denial_s, zones, disabled.get("success", ()), disabled.get("denial", ()))


def lameduck_s(line: Directive | None) -> float:
    """How long ``health`` keeps answering after the signal that ends the program."""
    for each in line.body if line is not None else ():
        if each.name != "lameduck":
            raise PluginError("health", WrongArguments(each.line, each.name))
        _want(each, len(each.args) == 1, "health")
        text = each.args[0]
        try:
            return max(0.0, parse_duration_s(text))
        except ValueError as fault:
            raise PluginError(
                "health", f"unable to parse lameduck duration value: '{text}' : {fault}"
            ) from None
    return 0.0


def reload_s(line: Directive) -> float:
    """How often ``reload`` looks whether the Corefile has changed; never more often than every two seconds."""
    try:
        return max(SHORTEST_RELOAD_S, parse_duration_s(line.args[0])) if line.args else RELOAD_S
    except ValueError as fault:
        raise PluginError("reload", str(fault)) from None


def address_port(line: Directive | None, otherwise: int) -> int | None:
    """The port that a plugin serves HTTP on, None when the plugin is not there."""
    if line is None:
        return None
    _want(line, len(line.args) <= 1, line.name)
    port = line.args[0].rpartition(":")[2] if line.args else ""
    return int(port) if port.isdecimal() else otherwise


def _want(line: Directive, fits: bool, plugin: str) -> None:
    if not fits:
        raise PluginError(plugin, WrongArguments(line.line, (line.name, *line.args)[-1]))
