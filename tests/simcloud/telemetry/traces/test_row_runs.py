"""The rows that one receiver got of a store that others write to as well."""

from __future__ import annotations

from hypothesis import given, strategies as st

from simcloud.telemetry.traces import RowRuns


@given(
    st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=12), st.integers(0, 40), st.integers(0, 40)
)
def test_runs_are_as_good_as_a_list_of_rows(packets: list[tuple[int, bool]], low: int, high: int) -> None:
    received, rows, next_row = RowRuns(), [], 0
    for size, ours in packets:
        if ours:
            received.note(next_row, next_row + size)
            rows += range(next_row, next_row + size)
        next_row += size
    assert received.count == len(rows)
    assert [row for run in received.within(low, high) for row in run] == [
        row for row in rows if low <= row < high
    ]
    received.forget_before(low)
    left = [row for row in range(next_row) if row in received]
    assert left == [row for row in rows if row >= low]
    assert received.count == len(left)
