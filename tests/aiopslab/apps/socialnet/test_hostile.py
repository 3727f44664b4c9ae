"""Whatever is written into configurations, databases and requests: programs say so and end, and the world goes on."""

from __future__ import annotations

import json

import pytest

from tests.aiopslab.apps.socialnet.living import Living


@pytest.fixture(scope="module")
def living() -> Living:
    return Living(seed=8)


def config(living: Living, service: str, change: str) -> str:
    """Change a service's configuration by a jq filter, restart it, and return the end of its log."""
    edit = f'.data["service-config.json"] |= (fromjson | {change} | tojson)'
    living.typed(f"k get cm {service} -o json | jq '{edit}' | kubectl apply -f -")
    living.typed(f"k delete pod -l service={service} --grace-period=0 --force")
    living.world.run_for(12)
    return living.typed(f"k logs deploy/{service} --tail 2")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            '.["text-service"].port = "many"',
            "[json.exception.type_error.302] type must be number, but is string",
        ),
        ('.["text-service"].port = 1e300', ""),
        ('.["text-service"].port = -5', ""),
        ('.["url-shorten-service"].addr = null', "type must be string, but is null"),
        ('.["url-shorten-service"] = [1]', "cannot use operator[] with a string argument with array"),
        ('.["url-shorten-service"].addr = "a b:c"', "Starting the text-service server..."),
        ('.["url-shorten-service"].timeout_ms = -1', "Starting the text-service server..."),
        ("[1, 2]", "cannot use operator[]"),
    ],
)
def test_any_configuration(living: Living, change: str, told: str) -> None:
    before = living.typed("k get cm text-service -o json")
    assert told in config(living, "text-service", change)
    living.compose(7, "x")
    restore = json.loads(before)["data"]["service-config.json"].replace("\n", "")
    config(living, "text-service", f"{restore}")


def test_a_database_at_no_address_ends_the_service(living: Living) -> None:
    assert "<fatal>: (utils_mongodb.h:29:init_mongodb_client_pool)" in config(
        living, "url-shorten-service", '.["url-shorten-mongodb"].addr = "a:b"'
    )


def test_damaged_documents_are_errors_of_requests_only(living: Living) -> None:
    user, timeline = "k exec deploy/user-mongodb -- mongo --quiet user --eval", "user-timeline"
    living.typed(f"{user} \"db.user.update({{user_id: 8}}, {{\\$set: {{user_id: 'none', salt: 5}}}})\"")
    living.compose(7, "@username_8")
    living.posted("/api/user/login", {"username": "username_8", "password": "x"})
    posts = "k exec deploy/post-storage-mongodb -- mongo --quiet post --eval"
    living.typed(
        f'{posts} "db.post.update({{}}, {{\\$unset: {{creator: 1}}, \\$set: {{urls: 5}}}}, {{multi: true}})"'
    )
    told = "[json.exception.type_error.302] type must be number, but is null"
    assert living.read("user", 3) == (500, f"Get user-timeline failure: {told}\n")
    mongo = f"k exec deploy/{timeline}-mongodb -- mongo --quiet {timeline} --eval"
    living.typed(f"{mongo} \"db['{timeline}'].update({{}}, {{\\$set: {{posts: 5}}}}, {{multi: true}})\"")
    assert living.read("user", 4) == (200, "{}\n")
    living.typed("k exec deploy/home-timeline-redis -- redis-cli zadd 5 9e15 nonsense")
    assert living.read("home", 5) == (500, "Get home-timeline failure: stoul\n")
    living.typed("k exec deploy/home-timeline-redis -- redis-cli set 6 text")
    status, body = living.read("home", 6)
    assert (status, body.startswith("Get home-timeline failure: WRONGTYPE Operation against a key")) == (
        500,
        True,
    )


@pytest.mark.parametrize(
    "query",
    [
        "user_id=x&start=0&stop=1",
        f"user_id={'9' * 5000}&start=0&stop=1",
        "user_id=%00&start=-1&stop=1",
        "user_id=1&start=0&stop=1e9",
    ],
)
def test_any_arguments(living: Living, query: str) -> None:
    status, _ = living.asked(f"/wrk2-api/user-timeline/read?{query}")
    assert status in (200, 400)
    form = {"username": "\0" * 300, "user_id": "-1", "text": "@" + "a" * 5000 + " http://%", "post_type": "9"}
    form |= {"media_ids": '["x"]', "media_types": "[[]]"}
    assert living.posted("/wrk2-api/post/compose", form)[0] in (400, 500)


def test_the_widest_page_is_still_answered(living: Living) -> None:
    assert living.read("home", 9, 0, 1 << 40)[0] in (200, 500)
    assert living.read("user", 9, 0, 1 << 40)[0] in (200, 500)


@pytest.mark.parametrize(
    "change",
    [
        "s/content_by_lua '/content_by_lua; set '/",
        "s/listen       8080 reuseport;/listen 99999; listen;/",
        "s/listen       8080 reuseport;/listen -1;/",
        "s/opentracing_load_tracer .*;/opentracing_load_tracer;/",
        "s/resolver .*;/resolver nowhere valid=x;/",
        "s/jaeger:6831/jaeger:99999999/",
        "s/jaeger:6831/nowhere/",
        "s/service_name/[/",
        "s/wrk2-api.post.compose/none/",
    ],
)
def test_any_configuration_of_nginx(living: Living, change: str) -> None:
    living.typed("k get cm nginx-thrift -o json > nginx.json")
    living.typed(f'k get cm nginx-thrift -o yaml | sed "{change}" | kubectl apply -f -')
    living.typed("k delete pod -l service=nginx-thrift --grace-period=0 --force")
    living.world.run_for(10)
    status, body = living.compose(9, "x")
    assert status in (0, 200, 404, 405, 500), body
    living.typed(
        "k delete cm nginx-thrift; jq 'del(.metadata.uid, .metadata.resourceVersion)' nginx.json | kubectl apply -f -"
    )


def test_any_port_of_an_agent(living: Living) -> None:
    living.typed("k get cm media-service -o yaml | sed s/jaeger:6831/jaeger:99999999/ | kubectl apply -f -")
    living.typed(
        "k delete pod -l service=media-service --grace-period=0 --force; k delete pod -l service=nginx-thrift --grace-period=0 --force"
    )
    living.world.run_for(30)
    living.compose(10, "x")
    living.world.run_for(5)
    assert living.logs("media-service", 1)
