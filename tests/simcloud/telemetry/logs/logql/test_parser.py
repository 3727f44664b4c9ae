"""What Loki refuses, in its own words; the words are those that Loki 3 answered."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.telemetry.logs.logql import LogqlError, parse, parse_matchers

TOO_WIDE = (
    "parse error : queries require at least one regexp or equality matcher that does not have an empty-compatible "
    'value. For instance, app=~".*" does not meet this requirement, but app=~".+" will'
)

REFUSED = {
    "": "parse error : syntax error: unexpected $end",
    'unk({ foo = "bar" }[5m])': "parse error at line 1, col 1: syntax error: unexpected IDENTIFIER",
    'min({ foo = "bar" }[5m])': "parse error at line 0, col 20: syntax error: unexpected RANGE",
    'stddev({ foo = "bar" })': "parse error at line 1, col 23: syntax error: unexpected )",
    'rate({ foo = "bar" }[5minutes])': 'parse error at line 0, col 21: not a valid duration string: "5minutes"',
    'rate({ foo = "bar" }[5)': "parse error at line 0, col 21: missing closing ']' in duration",
    'bottomk(he,count_over_time({ foo = "bar" }[5h]))': "parse error at line 1, col 9: syntax error: unexpected IDENTIFIER",
    'bottomk(1.2,count_over_time({ foo = "bar" }[5h]))': "parse error : invalid parameter bottomk(1.2,",
    'topk(0, count_over_time({app="a"}[5m]))': "parse error : invalid parameter (must be greater than 0) topk(0",
    'topk(count_over_time({ foo = "bar" }[5h]))': "parse error : parameter required for operation topk",
    'sum(3 ,count_over_time({ foo = "bar" }[5h]))': "parse error : unsupported parameter for operation sum(3,",
    'absent_over_time({ foo = "bar" }[5h]) by (foo)': "parse error : grouping not allowed for absent_over_time aggregation",
    'max_over_time(sum(rate({app="a"}[1m]))[30m:5m])': "parse error at line 1, col 15: syntax error: unexpected SUM, expecting NUMBER or { or (",
    'quantile_over_time(0.5, rate({app="a"}[1m]))': "parse error at line 1, col 25: syntax error: unexpected RATE, expecting { or (",
    "sum_over_time(vector(1))": "parse error at line 1, col 15: syntax error: unexpected VECTOR, expecting NUMBER or { or (",
    'max_over_time(label_replace(rate({app="a"}[1m]),"a","b","c","d"))': "parse error at line 1, col 15: syntax error: unexpected label_replace, expecting NUMBER or { or (",
    'label_replace(rate({ foo = "bar" }[5m]),"")': "parse error at line 1, col 43: syntax error: unexpected ), expecting ,",
    'sum_over_time({app="foo"} |= "bar" | json [5m])': "parse error : invalid aggregation sum_over_time without unwrap",
    'count_over_time({app="foo"} | json | unwrap foo [5m])': "parse error : invalid aggregation count_over_time with unwrap",
    '{ foo = "bar" }|logfmt|addr>=ip("1.2.3.4")': "parse error at line 1, col 30: syntax error: unexpected ip, expecting BYTES or NUMBER or DURATION",
    '{app="a"} | label_format x="a", x="b"': "parse error : stage '| label_format x=\"a\",x=\"b\"' : multiple label name 'x' not allowed in a single format operation",
    '{app="a"} | label_format x="a",': "parse error at line 1, col 32: syntax error: unexpected $end, expecting IDENTIFIER",
    '{app="a"} | label_format x': "parse error at line 1, col 27: syntax error: unexpected $end, expecting =",
    '{app="a"} | json foo=': "parse error at line 1, col 22: syntax error: unexpected $end, expecting STRING",
    '{app="a"} | line_format "{{ .pod"': "parse error : stage '| line_format \"{{ .pod\"' : invalid line template: template: line:1: unclosed action",
    '{app="a"} | line_format "{{ nofunc .pod }}"': 'parse error : stage \'| line_format "{{ nofunc .pod }}"\' : invalid line template: template: line:1: function "nofunc" not defined',
    '{app="a"} | regexp "(["': "parse error : invalid regexp parser: error parsing regexp: missing closing ]: `[`",
    '{app="a"} | regexp "(x)"': "parse error : invalid regexp parser: at least one named capture must be supplied",
    '{app="a"} | pattern "<_> x"': "parse error : invalid pattern parser: at least one capture is required",
    '{app="a"} | pattern "<a> <a>"': "parse error : invalid pattern parser: duplicate capture name (a): invalid expression",
    '{app="a"} | pattern "<a><b>"': "parse error : invalid pattern parser: found consecutive capture '<a><b>': invalid expression",
    '{app="a"} |~ "a("': "parse error : error parsing regexp: missing closing ): `a(`",
    "{}": TOO_WIDE,
    '{app=~".*"}': TOO_WIDE,
    '{app!="x"}': TOO_WIDE,
    'vector(1) + count_over_time({app=~".*"}[5m])': TOO_WIDE,
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_loki_refuses_is_refused_in_its_words(query: str) -> None:
    with pytest.raises(LogqlError) as caught:
        parse(query)
    assert str(caught.value).startswith(REFUSED[query])


@pytest.mark.parametrize(
    "query",
    [
        '{app=~".+"}',
        '{app="", pod="a"}',
        '{app=~"", pod!=""}',
        '{ foo = "bar" }|logfmt|rate="a"',
        '{app="a"} |= "x" or "y" != `z` |~ "[a-z]+" # why',
        '{app="a"} | json | (status >= 500 or method!="GET") and latency > 1.5s, size < 2KiB',
        '{app="a"} | json foo="a.b[0]", bar | line_format "{{.foo}} {{ __line__ | ToUpper }}"',
        '{app="a"} | logfmt --strict --keep-empty | drop level, x="y" | keep app',
        'count_over_time(({app="a"} |= "x")[5m])',
        'count_over_time({app="a"}[12h] |= "error")',
        'sum by (pod) (rate({app="a"} |= `e` [1m] offset 5m)) / on(pod) group_left sum(rate({app="a"}[1m])) * 100 > bool 3',
        'quantile_over_time(0.99, {app="a"} | json | unwrap duration(latency) | __error__="" [1m]) by (path)',
        'topk(3, sum(count_over_time({app="a"}[1m])) by (pod))',
        "vector(1)+vector(1)",
    ],
)
def test_what_loki_takes_is_taken(query: str) -> None:
    parse(query)


def test_a_selector_alone() -> None:
    assert [str(matcher) for matcher in parse_matchers('{a="b", c!~"d"}')] == ['a="b"', 'c!~"d"']
    with pytest.raises(LogqlError, match="only label matchers are supported"):
        parse_matchers('{app="a"} |= "foo"')


@pytest.mark.parametrize(
    "query",
    [
        "topk(" + "9" * 5000 + ', rate({a="b"}[1m])',
        '{a="b"} | json x="a[' + "9" * 5000 + ']"',
        '{a="b"} | line_format "' + "{{" * 50_000 + '"',
        "sum " * 30_000,
        "(" * 130_000,
        "1" + "+1" * 5000,
        "2" + "^2" * 200,
        '{a="b"} | ' + 'a="b" or ' * 3000 + 'a="b"',
        "{" * 999,
    ],
    ids=range(9),
)
def test_a_query_that_is_too_deep_is_refused(query: str) -> None:
    with pytest.raises(LogqlError):
        parse(query)


def test_a_query_that_is_too_long_is_refused() -> None:
    with pytest.raises(LogqlError, match=r"input size too long \(131080 > 131072\)"):
        parse('{app="' + "x" * 131_072 + '"}')


PIECES = [
    *(
        '{app="a"}',
        "{",
        "}",
        "(",
        ")",
        "[5m]",
        "[",
        "]",
        "|",
        "|=",
        "!=",
        "|~",
        "!~",
        "=~",
        "=",
        "==",
        ">",
        "<=",
        ",",
        "+",
        "-",
    ),
    *(
        '"x"',
        '"("',
        "`<a> <b>`",
        "'",
        "5",
        "1.5",
        "1.2.3",
        "3s",
        "2KiB",
        "9e",
        ".",
        "#",
        "\n",
        "é",
        "--strict",
        "^",
        "or",
        "and",
    ),
    *(
        "json",
        "logfmt",
        "pattern",
        "regexp",
        "line_format",
        "label_format",
        "unwrap",
        "drop",
        "keep",
        "by",
        "on",
        "offset",
    ),
    *(
        "sum",
        "rate",
        "count_over_time",
        "topk",
        "quantile_over_time",
        "vector",
        "label_replace",
        "duration",
        "ip",
        "app",
        "bool",
    ),
]


@settings(max_examples=600)
@given(st.lists(st.sampled_from(PIECES), max_size=14), st.booleans())
def test_whatever_is_written_is_read_or_refused(pieces: list[str], selected: bool) -> None:
    query = ('{app="a"} ' if selected else "") + " ".join(pieces)
    try:
        parse(query)
    except LogqlError as refused:
        assert str(refused).startswith("parse error ")
