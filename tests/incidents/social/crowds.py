"""Many more people than usual who all write. By itself the network bears that: its makers set no limits."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import THROTTLED, UNDISTURBED, UNDO
from tests.incidents.needs import everyone_fine
from tests.incidents.scene import (
    Scene,
    Sign,
    for_target,
    later,
    metric,
    shows,
    slow_spans,
    spike,
    users_fail,
    users_fine,
)
from tests.incidents.social.needs import COMPOSE, HOME, USER

USUAL = 1.0
"""How many posts a second are written when all is as always."""
LIMIT = "kubectl -n {ns} set resources deployment/{t} --limits=cpu=10m --requests=cpu=10m"
"""No limit is smaller to the kernel: a millisecond in each tenth of a second."""
CALLS = 'sum(rate(thrift_server_requests_total{service="{t}"}[30s]))'
WORK = 'sum(rate(container_cpu_usage_seconds_total{container="{t}"}[30s]))'


def answered_within(journey: str, p99_s: float) -> Sign:
    """All but one in a hundred are answered in that time."""

    def look(scene: Scene) -> None:
        seen = scene.users(journey, 30.0)
        if seen.p99_s > p99_s:
            scene.fail(f"{journey}: p99 is {seen.p99_s * 1000:.1f} ms")

    return look


BREAKAGES = (
    Breakage(
        "ten times as many posts",
        ("compose-post-service", "text-service", "unique-id-service", "url-shorten-service"),
        (spike(COMPOSE, more=9 * USUAL, seconds=36.0),),
        (
            everyone_fine(),
            answered_within(COMPOSE, 0.1),
            metric(CALLS, least=6.0),
            metric(f"{WORK} / {WORK.replace('[30s]', '[30s] offset 1m')}", least=1.5),
        ),
        (),
        soak_s=35.0,
        heal_s=35.0,
    ),
    Breakage(
        "more posts than a CPU limit allows",
        ("text-service", "nginx-thrift"),
        (
            LIMIT,
            "kubectl -n {ns} rollout status deployment/{t} --timeout=50s",
            "sleep 20",
            spike(COMPOSE, more=40 * USUAL, seconds=15.0),
        ),
        (
            users_fail(COMPOSE, least=0.35, kind="timeout"),
            for_target("text-service", users_fine(HOME, USER)),
            metric(THROTTLED, least=0.2),
            shows("kubectl -n {ns} get pods -l service={t}", UNDISTURBED),
            slow_spans("{web}", "/wrk2-api/post/compose", "1s"),
            # When the crowd has gone, the queue empties by itself.
            later((), 45.0, everyone_fine(20.0)),
        ),
        (UNDO,),
        soak_s=17.0,
        # Callers keep many connections since then, and find out about each one when they use it.
        heal_s=130.0,
    ),
)
