"""Go templates: bounds, and whatever is typed. What they print is compared in tests/simcloud/kubectl/printing."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings, strategies as st

from simcloud.golang.template import GoTemplate, TemplateError
from tests.simcloud.kubectl.canned import objects

ODD = objects()["widgets.example.com"][0]
PIECES = [
    "{{", "}}", "{{- ", " -}}", "(", ")", "|", ".", "$", "$x", ":=", "=", ",", '"', "`", "'", "\\", " ", "\n", "-",
    "1", "2.5", "1e999", "0x", "range ", "end", "if ", "else", "with ", "define ", "template ", "block ", "break",
    "nil", "true", ".spec", ".metadata.name", ".spec.list", ".zzz", "index ", "len ", "eq ", "lt ", "printf ", "and ",
    "slice ", '"%5d%q%*s"', "html ", "/*", "*/", "é", "{{range .spec.list}}", "{{end}}", "{{.spec.nums}}", '"T"',
]  # fmt: skip


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=16).map("".join), st.booleans())
@settings(max_examples=800, deadline=None)
@example('{{printf "%*d" 99999999999 5}}', True)
@example('{{printf "%.999999999f" 1.5}}', True)
@example("{{range 9223372036854775807}}{{end}}", True)
@example("{{" + "(" * 300, True)
@example("{{index .spec.list nil true}}", True)
def test_any_text_prints_something_or_is_refused(template: str, allow_missing: bool) -> None:
    try:
        assert isinstance(GoTemplate(template, allow_missing=allow_missing).render_object(ODD), str)
    except TemplateError as error:
        assert "template" in str(error)


@given(
    st.sampled_from(
        ["index", "slice", "len", "eq", "lt", "ge", "print", "printf", "html", "js", "exists", "not"]
    ),
    st.lists(
        st.sampled_from(
            [".", "nil", "1", "-1", "1.5", '"a"', '"%s %d"', "true", ".spec.list", ".zzz", ".spec.int"]
        ),
        max_size=4,
    ),
)
@settings(max_examples=400, deadline=None)
def test_functions_take_any_arguments_or_refuse_them(name: str, arguments: list[str]) -> None:
    try:
        GoTemplate("{{" + " ".join([name, *arguments]) + "}}").text(ODD)
    except TemplateError as error:
        assert str(error).startswith("template: output:1:")


def test_a_template_that_calls_itself_comes_to_an_end() -> None:
    with pytest.raises(TemplateError, match="exceeded maximum template depth"):
        GoTemplate('{{define "T"}}{{template "T" .}}{{end}}{{template "T" .}}').text({})


def test_nesting_comes_to_an_end_however_it_is_done() -> None:
    branches = "{{if true}}" * 99 + '{{template "T" .}}' + "{{end}}" * 99
    parentheses = "{{if " + "(" * 98 + "1" + ")" * 98 + '}}{{template "T" .}}{{end}}'
    for body in (branches, parentheses):
        with pytest.raises(TemplateError, match="exceeded maximum template depth"):
            GoTemplate('{{define "T"}}' + body + '{{end}}{{template "T" .}}').text({})


def test_leaving_a_loop_from_within_branches_leaves_nothing_behind() -> None:
    template = "{{range 500}}{{if true}}{{with 1}}{{continue}}{{end}}{{end}}{{end}}{{.a}}"
    assert GoTemplate(template).text({"a": "done"}) == "done"


def test_loops_come_to_an_end() -> None:
    with pytest.raises(TemplateError, match="takes more than"):
        GoTemplate("{{range 1000}}{{range 1000}}{{range 1000}}x{{end}}{{end}}{{end}}").text({})
    with pytest.raises(TemplateError, match="takes more than"):
        GoTemplate("{{range 99999999999}}x{{end}}").text({})


def test_what_is_printed_is_bounded() -> None:
    with pytest.raises(TemplateError, match="prints more than"):
        GoTemplate("{{range 1000}}{{$.x}}{{end}}").text({"x": "y" * 100_000})
    with pytest.raises(TemplateError, match="prints more than"):
        GoTemplate('{{$x := "ab"}}{{range 60}}{{$x = print $x $x}}{{end}}{{$x}}').text({})
