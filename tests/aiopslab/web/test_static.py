"""The page's files: complete, offline, without inline scripts or styles, and without ways to turn text into markup."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from pathlib import Path

import pytest

from aiopslab.web import STATIC

VENDOR = STATIC / "vendor"
MODULES = sorted((STATIC / "js").rglob("*.js"))
OWN = [*MODULES, *sorted((STATIC / "css").glob("*.css")), STATIC / "index.html"]
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\(|new Function"
)
NAMESPACE = "http://www.w3.org/2000/svg"
MAX_LINES = 250


def name(path: Path) -> str:
    return path.relative_to(STATIC).as_posix()


@pytest.mark.parametrize("path", OWN, ids=name)
def test_nothing_is_loaded_from_elsewhere(path: Path) -> None:
    addresses = re.findall(r"(?:https?:)?//[\w.-]+\.[\w/.-]+", path.read_text())
    assert [address for address in addresses if address != NAMESPACE] == []


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_is_short_and_makes_no_markup_of_text(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= MAX_LINES
    assert not MARKUP.search(text)
    assert text.startswith("/**"), "a module begins with a sentence that says what it is for"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_imports_name_files_and_what_they_export(path: Path) -> None:
    text = path.read_text()
    for names, target in re.findall(r'import \{([^}]*)\} from "([^"]+)";', text):
        module = (path.parent / target).resolve()
        assert module.is_file(), target
        for imported in filter(None, (part.strip() for part in names.split(","))):
            assert re.search(rf"export (async )?(function|class|const) {imported}\b", module.read_text())
            assert len(re.findall(rf"\b{imported}\b", text)) > 1, f"{imported} is not used"


def test_the_page_has_no_inline_script_or_style_and_all_its_files() -> None:
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page)
    assert all(not body.strip() for body in re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL))
    for address in re.findall(r'(?:src|href)="/static/([^"]+)"', page):
        assert (STATIC / address).is_file(), address


def test_vendored_files_are_unmodified() -> None:
    rows = re.findall(
        r"^\| `([\w./-]+)` \|.*\| `([\w+/=]+)` \|$", (VENDOR / "README.md").read_text(), re.MULTILINE
    )
    assert len(rows) == 3
    for path, expected in rows:
        digest = hashlib.sha384((VENDOR / path).read_bytes()).digest()
        assert b64encode(digest).decode() == expected, path
        assert "Permission is hereby granted" in (VENDOR / path).with_name("LICENSE").read_text()
