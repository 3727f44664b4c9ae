"""nginx's own commands, its answer to a bad configuration, and a name server that does not answer."""

from __future__ import annotations

from tests.aiopslab.apps.socialnet.living import Living

EDIT = "k get cm nginx-thrift -o yaml | sed '{}' | k apply -f - 2>/dev/null; k rollout restart deploy/nginx-thrift"


def test_the_configuration_is_checked_and_used() -> None:
    living = Living()
    assert living.typed("k exec deploy/nginx-thrift -- nginx -v") == "nginx version: openresty/1.15.8.1rc1\n"
    checked = living.typed("k exec deploy/nginx-thrift -- nginx -t")
    assert checked.splitlines()[-1].endswith("nginx.conf test is successful")
    assert (
        living.typed("k exec deploy/nginx-thrift -- ps -eo user,args").count("nobody   nginx: worker process")
        > 1
    )
    living.typed(EDIT.format("s/sendfile /sendfle /"))
    living.world.run_for(60)
    assert "CrashLoopBackOff" in living.typed(
        "k get pods -l service=nginx-thrift"
    ) or "Error" in living.typed("k get pods")
    assert (
        'nginx: [emerg] unknown directive "sendfle" in /usr/local/openresty/nginx/conf/nginx.conf:'
        in living.typed("k logs -l service=nginx-thrift")
    )
    living.typed(EDIT.format("s/sendfle /sendfile /; s/resolver [^ ]*/resolver 10.96.7.7/"))
    living.world.run_for(60)
    page = living.typed(
        "curl -s -m 40 'http://kind-worker:30080/wrk2-api/home-timeline/read?user_id=3&start=0&stop=2'"
    )
    assert "<center><h1>500 Internal Server Error</h1></center>" in page
    assert "could not be resolved (110: Operation timed out)" in living.typed(
        "k logs -l service=nginx-thrift --tail=20"
    )
