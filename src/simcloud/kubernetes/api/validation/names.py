"""How names, keys and other short texts must look, and the sentence for each way they do not.

Every rule takes a text and returns the sentences it breaks, none if the text is right. Lengths are
counted in bytes, as the genuine server counts them, although some of its sentences say characters.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

LABEL_LIMIT = 63
SUBDOMAIN_LIMIT = 253

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_UNDERSCORE = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_SUBDOMAIN_UNDERSCORE = rf"{_LABEL_UNDERSCORE}(\.{_LABEL_UNDERSCORE})*"
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_PERCENT = "[0-9]+%"
_HEADER = "[-A-Za-z0-9]+"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"

_COMPILED = {
    form: re.compile(form)
    for form in (
        _LABEL,
        _SUBDOMAIN,
        _SUBDOMAIN_UNDERSCORE,
        _WILDCARD,
        _LABEL_1035,
        _KEY,
        _VALUE,
        _CONFIG_KEY,
        _PERCENT,
        _HEADER,
        _HTTP_PATH,
    )
}

_ALNUM = "must start and end with an alphanumeric character"
_LABEL_RULE = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {_ALNUM}"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    f"and {_ALNUM}"
)
_SUBDOMAIN_UNDERSCORE_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    f"and {_ALNUM}"
)
_WILDCARD_RULE = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must "
    "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
)
_LABEL_1035_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character"
)
_KEY_RULE = f"must consist of alphanumeric characters, '-', '_' or '.', and {_ALNUM}"
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    f"and {_ALNUM}"
)
_ENV_RULE = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_CONFIG_KEY_RULE = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"


def size(text: str) -> int:
    """The length of a text in bytes."""
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def matches(form: str, text: str) -> bool:
    """Whether the whole text has this form."""
    return _COMPILED[form].fullmatch(text) is not None


def describe_form(rule: str, form: str, *examples: str) -> str:
    """A rule's sentence with its examples and the expression behind it."""
    if not examples:
        return f"{rule} (regex used for validation is '{form}')"
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{form}')"


def between(low: int, high: int) -> str:
    """The sentence of a number out of range."""
    return f"must be between {low} and {high}, inclusive"


def _long(text: str, limit: int, unit: str = "characters") -> list[str]:
    return [f"must be no more than {limit} {unit}"] if size(text) > limit else []


def _check_form(text: str, form: str, rule: str, *examples: str) -> list[str]:
    return [] if matches(form, text) else [describe_form(rule, form, *examples)]


def dns1123_label(value: str) -> list[str]:
    """The name of a container, a namespace, a volume …"""
    broken = _long(value, LABEL_LIMIT)
    if not matches(_LABEL, value):
        if matches(_SUBDOMAIN, value):
            return [*broken, "must not contain dots"]
        broken.append(describe_form(_LABEL_RULE, _LABEL, "my-name", "123-abc"))
    return broken


def dns1123_subdomain(value: str) -> list[str]:
    """The name of most objects."""
    return _long(value, SUBDOMAIN_LIMIT) + _check_form(value, _SUBDOMAIN, _SUBDOMAIN_RULE, "example.com")


def dns1123_subdomain_with_underscore(value: str) -> list[str]:
    """A DNS search domain."""
    return _long(value, SUBDOMAIN_LIMIT) + _check_form(
        value, _SUBDOMAIN_UNDERSCORE, _SUBDOMAIN_UNDERSCORE_RULE, "example.com"
    )


def wildcard_dns1123_subdomain(value: str) -> list[str]:
    """A host like ``*.example.com``."""
    return _long(value, SUBDOMAIN_LIMIT) + _check_form(value, _WILDCARD, _WILDCARD_RULE, "*.example.com")


def dns1035_label(value: str) -> list[str]:
    """A label that starts with a letter."""
    return _long(value, LABEL_LIMIT) + _check_form(value, _LABEL_1035, _LABEL_1035_RULE, "my-name", "abc-123")


