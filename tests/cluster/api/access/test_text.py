"""Quoting as Go's %q does, errors gathered as the API server gathers them, names of users."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiopslab.cluster.api.access.text import aggregate, quoted, quoted_list
from aiopslab.cluster.api.access.users import (
    User,
    node_of,
    node_user,
    service_account_name,
    split_service_account,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '""'),
        ("jane", '"jane"'),
        ("Jürgen 東京", '"Jürgen 東京"'),
        ('a"b\\c', r'"a\"b\\c"'),
        ("a\tb\nc\x00\x7f", r'"a\tb\nc\x00\x7f"'),
        ("\u200b\U000e0001", r'"\u200b\U000e0001"'),
    ],
)
def test_quoting(text: str, expected: str) -> None:
    assert quoted(text) == expected


@given(st.text())
def test_what_is_quoted_stays_on_one_line(text: str) -> None:
    assert quoted(text).isprintable()


def test_lists_and_errors() -> None:
    assert quoted_list(["a", "b c"]) == '["a" "b c"]'
    assert quoted_list([]) == "[]"
    assert aggregate(["x"]) == aggregate(["x", "x"]) == "x"
    assert aggregate(["x", "y", "x"]) == "[x, y]"


@pytest.mark.parametrize(
    ("username", "expected"),
    [
        (service_account_name("demo", "sa1"), ("demo", "sa1")),
        ("jane", None),
        ("system:serviceaccount:demo", None),
        ("system:serviceaccount::sa1", None),
        ("system:serviceaccount:demo:", None),
        ("system:serviceaccount:demo:sa1:more", None),
    ],
)
def test_names_of_service_accounts(username: str, expected: tuple[str, str] | None) -> None:
    assert split_service_account(username) == expected


def test_a_node_needs_name_and_group() -> None:
    assert node_of(node_user("n1")) == "n1"
    assert node_of(User("system:node:n1")) is None
    assert node_of(User("n1", groups=("system:nodes",))) is None
