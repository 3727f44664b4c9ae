import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api import quantity


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("0.5", "500m"), ("1", "1"), ("1000m", "1"), ("100m", "100m"), ("1024Mi", "1Gi"), ("1536Mi", "1536Mi"),
        ("1.5Gi", "1536Mi"), ("0.1Gi", "107374182400m"), ("1e3", "1e3"), ("12e4", "120e3"), ("1000k", "1M"),
        ("0", "0"), ("0Mi", "0"), ("128974848", "128974848"), ("129M", "129M"), ("-5", "-5"), ("100Ki", "100Ki"),
        ("512", "512"), ("0.5Mi", "512Ki"), ("1.1n", "2n"), ("9E", "9E"), ("99999E", "9223372036854775807"),
        ("1e-3", "1e-3"), ("+1", "1"), (".5", "500m"), ("5.", "5"),
    ],
)  # fmt: skip
def test_stored_as_the_genuine_server_stores_it(written: str, stored: str) -> None:
    assert quantity.canonical(written) == stored


@pytest.mark.parametrize(
    "written", ["", "a", "1GiB", "1 Gi", "--1", "1.2.3", "1ki", "Ki", "1e", "0x10", "\u0661", "1\n"]
)
def test_anything_else_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="quantities must match"):
        quantity.parse(written)


def test_counting_rounds_up() -> None:
    assert quantity.milli("1.0001") == 1001
    assert quantity.whole("100m") == 1


@given(st.integers(-(10**15), 10**15), st.sampled_from(["", "n", "u", "m", "k", "M", "Ki", "Mi", "Gi"]))
def test_the_canonical_form_says_the_same(number: int, suffix: str) -> None:
    written = f"{number}{suffix}"
    stored = quantity.canonical(written)
    assert quantity.parse(stored) == quantity.parse(written)
    assert quantity.canonical(stored) == stored
