"""The adapters to check: each has an extra and tests, and the commit chooses with which to begin."""

from __future__ import annotations

import tomllib

import pytest

from scripts.check_adapters import ADAPTERS, ROOT, choose


def test_every_adapter_has_an_extra_and_tests() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(ADAPTERS) <= set(extras)
    assert not [
        test for adapter in ADAPTERS.values() for test in adapter.tests if not (ROOT / test).is_file()
    ]


def test_names_are_checked() -> None:
    assert choose([]) == list(ADAPTERS)
    assert choose(["skyrl"]) == ["skyrl"]
    with pytest.raises(SystemExit, match="There is no adapter 'gym'"):
        choose(["gym"])


def test_the_commit_chooses_with_which_to_begin_if_the_time_is_limited() -> None:
    names = choose([], within_s=60.0)
    first = list(ADAPTERS).index(names[0])
    assert names == [*ADAPTERS, *ADAPTERS][first : first + len(ADAPTERS)]
