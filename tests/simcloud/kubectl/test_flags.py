"""Flags as kubectl's library reads them, and that no words whatsoever bring the command line down."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubectl import program  # noqa: F401  (it brings in all commands)
from simcloud.kubectl.command import find
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.flags import BadFlag, Flag, Parser, csv_fields

PARSER = Parser(
    [
        Flag("all", "A", "bool", "false"),
        Flag("output", "o"),
        Flag("number", "n", "int", "0"),
        Flag("time", "", "duration", "0s"),
        Flag("columns", "L", "slice"),
        Flag("literal", "", "array"),
        Flag("dry-run", "", "string", "none"),
    ]
)
WORDS = st.one_of(
    st.sampled_from(
        [
            "get",
            "pods",
            "-A",
            "--",
            "-o",
            "json",
            "-ojson",
            "-Ao",
            "--output=",
            "--dry-run",
            "-n",
            "config",
            "view",
            "auth",
            "can-i",
            "-h",
            "--help",
            "explain",
            "--v=",
            "-v9",
            "--as-group",
            "x=y",
            "''",
            "-",
            "---",
            "--=",
            "-=1",
        ]
    ),
    st.text(max_size=12),
    st.text(alphabet='-=Aonx",\n', max_size=8),
)


@given(st.lists(WORDS, max_size=8))
def test_any_words_are_a_command_or_a_sentence(words: list[str]) -> None:
    try:
        command, flags = find(words)
    except KubectlError as error:
        assert error.format_message() and error.code == 1
    else:
        assert command is not None and all(isinstance(word, str) for word in flags.args)


@given(st.lists(WORDS, max_size=6))
def test_words_after_two_dashes_are_never_flags(words: list[str]) -> None:
    found = PARSER.parse(["-A", "--", *words])
    assert (found.args, found.dash_at, found["all"]) == (words, 0, True)


@given(st.lists(st.text(alphabet='ab,"\n é', max_size=6), min_size=1, max_size=4))
def test_values_in_quotation_marks_come_back(values: list[str]) -> None:
    values = [value.replace("\n", " ") for value in values]
    written = ",".join('"' + value.replace('"', '""') + '"' for value in values)
    assert csv_fields(written) == values


@given(st.permutations(["-A", "-ojson", "pods", "-n3", "--dry-run", "web"]))
def test_the_order_of_flags_does_not_matter(words: list[str]) -> None:
    found = PARSER.parse(words)
    assert (found["all"], found["output"], found["number"], found["dry-run"]) == (
        True,
        "json",
        3,
        "unchanged",
    )
    assert sorted(found.args) == ["pods", "web"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--foo"], "unknown flag: --foo"),
        (["-z"], "unknown shorthand flag: 'z' in -z"),
        (["-Az"], "unknown shorthand flag: 'z' in -z"),
        (["-o"], "flag needs an argument: 'o' in -o"),
        (["--output"], "flag needs an argument: --output"),
        (["--=x"], "bad flag syntax: --=x"),
        (["---x"], "bad flag syntax: ---x"),
        (
            ["-n", "x"],
            'invalid argument "x" for "-n, --number" flag: strconv.ParseInt: parsing "x": invalid syntax',
        ),
        (["--time=5"], 'invalid argument "5" for "--time" flag: time: missing unit in duration "5"'),
        (
            ["--all=maybe"],
            'invalid argument "maybe" for "-A, --all" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
    ],
)
def test_mistakes_are_told_in_the_librarys_words(words: list[str], told: str) -> None:
    with pytest.raises(BadFlag) as raised:
        PARSER.parse(words)
    assert str(raised.value) == told
