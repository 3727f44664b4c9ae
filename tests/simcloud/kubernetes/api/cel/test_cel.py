"""The Common Expression Language: values, errors in cel-go's words, and bounds on every evaluation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.cel import CelError, CelSyntaxError, compile_expression
from simcloud.kubernetes.api.cel.values import CostExceeded, Maybe, Uint

SELF = {
    "replicas": 3,
    "max": 5,
    "name": "web",
    "ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}],
    "labels": {"app": "web", "a-b": "c"},
    "namespace": "demo",
    "none": None,
}


def value(text: str, **variables: Any) -> Any:
    return compile_expression(text).evaluate({"self": SELF, **variables})


@pytest.mark.parametrize(
    "text",
    [
        "self.replicas <= self.max && size(self.name) == 3",
        "self.ports.all(p, p.port > 0) && self.ports.exists(p, p.name == 'https')",
        "self.ports.exists_one(p, p.port == 80)",
        "self.ports.map(p, p.port) == [80, 443]",
        "self.ports.map(p, p.port > 100, p.name) == ['https']",
        "self.ports.filter(p, p.port < 100).size() == 1",
        "self.labels.all(k, k.startsWith('a'))",
        "'app' in self.labels && !('x' in self.labels) && 80 in self.ports.map(p, p.port)",
        "has(self.name) && !has(self.nothing)",
        "self.labels['a-b'] == 'c' && self.labels.a__dash__b == 'c' && self.__namespace__ == 'demo'",
        "self.none == null && type(self.name) == string && type(1u) == uint",
        "self.?nothing.orValue('x') == 'x' && self.?name.hasValue()",
        "self.labels[?'app'].value() == 'web' && optional.none().or(optional.of(1)).value() == 1",
        "1 == 1.0 && 1u == 1 && 2 > 1.5 && 'b' > 'a' && 1 != '1'",
        "-7 / 2 == -3 && -7 % 2 == -1 && 7 - 2 * 3 == 1 && (7 - 2) * 3 == 15",
        "0x1F == 31 && 1e3 == 1000.0 && .5 + .5 == 1.0",
        "[1, 2] + [3] == [1, 2, 3] && {'a': [1]} == {'a': [1.0]}",
        "self.replicas > 2 ? true : false",
        "'abc'.matches('^a.c$') && matches('abc', 'b') && 'a1b22'.findAll('[0-9]+') == ['1', '22']",
        "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b' && 'abc'.substring(1, 2) == 'b'",
        "'aXa'.replace('a', 'b') == 'bXb' && 'abca'.lastIndexOf('a') == 3 && ' a '.trim() == 'a'",
        "'ABC'.lowerAscii() == 'abc' && 'abc'.charAt(1) == 'b' && '%s-%d'.format(['a', 1]) == 'a-1'",
        "[1, 2, 2].isSorted() && [1, 2, 3].sum() == 6 && [3, 1].min() == 1 && [3, 1].indexOf(1) == 1",
        "int('7') == 7 && string(7) == '7' && double(1) == 1.0 && bool('true') && int(1.9) == 1",
        "duration('1h30m') > duration('60m') && duration('90s').getMinutes() == 1",
        "timestamp('2026-01-01T00:00:00Z') + duration('24h') == timestamp('2026-01-02T00:00:00Z')",
        "timestamp('2026-03-04T05:06:07Z').getHours() == 5",
        "quantity('1Gi').isGreaterThan(quantity('500Mi')) && isQuantity('5m') && !isQuantity('x')",
        "false && 1 / 0 > 0 || true",
        "[0, 1].exists(x, 1 / x > 0)",
        "!(1 / 0 > 0 && false)",
        r"'\u0041\n' == '''A''' + '\n' && r'\n' == '\\n' && b'a' == bytes('a')",
        "// a comment\ntrue",
    ],
)
def test_what_holds(text: str) -> None:
    assert value(text) is True


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("self.nothing", "no such key: nothing"),
        ("self.labels['x']", "no such key: x"),
        ("self.ports[2]", "index out of bounds: 2"),
        ("unknown", "no such attribute(s): unknown"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "modulus by zero"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("0u - 1u", "unsigned integer overflow"),
        ("'a' + 1", "no such overload"),
        ("!1", "no such overload"),
        ("self.name.foo()", "no such overload"),
        ("[0, 1].all(x, 1 / x > 0)", "division by zero"),
        ("optional.none().value()", "optional.none() dereference"),
    ],
)
def test_what_cannot_be_evaluated(text: str, sentence: str) -> None:
    with pytest.raises(CelError) as caught:
        value(text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "(1",
        "a b",
        "'open",
        "1 ? 2",
        "has(1)",
        "[1].all(1, true)",
        "9223372036854775808",
        "#",
        r"'\q'",
    ],
)
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(CelSyntaxError):
        compile_expression(text)


def test_an_optional_old_value() -> None:
    assert value("oldSelf.orValue(0) < self.replicas", oldSelf=Maybe()) is True
    assert value("oldSelf.orValue(0) < self.replicas", oldSelf=Maybe((9,))) is False


def test_numbers_keep_their_type() -> None:
    assert type(value("1u + 2u")) is Uint
    assert value("-9223372036854775808") == -(2**63)
    assert value("1.0 / 0.0") == float("inf")


@pytest.mark.parametrize(
    "text",
    [
        "self.l.all(a, self.l.all(b, self.l.all(c, self.l.all(d, true))))",
        "self.l.map(a, self.s).join('')",
        "self.s.replace('', self.s) == ''",
    ],
)
def test_every_evaluation_is_bounded(text: str) -> None:
    with pytest.raises(CostExceeded, match="operation cancelled: actual cost limit exceeded"):
        compile_expression(text).evaluate({"self": {"l": list(range(1000)), "s": "x" * 10_000}})


@pytest.mark.parametrize(
    "text",
    [
        "(" * 500,
        "[" * 500,
        "-" * 5000 + "x",
        "!" * 5000,
        "a." * 5000 + "a",
        "1" + "+1" * 5000,
        "(" * 40 + "1" + ("+1" * 40 + ")") * 40,
    ],
)
def test_deep_expressions_are_refused_not_crashed_on(text: str) -> None:
    try:
        compile_expression(text).evaluate({})
    except CelError:
        pass


def test_long_conditions_are_no_deep_ones() -> None:
    assert compile_expression(" && ".join(["true"] * 2000)).evaluate({}) is True


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                "self",
                ".",
                "x",
                "(",
                ")",
                "[",
                "]",
                "{",
                "}",
                "1",
                "'a'",
                "+",
                "-",
                "*",
                "/",
                "%",
                "==",
                "<",
                "&&",
                "||",
                "!",
                "?",
                ":",
                ",",
                "in",
                "all",
                "exists",
                "size",
                "true",
                "null",
                "1.5",
                "b'x'",
                "has",
                "map",
                "optional",
            ]
        ),
        max_size=12,
    ).map(" ".join)
)
def test_any_text_evaluates_or_fails_as_an_expression(text: str) -> None:
    try:
        compile_expression(text).evaluate({"self": SELF, "x": [1, "a"]})
    except CelError:
        pass
