"""HotelReservation, as the catalogue knows it."""

from __future__ import annotations

from aiopslab.apps.hotelres import HotelReservation
from tests.incidents.known import Known

SERVICES = ("geo", "profile", "rate", "recommendation", "reservation", "search", "user")
STORED = ("geo", "profile", "rate", "recommendation", "reservation", "user")
"""Services with a database ``mongodb-…`` of their own."""
NEEDED_BY = {
    "frontend": ("search", "recommend", "user", "reserve"),
    "search": ("search",),
    "geo": ("search",),
    "rate": ("search",),
    "profile": ("search", "recommend"),
    "recommendation": ("recommend",),
    "user": ("user", "reserve"),
    "reservation": ("search", "reserve"),
}
EVERYONE = NEEDED_BY["frontend"]
RESTART_ALL = (
    "kubectl -n {ns} rollout restart deployment/geo deployment/rate deployment/profile deployment/search "
    "deployment/recommendation deployment/reservation deployment/user deployment/frontend"
)

KNOWN = Known(
    app=HotelReservation(),
    label="io.kompose.service",
    container="hotel-reserv-{t}",
    image="yinfangchen/hotelreservation",
    traced="frontend",
    process=str,
    services=SERVICES,
    needed_by=NEEDED_BY,
    widest="search",
    widest_span="HTTP GET /hotels",
    by_service=False,
    afterwards=(RESTART_ALL,),
    reboot_s=120.0,
)
