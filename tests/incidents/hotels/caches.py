"""What is done to caches."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import RESTARTED, memcached
from tests.incidents.needs import everyone_fine
from tests.incidents.scene import (
    failing_spans,
    for_target,
    logged,
    metric,
    shows,
    slow_spans,
    users_fail,
    users_slow,
)

OWNER = {"rate": "rate", "profile": "profile", "reserve": "reservation"}
HOGS = "for i in 1 2 3 4 5 6 7 8; do yes >/dev/null 2>&1 & done"

GONE = {
    "rate": r"PNC services/rate/server.go:\d+ > Memmcached error while trying to get hotel \[id: .*\]= ",
    "profile": r"PNC services/profile/server.go:\d+ > Tried to get hotelIds \[.*\], but got memmcached error = ",
    "reserve": r"PNC services/reservation/server.go:\d+ > ",
}
REFUSED = r"dial tcp [0-9.]+:11211: connect: connection refused"

BREAKAGES = (
    Breakage(
        "cache gone",
        ("rate", "profile", "reserve"),
        ("kubectl -n {ns} scale deployment/memcached-{t} --replicas=0",),
        (
            users_fail("search", least=0.5, kind="HTTP 500"),
            for_target("profile", users_fail("recommend", kind="HTTP 500")),
            for_target("reserve", users_fail("reserve", kind="HTTP 500")),
            *(
                for_target(cache, logged(f'pod=~"{owner}-.*"', f"{GONE[cache]}.*{REFUSED}$"))
                for cache, owner in OWNER.items()
            ),
            *(
                for_target(
                    cache,
                    metric(
                        f'kube_pod_container_status_restarts_total{{container="hotel-reserv-{owner}"}}',
                        least=1,
                    ),
                )
                for cache, owner in OWNER.items()
            ),
            failing_spans("frontend"),
        ),
        (
            "kubectl -n {ns} scale deployment/memcached-{t} --replicas=1",
            "sleep 10",
            "kubectl -n {ns} delete pod -l 'io.kompose.service in (rate, profile, reservation)'",
        ),
    ),
    Breakage(
        "cache restarted",
        ("profile", "rate", "reserve"),
        ("kubectl -n {ns} delete pod -l io.kompose.service=memcached-{t}",),
        (
            *(
                for_target(
                    cache,
                    shows(
                        f"kubectl -n {{ns}} logs -p deploy/{owner}", f"{GONE[cache]}.*EOF$", "^panic: .*EOF$"
                    ),
                )
                for cache, owner in OWNER.items()
            ),
            *(
                for_target(cache, shows("kubectl -n {ns} get pods", rf"^{owner}-\S+ +" + RESTARTED))
                for cache, owner in OWNER.items()
            ),
            metric(
                'sum(increase(kube_pod_container_status_restarts_total{namespace="{ns}"}[2m]))', least=0.5
            ),
            everyone_fine(20.0),
        ),
        (),
    ),
    Breakage(
        "cache emptied",
        ("rate", "profile", "reserve"),
        (memcached("memcached-{t}", "flush_all"),),
        (
            everyone_fine(),
            shows(memcached("memcached-{t}", "stats"), "STAT cmd_flush 1"),
            metric('sum(increase(kube_pod_container_status_restarts_total{namespace="{ns}"}[2m]))', most=0),
        ),
        (),
    ),
    Breakage(
        "starved cache",
        ("profile", "rate", "reserve"),
        (f"kubectl -n {{ns}} exec deploy/memcached-{{t}} -- sh -c '{HOGS}'",),
        (
            for_target("profile", users_slow("recommend", p99_s=0.04)),
            for_target("rate", users_slow("search", p99_s=0.04)),
            for_target("reserve", users_slow("reserve", p99_s=0.04)),
            for_target("profile", slow_spans("profile", "memcached_get_profile", "20ms")),
            for_target("rate", slow_spans("rate", "memcached_get_multi_rate", "20ms")),
            for_target("reserve", slow_spans("reservation", "memcached_capacity_get_multi_number", "20ms")),
            shows("kubectl -n {ns} top pods", r"^memcached-{t}-\S+ +(9[5-9]\d|1\d\d\d)m"),
            shows("kubectl -n {ns} exec deploy/memcached-{t} -- sh -c 'cat /proc/[0-9]*/comm'", r"^yes$"),
            metric(
                'sum(rate(container_cpu_cfs_throttled_periods_total{pod=~"memcached-{t}-.*"}[1m]))', least=1
            ),
        ),
        ("kubectl -n {ns} exec deploy/memcached-{t} -- sh -c 'kill $(pidof yes)'",),
    ),
)
