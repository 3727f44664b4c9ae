"""The social network when one of its stores is unwell, and that what it keeps is what was promised."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.aiopslab.apps.socialnet.living import Living

UPLOADED = (200, "Successfully upload post\n")


@pytest.fixture(scope="module")
def living() -> Living:
    return Living(seed=6)


def redis(living: Living, name: str, command: str) -> str:
    return living.typed(f"k exec deploy/{name}-redis -- redis-cli {command}")


def compose(living: Living) -> tuple[int, str]:
    return living.compose(7, "hello @username_8 http://a.example")


def test_home_timelines_come_from_the_snapshot_in_the_image(living: Living) -> None:
    assert "DB loaded from disk" in living.typed("k logs deploy/home-timeline-redis")
    assert redis(living, "home-timeline", "dbsize") == "962\n"


def test_what_users_were_promised_is_in_the_audit(living: Living) -> None:
    journey, random = living.app.journeys[2], Random(11)
    promised: list[str] = []
    for _ in range(5):
        request = journey.request(random)
        response = living.sent(request)
        assert journey.accepts(response), response.body
        assert journey.promises is not None
        promised += journey.promises(request, response)
    kept = Counter(living.typed(living.app.audit).splitlines())
    assert not Counter(promised) - kept


def test_emptied_caches_change_no_answer(living: Living) -> None:
    before = [living.read(which, 11) for which in ("home", "user")]
    for line in living.app.cooling:
        living.typed(line)
    assert redis(living, "user-timeline", "dbsize") == "0\n"
    assert [living.read(which, 11) for which in ("home", "user")] == before
    assert compose(living) == UPLOADED


def test_a_full_redis_takes_no_more_and_is_still_read(living: Living) -> None:
    redis(living, "home-timeline", "config set maxmemory 1mb")
    status, body = compose(living)
    assert status == 500
    assert body.startswith("compost_post failure: OOM command not allowed when used memory > 'maxmemory'")
    [line] = living.logs("home-timeline-service", 1)
    assert "<error>: (HomeTimelineHandler.h:156:WriteHomeTimeline) OOM command not allowed" in line
    assert living.read("home", 7)[0] == 200
    redis(living, "home-timeline", "config set maxmemory 0")
    assert compose(living) == UPLOADED


def test_a_redis_with_a_new_password_refuses_the_service(living: Living) -> None:
    redis(living, "user-timeline", "config set requirepass changed")
    living.world.run_for(15)
    refused = (500, "Get user-timeline failure: NOAUTH Authentication required.\n")
    assert living.read("user", 7) == refused
    assert living.read("home", 7)[0] == 200
    redis(living, "user-timeline", "-a changed config set requirepass ''")
    assert living.read("user", 7)[0] == 200


def test_without_the_cache_posts_cannot_be_read_and_a_new_one_is_filled_from_the_database(
    living: Living,
) -> None:
    living.typed("k scale deploy post-storage-memcached --replicas 0")
    living.world.run_for(45)
    answers = [living.read("home", 7) for _ in range(2)]
    assert answers == [
        (500, "Get home-timeline failure: CONNECTION FAILURE\n"),
        (500, "Get home-timeline failure: SERVER HAS FAILED AND IS DISABLED UNTIL TIMED RETRY\n"),
    ]
    [line] = living.logs("post-storage-service", 1)
    assert "(PostStorageHandler.h:405:ReadPosts) Cannot get post_ids of request " in line
    living.typed("k scale deploy post-storage-memcached --replicas 1")
    living.world.run_for(10)
    assert living.read("home", 7)[0] == 200
    count = r"""k exec deploy/post-storage-memcached -- bash -c 'exec 3<>/dev/tcp/127.0.0.1/11211; printf "stats\r\nquit\r\n" >&3; cat <&3'"""
    stats = dict(line.split()[1:3] for line in living.typed(count).splitlines() if line.startswith("STAT"))
    assert int(stats["curr_items"]) == 10


def test_a_lost_database_takes_what_was_written_with_it(living: Living) -> None:
    assert compose(living) == UPLOADED
    living.typed(
        "k delete pod -l service=post-storage-mongodb; k delete pod -l service=post-storage-memcached"
    )
    living.world.run_for(60)
    assert living.read("user", 7) == (500, "Get user-timeline failure: Return set incomplete\n")
    assert living.read("user", 100)[0] == 200


def test_nginx_tells_what_it_does_not_understand_of_its_configuration(living: Living) -> None:
    broken = "k get cm nginx-thrift -o yaml | sed 's/server_name  localhost;/server_nam;/; s/  listen       8080 reuseport;/  lisen 8080;/'"
    living.typed(f"{broken} | kubectl apply -f -; k rollout restart deploy nginx-thrift")
    living.world.run_for(30)
    told: Any = living.typed("k logs -l service=nginx-thrift --tail 1 | grep emerg")
    assert told.startswith(
        'nginx: [emerg] unknown directive "lisen" in /usr/local/openresty/nginx/conf/nginx.conf:'
    )
