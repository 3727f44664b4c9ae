"""Every listed command line gives what the genuine tool gives: output, messages, status and files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import is_here
from tests.simcloud.userland.commands.text_harness import FILES, Case, genuine, listed_cases, ours

# Tools from other packages than coreutils: how to see that they are Debian 12's, and of which package.
OTHERS = {
    "cmp": ("cmp --version", "(GNU diffutils) 3.8", "diffutils"),
    "column": ("column --version", "util-linux 2.38", "bsdextrautils"),
    "diff": ("diff --version", "(GNU diffutils) 3.8", "diffutils"),
    "envsubst": ("envsubst --version", "0.21", "gettext-base"),
    "gunzip": ("gzip --version", "gzip 1.12", "gzip"),
    "gzip": ("gzip --version", "gzip 1.12", "gzip"),
    "less": ("less --version", "less 590", "less"),
    "more": ("more --version", "util-linux 2.38", "util-linux"),
    "rev": ("rev --version", "util-linux 2.38", "util-linux"),
    "tar": ("tar --version", "(GNU tar) 1.34", "tar"),
    "zcat": ("gzip --version", "gzip 1.12", "gzip"),
}


def need(case: Case) -> None:
    """Leave a case out where its tool is missing, or would see other owners than ours."""
    name = case.argv[0]
    if name in OTHERS:
        command, sign, package = OTHERS[name]
        if not is_here(command, sign):
            pytest.skip(f"needs Debian 12's {package}")
    if name == "tar" and os.geteuid() != 0:
        pytest.skip("archives hold owners: only root's are the same on both sides")


@pytest.mark.differential("coreutils")
@pytest.mark.parametrize("case", list(listed_cases()), ids=lambda case: case.line)
def test_as_genuine(case: Case, tmp_path: Path) -> None:
    need(case)
    assert ours(case, FILES) == genuine(case, tmp_path, FILES)
