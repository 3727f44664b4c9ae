"""Arithmetic against the real bash, and its laws."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.userland.bash.arithmetic import ArithmeticError_, evaluate, wrap
from simcloud.userland.bash.state import State

NUMBERS = st.one_of(
    st.integers(-20, 20).map(str),
    st.integers(-(2**63), 2**63 - 1).map(lambda value: f"({value})" if value < 0 else str(value)),
    st.sampled_from(["0x1f", "017", "2#101", "16#ff", "36#z", "x", "y", "unset", "x++", "--y"]),
)
OPERATORS = "+ - * / % << >> < > <= >= == != & | ^ && || ** ,"
BINARY = st.sampled_from(OPERATORS.split())


def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, BINARY, inner).map(lambda parts: f"{parts[0]} {parts[1]} {parts[2]}"),
        st.tuples(st.sampled_from("-~!+"), inner).map(lambda parts: f"{parts[0]} {parts[1]}"),
        inner.map(lambda text: f"({text})"),
        st.tuples(inner, inner, inner).map(lambda parts: f"{parts[0]} ? {parts[1]} : {parts[2]}"),
        st.tuples(st.sampled_from(["x = ", "y += ", "x *= ", "y <<= "]), inner).map(
            lambda parts: f"({parts[0]}{parts[1]})"
        ),
    )


EXPRESSIONS = st.recursive(NUMBERS, grow, max_leaves=8)


def ours(expression: str) -> str:
    state = State()
    state.assign("x", "7")
    state.assign("y", "-3")
    try:
        return f"{evaluate(expression, state)} {state.get('x')} {state.get('y')}"
    except ArithmeticError_ as error:
        return str(error)


def real(expressions: list[str]) -> list[str]:
    script = (
        'while IFS= read -r -d "" e; do x=7 y=-3; r=$( (eval "echo \\$(($e)) \\$x \\$y") 2>&1 ); '
        'printf "%s\\n" "$r"; done'
    )
    data = "".join(f"{expression}\0" for expression in expressions).encode()
    done = subprocess.run(
        ["bash", "-c", script],
        input=data,
        capture_output=True,
        check=True,
        env={"LC_ALL": "C", "PATH": "/bin"},
    )
    return [line.removeprefix("bash: line 1: ") for line in done.stdout.decode().split("\n")[:-1]]


@pytest.mark.live("bash")
@settings(max_examples=60)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=25))
def test_as_in_bash(expressions: list[str]) -> None:
    assert [ours(expression) for expression in expressions] == real(expressions)


@given(st.integers(), st.integers())
def test_sums_wrap_at_64_bits(left: int, right: int) -> None:
    left, right = wrap(left), wrap(right)
    assert evaluate(f"({left}) + ({right})", State()) == wrap(left + right)
    assert evaluate(f"({left}) * ({right})", State()) == wrap(left * right)
    assert -(2**63) <= wrap(left - right) < 2**63


@given(st.integers(-(2**62), 2**62), st.integers(-1000, 1000).filter(bool))
def test_quotient_and_remainder_make_the_number_again(number: int, divisor: int) -> None:
    assert evaluate(f"({number}) / ({divisor}) * ({divisor}) + ({number}) % ({divisor})", State()) == number


def test_a_variable_may_hold_an_expression_but_not_itself() -> None:
    state = State()
    state.assign("a", "b * 2")
    state.assign("b", "21")
    assert evaluate("a", state) == 42
    state.assign("b", "a")
    with pytest.raises(ArithmeticError_, match="recursion level exceeded"):
        evaluate("a", state)
