"""What is done to Redis and to memcached."""

from __future__ import annotations

import re
from itertools import pairwise

from tests.incidents.breakage import Breakage
from tests.incidents.needs import everyone_fine
from tests.incidents.scene import Scene, Sign, for_target, logged, shows, users_fail, users_fine
from tests.incidents.social.needs import COMPOSE, HOME, USER

REDIS = "kubectl -n {ns} exec deploy/{t}-redis -- redis-cli "
COUNT = "kubectl -n {ns} exec deploy/post-storage-mongodb -- mongo --quiet --eval 'db.serverStatus().opcounters.query'"
SPAN_S = 10.0


def load_moves_to_the_database() -> Sign:
    """While the cache fills anew, many a read goes to MongoDB; later few do. Its own count and the traces say so."""

    def look(scene: Scene) -> None:
        counts = [int(re.findall(r"\d+", scene.type(COUNT))[-1])]
        finds = []
        for _ in range(4):
            scene.wait(SPAN_S)
            counts.append(int(re.findall(r"\d+", scene.type(COUNT))[-1]))
            finds.append(_spans(scene, "mongo_find_client"))
        queries = [after - before for before, after in pairwise(counts)]
        scene.transcript.append(f"queries in each {SPAN_S:g} s: {queries}; traces with a find: {finds}")
        if queries[0] < 1.5 * queries[-1] or finds[0] < 1.5 * finds[-1]:
            scene.fail("the load does not move to the database and back")

    return look


def _spans(scene: Scene, operation: str) -> int:
    now_us = round((scene.environment.world.epoch_s + scene.environment.now) * 1e6)
    asked = {"service": "post-storage-service", "operation": operation, "limit": 1500}
    start = now_us - round(SPAN_S * 1e6)
    return len(scene.ask("/api/traces", **asked, start=start, end=now_us)["data"])


BREAKAGES = (
    Breakage(
        "Redis out of memory",
        ("home-timeline", "user-timeline"),
        (REDIS + "config set maxmemory-policy noeviction", REDIS + "config set maxmemory 512kb"),
        (
            users_fail(COMPOSE, kind="HTTP 500"),
            users_fine(HOME),
            shows(REDIS + "info memory", "maxmemory:524288", "maxmemory_policy:noeviction"),
            shows(REDIS + "set one more", "OOM command not allowed when used memory > 'maxmemory'"),
            logged('pod=~"{t}-service-.*"', "<error>: .*OOM command not allowed when used memory"),
        ),
        (REDIS + "config set maxmemory 0",),
        soak_s=35.0,
        heal_s=35.0,
    ),
    Breakage(
        "Redis password changed",
        ("user-timeline", "home-timeline", "social-graph"),
        (REDIS + "config set requirepass changed",),
        (
            users_fail(COMPOSE, kind="HTTP 500"),
            for_target("user-timeline", users_fail(USER, kind="HTTP 500")),
            for_target("user-timeline", users_fine(HOME)),
            for_target("home-timeline", users_fail(HOME, kind="HTTP 500")),
            for_target("home-timeline", users_fine(USER)),
            for_target("social-graph", users_fine(HOME, USER)),
            shows(REDIS + "get 7", "NOAUTH Authentication required"),
            logged('pod=~"{t}-service-.*"', "NOAUTH Authentication required"),
        ),
        (REDIS + "-a changed config set requirepass ''",),
        heal_s=35.0,
    ),
    Breakage(
        "cache gone",
        ("post-storage", "user"),
        ("kubectl -n {ns} scale deployment/{t}-memcached --replicas=0",),
        (
            for_target("post-storage", users_fail(HOME, USER, kind="HTTP 500")),
            for_target("post-storage", users_fine(COMPOSE)),
            for_target("user", users_fail(COMPOSE, kind="HTTP 500")),
            for_target("user", users_fine(HOME, USER)),
            shows("kubectl -n {ns} get deployment {t}-memcached", r"^{t}-memcached +0/0"),
            logged(
                'pod=~"(post-storage|user-mention)-service-.*"',
                "CONNECTION FAILURE|SERVER HAS FAILED AND IS DISABLED UNTIL TIMED RETRY",
            ),
        ),
        ("kubectl -n {ns} scale deployment/{t}-memcached --replicas=1",),
    ),
    Breakage(
        "cache lost, and empty when it is back",
        (
            "delete pod -l service=post-storage-memcached --grace-period=0 --force",
            "exec deploy/post-storage-memcached -- sh -c 'kill 1'",
            "rollout restart deployment/post-storage-memcached",
        ),
        ("kubectl -n {ns} {t}",),
        (
            load_moves_to_the_database(),
            shows("kubectl -n {ns} get pods", r"^post-storage-memcached-\S+ +1/1 +Running"),
            everyone_fine(8.0),
        ),
        (),
        soak_s=2.0,
        heal_s=35.0,
    ),
)
