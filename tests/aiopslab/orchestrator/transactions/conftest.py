"""One prepared world of each application for the tests of transactions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.cloud import Copy, Environment
from tests.aiopslab.orchestrator.transactions.worlds import settle


def make_hotel() -> Environment:
    return settle(Environment(HotelReservation(), 3))


def make_network() -> Environment:
    return settle(Environment(SocialNetwork(), 3))


@pytest.fixture(scope="package")
def hotel() -> Iterator[Copy[Environment]]:
    with Copy.of(make_hotel) as copy:
        yield copy


@pytest.fixture(scope="package")
def network() -> Iterator[Copy[Environment]]:
    with Copy.of(make_network) as copy:
        yield copy
