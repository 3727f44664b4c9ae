"""A limit of storage that a container's log reaches is too low, however long that takes."""

from __future__ import annotations

import pytest

from aiopslab.generators.fault.storage_limits import is_reached_by_log


@pytest.mark.parametrize(
    ("limits", "is_reached"),
    [
        ({}, False),
        ({"cpu": "1"}, False),
        ({"ephemeral-storage": "800"}, True),
        ({"ephemeral-storage": "100Ki"}, True),
        ({"ephemeral-storage": "10Mi"}, True),
        ({"ephemeral-storage": "64Mi"}, False),
    ],
)
def test_a_log_reaches_low_limits(limits: dict[str, str], is_reached: bool) -> None:
    assert is_reached_by_log({"name": "web", "resources": {"limits": limits}}) is is_reached
