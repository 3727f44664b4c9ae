"""The page for those who come from the public release is written from what is tested."""

from __future__ import annotations

from scripts.make_aiopslab_page import PAGE, format_page


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text()
    assert page == format_page(page), "Run: python -m scripts.make_aiopslab_page"
