"""Help: every command and every flag says in a few words what it is for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simcloud.kubectl import program  # noqa: F401  (it brings in all commands)
from simcloud.kubectl.command import ROOT, Command, facts, find
from simcloud.kubectl.help.pages import help_of
from simcloud.kubectl.help.texts import FLAGS


def _commands(command: Command) -> Iterator[Command]:
    for below in command.below.values():
        yield below
        yield from _commands(below)


ALL = {one.path: one for one in _commands(ROOT)}


@pytest.mark.parametrize("path", sorted(ALL))
def test_every_command_has_a_help_that_names_its_flags(path: str) -> None:
    command = ALL[path]
    told = help_of(command)
    assert command.summary and told.startswith(command.summary)
    assert all(f"--{flag.name}=" in told for flag in command.flags())
    assert told.endswith("(applies to all commands).\n")


def test_every_flag_is_explained() -> None:
    named = {flag[0] for told in facts().values() for flag in told.get("flags", ())}
    assert named == set(FLAGS)
    assert all(0 < len(text) <= 90 and not text.endswith(".") for text in FLAGS.values())


def test_the_root_lists_every_command_that_is_not_hidden() -> None:
    told = help_of(ROOT)
    for command in ROOT.below.values():
        assert command.hidden or f"\n  {command.name} " in told, command.name


@pytest.mark.parametrize("words", ["get -h", "get pods --help", "config view -h", "get -Ah --nosuch"])
def test_a_help_flag_ends_the_reading_of_a_line(words: str) -> None:
    assert find(words.split())[1].help
