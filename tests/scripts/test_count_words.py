from __future__ import annotations

import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

from scripts.count_words import Place, count, find_excesses, find_places, lower, main, table

MODULE = Path("src/simcloud/machine/disk.py")


def found(source: str, pattern: str) -> list[str]:
    return [place.text for place in find_places(MODULE, dedent(source)) if place.pattern == pattern]


def test_told_is_found_in_names_and_in_prose() -> None:
    source = '''
    def read(told, untold):  # what it was told
        """Told once."""
        return self._told_kind(told)
    '''
    assert sorted(found(source, "told")) == ["Told", "_told_kind", "told", "told", "told"]


def test_one_is_found_only_as_a_loop_variable() -> None:
    assert found("for one in disks:\n    pass", "one") == ["one"]
    assert found("names = {key: one.name for key, one in disks}", "one") == ["one"]
    assert found("one = 1\nfor disk in one:\n    pass", "one") == []


def test_participles_are_found_as_function_names() -> None:
    source = """
    def _quoted(text): ...
    async def shown_disks(): ...
    def quote(text): ...
    def is_quoted(text): ...
    def need_space(): ...
    def feed(text): ...
    def put(item): ...
    class Disk:
        @property
        def closed(self): ...
    """
    assert found(source, "participle") == ["_quoted", "shown_disks"]


@pytest.mark.parametrize("text", ["As many as fit.", "The file that is\n    there.", "Ask who asks."])
def test_phrases_are_found_in_docstrings_across_lines(text: str) -> None:
    assert len(found(f'def read():\n    """{text}"""', "phrase")) == 1


def test_phrases_are_found_in_comments_across_lines() -> None:
    assert found("size = 1  # so\n# many\n", "phrase") == ["so many"]


def test_strings_of_programs_do_not_count() -> None:
    assert not list(find_places(MODULE, 'print("Nothing was told to who asks so many")'))


def test_openings_are_found_at_the_start_of_sentences() -> None:
    source = '''
    """Who reads. Nothing else, for nothing is free.

    Of each disk the name. Whole sentences are fine, Who knows.
    """
    '''
    assert found(source, "opening") == ["Who", "Nothing", "Of each"]


@pytest.mark.parametrize(
    ("path", "package", "room"),
    [
        ("src/aiopslab/cli/run.py", "aiopslab", "aiopslab/cli"),
        ("src/aiopslab/session.py", "aiopslab", "aiopslab/session"),
        ("src/simcloud/world/pages.py", "simcloud", "simcloud/world"),
        ("tests/aiopslab/cli/test_run.py", "tests", "tests/aiopslab/cli"),
        ("tests/simcloud/world/test_pages.py", "tests", "tests/simcloud/world"),
    ],
)
def test_a_place_has_a_package_and_a_room(path: str, package: str, room: str) -> None:
    place = Place("told", Path(path), 1, "told")
    assert (place.package, place.room) == (package, room)


PLACES = [Place("told", MODULE, line, "told") for line in (3, 7)]


def test_counts_are_shown_per_room_and_package() -> None:
    lines = [line.split() for line in table(PLACES).splitlines()]
    assert lines[1][:2] == ["simcloud/machine", "2"]
    assert lines[2][:4] == ["all", "of", "simcloud", "2"]


def test_a_count_above_its_limit_is_a_sentence_with_the_places() -> None:
    assert find_excesses(PLACES, {"simcloud": {"told": 2}}) == []
    assert find_excesses(PLACES, {"simcloud": {"told": 1}}) == [
        "simcloud has 2 uses of the wording 'told' but its limit is 1: "
        "src/simcloud/machine/disk.py:3 (told), src/simcloud/machine/disk.py:7 (told)."
    ]


def test_a_package_without_limits_may_not_use_them() -> None:
    assert len(find_excesses(PLACES, {})) == 1


def test_tests_have_no_limit() -> None:
    assert find_excesses([Place("told", Path("tests/aiopslab/cli/test_run.py"), 1, "told")], {}) == []


@pytest.mark.parametrize(("limit", "expected"), [(1, 1), (2, 2), (5, 2), (None, 2)])
def test_limits_only_go_down(limit: int | None, expected: int) -> None:
    limits = {} if limit is None else {"simcloud": {"told": limit}}
    assert tomllib.loads(lower(count(PLACES), limits))["simcloud"]["told"] == expected


def test_the_exit_code_says_whether_the_limits_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / MODULE).parent.mkdir(parents=True)
    (tmp_path / MODULE).write_text("told = 1\n")
    monkeypatch.setattr("scripts.count_words.ROOT", tmp_path)
    limits = tmp_path / "limits.toml"
    limits.write_text("[simcloud]\ntold = 0\n")
    assert main(["--limit", str(limits)]) == 1
    limits.write_text("[simcloud]\ntold = 1\n")
    assert main(["--limit", str(limits)]) == 0
