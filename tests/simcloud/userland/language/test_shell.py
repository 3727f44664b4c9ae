"""What our shell does beside being bash: names, limits, ways to be called."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.simcloud.conftest import Shell, make_machine, type_line


@pytest.mark.parametrize(
    ("shell_name", "message"),
    [("bash", b"bash: line 1: nosuch: command not found\n"), ("sh", b"sh: 1: nosuch: not found\n")],
)
def test_a_missing_command_is_told_in_the_shells_own_way(shell_name: str, message: bytes) -> None:
    done = type_line(make_machine(), "nosuch; echo $?", shell=shell_name)
    assert (done.stdout, done.stderr) == (b"127\n", message)


def test_a_script_is_named_in_its_errors(shell: Shell) -> None:
    done = shell("printf 'echo a\\nnosuch\\n' > script.sh; bash script.sh")
    assert done.stderr == b"script.sh: line 2: nosuch: command not found\n"


def test_commands_on_stdin_can_read_what_follows_them() -> None:
    done = type_line(make_machine(), "bash", stdin=b"read x\nvalue\necho got $x\ncat\nrest\n")
    assert done.stdout == b"got value\nrest\n"


def test_nothing_of_a_subshell_comes_back(shell: Shell) -> None:
    done = shell(
        "x=1; f() { echo old; }; (x=2; cd /; f() { echo new; }; set -f; shopt -s extglob); echo $x; f; pwd; echo $-"
    )
    assert done.stdout == b"1\nold\n/w\nhBc\n"


def test_an_exported_function_reaches_a_child_shell(shell: Shell) -> None:
    done = shell(
        "greet() { local who=${1:-you}; echo \"hello $who\"; }; export -f greet; bash -c 'greet world'"
    )
    assert done.stdout == b"hello world\n"


def test_the_last_command_takes_the_process_over(shell: Shell) -> None:
    done = shell("bash -c 'sleep 5' & sleep 1; ps -o args= -p $!")
    assert done.stdout.strip() == b"sleep 5"


def test_what_a_subshell_knew_goes_with_it(shell: Shell) -> None:
    tracemalloc.start()
    try:
        done = shell("printf -v x %100000d 1; for i in {1..200}; do x+=$(echo 1); done; echo ${#x}")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert done.stdout == b"100200\n"
    assert peak < 10 << 20


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("echo . ./s > s; . ./s", b"./s: line 1: .: maximum source nesting level exceeded (1000)\n"),
        ("echo {1..100000000}", b"bash: limit exceeded: more than 100000 words from one brace expansion\n"),
        (
            "echo " + "$(" * 100 + ")" * 100,
            b"bash: -c: line 1: limit exceeded: nested deeper than 60 levels\n",
        ),
        ("( " * 3000, b"bash: -c: line 1: limit exceeded: nested deeper than 60 levels\n"),
        (
            "a=x; while :; do a=$a$a; done",
            b"bash: limit exceeded: more than 64 MiB of data without a pause\n",
        ),
        ("printf %1000000000d 1", b"bash: limit exceeded: more than 64 MiB of data without a pause\n"),
        (
            "x=$(yes | head -n 600000); set -- $x",
            b"bash: limit exceeded: more than 500000 words from one expansion\n",
        ),
        (
            "while :; do x+=$(printf %20000d 1); done",
            b"bash: limit exceeded: more than 200000 steps without a pause\n",
        ),
        ("while :; do :; done", b"bash: limit exceeded: more than 200000 steps without a pause\n"),
        ("read x < /dev/zero", b"bash: limit exceeded: more than 64 MiB of data without a pause\n"),
        (
            "printf -v x %3000000d 1; y=${x// /aa}",
            b"bash: limit exceeded: more than 64 MiB of data without a pause\n",
        ),
        (
            "echo " + "/proc/*/root" * 20 + "/*",
            b"bash: limit exceeded: more than 200000 steps without a pause\n",
        ),
        ('x=\'eval "$x"\'; eval "$x"', b"bash: limit exceeded: commands nested deeper than 10000 levels\n"),
    ],
)
def test_everything_ends_by_a_count_with_the_same_message(line: str, message: bytes) -> None:
    for _ in range(2):
        done = type_line(make_machine(), line)
        assert done.stderr == message
        assert done.status != 0


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 3000 + "1" + ")" * 3000,
        "-" * 5000 + "1",
        "1?1:" * 3000 + "1",
        "x=" * 3000 + "1",
        "1**" * 3000 + "1",
    ],
)
def test_a_deep_expression_is_refused_not_a_crash(expression: str, shell: Shell) -> None:
    done = shell(f"echo $(({expression})); echo same")
    assert done.stdout == b""
    assert b"expression recursion level exceeded" in done.stderr


def test_patterns_cannot_be_made_to_run_for_ever(shell: Shell) -> None:
    done = shell(
        "shopt -s extglob\nx=$(printf 'a%.0s' {1..3000}); [[ $x == *(a|a*)*(a|*a)b ]]; echo $?; "
        "[[ $x == *a*a*a*a*a*a*a*a*a*b ]]; echo $?; [[ ${x}b =~ ^(a|aa)+$ ]]; echo $?; echo ${#x} ${x//+(a|aa)/b}"
    )
    assert done.stdout == b"1\n1\n1\n3000 b\n"


def test_bytes_that_are_no_text_survive(shell: Shell) -> None:
    done = shell(
        "x=$(printf '\\xff\\xfe%s' é); printf '%s' \"$x\"; for c in \"$x\"; do printf '%s' \"$c\"; done"
    )
    assert done.stdout == b"\xff\xfe\xc3\xa9" * 2


def test_a_function_prints_as_bash_would_print_it(shell: Shell) -> None:
    line = (
        "f() { if a; then b|c; else for i in 1 2; do d & done; fi; case $x in y|z) e;; esac; }; declare -f f"
    )
    again = shell(f'eval "$({line})"; declare -f f')
    assert shell(line).stdout == again.stdout
    assert again.stdout.startswith(b"f () \n{ \n    if a; then\n        b | c;\n    else\n")


def test_a_double_is_printed_in_its_shortest_hexadecimal_form(shell: Shell) -> None:
    assert shell("printf '%a %a %A' 1.5 1024 0").stdout == b"0x1.8p+0 0x1p+10 0X0P+0"
