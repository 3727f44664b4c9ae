"""The string formats that a custom kind's schema may require. Unknown formats accept every text."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import re2

from simcloud.kubernetes.api.schema.scalars import Unreadable, read_base64, read_time


def fits(value: str, format: str) -> bool:
    """Whether text is of a format."""
    check = _CHECKS.get(format.replace("-", ""))
    return check is None or check(value)


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re2.compile(pattern)
    return lambda value: compiled.fullmatch(value) is not None


def _parses(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def check(value: str) -> bool:
        try:
            parse(value)
        except (Unreadable, ValueError):
            return False
        return True

    return check


def _is_cidr(value: str) -> bool:
    return "/" in value and _parses(lambda text: ipaddress.ip_network(text, strict=False))(value)


def _is_uri(value: str) -> bool:
    try:
        return bool(urlsplit(value).scheme) or value.startswith("/")
    except ValueError:
        return False


_HEX = "[0-9a-fA-F]"


def _uuid(version: str, variant: str) -> Callable[[str], bool]:
    return _matches(f"{_HEX}{{8}}-?{_HEX}{{4}}-?{version}{_HEX}{{3}}-?{variant}{_HEX}{{3}}-?{_HEX}{{12}}")


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "datetime": _parses(read_time),
    "date": _matches(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"),
    "duration": _matches(r"[+-]?(0|(\d+(\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s|m|h|d|w|[a-z]+))+"),
    "byte": _parses(read_base64),
    "email": _matches(r"[^@\s]+@[^@\s]+"),
    "hostname": _matches(
        r"([a-zA-Z0-9_]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9_])?\.)*[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9_])?\.?"
    ),
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "cidr": _is_cidr,
    "mac": _matches(f"{_HEX}{{2}}([:-]{_HEX}{{2}}){{5}}"),
    "uri": _is_uri,
    "uuid": _uuid(_HEX, _HEX),
    "uuid3": _uuid("3", _HEX),
    "uuid4": _uuid("4", "[89abAB]"),
    "uuid5": _uuid("5", "[89abAB]"),
    "hexcolor": _matches(f"#?({_HEX}{{3}}|{_HEX}{{6}})"),
    "password": lambda _value: True,
}
