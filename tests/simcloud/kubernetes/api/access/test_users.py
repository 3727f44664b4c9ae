"""Lists of texts and errors gathered as the API server gathers them, names of users."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.access.users import (
    User,
    node_of,
    service_account_name,
    split_service_account,
)
from simcloud.kubernetes.api.errors import join_messages, quote_list
from tests.simcloud.kubernetes.api.conftest import node_user


def test_lists_and_errors() -> None:
    assert quote_list(["a", "b c"]) == '["a" "b c"]'
    assert quote_list([]) == "[]"
    assert join_messages(["x"]) == join_messages(["x", "x"]) == "x"
    assert join_messages(["x", "y", "x"]) == "[x, y]"


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
