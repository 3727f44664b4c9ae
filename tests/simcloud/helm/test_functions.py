"""Templates of functions print what they print under the genuine helm, or fail in its words."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.simcloud.helm.rendering import Bench, bench

pytestmark = pytest.mark.differential("helm")
HERE = Path(__file__).parent


def lines(name: str) -> list[str]:
    """The templates of a file."""
    return [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("# ")]


FUNCTIONS, FAILURES = lines("functions.txt"), lines("failures.txt")


@pytest.fixture
def both(tmp_path: Path) -> Bench:
    return bench(tmp_path)


def printed(text: str) -> dict[str, str]:
    return {held["name"]: held["value"] for held in yaml.safe_load_all(text) if held}


def test_functions_print_the_same(both: Bench) -> None:
    names = [f"t{place:03d}" for place in range(len(FUNCTIONS))]
    for name, line in zip(names, FUNCTIONS, strict=True):
        value = f'{{{{ define "{name}" }}}}{line}{{{{ end }}}}'
        both.put(
            f"facts/templates/{name}.yaml",
            f'{value}\nname: {name}\nvalue: {{{{ include "{name}" . | toJson }}}}\n',
        )
    ours, genuine = both.ours("template r facts"), both.genuine("template r facts")
    assert (genuine.exit, genuine.stderr) == (0, "")
    assert (ours.exit, ours.stderr) == (0, "")
    found, wanted = printed(ours.stdout), printed(genuine.stdout)
    differ = {
        FUNCTIONS[names.index(name)]: (found[name], wanted[name])
        for name in names
        if found[name] != wanted[name]
    }
    assert differ == {}


def test_failures_are_told_in_the_same_words(both: Bench) -> None:
    differ = {}
    for line in FAILURES:
        both.put("facts/templates/zz.yaml", f"value: {line}\n")
        ours, genuine = (
            both.ours("template r facts -s templates/zz.yaml"),
            both.genuine("template r facts -s templates/zz.yaml"),
        )
        assert genuine.exit == 1, line
        if ours != genuine:
            differ[line] = (ours, genuine)
    assert differ == {}
