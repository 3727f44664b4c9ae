"""grep: as the genuine one, at once in a pipe, and within bounds whatever it is given."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.machine.computer import Machine
from simcloud.machine.process import Limits
from tests.simcloud.conftest import Shell, type_line
from tests.simcloud.userland.commands.grep_cases import FILES, LINES, ON_STDIN
from tests.simcloud.userland.commands.side_by_side import LOCALES, Outcome, genuine, ours

UNORDERED = {"-r", "-R", "-rn", "-rl", "-rc", "-rh", "-rH", "-ro", "-rL", "-rs", "rgrep"}
"""With these the genuine grep shows files in the order of their folder, which nobody promises."""


def comparable(argv: list[str], outcome: Outcome) -> Outcome:
    if UNORDERED.intersection(argv):
        return outcome._replace(stdout=b"".join(sorted(outcome.stdout.splitlines(keepends=True))))
    return outcome


def check(line: str, stdin: bytes, locale: str, folder: Path) -> None:
    argv = shlex.split(line)
    expected = genuine(argv, folder, FILES, stdin, locale)
    assert comparable(argv, ours(argv, FILES, stdin, locale)) == comparable(argv, expected)


@pytest.mark.differential("grep")
@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("line", LINES)
def test_line_as_genuine(line: str, locale: str, tmp_path: Path) -> None:
    check(line, b"", locale, tmp_path)


@pytest.mark.differential("grep")
@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(("line", "stdin"), ON_STDIN)
def test_stdin_as_genuine(line: str, stdin: bytes, locale: str, tmp_path: Path) -> None:
    check(line, stdin, locale, tmp_path)


OPTIONS = [
    "-v", "-i", "-c", "-l", "-L", "-n", "-H", "-h", "-o", "-b", "-w", "-x", "-q", "-s", "-a", "-I", "-z", "-T", "-Z",
    "-m1", "-m2", "-A1", "-B1", "-C1", "-C2", "-A0", "-1", "-y",
    "--color=always", "--no-group-separator", "--group-separator=##", "--label=L",
]  # fmt: skip
PATTERNS = {
    "-G": ["foo", "", "^foo", "bar$", "fo*", "x*", r"\bfoo\b", r"\<bar", r"foo\|bar", "^$", r"\(o\)\1", "é"],
    "-E": ["foo|bar", "o+", "(a|b)+", "^(foo)?", "(.)\\1", "f.?o", r"\w+", "(foo|fo)(bar|o)?"],
    "-P": [r"\d+", "(?<=f)o+", "foo(?!b)", r"^\S+$", r"(o)\1", r"f\Koo", ".*?o", "[^o]+"],
    "-F": ["foo", "o", "", "a b", "."],
}
RANDOM_FILES = {
    "a": b"foo\nbar\n\nfoo bar\nFoo_bar baz",
    "bin": b"text foo\n\0\nfoo\nbar\n",
    "inv": b"foo\n\xff foo\nbar\n\xc3\xa9t\xc3\xa9 foo\n",
    "e": b"",
    "d/f": b"foo\nbaz\n",
    "w": b"foo foobar\nbar-foo\n_foo\nfoo\n",
}


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    flavour = draw(st.sampled_from(sorted(PATTERNS)))
    pattern = draw(st.sampled_from(PATTERNS[flavour]))
    options = draw(st.lists(st.sampled_from(OPTIONS), max_size=4, unique=True))
    names = draw(st.lists(st.sampled_from([*RANDOM_FILES, "d", "nosuch", "-"]), min_size=1, max_size=3))
    return ["grep", flavour, *options, "-e", pattern, *names]


@pytest.mark.live("grep")
@settings(max_examples=150, deadline=None, derandomize=True)
@given(argv=command_lines(), locale=st.sampled_from(LOCALES))
def test_random_options_as_genuine(
    argv: list[str], locale: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stdin = b"foo\nstdin bar\nno"
    expected = genuine(argv, tmp_path_factory.mktemp("grep"), RANDOM_FILES, stdin, locale)
    assert ours(argv, RANDOM_FILES, stdin, locale) == expected


@settings(max_examples=200, deadline=None)
@given(
    flavour=st.sampled_from(["-G", "-E", "-P", "-F"]),
    pattern=st.text("ab()[]{}|*+?.^$\\,-:=019é<>!#PKQEwd\n", max_size=10),
    data=st.binary(max_size=40),
)
def test_any_pattern_ends_with_a_status(flavour: str, pattern: str, data: bytes) -> None:
    outcome = ours(["grep", flavour, "-on", "-e", pattern], {}, data, "C.UTF-8")
    assert outcome.status in (0, 1, 2)
    assert (outcome.status == 2) <= outcome.stderr.startswith(b"grep: ")


def test_patterns_that_would_hang_end_by_a_count() -> None:
    outcome = ours(["grep", "-P", "(a+)+(?=c)"], {}, b"a" * 40 + b"\n")
    assert outcome[:3] == (b"", b"grep: (standard input): exceeded PCRE's backtracking limit\n", 2)


def test_a_match_is_written_while_the_pipe_stays_open(shell: Shell) -> None:
    done = shell(
        "(echo one; echo two; sleep 5; echo three) | grep t | while read line; do echo $SECONDS $line; done"
    )
    assert done.stdout == b"0 two\n5 three\n"


def test_first_match_ends_an_endless_pipe(shell: Shell) -> None:
    done = shell("while :; do echo tick; sleep 1; done | grep -m1 tick; echo $SECONDS")
    assert done.stdout == b"tick\n1\n"


def test_endless_input_ends_by_a_limit(machine: Machine) -> None:
    machine.host.limits = Limits(turns=10_000)
    done = type_line(machine, "grep x /dev/zero")
    assert done.stdout == b""
    assert b"limit exceeded" in done.stderr
    assert done.status != 0


def test_very_many_matches_end_by_a_limit(machine: Machine) -> None:
    machine.host.limits = Limits(turns=10_000)
    done = type_line(machine, "head -c 1000000 /dev/zero | tr '\\0' a | grep -o a | wc -l")
    assert b"grep: limit exceeded: more than 10000 steps without a pause\n" in done.stderr


def test_folders_may_nest_deeper_than_functions(shell: Shell) -> None:
    shell("path=d; for i in {1..600}; do path=$path/x; done; mkdir -p $path; echo needle > $path/f")
    assert shell("grep -r needle d | wc -c").stdout.strip() == b"%d" % (len("d" + "/x" * 600 + "/f:needle\n"))


def test_links_are_followed_only_with_big_r(shell: Shell) -> None:
    shell("mkdir d; echo needle > d/f; ln -s f d/link; ln -s .. d/up")
    assert shell("grep -r needle d").stdout == b"d/f:needle\n"
    done = shell("grep -R needle d/link d")
    assert done.stdout == b"d/link:needle\nd/f:needle\nd/link:needle\n"
    assert done.stderr == b"grep: warning: d/up/d: recursive directory loop\n"


def test_what_follows_the_last_match_is_left_for_the_next_reader(shell: Shell) -> None:
    shell("printf '1\\n2\\n3\\n' > f")
    assert shell("(grep -m1 1; cat) < f").stdout == b"1\n2\n3\n"
