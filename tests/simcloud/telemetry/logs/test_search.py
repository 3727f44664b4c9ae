from __future__ import annotations

import pytest

from simcloud.golang.regexps import BadRegex
from simcloud.machine.emit import LogLine
from simcloud.telemetry.logs import LogStore, search_lines
from simcloud.telemetry.logs.store import SECOND_NS
from simcloud.telemetry.metrics import Matcher


def store_of(*lines: tuple[float, str, str, str]) -> LogStore:
    store = LogStore()
    for time, namespace, pod, text in lines:
        store.add(LogLine(time, pod, "stdout", text, (("namespace", namespace), ("pod", pod))))
    return store


STORE = store_of(
    (1, "shop", "a", "started"),
    (2, "shop", "b", "connection refused to 10.0.0.1"),
    (3, "shop", "a", "connection refused to 10.0.0.2"),
    (4, "other", "c", "connection refused to 10.0.0.3"),
    (5, "shop", "b", "ok"),
)


def found(**options: object) -> list[str]:
    return [line.text for line in search_lines(STORE, "shop", **options)]


def test_a_namespace_is_searched_the_newest_first() -> None:
    assert found() == ["ok", "connection refused to 10.0.0.2", "connection refused to 10.0.0.1", "started"]
    assert found(newest_first=False, limit=2) == ["started", "connection refused to 10.0.0.1"]
    assert len(search_lines(STORE)) == 5


def test_words_expressions_and_labels_narrow_it() -> None:
    assert found(text="refused") == ["connection refused to 10.0.0.2", "connection refused to 10.0.0.1"]
    assert found(pattern=r"\.1$") == ["connection refused to 10.0.0.1"]
    assert found(text="refused", where=[Matcher("pod", "=", "a")]) == ["connection refused to 10.0.0.2"]


def test_times_narrow_it_too() -> None:
    assert found(start_ns=2 * SECOND_NS, end_ns=3 * SECOND_NS) == ["connection refused to 10.0.0.1"]


def test_what_is_no_expression_is_refused_in_words() -> None:
    with pytest.raises(BadRegex, match="error parsing regexp: missing closing"):
        found(pattern="a(b")


def test_repeats_are_folded_where_they_follow_each_other_in_their_container() -> None:
    store = store_of(
        (1, "n", "a", "retry"),
        (2, "n", "b", "x"),
        (3, "n", "a", "retry"),
        (4, "n", "a", "done"),
        (5, "n", "a", "retry"),
    )
    lines = search_lines(store, "n", fold=True, newest_first=False)
    assert [(line.text, line.times, line.time_ns // SECOND_NS) for line in lines] == [
        ("retry", 2, 1),
        ("x", 1, 2),
        ("done", 1, 4),
        ("retry", 1, 5),
    ]
