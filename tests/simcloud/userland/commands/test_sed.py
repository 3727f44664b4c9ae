"""sed: as the genuine one, at once in a pipe, and within bounds whatever it is given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tests.simcloud.conftest import Shell
from tests.simcloud.userland.commands.sed_cases import ARGUMENTS, FILES, STDIN
from tests.simcloud.userland.commands.side_by_side import LOCALES, genuine, ours


@pytest.mark.differential("sed")
@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=repr)
def test_as_genuine(arguments: list[str], locale: str, tmp_path: Path) -> None:
    argv = ["sed", *arguments]
    assert ours(argv, FILES, STDIN, locale) == genuine(argv, tmp_path, FILES, STDIN, locale)


REGEXES = ["/o/", "/^$/", "/[0-9]/", "/2/", "/foo/", "/x*/", "//", "/^[25]/"]
ADDRESSES = ["1", "2", "3", "5", "$", "2~3", "0~2", "/o/I", "/r$/M", *REGEXES]
REPLACEMENTS = ["X", "&&", "[\\&]", "", "\\n", "\\U&", "a\\nb"]
SIMPLE = [*"pPdDnNgGhHxz=Fl", "l 5", "b", "b end", "t", "T end", "y/fo1/0F\\n/", "s/\\n/,/g", "s/^/>/Mg"]
TEXTS = [" text\n", "\\\n  multi\\\nline\n", " x\\ty\n"]


@st.composite
def commands(draw: st.DrawFn, depth: int = 0) -> str:
    first = draw(st.sampled_from(["", "", *ADDRESSES]))
    second = draw(st.sampled_from(["", "", "+1", "+2", "~2", "~3", *ADDRESSES])) if first else ""
    address = f"{first},{second}" if second else first
    address += draw(st.sampled_from(["", "", "!"])) if first else ""
    kind = draw(st.sampled_from(["simple", "simple", "s", "text", "file", "quit", "block"]))
    match kind:
        case "s":
            flags = draw(st.sampled_from(["", "g", "2", "p", "2g", "gp"]))
            return f"{address}s{draw(st.sampled_from(REGEXES))}{draw(st.sampled_from(REPLACEMENTS))}/{flags}"
        case "text":
            return f"{address}{draw(st.sampled_from('aic'))}{draw(st.sampled_from(TEXTS))}"
        case "file":
            return address + draw(
                st.sampled_from(["r n\n", "R t\n", "r nosuch\n", "w out\n", "w /dev/stdout\n"])
            )
        case "quit":
            return first + draw(st.sampled_from(["q", "q3", "Q"]))
        case "block" if depth < 2:
            return address + "{" + ";".join(draw(st.lists(commands(depth + 1), min_size=1, max_size=3))) + "}"
    return address + str(draw(st.sampled_from(SIMPLE)))


RANDOM_FILES = {"n": b"".join(b"%d\n" % i for i in range(1, 9)), "a": b"foo\nbar\n\nfoo bar", "t": b"x"}


@pytest.mark.live("sed")
@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    script=st.lists(commands(), min_size=1, max_size=5),
    options=st.lists(st.sampled_from(["-n", "-s", "-i"]), max_size=2),
    names=st.lists(st.sampled_from(sorted(RANDOM_FILES)), min_size=1, max_size=3, unique=True),
)
def test_random_scripts_as_genuine(
    script: list[str], options: list[str], names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    argv = ["sed", *options, ";".join(script) + "\n:end", *names]
    try:
        expected = genuine(["timeout", "1", *argv], tmp_path_factory.mktemp("sed"), RANDOM_FILES)
    except subprocess.TimeoutExpired:
        return
    outcome = ours(argv, RANDOM_FILES)
    if expected.status == 124:
        assert b"limit exceeded" in outcome.stderr
    else:
        assert outcome == expected


@settings(max_examples=200, deadline=None)
@given(
    script=st.text("sygxpdDnNhHGaicbt:{}=lqQrw/\\,;!$~+0123 \nIMoeé&*[]()^.#", max_size=16),
    data=st.binary(max_size=30),
)
def test_any_script_ends_with_a_status(script: str, data: bytes) -> None:
    outcome = ours(["sed", "-e", script], {}, data, "C.UTF-8")
    assert 0 <= outcome.status <= 255
    assert outcome.status in (0, 125) or outcome.stderr.startswith(b"sed: ") or "q" in script or "Q" in script


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    "script", [":a;ba", ":a;p;ba", ":a;s/^/x/;ba", ":a;s/[a-z]/&&/g;ta", ":a;G;h;ba", "H;G;D"]
)
def test_endless_scripts_end_by_a_count(script: str) -> None:
    outcome = ours(["sed", script], {}, b"one\n")
    assert outcome.stderr.startswith(b"sed: limit exceeded: ")
    assert outcome.status == 125


@pytest.mark.slow
def test_a_long_file_is_no_endless_loop() -> None:
    lines = b"line\n" * 210_000
    outcome = ours(["sed", ":a;N;$!ba;s/\\n/ /g"], {}, lines)
    assert outcome.stdout == lines.strip().replace(b"\n", b" ") + b"\n"


def test_running_commands_is_refused() -> None:
    outcome = ours(["sed", "e"], {}, b"id\n")
    assert outcome.stderr == b"sed: -e expression #1, char 1: running commands from sed is not supported\n"
    assert outcome.status == 1


def test_lines_are_written_while_the_pipe_stays_open(shell: Shell) -> None:
    done = shell(
        "(echo one; sleep 5; echo two) | sed -u s/o/0/ | while read line; do echo $SECONDS $line; done"
    )
    assert done.stdout == b"0 0ne\n5 tw0\n"


def test_quitting_ends_an_endless_pipe(shell: Shell) -> None:
    done = shell("while :; do echo tick; sleep 1; done | sed 2q; echo $SECONDS")
    assert done.stdout == b"tick\ntick\n2\n"


def test_in_place_keeps_the_mode(shell: Shell) -> None:
    shell("echo one > f; chmod 640 f; sed -i s/one/two/ f")
    assert shell("cat f; stat -c %a f").stdout == b"two\n640\n"
