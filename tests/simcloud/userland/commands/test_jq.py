"""jq against the genuine jq 1.6, and what holds for every program: it ends, with a status, the same every time."""

from __future__ import annotations

import json
import math
import random
import tracemalloc
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from simcloud.machine.computer import Machine
from simcloud.machine.image import Image
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import ByteSource, Capture, Limits, Pipe
from simcloud.sim import Kernel
from simcloud.userland.jq import jq
from tests.genuine import run
from tests.simcloud.userland.commands import jq_cases

ENV = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
SMALL = Limits(turns=4_000, data_bytes=4 << 20)


class Outcome(NamedTuple):
    """What can be seen of a jq that has ended."""

    status: int
    stdout: bytes
    stderr: bytes


def machine(limits: Limits | None = None) -> Machine:
    kernel = Kernel(1)
    image = Image("jq", {"jq": jq})
    made = Machine(
        kernel, Network(kernel), "host-1", "10.0.0.1", image, resolver=HostsResolver({}), limits=limits
    )
    made.host.files.mkdir("/w")
    for name, data in jq_cases.FILES.items():
        made.host.files.put(f"/w/{name}", data)
    return made


@cache
def shared_machine() -> Machine:
    return machine()


def ours(args: list[str], stdin: bytes = b"", on: Machine | None = None) -> Outcome:
    host = on or shared_machine()
    out, err = Capture(), Capture()
    process = host.host.start(
        ["jq", *args], env=ENV, cwd="/w", streams={0: ByteSource(stdin), 1: out, 2: err}
    )
    host.kernel.run_task(host.kernel.spawn(process.wait(), "jq"))
    return Outcome(process.status, bytes(out.data), bytes(err.data))


def genuine(args: list[str], stdin: bytes = b"") -> Outcome:
    done = run(["jq", *args], stdin=stdin, files=jq_cases.FILES, env=ENV)
    return Outcome(done.status, done.stdout, done.stderr)


def differences(cases: list[jq_cases.Case]) -> list[str]:
    found = []
    for args, stdin in cases:
        here, there = ours(args, stdin), genuine(args, stdin)
        if here != there:
            texts = (str(outcome)[:600] for outcome in (here, there))
            found.append("\n   ".join([f"jq {args} < {stdin[:200]!r}", *texts]))
    return found


def report(found: list[str]) -> str:
    return f"{len(found)} differ\n" + "\n".join(text[:1500] for text in found[:5])


# -- against the genuine one ---------------------------------------------------------------------------------


@pytest.mark.differential("jq")
@pytest.mark.parametrize("section", jq_cases.programs())
def test_programs(section: str) -> None:
    cases = [jq_cases.Case(["-c", program], b"null") for program in jq_cases.programs()[section]]
    found = differences(cases)
    assert found == [], report(found)


@pytest.mark.differential("jq")
def test_programs_over_pods() -> None:
    options = jq_cases.POD_OPTIONS
    cases = [
        jq_cases.Case([*options[place % len(options)], program, "pods.json"])
        for place, program in enumerate(jq_cases.POD_PROGRAMS)
    ]
    cases += [
        jq_cases.Case([program, "-c"], jq_cases.FILES["pods.json"]) for program in jq_cases.POD_PROGRAMS
    ]
    found = differences(cases)
    assert found == [], report(found)


@pytest.mark.differential("jq")
def test_command_lines() -> None:
    found = differences(jq_cases.COMMAND_LINES)
    assert found == [], report(found)


@pytest.mark.differential("jq")
@pytest.mark.parametrize("args", [["-c", "."], ["-c", "-n", "[inputs]"]])
def test_documents(args: list[str]) -> None:
    found = differences([jq_cases.Case(args, document) for document in jq_cases.DOCUMENTS])
    assert found == [], report(found)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**25), 10**25)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
QUIET = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.live("jq")
@QUIET
@given(st.lists(VALUES, min_size=20, max_size=60), st.sampled_from(["-c", "-S", "-a", "--tab", "-C", "-cj"]))
def test_values_are_written_as_the_genuine_one_writes_them(values: list[object], option: str) -> None:
    text = "\n".join(json.dumps(value) for value in values).encode()
    assert ours([option, "."], text) == genuine([option, "."], text)