def qualified_name(value: str) -> list[str]:
    """A label key: a name, or a DNS prefix, a slash and a name."""
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        message = describe_form(_KEY_RULE, _KEY, "MyName", "my.name", "123-abc")
        return [
            f"a valid label key {message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    broken = []
    if slash and not prefix:
        broken.append("prefix part must be non-empty")
    elif slash:
        broken += [f"prefix part {message}" for message in _key_prefix(prefix)]
    if not name:
        broken.append("name part must be non-empty")
    broken += [f"name part {message}" for message in _long(name, LABEL_LIMIT, "bytes")]
    return broken + [
        f"name part {message}"
        for message in _check_form(name, _KEY, _KEY_RULE, "MyName", "my.name", "123-abc")
    ]


def _key_prefix(prefix: str) -> list[str]:
    return _long(prefix, SUBDOMAIN_LIMIT, "bytes") + _check_form(
        prefix, _SUBDOMAIN, _SUBDOMAIN_RULE, "example.com"
    )


def label_value(value: str) -> list[str]:
    """The value of a label."""
    return _long(value, LABEL_LIMIT, "bytes") + _check_form(
        value, _VALUE, _VALUE_RULE, "MyValue", "my_value", "12345"
    )


def env_var_name(value: str) -> list[str]:
    """The name of a container's environment variable."""
    if not value:
        return ["environment variable name must be non-empty"]
    good = all(" " <= char <= "~" and char != "=" for char in value)
    return [] if good else [_ENV_RULE]


def config_map_key(value: str) -> list[str]:
    """A key of a ConfigMap or a Secret."""
    broken = _long(value, SUBDOMAIN_LIMIT)
    broken += _check_form(value, _CONFIG_KEY, _CONFIG_KEY_RULE, "key.name", "KEY_NAME", "key-name")
    return broken + _leaves_folder(value)


def _leaves_folder(value: str) -> list[str]:
    if value in (".", ".."):
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def port_number(value: int) -> list[str]:
    """A TCP, UDP or SCTP port."""
    return [] if 1 <= value <= 65535 else [between(1, 65535)]


def port_name(value: str) -> list[str]:
    """The name of a container's port."""
    broken = _long(value, 15)
    if not value or value.strip("-abcdefghijklmnopqrstuvwxyz0123456789"):
        broken.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= char <= "z" for char in value):
        broken.append("must contain at least one letter (a-z)")
    if "--" in value:
        broken.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        broken.append("must not begin or end with a hyphen")
    return broken


def user_id(value: int) -> list[str]:
    """The number of a user."""
    return [] if 0 <= value <= 0xFFFFFFFF else [between(0, 0xFFFFFFFF)]


def group_id(value: int) -> list[str]:
    """The number of a group of users."""
    return user_id(value)


def percent(value: str) -> list[str]:
    """A share such as ``25%``."""
    rule = "a valid percent string must be a numeric string followed by an ending '%'"
    return _check_form(value, _PERCENT, rule, "1%", "93%")


def http_header_name(value: str) -> list[str]:
    """The name of an HTTP header."""
    rule = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return _check_form(value, _HEADER, rule, "X-Header-Name")


def http_path_characters(value: str) -> list[str]:
    """What follows the domain in a domain-prefixed path."""
    return _check_form(value, _HTTP_PATH, "Invalid path")


def path_segment(value: str) -> list[str]:
    """A name that need only fit into a URL, as those of RBAC objects."""
    if value in (".", ".."):
        return [f"may not be '{value}'"]
    return path_segment_prefix(value)


def path_segment_prefix(value: str) -> list[str]:
    """The start of such a name."""
    return [f"may not contain '{character}'" for character in "/%" if character in value]


@lru_cache(maxsize=4096)
def read_ip(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address, leading zeros allowed; None if it is none."""
    parts = value.split(".")
    if len(parts) == 4 and all(part.isascii() and part.isdecimal() and len(part) < 99 for part in parts):
        value = ".".join(str(int(part)) for part in parts)
    if "%" in value:
        return None
    try:
        return ipaddress.ip_address(value)
    except ValueError:
        return None


def read_cidr(value: str) -> ipaddress.IPv4Interface | ipaddress.IPv6Interface | None:
    """The address and its prefix length; None if it is no CIDR."""
    address_text, slash, bits = value.partition("/")
    address = read_ip(address_text)
    if address is None or not slash or not (bits.isascii() and bits.isdecimal() and len(bits) < 4):
        return None
    if int(bits) > address.max_prefixlen:
        return None
    return ipaddress.ip_interface(f"{address}/{int(bits)}")


def ip(value: str) -> list[str]:
    """An IPv4 or IPv6 address."""
    return [] if read_ip(value) else ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]


def cidr(value: str) -> list[str]:
    """A network."""
    return [] if read_cidr(value) else ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]


def without_trailing_dash(prefix: str) -> str:
    """A generateName as its name rule sees it: a dash at its end does no harm."""
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
