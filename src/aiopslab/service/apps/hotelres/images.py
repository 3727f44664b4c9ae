"""The images that the manifests name: the Go programs, with their configuration inside, and the datastores'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiopslab.cluster.images import ImageRegistry
from aiopslab.machine.image import Image
from aiopslab.machine.process import Program
from aiopslab.machine.shell.commands import all_commands
from aiopslab.service.apps.hotelres.config import DEFAULT, NAME, RETRYING, WORKDIR, written
from aiopslab.service.apps.hotelres.releases import BAD_GEO, RELEASE, RETRYING_RELEASE
from aiopslab.service.apps.hotelres.services.frontend import PAGES, frontend
from aiopslab.service.apps.hotelres.services.geo import geo
from aiopslab.service.apps.hotelres.services.profile import profile
from aiopslab.service.apps.hotelres.services.rate import rate
from aiopslab.service.apps.hotelres.services.recommendation import recommendation
from aiopslab.service.apps.hotelres.services.reservation import reservation
from aiopslab.service.apps.hotelres.services.search import search
from aiopslab.service.apps.hotelres.services.user import user
from aiopslab.service.datastores.consul import add_consul
from aiopslab.service.datastores.memcached import add_memcached
from aiopslab.service.datastores.mongodb import image as mongodb
from aiopslab.service.jaeger import add_jaeger

SIZE_BYTES: Final = 460_000_000
PAGE: Final = (
    b"<!DOCTYPE html>\n<html>\n<head><title>Hotel reservation</title></head>\n<body>\n<h1>Hotel reservation</h1>\n"
    b'<form action="/hotels"><input name="inDate" value="2015-04-09"><input name="outDate" value="2015-04-10">\n'
    b'<input name="lat" value="37.7867"><input name="lon" value="-122.4112"><button>Search</button></form>\n'
    b"</body>\n</html>\n"
)

PROGRAMS: Final[Mapping[str, Program]] = {
    "frontend": frontend,
    "search": search,
    "geo": geo,
    "rate": rate,
    "profile": profile,
    "recommendation": recommendation,
    "user": user,
    "reservation": reservation,
}


def release(name: str, **changes: str) -> Image:
    """The programs with the usual configuration, except for what is changed."""
    files = {
        f"{WORKDIR}/{NAME}": written({**DEFAULT, **changes}),
        f"{WORKDIR}/{PAGES}/index.html": PAGE,
    }
    return Image(name, {**all_commands(), **PROGRAMS}, files=files, env={"GOPATH": "/go"})


def images() -> dict[str, Image]:
    """The application's own images, by reference."""
    return {
        RELEASE: release("hotelreservation"),
        RETRYING_RELEASE: release("hotelreservation-retries", **RETRYING),
        BAD_GEO: release("hotelreservation-geo-app3", GeoMongoAddress="mongodb-geo:27777"),
    }


def publish(registry: ImageRegistry) -> None:
    """Put the application's images, and those of its datastores, into a registry."""
    for reference, image in images().items():
        registry.add(reference, image, args=("bash",), workdir=WORKDIR, size_bytes=SIZE_BYTES)
    for reference, image in mongodb.images().items():
        registry.add(reference, image, args=("mongod",), size_bytes=mongodb.SIZE_BYTES)
    add_consul(registry)
    add_jaeger(registry)
    add_memcached(registry)
