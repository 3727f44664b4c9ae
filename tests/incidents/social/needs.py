"""SocialNetwork, as the catalogue knows it."""

from __future__ import annotations

from aiopslab.apps.socialnet import SocialNetwork
from tests.incidents.known import Known

HOME, USER, COMPOSE = "home-timeline", "user-timeline", "compose"
NEEDED_BY = {
    "nginx-thrift": (HOME, USER, COMPOSE),
    "post-storage-service": (HOME, USER, COMPOSE),
    "home-timeline-service": (HOME, COMPOSE),
    "user-timeline-service": (USER, COMPOSE),
    "compose-post-service": (COMPOSE,),
    "text-service": (COMPOSE,),
    "user-service": (COMPOSE,),
    "media-service": (COMPOSE,),
    "unique-id-service": (COMPOSE,),
    "url-shorten-service": (COMPOSE,),
    "user-mention-service": (COMPOSE,),
    "social-graph-service": (COMPOSE,),
    "post-storage-memcached": (HOME, USER),
    "home-timeline-redis": (HOME, COMPOSE),
    "user-timeline-redis": (USER, COMPOSE),
    "url-shorten-mongodb": (COMPOSE,),
    "user-timeline-mongodb": (COMPOSE,),
}
STEMS = {
    "url-shorten": (COMPOSE,),
    "user": (COMPOSE,),
    "social-graph": (COMPOSE,),
    "user-timeline": (USER, COMPOSE),
}
"""A service and its database together: ``{t}-service`` and ``{t}-mongodb``."""
SERVICES = tuple(name for name in NEEDED_BY if name.endswith("-service"))
RESTORE = (
    "kubectl -n {ns} scale deployment/nginx-thrift --replicas=0",
    "sleep 5",
    "kubectl -n {ns} delete pod -l 'service in (post-storage-mongodb, user-timeline-mongodb,"
    " home-timeline-redis, user-timeline-redis)'",
    "sleep 10",
    "kubectl -n {ns} scale deployment/nginx-thrift --replicas=1",
)
"""Posts and the timelines that name them, all from their images again, while nobody writes."""


def process(service: str) -> str:
    """What the kernel calls a service's process: fifteen letters, as of all."""
    return "".join(map(str.capitalize, service.split("-")))[:15]


KNOWN = Known(
    app=SocialNetwork(),
    label="service",
    container="{t}",
    image="deathstarbench/social-network-microservices",
    traced="nginx-web-server",
    process=process,
    services=SERVICES,
    needed_by={**NEEDED_BY, **STEMS},
    widest=COMPOSE,
    widest_span="/wrk2-api/post/compose",
    by_service=True,
    afterwards=RESTORE,
    reboot_s=165.0,
    soak_s=55.0,
    heal_s=50.0,
)
