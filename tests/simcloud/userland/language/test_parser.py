"""From text to commands: where units end, what is said about mistakes."""

from __future__ import annotations

import pytest

from simcloud.userland.bash.parser import Parser
from simcloud.userland.bash.printer import command_text
from simcloud.userland.bash.word_parts import ShellSyntaxError


def units(text: str) -> list[str]:
    parser = Parser(text)
    found = []
    while (unit := parser.next_unit()) is not None:
        found.append(unit.text)
    return found


def test_a_unit_is_a_complete_command_line() -> None:
    assert units("a; b\nif c\nthen d\nfi; e\n\n# nothing\nf <<E\nhere\nE\ng") == [
        "a; b",
        "if c\nthen d\nfi; e",
        "f <<E\nhere\nE",
        "g",
    ]


def test_lines_before_a_mistake_are_handed_out_first() -> None:
    parser = Parser("echo fine\necho )\n")
    assert parser.next_unit() is not None
    with pytest.raises(ShellSyntaxError, match="unexpected token `\\)'") as error:
        parser.next_unit()
    assert (error.value.line, error.value.echo) == (2, "echo )")


@pytest.mark.parametrize(
    "text",
    [
        "a | b && c || d",
        "! a | b",
        "( a; b )",
        "{ a; b; }",
        "((x + 1))",
        "[[ -f $x && ( $y == z* || ! -d w ) ]]",
        'x=1 y=(2 3) a "b $c" > d 2>&1 < e',
        "a & b",
    ],
)
def test_a_command_prints_as_it_was_written(text: str) -> None:
    unit = Parser(text).next_unit()
    assert unit is not None
    assert command_text(unit) == text


def test_what_ends_where() -> None:
    assert units('echo ${x:-"}"} \'}\' $(echo ")") `echo \\`a\\``; b') == [
        'echo ${x:-"}"} \'}\' $(echo ")") `echo \\`a\\``; b'
    ]
    assert units("cat <<A <<B\n1\nA\n2\nB\nc") == ["cat <<A <<B\n1\nA\n2\nB", "c"]
