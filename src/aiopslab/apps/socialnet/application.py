"""SocialNetwork: people write posts, with mentions, addresses and pictures, and read what they and others have written.

Eleven C++ services that speak Thrift, behind nginx with Lua inside, each with its own stores; nothing outlives its pod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiopslab.apps.base import Application, Component, FrontDoor
from aiopslab.apps.past import SECURED, Past
from aiopslab.apps.socialnet.journeys import JOURNEYS, OBJECTIVES

if TYPE_CHECKING:
    from simcloud.kubernetes.images import ImageRegistry

WEB: Final = "web-team"
POSTS: Final = "posts-team"
TIMELINES: Final = "timelines-team"
PEOPLE: Final = "people-team"
MEDIA: Final = "media-team"
PLATFORM: Final = "platform-team"


def _service(name: str, owner: str, *calls: str) -> Component:
    return Component(f"{name}-service", owner, (*calls, "jaeger"))


def _stores(owner: str, *names: str) -> tuple[Component, ...]:
    return tuple(Component(name, owner) for name in names)


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
    ),
    Component("media-frontend", MEDIA, ("media-mongodb",)),
    _service(
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
    _service("text", POSTS, "url-shorten-service", "user-mention-service"),
    _service("url-shorten", POSTS, "url-shorten-mongodb", "url-shorten-memcached"),
    _service("user-mention", PEOPLE, "user-memcached", "user-mongodb"),
    _service("user", PEOPLE, "user-memcached", "user-mongodb", "social-graph-service"),
    _service("media", MEDIA),
    _service("unique-id", POSTS),
    _service("post-storage", POSTS, "post-storage-memcached", "post-storage-mongodb"),
    _service(
        "user-timeline", TIMELINES, "user-timeline-redis", "user-timeline-mongodb", "post-storage-service"
    ),
    _service(
        "home-timeline", TIMELINES, "home-timeline-redis", "post-storage-service", "social-graph-service"
    ),
    _service("social-graph", PEOPLE, "social-graph-redis", "social-graph-mongodb", "user-service"),
    *_stores(POSTS, "post-storage-mongodb", "post-storage-memcached"),
    *_stores(POSTS, "url-shorten-mongodb", "url-shorten-memcached"),
    *_stores(PEOPLE, "user-mongodb", "user-memcached", "social-graph-mongodb", "social-graph-redis"),
    *_stores(TIMELINES, "user-timeline-mongodb", "user-timeline-redis", "home-timeline-redis"),
    *_stores(MEDIA, "media-mongodb", "media-memcached"),
    Component("jaeger", PLATFORM),
)

NAMESPACE: Final = "test-social-network"
FLUSH: Final = r"""bash -c 'exec 3<>/dev/tcp/127.0.0.1/11211; printf "flush_all\r\nquit\r\n" >&3; cat <&3'"""
MEMCACHED: Final = ("media", "post-storage", "url-shorten", "user")
REDIS: Final = ("social-graph", "user-timeline")
"""Those that only hold what a database has, too; home timelines are nowhere else."""
WRITTEN: Final = "db.post.find().forEach(p => print(p.creator.user_id + '/' + p.text.substring(0, 32)))"
PAST: Final = Past(
    edits=(
        ("imagePullPolicy: Always", "imagePullPolicy: IfNotPresent"),
        ('"connections": 512', '"connections": 128'),
    ),
    values={"global": {"imagePullPolicy": "IfNotPresent", "connections": {"most": 128}}},
    by_hand=(
        f"kubectl -n {NAMESPACE} scale deployment/media-service --replicas=2",
        f"""kubectl -n {NAMESPACE} patch service jaeger -p '{{"spec": {{"type": "NodePort"}}}}'""",
        SECURED,
    ),
)


class SocialNetwork(Application):
    """The social network, as its users, its operators and its judges know it."""

    name = "social-network"
    about = (
        "People write posts, with mentions, addresses and pictures, and read timelines: "
        "eleven Thrift services behind nginx, with MongoDB, Redis and memcached behind them."
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
    audited = "post-storage-mongodb"
    audit = f'kubectl exec --pod-running-timeout=1s -n {NAMESPACE} deploy/post-storage-mongodb -- mongo --quiet post --eval "{WRITTEN}"'

    def publish(self, registry: ImageRegistry) -> None:
        """Put the application's images, and those of its datastores, into a registry."""
        from aiopslab.apps.socialnet.images import publish  # all programs; most who ask run none

        publish(registry)
