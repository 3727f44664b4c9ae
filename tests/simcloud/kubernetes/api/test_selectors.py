"""Label and field selectors: what they match, how they print, and what a server says of nonsense."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import ApiError, BadRequest
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.selectors import (
    FieldSelector,
    FieldTerm,
    LabelSelector,
    Requirement,
    from_label_selector,
    from_set,
    parse_fields,
    parse_labels,
)

CATALOGUE = Catalogue()
PODS = CATALOGUE.find("pods")


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("app=web", {"app": "web"}, True),
        ("app==web", {"app": "api"}, False),
        ("app!=web", {}, True),
        ("app!=web", {"app": "web"}, False),
        ("app in (web,api),tier!=x", {"app": "api"}, True),
        ("app in (web,api),tier!=x", {"app": "api", "tier": "x"}, False),
        ("app notin (web)", {}, True),
        ("app", {"app": ""}, True),
        ("app", {}, False),
        ("!app", {}, True),
        ("!app", {"app": ""}, False),
        ("app=", {"app": ""}, True),
        ("n>5", {"n": "6"}, True),
        ("n>5", {"n": "5"}, False),
        ("n<5", {"n": "-1"}, True),
        ("n<5", {"n": "many"}, False),
        ("n<5", {}, False),
        ("in in (notin)", {"in": "notin"}, True),
        ("", {}, True),
        ("x in (foo,,baz)", {"x": ""}, True),
    ],
)
def test_labels_match(text: str, labels: dict[str, str], expected: bool) -> None:
    assert parse_labels(text).matches(labels) is expected


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("tier!=x, app in (web,api)", "app in (api,web),tier!=x"),
        ("x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"),
        ("!b ,a==1", "a==1,!b"),
        ("a in (,)", "a in ()"),
        ("a > 1", "a>1"),
    ],
)
def test_labels_print(text: str, printed: str) -> None:
    assert str(parse_labels(text)) == printed


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("=", "found '=', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"),
        ("a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("a in (,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("a=(", "unable to parse requirement: found '(', expected: identifier"),
        (
            "a>x",
            'unable to parse requirement: values[0]: Invalid value: "x": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
        (
            "-x=1",
            'unable to parse requirement: <nil>: Invalid value: "-x": name part must consist of alphanumeric '
            "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  "
            "or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ),
        (
            "a=..",
            'unable to parse requirement: values[0][a]: Invalid value: "..": a valid label must be an empty string '
            "or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
            "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        ),
    ],
)
def test_labels_that_cannot_be_read(text: str, told: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_labels(text)
    assert caught.value.message == told


def test_label_selector_objects() -> None:
    assert not from_label_selector(None).matches({"app": "web"})
    assert from_label_selector({}).matches({"app": "web"})
    selector = from_label_selector(
        {
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["b", "a"]},
                {"key": "old", "operator": "DoesNotExist"},
            ],
        }
    )
    assert str(selector) == "app=web,!old,tier in (a,b)"
    assert selector.matches({"app": "web", "tier": "a"})
    assert not selector.matches({"app": "web", "tier": "a", "old": ""})
    with pytest.raises(BadRequest, match='"Like" is not a valid label selector operator'):
        from_label_selector({"matchExpressions": [{"key": "a", "operator": "Like"}]})
    with pytest.raises(BadRequest, match="values set can't be empty"):
        from_label_selector({"matchExpressions": [{"key": "a", "operator": "In"}]})
    assert str(from_set({"b": "2", "a": "1"})) == "a=1,b=2"


names = st.from_regex(r"[a-z]([a-z0-9.-]{0,8}[a-z0-9])?", fullmatch=True)
requirements = st.one_of(
    st.builds(Requirement, names, st.sampled_from(["exists", "!"])),
    st.builds(Requirement, names, st.sampled_from(["=", "==", "!="]), st.tuples(names | st.just(""))),
    st.builds(
        Requirement, names, st.sampled_from([">", "<"]), st.integers(-9, 9).map(lambda n: (str(abs(n)),))
    ),
    st.builds(
        Requirement,
        names,
        st.sampled_from(["in", "notin"]),
        st.sets(names, min_size=1, max_size=3).map(lambda found: tuple(sorted(found))),
    ),
)


@given(st.lists(requirements, max_size=4))
def test_labels_survive_printing_and_parsing(chosen: list[Requirement]) -> None:
    selector = LabelSelector(tuple(sorted(chosen, key=lambda one: one.key)))
    assert parse_labels(str(selector)) == selector


@given(st.text() | st.text("ab!=(),<> \t\0\\in", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_labels, parse_fields):
        try:
            selector = parse(text)
        except ApiError as error:
            assert error.code == 400
        else:
            assert parse(str(selector)) == selector


@given(st.dictionaries(st.sampled_from(["a.b", "c", "d.e.f"]), st.tuples(st.text(), st.booleans())))
def test_fields_survive_printing_and_parsing(chosen: dict[str, tuple[str, bool]]) -> None:
    terms = tuple(FieldTerm(field, value, negated) for field, (value, negated) in sorted(chosen.items()))
    assert parse_fields(str(FieldSelector(terms))) == FieldSelector(terms)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("b=1,a", "invalid selector: 'b=1,a'; can't understand 'a'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ("a=b\\x", "invalid field selector: invalid escape sequence: \\x"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_fields_that_cannot_be_read(text: str, told: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_fields(text)
    assert caught.value.message == told


POD = {
    "metadata": {"name": "web-1", "namespace": "demo"},
    "spec": {"nodeName": "worker", "restartPolicy": "Always"},
    "status": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("status.phase=Running", True),
        ("status.phase!=Running", False),
        ("spec.nodeName=worker,metadata.namespace=demo", True),
        ("spec.host=worker", True),
        ("spec.hostNetwork=false", True),
        ("status.podIP=10.0.0.1", True),
        ("status.nominatedNodeName=", True),
        ("metadata.name=web-2", False),
    ],
)
def test_fields_of_pods(text: str, expected: bool) -> None:
    selector = parse_fields(text)
    selector.check(PODS)
    assert selector.matches(POD, PODS) is expected


def test_exact_field() -> None:
    assert parse_fields("metadata.name=a,status.phase!=Failed").exact("metadata.name") == "a"
    assert parse_fields("metadata.name!=a").exact("metadata.name") is None


def test_fields_of_other_kinds() -> None:
    node = {"metadata": {"name": "n"}, "spec": {"unschedulable": True}}
    assert parse_fields("spec.unschedulable=true").matches(node, CATALOGUE.find("nodes"))
    event = {
        "involvedObject": {"kind": "Pod", "name": "x"},
        "reportingComponent": "kubelet",
        "type": "Warning",
    }
    events = CATALOGUE.find("events")
    assert parse_fields("involvedObject.kind=Pod,source=kubelet,type!=Normal").matches(event, events)
    newer = CATALOGUE.find("events", "events.k8s.io")
    assert parse_fields("regarding.name=x,reportingController=kubelet").matches(event, newer)
    job = {"status": {"succeeded": 2}}
    assert parse_fields("status.successful=2").matches(job, CATALOGUE.find("jobs", "batch"))
    assert parse_fields("status.successful=0").matches({}, CATALOGUE.find("jobs", "batch"))


@pytest.mark.parametrize(
    ("plural", "group", "told"),
    [
        ("pods", "", "field label not supported: spec.foo"),
        ("jobs", "batch", 'field label "spec.foo" not supported for Job'),
        (
            "deployments",
            "apps",
            '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        (
            "resourceslices",
            "resource.k8s.io",
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.foo",
        ),
    ],
)
def test_fields_that_cannot_be_selected_by(plural: str, group: str, told: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_fields("spec.foo=x").check(CATALOGUE.find(plural, group))
    assert caught.value.message == told


def test_replicas_of_replica_sets_cannot_be_selected_by() -> None:
    """The documentation lists this field; servers refuse it all the same."""
    with pytest.raises(BadRequest, match=r'"status\.replicas" is not a known field selector'):
        parse_fields("status.replicas=0").check(CATALOGUE.find("replicasets", "apps"))


def test_fields_of_custom_resources() -> None:
    definition = {
        "spec": {"versions": [{"name": "v1", "selectableFields": [{"jsonPath": ".spec.color"}]}]},
    }
    shirts = Resource(
        "stable.example.com", "v1", "shirts", "shirt", "Shirt", True, ("list",), custom=definition
    )
    selector = parse_fields("spec.color=blue,metadata.namespace=demo")
    selector.check(shirts)
    assert selector.matches({"metadata": {"namespace": "demo"}, "spec": {"color": "blue"}}, shirts)
    with pytest.raises(BadRequest, match=r"field label not supported: spec\.size"):
        parse_fields("spec.size=L").check(shirts)
