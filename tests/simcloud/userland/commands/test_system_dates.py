"""Dates as text and back, for all moments: what is written can be read, and agrees with the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from simcloud.userland.commands.file.modes import apply_changes, parse_mode
from simcloud.userland.commands.file.sizes import human
from simcloud.userland.commands.system.dates import Moment, Zone, format_moment, read_moment, zone_of

NOW = Moment(1_767_603_600)
moments = st.builds(Moment, st.integers(-62_135_596_800, 253_402_300_799), st.integers(0, 999_999_999))
zones = st.builds(Zone, st.just("XXX"), st.integers(-14 * 60, 14 * 60).map(lambda minutes: minutes * 60))


@given(moments)
def test_the_calendar_is_the_same_as_the_libraries(moment: Moment) -> None:
    when = datetime.fromtimestamp(0, UTC) + timedelta(seconds=moment.seconds)
    forms = "%d %H:%M:%S %j %u %U %W %V %m %a %b %p %I %w"
    assert format_moment(moment, forms) == when.strftime(forms)
    assert int(format_moment(moment, "%Y")) == when.year


@given(moments, zones)
def test_what_is_written_can_be_read(moment: Moment, zone: Zone) -> None:
    for form in ("%Y-%m-%d %H:%M:%S.%N %z", "%Y-%m-%dT%H:%M:%S.%N%:z", "@%s.%N"):
        text = format_moment(moment, form, zone)
        if not text.startswith("@-"):
            assert read_moment(text, NOW) == moment


@given(st.integers(1970, 2400), st.integers(1, 12), st.integers(1, 31))
def test_only_days_that_exist_are_read(year: int, month: int, day: int) -> None:
    try:
        expected = int(datetime(year, month, day, tzinfo=UTC).timestamp())
    except ValueError:
        expected = -1
    found = read_moment(f"{year}-{month}-{day}", NOW)
    assert (found.seconds if found is not None else -1) == expected


@given(st.text(max_size=60))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = read_moment(text, NOW)
    assert found is None or isinstance(found, Moment)


@given(st.text(alphabet="%aAbBcCdDeFgGhHIjklmMNpPqrRsSTuUVwWxXyYzZ:-_0^#+123456789EO x", max_size=30))
def test_any_format_gives_a_text(form: str) -> None:
    assert isinstance(format_moment(NOW, form), str)


@given(st.text(max_size=20))
def test_any_zone_is_one(text: str) -> None:
    assert abs(zone_of({"TZ": text}).offset_s) <= 100 * 3600


@given(st.integers(0, 1 << 70))
def test_sizes_have_at_most_five_places_and_never_shrink(size: int) -> None:
    text = human(size)
    assert len(text) <= 5
    unit = "BKMGTPEZY".find(text[-1])
    value = float(text.rstrip("KMGTPEZY")) * 1024 ** max(unit, 0)
    assert value >= size * (1 - 1e-12)
    assert value <= max(size * 1.11, size + 1)


@given(
    st.integers(0, 0o7777),
    st.lists(st.sampled_from(["u+x", "go-w", "a=rX", "g=u", "+t", "u-s,o=g"]), min_size=1),
    st.booleans(),
)
def test_modes_stay_modes(mode: int, steps: list[str], is_folder: bool) -> None:
    changes = parse_mode(",".join(steps))
    assert changes is not None
    once = apply_changes(mode, changes, is_folder, 0o022)
    assert 0 <= once <= 0o7777
