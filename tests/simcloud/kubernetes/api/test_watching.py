from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import Invalid
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.store import PACK_REVISIONS, WINDOW_S
from simcloud.kubernetes.api.verbs.watches import Watch, WatchEvent, WatchOptions

Data = dict[str, Any]


def config(name: str, **labels: str) -> Data:
    metadata = {"name": name, "labels": labels} if labels else {"name": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def taken(watch: Watch) -> list[tuple[str, str]]:
    found = []
    while (event := watch.take()) is not None:
        found.append((event.type, event.object["metadata"].get("name", "")))
    return found


def test_a_watch_begins_with_what_is_there(api: Api) -> None:
    configs = api.catalogue.find("configmaps")
    api.create(configs, "demo", config("a"))
    watch = api.watch(configs, "demo")
    api.create(configs, "demo", config("b"))
    api.delete(configs, "demo", "a")
    assert taken(watch) == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]


def test_a_watch_from_a_revision_misses_nothing_and_repeats_nothing(api: Api) -> None:
    configs = api.catalogue.find("configmaps")
    api.create(configs, "demo", config("a"))
    start = api.list(configs, "demo")["metadata"]["resourceVersion"]
    api.create(configs, "demo", config("b"))
    watch = api.watch(configs, "demo", WatchOptions(resource_version=start))
    api.create(configs, "demo", config("c"))
    assert taken(watch) == [("ADDED", "b"), ("ADDED", "c")]


def test_an_object_that_leaves_the_selection_is_gone_for_the_watcher(api: Api) -> None:
    configs = api.catalogue.find("configmaps")
    watch = api.watch(configs, "demo", WatchOptions(labels="tier=front"))
    stored = copy(api.create(configs, "demo", config("a", tier="front")))
    stored["metadata"]["labels"]["tier"] = "back"
    api.update(configs, "demo", "a", stored)
    added, deleted = watch.take(), watch.take()
    assert added is not None and deleted is not None
    assert (added.type, deleted.type) == ("ADDED", "DELETED")
    assert deleted.object["metadata"]["labels"] == {"tier": "front"}
    assert int(deleted.object["metadata"]["resourceVersion"]) == api.log.revision


def test_initial_events_end_with_a_mark(api: Api) -> None:
    configs = api.catalogue.find("configmaps")
    api.create(configs, "demo", config("a"))
    asked = WatchOptions(initial_events=True, match="NotOlderThan", bookmarks=True)
    watch = api.watch(configs, "demo", asked)
    assert [event[0] for event in taken(watch)] == ["ADDED", "BOOKMARK"]


def test_a_list_by_watch_needs_its_match(api: Api) -> None:
    with pytest.raises(
        Invalid, match="sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
    ):
        api.watch(api.catalogue.find("configmaps"), "demo", WatchOptions(initial_events=True))


def test_bookmarks_come_once_a_minute(api: Api) -> None:
    watch = api.watch(api.catalogue.find("configmaps"), "demo", WatchOptions(bookmarks=True))
    api.kernel.run_for(185.0)
    assert [kind for kind, _ in taken(watch)] == ["BOOKMARK"] * 3


def test_too_old_a_revision_is_told(api: Api) -> None:
    configs = api.catalogue.find("configmaps")
    stored = copy(api.create(configs, "demo", config("a")))
    start = stored["metadata"]["resourceVersion"]
    for number in range(PACK_REVISIONS * 2):
        stored["data"] = {"n": str(number)}
        stored["metadata"].pop("resourceVersion", None)
        api.update(configs, "demo", "a", copy(stored))
    api.kernel.run_for(WINDOW_S + 1)
    api.create(configs, "demo", config("b"))
    watch = api.watch(configs, "demo", WatchOptions(resource_version=start))
    event = watch.take()
    assert event is not None
    assert event.type == "ERROR"
    assert (event.object["code"], event.object["reason"]) == (410, "Expired")
    assert event.object["message"] == f"too old resource version: {start} ({api.log.compacted + 1})"
    assert watch.closed


def test_a_watch_ends_at_its_time(api: Api) -> None:
    watch = api.watch(api.catalogue.find("configmaps"), "demo", WatchOptions(timeout_s=30))
    api.kernel.run_for(29.0)
    assert not watch.closed
    api.kernel.run_for(2.0)
    assert watch.closed


def test_a_program_inside_the_world_waits_for_events(api: Api) -> None:
    configs = api.catalogue.find("configmaps")
    watch = api.watch(configs, "demo")
    seen: list[tuple[float, WatchEvent | None]] = []

    async def follow() -> None:
        while True:
            event = await watch.next()
            seen.append((api.kernel.now, event))
            if event is None:
                return

    task = api.kernel.spawn(follow(), "watcher")
    api.kernel.call_later(5.0, lambda _: api.create(configs, "demo", config("a")), None)
    api.kernel.call_later(7.0, lambda _: watch.stop(), None)
    api.kernel.run_task(task)
    assert [(now, event and event.type) for now, event in seen] == [(5.0, "ADDED"), (7.0, None)]
