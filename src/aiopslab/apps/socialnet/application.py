"""SocialNetwork: users write posts with mentions, links and pictures, and read their own and others' timelines.

Eleven C++ services with Thrift interfaces behind nginx with Lua, with their own datastores; no data outlives its pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from aiopslab.apps.base import Application, Component, FrontDoor, Role, format_audit
from aiopslab.apps.names import Names
from aiopslab.apps.past import METADATA_RULE, Past
from aiopslab.apps.registry import application
from aiopslab.apps.socialnet.journeys import JOURNEYS, OBJECTIVES

if TYPE_CHECKING:
    from simcloud.kubernetes.images import ImageRegistry

WEB: Final = "web-team"
POSTS: Final = "posts-team"
TIMELINES: Final = "timelines-team"
PEOPLE: Final = "people-team"
MEDIA: Final = "media-team"
PLATFORM: Final = "platform-team"


HOME, USER, COMPOSE = "home-timeline", "user-timeline", "compose"
JOURNEYS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "post-storage": (HOME, USER, COMPOSE),
    "home-timeline": (HOME, COMPOSE),
    "user-timeline": (USER, COMPOSE),
}
"""The journeys of services and their stores; the others are needed to write posts."""
UNUSED: Final = ("media-mongodb", "media-memcached", "url-shorten-memcached")
"""Stores that no journey uses: those of uploaded pictures, and a cache that its service never asks."""
WRITTEN: Final = (
    "url-shorten-mongodb", "user-timeline-mongodb", "post-storage-mongodb", "home-timeline-redis", "user-timeline-redis",
)  # fmt: skip
"""Stores in which every new post leaves something."""
NEEDED: Final = ("user-timeline-mongodb", "post-storage-mongodb")
"""Stores whose data no journey can do without."""


def _make_service(name: str, owner: str, *calls: str) -> Component:
    return Component(
        f"{name}-service",
        owner,
        (*calls, "jaeger"),
        journeys=JOURNEYS_OF.get(name, (COMPOSE,)),
        config_file="service-config.json",
    )


def _make_stores(owner: str, *names: str) -> tuple[Component, ...]:
    return tuple(_make_store(owner, name) for name in names)


def _make_store(owner: str, name: str) -> Component:
    service, _, role = name.rpartition("-")
    journeys = () if name in UNUSED else JOURNEYS_OF.get(service, (COMPOSE,))
    return Component(
        name,
        owner,
        role=cast("Role", role),
        journeys=journeys,
        written=name in WRITTEN,
        needs_data=name in NEEDED,
    )


COMPONENTS: Final = (
    Component(
        "nginx-thrift",
        WEB,
        (
            "compose-post-service",
            "home-timeline-service",
            "user-timeline-service",
            "user-service",
            "social-graph-service",
            "jaeger",
        ),
        role="front end",
        journeys=(HOME, USER, COMPOSE),
    ),
    Component("media-frontend", MEDIA, ("media-mongodb",), role="front end"),
    _make_service(
        "compose-post",
        POSTS,
        "text-service",
        "user-service",
        "media-service",
        "unique-id-service",
        "post-storage-service",
        "user-timeline-service",
        "home-timeline-service",
    ),
    _make_service("text", POSTS, "url-shorten-service", "user-mention-service"),
    _make_service("url-shorten", POSTS, "url-shorten-mongodb", "url-shorten-memcached"),
    _make_service("user-mention", PEOPLE, "user-memcached", "user-mongodb"),
    _make_service("user", PEOPLE, "user-memcached", "user-mongodb", "social-graph-service"),
    _make_service("media", MEDIA),
    _make_service("unique-id", POSTS),
    _make_service("post-storage", POSTS, "post-storage-memcached", "post-storage-mongodb"),
    _make_service(
        "user-timeline", TIMELINES, "user-timeline-redis", "user-timeline-mongodb", "post-storage-service"
    ),
    _make_service(
        "home-timeline", TIMELINES, "home-timeline-redis", "post-storage-service", "social-graph-service"
    ),
    _make_service("social-graph", PEOPLE, "social-graph-redis", "social-graph-mongodb", "user-service"),
    *_make_stores(POSTS, "post-storage-mongodb", "post-storage-memcached"),
    *_make_stores(POSTS, "url-shorten-mongodb", "url-shorten-memcached"),
    *_make_stores(PEOPLE, "user-mongodb", "user-memcached", "social-graph-mongodb", "social-graph-redis"),
    *_make_stores(TIMELINES, "user-timeline-mongodb", "user-timeline-redis", "home-timeline-redis"),
    *_make_stores(MEDIA, "media-mongodb", "media-memcached"),
    Component("jaeger", PLATFORM, role="tracing"),
)

NAMESPACE: Final = "test-social-network"
FLUSH: Final = r"""bash -c 'exec 3<>/dev/tcp/127.0.0.1/11211; printf "flush_all\r\nquit\r\n" >&3; cat <&3'"""
MEMCACHED: Final = ("media", "post-storage", "url-shorten", "user")
REDIS: Final = ("social-graph", "user-timeline")
"""The Redis servers that only cache a database; home timelines have no other copy."""
LIST_POSTS: Final = (
    "db.post.find({text: /^[^ ]{32}/}, {'creator.user_id': 1, text: 1})"
    ".forEach(p => print(p.creator.user_id + '/' + p.text.substring(0, 32)))"
)
"""Users' posts begin with hundreds of letters; those of the image, which nobody was promised, consist of short words."""
PAST: Final = Past(
    edits=(
        ("imagePullPolicy: Always", "imagePullPolicy: IfNotPresent"),
        ('"connections": 512', '"connections": 128'),
    ),
    values={"global": {"imagePullPolicy": "IfNotPresent", "connections": {"most": 128}}},
    by_hand=(
        f"kubectl -n {NAMESPACE} scale deployment/media-service --replicas=2",
        f"""kubectl -n {NAMESPACE} patch service jaeger -p '{{"spec": {{"type": "NodePort"}}}}'""",
        METADATA_RULE,
    ),
)


