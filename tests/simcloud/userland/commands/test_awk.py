"""Awk: its language and its mistakes against the genuine gawk, its limits, and how it streams."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.machine.computer import Machine
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import ByteSource, Capture, Limits, Pipe
from simcloud.sim import Kernel
from simcloud.userland.images import operator_image
from tests.genuine import run
from tests.simcloud.userland.commands.awk_files import FILES

HERE = Path(__file__).parent
WORK = "/w"
ENV = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": "/root"}


class Done(NamedTuple):
    """How a run ended and what it wrote."""

    status: int
    stdout: bytes
    stderr: bytes


def cases(name: str) -> list[str]:
    """The command lines of a case list."""
    return [block.rstrip("\n") for block in (HERE / f"awk_{name}.cases").read_text().split("%%\n")]


def make_machine(files: Mapping[str, str] | None = None, turns: int | None = None) -> Machine:
    kernel = Kernel(1)
    machine = Machine(
        kernel, Network(kernel), "host-1", "10.0.0.1", operator_image(), resolver=HostsResolver({})
    )
    machine.host.files.mkdir(WORK)
    for name, text in (files or {}).items():
        machine.host.files.put(f"{WORK}/{name}", text.encode())
    if turns is not None:
        machine.host.limits = Limits(turns=turns)
    return machine


def ours(
    args: list[str],
    stdin: bytes = b"",
    files: Mapping[str, str] | None = None,
    env: Mapping[str, str] = ENV,
    machine: Machine | None = None,
) -> Done:
    """Run our awk on a fresh machine (or the given one)."""
    machine = machine or make_machine(files)
    out, err = Capture(), Capture()
    process = machine.host.start(
        ["awk", *args], env=env, cwd=WORK, streams={0: ByteSource(stdin), 1: out, 2: err}
    )
    machine.kernel.run_task(machine.kernel.spawn(process.wait(), "awk"))
    return Done(process.status, bytes(out.data), bytes(err.data))


def genuine(
    args: list[str], stdin: bytes = b"", files: Mapping[str, str] | None = None, env: Mapping[str, str] = ENV
) -> Done:
    """Run the real gawk, under the name awk, in a folder with the same files."""
    given = {name: text.encode() for name, text in (files or {}).items()}
    done = run(["awk", *args], executable="/usr/bin/gawk", stdin=stdin, files=given, env=env)
    return Done(done.status, done.stdout, done.stderr)


def run_case(line: str) -> tuple[Done, Done]:
    """Both sides of a case: ``[@unordered] awk … [< file]``."""
    unordered = line.startswith("@unordered ")
    words = shlex.split(line.removeprefix("@unordered "))
    stdin = b""
    if len(words) > 2 and words[-2] == "<":
        stdin = FILES[words[-1]].encode()
        words = words[:-2]
    assert words[0] == "awk"
    mine, real = ours(words[1:], stdin, FILES), genuine(words[1:], stdin, FILES)
    return (in_order(mine), in_order(real)) if unordered else (mine, real)


def in_order(done: Done) -> Done:
    """The same with its lines sorted: awk does not say in which order it goes through an array."""
    return done._replace(stdout=b"".join(sorted(done.stdout.splitlines(keepends=True))))


@pytest.mark.differential("gawk")
@pytest.mark.parametrize("line", cases("operator"))
def test_what_operators_type(line: str) -> None:
    mine, real = run_case(line)
    assert mine == real


@pytest.mark.differential("gawk")
@pytest.mark.parametrize("line", cases("language"))
def test_the_language(line: str) -> None:
    mine, real = run_case(line)
    assert mine == real


@pytest.mark.differential("gawk")
@pytest.mark.parametrize("line", cases("mistakes"))
def test_mistakes(line: str) -> None:
    mine, real = run_case(line)
    assert mine == real


@pytest.mark.differential("gawk")
@pytest.mark.parametrize(
    "program",
    [
        '{ print length($0), toupper($0), substr($0, 2, 1), index($0, "b") }',
        '{ n = split($0, a, ""); print n, a[2]; gsub(/[^a-z]/, "."); print }',
        '{ printf "%c|%5s|%-5s|%.2s|\\n", 233, $1, $1, $1 }',
        "{ print match($0, /b/), RSTART; print match($0, /.b/), RLENGTH }",
    ],
)
def test_a_character_is_a_byte_in_the_c_locale(program: str) -> None:
    env = {**ENV, "LC_ALL": "C"}
    stdin = "äb é\nplain b\n".encode() + b"\xff\xfeb\n"
    assert ours([program], stdin, env=env) == genuine([program], stdin, env=env)
    assert ours([program], stdin[:12]) == genuine([program], stdin[:12])


# -- properties: numbers, printf, comparisons, in batches of one process each ---------------------

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
nice_numbers = st.one_of(
    finite, st.integers(-(10**20), 10**20).map(float), st.decimals(-1000, 1000, places=3).map(float)
)


def both_over_lines(program: str, lines: list[str], *options: str) -> tuple[Done, Done]:
    stdin = "".join(f"{line}\n" for line in lines).encode()
    args = [*options, program]
    return ours(args, stdin), genuine(args, stdin)


@pytest.mark.live("gawk")
@settings(max_examples=15, deadline=None)
@given(st.lists(nice_numbers, min_size=1, max_size=60))
def test_numbers_are_written_as_gawk_writes_them(numbers: list[float]) -> None:
    program = '{ x = $1 + 0; print x, -x, x * 3, x / 7, int(x); y = x ""; print y, x == y, x % 7, x ^ 2 }'
    mine, real = both_over_lines(program, [repr(number) for number in numbers])
    assert mine == real


@pytest.mark.live("gawk")
@settings(max_examples=15, deadline=None)
@given(st.lists(st.text("0123456789+-.eExX _naif\t", max_size=8), min_size=1, max_size=60))
def test_text_from_outside_is_a_number_when_gawk_says_so(texts: list[str]) -> None:
    program = (
        '{ print $0 + 0, $0 == 0, $0 < 10, $0 == "10", ($0 ? "T" : "F"), !$0, $1 < $2, $1 == $2; '
        'x = $1; a[x] = x; print (x in a), (x + 0 in a), x < "5", -x, length(x) }'
    )
    mine, real = both_over_lines(program, texts)
    assert mine == real


def specifiers(letters: str) -> st.SearchStrategy[str]:
    return st.builds(
        lambda flags, width, precision, letter: f"%{flags}{width}{precision}{letter}",
        st.text("-+ #0", max_size=2),
        st.one_of(st.just(""), st.integers(1, 30).map(str)),
        st.one_of(st.just(""), st.just("."), st.integers(0, 20).map(lambda digits: f".{digits}")),
        st.sampled_from(letters),
    )


words = st.text("abc é%", min_size=1, max_size=6)
code_points = st.integers(1, 0x10FFFF).filter(lambda code: not 0xD800 <= code < 0xE000).map(str)
printed = st.one_of(
    st.tuples(specifiers("diouxXeEfFgGs"), st.one_of(nice_numbers.map(repr), words)),
    st.tuples(specifiers("c"), st.one_of(code_points, words)),
)


@pytest.mark.live("gawk")
@settings(max_examples=20, deadline=None)
@given(st.lists(printed, min_size=1, max_size=60))
def test_printf_prints_what_gawk_prints(pairs: list[tuple[str, str]]) -> None:
    lines = [f"{template};{value}" for template, value in pairs]
    program = '{ printf "<" $1 ">\\n", $2; printf "<" $1 ">\\n", $2 + 0; printf "<" $1 ">\\n", $2 "" }'
    mine, real = both_over_lines(program, lines, "-F;")
    assert mine == real


@pytest.mark.live("gawk")
@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([" ", ",", "ab", "[ab]", "a+", "[ ,]+", "a|b", ".", "x*"]),
            st.text("ab ,x", max_size=12),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_splitting_and_replacing(pairs: list[tuple[str, str]]) -> None:
    lines = [f"{separator};{text}" for separator, text in pairs]
    program = (
        '{ n = split($2, p, $1); printf "%d", n; for (i = 1; i <= n; i++) printf "<%s>", p[i]; '
        'FS = $1; $0 = $2; printf " %d<%s>", NF, $2; FS = ";"; '
        't = $0; n = gsub("[ab]+", "(&)", t); print " " n, t, sub(/b*/, "-", t), t; '
        'print gensub(/(a)(b?)/, "\\\\2\\\\1", "g", $0) }'
    )
    mine, real = both_over_lines(program, lines, "-F;")
    assert mine == real


@pytest.mark.live("gawk")
@given(st.integers(-(2**31), 2**32))
@settings(max_examples=20, deadline=None)
def test_the_same_seed_draws_the_same_numbers_as_gawk(seed: int) -> None:
    program = f'BEGIN {{ srand({seed}); for (i = 0; i < 5; i++) printf "%.17g ", rand(); print srand() }}'
    assert ours([program]).stdout == genuine([program]).stdout


# -- fuzz: whatever the text, an exit status and no crash -----------------------------------------

WORDS = r"""
BEGIN END { } ( ) [ ] ; , if else while for do in function f g return next exit getline print printf
delete a b x $ $1 $0 NF NR FS RS 0 1 2 1e9 -1 + - * / % ^ ++ -- = += == < > >> | ~ !~ ! && || ? :
"s" "" "%d" "true" /re/ /(/ length substr( split( sub( gsub( match( system( close( index( toupper(
int( switch case default break continue nextfile sprintf( a[1] a[x] (x,1) f( f(x) a[f(x)] (getline)
FS[1] NR[x] NF[1] ENVIRON PROCINFO ARGV a[1][2] ARGV[1][2] asort( asorti( delete(a) for(x in IGNORECASE=1
"""


@settings(max_examples=250, deadline=None)
@given(st.lists(st.sampled_from([*WORDS.split(), "\n"]), max_size=25))
def test_any_words_end_with_a_status(words: list[str]) -> None:
    done = ours([" ".join(words)], b"a b\n1 2\n", machine=make_machine(turns=300))
    assert 0 <= done.status <= 255


@functools.cache
def known_programs() -> list[str]:
    lines = [shlex.split(line.removeprefix("@unordered ")) for line in cases("operator") + cases("language")]
    return sorted({max(words, key=len) for words in lines})


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_programs_end_with_a_status(data: st.DataObject) -> None:
    program = data.draw(st.sampled_from(known_programs()))
    start = data.draw(st.integers(0, len(program)))
    end = data.draw(st.integers(start, min(len(program), start + 5)))
    damaged = program[:start] + data.draw(st.text('(){}[];$"/ax1 \n\\|<>', max_size=3)) + program[end:]
    done = ours([damaged], b"a b\n1 2\n", machine=make_machine({"numbers.txt": "a 1\n"}, turns=300))
    assert 0 <= done.status <= 255


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["\\n", "", "a", "a+|b", "\\\\0"]))
def test_any_bytes_are_records(data: bytes, separator: str) -> None:
    done = ours(["-v", f"RS={separator}", "{ n += length($0); $2 = $1; print } END { print n }"], data)
    assert done.status == 0


# -- limits ---------------------------------------------------------------------------------------

STEPS = b"awk: limit exceeded: more than 200000 steps without a pause\n"
DATA = b"awk: limit exceeded: more than 64 MiB of data without a pause\n"
CALLS = b"awk: limit exceeded: more than 1000 function calls inside each other\n"


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("BEGIN { while (1) {} }", STEPS),
        ("BEGIN { do x++; while (1) }", STEPS),
        ("BEGIN { for (;;) print 1 > \"/dev/null\" }", STEPS),
        ("BEGIN { s = \"x\"; while (1) s = s s }", DATA),
        ("BEGIN { while (1) s = s \"a long piece of text that is added again and again and again and again\" }", DATA),
        ("BEGIN { while (1) a[n++] = \"x\" }", DATA),
        ("BEGIN { s = \"x\"; while (1) gsub(/x/, \"xx\", s) }", DATA),
        ("BEGIN { while (1) gsub(/x*/, \"yyyyyy\", s) }", DATA),
        ("BEGIN { printf \"%1000000000d\", 1 }", DATA),
        ("BEGIN { $300000000 = 1 }", DATA),
        ("function f() { return f() } BEGIN { f() }", CALLS),
        ("function f(n) { print n; return 1 + f(n + 1) } BEGIN { f(1) }", CALLS),
        ("function f(n) { getline x; return 1 + f(n + 1) } BEGIN { f(1) }", CALLS),
        ("BEGIN { while ((getline x < \"/dev/zero\") > 0) n++ }", DATA),
        ("BEGIN { while (1) \"echo x\" | getline }", STEPS),
    ],
)  # fmt: skip
def test_what_would_never_end_ends_at_a_count(program: str, message: bytes) -> None:
    first = ours([program])
    assert (first.status, first.stderr) == (125, message)


def test_a_limit_strikes_at_the_same_place_every_time() -> None:
    program = "BEGIN { while (1) print n++ }"
    first, second = (ours([program], machine=make_machine(turns=2000)) for _ in range(2))
    assert first == second
    assert first.status == 125


def test_endless_output_stops_when_nobody_reads_on() -> None:
    machine = make_machine()
    out, err = Capture(), Capture()
    line = "awk 'BEGIN { while (1) print 1 }' | head -2"
    process = machine.host.start(
        ["sh", "-c", line], env=ENV, cwd=WORK, streams={0: ByteSource(b""), 1: out, 2: err}
    )
    machine.kernel.run_task(machine.kernel.spawn(process.wait(), "sh"))
    assert (process.status, bytes(out.data), bytes(err.data)) == (0, b"1\n1\n", b"")


def test_collecting_text_is_not_mistaken_for_endless_growth() -> None:
    lines = b"".join(
        b"line number %d of a file that is put together again\n" % number for number in range(4000)
    )
    done = ours(
        ['{ s = s $0 "\\n"; t[NR % 2] = t[NR % 2] $1 } END { printf "%s", s; print length(t[0]) }'], lines
    )
    assert done.stderr == b""
    assert done.stdout == lines + b"8000\n"


# -- streams and virtual time ----------------------------------------------------------------------


def test_records_are_answered_as_they_arrive() -> None:
    machine = make_machine()
    pipe = Pipe(machine.kernel)
    out = Capture()
    process = machine.host.start(
        ["awk", "/error/ { print NR, $2 }"], env=ENV, streams={0: pipe.reader, 1: out, 2: out}
    )
    pipe.reader.close()

    async def log(text: bytes) -> None:
        await pipe.writer.write(text)

    machine.kernel.run_task(machine.kernel.spawn(log(b"info a\nerror b\nerr"), "log"))
    machine.kernel.run_for(1)
    assert bytes(out.data) == b"2 b\n"
    machine.kernel.run_task(machine.kernel.spawn(log(b"or c\n"), "log"))
    machine.kernel.run_for(1)
    assert bytes(out.data) == b"2 b\n3 c\n"
    pipe.writer.close()
    machine.kernel.run_for(1)
    assert not process.alive


def test_time_is_the_machines() -> None:
    machine = make_machine()
    start = machine.clock()
    program = 'BEGIN { t = systime(); system("sleep 90"); print systime() - t; print strftime("%s") - t }'
    assert ours([program], machine=machine).stdout == b"90\n90\n"
    assert machine.clock() - start == pytest.approx(90, abs=1)


def test_srand_without_a_seed_takes_the_clock() -> None:
    machine = make_machine()
    done = ours(["BEGIN { srand(); print srand() == systime(), rand() < 1 }"], machine=machine)
    assert done.stdout == b"1 1\n"


def test_a_command_reads_what_is_printed_into_it_while_awk_goes_on() -> None:
    program = 'BEGIN { print "b"; print "z\\ny" | "sort"; print "a" } END { close("sort"); print "end" }'
    assert ours([program], b"").stdout == b"b\na\ny\nz\nend\n"


class Terminal(Capture):
    isatty = True


@pytest.mark.parametrize(("screen", "seen"), [(Terminal(), b"a\nb\nc\n"), (Capture(), b"b\na\nc\n")])
def test_a_terminal_shows_lines_in_the_order_they_were_printed(screen: Capture, seen: bytes) -> None:
    machine = make_machine()
    program = 'BEGIN { print "a"; print "b" > "/dev/stderr"; print "c" }'
    process = machine.host.start(["awk", program], streams={0: ByteSource(b""), 1: screen, 2: screen})
    machine.kernel.run_task(machine.kernel.spawn(process.wait(), "awk"))
    assert bytes(screen.data) == seen


@pytest.mark.differential("gawk")
def test_output_and_a_command_that_shares_it_come_in_the_genuine_order() -> None:
    program = '{ print "line", $1; print $1 | "sort -n" } END { print "end" }'
    stdin = b"".join(b"%d\n" % (number * 7919 % 3000) for number in range(3000))
    assert ours([program], stdin) == genuine([program], stdin)


def test_a_loop_over_an_array_goes_in_the_order_of_insertion() -> None:
    program = '{ a[$1] } END { delete a["x"]; a["x"]; for (k in a) printf "%s ", k }'
    assert ours([program], b"x\nz\n10\n9\nb\n").stdout == b"z 10 9 b x "


def test_a_full_disk_is_reported() -> None:
    done = ours(['BEGIN { print "x" > "/dev/full"; close("/dev/full"); print "not reached" }'])
    assert done.status == 2
    assert done.stderr == b'awk: cmd. line:1: fatal: flush to "/dev/full" failed: No space left on device\n'


@pytest.mark.parametrize("name", ["awk", "gawk", "mawk", "nawk"])
def test_it_goes_by_several_names(name: str) -> None:
    machine = make_machine()
    out = Capture()
    process = machine.host.start(
        [name, "BEGIN { print ARGV[0]; f() }"], streams={0: ByteSource(b""), 1: out, 2: out}
    )
    machine.kernel.run_task(machine.kernel.spawn(process.wait(), name))
    assert out.data.decode() == f"{name}\n{name}: cmd. line:1: fatal: function `f' not defined\n"


def test_nothing_of_the_host_can_be_seen() -> None:
    program = (
        'BEGIN { print (getline x < "/etc/hostname.of.the.host"), (getline x < "../../../../proc/self/environ"), '
        'length(ENVIRON["PYTHONPATH"]), length(ENVIRON["VIRTUAL_ENV"]) }'
    )
    assert ours([program]).stdout.split()[0] == b"-1"
    assert ours([program]).stdout.split()[2:] == [b"0", b"0"]


def test_a_file_that_cannot_be_written_ends_the_program() -> None:
    machine = make_machine()
    err = Capture()
    line = (
        "awk 'BEGIN { for (i = 0; i < 9000; i++) print i }' > /dev/full; awk 'BEGIN { print 1 }' > /dev/full"
    )
    process = machine.host.start(
        ["sh", "-c", line], env=ENV, cwd=WORK, streams={0: ByteSource(b""), 1: Capture(), 2: err}
    )
    machine.kernel.run_task(machine.kernel.spawn(process.wait(), "sh"))
    assert process.status == 1
    assert err.data.decode().splitlines() == [
        'awk: cmd. line:1: fatal: print to "standard output" failed: No space left on device',
        "awk: warning: error writing standard output: No space left on device",
    ]
