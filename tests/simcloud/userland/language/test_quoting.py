"""What is quoted reads back as it was."""

from __future__ import annotations

from functools import cache

from hypothesis import given, settings, strategies as st

from simcloud.machine.computer import Machine
from simcloud.userland.bash.escapes import quote_backslash, quote_double, quote_if_needed, quote_single
from simcloud.userland.bash.parser import Parser
from simcloud.userland.bash.syntax import Simple
from tests.simcloud.conftest import make_machine, type_line

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


@cache
def machine() -> Machine:
    return make_machine()


def read_back(quoted: str) -> list[str] | None:
    """The arguments of a command line, if it needs no expansion."""
    unit = Parser(f"x {quoted}").next_unit()
    assert unit is not None
    command = unit.items[0][0]
    assert isinstance(command, Simple)
    return command.argv


@given(TEXTS)
def test_every_way_of_quoting_reads_back(text: str) -> None:
    for quote in (quote_backslash, quote_single, quote_if_needed):
        assert read_back(quote(text)) == ["x", text]
    assert read_back(quote_double(text)) == ["x", text]


@settings(max_examples=50)
@given(TEXTS)
def test_printf_q_eval_and_declare_p_make_the_value_again(text: str) -> None:
    line = (
        f'x={quote_single(text)}; eval "y=$(printf %q "$x")"; eval "z=${{x@Q}}"; eval "$(declare -p x)"; '
        + ('[[ $x == "$y" && $y == "$z" ]] && printf \'%s\' "$x"')
    )
    done = type_line(machine(), line)
    assert (done.stdout, done.stderr) == (text.encode(), b"")


@given(st.lists(TEXTS, max_size=5))
def test_words_keep_apart_what_was_apart(texts: list[str]) -> None:
    assert read_back(" ".join(quote_single(text) for text in texts)) == ["x", *texts]