OTHER_NAMES: Final = Names(
    {
        "compose-post": "draft-entry",
        "home-timeline": "front-feed",
        "media": "library",
        "nginx-thrift": "nginx-portal",
        "post-storage": "page-archive",
        "social-graph": "relations",
        "text": "sentence",
        "unique-id": "serial-key",
        "url-shorten": "tiny-link",
        "user": "viewer",
        "user-mention": "viewer-message",
        "user-timeline": "viewer-wall",
    },
    # Short words only where a kind of component follows: not in references of images, URLs, or names of files and teams.
    r"(?<![\w-])(?<!yg397/)(?:{words})(?=-(?!nginx|team|timeline)|(?<=nginx-thrift|social-graph))",
)


@application
class SocialNetwork(Application):
    """The social network application."""

    name = "social-network"
    short_name = "social_net"
    about = (
        "Users write posts, with mentions, links and pictures, and read timelines. "
        "It has eleven Thrift services behind nginx, which store data in MongoDB, Redis and memcached."
    )
    namespace = NAMESPACE
    front_door = FrontDoor("nginx-thrift", port=8080, node_port=30080)
    components = COMPONENTS
    journeys = JOURNEYS
    objectives = OBJECTIVES
    chart_values = ("values-populated.yaml",)
    cooling = (
        *(
            f"kubectl exec --pod-running-timeout=1s -n {NAMESPACE} deploy/{name}-memcached -- {FLUSH}"
            for name in MEMCACHED
        ),
        *(
            f"kubectl exec --pod-running-timeout=1s -n {NAMESPACE} deploy/{name}-redis -- redis-cli flushall"
            for name in REDIS
        ),
    )
    past = PAST
    other_names = OTHER_NAMES
    audited = "post-storage-mongodb"
    audit = format_audit(NAMESPACE, f"service={audited}", f'mongo --quiet post --eval "{LIST_POSTS}"')

    def publish(self, registry: ImageRegistry) -> None:
        """Add the images of the application and its datastores to a registry."""
        from aiopslab.apps.socialnet.images import publish  # slow: it imports all programs

        publish(registry, self.names)
