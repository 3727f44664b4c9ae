"""Names, keys and addresses, and the sentence for each way they are wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.validation import names

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and "
    "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
RULES = [
    rule
    for name, rule in vars(names).items()
    if callable(rule) and getattr(rule, "__annotations__", {}) == {"value": "str", "return": "list[str]"}
]


@pytest.mark.parametrize(
    ("rule", "value", "told"),
    [
        (names.dns1123_label, "web-1", []),
        (names.dns1123_label, "Bad_Name", [LABEL]),
        (names.dns1123_label, "a.b", ["must not contain dots"]),
        (names.dns1123_label, "a" * 64, ["must be no more than 63 characters"]),
        (names.dns1123_label, "web\n", [LABEL]),
        (names.dns1123_subdomain, "a.b-c.d", []),
        (names.dns1123_subdomain, "a..b", [SUBDOMAIN]),
        (names.dns1123_subdomain, "a" * 254, ["must be no more than 253 characters"]),
        (names.qualified_name, "app.kubernetes.io/name", []),
        (names.qualified_name, "bad key!", [KEY]),
        (names.qualified_name, "/name", ["prefix part must be non-empty"]),
        (names.qualified_name, "x/", ["name part must be non-empty", KEY]),
        (names.qualified_name, "a" * 64, ["name part must be no more than 63 bytes"]),
        (names.label_value, "", []),
        (names.label_value, "v" * 64, ["must be no more than 63 bytes"]),
        (names.env_var_name, "A-B.C 1", []),
        (names.env_var_name, "", ["environment variable name must be non-empty"]),
        (names.config_map_key, "..", ["must not be '..'"]),
        (names.config_map_key, "..a", ["must not start with '..'"]),
        (names.config_map_key, "k" * 254, ["must be no more than 253 characters"]),
        (names.port_name, "http", []),
        (names.port_name, "80", ["must contain at least one letter (a-z)"]),
        (names.port_name, "a--b", ["must not contain consecutive hyphens"]),
        (names.port_name, "-a", ["must not begin or end with a hyphen"]),
        (names.port_name, "a" * 16, ["must be no more than 15 characters"]),
        (names.ip, "010.0.0.1", []),
        (names.ip, "::1%eth0", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
        (names.cidr, "10.0.0.0/33", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]),
        (names.cidr, "fd00::/64", []),
        (names.path_segment, "system:node", []),
        (names.path_segment, "a/b%", ["may not contain '/'", "may not contain '%'"]),
        (names.path_segment, "..", ["may not be '..'"]),
    ],
)
def test_each_rule_in_its_words(rule: Callable[[str], list[str]], value: str, told: list[str]) -> None:
    assert rule(value) == told


def test_a_port_is_a_number_in_range() -> None:
    assert names.port_number(80) == []
    assert names.port_number(0) == names.port_number(65536) == ["must be between 1 and 65535, inclusive"]


@given(st.text())
def test_every_rule_answers_any_text(value: str) -> None:
    assert len(RULES) > 15
    for rule in RULES:
        assert all(isinstance(told, str) for told in rule(value))


@pytest.mark.parametrize("value", ["a" * 200_000 + "!", "a-" * 100_000, "a." * 100_000, "1" * 200_000])
def test_long_hostile_texts_are_refused_at_once(value: str) -> None:
    for rule in RULES:
        rule(value)
    assert names.dns1123_subdomain(value)
