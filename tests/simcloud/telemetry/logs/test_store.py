from __future__ import annotations

from hypothesis import given, settings, strategies as st

from simcloud.machine.emit import Labels, LogLine
from simcloud.telemetry.logs import LogRetention, LogStore
from simcloud.telemetry.logs.store import SECOND_NS
from simcloud.telemetry.metrics import Matcher

WEB: Labels = (("container", "web"), ("namespace", "shop"), ("pod", "web-1"))
DB: Labels = (("container", "db"), ("namespace", "data"), ("pod", "db-0"))


def line(time: float, text: str, origin: Labels = WEB, stream: str = "stdout") -> LogLine:
    return LogLine(time, "source", stream, text, origin)


def texts(store: LogStore) -> list[str]:
    return [text for _, _, text in store.records()]


def test_lines_are_kept_by_their_container_and_output() -> None:
    store = LogStore()
    store.add(line(1.0, "one"))
    store.add(line(2.0, "two", stream="stderr"))
    store.add(line(3.0, "three", DB))
    assert [
        (dict(stream.labels)["stream"], stream.texts)
        for stream in store.select([Matcher("namespace", "=", "shop")])
    ] == [
        ("stderr", ["two"]),
        ("stdout", ["one"]),
    ]
    assert [stream.texts for stream in store.select([Matcher("pod", "!~", "web.*")])] == [["three"]]


def test_a_line_of_nobody_is_found_by_its_source() -> None:
    store = LogStore()
    store.add(LogLine(1.0, "front", "stdout", "hello"))
    assert store.streams()[0].labels == (("container", "front"), ("stream", "stdout"))


def test_the_nanoseconds_are_those_of_the_log_file() -> None:
    store = LogStore()
    store.add(line(1_700_000_000.25, "x"))
    assert next(store.records())[0] == 1_700_000_000_250_000_000


def test_bytes_that_are_no_text_become_marks() -> None:
    store = LogStore()
    store.add(line(1.0, b"caf\xe9".decode("utf-8", "surrogateescape")))
    assert texts(store) == ["caf\ufffd"]


def test_what_is_too_old_goes_and_its_stream_with_it() -> None:
    store = LogStore(LogRetention(age_s=60))
    store.add(line(0.0, "old"))
    store.add(line(30.0, "middle", DB))
    store.add(line(80.0, "new", DB))
    assert texts(store) == ["middle", "new"]
    assert len(store.streams()) == 1
    store.add(line(81.0, "again"))
    assert texts(store) == ["middle", "new", "again"]


def test_over_the_limit_the_oldest_of_all_streams_go_first() -> None:
    store = LogStore(LogRetention(limit_bytes=20_000))
    for number in range(1000):
        store.add(line(float(number), f"line {number}", WEB if number % 2 else DB))
    assert store.bytes <= 20_000
    kept = sorted(int(text.split()[1]) for text in texts(store))
    assert kept == list(range(1000 - len(kept), 1000))
    assert len(kept) > 100


@settings(max_examples=50)
@given(st.lists(st.floats(0, 100), max_size=30))
def test_a_clock_that_is_set_back_leaves_lines_in_the_order_of_time(times: list[float]) -> None:
    store = LogStore()
    for number, time in enumerate(times):
        store.add(line(time, str(number)))
    expected = sorted(
        enumerate(times), key=lambda pair: (int(pair[1]) * SECOND_NS + int(pair[1] % 1 * 1e9), pair[0])
    )
    assert [int(text) for text in texts(store)] == [number for number, _ in expected]
