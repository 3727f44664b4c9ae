"""The images of the chart: the C++ programs, the two nginx servers, and datastores with and without data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from aiopslab.apps.socialnet.data.databases import build_images_with_data
from aiopslab.apps.socialnet.services.compose_post import compose_post_service
from aiopslab.apps.socialnet.services.home_timeline import home_timeline_service
from aiopslab.apps.socialnet.services.media import media_service
from aiopslab.apps.socialnet.services.post_storage import post_storage_service
from aiopslab.apps.socialnet.services.social_graph import social_graph_service
from aiopslab.apps.socialnet.services.text import text_service
from aiopslab.apps.socialnet.services.unique_id import unique_id_service
from aiopslab.apps.socialnet.services.url_shorten import url_shorten_service
from aiopslab.apps.socialnet.services.user import user_service
from aiopslab.apps.socialnet.services.user_mention import user_mention_service
from aiopslab.apps.socialnet.services.user_timeline import user_timeline_service
from aiopslab.apps.socialnet.web.front import nginx_thrift
from aiopslab.apps.socialnet.web.media import media_frontend
from aiopslab.apps.socialnet.web.nginx import HOME, SCRIPTS
from aiopslab.apps.socialnet.web.scripts import SCRIPTS as FRONT_SCRIPTS
from simcloud.datastores.memcached import add_memcached
from simcloud.datastores.mongodb import image as mongodb
from simcloud.datastores.redis import add_redis
from simcloud.kubernetes.images import ImageRegistry
from simcloud.machine import Image
from simcloud.machine.process import BINARY, Program
from simcloud.services.jaeger import add_jaeger
from simcloud.userland.commands import all_commands

SERVICES: Final = "deathstarbench/social-network-microservices:latest"
WEB: Final = "yg397/openresty-thrift:xenial"
MEDIA: Final = "yg397/media-frontend:xenial"
WITH_DATA: Final = "deathstarbench/social-network-"
DATABASES: Final = ("post-storage-mongodb", "social-graph-mongodb", "user-mongodb", "user-timeline-mongodb")
TIMELINES: Final = "home-timeline-redis"
WORKDIR: Final = "/social-network-microservices"
SERVICES_BYTES: Final = 410_000_000
WEB_BYTES: Final = 380_000_000
REDIS_BYTES: Final = 105_000_000

PROGRAMS: Final[Mapping[str, Program]] = {
    "ComposePostService": compose_post_service,
    "HomeTimelineService": home_timeline_service,
    "MediaService": media_service,
    "PostStorageService": post_storage_service,
    "SocialGraphService": social_graph_service,
    "TextService": text_service,
    "UniqueIdService": unique_id_service,
    "UrlShortenService": url_shorten_service,
    "UserMentionService": user_mention_service,
    "UserService": user_service,
    "UserTimelineService": user_timeline_service,
}
PAGE: Final = (
    b"<!DOCTYPE html>\n<html>\n<head><title>Social network</title></head>\n<body>\n<h1>Social network</h1>\n"
    b'<form action="/api/user/login" method="post"><input name="username"><input name="password" type="password">\n'
    b"<button>Log in</button></form>\n</body>\n</html>\n"
)


@cache
def build_services_image() -> Image:
    """Build the image of the eleven programs. Their configuration is mounted."""
    return Image(
        "social-network-microservices", {**all_commands(), **PROGRAMS}, files={f"{WORKDIR}/config/.keep": b""}
    )


@cache
def build_web_image() -> Image:
    """Build the image of the web server, with its scripts and pages."""
    return _build_openresty("openresty-thrift", nginx_thrift, tuple(FRONT_SCRIPTS))


@cache
def build_media_image() -> Image:
    """Build the image of the picture server."""
    return _build_openresty("media-frontend", media_frontend, ("upload-media", "get-media"))


def _build_openresty(name: str, program: Program, scripts: tuple[str, ...]) -> Image:
    # The scripts are implemented in Python, so their files look like binaries, as in /usr/bin.
    files = {f"{SCRIPTS}/{script}.lua": BINARY + script.encode() for script in scripts}
    pages = {f"{HOME}/pages/{page}.html": PAGE for page in ("index", "main")}
    programs = {**all_commands(), "nginx": program, "openresty": program}
    return Image(name, programs, files={**files, **pages, f"{HOME}/conf/mime.types": b"types {}\n"})


def publish(registry: ImageRegistry) -> None:
    """Add the images of the application and its datastores to a registry."""
    registry.add(SERVICES, build_services_image(), args=("bash",), workdir=WORKDIR, size_bytes=SERVICES_BYTES)
    for reference, image in ((WEB, build_web_image()), (MEDIA, build_media_image())):
        args = ("openresty", "-g", "daemon off;")
        registry.add(reference, image, args=args, workdir=HOME, size_bytes=WEB_BYTES)
    images = build_images_with_data()
    for name in DATABASES:
        registry.add(
            f"{WITH_DATA}{name}:4.4.6", images[name], args=("mongod",), size_bytes=mongodb.SIZE_BYTES
        )
    registry.add(
        f"{WITH_DATA}{TIMELINES}:6.2.4",
        images[TIMELINES],
        args=("redis-server",),
        workdir="/data",
        size_bytes=REDIS_BYTES,
    )
    for reference, image in mongodb.images().items():
        registry.add(reference, image, args=("mongod",), size_bytes=mongodb.SIZE_BYTES)
    add_jaeger(registry)
    add_memcached(registry)
    add_redis(registry)
