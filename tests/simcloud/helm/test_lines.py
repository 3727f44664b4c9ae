"""Lines typed at the built-in helm and at the genuine one: what they print and leave in the cluster is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.genuine import SHELL
from tests.simcloud.helm.rendering import CHARTS, chart_files
from tests.simcloud.kubectl.twins import Twins, twins

pytestmark = pytest.mark.differential("helm", "kubectl", *SHELL)
LINES = Path(__file__).parent / "lines"
FILES = {
    "values-a.yaml": "greeting: from a\nlabels: {a: a}\n",
    "values-b.yaml": "greeting: from b\n",
    "bad.yaml": "[1]\n",
}


def prepare(both: Twins) -> None:
    """The charts and files that lines speak of."""
    for chart in sorted(path.name for path in CHARTS.iterdir()):
        for name, text in chart_files(chart).items():
            both.put(f"{chart}/{name}", text)
    for name, text in FILES.items():
        both.put(name, text)


@pytest.mark.parametrize("name", sorted(path.stem for path in LINES.glob("*.txt")))
def test_lines_say_the_same(name: str) -> None:
    lines = (LINES / f"{name}.txt").read_text().splitlines()
    differ = {}
    with twins() as both:
        prepare(both)
        for line in lines:
            if line and not line.startswith("# "):
                ours, genuine = both.type(line)
                if ours.normal() != genuine.normal():
                    differ[line] = (ours.normal(), genuine.normal())
    assert differ == {}
