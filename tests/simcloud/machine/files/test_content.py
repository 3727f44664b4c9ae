"""A file's bytes against a plain bytearray, and what of them a power loss keeps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.machine.files.content import MAX_FILE_BYTES, WRITE_BACK_S, Content
from simcloud.machine.files.disk import BLOCK_BYTES

UNLIMITED = 1 << 40

positions = st.one_of(st.integers(0, 3 * BLOCK_BYTES), st.sampled_from([0, BLOCK_BYTES - 1, BLOCK_BYTES]))
pieces = st.builds(
    lambda letter, count: bytes([letter]) * count,
    st.integers(0, 255),
    st.one_of(st.integers(1, 40), st.sampled_from([BLOCK_BYTES - 1, BLOCK_BYTES, 2 * BLOCK_BYTES + 7])),
)
steps = st.one_of(
    st.tuples(st.just("append"), pieces),
    st.tuples(st.just("append"), pieces),
    st.tuples(st.just("write"), positions, pieces),
    st.tuples(st.just("truncate"), positions),
    st.tuples(st.just("reserve"), positions),
    st.tuples(st.just("copy")),
)


def put(content: Content, position: int, data: bytes, now: float) -> None:
    if not content.extend(position, data, now, 0.0):
        count, added = content.plan(position, len(data), UNLIMITED)
        assert count == len(data)
        content.write(position, data, added, now, 0.0)


def apply(content: Content, model: bytearray, step: tuple[object, ...], now: float) -> Content:
    """Do the same to both; a copy goes on as the content, with its original left behind."""
    match step:
        case ("append", bytes() as data):
            put(content, content.size, data, now)
            model += data
        case ("write", int() as position, bytes() as data):
            put(content, position, data, now)
            model += bytes(max(0, position + len(data) - len(model)))
            model[position : position + len(data)] = data
        case ("truncate", int() as size):
            content.truncate(size, now, 0.0)
            del model[size:]
            model += bytes(size - len(model))
        case ("reserve", int() as size):
            expected = content.allocated + content.missing(size)
            content.reserve(size, now, 0.0)
            assert content.allocated == expected
            model += bytes(max(0, size - len(model)))
        case ("copy",):
            content.settle()
            return content.copy("elsewhere")
    return content


@given(st.lists(steps, max_size=20), positions, st.integers(0, 3 * BLOCK_BYTES))
def test_reads_what_a_plain_array_would_hold(steps: list[tuple[object, ...]], start: int, count: int) -> None:
    content, model = Content("here"), bytearray()
    for step in steps:
        content = apply(content, model, step, 0.0)
    assert content.size == len(model)
    assert content.read(0, len(model)) == model
    assert content.read(start, count) == model[start : start + count]
    assert content.allocated <= -(-max(len(model), 1) // BLOCK_BYTES)


@given(st.lists(steps, max_size=12), st.lists(steps.filter(lambda step: step[0] != "copy"), max_size=12))
def test_a_copy_and_its_original_part_ways(
    before: list[tuple[object, ...]], after: list[tuple[object, ...]]
) -> None:
    original, model = Content("here"), bytearray()
    for step in before:
        original = apply(original, model, step, 0.0)
    kept = bytes(model)
    copy = original.copy("there")
    for step in after:
        apply(copy, model, step, 0.0)
    assert original.read(0, original.size) == kept
    assert copy.read(0, copy.size) == model


@pytest.mark.slow
@settings(max_examples=300)
@given(
    st.lists(steps, max_size=10),
    st.lists(st.tuples(steps.filter(lambda step: step[0] != "copy"), st.floats(0, 12)), max_size=12),
    st.floats(0, 12),
)
def test_a_power_loss_leaves_the_last_written_back_state(
    before: list[tuple[object, ...]], after: list[tuple[tuple[object, ...], float]], rest_s: float
) -> None:
    content, model = Content("here"), bytearray()
    for step in before:
        content = apply(content, model, step, 0.0)
    content.settle()
    now, durable, epoch = 100.0, bytes(model), None
    allocated = content.allocated
    for step, pause_s in after:
        now += pause_s
        if epoch is None or now - epoch >= WRITE_BACK_S:
            epoch, durable, allocated = now, bytes(model), content.allocated
        content = apply(content, model, step, now)
    now += rest_s
    if epoch is not None and now - epoch >= WRITE_BACK_S:
        durable, allocated = bytes(model), content.allocated
    content.revert(now, 0.0)
    assert content.size == len(durable)
    assert content.read(0, content.size) == durable
    assert content.allocated == allocated


def test_plan_tells_how_much_fits() -> None:
    content = Content("here")
    put(content, 0, b"x" * 10, 0.0)
    assert content.plan(10, 5000, 0) == (BLOCK_BYTES - 10, 0)
    assert content.plan(10, 5000, 1) == (5000, 1)
    assert content.plan(3 * BLOCK_BYTES, 1, 0) == (0, 0)


def test_a_hole_of_sixteen_tebibytes_costs_nothing() -> None:
    content = Content("here")
    content.truncate(MAX_FILE_BYTES, 0.0, 0.0)
    put(content, MAX_FILE_BYTES - 3, b"end", 0.0)
    assert content.allocated == 1
    assert content.read(MAX_FILE_BYTES - 5, 100) == b"\0\0end"


@pytest.mark.parametrize("ahead", [3, BLOCK_BYTES, 2 * BLOCK_BYTES - 5])
def test_bytes_that_are_made_when_read_survive_appends_and_a_power_loss(ahead: int) -> None:
    content, late = Content(None), b"late" * 5000
    put(content, 0, b"a" * ahead, 0.0)
    content.append_later(len(late), lambda: late, 1.0, 0.0)
    assert content.size == ahead + len(late)
    put(content, content.size, b"on the disk", 2.0)
    content.settle()
    put(content, content.size, b" and not", 3.0)
    assert content.read(0, UNLIMITED) == b"a" * ahead + late + b"on the disk and not"
    content.revert(4.0, 0.0)
    assert content.read(0, UNLIMITED) == b"a" * ahead + late + b"on the disk"
