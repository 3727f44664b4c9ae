"""From a container's mouth to Loki's answer, on a node with a kubelet."""

from __future__ import annotations

from simcloud.machine.computer import EPOCH_S
from simcloud.telemetry.logs import LokiApi, search_lines
from simcloud.telemetry.logs.store import nanoseconds
from simcloud.telemetry.sink import Telemetry
from tests.simcloud.kubernetes.kubelet.world import World

SCRIPT = 'echo "$(date +%s) begins"; echo trouble >&2; sleep 8; exit 1'


def ask(api: LokiApi, path: str, **parameters: str) -> list[dict[str, object]]:
    status, document = api.answer(
        f"/loki/api/v1/{path}", {name: [value] for name, value in parameters.items()}
    )
    assert status == 200, document
    assert isinstance(document, dict)
    data = document["data"]
    return list(data["result"] if isinstance(data, dict) else data)


def test_every_line_that_kubectl_shows_is_found() -> None:
    telemetry = Telemetry(EPOCH_S)
    world = World(emitter=telemetry)
    world.run("app", "sh", "-c", SCRIPT)
    world.kernel.run_for(14)
    api = LokiApi(telemetry.logs, lambda: nanoseconds(world.api.now_s))
    assert world.status("app")["restartCount"] == 1

    shown = world.logs("app", previous=True) + world.logs("app")
    found = search_lines(telemetry.logs, "lab", newest_first=False)
    assert [line.text for line in found] == shown.splitlines()

    streams = ask(api, "query_range", query='{pod="app"} |= "begins"')
    assert [dict(each["stream"])["filename"][-6:] for each in streams] == ["/0.log", "/1.log"]
    (stamp, _), *_ = streams[0]["values"]
    written = world.logs("app", previous=True, timestamps=True).split(maxsplit=1)[0]
    assert written.endswith(f".{stamp[-9:]}Z")

    (count,) = ask(
        api, "query", query='sum by (stream) (count_over_time({job="lab/app", stream="stderr"}[1m]))'
    )
    assert (count["metric"], count["value"][1]) == ({"stream": "stderr"}, "2")


def test_a_line_that_the_disk_did_not_take_was_never_written() -> None:
    telemetry = Telemetry(EPOCH_S)
    world = World(emitter=telemetry)
    world.run("app", "sh", "-c", "echo one; sleep 5; echo two; sleep 5; echo three; sleep 100")
    world.run_until_ready(["app"])
    world.machine.disk.fail_writes = True
    world.kernel.run_for(6)
    world.machine.disk.fail_writes = False
    world.kernel.run_for(6)
    assert [line.text for line in search_lines(telemetry.logs, "lab", newest_first=False)] == ["one", "three"]
    assert world.logs("app") == "one\nthree\n"
