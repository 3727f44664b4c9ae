"""Hostile charts end in a sentence: nothing they do takes the world down or runs without end."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from simcloud.helm.functions import library_functions
from tests.simcloud.helm.rendering import Bench, bench


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    yield bench(tmp_path_factory.mktemp("charts"))


BOMBS = (
    '{{ include "facts.loop" . }}',
    '{{ define "deep" }}{{ tpl "{{ include \\"deep\\" . }}" . }}{{ end }}{{ include "deep" . }}',
    '{{ define "t" }}{{ template "t" . }}{{ end }}{{ template "t" . }}',
    "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}",
    "{{ range $i := until 900000 }}{{ $i }}{{ end }}",
    "{{ until 10000000000 }}",
    '{{ repeat 1000000000 "x" }}',
    '{{ indent 1000000000 "x" }}',
    '{{ $x := "xxxxxxxxxx" }}{{ range until 100 }}{{ $x = print $x $x }}{{ end }}{{ $x }}',
    "{{ $x := list 1 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}{{ len $x }}",
    '{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ toYaml $x }}',
    '{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ $x }}',
    '{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ deepCopy $x }}',
    '{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ merge (dict) $x $x }}{{ deepEqual $x $x }}',
    '{{ regexMatch "(a*)*b" (repeat 5000 "a") }}',
    '{{ regexReplaceAll "" (repeat 100000 "a") (repeat 10000 "b") }}',
    '{{ replace "" (repeat 10000 "b") (repeat 100000 "a") }}',
    "{{ randAlphaNum 1000000000 }}",
    '{{ printf "%1000000000d" 1 }}',
    '{{ fromYaml (repeat 3000 "[") }}',
    '{{ fromJson (repeat 100000 "[") }}',
    '{{ fromYaml "a: &a [x,x,x,x,x,x,x,x,x]\\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\\nd: &d [*c,*c,*c,*c,*c,*c,*c]\\ne: &e [*d,*d,*d,*d,*d,*d,*d]\\nf: &f [*e,*e,*e,*e,*e,*e]\\ng: [*f,*f,*f,*f,*f]" }}',
    '{{ fromYaml "a: &a\\n  b: *a" }}',
    "{{ int 1e300 }} {{ div 1 0.1 }}",
    '{{ date "2006" 99999999999999999 }} {{ dateModify "9999999h" now }}',
    '{{ (.Files.Glob "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b") }} {{ .Files.Glob "[" }} {{ .Files.Glob "{a" }}',
    '{{ "\\xff" | toYaml }} {{ "\\xff" | b64enc }} {{ "\\xff" | sha256sum }} {{ toJson "\\xff" }} {{ upper "\\xff" }}',
    '{{ semverCompare (repeat 1000 ">=1 ") "1.2.3" }} {{ semver (repeat 5000 "1") }}',
)


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("template", BOMBS)
def test_bombs_do_not_go_off(machine: Bench, template: str) -> None:
    machine.put("facts/templates/zz.yaml", f"value: |\n  {template}\n")
    assert machine.ours("template r facts | head -c 100").exit == 0


NAMES = sorted(library_functions(0.0, Random(1)))
ARGUMENTS = (
    ".Values.m", ".Values.l", ".Values.num", ".Values.nul", ".Values.missing", '"text"', '""', "3", "-1", "1.5", "nil",
    "true", "(list)", "(dict)", '(list 1 "a" nil)', '(dict "a" (list 1))', "now", "(until 3)", ".Files", ".Chart",
    ".Capabilities", '(semver "1.2.3")', ".", "$", '"\\xff"', '"2006-01-02"', '"(" ', "99999999999", '(splitList "," "a,b")',
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=1200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_function_takes_any_arguments(machine: Bench, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    given = data.draw(st.lists(st.sampled_from(ARGUMENTS), max_size=4))
    call = " ".join([name, *given])
    machine.put("facts/templates/zz.yaml", f"value: {{{{ ({call}) | toJson }}}}{{{{ {call} }}}}\n")
    assert machine.ours("template r facts -s templates/zz.yaml").exit in (0, 1)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.text(alphabet="{}-.$|()\" \n\tabif0=:,/*`'[]", max_size=40),
    st.text(alphabet="a.b[]={},\\0-1 ", max_size=20),
)
def test_any_text_is_a_template_or_none(machine: Bench, text: str, said: str) -> None:
    machine.put("facts/templates/zz.yaml", "{{ " + text + " }}")
    quoted = said.replace("'", "")
    assert machine.ours(f"template r facts --set '{quoted}' -s templates/zz.yaml").exit in (0, 1)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["Chart.yaml", "values.yaml", "values.schema.json", "templates/zz.yaml"]),
    st.binary(max_size=60),
)
def test_any_bytes_may_stand_in_a_chart(machine: Bench, name: str, content: bytes) -> None:
    files = machine.terminal.machine.host.files
    machine.put("odd/Chart.yaml", "apiVersion: v2\nname: odd\nversion: 0.1.0\n")
    for other in ("values.yaml", "values.schema.json", "templates/zz.yaml"):
        machine.put(f"odd/{other}", "")
    files.put(f"/root/work/odd/{name}", content)
    assert machine.ours("template r odd").exit in (0, 1)
    assert machine.ours("lint odd").exit in (0, 1)
