"""What an operator finds in the containers: the distribution and tools of each image, mongod's user, files, log and profiler."""

from __future__ import annotations

import json
import re

import pytest

from tests.aiopslab.apps.hotelres.living import NEARBY, Living


@pytest.fixture(scope="module")
def living() -> Living:
    living = Living()
    living.world.run_for(130)
    return living


@pytest.mark.parametrize(
    ("deployment", "system", "missing", "present"),
    [
        ("mongodb-rate", "Ubuntu 18.04", "curl", "mongostat"),
        ("memcached-rate", "Debian GNU/Linux 11", "nc", "bash"),
        ("frontend", "Debian GNU/Linux 11", "dig", "wget"),
        ("consul", "Alpine Linux", "bash", "wget"),
    ],
)
def test_images_have_their_own_system_and_tools(
    living: Living, deployment: str, system: str, missing: str, present: str
) -> None:
    release = living.typed(f"k exec deploy/{deployment} -- cat /etc/os-release")
    assert f'PRETTY_NAME="{system}' in release
    assert "executable file not found in $PATH" in living.typed(f"k exec deploy/{deployment} -- {missing}")
    assert living.typed(f"k exec deploy/{deployment} -- sh -c 'command -v {present}'").endswith(
        f"{present}\n"
    )


def test_a_missing_command_is_reported_as_by_dash(living: Living) -> None:
    answer = living.typed("k exec deploy/memcached-rate -- sh -c 'echo stats | nc localhost 11211'")
    assert answer == "sh: 1: nc: not found\ncommand terminated with exit code 127\n"


def test_mongod_runs_as_its_own_user_and_owns_its_files(living: Living) -> None:
    processes = living.typed("k exec deploy/mongodb-rate -- ps -o user,stat,nlwp,args -p 1")
    assert re.search(r"^mongodb +Ssl +\d\d mongod --auth", processes, re.MULTILINE)
    rows = living.typed("k exec deploy/mongodb-rate -- ls -l /data/db /data/db/journal").splitlines()
    sizes = {
        row.split()[-1]: int(row.split()[4])
        for row in rows
        if row.startswith("-rw------- 1 mongodb mongodb ")
    }
    assert sizes["storage.bson"] == 114
    assert sizes["WiredTigerPreplog.0000000002"] == sizes["WiredTigerLog.0000000001"] == 104_857_600
    assert all(not size % 4096 for name, size in sizes.items() if name.endswith(".wt"))
    assert sizes["WiredTiger.turtle"] > 1_000
    sums = living.typed(
        "for d in geo rate user; do k exec deploy/mongodb-$d -- md5sum /data/db/WiredTiger.wt; done"
    )
    assert len({line.split()[0] for line in sums.splitlines()}) == 3


def test_mongod_logs_recovery_index_builds_and_checkpoints(living: Living) -> None:
    lines = living.typed("k logs deploy/mongodb-rate | grep '^{'").splitlines()
    entries = [json.loads(line) for line in lines]
    messages = [entry["attr"]["message"] for entry in entries if entry["id"] == 22430]
    assert (
        "txn-recover: [WT_VERB_RECOVERY | WT_VERB_RECOVERY_PROGRESS] Set global recovery timestamp: (0, 0)"
        in messages[0]
    )
    assert sum("saving checkpoint snapshot min:" in message for message in messages) >= 2
    builds = [entry["attr"]["buildUUID"] for entry in entries if entry["id"] == 20345]
    scanned = [build["uuid"]["$uuid"] for build in builds if build is not None]
    assert scanned
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", id)
        for id in scanned
    )


def test_the_profiler_records_operations(living: Living) -> None:
    mongo = "k exec deploy/mongodb-user -- mongo user-db --quiet --eval"
    script = 'db.setProfilingLevel(2); db.user.findOne({username: "Cornell_1"}); db.setProfilingLevel(0); printjson(db.system.profile.find({op: "query"}).toArray())'
    found = living.typed(f"{mongo} '{script}'")
    assert '"ns" : "user-db.user"' in found
    assert '"planSummary" : "IXSCAN { username: 1 }"' in found
    refused = living.typed(
        "k exec deploy/mongodb-rate -- mongo rate-db --quiet --eval 'db.getProfilingStatus()'"
    )
    assert "uncaught exception: Error: profile command failed: {" in refused
    assert "DB.prototype.getProfilingStatus@src/mongo/shell/db.js:" in refused


def test_the_database_tools(living: Living) -> None:
    head, first, second = living.typed("k exec deploy/mongodb-user -- mongostat -n 2").splitlines()
    assert head.split()[:3] == ["insert", "query", "update"]
    assert first.split()[5] == second.split()[5] == "1|0"
    dumped = living.typed("k exec deploy/mongodb-user -- mongodump -d user-db -o /tmp/dump")
    assert dumped.endswith("done dumping user-db.user (501 documents)\n")


def test_lines_of_a_log_have_times_of_their_own(living: Living) -> None:
    lines = living.typed("k logs deploy/reservation --timestamps").splitlines()
    stamps = [line.split(" ")[0] for line in lines]
    assert len(stamps) > 10
    assert stamps == sorted(set(stamps))


def test_headers_stand_in_the_order_of_net_http(living: Living) -> None:
    head = living.typed("curl -si http://kind-worker:30500/hotels").splitlines()[:6]
    names = [line.partition(":")[0] for line in head[1:]]
    assert names == [
        "Access-Control-Allow-Origin",
        "Content-Type",
        "X-Content-Type-Options",
        "Date",
        "Content-Length",
    ]


def test_services_encrypt_their_calls_when_told_to(living: Living) -> None:
    services = "frontend search geo rate profile reservation"
    living.typed(f"for s in {services}; do k set env deploy/$s TLS=1; done")
    living.world.run_for(40)
    assert '"message":"TLS enabled."' in living.typed("k logs deploy/geo | head -1")
    ask = f"k exec deploy/frontend -- curl -sk 'https://localhost:5000{NEARBY}'"
    assert '"FeatureCollection"' in living.typed(ask)
    living.typed("k set env deploy/geo TLS-")
    living.world.run_for(40)
    assert living.typed(ask).startswith("rpc error: code = Unavailable")
