"""Whatever is typed, the shell answers with an exit status and stays within its limits."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from hypothesis import HealthCheck, given, settings, strategies as st

from simcloud.machine.computer import Machine
from simcloud.machine.image import Image
from simcloud.machine.network import Network
from simcloud.machine.process import Completed, Limits
from simcloud.sim import Kernel
from simcloud.userland.bash.parser import Parser
from simcloud.userland.bash.scripts import read_unit
from simcloud.userland.bash.word_parts import ShellSyntaxError
from simcloud.userland.commands import all_commands
from tests.simcloud.conftest import type_line
from tests.simcloud.userland.language.test_differential import TOPICS

SCRIPTS = [
    script
    for topic in TOPICS
    for script in import_module(f"tests.simcloud.userland.language.cases_{topic}").CASES
    if "kill" not in script and "exec" not in script
]
PIECES = r"""$ ( ) { } [ ] [[ ]] (( )) < > << <<- <<< <( >( >> &> >& | || & && ; ;; ;& " ' ` \ # ! = += * ? ~ @
if then else fi for while do done case esac in function time echo cat read test local declare eval exit
${x} ${x[@]} ${!x} ${#x} ${x:-y} ${x//a/b} $((1+1)) x=1 0 1 -n -e é"""
TOKENS = st.sampled_from([*PIECES.split(), "$(echo a)", "a=(1 2)", "\n", "\t", "\x00", "\xff"])


def check(done: Completed) -> None:
    assert 0 <= done.status <= 255


PROGRAMS = ("bash", "sh", "echo", "printf", "test", "cat", "sleep", "true", "false")
"""Enough to run things with; what other programs make of odd arguments is for their own tests."""


@cache
def image() -> Image:
    commands = all_commands()
    return Image("fuzz", {name: commands[name] for name in PROGRAMS})


def small_machine_line(line: str) -> Completed:
    kernel = Kernel(1)
    limits = Limits(processes=40, turns=3_000, data_bytes=1024 * 1024)
    machine = Machine(kernel, Network(kernel), "host-1", "10.0.0.1", image(), limits=limits)
    machine.host.files.mkdir("/w")
    return type_line(machine, line)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TOKENS, max_size=25).map(" ".join))
def test_random_tokens(line: str) -> None:
    check(small_machine_line(line))


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=60))
def test_random_bytes(data: bytes) -> None:
    check(small_machine_line(data.decode("utf-8", "surrogateescape")))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SCRIPTS), st.data())
def test_mutated_scripts(script: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        cut = data.draw(st.integers(0, len(script)))
        length = data.draw(st.integers(0, 4))
        script = script[:cut] + data.draw(st.one_of(st.just(""), TOKENS)) + script[cut + length :]
    check(small_machine_line(script))


@settings(max_examples=500)
@given(st.one_of(st.text(max_size=80), st.lists(TOKENS, max_size=40).map("".join)))
def test_the_parser_ends_with_commands_or_a_syntax_error(text: str) -> None:
    parser = Parser(text, extglob=True)
    try:
        while read_unit(parser).sequence is not None:
            pass
    except ShellSyntaxError:
        pass
