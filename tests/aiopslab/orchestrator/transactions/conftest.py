"""A world of each application with an agent's terminal, for the tests of transactions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aiopslab.cloud import Copy, Environment


def open_terminal(environment: Environment) -> None:
    environment.terminal()


@pytest.fixture(scope="package")
def hotel(hotels: Copy[Environment]) -> Iterator[Copy[Environment]]:
    with hotels.branch(open_terminal) as copy:
        yield copy


@pytest.fixture(scope="package")
def network(network: Copy[Environment]) -> Iterator[Copy[Environment]]:
    with network.branch(open_terminal) as copy:
        yield copy
