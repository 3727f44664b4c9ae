"""Every listed command line gives what the genuine tool gives: output, messages, status and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simcloud.userland.commands.text_harness import FILES, Case, genuine, listed_cases, ours

# Tools of other packages than coreutils.
PACKAGES = {
    "cmp": "diffutils",
    "column": "bsdextrautils",
    "diff": "diffutils",
    "envsubst": "gettext-base",
    "gunzip": "gzip",
    "gzip": "gzip",
    "less": "less",
    "more": "util-linux",
    "rev": "util-linux",
    "tar": "tar",
    "zcat": "gzip",
}


def cases() -> list[object]:
    """The listed cases, each with the mark of its tool."""
    found: list[object] = []
    for case in listed_cases():
        package = PACKAGES.get(case.argv[0], "coreutils")
        found.append(pytest.param(case, marks=pytest.mark.differential(package), id=case.line))
    return found


@pytest.mark.parametrize("case", cases())
def test_as_genuine(case: Case, tmp_path: Path) -> None:
    assert ours(case, FILES) == genuine(case, tmp_path, FILES)
