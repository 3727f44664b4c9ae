"""HotelReservation: search hotels by place and dates, get recommendations, log in, book a room.

Eight Go services, including the front end, which find each other through Consul and have their own databases and caches.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from aiopslab.apps.base import Application, Component, DatabaseUser, FrontDoor, format_audit
from aiopslab.apps.hotelres.journeys import JOURNEYS, OBJECTIVES
from aiopslab.apps.hotelres.releases import RANKING_RELEASE, RELEASE, RETRYING_RELEASE
from aiopslab.apps.names import Names
from aiopslab.apps.past import METADATA_RULE, Past
from aiopslab.apps.registry import application

if TYPE_CHECKING:
    from simcloud.kubernetes.images import ImageRegistry

WEB: Final = "web-team"
SEARCH: Final = "search-team"
CATALOGUE: Final = "catalogue-team"
BOOKING: Final = "booking-team"
ACCOUNTS: Final = "accounts-team"
PLATFORM: Final = "platform-team"

SHARED: Final = ("consul", "jaeger")
"""Every service uses the first to find others and sends its spans to the second."""


JOURNEYS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "frontend": ("search", "recommend", "user", "reserve"),
    "search": ("search",),
    "geo": ("search",),
    "rate": ("search",),
    "profile": ("search", "recommend"),
    "recommendation": ("recommend",),
    "user": ("user", "reserve"),
    "reservation": ("search", "reserve"),
}
"""The journeys of each service."""
ROOT: Final = "-u root -p root"


def _make_service(name: str, owner: str, *calls: str) -> Component:
    journeys = JOURNEYS_OF[name]
    is_busy = len(journeys) > 1
    return Component(name, owner, (*calls, *SHARED), journeys=journeys, found_by="registry", busy=is_busy)


def _make_database(service: str, owner: str, login: str = "") -> Component:
    """Return the database of a service, which may log in to it."""
    name, journeys = f"mongodb-{service}", JOURNEYS_OF[service]
    roles = (("userAdminAnyDatabase", "admin"), ("readWrite", f"{service}-db"))
    user = DatabaseUser("admin", "admin", roles) if login else None
    return Component(
        name,
        owner,
        persistent=True,
        role="mongodb",
        journeys=journeys,
        login=login,
        user=user,
        written=service == "reservation",
        needs_data=service == "profile",
    )


def _make_cache(name: str, owner: str, service: str) -> Component:
    return Component(f"memcached-{name}", owner, role="memcached", journeys=JOURNEYS_OF[service])


COMPONENTS: Final = (
    Component(
        "frontend",
        WEB,
        ("search", "reservation", "profile", "recommendation", "user", *SHARED),
        role="front end",
        journeys=JOURNEYS_OF["frontend"],
        busy=True,
    ),
    _make_service("search", SEARCH, "geo", "rate"),
    _make_service("geo", SEARCH, "mongodb-geo"),
    _make_service("rate", CATALOGUE, "memcached-rate", "mongodb-rate"),
    _make_service("profile", CATALOGUE, "memcached-profile", "mongodb-profile"),
    _make_service("recommendation", SEARCH, "mongodb-recommendation"),
    _make_service("user", ACCOUNTS, "mongodb-user"),
    _make_service("reservation", BOOKING, "memcached-reserve", "mongodb-reservation"),
    _make_database("geo", SEARCH, ROOT),
    _make_database("rate", CATALOGUE, ROOT),
    _make_database("profile", CATALOGUE),
    _make_database("recommendation", SEARCH),
    _make_database("reservation", BOOKING),
    _make_database("user", ACCOUNTS),
    _make_cache("profile", CATALOGUE, "profile"),
    _make_cache("rate", CATALOGUE, "rate"),
    _make_cache("reserve", BOOKING, "reservation"),
    Component("consul", PLATFORM, role="registry", journeys=JOURNEYS_OF["frontend"]),
    Component("jaeger", PLATFORM, role="tracing"),
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
    by_hand=(f"kubectl -n {NAMESPACE} scale deployment/recommendation --replicas=2", METADATA_RULE),
)

OTHER_NAMES: Final = Names(
    {
        "frontend": "entrance",
        "geo": "globe",
        "profile": "portrait",
        "rate": "quote",
        "recommendation": "referral",
        "reservation": "roster",
        "reserve": "roster",
        "search": "scout",
        "user": "visitor",
    },
    # Not in the application's own name, after a dot (a collection), as a person, as a key of a document, or in a team's name.
    r'(?<![A-Za-z0-9.])(?<!hotel-)(?<!the (?=user))(?:{words})(?![A-Za-z0-9])(?!: "|-team)',
)
RANKING: Final = {"search": RANKING_RELEASE, "frontend": RANKING_RELEASE}
Variant = Literal["original", "retries"]
RELEASES: Final[Mapping[Variant, str]] = {"original": RELEASE, "retries": RETRYING_RELEASE}


@application
class HotelReservation(Application):
    """The hotel reservation application.

    The variant ``retries`` is another release of its image, whose calls have timeouts and are retried; under load
    it can get into a metastable failure, which outlives its cause.
    """

    name = "hotel-reservation"
    short_name = "hotel_res"
    about = (
        "Users search hotels by place and dates, get recommendations, log in and book rooms. "
        "It has eight Go services, which find each other through Consul and store data in MongoDB and memcached."
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
    other_names = OTHER_NAMES
    retrying = RANKING
    tls_variable = "TLS"
    audited = "mongodb-reservation"
    audit = format_audit(
        NAMESPACE, f"io.kompose.service={audited}", f'mongo --quiet reservation-db --eval "{NIGHTS}"'
    )

    def __init__(self, variant: Variant = "original") -> None:
        self._release = RELEASES[variant]

    @cached_property
    def manifest_files(self) -> Mapping[str, str]:
        """The manifests by file name; variants differ only in the image tag."""
        return {name: text.replace(RELEASE, self._release) for name, text in super().manifest_files.items()}

    def build_data(self, written_s: float) -> Mapping[str, bytes]:
        """Build the data folders of the databases."""
        from aiopslab.apps.hotelres.databases import build_folders

        return build_folders(written_s, self.names)

    def publish(self, registry: ImageRegistry) -> None:
        """Add the images of the application and its datastores to a registry."""
        from aiopslab.apps.hotelres.images import publish  # slow: it imports all programs

        publish(registry, self.names)
