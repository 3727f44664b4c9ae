"""Quoting as Go's %q does."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.golang.quoting import quote, unquote


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '""'),
        ("jane", '"jane"'),
        ("it's é", '"it\'s é"'),
        ("Jürgen 東京", '"Jürgen 東京"'),
        ('a"b\\c', r'"a\"b\\c"'),
        ("a\tb\nc\x00\x7f", r'"a\tb\nc\x00\x7f"'),
        ("\u200b\U000e0001", r'"\u200b\U000e0001"'),
    ],
)
def test_quoting(text: str, expected: str) -> None:
    assert quote(text) == expected


@given(st.text())
def test_what_is_quoted_stays_on_one_line(text: str) -> None:
    assert quote(text).isprintable()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_quoted_comes_back(text: str) -> None:
    assert unquote(quote(text)[1:-1], '"') == text
