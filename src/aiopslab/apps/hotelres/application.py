"""HotelReservation: find a hotel by place and dates, get one recommended, log in, book a room.

Eight Go services behind one front end, found by each other through Consul, each with its own database or cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from aiopslab.apps.base import Application, Component, FrontDoor
from aiopslab.apps.hotelres.journeys import JOURNEYS, OBJECTIVES
from aiopslab.apps.hotelres.releases import RELEASE, RETRYING_RELEASE
from aiopslab.apps.past import SECURED, Past

if TYPE_CHECKING:
    from simcloud.kubernetes.images import ImageRegistry

WEB: Final = "web-team"
SEARCH: Final = "search-team"
CATALOGUE: Final = "catalogue-team"
BOOKING: Final = "booking-team"
ACCOUNTS: Final = "accounts-team"
PLATFORM: Final = "platform-team"

SHARED: Final = ("consul", "jaeger")
"""Every service finds others by the first and tells its spans to the second."""


def _service(name: str, owner: str, *calls: str) -> Component:
    return Component(name, owner, (*calls, *SHARED))


def _database(name: str, owner: str) -> Component:
    return Component(name, owner, persistent=True)


COMPONENTS: Final = (
    _service("frontend", WEB, "search", "reservation", "profile", "recommendation", "user"),
    _service("search", SEARCH, "geo", "rate"),
    _service("geo", SEARCH, "mongodb-geo"),
    _service("rate", CATALOGUE, "memcached-rate", "mongodb-rate"),
    _service("profile", CATALOGUE, "memcached-profile", "mongodb-profile"),
    _service("recommendation", SEARCH, "mongodb-recommendation"),
    _service("user", ACCOUNTS, "mongodb-user"),
    _service("reservation", BOOKING, "memcached-reserve", "mongodb-reservation"),
    _database("mongodb-geo", SEARCH),
    _database("mongodb-rate", CATALOGUE),
    _database("mongodb-profile", CATALOGUE),
    _database("mongodb-recommendation", SEARCH),
    _database("mongodb-reservation", BOOKING),
    _database("mongodb-user", ACCOUNTS),
    Component("memcached-profile", CATALOGUE),
    Component("memcached-rate", CATALOGUE),
    Component("memcached-reserve", BOOKING),
    Component("consul", PLATFORM),
    Component("jaeger", PLATFORM),
)


NAMESPACE: Final = "test-hotel-reservation"
FLUSH: Final = r"""bash -c 'exec 3<>/dev/tcp/127.0.0.1/11211; printf "flush_all\r\nquit\r\n" >&3; cat <&3'"""
NIGHTS: Final = (
    "db.reservation.find().forEach(r => print([r.hotelId, r.customerName, r.inDate, r.outDate].join('/')))"
)

PAST: Final = Past(
    edits=(
        ("release 8: a whole CPU for each container, all requests traced", "release 7"),
        ("cpu: 1000m", "cpu: 500m"),
        (
            'name: JAEGER_SAMPLE_RATIO\n              value: "1"',
            'name: JAEGER_SAMPLE_RATIO\n              value: "0.1"',
        ),
    ),
    by_hand=(f"kubectl -n {NAMESPACE} scale deployment/recommendation --replicas=2", SECURED),
)

Variant = Literal["original", "retries"]
RELEASES: Final[Mapping[Variant, str]] = {"original": RELEASE, "retries": RETRYING_RELEASE}


class HotelReservation(Application):
    """The hotel reservation system, as its users, its operators and its judges know it.

    The variant ``retries`` is another release of its image, whose calls have time-outs and are tried again; under load
    it can fall into a failure that outlives its cause.
    """

    name = "hotel-reservation"
    about = (
        "People find a hotel by place and dates, have one recommended, log in and book: "
        "eight Go services that find each other by Consul, with MongoDB and memcached behind them."
    )
    namespace = NAMESPACE
    front_door = FrontDoor("frontend", port=5000, node_port=30500)
    components = COMPONENTS
    journeys = JOURNEYS
    objectives = OBJECTIVES
    shared_folders = ("/data/volumes",)
    cooling = tuple(
        f"kubectl exec --pod-running-timeout=1s -n {NAMESPACE} deploy/memcached-{name} -- {FLUSH}"
        for name in ("profile", "rate", "reserve")
    )
    past = PAST
    audited = "mongodb-reservation"
    audit = f'kubectl exec --pod-running-timeout=1s -n {NAMESPACE} deploy/mongodb-reservation -- mongo --quiet reservation-db --eval "{NIGHTS}"'

    def __init__(self, variant: Variant = "original") -> None:
        self._release = RELEASES[variant]

    @cached_property
    def manifest_files(self) -> Mapping[str, str]:
        """The manifests as files, by name; variants differ in the tag of the image only."""
        return {name: text.replace(RELEASE, self._release) for name, text in super().manifest_files.items()}

    def publish(self, registry: ImageRegistry) -> None:
        """Put the application's images, and those of its datastores, into a registry."""
        from aiopslab.apps.hotelres.images import publish  # all programs; most who ask run none

        publish(registry)