@pytest.mark.live("jq")
@QUIET
@given(st.lists(VALUES, min_size=5, max_size=30))
def test_values_are_ordered_as_the_genuine_one_orders_them(values: list[object]) -> None:
    text = json.dumps(values).encode()
    program = "sort, unique, group_by(type), (map(tojson) | sort), [.[] as $a | .[:9][] as $b | $a < $b]"
    assert ours(["-c", program], text) == genuine(["-c", program], text)


@pytest.mark.live("jq")
@QUIET
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=50, max_size=100))
def test_numbers_are_worked_with_as_in_the_genuine_one(numbers: list[float]) -> None:
    text = json.dumps(numbers).encode()
    program = "map(., tostring, floor, . * 3, . / 7, -., (. % 10)), add, (map(tojson | fromjson) == .)"
    assert ours(["-c", program], text) == genuine(["-c", program], text)


@pytest.mark.differential("jq")
def test_times_are_written_and_read_as_by_the_genuine_one() -> None:
    draws = random.Random(4)
    seconds = [draws.randrange(-(10**10), 10**11) for _ in range(300)]
    forms = "%Y-%m-%dT%H:%M:%SZ %a %A %b %B %d %e %j %U %W %V %G %g %u %w %y %C %I %p %c"
    program = f'.[] | [gmtime, todate, strftime("{forms}"), (try (todate | fromdate) catch .)]'
    text = json.dumps(seconds).encode()
    assert ours(["-c", program], text) == genuine(["-c", program], text)


SHELL_LINES = [
    "jq . <&-; echo $?",
    "echo 1 | jq . >&-; echo $?",
    "jq . one.json > /dev/full; echo $?",
    "yes '{\"a\":1}' | jq -c .a | head -n 2",
    "jq -r '.items[].metadata.name' pods.json | sort | head -n 1",
    "name=$(jq -r '.items[0].metadata.name' pods.json); echo \"[$name]\"",
    "if jq -e '.items | length > 3' pods.json > /dev/null; then echo many; fi",
    "jq --arg ns prod '[.items[] | select(.metadata.namespace == $ns)] | length' pods.json",
    "echo '{\"a\":{\"b\":2}}' | jq '.a | .b' | xargs echo got",
    "jq -n '$ENV.WHO' ; WHO=me jq -n 'env.WHO'",
    "cat one.json two.json | jq -s -c . ; echo '1 2 x' | jq . ; echo $?",
    "jq '.items[0' pods.json; echo $?",
]


@pytest.mark.differential("jq", "bash")
@pytest.mark.parametrize("line", SHELL_LINES)
def test_lines_in_a_shell(line: str, compare: Callable[..., None]) -> None:
    compare(line, jq_cases.FILES)


# -- whatever is typed ---------------------------------------------------------------------------------------

SOUP = r"""
| , . .. [ ] { } ( ) : ; " \\ $x $__loc__ as def if then else elif end reduce foreach try catch label break and or
not + - * / % = == != < <= |= += // //= ? ?// .a .[] 1 "s" @json foo empty é & # ' :: import include module __loc__ $
@ .e1 1e .5. "\( map( select( limit(2; path( input error range(3) [.[]?] {a:1} recurse first( tojson fromjson
split(",") test("(") ..|numbers
"""
WORDS = SOUP.split()


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(WORDS), max_size=12), st.booleans(), st.binary(max_size=20))
def test_whatever_is_typed_ends_with_a_status(words: list[str], tight: bool, stdin: bytes) -> None:
    program = ("" if tight else " ").join(words).lstrip("-")
    done = ours(["-c", program], stdin, on=small_machine())
    assert done.status in (0, 1, 2, 3, 4, 5, 125)
    assert done.status == 0 or done.stderr or done.status == 4


@cache
def small_machine() -> Machine:
    return machine(SMALL)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=60), st.sampled_from(["-c", "-R", "-s", "-n"]))
def test_whatever_comes_in_ends_with_a_status(stdin: bytes, option: str) -> None:
    program = "[inputs]" if option == "-n" else "."
    assert ours([option, program], stdin).status in (0, 4, 5)


