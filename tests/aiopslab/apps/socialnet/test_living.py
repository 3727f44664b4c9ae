"""The social network on a cluster: what users and operators see when all is well."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import Any

import pytest

from aiopslab.apps.socialnet.data.people import draw_neighbours
from simcloud.machine.network.http import HttpRequest
from tests.aiopslab.apps.socialnet.living import Living


@pytest.fixture(scope="module")
def living() -> Living:
    return Living()


def build_posts(answer: tuple[int, str]) -> list[dict[str, Any]]:
    status, body = answer
    assert status == 200, body
    return json.loads(body) or []


def test_all_of_it_runs_without_a_restart(living: Living) -> None:
    lines = living.typed("k get pods --no-headers").splitlines()
    assert len(lines) == 28  # 27 workloads, one of which somebody gave a second pod
    assert all(line.split()[1:4] == ["1/1", "Running", "0"] for line in lines)
    assert living.took_s < 90


def test_everybody_has_timelines_from_the_start(living: Living) -> None:
    for user in (0, 480, 961):
        written = build_posts(living.read("user", user))
        assert written
        assert {one["creator"]["username"] for one in written} == {f"username_{user}"}
        others = build_posts(living.read("home", user))
        assert others
        stamps = [int(one["timestamp"]) for one in others]
        assert stamps == sorted(stamps, reverse=True)
        known = {str(other) for other in draw_neighbours()[user]}
        assert all(
            one["creator"]["user_id"] in known or any(m["user_id"] == str(user) for m in one["user_mentions"])
            for one in others
        )


def test_a_post_appears_in_its_writers_its_followers_and_the_mentioned_ones_timelines(living: Living) -> None:
    follower = draw_neighbours()[7][0]
    stranger = next(user for user in range(962) if user not in (*draw_neighbours()[7], 7))
    said = f"see @username_{stranger} and @nobody at https://example.com"
    assert living.compose(7, said) == (200, "Successfully upload post\n")
    [newest] = build_posts(living.read("user", 7, 0, 1))
    [url] = newest["urls"]
    assert url["expanded_url"] == "https://example.com"
    assert url["shortened_url"].startswith("http://short-url/")
    assert newest["text"] == f"see @username_{stranger} and @nobody at {url['shortened_url']}"
    assert newest["user_mentions"] == [{"user_id": str(stranger), "username": f"username_{stranger}"}]
    for reader in (follower, stranger):
        assert build_posts(living.read("home", reader, 0, 1)) == [newest]


def test_what_is_not_there_is_an_empty_object_as_in_lua(living: Living) -> None:
    assert living.read("user", 7, 5000, 5010) == (200, "{}\n")
    assert living.read("home", 7, 3, 3) == (200, "{}\n")


def test_people_register_follow_and_unfollow(living: Living) -> None:
    new = {"first_name": "Ada", "last_name": "L", "username": "ada", "password": "x", "user_id": "5000"}
    assert living.posted("/wrk2-api/user/register", new) == (200, "Success!\n")
    again = living.posted("/wrk2-api/user/register", new)
    assert again == (500, "User registration failure: User ada already existed\n")
    pair = {"user_name": "ada", "followee_name": "username_3"}
    assert living.posted("/wrk2-api/user/follow", pair) == (200, "Success!\n")
    living.compose(3, "for ada")
    assert [one["text"] for one in build_posts(living.read("home", 5000))] == ["for ada"]
    ids = {"user_id": "5000", "followee_id": "3"}
    assert living.posted("/wrk2-api/user/unfollow", ids) == (200, "Success!\n")
    living.compose(3, "not for ada")
    assert [one["text"] for one in build_posts(living.read("home", 5000))] == ["for ada"]


def test_who_logs_in_reads_with_a_token_and_nobody_else(living: Living) -> None:
    wrong = living.posted("/api/user/login", {"username": "username_4", "password": "guess"})
    assert wrong == (500, "User login failure: Incorrect username or password\n")
    assert living.asked("/api/user-timeline/read?start=0&stop=1")[0] == 401
    body = b"username=username_4&password=password_4"
    cookie = living.sent(HttpRequest("POST", "/api/user/login", {}, body)).headers["Set-Cookie"]
    claims = json.loads(urlsafe_b64decode(cookie.split(".")[1] + "=="))
    assert list(claims) == ["timestamp", "ttl", "user_id", "username"]
    headers = {"Cookie": cookie.partition(";")[0]}
    answer = living.sent(HttpRequest("GET", "/api/user-timeline/read?start=0&stop=1", headers))
    [post] = json.loads(answer.body)
    assert post["creator"]["username"] == "username_4"


def test_incomplete_arguments_are_refused_and_logged(living: Living) -> None:
    assert living.asked("/wrk2-api/home-timeline/read?user_id=7") == (400, "Incomplete arguments\n")
    assert living.posted("/wrk2-api/post/compose", {"user_id": "7"}) == (400, "Incomplete arguments\n")
    last = living.logs("nginx-thrift", 1)[0]
    assert (
        "[lua] compose.lua:34: ComposePost(): Incomplete arguments, client: 10.244.0.1, server: localhost"
        in last
    )
    assert 'request: "POST /wrk2-api/post/compose HTTP/1.1", host: "172.18.0.2:30080"' in last


def test_a_trace_has_every_stage_of_a_post(living: Living) -> None:
    living.compose(9, "traced @username_1 http://a.example")
    living.world.run_for(3)
    query = "service=nginx-web-server&operation=%2Fwrk2-api%2Fpost%2Fcompose&limit=1"
    told = living.typed(f"k exec deploy/nginx-thrift -- curl -s 'http://jaeger:16686/api/traces?{query}'")
    trace = json.loads(told)["data"][0]
    operations = {span["operationName"] for span in trace["spans"]}
    for stage in (
        "compose_text", "compose_creator", "compose_media", "compose_unique_id", "compose_urls",
        "compose_user_mentions", "store_post", "write_user_timeline", "write_home_timeline", "get_followers",
    ):  # fmt: skip
        assert {f"{stage}_client", f"{stage}_server"} <= operations
    assert {"url_mongo_insert_client", "post_storage_mongo_insert_client"} <= operations
    roots = [span for span in trace["spans"] if not span["references"]]
    assert [root["operationName"] for root in roots] == ["/wrk2-api/post/compose"]
    assert len({process["serviceName"] for process in trace["processes"].values()}) == 12


def test_pictures_are_kept(living: Living) -> None:
    curl = "k exec deploy/nginx-thrift -- curl -s"
    told = living.typed(f"{curl} --data-binary pixels http://media-frontend:8081/upload-media")
    url = f"http://media-frontend:8081/get-media?filename={json.loads(told)['media_id']}.png"
    assert living.typed(f"{curl} '{url}'") == "pixels"


def test_an_edited_config_map_is_read_after_a_restart_only(living: Living) -> None:
    living.typed("k get cm media-service -o yaml | sed 's/jaeger:6831/nowhere:6831/' | kubectl apply -f -")
    living.world.run_for(100)
    inside = "k exec deploy/media-service -- cat /social-network-microservices/config/jaeger-config.yml"
    assert "jaeger:6831" in living.typed(inside)
    living.typed("k rollout restart deploy media-service")
    living.world.run_for(60)
    assert "nowhere:6831" in living.typed(inside)
    assert living.logs("media-service", 1)[0].endswith(
        "<error>: (tracing.h:77:SetUpTracer) Failed to connect to jaeger, retrying ..."
    )
