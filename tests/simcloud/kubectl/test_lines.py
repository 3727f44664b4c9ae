"""Command lines typed at the built-in kubectl and at the genuine one: stdout, stderr and exit code are equal.

``lines/<family>.txt`` holds a line each (``# `` begins a comment); the lines of a file are typed in order at one
pair of clusters, so that later lines see what earlier ones changed. ``manifests/`` lies in the folder where they
are typed. A line that is known to differ stands in ``known_differences.yaml`` with its reason; an entry that no
longer differs fails, so that the list stays true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.genuine import SHELL
from tests.simcloud.kubectl.twins import Told, twins

HERE: Final = Path(__file__).parent
FILES: Final = sorted(path.stem for path in (HERE / "lines").glob("*.txt"))
UNRECORDED: Final = ("wait",)
"""Files without a recording yet: the genuine kubectl is asked while they run."""
PASS: Final = "pass "
"""``pass 60`` lets a minute of the clusters' time pass; ``sleep`` would be waited for in earnest."""
MOST_SHOWN: Final = 60
"""So many lines of a difference are shown."""


def marked(names: Sequence[str], unrecorded: Sequence[str]) -> list[object]:
    """Each name as a parameter of a test that is marked by whether there is a recording."""
    tools = ("kubectl", *SHELL)
    marks = {True: pytest.mark.live(*tools), False: pytest.mark.differential(*tools)}
    return [pytest.param(name, marks=marks[name in unrecorded]) for name in names]


def lines_of(family: str) -> list[str]:
    """The command lines of a file."""
    told = (HERE / "lines" / f"{family}.txt").read_text().splitlines()
    return [line for line in told if line.strip() and not line.startswith("# ")]


def known_differences(family: str) -> dict[str, str]:
    """The lines of a file that differ, with the reason."""
    entries = yaml.safe_load((HERE / "known_differences.yaml").read_text()) or []
    return {entry["line"]: entry["reason"] for entry in entries if entry["file"] == family}


@pytest.mark.parametrize("family", marked(FILES, UNRECORDED))
def test_lines(family: str, record_property: pytest.RecordProperty) -> None:
    """Every line of a file says the same in both worlds."""
    known, lines = known_differences(family), lines_of(family)
    assert not known.keys() - set(lines), "an entry of known_differences.yaml names no line of the file"
    differing: dict[str, str] = {}
    equal = 0
    with twins() as both:
        for path in sorted((HERE / "manifests").rglob("*")):
            if path.is_file():
                both.put(str(path.relative_to(HERE / "manifests")), path.read_text())
        for line in lines:
            if line.startswith(PASS):
                both.meet(float(line.removeprefix(PASS)))
                equal += 1
                continue
            ours, genuine = (told.normal() for told in both.type(line))
            equal += ours == genuine
            if ours != genuine:
                differing[line] = "\n".join(difference(line, ours, genuine))
    record_property("lines", (family, equal, len(lines)))
    unexpected = [told for line, told in differing.items() if line not in known]
    assert not unexpected, f"{equal} of {len(lines)} lines equal\n\n" + "\n\n".join(unexpected)
    healed = [line for line in known if line not in differing]
    assert not healed, f"no longer different, so no longer to be listed as known: {healed}"


def difference(line: str, ours: Told, genuine: Told) -> Iterator[str]:
    """What ours says and the genuine one does not, and the other way round."""
    yield f"$ {line}"
    if ours.exit != genuine.exit:
        yield f"exit {ours.exit} instead of {genuine.exit}"
    for stream in ("stdout", "stderr"):
        told, wanted = getattr(ours, stream), getattr(genuine, stream)
        if told != wanted:
            yield f"{stream} (- genuine, + ours):"
            compared = unified_diff(wanted.splitlines(True), told.splitlines(True), n=1)
            yield from (one.rstrip("\n") for one in list(compared)[2:MOST_SHOWN])
