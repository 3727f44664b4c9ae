from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from simcloud.kubernetes.api.store import PACK_REVISIONS, UNPACKED_BLOCKS, WINDOW_S, Key, RevisionLog


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def thing(name: str, namespace: str = "a", **data: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "data": data}


def key(name: str, namespace: str = "a") -> Key:
    return Key("", "things", namespace, name)


def test_versions_grow_with_every_write() -> None:
    log = RevisionLog(Clock())
    first = log.put(key("x"), thing("x"))
    second = log.put(key("x"), thing("x", n=1))
    gone = log.remove(key("x"))
    assert [one["metadata"]["resourceVersion"] for one in (first, second, gone)] == ["1", "2", "3"]
    assert log.get(key("x")) is None


def test_lists_are_in_the_order_of_namespace_and_name() -> None:
    log = RevisionLog(Clock())
    for namespace, name in [("b", "x"), ("a", "z"), ("a", "y")]:
        log.put(key(name, namespace), thing(name, namespace))
    named = [(one["metadata"]["namespace"], one["metadata"]["name"]) for one in log.objects("", "things")]
    assert named == [("a", "y"), ("a", "z"), ("b", "x")]
    assert [one["metadata"]["name"] for one in log.objects("", "things", "b")] == ["x"]


def test_a_listener_of_a_node_hears_of_what_is_bound_to_it() -> None:
    log, heard = RevisionLog(Clock()), []
    stop = log.listen("", "things", lambda write: heard.append(write.key.name), node="n1")
    log.put(key("free"), {**thing("free"), "spec": {}})
    log.put(key("here"), {**thing("here"), "spec": {"nodeName": "n1"}})
    log.put(key("there"), {**thing("there"), "spec": {"nodeName": "n2"}})
    log.remove(key("here"))
    stop()
    log.put(key("late"), {**thing("late"), "spec": {"nodeName": "n1"}})
    assert heard == ["here", "here"]
    assert log.listeners == 0


def test_a_listener_hears_of_every_write_until_it_stops() -> None:
    log, heard = RevisionLog(Clock()), []
    stop = log.listen("", "things", lambda write: heard.append((write.change, write.key.name)))
    log.put(key("x"), thing("x"))
    log.put(key("x"), thing("x", n=1))
    log.remove(key("x"))
    stop()
    log.put(key("y"), thing("y"))
    assert heard == [("ADDED", "x"), ("MODIFIED", "x"), ("DELETED", "x")]


def test_old_revisions_are_packed_and_can_still_be_read() -> None:
    clock = Clock()
    log = RevisionLog(clock)
    for number in range(PACK_REVISIONS + 10):
        log.put(key("x"), thing("x", n=number), "somebody")
    clock.now = WINDOW_S + 1
    log.put(key("x"), thing("x", n=-1))
    assert log.compacted == PACK_REVISIONS
    history = list(log.history())
    assert [write.number for write in history] == list(range(1, PACK_REVISIONS + 12))
    assert history[5].object["data"] == {"n": 5}
    assert history[5].by == "somebody"
    only = list(log.history(lambda key: key.name == history[5].key.name))
    assert only == [write for write in history if write.key == history[5].key]
    assert [write.number for write in log.since("", "things", log.revision - 2)] == [
        log.revision - 1,
        log.revision,
    ]


def test_the_oldest_revisions_are_compressed() -> None:
    def list_writes() -> list[tuple[object, ...]]:
        return [
            (write.number, write.time_s, write.change, write.key, write.object, write.by)
            for write in log.history()
        ]

    clock = Clock()
    log = RevisionLog(clock)
    for number in range((UNPACKED_BLOCKS + 2) * PACK_REVISIONS):
        clock.now = number / 100
        log.put(key(f"x{number % 5}"), thing(f"x{number % 5}", n=number), "somebody")
    before = list_writes()
    assert not log.compacted
    clock.now = 2 * WINDOW_S + 1
    log.put(key("x"), thing("x"))
    assert log.compacted
    assert list_writes()[:-1] == before
    log.shift_times(1000.0)
    assert [time_s for _, time_s, *_ in list_writes()[:-1]] == [time_s - 1000.0 for _, time_s, *_ in before]


def test_history_can_begin_late() -> None:
    clock = Clock()
    log = RevisionLog(clock)
    for number in range(3 * PACK_REVISIONS):
        clock.now = number * 2.0
        log.put(key(f"x{number % 5}"), thing(f"x{number % 5}", n=number))
    assert log.compacted
    everything = list(log.history())
    packed_s = everything[log.compacted - 10].time_s
    for since_s in (0.0, 1.0, packed_s, packed_s + 1.0, clock.now - 10.0, clock.now, clock.now + 1.0):
        expected = [one.number for one in everything if one.time_s >= since_s]
        assert [one.number for one in log.history(since_s=since_s)] == expected


def test_the_newest_write_to_some_resources() -> None:
    log = RevisionLog(Clock())
    things, others = ("", "things"), ("apps", "others")
    assert log.newest((things, others)) == 0
    log.put(key("x"), thing("x"))
    log.put(Key("apps", "others", "a", "y"), thing("y"))
    assert (log.newest((things,)), log.newest((others,)), log.newest((things, others))) == (1, 2, 2)
    log.remove(key("x"))
    assert log.newest((things, others)) == 3


def test_the_hash_knows_the_whole_log() -> None:
    def hashed(values: list[int], late: bool) -> str:
        clock = Clock()
        log = RevisionLog(clock)
        for value in values:
            log.put(key("x"), thing("x", n=value))
        clock.now = WINDOW_S + 1 if late else 0
        log.put(key("y"), thing("y"))
        return log.hash()

    many = list(range(PACK_REVISIONS + 1))
    assert hashed(many, True) == hashed(many, True)
    assert hashed(many, True) != hashed([*many[:-1], 7], True)
    assert hashed([1, 2], False) != hashed([2, 1], False)


@given(
    st.lists(st.tuples(st.sampled_from(["put", "remove"]), st.sampled_from("abc"), st.sampled_from("xyz")))
)
def test_any_past_list_can_be_read_again(steps: list[tuple[str, str, str]]) -> None:
    log, past = RevisionLog(Clock()), {}
    for number, (step, namespace, name) in enumerate(steps):
        place = key(name, namespace)
        if step == "put":
            log.put(place, thing(name, namespace, n=number))
        elif log.get(place) is not None:
            log.remove(place)
        past[log.revision] = (list(log.objects("", "things")), list(log.objects("", "things", "a")))
    for revision, (everything, of_a) in past.items():
        assert log.list_at("", "things", None, revision) == everything
        assert log.list_at("", "things", "a", revision) == of_a
