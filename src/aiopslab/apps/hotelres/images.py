"""The images of the manifests: the Go programs, with their configuration, and the datastores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from aiopslab.apps.hotelres.config import DEFAULT, NAME, RANKING, RETRYING, WORKDIR, format_config
from aiopslab.apps.hotelres.releases import BAD_GEO, RANKING_RELEASE, RELEASE, RETRYING_RELEASE
from aiopslab.apps.hotelres.services.frontend import PAGES, frontend
from aiopslab.apps.hotelres.services.geo import geo
from aiopslab.apps.hotelres.services.profile import profile
from aiopslab.apps.hotelres.services.rate import rate
from aiopslab.apps.hotelres.services.recommendation import recommendation
from aiopslab.apps.hotelres.services.reservation import reservation
from aiopslab.apps.hotelres.services.search import search
from aiopslab.apps.hotelres.services.user import user
from aiopslab.apps.names import Names
from simcloud.datastores.consul import add_consul
from simcloud.datastores.memcached import add_memcached
from simcloud.datastores.mongodb import image as mongodb
from simcloud.kubernetes.images import ImageRegistry
from simcloud.machine import Image
from simcloud.machine.process import DEFAULT_PATH, Program
from simcloud.services.jaeger import add_jaeger
from simcloud.userland import BULLSEYE, build_image

SIZE_BYTES: Final = 459_826_173
GO_PACKAGES: Final = ("curl", "file", "openssh-client", "openssl", "procps", "wget")
"""Packages of the golang image on which the releases are built, as far as they bring commands that exist here."""
PAGE: Final = (
    b"<!DOCTYPE html>\n<html>\n<head><title>Hotel reservation</title></head>\n<body>\n<h1>Hotel reservation</h1>\n"
    b'<form action="/hotels"><input name="inDate" value="2015-04-09"><input name="outDate" value="2015-04-10">\n'
    b'<input name="lat" value="37.7867"><input name="lon" value="-122.4112"><button>Search</button></form>\n'
    b"</body>\n</html>\n"
)

PROGRAMS: Final[Mapping[str, Callable[[Names], Program]]] = {
    "frontend": frontend,
    "search": search,
    "geo": geo,
    "rate": rate,
    "profile": profile,
    "recommendation": recommendation,
    "user": user,
    "reservation": reservation,
}


def build_release(name: str, names: Names, **changes: str) -> Image:
    """Build an image of the programs with the default configuration and some changes, for components of some names."""
    config = {key: names.rename(value) for key, value in {**DEFAULT, **changes}.items()}
    programs = {names.rename(program): build(names) for program, build in PROGRAMS.items()}
    files = {
        f"{WORKDIR}/{NAME}": format_config(config),
        f"{WORKDIR}/{PAGES}/index.html": PAGE,
    }
    env = {"GOLANG_VERSION": "1.17.3", "GOPATH": "/go", "PATH": f"/go/bin:/usr/local/go/bin:{DEFAULT_PATH}"}
    return build_image(name, BULLSEYE, programs, packages=GO_PACKAGES, files=files, env=env)


def build_images(names: Names) -> dict[str, Image]:
    """Build the application's own images, by reference."""
    return {
        RELEASE: build_release("hotelreservation", names),
        RETRYING_RELEASE: build_release("hotelreservation-retries", names, **RETRYING),
        RANKING_RELEASE: build_release("hotelreservation-ranking", names, **RANKING),
        BAD_GEO: build_release("hotelreservation-geo-app3", names, GeoMongoAddress="mongodb-geo:27777"),
    }


def publish(registry: ImageRegistry, names: Names) -> None:
    """Add the images of the application and its datastores to a registry."""
    for reference, image in build_images(names).items():
        registry.add(
            reference, image, args=("bash",), workdir=WORKDIR, size_bytes=SIZE_BYTES + len(reference)
        )
    for reference, image in mongodb.images().items():
        registry.add(reference, image, args=("mongod",), size_bytes=mongodb.SIZE_BYTES)
    add_consul(registry)
    add_jaeger(registry)
    add_memcached(registry)
