"""Which lines are one, and how many of them are shown."""

from __future__ import annotations

import pytest

from aiopslab.orchestrator.actions.folded_lines import fold_lines, mask_varying
from aiopslab.orchestrator.actions.observations import cut_line, format_head, format_tail, limit_text

NOON = 1_767_614_400.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-01-05T09:00:39Z INF took 5 ms", "2026-01-05T09:01:02Z INF took 17 ms"),
        ("[2026-Jan-05 09:00:55.857977] <error>: refused", "[2026-Jan-05 10:11:12.000001] <error>: refused"),
        ("id f13fc07f-2155-47c9-a59f-5f9919d0d44a", "id 6538cf49-b79c-46e2-b62d-f9d4bacad00a"),
        ("dial tcp 10.244.2.4:8083: refused", "dial tcp 10.244.1.17:40123: refused"),
        ("trace 2655661ea74acae8 ended", "trace 7999310230a7b47e ended"),
        ('"connectionId":2,"connectionCount":0', '"connectionId":17,"connectionCount":4'),
    ],
)
def test_lines_that_differ_in_times_ids_and_numbers_are_one(one: str, other: str) -> None:
    assert mask_varying(one) == mask_varying(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"GET / HTTP/1.1" 200 5', '"GET / HTTP/1.1" 500 5'),
        ("status=200", "status=503"),
        ('{"status_code": 404}', '{"status_code": 500}'),
        ("exit code 1", "exit code 137"),
        ("cannot reach geo", "cannot reach rate"),
        ("face it", "fade it"),
    ],
)
def test_lines_that_say_something_else_stay_apart(one: str, other: str) -> None:
    assert mask_varying(one) != mask_varying(other)


def test_a_fold_has_count_times_and_the_newest_line() -> None:
    told = fold_lines(
        [(NOON, "took 1 ms"), (NOON + 1, "hello"), (NOON + 60, "took 2 ms"), (NOON + 61, "took 3 ms")]
    )
    assert [one.format(NOON) for one in told] == ["12:00:01 hello", "12:00:00-12:01:01 x3 took 3 ms"]


def test_another_day_is_told_by_its_date() -> None:
    (one,) = fold_lines([(NOON - 86400, "then")])
    assert one.format(NOON) == "01-04 12:00:00 then"


def test_what_is_cut_says_how_much_and_what_to_do() -> None:
    lines = [f"line {number}" for number in range(500)]
    assert format_head(lines, "Look less.", 3).splitlines() == [
        *lines[:3],
        "[Showing the first 3 of 500 lines. Look less.]",
    ]
    assert format_tail(lines, "Look less.", 2).splitlines() == [
        "[Showing the last 2 of 500 lines. Look less.]",
        *lines[-2:],
    ]
    assert format_head(lines[:3], "Look less.", 3) == "line 0\nline 1\nline 2"
    assert cut_line("x" * 700) == "x" * 600 + "… [100 more characters]"


def test_a_text_keeps_its_beginning_and_its_end() -> None:
    assert limit_text("short", "ask less") == "short"
    lines = limit_text("\n".join(map(str, range(1000))), "ask less", max_lines=4).splitlines()
    assert lines == ["0", "1", "[… 996 of 1000 lines omitted: ask less …]", "998", "999"]
    told = limit_text("a" * 600 + "é" * 600, "ask less", max_bytes=300)
    assert told.startswith("a" * 200 + "\n[… 1500 of 1800 bytes") and told.endswith("é" * 50)