ENDLESS = [
    "def f: f; f",
    "repeat(.)",
    "[range(1e12)]",
    "last(range(1e12))",
    '"a" | def f: . + . | f; f',
    "def f: 1 + f; f",
    "def f: f, 1; f",
    "def f: {a: f}; f",
    "def f: [.] | f; f",
    "def f(x): f(x | x); f(.)",
    '"x" * 1e12',
    "null | .[1e9] = 1",
    'def f: try error("x") catch f; f',
    "until(false; .)",
    "[recurse(. + 1)]",
    'reduce range(1e9) as $i (""; . + "xxxxxxxxxxxxxxxxxxxx")',
    "reduce range(1e9) as $i ([]; . + [$i])",
    "reduce range(60) as $i (1; [., .])",
    "reduce range(60) as $i (1; [., .]) | tojson",
    "reduce range(60) as $i (1; [., .]) | flatten",
    "[reduce range(60) as $i (1; [., .]) | ..]",
    "def d: reduce range(60) as $i (1; [., .]); d == d",
    "try error(reduce range(60) as $i (1; [., .])) catch .",
    "$__loc__ | repeat(.) | debug | empty",
]


@pytest.mark.parametrize("program", ENDLESS)
def test_what_never_ends_is_ended(program: str) -> None:
    first, second = (ours([program], b"1", on=machine(SMALL)) for _ in range(2))
    assert first == second
    assert first.status == 125
    assert first.stderr.splitlines()[-1].startswith(b"jq: limit exceeded: ")


SWELLING = [
    '"a," * 2e7 | split(",")',
    '"a" * 6e7 | @base64',
    '"%" * 3e7 | @uri',
    '["\\"" * 5e7] | @csv',
    '"\\u0001" * 6e7 | tojson',
    '["\\u0001" * 6e7]',
    "[1] | until(false; . + .)",
    "[range(60000)] as $x | [range(6000) | $x + [.]]",
    "([range(1000) | {(tostring): .}] | add) as $o | [range(80000) | {a: ($o + {x: .})}]",
    "([range(1000) | {(tostring): .}] | add) as $o | reduce range(80000) as $i ({}; .[$i | tostring] = $o + {x: $i})",
]


@pytest.mark.parametrize("program", SWELLING)
def test_what_would_fill_the_memory_is_refused_before_it_does(program: str) -> None:
    tracemalloc.start()
    try:
        done = ours(["-n", program])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert done.status == 125
    assert done.stderr.startswith(b"jq: limit exceeded: ")
    assert peak < 150 << 20


@pytest.mark.parametrize(
    "program",
    [
        "reduce range(8000) as $i ([]; . + [$i]) | length",
        "reduce range(8000) as $i ({l: []}; .l += [$i]) | .l | length",
        "reduce range(8000) as $i ({}; .[$i | tostring] += 1) | length",
    ],
)
def test_what_grows_bit_by_bit_does_not_count_as_kept_each_time(program: str) -> None:
    assert ours(["-n", program]).stdout == b"8000\n"


def test_brackets_without_end_are_told_at_once() -> None:
    done = ours(["."], b"[" * 3_000_000)
    assert b"Exceeds depth limit for parsing at line 1, column 257\n" in done.stderr


def test_endless_input_is_ended() -> None:
    done = ours(["-R", "length", "/dev/zero"], on=machine(SMALL))
    assert (done.status, done.stderr) == (
        125,
        b"jq: limit exceeded: more than 4 MiB of data without a pause\n",
    )


def test_deep_recursion_and_deep_values_are_no_trouble() -> None:
    program = "def sum: if . > 0 then . + (. - 1 | sum) else 0 end; 20000 | sum"
    assert ours(["-n", program]).stdout == b"200010000\n"
    program = "reduce range(20000) as $i (1; [.]) | . == . and (tojson | length) == 543"
    assert ours(["-n", program]).stdout == b"true\n"


