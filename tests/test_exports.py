"""Packages that import their modules on first use export what they list."""

from __future__ import annotations

from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "package",
    [
        "aiopslab",
        "aiopslab.agents",
        "aiopslab.cloud",
        "aiopslab.generators",
        "aiopslab.generators.fault",
        "aiopslab.generators.workload",
        "aiopslab.apps",
    ],
)
def test_every_exported_name_can_be_imported(package: str) -> None:
    module = import_module(package)
    assert module.__all__
    assert not [name for name in module.__all__ if not hasattr(module, name)]


def test_an_unknown_name_is_an_attribute_error() -> None:
    module = import_module("aiopslab.cloud")
    with pytest.raises(AttributeError, match=r"module 'aiopslab\.cloud' has no attribute 'nonsense'"):
        module.nonsense  # noqa: B018