@pytest.mark.parametrize(
    "program", ["[" * 300 + ".a" + "]" * 300, ".a" * 2000, "if . then " * 200 + "1" + " else 2 end" * 200]
)
def test_a_program_nested_too_deeply_is_refused(program: str) -> None:
    done = ours(["-n", program])
    assert done.status == 3
    assert done.stderr == b"jq: error: the program is nested more than 128 deep\njq: 1 compile error\n"


@pytest.mark.parametrize("joint", [" + .", " , .", " | .", ' + "x"'])
def test_a_long_chain_is_not_deep(joint: str) -> None:
    assert ours(["-n", "[." + joint * 2000 + "] | length"]).status == 0


# -- what only a simulated machine has -----------------------------------------------------------------------


def test_values_are_answered_as_they_arrive() -> None:
    host = machine()
    pipe, out = Pipe(host.kernel), Capture()
    process = host.host.start(["jq", "-c", ".a"], streams={0: pipe.reader, 1: out, 2: Capture()})

    async def feed() -> None:
        await pipe.writer.write(b'{"a":1}\n{"a":\n')

    host.kernel.spawn(feed(), "feed")
    host.kernel.run_for(1)
    assert bytes(out.data) == b"1\n"
    assert process.alive


def test_inputs_are_taken_one_by_one() -> None:
    host = machine()
    pipe, out = Pipe(host.kernel), Capture()
    process = host.host.start(
        ["jq", "-n", "first(inputs | select(. > 1))"], streams={0: pipe.reader, 1: out, 2: Capture()}
    )

    async def feed() -> None:
        await pipe.writer.write(b"1\n2\n")

    host.kernel.spawn(feed(), "feed")
    host.kernel.run_for(1)
    assert bytes(out.data) == b"2\n"
    assert not process.alive


def test_now_is_the_machines_clock() -> None:
    host = machine()
    host.kernel.run_for(100)
    done = ours(["-n", "now"], on=host)
    assert math.isclose(float(done.stdout), host.clock(), abs_tol=1)


def test_the_environment_is_the_process_own() -> None:
    assert ours(["-nr", '$ENV.TZ, env.LC_ALL, ($ENV | has("PYTHONPATH"))']).stdout == b"UTC\nC.UTF-8\nfalse\n"


@pytest.mark.parametrize("program", ['import "a" as a; 1', 'include "a"; 1', 'import "a" as $a; 1'])
def test_there_are_no_modules(program: str) -> None:
    done = ours(["-n", program])
    assert (done.status, done.stderr) == (3, b"jq: error: module not found: a\n\njq: 1 compile error\n")


LATER = [
    ("if true then 1 end", "1"),
    ("if false then 1 end", "null"),
    ("if . == 1 then 1 elif . == null then 2 end", "2"),
    ('{"a":[5]} | .a.[0]', "5"),
    ("1 as $end | $end", None),
    ("[1,2] | reduce .[] as $x ({}; .a += $x).a", "3"),
    ("if true then {a:1} else 2 end.a", "1"),
    ('{"end":1,"and":2} | {end, and}', '{"end":1,"and":2}'),
    ("{$__loc__}", '{"__loc__":{"file":"<top-level>","line":1}}'),
    ('{"a":{"b":1,"c":2},"d":3} | pick(.a.b, .d)', '{"a":{"b":1},"d":3}'),
    ("[-1,2] | map(abs)", "[1,2]"),
    ("[1,[2]] | map(toarray)", "[[1],[2]]"),
    ('" x " | trim, ltrim, rtrim', '"x"\n"x "\n" x"'),
    ("65 | ascii", '"A"'),
    ("[add(1, 2, 3), [skip(1; 1, 2, 3)]]", "[6,[2,3]]"),
    ('"abAB" | [scan("a"; "i")]', '["a","A"]'),
    ('"abc" | gsub(""; "-"), gsub("^"; ">")', '"-a-b-c"\n">abc"'),
    ('1 | debug("x \\(.)")', "1"),
]


@pytest.mark.parametrize(("program", "expected"), LATER)
def test_what_later_versions_brought(program: str, expected: str | None) -> None:
    done = ours(["-nc", program])
    if expected is None:
        assert done.status == 3
    else:
        assert done.stdout.decode() == expected + "\n"
